/*
 * operations.c - the operations of cuBLAS: vectors, matrices, factorisations, transfers.
 */
#include "standin/core/copy.h"
#include "standin/cublas/cublas.h"
#include "standin/library/library.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- vectors --------------------------------------------------------------------------------- */

/*
 * Sums and products give one number. Where the host gets it, it is what copies from a device
 * give, zero; where the device gets it, nothing is written.
 */

#define ZERO_NOTE "gives 0: nothing is computed"

/* --- vector in, vector out */
PLIM_CUBLAS_LAUNCHES_SDCZ(axpy_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(copy_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(swap_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(scal_v2)
PLIM_CUBLAS_LAUNCHES(cublasCsscal_v2)
PLIM_CUBLAS_LAUNCHES(cublasZdscal_v2)
PLIM_CUBLAS_LAUNCHES(cublasAxpyEx)
PLIM_CUBLAS_LAUNCHES(cublasCopyEx)
PLIM_CUBLAS_LAUNCHES(cublasScalEx)
PLIM_CUBLAS_LAUNCHES(cublasSwapEx)

/* --- rotations of two vectors */
PLIM_CUBLAS_LAUNCHES_SDCZ(rot_v2)
PLIM_CUBLAS_LAUNCHES(cublasCsrot_v2)
PLIM_CUBLAS_LAUNCHES(cublasZdrot_v2)
PLIM_CUBLAS_LAUNCHES_SD(rotm_v2)
PLIM_CUBLAS_LAUNCHES(cublasRotEx)
PLIM_CUBLAS_LAUNCHES(cublasRotmEx)

static int give(const plim_standin_context *context, void *result, size_t bytes)
{
    if (context != NULL && context->pointer_mode == PLIM_CUBLAS_SCALARS_ON_HOST && result != NULL) {
        memset(result, 0, bytes);
    }
    return plim_standin_context_launch(context);
}

/*
 * One number from one vector, or from two. Sizes and strides are not read, so that functions of
 * 32 and of 64 bits need not differ: both pass them in whole registers.
 */
#define OF_ONE(name, bytes)                                                                   \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, ZERO_NOTE)                                    \
    int name(const plim_standin_context *context, int64_t n, const void *x, int64_t stride_x, \
             void *result)                                                                    \
    {                                                                                         \
        return give(context, result, bytes);                                                  \
    }
#define OF_TWO(name, bytes)                                                                   \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, ZERO_NOTE)                                    \
    int name(const plim_standin_context *context, int64_t n, const void *x, int64_t stride_x, \
             const void *y, int64_t stride_y, void *result)                                   \
    {                                                                                         \
        return give(context, result, bytes);                                                  \
    }
#define OF_ONE_BOTH(name, bytes) \
    OF_ONE(name, bytes)          \
    OF_ONE(name##_64, bytes)
#define OF_TWO_BOTH(name, bytes) \
    OF_TWO(name, bytes)          \
    OF_TWO(name##_64, bytes)

OF_ONE_BOTH(cublasSasum_v2, sizeof(float))
OF_ONE_BOTH(cublasDasum_v2, sizeof(double))
OF_ONE_BOTH(cublasScasum_v2, sizeof(float))
OF_ONE_BOTH(cublasDzasum_v2, sizeof(double))
OF_ONE_BOTH(cublasSnrm2_v2, sizeof(float))
OF_ONE_BOTH(cublasDnrm2_v2, sizeof(double))
OF_ONE_BOTH(cublasScnrm2_v2, sizeof(float))
OF_ONE_BOTH(cublasDznrm2_v2, sizeof(double))
OF_TWO_BOTH(cublasSdot_v2, sizeof(float))
OF_TWO_BOTH(cublasDdot_v2, sizeof(double))
OF_TWO_BOTH(cublasCdotc_v2, 2 * sizeof(float))
OF_TWO_BOTH(cublasCdotu_v2, 2 * sizeof(float))
OF_TWO_BOTH(cublasZdotc_v2, 2 * sizeof(double))
OF_TWO_BOTH(cublasZdotu_v2, 2 * sizeof(double))

/* The index of the largest or smallest number of a vector, from 1; 0 if it is empty. */
static int64_t first_of(int64_t n, int64_t stride)
{
    return n > 0 && stride > 0 ? 1 : 0;
}

#define WHERE(name, index, size)                                                       \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING,                                        \
                      "gives the first: all are zero where nothing is computed")       \
    int name(const plim_standin_context *context, size n, const void *x, size stride,  \
             index *result)                                                            \
    {                                                                                  \
        if (context != NULL && context->pointer_mode == PLIM_CUBLAS_SCALARS_ON_HOST) { \
            *result = (index)first_of(n, stride);                                      \
        }                                                                              \
        return plim_standin_context_launch(context);                                   \
    }
#define WHERE_BOTH(name)  \
    WHERE(name, int, int) \
    WHERE(name##_64, int64_t, int64_t)

WHERE_BOTH(cublasIsamax_v2)
WHERE_BOTH(cublasIdamax_v2)
WHERE_BOTH(cublasIcamax_v2)
WHERE_BOTH(cublasIzamax_v2)
WHERE_BOTH(cublasIsamin_v2)
WHERE_BOTH(cublasIdamin_v2)
WHERE_BOTH(cublasIcamin_v2)
WHERE_BOTH(cublasIzamin_v2)

/* The type of the result is an argument. */
#define DOT(name)                                                                         \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, ZERO_NOTE)                                \
    int name(const plim_standin_context *context, int64_t n, const void *x, int type_x,   \
             int64_t stride_x, const void *y, int type_y, int64_t stride_y, void *result, \
             int type, int type_inside)                                                   \
    {                                                                                     \
        return give(context, result, plim_standin_type_bytes(type));                      \
    }

DOT(cublasDotEx)
DOT(cublasDotEx_64)
DOT(cublasDotcEx)
DOT(cublasDotcEx_64)

/* --- making a rotation: of zeros it is the one that changes nothing */
#define ROTATION(name, real, pair)                                                            \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, "gives the rotation that changes nothing")    \
    int name(const plim_standin_context *context, void *a, void *b, real *cosine, void *sine) \
    {                                                                                         \
        if (context != NULL && context->pointer_mode == PLIM_CUBLAS_SCALARS_ON_HOST) {        \
            *cosine = 1;                                                                      \
        }                                                                                     \
        return give(context, sine, pair * sizeof(real));                                      \
    }

ROTATION(cublasSrotg_v2, float, 1)
ROTATION(cublasDrotg_v2, double, 1)
ROTATION(cublasCrotg_v2, float, 2)
ROTATION(cublasZrotg_v2, double, 2)

/* The first of five parameters says which of them count; -2: none, nothing changes. */
#define MODIFIED_ROTATION(name, real)                                                           \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, "gives the rotation that changes nothing")      \
    int name(const plim_standin_context *context, real *d1, real *d2, real *x1, const real *y1, \
             real *parameters)                                                                  \
    {                                                                                           \
        if (context != NULL && context->pointer_mode == PLIM_CUBLAS_SCALARS_ON_HOST) {          \
            parameters[0] = -2;                                                                 \
        }                                                                                       \
        return plim_standin_context_launch(context);                                            \
    }

MODIFIED_ROTATION(cublasSrotmg_v2, float)
MODIFIED_ROTATION(cublasDrotmg_v2, double)

/* ---- a matrix and a vector ------------------------------------------------------------------- */

/* --- general matrices, banded too */
PLIM_CUBLAS_LAUNCHES_SDCZ(gemv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(gbmv_v2)
PLIM_CUBLAS_LAUNCHES_SD(ger_v2)
PLIM_CUBLAS_LAUNCHES_CZ(geru_v2)
PLIM_CUBLAS_LAUNCHES_CZ(gerc_v2)

/* --- many at once, H and T standing for half and bfloat16 in the manual's names */
PLIM_CUBLAS_LAUNCHES_SDCZ(gemvBatched)
PLIM_CUBLAS_LAUNCHES_SDCZ(gemvStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasHSHgemvBatched)
PLIM_CUBLAS_LAUNCHES(cublasHSSgemvBatched)
PLIM_CUBLAS_LAUNCHES(cublasTSTgemvBatched)
PLIM_CUBLAS_LAUNCHES(cublasTSSgemvBatched)
PLIM_CUBLAS_LAUNCHES(cublasHSHgemvStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasHSSgemvStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasTSTgemvStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasTSSgemvStridedBatched)

/* --- symmetric and Hermitian: whole, banded, packed */
PLIM_CUBLAS_LAUNCHES_SDCZ(symv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syr_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syr2_v2)
PLIM_CUBLAS_LAUNCHES_SD(sbmv_v2)
PLIM_CUBLAS_LAUNCHES_SD(spmv_v2)
PLIM_CUBLAS_LAUNCHES_SD(spr_v2)
PLIM_CUBLAS_LAUNCHES_SD(spr2_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hemv_v2)
PLIM_CUBLAS_LAUNCHES_CZ(her_v2)
PLIM_CUBLAS_LAUNCHES_CZ(her2_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hbmv_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hpmv_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hpr_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hpr2_v2)

/* --- triangular: products and solutions; whole, banded, packed */
PLIM_CUBLAS_LAUNCHES_SDCZ(trmv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(trsv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(tbmv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(tbsv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(tpmv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(tpsv_v2)

/* ---- matrices -------------------------------------------------------------------------------- */

/* --- general products of one type, and of types that are arguments */
#define PRODUCT(name, type)                          \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, "")  \
    long name(const plim_standin_context *context)   \
    {                                                \
        plim_standin_tally_product(type);            \
        return plim_standin_context_launch(context); \
    }
#define PRODUCTS(name, type) \
    PRODUCT(name, type)      \
    PRODUCT(name##_64, type)

/* Sizes are not read, so that functions of 32 and of 64 bits need not differ. */
#define PRODUCT_OF_TYPES(name)                                                                 \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, "")                                            \
    int name(const plim_standin_context *context, int transpose_a, int transpose_b, int64_t m, \
             int64_t n, int64_t k, const void *alpha, const void *a, int a_type)               \
    {                                                                                          \
        plim_standin_tally_product(a_type);                                                    \
        return plim_standin_context_launch(context);                                           \
    }
#define PRODUCTS_OF_TYPES(name) \
    PRODUCT_OF_TYPES(name)      \
    PRODUCT_OF_TYPES(name##_64)

PRODUCTS(cublasSgemm_v2, PLIM_STANDIN_R_32F)
PRODUCTS(cublasDgemm_v2, PLIM_STANDIN_R_64F)
PLIM_CUBLAS_LAUNCHES_CZ(gemm_v2)
PLIM_CUBLAS_LAUNCHES(cublasHgemm)
PLIM_CUBLAS_LAUNCHES_CZ(gemm3m)
PLIM_CUBLAS_LAUNCHES(cublasCgemm3mEx)
PLIM_CUBLAS_LAUNCHES(cublasSgemmEx)
PLIM_CUBLAS_LAUNCHES(cublasCgemmEx)
PRODUCTS_OF_TYPES(cublasGemmEx)

/* --- many at once: by pointers, by strides, in groups of different shapes */
PLIM_CUBLAS_LAUNCHES_SDCZ(gemmBatched)
PLIM_CUBLAS_LAUNCHES(cublasHgemmBatched)
PLIM_CUBLAS_LAUNCHES(cublasCgemm3mBatched)
PRODUCTS_OF_TYPES(cublasGemmBatchedEx)
PRODUCTS(cublasSgemmStridedBatched, PLIM_STANDIN_R_32F)
PRODUCTS(cublasDgemmStridedBatched, PLIM_STANDIN_R_64F)
PLIM_CUBLAS_LAUNCHES_CZ(gemmStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasHgemmStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasCgemm3mStridedBatched)
PRODUCTS_OF_TYPES(cublasGemmStridedBatchedEx)
PLIM_CUBLAS_LAUNCHES_SD(gemmGroupedBatched)
PLIM_CUBLAS_LAUNCHES(cublasGemmGroupedBatchedEx)

/* --- symmetric and Hermitian */
PLIM_CUBLAS_LAUNCHES_SDCZ(symm_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syrk_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syr2k_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syrkx)
PLIM_CUBLAS_LAUNCHES(cublasCsyrkEx)
PLIM_CUBLAS_LAUNCHES(cublasCsyrk3mEx)
PLIM_CUBLAS_LAUNCHES_CZ(hemm_v2)
PLIM_CUBLAS_LAUNCHES_CZ(herk_v2)
PLIM_CUBLAS_LAUNCHES_CZ(her2k_v2)
PLIM_CUBLAS_LAUNCHES_CZ(herkx)
PLIM_CUBLAS_LAUNCHES(cublasCherkEx)
PLIM_CUBLAS_LAUNCHES(cublasCherk3mEx)

/* --- triangular */
PLIM_CUBLAS_LAUNCHES_SDCZ(trmm_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(trsm_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(trsmBatched)

/* --- sums, scaled rows or columns, and other ways to store a triangle */
PLIM_CUBLAS_LAUNCHES_SDCZ(geam)
PLIM_CUBLAS_LAUNCHES_SDCZ(dgmm)
PLIM_STANDIN_LAUNCHES_SDCZ(cublas, tpttr)
PLIM_STANDIN_LAUNCHES_SDCZ(cublas, trttp)

/* ---- factorisations and solutions of many small matrices at once ----------------------------- */

/*
 * Faults of a matrix are reported on the device. Faults of the arguments are reported on
 * the host, in *info, where there is one: 0 is fine.
 */

/* --- LU: info lies on the device */
PLIM_STANDIN_LAUNCHES_SDCZ(cublas, getrfBatched)
PLIM_STANDIN_LAUNCHES_SDCZ(cublas, getriBatched)
PLIM_STANDIN_LAUNCHES_SDCZ(cublas, matinvBatched)

static int fine(const plim_standin_context *context, int *info)
{
    if (info != NULL) {
        *info = 0;
    }
    return plim_standin_context_launch(context);
}

#define FINE_SDCZ(rest, parameters) \
    FINE(cublasS##rest, parameters) \
    FINE(cublasD##rest, parameters) \
    FINE(cublasC##rest, parameters) \
    FINE(cublasZ##rest, parameters)
#define FINE(name, parameters)      \
    int name parameters             \
    {                               \
        return fine(context, info); \
    }

/* --- QR; solutions from an LU; least squares */
FINE_SDCZ(geqrfBatched, (const plim_standin_context *context, int m, int n, void *const *a,
                         int leading, void *const *tau, int *info, int count))
FINE_SDCZ(getrsBatched,
          (const plim_standin_context *context, int trans, int n, int columns, const void *const *a,
           int leading_a, const int *pivots, void *const *b, int leading_b, int *info, int count))
FINE_SDCZ(gelsBatched, (const plim_standin_context *context, int trans, int m, int n, int columns,
                        void *const *a, int leading_a, void *const *c, int leading_c, int *info,
                        int *device_info, int count))

/* ---- between host and device ----------------------------------------------------------------- */

/*
 * Matrices are stored by column: `leading` elements from one column to the next.
 */

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
