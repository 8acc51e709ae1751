/*
 * cusparse.h - what the stand-ins for cuSPARSE share: matrices and vectors as callers describe
 * them. Only shapes are kept; where the numbers lie does not matter.
 */
#ifndef PLIMSOLL_STANDIN_CUSPARSE_CUSPARSE_H
#define PLIMSOLL_STANDIN_CUSPARSE_CUSPARSE_H

#include "standin/library/library.h"

#include <stddef.h>
#include <stdint.h>

/* cusparseStatus_t, cuSPARSE manual */
enum {
    PLIM_CUSPARSE_NOT_INITIALIZED = 1,
    PLIM_CUSPARSE_ALLOC_FAILED = 2,
    PLIM_CUSPARSE_INVALID_VALUE = 3,
    PLIM_CUSPARSE_EXECUTION_FAILED = 6,
    PLIM_CUSPARSE_NOT_SUPPORTED = 10
};

/* cusparseFormat_t */
enum { PLIM_CUSPARSE_CSR = 1, PLIM_CUSPARSE_CSC = 2, PLIM_CUSPARSE_COO = 3 };

#define PLIM_CUSPARSE_SCALARS_ON_HOST 0 /* cusparsePointerMode_t */

/* A cusparseSpMatDescr_t, sparse, or a cusparseDnMatDescr_t, dense, where nnz is 0. */
typedef struct plim_cusparse_matrix {
    int64_t rows;
    int64_t columns;
    int64_t nnz;
    int64_t count; /* of matrices that are worked on at once */
    size_t index_bytes;
    size_t value_bytes;
    int format; /* 0: dense */
} plim_cusparse_matrix;

typedef struct plim_cusparse_vector {
    int64_t size;
    size_t value_bytes;
} plim_cusparse_vector;

/* ---- how much memory operations need, and how full results are ------------------------------- */

/*
 * PyTorch asks cuSPARSE and takes that much from its own allocator. The manual says which
 * routines want extra memory and what it grows with, not how much; so all of this is MODELLED.
 * The places of a matrix's values are not known either: the stand-ins take any place to be as
 * likely as any other.
 */

#define PLIM_CUSPARSE_NOTE    "workspace as what the manual says it grows with"
#define PLIM_CUSPARSE_UNIFORM "numbers of the result as of matrices filled at random"

/* Multiplications of a sparse product. */
double plim_cusparse_products(const plim_cusparse_matrix *a, const plim_cusparse_matrix *b);
/* Number of the rows * columns places that are filled when `hits` fall on them at random. */
int64_t plim_cusparse_filled(int64_t rows, int64_t columns, double hits);
/* Number of places that are filled in the sum of two matrices. */
int64_t plim_cusparse_union(int64_t rows, int64_t columns, int64_t nnz_a, int64_t nnz_b);

/* Bytes: for sorting pairs of `key_bytes` and a place; it is done from one array to another. */
size_t plim_cusparse_sort_bytes(int64_t nnz, size_t key_bytes);
/* Bytes: sparse times dense. */
size_t plim_cusparse_multiply_bytes(const plim_cusparse_matrix *a);
/* Bytes: triangular solution for one or more right-hand sides. */
size_t plim_cusparse_solve_bytes(const plim_cusparse_matrix *a, int64_t columns);

#endif
