/*
 * handle.c - cuBLAS contexts and the two modes callers read back.
 *
 * Multiplications are default stand-ins: they succeed and compute nothing. The
 * workspace is given by PyTorch out of its own allocator, which is what makes it
 * appear in recordings as it would on a GPU.
 */
#include "core/handle.h"

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
