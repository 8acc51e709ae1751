/*
 * extended.c - the functions of cuSOLVER with 64-bit sizes, cusolverDnX…: types are arguments, and
 * workspaces are wanted in bytes, on the device and on the host.
 *
 * The host's are 0 (reported in github.com/tlapack/tlapack/pull/128), but for geev.
 */
#include "standin/cusolver/cusolver.h"
#include "standin/cusolver/workspace.h"

#include <stdbool.h>
#include <stddef.h>

PLIM_STANDIN_LAUNCHES(cusolverDnXgeqrf)
PLIM_STANDIN_LAUNCHES(cusolverDnXgetrf)
PLIM_STANDIN_LAUNCHES(cusolverDnXgetrs)
PLIM_STANDIN_LAUNCHES(cusolverDnXpotrf)
PLIM_STANDIN_LAUNCHES(cusolverDnXpotrs)
PLIM_STANDIN_LAUNCHES(cusolverDnXsytrs)
PLIM_STANDIN_LAUNCHES(cusolverDnXsyevd)
PLIM_STANDIN_LAUNCHES(cusolverDnXsyevBatched)
PLIM_STANDIN_LAUNCHES(cusolverDnXgeev)

PLIM_STANDIN_MODELLED(cusolverDnXgeqrf_bufferSize, PLIM_CUSOLVER_LAPACK)
PLIM_STANDIN_MODELLED(cusolverDnXgetrf_bufferSize, PLIM_CUSOLVER_LAPACK)
PLIM_STANDIN_MODELLED(cusolverDnXpotrf_bufferSize, PLIM_CUSOLVER_LAPACK)
PLIM_STANDIN_MODELLED(cusolverDnXsytrs_bufferSize, "workspace: the right-hand sides")
PLIM_STANDIN_MODELLED(cusolverDnXsyevd_bufferSize, PLIM_CUSOLVER_REPORTED)
PLIM_STANDIN_MODELLED(cusolverDnXsyevBatched_bufferSize, PLIM_CUSOLVER_LAPACK)
PLIM_STANDIN_MODELLED(cusolverDnXgeev_bufferSize, PLIM_CUSOLVER_LAPACK)

/* The arguments that matter. */
typedef struct shape {
    const void *context;
    int64_t m;
    int64_t n;
    int64_t leading;
    int type;
} shape;

static int give(const shape *of, int64_t on_device, int64_t on_host, size_t *ret_device,
                size_t *ret_host)
{
    const size_t bytes = plim_cusolver_type_bytes(of->type);
    if (of->context == NULL) {
        return PLIM_CUSOLVER_NOT_INITIALIZED;
    }
    if (of->m < 0 || of->n < 0 || of->leading < of->m || bytes == 0 || ret_device == NULL ||
        ret_host == NULL) {
        return PLIM_CUSOLVER_INVALID_VALUE;
    }
    *ret_device = (size_t)on_device * bytes;
    *ret_host = (size_t)on_host * bytes;
    return 0;
}

int cusolverDnXgeqrf_bufferSize(const void *context, const void *params, int64_t m, int64_t n,
                                int type, const void *a, int64_t leading, int type_tau,
                                const void *tau, int type_inside, size_t *ret_device,
                                size_t *ret_host)
{
    const shape of = { context, m, n, leading, type };
    return give(&of, plim_cusolver_geqrf(m, n), 0, ret_device, ret_host);
}

int cusolverDnXgetrf_bufferSize(const void *context, const void *params, int64_t m, int64_t n,
                                int type, const void *a, int64_t leading, int type_inside,
                                size_t *ret_device, size_t *ret_host)
{
    const shape of = { context, m, n, leading, type };
    return give(&of, plim_cusolver_getrf(m, n), 0, ret_device, ret_host);
}

int cusolverDnXpotrf_bufferSize(const void *context, const void *params, int triangle, int64_t n,
                                int type, const void *a, int64_t leading, int type_inside,
                                size_t *ret_device, size_t *ret_host)
{
    const shape of = { context, n, n, leading, type };
    return give(&of, plim_cusolver_potrf(n), 0, ret_device, ret_host);
}

int cusolverDnXsytrs_bufferSize(const void *context, int triangle, int64_t n, int64_t columns,
                                int type, const void *a, int64_t leading, const int64_t *pivots,
                                int type_b, void *b, int64_t leading_b, size_t *ret_device,
                                size_t *ret_host)
{
    const shape of = { context, n, n, leading, type };
    return give(&of, plim_cusolver_sytrs(n, columns), 0, ret_device, ret_host);
}

int cusolverDnXsyevd_bufferSize(const void *context, const void *params, int job, int triangle,
                                int64_t n, int type, const void *a, int64_t leading, int type_w,
                                const void *w, int type_inside, size_t *ret_device,
                                size_t *ret_host)
{
    /* Eigenvalues are real: the type of w says which precision. */
    const bool is_double = plim_cusolver_type_bytes(type_w) == sizeof(double);
    const shape of = { context, n, n, leading, type };
    return give(&of, plim_cusolver_syevd(n, job != 0, is_double), 0, ret_device, ret_host);
}

int cusolverDnXsyevBatched_bufferSize(const void *context, const void *params, int job,
                                      int triangle, int64_t n, int type, const void *a,
                                      int64_t leading, int type_w, const void *w, int type_inside,
                                      size_t *ret_device, size_t *ret_host, int64_t count)
{
    if (count < 1) { /* github.com/jax-ml/jax/issues/33062 */
        return PLIM_CUSOLVER_INVALID_VALUE;
    }
    const shape of = { context, n, n, leading, type };
    return give(&of, plim_cusolver_syev_batched(n, job != 0, count), 0, ret_device, ret_host);
}

int cusolverDnXgeev_bufferSize(const void *context, const void *params, int job_left, int job_right,
                               int64_t n, int type, const void *a, int64_t leading, int type_w,
                               const void *w, int type_left, const void *left, int64_t leading_left,
                               int type_right, const void *right, int64_t leading_right,
                               int type_inside, size_t *ret_device, size_t *ret_host)
{
    if (job_left != 0) { /* cuSOLVER manual: only right vectors */
        return PLIM_CUSOLVER_INVALID_VALUE;
    }
    const shape of = { context, n, n, leading, type };
    return give(&of, plim_cusolver_geev(n), plim_cusolver_geev_on_host(n), ret_device, ret_host);
}
