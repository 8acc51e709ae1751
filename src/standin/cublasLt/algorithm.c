/*
 * algorithm.c - choosing how to multiply: there is one algorithm, and it needs no workspace.
 *
 * A workspace serves speed alone, and PyTorch takes one of its own size
 * whatever the chosen algorithm says it needs (aten/src/ATen/cuda/CUDABlas.cpp), so saying 0
 * moves no byte of its books.
 */
#include "standin/cublasLt/algorithm.h"
#include "standin/core/stage.h"
#include "standin/cublas/cublas.h"
#include "standin/cublasLt/attributes.h"
#include "standin/library/library.h"

#include <stdbool.h>
#include <string.h>

#define ALGORITHM_ID  66 /* any number would do */
#define POINTERS_MASK 0x1f
#define MATRIX_ALIGN  16

/* cublasLtMatmulMatrixScale_t */
enum { SCALE_VEC16 = 1, SCALE_VEC32 = 2, SCALE_BLOCKS_FIRST = 3, SCALE_BLOCKS_LAST = 5 };

typedef plim_cublaslt_object object;

/*
 * The types that the chosen GPU has units for (cuBLAS manual, "Narrow precision data types usage"):
 * 8-bit floats from capability 8.9 on, and from 10.0 on 4-bit ones and scales for vectors. Scales
 * for rows and blocks are Hopper's alone, says github.com/NVIDIA/CUDALibrarySamples/issues/270.
 */
static bool has_type(uint32_t capability, int64_t type)
{
    if (type >= PLIM_STANDIN_R_6F_E2M3 && type <= PLIM_STANDIN_R_4F_E2M1) {
        return capability >= 100;
    }
    return capability >= 89 || (type != PLIM_STANDIN_R_8F_E4M3 && type != PLIM_STANDIN_R_8F_E5M2);
}

static bool has_scale(uint32_t capability, int64_t mode)
{
    if (mode == SCALE_VEC16 || mode == SCALE_VEC32) {
        return capability >= 100;
    }
    return capability == 90 || mode < SCALE_BLOCKS_FIRST || mode > SCALE_BLOCKS_LAST;
}

static bool has_units(const object *product, const object *a, const object *b)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;
    const uint32_t capability = 10 * gpu->capability_major + gpu->capability_minor;
    return has_type(capability, a->values[PLIM_CUBLASLT_MATRIX_TYPE]) &&
           has_type(capability, b->values[PLIM_CUBLASLT_MATRIX_TYPE]) &&
           has_scale(capability, product->values[PLIM_CUBLASLT_PRODUCT_A_SCALE_MODE]) &&
           has_scale(capability, product->values[PLIM_CUBLASLT_PRODUCT_B_SCALE_MODE]);
}

static void init(plim_cublaslt_algorithm *algorithm)
{
    memset(algorithm, 0, sizeof(*algorithm));
    algorithm->config[0] = ALGORITHM_ID;
    algorithm->config[2] = 1; /* K is not split */
}

static void fill(plim_cublaslt_result *result)
{
    memset(result, 0, sizeof(*result));
    init(&result->algorithm);
    result->waves_count = 1;
}

PLIM_STANDIN_MODELLED(cublasLtMatmulAlgoGetHeuristic, "one algorithm, which needs no workspace")
PLIM_STANDIN_MODELLED(cublasLtMatmulAlgoGetIds, "one algorithm")
PLIM_STANDIN_MODELLED(cublasLtMatmulAlgoCapGetAttribute, "the algorithm can do everything")

int cublasLtMatmulAlgoGetHeuristic(void *context, const object *product, const object *a,
                                   const object *b, const object *c, const object *d,
                                   const object *preference, int wanted,
                                   plim_cublaslt_result *results, int *ret_found)
{
    if (context == NULL || product == NULL || a == NULL || b == NULL || c == NULL || d == NULL ||
        results == NULL || ret_found == NULL || wanted < 1) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    *ret_found = 0;
    if (!has_units(product, a, b)) {
        return PLIM_CUBLAS_NOT_SUPPORTED;
    }
    fill(&results[0]);
    *ret_found = 1;
    return 0;
}

int cublasLtMatmulAlgoGetIds(void *context, int compute_type, int scale_type, int a, int b, int c,
                             int d, int wanted, int *ids, int *ret_found)
{
    if (wanted < 1 || ids == NULL || ret_found == NULL) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    ids[0] = ALGORITHM_ID;
    *ret_found = 1;
    return 0;
}

int cublasLtMatmulAlgoInit(void *context, int compute_type, int scale_type, int a, int b, int c,
                           int d, int id, plim_cublaslt_algorithm *algorithm)
{
    if (algorithm == NULL || id < 0) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    init(algorithm);
    algorithm->config[0] = (uint32_t)id;
    return 0;
}

int cublasLtMatmulAlgoCheck(void *context, const object *product, const object *a, const object *b,
                            const object *c, const object *d,
                            const plim_cublaslt_algorithm *algorithm, plim_cublaslt_result *result)
{
    if (context == NULL || product == NULL || a == NULL || b == NULL || c == NULL || d == NULL ||
        algorithm == NULL || result == NULL) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    if (!has_units(product, a, b)) {
        return PLIM_CUBLAS_NOT_SUPPORTED;
    }
    fill(result);
    result->algorithm = *algorithm;
    return 0;
}

/* cublasLtMatmulAlgoConfigAttributes_t: the last two are 16 bits wide. */
static size_t config_bytes(int number)
{
    if (number < 0 || number > 8) {
        return 0;
    }
    return number < 7 ? 4 : 2;
}

int cublasLtMatmulAlgoConfigSetAttribute(plim_cublaslt_algorithm *algorithm, int number,
                                         const void *value, size_t bytes)
{
    if (algorithm == NULL || value == NULL || number == 0 || bytes == 0 ||
        bytes != config_bytes(number)) {
        return PLIM_CUBLAS_INVALID_VALUE; /* the number of an algorithm can only be read */
    }
    algorithm->config[number] = 0;
    memcpy(&algorithm->config[number], value, bytes);
    return 0;
}

/* Hands out `size` bytes as all of these getters do: with 0 bytes only how many there are. */
static int hand_out(const void *value, size_t size, void *ret_value, size_t bytes,
                    size_t *ret_bytes)
{
    if (size == 0 || (bytes == 0 && ret_bytes == NULL) ||
        (bytes != 0 && (bytes < size || ret_value == NULL))) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    if (ret_bytes != NULL) {
        *ret_bytes = size;
    }
    if (bytes != 0) {
        memcpy(ret_value, value, size);
    }
    return 0;
}

int cublasLtMatmulAlgoConfigGetAttribute(const plim_cublaslt_algorithm *algorithm, int number,
                                         void *ret_value, size_t bytes, size_t *ret_bytes)
{
    const size_t size = config_bytes(number);
    if (algorithm == NULL || size == 0) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    return hand_out(&algorithm->config[number], size, ret_value, bytes, ret_bytes);
}

/* cublasLtMatmulAlgoCapAttributes_t, what they begin with in cublasLt.h of CUDA 13.2 */
static const struct {
    uint8_t bytes;
    uint64_t value;
} abilities[] = {
    [0] = { 4, 1 }, /* K can be split, with these schemes to add up */
    [1] = { 4, 0x7 },
    [2] = { 4, 1 },  /* order of blocks */
    [3] = { 4, 1 },  /* many products at strides */
    [4] = { 4, 1 },  /* the result may lie elsewhere */
    [5] = { 4, 1 },  /* triangles */
    [6] = { 4, 0 },  /* tiles: one, undefined */
    [7] = { 4, 0 },  /* options: none */
    [10] = { 4, 0 }, /* orders: by column and by row */
    [11] = { 4, POINTERS_MASK },
    [12] = { 4, 0xffff }, /* epilogues */
    [13] = { 4, 0 },      /* stages: one, undefined */
    [14] = { 4, 0 },      /* leading dimensions below 0 */
    [15] = { 8, UINT64_MAX },
    [16] = { 4, MATRIX_ALIGN }, /* of A, B, C, D */
    [17] = { 4, MATRIX_ALIGN },
    [18] = { 4, MATRIX_ALIGN },
    [19] = { 4, MATRIX_ALIGN },
    [21] = { 4, 1 }, /* many products by pointers */
    [22] = { 4, 0 }, /* emulation */
    [23] = { 4, 1 }, /* groups */
};

int cublasLtMatmulAlgoCapGetAttribute(const plim_cublaslt_algorithm *algorithm, int number,
                                      void *ret_value, size_t bytes, size_t *ret_bytes)
{
    if (algorithm == NULL || number < 0 ||
        (size_t)number >= sizeof(abilities) / sizeof(abilities[0])) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    return hand_out(&abilities[number].value, abilities[number].bytes, ret_value, bytes, ret_bytes);
}
