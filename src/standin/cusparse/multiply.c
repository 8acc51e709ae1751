/*
 * multiply.c - sparse matrices times dense vectors, dense matrices and each other.
 */
#include "standin/core/handle.h"
#include "standin/cusparse/estimate.h"

typedef plim_cusparse_matrix matrix;
typedef plim_cusparse_vector vector;

PLIM_STANDIN_LAUNCHES(cusparseSpMV)
PLIM_STANDIN_LAUNCHES(cusparseSpMM)
PLIM_STANDIN_LAUNCHES(cusparseSDDMM)
PLIM_STANDIN_LAUNCHES(cusparseSDDMM_preprocess)
PLIM_STANDIN_LAUNCHES(cusparseSpMV_preprocess)
PLIM_STANDIN_LAUNCHES(cusparseSpMM_preprocess)
PLIM_STANDIN_LAUNCHES(cusparseSpGEMM_copy)

PLIM_STANDIN_MODELLED(cusparseSpMV_bufferSize, PLIM_CUSPARSE_NOTE)
PLIM_STANDIN_MODELLED(cusparseSpMM_bufferSize, PLIM_CUSPARSE_NOTE)
PLIM_STANDIN_MODELLED(cusparseSDDMM_bufferSize, "wants no workspace")
PLIM_STANDIN_MODELLED(cusparseSpGEMM_workEstimation, PLIM_CUSPARSE_NOTE)
PLIM_STANDIN_MODELLED(cusparseSpGEMM_compute, PLIM_CUSPARSE_UNIFORM)

int cusparseSpMV_bufferSize(const void *context, int op, const void *alpha, const matrix *a,
                            const vector *x, const void *beta, const vector *y, int type,
                            int algorithm, size_t *ret_bytes)
{
    if (context == NULL || a == NULL || ret_bytes == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_bytes = plim_cusparse_multiply_bytes(a);
    return 0;
}

int cusparseSpMM_bufferSize(const void *context, int op_a, int op_b, const void *alpha,
                            const matrix *a, const matrix *b, const void *beta, const matrix *c,
                            int type, int algorithm, size_t *ret_bytes)
{
    if (context == NULL || a == NULL || ret_bytes == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_bytes = plim_cusparse_multiply_bytes(a);
    return 0;
}

int cusparseSDDMM_bufferSize(const void *context, int op_a, int op_b, const void *alpha,
                             const matrix *a, const matrix *b, const void *beta, const matrix *c,
                             int type, int algorithm, size_t *ret_bytes)
{
    if (context == NULL || a == NULL || b == NULL || c == NULL || ret_bytes == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_bytes = 0;
    return 0;
}

/* Nothing is kept between the steps of a sparse product. */
PLIM_STANDIN_CREATES(cusparseSpGEMM_createDescr)
PLIM_STANDIN_NOTHING(cusparseSpGEMM_destroyDescr)

static bool can_multiply(const plim_standin_context *context, const matrix *a, const matrix *b,
                         const matrix *c, const size_t *bytes)
{
    return context != NULL && a != NULL && b != NULL && c != NULL && bytes != NULL;
}

/*
 * The first step counts how many numbers meet, row by row. Called without a buffer it says how
 * large that has to be, and then works.
 */
int cusparseSpGEMM_workEstimation(const plim_standin_context *context, int op_a, int op_b,
                                  const void *alpha, const matrix *a, const matrix *b,
                                  const void *beta, const matrix *c, int type, int algorithm,
                                  void *state, size_t *bytes, void *buffer)
{
    if (!can_multiply(context, a, b, c, bytes)) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    if (buffer == NULL) {
        *bytes = (size_t)(a->rows + 1 + a->nnz) * a->index_bytes;
        return 0;
    }
    return plim_standin_context_launch(context);
}

/*
 * The second step holds all products with their columns (manual: the memory is proportional to
 * their number). After it the matrix knows how many numbers it will have.
 */
int cusparseSpGEMM_compute(const plim_standin_context *context, int op_a, int op_b,
                           const void *alpha, const matrix *a, const matrix *b, const void *beta,
                           matrix *c, int type, int algorithm, void *state, size_t *bytes,
                           void *buffer)
{
    if (!can_multiply(context, a, b, c, bytes)) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    const double products = plim_cusparse_products(a, b);
    if (buffer == NULL) {
        *bytes = (size_t)(products * (double)(a->index_bytes + a->value_bytes));
        if (*bytes != 0) {
            return 0;
        }
    }
    c->nnz = plim_cusparse_filled(a->rows, b->columns, products);
    return plim_standin_context_launch(context);
}
