/*
 * handle.c - cuBLAS contexts and the two modes callers read back.
 *
 * PyTorch gives each context a workspace out of its own allocator, which is what
 * makes it appear in recordings as it would on a GPU.
 */
#include "standin/core/handle.h"
#include "standin/core/stub.h"

int cublasCreate_v2(void **handle);
int cublasGetMathMode(void *handle, int *mode);
int cublasGetPointerMode_v2(void *handle, int *mode);

int cublasCreate_v2(void **handle)
{
    *handle = plim_standin_handle_create();
    return 0; /* CUBLAS_STATUS_SUCCESS, cuBLAS manual, "cublasStatus_t" */
}

int cublasGetMathMode(void *handle, int *mode)
{
    (void)handle;
    *mode = 0; /* CUBLAS_DEFAULT_MATH */
    return 0;
}

int cublasGetPointerMode_v2(void *handle, int *mode)
{
    (void)handle;
    *mode = 0; /* CUBLAS_POINTER_MODE_HOST, what a new context has */
    return 0;
}

/* Nothing a context is told changes what it does. */
PLIM_STANDIN_NOTHING(cublasDestroy_v2)
PLIM_STANDIN_NOTHING(cublasSetMathMode)
PLIM_STANDIN_NOTHING(cublasSetPointerMode_v2)
PLIM_STANDIN_NOTHING(cublasSetStream_v2)
PLIM_STANDIN_NOTHING(cublasSetWorkspace_v2)
