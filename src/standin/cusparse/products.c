/*
 * products.c - sparse products and triangular systems, and the memory that they need.
 */
#include "standin/core/handle.h"
#include "standin/cusparse/cusparse.h"

#include <math.h>

/* ---- estimates ------------------------------------------------------------------------------- */

#define SORT_FIXED_BYTES 1024 /* counts of digits, for the smallest of sorts */

static double at_least_one(int64_t n)
{
    return n > 0 ? (double)n : 1.0;
}

double plim_cusparse_products(const plim_cusparse_matrix *a, const plim_cusparse_matrix *b)
{
    /* Each number of A meets the numbers of one row of B. */
    return (double)a->nnz * ((double)b->nnz / at_least_one(b->rows));
}

int64_t plim_cusparse_filled(int64_t rows, int64_t columns, double hits)
{
    const double places = (double)rows * (double)columns;
    if (places <= 0 || hits <= 0) {
        return 0;
    }
    return (int64_t)ceil(places * -expm1(-hits / places));
}

int64_t plim_cusparse_union(int64_t rows, int64_t columns, int64_t nnz_a, int64_t nnz_b)
{
    const double places = (double)rows * (double)columns;
    if (places <= 0) {
        return 0;
    }
    const double both = (double)nnz_a * ((double)nnz_b / places);
    return (int64_t)ceil((double)nnz_a + (double)nnz_b - both);
}

size_t plim_cusparse_sort_bytes(int64_t nnz, size_t key_bytes)
{
    return (size_t)nnz * (key_bytes + sizeof(int32_t)) + SORT_FIXED_BYTES;
}

/*
 * Rows are handed out evenly to blocks, which has to be written down: an index per row, for each
 * matrix. Matrices in coordinates need row offsets for the same.
 */
size_t plim_cusparse_multiply_bytes(const plim_cusparse_matrix *a)
{
    return (size_t)a->count * (size_t)(a->rows + 1) * a->index_bytes;
}

/*
 * The order in which rows can be solved, a mark per row whether it is, the diagonal, and the
 * solution.
 */
size_t plim_cusparse_solve_bytes(const plim_cusparse_matrix *a, int64_t columns)
{
    const size_t rows = (size_t)a->rows;
    return rows * (a->index_bytes + sizeof(int32_t) + a->value_bytes) +
           rows * (size_t)columns * a->value_bytes;
}

/* ---- sparse matrices times dense vectors, dense matrices and each other ---------------------- */

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

/* ---- triangular systems ---------------------------------------------------------------------- */

typedef plim_cusparse_matrix matrix;
typedef plim_cusparse_vector vector;

PLIM_STANDIN_LAUNCHES(cusparseSpSV_analysis)
PLIM_STANDIN_LAUNCHES(cusparseSpSV_solve)
PLIM_STANDIN_LAUNCHES(cusparseSpSM_analysis)
PLIM_STANDIN_LAUNCHES(cusparseSpSM_solve)
PLIM_STANDIN_NOTHING(cusparseSpSV_destroyDescr)
PLIM_STANDIN_NOTHING(cusparseSpSM_destroyDescr)
PLIM_STANDIN_MODELLED(cusparseSpSV_bufferSize, PLIM_CUSPARSE_NOTE)
PLIM_STANDIN_MODELLED(cusparseSpSM_bufferSize, PLIM_CUSPARSE_NOTE)

PLIM_STANDIN_CREATES(cusparseSpSV_createDescr)
PLIM_STANDIN_CREATES(cusparseSpSM_createDescr)

int cusparseSpSV_bufferSize(const void *context, int op, const void *alpha, const matrix *a,
                            const vector *x, const vector *y, int type, int algorithm, void *state,
                            size_t *ret_bytes)
{
    if (context == NULL || a == NULL || ret_bytes == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_bytes = plim_cusparse_solve_bytes(a, 1);
    return 0;
}

int cusparseSpSM_bufferSize(const void *context, int op_a, int op_b, const void *alpha,
                            const matrix *a, const matrix *b, const matrix *c, int type,
                            int algorithm, void *state, size_t *ret_bytes)
{
    if (context == NULL || a == NULL || c == NULL || ret_bytes == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_bytes = plim_cusparse_solve_bytes(a, c->columns);
    return 0;
}
