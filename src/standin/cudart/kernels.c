/*
 * kernels.c - which kernels a program has. See kernels.h.
 *
 * Compiled code registers, as it is loaded, each fat binary and each kernel in it. CUB and others
 * ask for what architecture a kernel was compiled, and accept only those that they know of: the
 * answer must be one that is in the fat binary, not the GPU's own.
 *
 * Layouts: the wrapper is what nvcc's generated host code shows (nvcc --keep); the headers inside
 * are not in any manual, and are as cuobjdump --dump-elf shows that they are:
 *
 *     fat binary  u32 magic, u16 version, u16 bytes of this header, u64 bytes of what follows
 *     entry       u16 kind, u16, u32 bytes of this header, u64 bytes of its image, u32, u32,
 *                 u16 minor, u16 major, u32 architecture …
 */
#include "standin/cudart/kernels.h"

#include "base/map.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cuda/modules.h"
#include "standin/cudart/cudart.h"

#include <pthread.h>
#include <string.h>

#define WRAPPER_MAGIC UINT32_C(0x466243b1)
#define KIND_PTX      1
#define KIND_CUBIN    2

typedef struct wrapper {
    uint32_t magic;
    uint32_t version;
    const unsigned char *data;
} wrapper;

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes;
} fatbin_header;

typedef struct entry_header {
    uint16_t kind;
    uint16_t flags;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t packed_bytes;
    uint32_t reserved;
    uint16_t minor;
    uint16_t major;
    uint32_t architecture;
} entry_header;

/* From a kernel's host side to the wrapper of its fat binary. Compiled code has only this one way
 * to tell, so it is the process's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_map modules;

/* A module is known by its wrapper, which stays where it is. */
void **__cudaRegisterFatBinary(void *binary)
{
    return binary;
}

char __cudaInitModule(void **module)
{
    return 1; /* nothing is loaded lazily, so it is always ready */
}

void __cudaRegisterFunction(void **module, const void *function)
{
    (void)pthread_mutex_lock(&lock);
    if (modules.mem == NULL) {
        plim_map_init(&modules, &plim_mem_heap);
    }
    /* Without memory a kernel is unknown, which has an answer too. */
    (void)plim_map_put(&modules, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)module);
    (void)pthread_mutex_unlock(&lock);
}

static const wrapper *find_module(const void *function)
{
    (void)pthread_mutex_lock(&lock);
    const uint64_t found = modules.mem != NULL
                               ? plim_map_get(&modules, (uint64_t)(uintptr_t)function)
                               : PLIM_MAP_ABSENT;
    (void)pthread_mutex_unlock(&lock);
    return found != PLIM_MAP_ABSENT ? (const wrapper *)(uintptr_t)found : NULL;
}

/* Machine code runs on later GPUs of the same major version, PTX on any later one. */
static void consider(const entry_header *entry, int gpu, plim_standin_image *cubin,
                     plim_standin_image *ptx)
{
    const int version = (int)entry->architecture;
    if (version > gpu) {
        return;
    }
    if (entry->kind == KIND_CUBIN && version / 10 == gpu / 10 && version > cubin->ptx_version) {
        *cubin = (plim_standin_image){ .ptx_version = version, .binary_version = version };
    } else if (entry->kind == KIND_PTX && version > ptx->ptx_version) {
        *ptx = (plim_standin_image){ .ptx_version = version, .binary_version = gpu };
    }
}

bool plim_standin_kernel_image(const void *function, plim_standin_image *ret)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;
    const int capability = (int)(10 * gpu->capability_major + gpu->capability_minor);
    const wrapper *module = find_module(function);
    *ret = (plim_standin_image){ .ptx_version = capability, .binary_version = capability };
    if (module == NULL || module->magic != WRAPPER_MAGIC) {
        return true; /* loaded in another way: the driver will have chosen well */
    }
    fatbin_header head;
    memcpy(&head, module->data, sizeof(head));
    if (head.magic != PLIM_FATBIN_MAGIC) {
        return true;
    }
    plim_standin_image cubin = { 0 };
    plim_standin_image ptx = { 0 };
    const unsigned char *at = module->data + head.header_bytes;
    const unsigned char *end = at + head.bytes;
    while ((size_t)(end - at) >= sizeof(entry_header)) {
        entry_header entry;
        memcpy(&entry, at, sizeof(entry));
        consider(&entry, capability, &cubin, &ptx);
        if (entry.header_bytes + entry.bytes > (uint64_t)(end - at) || entry.header_bytes == 0) {
            break;
        }
        at += entry.header_bytes + entry.bytes;
    }
    *ret = cubin.ptx_version > 0 ? cubin : ptx;
    return ret->ptx_version > 0;
}

int __cudaGetKernel(void **kernel, const void *function)
{
    *kernel = (void *)(uintptr_t)function;
    return CUDA_SUCCESS_CODE;
}

/* Nothing else is kept, so there is nothing to add or to take back. */
PLIM_STANDIN_NOTHING(__cudaRegisterFatBinaryEnd)
PLIM_STANDIN_NOTHING(__cudaUnregisterFatBinary)
