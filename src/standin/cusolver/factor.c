/*
 * factor.c - LU, Cholesky, LDLT and QR, with 32-bit sizes. Whether a factorisation went well is
 * told in a number on the device, of which copies give 0: it did.
 */
#include "standin/cusolver/cusolver.h"
#include "standin/cusolver/size.h"
#include "standin/cusolver/workspace.h"

#include <stddef.h>

/* For float, double and their complex numbers, which differ in nothing but the name. */
#define SDCZ(macro, s, d, c, z) macro(s) macro(d) macro(c) macro(z)

PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, getrf)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, getrs)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, potrf)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, potrs)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, potrfBatched)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, potrsBatched)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, sytrf)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, geqrf)
PLIM_STANDIN_LAUNCHES_SD(cusolverDn, orgqr)
PLIM_STANDIN_LAUNCHES_CZ(cusolverDn, ungqr)
PLIM_STANDIN_LAUNCHES_SD(cusolverDn, ormqr)
PLIM_STANDIN_LAUNCHES_CZ(cusolverDn, unmqr)

#define GETRF(name)                                                                          \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_LAPACK)                                        \
    int name(const void *context, int m, int n, const void *a, int leading, int *lwork)      \
    {                                                                                        \
        return plim_cusolver_give(context, m, n, leading, plim_cusolver_getrf(m, n), lwork); \
    }
SDCZ(GETRF, cusolverDnSgetrf_bufferSize, cusolverDnDgetrf_bufferSize, cusolverDnCgetrf_bufferSize,
     cusolverDnZgetrf_bufferSize)

#define GEQRF(name)                                                                          \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_LAPACK)                                        \
    int name(const void *context, int m, int n, const void *a, int leading, int *lwork)      \
    {                                                                                        \
        return plim_cusolver_give(context, m, n, leading, plim_cusolver_geqrf(m, n), lwork); \
    }
SDCZ(GEQRF, cusolverDnSgeqrf_bufferSize, cusolverDnDgeqrf_bufferSize, cusolverDnCgeqrf_bufferSize,
     cusolverDnZgeqrf_bufferSize)

#define POTRF(name)                                                                            \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_LAPACK)                                          \
    int name(const void *context, int triangle, int n, const void *a, int leading, int *lwork) \
    {                                                                                          \
        return plim_cusolver_give(context, n, n, leading, plim_cusolver_potrf(n), lwork);      \
    }
SDCZ(POTRF, cusolverDnSpotrf_bufferSize, cusolverDnDpotrf_bufferSize, cusolverDnCpotrf_bufferSize,
     cusolverDnZpotrf_bufferSize)

#define SYTRF(name)                                                                       \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_LAPACK)                                     \
    int name(const void *context, int n, const void *a, int leading, int *lwork)          \
    {                                                                                     \
        return plim_cusolver_give(context, n, n, leading, plim_cusolver_sytrf(n), lwork); \
    }
SDCZ(SYTRF, cusolverDnSsytrf_bufferSize, cusolverDnDsytrf_bufferSize, cusolverDnCsytrf_bufferSize,
     cusolverDnZsytrf_bufferSize)

#define ORGQR(name)                                                                          \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_REPORTED)                                      \
    int name(const void *context, int m, int n, int k, const void *a, int leading,           \
             const void *tau, int *lwork)                                                    \
    {                                                                                        \
        return plim_cusolver_give(context, m, n, leading, plim_cusolver_orgqr(m, n), lwork); \
    }
SDCZ(ORGQR, cusolverDnSorgqr_bufferSize, cusolverDnDorgqr_bufferSize, cusolverDnCungqr_bufferSize,
     cusolverDnZungqr_bufferSize)

/* Side 0 is CUBLAS_SIDE_LEFT: Q times C, so Q is of the order of C's rows. */
#define ORMQR(name)                                                                          \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_REPORTED)                                      \
    int name(const void *context, int side, int trans, int m, int n, int k, const void *a,   \
             int leading, const void *tau, const void *c, int leading_c, int *lwork)         \
    {                                                                                        \
        const int order = side == 0 ? m : n;                                                 \
        return plim_cusolver_give(context, order, k, leading, plim_cusolver_ormqr(order, k), \
                                  lwork);                                                    \
    }
SDCZ(ORMQR, cusolverDnSormqr_bufferSize, cusolverDnDormqr_bufferSize, cusolverDnCunmqr_bufferSize,
     cusolverDnZunmqr_bufferSize)
