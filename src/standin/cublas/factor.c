/*
 * factor.c - factorisations and solutions of many small matrices at once.
 *
 * What is wrong with a matrix is told on the device. What is wrong with the arguments is told on
 * the host, in *info, where there is one: 0 is fine.
 */
#include "standin/cublas/cublas.h"

#include <stddef.h>

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
