/*
 * level1.c - vectors.
 *
 * Sums and products give one number. Where the host gets it, it is what copies from a device
 * give, zero; where the device gets it, nothing is written.
 */
#include "standin/cublas/cublas.h"
#include "standin/library/types.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Where the largest or smallest number of a vector stands, counted from 1; 0 if it is empty. */
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

/* What the type of the result is, is an argument. */
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
