/*
 * workspace.h - how much memory factorisations want for themselves.
 *
 * PyTorch asks cuSOLVER and takes that much from its own allocator, so these sizes are seen in
 * its books. NVIDIA states no formulas. Ours are of two kinds, as workspace.c says for each:
 * fitted to sizes that users reported, or what LAPACK wants for the same. All are MODELLED.
 *
 * Sizes are in elements of the matrix, whole-valued functions of the shape and nothing else;
 * shapes are not below 0.
 */
#ifndef PLIMSOLL_STANDIN_CUSOLVER_WORKSPACE_H
#define PLIMSOLL_STANDIN_CUSOLVER_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#define PLIM_CUSOLVER_LAPACK   "workspace as LAPACK's, panels of 64 columns"
#define PLIM_CUSOLVER_REPORTED "workspace fitted to sizes that users reported"

/* LU, Cholesky, LDLT */
int64_t plim_cusolver_getrf(int64_t m, int64_t n);
int64_t plim_cusolver_potrf(int64_t n);
int64_t plim_cusolver_sytrf(int64_t n);
int64_t plim_cusolver_sytrs(int64_t n, int64_t columns);

/* QR, making Q, multiplying by Q: `order` is Q's, `reflectors` how many it is made of */
int64_t plim_cusolver_geqrf(int64_t m, int64_t n);
int64_t plim_cusolver_orgqr(int64_t m, int64_t n);
int64_t plim_cusolver_ormqr(int64_t order, int64_t reflectors);

/* Eigenvalues, with or without vectors: divide and conquer, Jacobi; of general matrices */
int64_t plim_cusolver_syevd(int64_t n, bool wants_vectors, bool is_double);
int64_t plim_cusolver_syev_batched(int64_t n, bool wants_vectors, int64_t count);
int64_t plim_cusolver_syevj(int64_t n, int64_t count);
int64_t plim_cusolver_geev(int64_t n);
int64_t plim_cusolver_geev_on_host(int64_t n);

/* Singular values: by QR, Jacobi, Jacobi of many, from the matrix times itself */
int64_t plim_cusolver_gesvd(int64_t m, int64_t n);
int64_t plim_cusolver_gesvdj(int64_t m, int64_t n);
int64_t plim_cusolver_gesvdj_batched(int64_t m, int64_t n, int64_t count);
int64_t plim_cusolver_gesvda(int64_t m, int64_t n, int64_t count);

#endif
