/*
 * singular.c - singular values, with 32-bit sizes.
 */
#include "standin/cusolver/cusolver.h"
#include "standin/cusolver/size.h"
#include "standin/cusolver/workspace.h"

PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, gesvd)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, gesvdj)
PLIM_STANDIN_LAUNCHES_SDCZ(cusolverDn, gesvdjBatched)

#define BY_QR(name)                                                                    \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_LAPACK)                                  \
    int name(const void *context, int m, int n, int *lwork)                            \
    {                                                                                  \
        return plim_cusolver_give(context, m, n, m, plim_cusolver_gesvd(m, n), lwork); \
    }
BY_QR(cusolverDnSgesvd_bufferSize)
BY_QR(cusolverDnDgesvd_bufferSize)
BY_QR(cusolverDnCgesvd_bufferSize)
BY_QR(cusolverDnZgesvd_bufferSize)

#define JACOBI(name)                                                                          \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_REPORTED)                                       \
    int name(const void *context, int job, int is_economic, int m, int n, const void *a,      \
             int leading, const void *s, const void *u, int leading_u, const void *v,         \
             int leading_v, int *lwork, const void *info)                                     \
    {                                                                                         \
        return plim_cusolver_give(context, m, n, leading, plim_cusolver_gesvdj(m, n), lwork); \
    }
JACOBI(cusolverDnSgesvdj_bufferSize)
JACOBI(cusolverDnDgesvdj_bufferSize)
JACOBI(cusolverDnCgesvdj_bufferSize)
JACOBI(cusolverDnZgesvdj_bufferSize)

#define JACOBI_BATCHED(name)                                                            \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_REPORTED)                                 \
    int name(const void *context, int job, int m, int n, const void *a, int leading,    \
             const void *s, const void *u, int leading_u, const void *v, int leading_v, \
             int *lwork, const void *info, int count)                                   \
    {                                                                                   \
        return plim_cusolver_give(context, m, n, leading,                               \
                                  plim_cusolver_gesvdj_batched(m, n, count), lwork);    \
    }
JACOBI_BATCHED(cusolverDnSgesvdjBatched_bufferSize)
JACOBI_BATCHED(cusolverDnDgesvdjBatched_bufferSize)
JACOBI_BATCHED(cusolverDnCgesvdjBatched_bufferSize)
JACOBI_BATCHED(cusolverDnZgesvdjBatched_bufferSize)

#define APPROXIMATE(name)                                                                          \
    PLIM_STANDIN_MODELLED(name##_bufferSize, "workspace: the matrix times itself")                 \
    int name##_bufferSize(const void *context, int job, int rank, int m, int n, const void *a,     \
                          int leading, long long stride_a, const void *s, long long stride_s,      \
                          const void *u, int leading_u, long long stride_u, const void *v,         \
                          int leading_v, long long stride_v, int *lwork, int count)                \
    {                                                                                              \
        return plim_cusolver_give(context, m, n, leading, plim_cusolver_gesvda(m, n, count),       \
                                  lwork);                                                          \
    }                                                                                              \
    /* How far off each result is, it tells the host. */                                           \
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
