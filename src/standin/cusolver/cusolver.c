/*
 * cusolver.c - cuSOLVER: contexts, and its functions with 32-bit sizes.
 */
#include "standin/cusolver/cusolver.h"
#include "standin/core/footprint.h"
#include "standin/core/handle.h"
#include "standin/library/library.h"

/* ---- contexts, and the objects that hold an algorithm's settings ----------------------------- */

int cusolverDnCreate(plim_standin_context **ret_context)
{
    /* It multiplies by cuBLAS, with a context of its own. */
    return plim_standin_context_create(plim_standin_footprint_library(PLIM_STANDIN_CUBLAS),
                                       PLIM_CUSOLVER_ALLOC_FAILED, PLIM_CUSOLVER_EXECUTION_FAILED,
                                       ret_context);
}

int cusolverDnDestroy(plim_standin_context *context)
{
    plim_standin_context_destroy(context);
    return 0;
}

PLIM_STANDIN_SETTER(cusolverDnSetStream, void *, stream)
PLIM_STANDIN_GETTER(cusolverDnGetStream, void *, stream)

int cusolverGetProperty(int kind, int *ret_value)
{
    return plim_standin_version_part(plim_standin_versions_in_force()->cusolver, kind,
                                     PLIM_CUSOLVER_INVALID_VALUE, ret_value);
}

int cusolverGetVersion(int *ret_version)
{
    *ret_version = plim_standin_version_number(plim_standin_versions_in_force()->cusolver, 1000);
    return 0;
}

/* Settings say how exactly to compute, which changes no size: the objects are numbers. */
PLIM_STANDIN_CREATES(cusolverDnCreateParams)
PLIM_STANDIN_CREATES(cusolverDnCreateSyevjInfo)
PLIM_STANDIN_CREATES(cusolverDnCreateGesvdjInfo)
PLIM_STANDIN_NOTHING(cusolverDnDestroyParams)
PLIM_STANDIN_NOTHING(cusolverDnDestroySyevjInfo)
PLIM_STANDIN_NOTHING(cusolverDnDestroyGesvdjInfo)
PLIM_STANDIN_NOTHING(cusolverDnSetAdvOptions)
PLIM_STANDIN_NOTHING(cusolverDnSetDeterministicMode)
PLIM_STANDIN_NOTHING(cusolverDnXsyevjSetTolerance)
PLIM_STANDIN_NOTHING(cusolverDnXsyevjSetMaxSweeps)
PLIM_STANDIN_NOTHING(cusolverDnXsyevjSetSortEig)
PLIM_STANDIN_NOTHING(cusolverDnXgesvdjSetTolerance)
PLIM_STANDIN_NOTHING(cusolverDnXgesvdjSetMaxSweeps)
PLIM_STANDIN_NOTHING(cusolverDnXgesvdjSetSortEig)

/* ---- LU, Cholesky, LDLT and QR --------------------------------------------------------------- */

/*
 * reported in a number on the device, of which copies give 0: success.
 */

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

/* ---- eigenvalues of symmetric and Hermitian matrices ----------------------------------------- */

PLIM_STANDIN_LAUNCHES_SD(cusolverDn, syevd)
PLIM_STANDIN_LAUNCHES_CZ(cusolverDn, heevd)
PLIM_STANDIN_LAUNCHES_SD(cusolverDn, syevj)
PLIM_STANDIN_LAUNCHES_CZ(cusolverDn, heevj)
PLIM_STANDIN_LAUNCHES_SD(cusolverDn, syevjBatched)
PLIM_STANDIN_LAUNCHES_CZ(cusolverDn, heevjBatched)

#define SYEVD(name, is_double)                                                            \
    PLIM_CUSOLVER_SIZE(name, PLIM_CUSOLVER_REPORTED,                                      \
                       (const void *context, int job, int triangle, int n, const void *a, \
                        int leading, const void *w, int *lwork),                          \
                       context, n, n, leading, plim_cusolver_syevd(n, job != 0, is_double), lwork)
SYEVD(Ssyevd, false)
SYEVD(Dsyevd, true)
SYEVD(Cheevd, false)
SYEVD(Zheevd, true)

PLIM_CUSOLVER_SIZES(Ssyevj, Dsyevj, Cheevj, Zheevj, PLIM_CUSOLVER_REPORTED,
                    (const void *context, int job, int triangle, int n, const void *a, int leading,
                     const void *w, int *lwork, const void *info),
                    context, n, n, leading, plim_cusolver_syevj(n, 1), lwork)
PLIM_CUSOLVER_SIZES(SsyevjBatched, DsyevjBatched, CheevjBatched, ZheevjBatched,
                    PLIM_CUSOLVER_REPORTED,
                    (const void *context, int job, int triangle, int n, const void *a, int leading,
                     const void *w, int *lwork, const void *info, int count),
                    context, n, n, leading, plim_cusolver_syevj(n, count), lwork)

/* ---- singular values ------------------------------------------------------------------------- */

PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, gesvd)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, gesvdj)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, gesvdjBatched)

PLIM_CUSOLVER_SIZES(Sgesvd, Dgesvd, Cgesvd, Zgesvd, PLIM_CUSOLVER_LAPACK,
                    (const void *context, int m, int n, int *lwork), context, m, n, m,
                    plim_cusolver_gesvd(m, n), lwork)
PLIM_CUSOLVER_SIZES(Sgesvdj, Dgesvdj, Cgesvdj, Zgesvdj, PLIM_CUSOLVER_REPORTED,
                    (const void *context, int job, int is_economic, int m, int n, const void *a,
                     int leading, const void *s, const void *u, int leading_u, const void *v,
                     int leading_v, int *lwork, const void *info),
                    context, m, n, leading, plim_cusolver_gesvdj(m, n), lwork)
PLIM_CUSOLVER_SIZES(SgesvdjBatched, DgesvdjBatched, CgesvdjBatched, ZgesvdjBatched,
                    PLIM_CUSOLVER_REPORTED,
                    (const void *context, int job, int m, int n, const void *a, int leading,
                     const void *s, const void *u, int leading_u, const void *v, int leading_v,
                     int *lwork, const void *info, int count),
                    context, m, n, leading, plim_cusolver_gesvdj_batched(m, n, count), lwork)
PLIM_CUSOLVER_SIZES(SgesvdaStridedBatched, DgesvdaStridedBatched, CgesvdaStridedBatched,
                    ZgesvdaStridedBatched, "workspace: the matrix times itself",
                    (const void *context, int job, int rank, int m, int n, const void *a,
                     int leading, long long stride_a, const void *s, long long stride_s,
                     const void *u, int leading_u, long long stride_u, const void *v, int leading_v,
                     long long stride_v, int *lwork, int count),
                    context, m, n, leading, plim_cusolver_gesvda(m, n, count), lwork)

/* The residual of each result goes to the host. */
#define APPROXIMATE(name)                                                                          \
    int name(const plim_standin_context *context, int job, int rank, int m, int n, const void *a,  \
             int leading, long long stride_a, void *s, long long stride_s, void *u, int leading_u, \
             long long stride_u, void *v, int leading_v, long long stride_v, void *work,           \
             int lwork, int *info, double *ret_residuals, int count)                               \
    {                                                                                              \
        for (int i = 0; ret_residuals != NULL && i < count; i++) {                                 \
            ret_residuals[i] = 0;                                                                  \
        }                                                                                          \
        return plim_standin_context_launch(context);                                               \
    }
APPROXIMATE(cusolverDnSgesvdaStridedBatched)
APPROXIMATE(cusolverDnDgesvdaStridedBatched)
APPROXIMATE(cusolverDnCgesvdaStridedBatched)
APPROXIMATE(cusolverDnZgesvdaStridedBatched)
