/*
 * eigen.c - eigenvalues of symmetric and Hermitian matrices, with 32-bit sizes.
 */
#include "standin/cusolver/size.h"

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
