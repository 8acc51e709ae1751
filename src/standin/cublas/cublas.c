/*
 * cublas.c - cuBLAS contexts, and what callers set and read back.
 *
 * PyTorch gives each context a workspace out of its own allocator, which is what makes it appear
 * in recordings as it would on a GPU; so a context takes nothing beyond the library's footprint.
 */
#include "standin/cublas/cublas.h"
#include "standin/core/footprint.h"
#include "standin/core/stage.h"
#include "standin/library/library.h"

#include <stddef.h>

PLIM_STANDIN_SETTER(cublasSetStream_v2, void *, stream)
PLIM_STANDIN_GETTER(cublasGetStream_v2, void *, stream)
PLIM_STANDIN_SETTER(cublasSetPointerMode_v2, int, pointer_mode)
PLIM_STANDIN_GETTER(cublasGetPointerMode_v2, int, pointer_mode)
PLIM_STANDIN_SETTER(cublasSetMathMode, int, math_mode)
PLIM_STANDIN_GETTER(cublasGetMathMode, int, math_mode)
PLIM_STANDIN_SETTER(cublasSetAtomicsMode, int, atomics_mode)
PLIM_STANDIN_GETTER(cublasGetAtomicsMode, int, atomics_mode)
PLIM_STANDIN_SETTER(cublasSetSmCountTarget, int, multiprocessors_target)
PLIM_STANDIN_GETTER(cublasGetSmCountTarget, int, multiprocessors_target)

/* The caller's memory, which is in the books already. */
PLIM_STANDIN_NOTHING(cublasSetWorkspace_v2)
/* No log is kept. */
PLIM_STANDIN_NOTHING(cublasLoggerConfigure)
PLIM_STANDIN_NOTHING(cublasSetLoggerCallback)
/* The emulation of products of doubles by smaller ones changes no size: CUDA 13. */
PLIM_STANDIN_NOTHING(cublasSetEmulationStrategy)
PLIM_STANDIN_NOTHING(cublasSetEmulationSpecialValuesSupport)

int cublasCreate_v2(plim_standin_context **ret_context)
{
    return plim_standin_context_create(plim_standin_footprint_library(PLIM_STANDIN_CUBLAS),
                                       PLIM_CUBLAS_ALLOC_FAILED, PLIM_CUBLAS_EXECUTION_FAILED,
                                       ret_context);
}

int cublasDestroy_v2(plim_standin_context *context)
{
    if (context == NULL) {
        return PLIM_CUBLAS_NOT_INITIALIZED;
    }
    plim_standin_context_destroy(context);
    return 0;
}

int cublasGetVersion_v2(const plim_standin_context *context, int *ret_version)
{
    *ret_version = plim_standin_version_number(plim_standin_versions_in_force()->cublas, 10000);
    return 0;
}

int cublasGetProperty(int kind, int *ret_value)
{
    return plim_standin_version_part(plim_standin_versions_in_force()->cublas, kind,
                                     PLIM_CUBLAS_INVALID_VALUE, ret_value);
}

size_t cublasGetCudartVersion(void)
{
    return plim_standin_settings()->cuda_version;
}

static const struct {
    int status;
    const char *name;
    const char *text;
} statuses[] = {
    { 0, "CUBLAS_STATUS_SUCCESS", "success" },
    { PLIM_CUBLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
      "the library was not initialized" },
    { PLIM_CUBLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed" },
    { PLIM_CUBLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
      "an unsupported value or parameter was passed to the function" },
    { PLIM_CUBLAS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
      "the function requires a feature absent from the device architecture" },
    { PLIM_CUBLAS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
      "an access to GPU memory space failed" },
    { PLIM_CUBLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
      "the GPU program failed to execute" },
    { PLIM_CUBLAS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed" },
    { PLIM_CUBLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
      "the functionality requested is not supported" },
    { PLIM_CUBLAS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR",
      "an error was detected when checking the license" },
};

const char *cublasGetStatusName(int status)
{
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i].status == status) {
            return statuses[i].name;
        }
    }
    return "unknown cuBLAS status";
}

const char *cublasGetStatusString(int status)
{
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i].status == status) {
            return statuses[i].text;
        }
    }
    return "unknown cuBLAS status";
}
