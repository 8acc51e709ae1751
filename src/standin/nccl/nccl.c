/*
 * nccl.c - NCCL's version and words, groups of calls, and memory for communication.
 */
#include "standin/nccl/nccl.h"
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/handle.h"
#include "standin/core/memory.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"

static _Thread_local const char *last_error = "";

int plim_nccl_fail(int status, const char *message)
{
    last_error = message;
    return status;
}

int ncclGetVersion(int *version)
{
    if (version == NULL) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclGetVersion: version is NULL");
    }
    *version = (int)plim_standin_settings()->nccl_version;
    return PLIM_NCCL_SUCCESS;
}

const char *ncclGetErrorString(int status)
{
    static const char *const words[] = {
        [PLIM_NCCL_SUCCESS] = "no error",
        [PLIM_NCCL_CUDA_ERROR] = "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        [PLIM_NCCL_SYSTEM_ERROR] = "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        [PLIM_NCCL_INTERNAL_ERROR] = "internal error",
        [PLIM_NCCL_INVALID_ARGUMENT] = "invalid argument (run with NCCL_DEBUG=WARN for details)",
        [PLIM_NCCL_INVALID_USAGE] = "invalid usage (run with NCCL_DEBUG=WARN for details)",
        [PLIM_NCCL_REMOTE_ERROR] = "remote process exited or there was a network error",
        [PLIM_NCCL_IN_PROGRESS] = "NCCL operation in progress",
        [PLIM_NCCL_TIMEOUT] = "timeout",
    };
    const bool is_known = status >= 0 && (size_t)status < sizeof words / sizeof words[0];
    return is_known ? words[status] : "unknown result code";
}

const char *ncclGetLastError(const plim_nccl_communicator *communicator)
{
    return last_error;
}

/* ---- groups of calls: they nest, and here they change nothing -------------------------------- */

/* ncclSimInfo_t */
typedef struct simulation {
    size_t size;
    unsigned magic;
    unsigned version;
    float seconds;
} simulation;

#define SIMULATION_MAGIC 0x74685283U

PLIM_STANDIN_MODELLED(ncclGroupSimulateEnd, "no time passes")

static _Thread_local unsigned depth;

int ncclGroupStart(void)
{
    depth++;
    return PLIM_NCCL_SUCCESS;
}

int ncclGroupEnd(void)
{
    if (depth == 0) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_USAGE, "ncclGroupEnd: not in a group call");
    }
    depth--;
    return PLIM_NCCL_SUCCESS;
}

int ncclGroupSimulateEnd(simulation *ret)
{
    if (ret != NULL && ret->magic != SIMULATION_MAGIC) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT,
                              "ncclSimInfo_t was not initialized by NCCL_SIM_INFO_INITIALIZER");
    }
    if (ret != NULL) {
        ret->seconds = 0;
    }
    return ncclGroupEnd();
}

/* ---- memory ---------------------------------------------------------------------------------- */

/*
 * Registering is an order to be fast, and takes no memory; it succeeds. Windows, and kernels that
 * communicate on their own, need hardware that connects all GPUs; NCCL has no use for them on
 * many machines, and says so, as here.
 */

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
