/*
 * memory.c - memory for communication, and what is registered for it.
 *
 * Registering is an order to be fast, and takes no memory; it succeeds. Windows, and kernels that
 * communicate on their own, need hardware that connects all GPUs; NCCL has no use for them on
 * many machines, and says so, as here.
 */
#include "standin/core/memory.h"
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/handle.h"
#include "standin/core/stub.h"
#include "standin/nccl/nccl.h"

PLIM_STANDIN_KIND(ncclCommRegister, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_KIND(ncclCommDeregister, PLIM_STAGE_NOTHING, "")

#define NO_WINDOWS "no symmetric memory is stood in for"
PLIM_STANDIN_DECLINED(ncclCommWindowRegister, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclCommWindowDeregister, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclWinGetUserPtr, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclGetPeerDevicePointer, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclGetLsaMultimemDevicePointer, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclPutSignal, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclSignal, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclWaitSignal, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclDevCommCreate, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)
PLIM_STANDIN_DECLINED(ncclDevCommDestroy, PLIM_NCCL_INVALID_USAGE, NO_WINDOWS)

/* In whole pages, as cuMemCreate() gives it. */
int ncclMemAlloc(void **ret, size_t bytes)
{
    if (ret == NULL || bytes == 0 || bytes > SIZE_MAX - PLIM_STANDIN_PAGE_BYTES) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclMemAlloc: invalid argument");
    }
    const int device = plim_standin_current_device();
    const uint64_t pages = (bytes + PLIM_STANDIN_PAGE_BYTES - 1) / PLIM_STANDIN_PAGE_BYTES;
    uint64_t address = 0;
    if (!plim_standin_footprint_context(device) ||
        plim_standin_memory_allocate(device, pages * PLIM_STANDIN_PAGE_BYTES, &address) !=
            PLIM_STANDIN_MEMORY_OK) {
        return plim_nccl_fail(PLIM_NCCL_CUDA_ERROR, "Cuda failure 2 'out of memory'");
    }
    *ret = (void *)(uintptr_t)address;
    return PLIM_NCCL_SUCCESS;
}

int ncclMemFree(void *address)
{
    if (address == NULL) {
        return PLIM_NCCL_SUCCESS;
    }
    return plim_standin_memory_release((uint64_t)(uintptr_t)address) == PLIM_STANDIN_MEMORY_OK
               ? PLIM_NCCL_SUCCESS
               : plim_nccl_fail(PLIM_NCCL_CUDA_ERROR, "Cuda failure 1 'invalid argument'");
}

int ncclCommRegister(const plim_nccl_communicator *communicator, void *data, size_t bytes,
                     void **ret_handle)
{
    if (communicator == NULL || data == NULL || bytes == 0 || ret_handle == NULL) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclCommRegister: invalid argument");
    }
    *ret_handle = plim_standin_handle_create();
    return PLIM_NCCL_SUCCESS;
}

int ncclCommDeregister(const plim_nccl_communicator *communicator, void *handle)
{
    return communicator != NULL
               ? PLIM_NCCL_SUCCESS
               : plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclCommDeregister: comm is NULL");
}
