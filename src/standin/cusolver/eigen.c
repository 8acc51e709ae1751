/*
 * eigen.c - eigenvalues of symmetric and Hermitian matrices, with 32-bit sizes.
 */
#include "standin/cusolver/cusolver.h"
#include "standin/cusolver/size.h"
#include "standin/cusolver/workspace.h"

PLIM_STANDIN_LAUNCHES_SD(cusolverDn, syevd)
PLIM_STANDIN_LAUNCHES_CZ(cusolverDn, heevd)
PLIM_STANDIN_LAUNCHES_SD(cusolverDn, syevj)
PLIM_STANDIN_LAUNCHES_CZ(cusolverDn, heevj)
PLIM_STANDIN_LAUNCHES_SD(cusolverDn, syevjBatched)
PLIM_STANDIN_LAUNCHES_CZ(cusolverDn, heevjBatched)

#define DIVIDE_AND_CONQUER(name, is_double)                                                 \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_REPORTED)                                     \
    int name(const void *context, int job, int triangle, int n, const void *a, int leading, \
             const void *w, int *lwork)                                                     \
    {                                                                                       \
        return plim_cusolver_give(context, n, n, leading,                                   \
                                  plim_cusolver_syevd(n, job != 0, is_double), lwork);      \
    }
DIVIDE_AND_CONQUER(cusolverDnSsyevd_bufferSize, false)
DIVIDE_AND_CONQUER(cusolverDnDsyevd_bufferSize, true)
DIVIDE_AND_CONQUER(cusolverDnCheevd_bufferSize, false)
DIVIDE_AND_CONQUER(cusolverDnZheevd_bufferSize, true)

#define JACOBI(name)                                                                         \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_REPORTED)                                      \
    int name(const void *context, int job, int triangle, int n, const void *a, int leading,  \
             const void *w, int *lwork, const void *info)                                    \
    {                                                                                        \
        return plim_cusolver_give(context, n, n, leading, plim_cusolver_syevj(n, 1), lwork); \
    }
JACOBI(cusolverDnSsyevj_bufferSize)
JACOBI(cusolverDnDsyevj_bufferSize)
JACOBI(cusolverDnCheevj_bufferSize)
JACOBI(cusolverDnZheevj_bufferSize)

#define JACOBI_BATCHED(name)                                                                     \
    PLIM_STANDIN_MODELLED(name, PLIM_CUSOLVER_REPORTED)                                          \
    int name(const void *context, int job, int triangle, int n, const void *a, int leading,      \
             const void *w, int *lwork, const void *info, int count)                             \
    {                                                                                            \
        return plim_cusolver_give(context, n, n, leading, plim_cusolver_syevj(n, count), lwork); \
    }
JACOBI_BATCHED(cusolverDnSsyevjBatched_bufferSize)
JACOBI_BATCHED(cusolverDnDsyevjBatched_bufferSize)
JACOBI_BATCHED(cusolverDnCheevjBatched_bufferSize)
JACOBI_BATCHED(cusolverDnZheevjBatched_bufferSize)
