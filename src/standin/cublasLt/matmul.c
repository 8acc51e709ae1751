/*
 * matmul.c - cuBLASLt descriptors, and one algorithm that always fits.
 *
 * PyTorch asks for algorithms and fails if there is none, so there is one, which
 * needs no workspace.
 */
#include "standin/core/handle.h"
#include "standin/core/stub.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* cublasLtMatmulHeuristicResult_t, cuBLAS manual 13.0 */
typedef struct heuristic_result {
    uint64_t algorithm[8]; /* opaque */
    size_t workspace_bytes;
    int status;
    float waves_count;
    int reserved[4];
} heuristic_result;

int cublasLtCreate(void **handle);
int cublasLtMatmulDescCreate(void **descriptor, int compute_type, int scale_type);
int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
                               int64_t leading);
int cublasLtMatmulPreferenceCreate(void **preference);
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *descriptor, void *a, void *b, void *c,
                                   void *d, void *preference, int wanted, heuristic_result *results,
                                   int *found);
size_t cublasLtGetVersion(void);

int cublasLtCreate(void **handle)
{
    *handle = plim_standin_handle_create();
    return 0;
}

int cublasLtMatmulDescCreate(void **descriptor, int compute_type, int scale_type)
{
    (void)compute_type;
    (void)scale_type;
    *descriptor = plim_standin_handle_create();
    return 0;
}

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
                               int64_t leading)
{
    (void)type;
    (void)rows;
    (void)columns;
    (void)leading;
    *layout = plim_standin_handle_create();
    return 0;
}

int cublasLtMatmulPreferenceCreate(void **preference)
{
    *preference = plim_standin_handle_create();
    return 0;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *descriptor, void *a, void *b, void *c,
                                   void *d, void *preference, int wanted, heuristic_result *results,
                                   int *found)
{
    (void)handle;
    (void)descriptor;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    (void)preference;
    *found = wanted > 0 ? 1 : 0;
    if (wanted > 0) {
        memset(&results[0], 0, sizeof(results[0]));
        results[0].waves_count = 1.0f;
    }
    return 0;
}

size_t cublasLtGetVersion(void)
{
    return 130000; /* 10000 * major + 100 * minor: cuBLAS of CUDA 13.0 */
}

/* Descriptors are not read, and products leave their results as they are. */
PLIM_STANDIN_NOTHING(cublasLtDestroy)
PLIM_STANDIN_NOTHING(cublasLtMatmul)
PLIM_STANDIN_NOTHING(cublasLtMatmulDescDestroy)
PLIM_STANDIN_NOTHING(cublasLtMatmulDescSetAttribute)
PLIM_STANDIN_NOTHING(cublasLtMatmulPreferenceDestroy)
PLIM_STANDIN_NOTHING(cublasLtMatmulPreferenceSetAttribute)
PLIM_STANDIN_NOTHING(cublasLtMatrixLayoutDestroy)
PLIM_STANDIN_NOTHING(cublasLtMatrixLayoutSetAttribute)
