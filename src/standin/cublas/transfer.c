/*
 * transfer.c - copies of vectors and matrices between host and device.
 *
 * Matrices are stored by column: `leading` elements from one column to the next.
 */
#include "standin/core/copy.h"
#include "standin/cublas/cublas.h"

#include <stddef.h>
#include <stdint.h>

static int copy(int64_t rows, int64_t columns, int64_t element_bytes, const void *source,
                int64_t source_leading, void *target, int64_t target_leading)
{
    if (rows < 0 || columns < 0 || element_bytes <= 0 || source_leading <= 0 ||
        target_leading <= 0) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    const size_t bytes = (size_t)element_bytes;
    plim_standin_copy_rows(target, (size_t)target_leading * bytes, source,
                           (size_t)source_leading * bytes, (size_t)rows * bytes, (size_t)columns);
    return 0;
}

#define MATRIX(name, size)                                                                        \
    int name(size rows, size columns, size element_bytes, const void *a, size leading_a, void *b, \
             size leading_b)                                                                      \
    {                                                                                             \
        return copy(rows, columns, element_bytes, a, leading_a, b, leading_b);                    \
    }
#define MATRIX_ASYNC(name, size)                                                                  \
    int name(size rows, size columns, size element_bytes, const void *a, size leading_a, void *b, \
             size leading_b, void *stream)                                                        \
    {                                                                                             \
        return copy(rows, columns, element_bytes, a, leading_a, b, leading_b);                    \
    }
/* A vector with a stride is a matrix of one row. */
#define VECTOR(name, size)                                                                     \
    int name(size n, size element_bytes, const void *x, size stride_x, void *y, size stride_y) \
    {                                                                                          \
        return copy(1, n, element_bytes, x, stride_x, y, stride_y);                            \
    }
#define VECTOR_ASYNC(name, size)                                                               \
    int name(size n, size element_bytes, const void *x, size stride_x, void *y, size stride_y, \
             void *stream)                                                                     \
    {                                                                                          \
        return copy(1, n, element_bytes, x, stride_x, y, stride_y);                            \
    }

MATRIX(cublasSetMatrix, int)
MATRIX(cublasGetMatrix, int)
MATRIX(cublasSetMatrix_64, int64_t)
MATRIX(cublasGetMatrix_64, int64_t)
MATRIX_ASYNC(cublasSetMatrixAsync, int)
MATRIX_ASYNC(cublasGetMatrixAsync, int)
MATRIX_ASYNC(cublasSetMatrixAsync_64, int64_t)
MATRIX_ASYNC(cublasGetMatrixAsync_64, int64_t)
VECTOR(cublasSetVector, int)
VECTOR(cublasGetVector, int)
VECTOR(cublasSetVector_64, int64_t)
VECTOR(cublasGetVector_64, int64_t)
VECTOR_ASYNC(cublasSetVectorAsync, int)
VECTOR_ASYNC(cublasGetVectorAsync, int)
VECTOR_ASYNC(cublasSetVectorAsync_64, int64_t)
VECTOR_ASYNC(cublasGetVectorAsync_64, int64_t)
