/*
 * cusparse.h - what the stand-ins for cuSPARSE share: matrices and vectors as callers describe
 * them. Only shapes are kept; where the numbers lie does not matter.
 */
#ifndef PLIMSOLL_STANDIN_CUSPARSE_CUSPARSE_H
#define PLIMSOLL_STANDIN_CUSPARSE_CUSPARSE_H

#include "standin/library/context.h"

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

#endif
