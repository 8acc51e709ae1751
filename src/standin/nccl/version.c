/*
 * version.c - NCCL's version and its words.
 */
#include "standin/nccl/nccl.h"

#include "standin/core/stage.h"

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
