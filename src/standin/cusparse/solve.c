/*
 * solve.c - triangular systems.
 */
#include "standin/core/handle.h"
#include "standin/cusparse/estimate.h"

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
