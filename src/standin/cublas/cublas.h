/*
 * cublas.h - what the stand-ins for cuBLAS and cuBLASLt share.
 *
 * Most functions exist twice, with 32-bit and with 64-bit sizes ("_64"), CUDA 12 and later.
 */
#ifndef PLIMSOLL_STANDIN_CUBLAS_CUBLAS_H
#define PLIMSOLL_STANDIN_CUBLAS_CUBLAS_H

#include "standin/library/library.h"

/* cublasStatus_t, cuBLAS manual */
enum {
    PLIM_CUBLAS_NOT_INITIALIZED = 1,
    PLIM_CUBLAS_ALLOC_FAILED = 3,
    PLIM_CUBLAS_INVALID_VALUE = 7,
    PLIM_CUBLAS_ARCH_MISMATCH = 8,
    PLIM_CUBLAS_MAPPING_ERROR = 11,
    PLIM_CUBLAS_EXECUTION_FAILED = 13,
    PLIM_CUBLAS_INTERNAL_ERROR = 14,
    PLIM_CUBLAS_NOT_SUPPORTED = 15,
    PLIM_CUBLAS_LICENSE_ERROR = 16
};

/* CUBLAS_POINTER_MODE_HOST: scalars, results too, are read and written by the host. */
#define PLIM_CUBLAS_SCALARS_ON_HOST 0

/* A function that only computes, with 32-bit and 64-bit sizes. */
#define PLIM_CUBLAS_LAUNCHES(name) \
    PLIM_STANDIN_LAUNCHES(name)    \
    PLIM_STANDIN_LAUNCHES(name##_64)
#define PLIM_CUBLAS_LAUNCHES_SD(rest)   \
    PLIM_CUBLAS_LAUNCHES(cublasS##rest) \
    PLIM_CUBLAS_LAUNCHES(cublasD##rest)
#define PLIM_CUBLAS_LAUNCHES_CZ(rest)   \
    PLIM_CUBLAS_LAUNCHES(cublasC##rest) \
    PLIM_CUBLAS_LAUNCHES(cublasZ##rest)
#define PLIM_CUBLAS_LAUNCHES_SDCZ(rest) \
    PLIM_CUBLAS_LAUNCHES_SD(rest)       \
    PLIM_CUBLAS_LAUNCHES_CZ(rest)

#endif
