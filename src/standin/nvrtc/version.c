/*
 * version.c - the compiler's version, that of the program's CUDA, and words for its statuses.
 */
#include "standin/core/stage.h"

#include <stddef.h>

int nvrtcVersion(int *major, int *minor)
{
    const uint32_t version = plim_standin_settings()->cuda_version;
    *major = (int)(version / 1000);
    *minor = (int)(version % 1000 / 10);
    return 0;
}

const char *nvrtcGetErrorString(int status)
{
    /* nvrtcResult in order, NVRTC manual 13.0 */
    static const char *const words[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR",
    };
    const size_t count = sizeof(words) / sizeof(words[0]);
    return status >= 0 && (size_t)status < count ? words[status] : "NVRTC_ERROR unknown";
}
