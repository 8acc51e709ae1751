/*
 * estimate.c - see estimate.h.
 */
#include "standin/cusparse/estimate.h"

#include <math.h>

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
