/*
 * factor.c - LU, Cholesky, LDLT and QR, with 32-bit sizes. Whether a factorisation went well is
 * told in a number on the device, of which copies give 0: it did.
 */
#include "standin/cusolver/size.h"

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

PLIM_CUSOLVER_SIZES(Sgetrf, Dgetrf, Cgetrf, Zgetrf, PLIM_CUSOLVER_LAPACK,
                    (const void *context, int m, int n, const void *a, int leading, int *lwork),
                    context, m, n, leading, plim_cusolver_getrf(m, n), lwork)
PLIM_CUSOLVER_SIZES(Sgeqrf, Dgeqrf, Cgeqrf, Zgeqrf, PLIM_CUSOLVER_LAPACK,
                    (const void *context, int m, int n, const void *a, int leading, int *lwork),
                    context, m, n, leading, plim_cusolver_geqrf(m, n), lwork)
PLIM_CUSOLVER_SIZES(Spotrf, Dpotrf, Cpotrf, Zpotrf, PLIM_CUSOLVER_LAPACK,
                    (const void *context, int triangle, int n, const void *a, int leading,
                     int *lwork),
                    context, n, n, leading, plim_cusolver_potrf(n), lwork)
PLIM_CUSOLVER_SIZES(Ssytrf, Dsytrf, Csytrf, Zsytrf, PLIM_CUSOLVER_LAPACK,
                    (const void *context, int n, const void *a, int leading, int *lwork), context,
                    n, n, leading, plim_cusolver_sytrf(n), lwork)
PLIM_CUSOLVER_SIZES(Sorgqr, Dorgqr, Cungqr, Zungqr, PLIM_CUSOLVER_REPORTED,
                    (const void *context, int m, int n, int k, const void *a, int leading,
                     const void *tau, int *lwork),
                    context, m, n, leading, plim_cusolver_orgqr(m, n), lwork)

/* Side 0 is CUBLAS_SIDE_LEFT: Q times C, so Q is of the order of C's rows. */
static int order_of(int side, int m, int n)
{
    return side == 0 ? m : n;
}

PLIM_CUSOLVER_SIZES(Sormqr, Dormqr, Cunmqr, Zunmqr, PLIM_CUSOLVER_REPORTED,
                    (const void *context, int side, int trans, int m, int n, int k, const void *a,
                     int leading, const void *tau, const void *c, int leading_c, int *lwork),
                    context, order_of(side, m, n), k, leading,
                    plim_cusolver_ormqr(order_of(side, m, n), k), lwork)
