/*
 * matmul.c - products, and changes of a matrix's layout. Both name their stream last.
 */
#include "standin/cublas/cublas.h"
#include "standin/cublasLt/algorithm.h"
#include "standin/cublasLt/attributes.h"
#include "standin/work/work.h"

typedef plim_cublaslt_object object;

PLIM_STANDIN_KIND(cublasLtMatmul, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_KIND(cublasLtMatrixTransform, PLIM_STAGE_NOTHING, "")

static int launch(const void *context, void *stream)
{
    if (context == NULL) {
        return PLIM_CUBLAS_NOT_INITIALIZED;
    }
    return plim_standin_submit_kernel(stream) == 0 ? 0 : PLIM_CUBLAS_EXECUTION_FAILED;
}

int cublasLtMatmul(void *context, const object *product, const void *alpha, const void *a,
                   const object *a_layout, const void *b, const object *b_layout, const void *beta,
                   const void *c, const object *c_layout, void *d, const object *d_layout,
                   const plim_cublaslt_algorithm *algorithm, void *workspace,
                   size_t workspace_bytes, void *stream)
{
    return launch(context, stream);
}

int cublasLtMatrixTransform(void *context, const object *transform, const void *alpha,
                            const void *a, const object *a_layout, const void *beta, const void *b,
                            const object *b_layout, void *c, const object *c_layout, void *stream)
{
    return launch(context, stream);
}
