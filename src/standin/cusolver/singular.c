/*
 * singular.c - singular values, with 32-bit sizes.
 */
#include "standin/cusolver/size.h"

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

/* How far off each result is, it tells the host. */
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
