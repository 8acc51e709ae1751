/*
 * older.c - the interface of cuSPARSE before descriptors of matrices: sums and sorts of CSR and
 * COO, and matrices of small dense blocks (BSR).
 */
#include "standin/core/handle.h"
#include "standin/cusparse/cusparse.h"

#include <limits.h>

#define NO_ZERO_PIVOT (-1)

/* --- what a matrix is said to be changes no size */

PLIM_STANDIN_CREATES(cusparseCreateMatDescr)
PLIM_STANDIN_CREATES(cusparseCreateBsrsv2Info)
PLIM_STANDIN_CREATES(cusparseCreateBsrsm2Info)

PLIM_STANDIN_NOTHING(cusparseDestroyMatDescr)
PLIM_STANDIN_NOTHING(cusparseDestroyBsrsv2Info)
PLIM_STANDIN_NOTHING(cusparseDestroyBsrsm2Info)
PLIM_STANDIN_NOTHING(cusparseSetMatDiagType)
PLIM_STANDIN_NOTHING(cusparseSetMatFillMode)
PLIM_STANDIN_NOTHING(cusparseSetMatIndexBase)
PLIM_STANDIN_NOTHING(cusparseSetMatType)

/* --- formats, and their order */
PLIM_STANDIN_LAUNCHES(cusparseXcoo2csr)
PLIM_STANDIN_LAUNCHES(cusparseXcsr2coo)
PLIM_STANDIN_LAUNCHES(cusparseCreateIdentityPermutation)
PLIM_STANDIN_LAUNCHES(cusparseXcoosortByRow)
PLIM_STANDIN_LAUNCHES(cusparseXcoosortByColumn)
PLIM_STANDIN_LAUNCHES(cusparseXcsrsort)

PLIM_STANDIN_MODELLED(cusparseXcoosort_bufferSizeExt, "workspace: a second copy, to sort into")
PLIM_STANDIN_MODELLED(cusparseXcsrsort_bufferSizeExt, "workspace: a second copy, to sort into")

int cusparseXcoosort_bufferSizeExt(const void *context, int m, int n, int nnz, const int *rows,
                                   const int *columns, size_t *ret_bytes)
{
    if (context == NULL || m < 0 || n < 0 || nnz < 0 || ret_bytes == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    /* Row and column together are the key. */
    *ret_bytes = plim_cusparse_sort_bytes(nnz, 2 * sizeof(int));
    return 0;
}

int cusparseXcsrsort_bufferSizeExt(const void *context, int m, int n, int nnz,
                                   const int *row_offsets, const int *columns, size_t *ret_bytes)
{
    if (context == NULL || m < 0 || n < 0 || nnz < 0 || ret_bytes == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_bytes = plim_cusparse_sort_bytes(nnz, sizeof(int));
    return 0;
}

/* --- sums: A and B, both CSR */
PLIM_STANDIN_LAUNCHES_SDCZ(cusparse, csrgeam2)
PLIM_STANDIN_MODELLED(cusparseXcsrgeam2Nnz, PLIM_CUSPARSE_UNIFORM)

#define SUM(name)                                                                                 \
    PLIM_STANDIN_MODELLED(name, "workspace: an index per row")                                    \
    int name(const void *context, int m, int n, const void *alpha, const void *a_is, int nnz_a,   \
             const void *a, const int *a_rows, const int *a_columns, const void *beta,            \
             const void *b_is, int nnz_b, const void *b, const int *b_rows, const int *b_columns, \
             const void *c_is, const void *c, const int *c_rows, const int *c_columns,            \
             size_t *ret_bytes)                                                                   \
    {                                                                                             \
        if (context == NULL || m < 0 || n < 0 || ret_bytes == NULL) {                             \
            return PLIM_CUSPARSE_INVALID_VALUE;                                                   \
        }                                                                                         \
        *ret_bytes = ((size_t)m + 1) * sizeof(int);                                               \
        return 0;                                                                                 \
    }

SUM(cusparseScsrgeam2_bufferSizeExt)
SUM(cusparseDcsrgeam2_bufferSizeExt)
SUM(cusparseCcsrgeam2_bufferSizeExt)
SUM(cusparseZcsrgeam2_bufferSizeExt)

int cusparseXcsrgeam2Nnz(const plim_standin_context *context, int m, int n, const void *a_is,
                         int nnz_a, const int *a_rows, const int *a_columns, const void *b_is,
                         int nnz_b, const int *b_rows, const int *b_columns, const void *c_is,
                         int *c_rows, int *ret_nnz, void *workspace)
{
    if (context == NULL || m < 0 || n < 0 || nnz_a < 0 || nnz_b < 0) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    if (ret_nnz != NULL && context->pointer_mode == PLIM_CUSPARSE_SCALARS_ON_HOST) {
        const int64_t nnz = plim_cusparse_union(m, n, nnz_a, nnz_b);
        *ret_nnz = nnz > INT_MAX ? INT_MAX : (int)nnz;
    }
    return plim_standin_context_launch(context);
}

/* --- blocks: products and triangular systems */
PLIM_STANDIN_LAUNCHES_SDCZ(cusparse, bsrmv)
PLIM_STANDIN_LAUNCHES_SDCZ(cusparse, bsrmm)
PLIM_STANDIN_LAUNCHES_SDCZ(cusparse, bsrsv2_analysis)
PLIM_STANDIN_LAUNCHES_SDCZ(cusparse, bsrsv2_solve)
PLIM_STANDIN_LAUNCHES_SDCZ(cusparse, bsrsm2_analysis)
PLIM_STANDIN_LAUNCHES_SDCZ(cusparse, bsrsm2_solve)

/* As for single numbers: per row of blocks its turn, a mark, its diagonal block and solution. */
static int give(const void *context, int rows, int block, int columns, size_t value_bytes,
                int *ret_bytes)
{
    if (context == NULL || rows < 0 || block < 1 || columns < 0 || ret_bytes == NULL) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    const double per_row =
        2.0 * sizeof(int) + (double)value_bytes * block * ((double)block + (double)columns);
    const double bytes = rows * per_row;
    if (bytes > INT_MAX) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_bytes = (int)bytes;
    return 0;
}

#define BLOCKS_ONE(name, value_bytes)                                                         \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSPARSE_NOTE)                                           \
    int name(const void *context, int direction, int op, int rows, int nnz, const void *a_is, \
             void *a, const int *a_rows, const int *a_columns, int block, void *state,        \
             int *ret_bytes)                                                                  \
    {                                                                                         \
        return give(context, rows, block, 1, value_bytes, ret_bytes);                         \
    }
BLOCKS_ONE(cusparseSbsrsv2_bufferSize, 4)
BLOCKS_ONE(cusparseDbsrsv2_bufferSize, 8)
BLOCKS_ONE(cusparseCbsrsv2_bufferSize, 8)
BLOCKS_ONE(cusparseZbsrsv2_bufferSize, 16)

#define BLOCKS_MANY(name, value_bytes)                                                      \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSPARSE_NOTE)                                         \
    int name(const void *context, int direction, int op_a, int op_x, int rows, int columns, \
             int nnz, const void *a_is, void *a, const int *a_rows, const int *a_columns,   \
             int block, void *state, int *ret_bytes)                                        \
    {                                                                                       \
        return give(context, rows, block, columns, value_bytes, ret_bytes);                 \
    }
BLOCKS_MANY(cusparseSbsrsm2_bufferSize, 4)
BLOCKS_MANY(cusparseDbsrsm2_bufferSize, 8)
BLOCKS_MANY(cusparseCbsrsm2_bufferSize, 8)
BLOCKS_MANY(cusparseZbsrsm2_bufferSize, 16)

/* The index of the first zero on the diagonal: -1, for none is known. */
#define PIVOT(name)                                                                           \
    int name(const plim_standin_context *context, const void *state, int *ret_position)       \
    {                                                                                         \
        if (context == NULL) {                                                                \
            return PLIM_CUSPARSE_NOT_INITIALIZED;                                             \
        }                                                                                     \
        if (context->pointer_mode == PLIM_CUSPARSE_SCALARS_ON_HOST && ret_position != NULL) { \
            *ret_position = NO_ZERO_PIVOT;                                                    \
        }                                                                                     \
        return 0;                                                                             \
    }
PIVOT(cusparseXbsrsv2_zeroPivot)
PIVOT(cusparseXbsrsm2_zeroPivot)
