/*
 * algorithm.h - the one algorithm there is for products, as callers hold it.
 */
#ifndef PLIMSOLL_STANDIN_CUBLASLT_ALGORITHM_H
#define PLIMSOLL_STANDIN_CUBLASLT_ALGORITHM_H

#include <stddef.h>
#include <stdint.h>

/*
 * cublasLtMatmulAlgo_t: 64 bytes in the caller's memory, which may copy them. Ours are the
 * values of cublasLtMatmulAlgoConfigAttributes_t, by number.
 */
typedef struct plim_cublaslt_algorithm {
    uint32_t config[9];
    uint32_t unused[7];
} plim_cublaslt_algorithm;

_Static_assert(sizeof(plim_cublaslt_algorithm) == 64, "cublasLtMatmulAlgo_t of CUDA 12 and 13");

/* cublasLtMatmulHeuristicResult_t */
typedef struct plim_cublaslt_result {
    plim_cublaslt_algorithm algorithm;
    size_t workspace_bytes;
    int status;
    float waves_count;
    int reserved[4];
} plim_cublaslt_result;

#endif
