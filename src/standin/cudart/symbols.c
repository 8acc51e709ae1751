/*
 * symbols.c - device variables of compiled code: __device__, __constant__ and __managed__.
 *
 * Compiled code registers each with its size as it is loaded. The first that asks where one lies
 * gets addresses without memory: on a real GPU it is part of the module, and counted with the
 * context. What is copied there reads back as long as it is known (shadow.h).
 */
#include "base/map.h"
#include "standin/core/copy.h"
#include "standin/core/current.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct symbol {
    uint64_t bytes;
    uint64_t address; /* 0: not used yet */
} symbol;

int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream);

/* From a variable's host side to its symbol. Compiled code registers it in this one way, so it is
 * the process's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_map symbols;

/* Called by nvcc's generated code (nvcc --keep; crt/host_runtime.h): the address of the variable's
 * host side is its name later. */
void __cudaRegisterVar(void **module, const void *host_side, const char *address, const char *name,
                       int is_external, size_t bytes, int is_constant, int is_global)
{
    /* Lives as long as the process. Without memory the variable is unknown, which is answered. */
    symbol *added = calloc(1, sizeof(*added));
    if (added == NULL) {
        return;
    }
    added->bytes = bytes;
    (void)pthread_mutex_lock(&lock);
    if (symbols.mem == NULL) {
        plim_map_init(&symbols, &plim_mem_heap);
    }
    if (!plim_map_put(&symbols, (uint64_t)(uintptr_t)host_side, (uint64_t)(uintptr_t)added)) {
        free(added);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* The symbol of a host side, its address known, or NULL. The address is the same on all devices:
 * no caller can see, since memory holds nothing. */
static const symbol *find(const void *host_side)
{
    (void)pthread_mutex_lock(&lock);
    const uint64_t found = symbols.mem != NULL
                               ? plim_map_get(&symbols, (uint64_t)(uintptr_t)host_side)
                               : PLIM_MAP_ABSENT;
    symbol *ret = found != PLIM_MAP_ABSENT ? (symbol *)(uintptr_t)found : NULL;
    if (ret != NULL && ret->address == 0) {
        const uint64_t pages = (ret->bytes + PLIM_STANDIN_PAGE_BYTES - 1) / PLIM_STANDIN_PAGE_BYTES;
        if (plim_standin_memory_reserve((pages > 0 ? pages : 1) * PLIM_STANDIN_PAGE_BYTES, 0,
                                        &ret->address) != PLIM_STANDIN_MEMORY_OK) {
            ret = NULL;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return ret;
}

int cudaGetSymbolAddress(void **address, const void *host_side)
{
    PLIM_STANDIN_TRY(plim_standin_require_context());
    const symbol *found = find(host_side);
    if (found == NULL) {
        return plim_standin_current_error_note(CUDA_INVALID_SYMBOL_CODE);
    }
    *address = (void *)(uintptr_t)found->address;
    return CUDA_SUCCESS_CODE;
}

int cudaGetSymbolSize(size_t *bytes, const void *host_side)
{
    const symbol *found = find(host_side);
    if (found == NULL) {
        return plim_standin_current_error_note(CUDA_INVALID_SYMBOL_CODE);
    }
    *bytes = (size_t)found->bytes;
    return CUDA_SUCCESS_CODE;
}

/* The address of `bytes` at `offset` in the variable. */
static int find_piece(const void *host_side, size_t bytes, size_t offset, void **ret)
{
    const symbol *found = find(host_side);
    if (found == NULL) {
        return plim_standin_current_error_note(CUDA_INVALID_SYMBOL_CODE);
    }
    if (offset > found->bytes || bytes > found->bytes - offset) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
    }
    *ret = (void *)(uintptr_t)(found->address + offset);
    return CUDA_SUCCESS_CODE;
}

int cudaMemcpyToSymbolAsync(const void *host_side, const void *source, size_t bytes, size_t offset,
                            int kind, void *stream)
{
    void *target = NULL;
    const int error = find_piece(host_side, bytes, offset, &target);
    return error != CUDA_SUCCESS_CODE ? error
                                      : cudaMemcpyAsync(target, source, bytes, kind, stream);
}

int cudaMemcpyToSymbol(const void *host_side, const void *source, size_t bytes, size_t offset,
                       int kind)
{
    return cudaMemcpyToSymbolAsync(host_side, source, bytes, offset, kind, NULL);
}

int cudaMemcpyFromSymbolAsync(void *target, const void *host_side, size_t bytes, size_t offset,
                              int kind, void *stream)
{
    void *source = NULL;
    const int error = find_piece(host_side, bytes, offset, &source);
    return error != CUDA_SUCCESS_CODE ? error
                                      : cudaMemcpyAsync(target, source, bytes, kind, stream);
}

int cudaMemcpyFromSymbol(void *target, const void *host_side, size_t bytes, size_t offset, int kind)
{
    return cudaMemcpyFromSymbolAsync(target, host_side, bytes, offset, kind, NULL);
}

/* Managed variables are read by the host itself, at an address that is only known when the module
 * is loaded; no library that we know of has any. */
PLIM_STANDIN_REFUSED(__cudaRegisterManagedVar, 0, "variables that host and device share")
