/*
 * level2.c - a matrix and a vector.
 */
#include "standin/cublas/cublas.h"

/* --- general matrices, banded too */
PLIM_CUBLAS_LAUNCHES_SDCZ(gemv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(gbmv_v2)
PLIM_CUBLAS_LAUNCHES_SD(ger_v2)
PLIM_CUBLAS_LAUNCHES_CZ(geru_v2)
PLIM_CUBLAS_LAUNCHES_CZ(gerc_v2)

/* --- many at once, H and T standing for half and bfloat16 in the manual's names */
PLIM_CUBLAS_LAUNCHES_SDCZ(gemvBatched)
PLIM_CUBLAS_LAUNCHES_SDCZ(gemvStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasHSHgemvBatched)
PLIM_CUBLAS_LAUNCHES(cublasHSSgemvBatched)
PLIM_CUBLAS_LAUNCHES(cublasTSTgemvBatched)
PLIM_CUBLAS_LAUNCHES(cublasTSSgemvBatched)
PLIM_CUBLAS_LAUNCHES(cublasHSHgemvStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasHSSgemvStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasTSTgemvStridedBatched)
PLIM_CUBLAS_LAUNCHES(cublasTSSgemvStridedBatched)

/* --- symmetric and Hermitian: whole, banded, packed */
PLIM_CUBLAS_LAUNCHES_SDCZ(symv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syr_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(syr2_v2)
PLIM_CUBLAS_LAUNCHES_SD(sbmv_v2)
PLIM_CUBLAS_LAUNCHES_SD(spmv_v2)
PLIM_CUBLAS_LAUNCHES_SD(spr_v2)
PLIM_CUBLAS_LAUNCHES_SD(spr2_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hemv_v2)
PLIM_CUBLAS_LAUNCHES_CZ(her_v2)
PLIM_CUBLAS_LAUNCHES_CZ(her2_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hbmv_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hpmv_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hpr_v2)
PLIM_CUBLAS_LAUNCHES_CZ(hpr2_v2)

/* --- triangular: products and solutions; whole, banded, packed */
PLIM_CUBLAS_LAUNCHES_SDCZ(trmv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(trsv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(tbmv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(tbsv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(tpmv_v2)
PLIM_CUBLAS_LAUNCHES_SDCZ(tpsv_v2)
