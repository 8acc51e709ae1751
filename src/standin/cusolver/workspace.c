/*
 * workspace.c - see workspace.h.
 */
#include "standin/cusolver/workspace.h"

#include "standin/cusolver/cusolver.h"
#include "standin/library/library.h"

#include <limits.h>
#include <stdbool.h>

#define PANEL 64 /* columns that LAPACK's blocked algorithms work on at once (ilaenv) */

/* LAPACK's dgetrf needs none, for it swaps and solves in place; on a GPU a panel is copied. */
int64_t plim_cusolver_getrf(int64_t m, int64_t n)
{
    return PANEL * (m > n ? m : n);
}

/* Likewise: dpotrf. */
int64_t plim_cusolver_potrf(int64_t n)
{
    return PANEL * n;
}

/* dsytrf: n times the panel. */
int64_t plim_cusolver_sytrf(int64_t n)
{
    return PANEL * n;
}

/* The right-hand sides, permuted. */
int64_t plim_cusolver_sytrs(int64_t n, int64_t columns)
{
    return n * columns;
}

/* dgeqrf: n times the panel. */
int64_t plim_cusolver_geqrf(int64_t m, int64_t n)
{
    return PANEL * n;
}

/*
 * github.com/JuliaGPU/CUDA.jl/pull/3258: the 32-bit size overflows beyond about 16 million rows,
 * which is 2^31 / 128.
 */
int64_t plim_cusolver_orgqr(int64_t m, int64_t n)
{
    return 128 * m;
}

/*
 * The same, and github.com/QuantumKitHub/MatrixAlgebraKit.jl/pull/267: about 2 m n elements,
 * whatever Q is multiplied with.
 */
int64_t plim_cusolver_ormqr(int64_t order, int64_t reflectors)
{
    return 2 * order * reflectors;
}

/*
 * github.com/JuliaGPU/CUDA.jl issues 2413 (float, n 15000: 2707806276 bytes) and 2427 (double,
 * n 10000: 2410452488 bytes), both with vectors; the formula gives both. Without vectors the
 * square parts go, as they do in LAPACK's dsyevd.
 */
int64_t plim_cusolver_syevd(int64_t n, bool wants_vectors, bool is_double)
{
    const int64_t square = wants_vectors ? 3 * n * n : 0;
    return square + 129 * n + (is_double ? 16561 : 16569);
}

/* LAPACK's dsyevd, for each. */
int64_t plim_cusolver_syev_batched(int64_t n, bool wants_vectors, int64_t count)
{
    return count * (wants_vectors ? 2 * n * n + 6 * n + 1 : 2 * n + 1);
}

/*
 * github.com/cupy/cupy/issues/7261: sizes of cheevjBatched for 1 to 512 matrices of order 4 and
 * the largest count for order 2 are all as given by this. Matrices are padded to multiples of 32.
 */
int64_t plim_cusolver_syevj(int64_t n, int64_t count)
{
    const int64_t padded = (n + 31) / 32 * 32;
    return count * (padded * padded + (n + 1) * (n + 1)) + 1028;
}

/* LAPACK's dgeev: the Hessenberg form by panels, and 4 vectors; and the vectors it works on. */
int64_t plim_cusolver_geev(int64_t n)
{
    return n * n + (PANEL + 4) * n;
}

/* The Hessenberg matrix is worked on by the host. */
int64_t plim_cusolver_geev_on_host(int64_t n)
{
    return n * n + 4 * n;
}

/* LAPACK's dgesvd by way of a QR: R, 3 vectors, and panels of both sides. */
int64_t plim_cusolver_gesvd(int64_t m, int64_t n)
{
    const int64_t least = m < n ? m : n;
    return least * least + 3 * least + PANEL * (m + n);
}

/*
 * github.com/JuliaGPU/CUDA.jl issues 1880 (20000 by 20000: 3211456640 bytes) and 598 (20500 by
 * 20000: 4811456640 bytes), both float; the formula gives both.
 */
int64_t plim_cusolver_gesvdj(int64_t m, int64_t n)
{
    const int64_t least = m < n ? m : n;
    return (m == n ? 2 : 3) * least * least + 143 * least + 4160;
}

/* As syevj, of which it is the sibling: at most 32 by 32. */
int64_t plim_cusolver_gesvdj_batched(int64_t m, int64_t n, int64_t count)
{
    const int64_t padded = ((m > n ? m : n) + 31) / 32 * 32;
    return count * (padded * padded + (m + 1) * (n + 1)) + 1028;
}

/* The matrix times itself, its vectors, and the matrix. */
int64_t plim_cusolver_gesvda(int64_t m, int64_t n, int64_t count)
{
    return count * (2 * n * n + m * n);
}

/* ---- given to the caller --------------------------------------------------------------------- */

int plim_cusolver_give(const void *context, int64_t m, int64_t n, int64_t leading, int64_t elements,
                       int *ret_elements)
{
    if (context == NULL) {
        return PLIM_CUSOLVER_NOT_INITIALIZED;
    }
    if (m < 0 || n < 0 || leading < m || elements > INT_MAX || ret_elements == NULL) {
        return PLIM_CUSOLVER_INVALID_VALUE;
    }
    *ret_elements = (int)elements;
    return 0;
}

size_t plim_cusolver_type_bytes(int type)
{
    const bool is_factorised = type == PLIM_STANDIN_R_32F || type == PLIM_STANDIN_R_64F ||
                               type == PLIM_STANDIN_C_32F || type == PLIM_STANDIN_C_64F;
    return is_factorised ? plim_standin_type_bytes(type) : 0;
}
