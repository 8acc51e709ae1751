/*
 * level3.c - matrices: products, rank updates, triangular solutions.
 */
#include "standin/cublas/cublas.h"

/* --- general products of one type, and of types that are arguments */
PLIM_CUBLAS_LAUNCHES_SDCZ(gemm_v2)
PLIM_CUBLAS_LAUNCHES(cublasHgemm)
PLIM_CUBLAS_LAUNCHES_CZ(gemm3m)
PLIM_CUBLAS_LAUNCHES(cublasCgemm3mEx)
PLIM_CUBLAS_LAUNCHES(cublasSgemmEx)
PLIM_CUBLAS_LAUNCHES(cublasCgemmEx)
PLIM_CUBLAS_LAUNCHES(cublasGemmEx)

/* --- many at once: by pointers, by strides, in groups of different shapes */
PLIM_CUBLAS_LAUNCHES_SDCZ(gemmBatched)
PLIM_CUBLAS_LAUNCHES(cublasHgemmBatched)
PLIM_CUBLAS_LAUNCHES(cublasCgemm3mBatched)
PLIM_CUBLAS_LAUNCHES(cublasGemmBatchedEx)
PLIM_CUBLAS_LAUNCHES_SDCZ(gemmStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasHgemmStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasCgemm3mStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasGemmStridedBatchedEx)
PLIM_CUBLAS_LAUNCHES_SD(gemmGroupedBatched)
PLIM_CUBLAS_LAUNCHES(cublasGemmGroupedBatchedEx)

/* --- symmetric and Hermitian */
PLIM_CUBLAS_LAUNCHES_SDCZ(symm_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syrk_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syr2k_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syrkx)
PLIM_CUBLAS_LAUNCHES(cublasCsyrkEx)
PLIM_CUBLAS_LAUNCHES(cublasCsyrk3mEx)
PLIM_CUBLAS_LAUNCHES_CZ(hemm_v2)
PLIM_CUBLAS_LAUNCHES_CZ(herk_v2)
PLIM_CUBLAS_LAUNCHES_CZ(her2k_v2)
PLIM_CUBLAS_LAUNCHES_CZ(herkx)
PLIM_CUBLAS_LAUNCHES(cublasCherkEx)
PLIM_CUBLAS_LAUNCHES(cublasCherk3mEx)

/* --- triangular */
PLIM_CUBLAS_LAUNCHES_SDCZ(trmm_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(trsm_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(trsmBatched)

/* --- sums, scaled rows or columns, and other ways to store a triangle */
PLIM_CUBLAS_LAUNCHES_SDCZ(geam)
PLIM_CUBLAS_LAUNCHES_SDCZ(dgmm)
PLIM_STANDIN_LAUNCHES_SDCZ(cublas, tpttr)
PLIM_STANDIN_LAUNCHES_SDCZ(cublas, trttp)
