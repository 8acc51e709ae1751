/*
 * test_cublas_lt.c - objects of cuBLASLt: attributes come back, algorithms fit the GPU.
 */
#include "standin/rehearsal.h"

#include "standin/cublasLt/algorithm.h"
#include "standin/cublasLt/attributes.h"

typedef plim_cublaslt_object object;

int cublasLtCreate(void **ret_context);
int cublasLtMatmulDescCreate(object **ret_product, int compute_type, int scale_type);
int cublasLtMatmulDescDestroy(object *of);
int cublasLtMatmulDescSetAttribute(object *of, int number, const void *value, size_t bytes);
int cublasLtMatmulDescGetAttribute(const object *of, int number, void *ret_value, size_t bytes,
                                   size_t *ret_bytes);
int cublasLtMatrixLayoutCreate(object **ret_matrix, int type, uint64_t rows, uint64_t columns,
                               int64_t leading);
int cublasLtMatrixLayoutGetAttribute(const object *of, int number, void *ret_value, size_t bytes,
                                     size_t *ret_bytes);
int cublasLtMatmulPreferenceCreate(object **ret_preference);
int cublasLtMatmulPreferenceSetAttribute(object *of, int number, const void *value, size_t bytes);
int cublasLtMatmulPreferenceGetAttribute(const object *of, int number, void *ret_value,
                                         size_t bytes, size_t *ret_bytes);
int cublasLtMatmulAlgoGetHeuristic(void *context, const object *product, const object *a,
                                   const object *b, const object *c, const object *d,
                                   const object *preference, int wanted,
                                   plim_cublaslt_result *results, int *ret_found);
int cublasLtMatmulAlgoConfigSetAttribute(plim_cublaslt_algorithm *algorithm, int number,
                                         const void *value, size_t bytes);
int cublasLtMatmulAlgoConfigGetAttribute(const plim_cublaslt_algorithm *algorithm, int number,
                                         void *ret_value, size_t bytes, size_t *ret_bytes);
int cublasLtMatmulAlgoCapGetAttribute(const plim_cublaslt_algorithm *algorithm, int number,
                                      void *ret_value, size_t bytes, size_t *ret_bytes);

#define R_32F    0
#define R_8F     28
#define R_4F     33
#define EPILOGUE 7
#define BIAS     8
#define AUX_TYPE 22
#define SCALE_A  31

static void attributes_body(void)
{
    object *product = NULL;
    R_EQ(cublasLtMatmulDescCreate(&product, 68, R_32F), 0);
    int32_t number = 0;
    size_t bytes = 0;
    R_EQ(cublasLtMatmulDescGetAttribute(product, 0, &number, sizeof(number), &bytes), 0);
    R_EQ(number, 68);
    R_EQ(bytes, 4);
    R_EQ(cublasLtMatmulDescGetAttribute(product, EPILOGUE, &number, sizeof(number), NULL), 0);
    R_EQ(number, 1);
    R_EQ(cublasLtMatmulDescGetAttribute(product, AUX_TYPE, &number, sizeof(number), NULL), 0);
    R_TRUE(number == -1);
    R_EQ(cublasLtMatmulDescGetAttribute(product, BIAS, NULL, 0, &bytes), 0); /* how many */
    R_EQ(bytes, 8);
    const void *bias = &bytes;
    const void *back = NULL;
    R_EQ(cublasLtMatmulDescSetAttribute(product, BIAS, &bias, sizeof(bias)), 0);
    R_EQ(cublasLtMatmulDescGetAttribute(product, BIAS, &back, sizeof(back), NULL), 0);
    R_TRUE(back == bias);
    R_EQ(cublasLtMatmulDescSetAttribute(product, BIAS, &number, sizeof(number)), 7);
    R_EQ(cublasLtMatmulDescSetAttribute(product, 9, &number, sizeof(number)), 7);
    R_EQ(cublasLtMatmulDescSetAttribute(product, -1, &number, sizeof(number)), 7);
    R_EQ(cublasLtMatmulDescGetAttribute(product, BIAS, &number, sizeof(number), NULL), 7);
    R_EQ(cublasLtMatmulDescDestroy(product), 0);
}

static void attributes_come_back(void)
{
    r_play(attributes_body);
}

static void matrices_body(void)
{
    object *matrix = NULL;
    object *preference = NULL;
    uint64_t rows = 0;
    int32_t count = 0;
    R_EQ(cublasLtMatrixLayoutCreate(&matrix, R_32F, 5000000000, 7, 5000000000), 0);
    R_EQ(cublasLtMatrixLayoutGetAttribute(matrix, 2, &rows, sizeof(rows), NULL), 0);
    R_EQ(rows, 5000000000);
    R_EQ(cublasLtMatrixLayoutGetAttribute(matrix, 5, &count, sizeof(count), NULL), 0);
    R_EQ(count, 1);
    uint64_t workspace = 1;
    uint32_t alignment = 0;
    R_EQ(cublasLtMatmulPreferenceCreate(&preference), 0);
    R_EQ(cublasLtMatmulPreferenceGetAttribute(preference, 1, &workspace, 8, NULL), 0);
    R_EQ(workspace, 0);
    workspace = UINT64_C(32) << 20;
    R_EQ(cublasLtMatmulPreferenceSetAttribute(preference, 1, &workspace, 8), 0);
    workspace = 0;
    R_EQ(cublasLtMatmulPreferenceGetAttribute(preference, 1, &workspace, 8, NULL), 0);
    R_EQ(workspace, UINT64_C(32) << 20);
    R_EQ(cublasLtMatmulPreferenceGetAttribute(preference, 5, &alignment, 4, NULL), 0);
    R_EQ(alignment, 256);
}

static void matrices_and_preferences_begin_as_documented(void)
{
    r_play(matrices_body);
}

/* The status of asking for an algorithm for matrices of a type, scaled so. */
static int ask(int type, int32_t scale_mode, plim_cublaslt_result *ret_result, int *ret_found)
{
    void *context = NULL;
    object *product = NULL;
    object *matrix = NULL;
    object *preference = NULL;
    R_EQ(cublasLtCreate(&context), 0);
    R_EQ(cublasLtMatmulDescCreate(&product, 68, R_32F), 0);
    R_EQ(cublasLtMatmulDescSetAttribute(product, SCALE_A, &scale_mode, sizeof(scale_mode)), 0);
    R_EQ(cublasLtMatrixLayoutCreate(&matrix, type, 16, 16, 16), 0);
    R_EQ(cublasLtMatmulPreferenceCreate(&preference), 0);
    return cublasLtMatmulAlgoGetHeuristic(context, product, matrix, matrix, matrix, matrix,
                                          preference, 1, ret_result, ret_found);
}

static void heuristic_body(void)
{
    plim_cublaslt_result result;
    int found = 0;
    R_EQ(ask(R_32F, 0, &result, &found), 0);
    R_EQ(found, 1);
    R_EQ(result.status, 0);
    R_EQ(result.workspace_bytes, 0);
    R_EQ(ask(R_8F, 0, &result, &found), 0);
    R_EQ(found, 1);
    R_EQ(ask(R_8F, 2, &result, &found), 15); /* Blackwell's scales */
    R_EQ(found, 0);
    R_EQ(ask(R_4F, 0, &result, &found), 15);
    R_EQ(ask(R_8F, 3, &result, &found), 0); /* Hopper's: a scale per row */
}

static void hopper_multiplies_8_bit_floats_but_not_4_bit_ones(void)
{
    r_play(heuristic_body);
}

static void ampere_body(void)
{
    plim_cublaslt_result result;
    int found = 1;
    R_EQ(ask(R_8F, 0, &result, &found), 15);
    R_EQ(found, 0);
}

static void ampere_does_not(void)
{
    plim_stage_settings settings = r_settings();
    settings.gpu.capability_major = 8;
    r_play_on(&settings, ampere_body);
}

static void blackwell_body(void)
{
    plim_cublaslt_result result;
    int found = 0;
    R_EQ(ask(R_4F, 1, &result, &found), 0);
    R_EQ(ask(R_8F, 2, &result, &found), 0);
    R_EQ(ask(R_8F, 3, &result, &found), 15);
}

static void blackwell_scales_vectors_but_not_rows(void)
{
    plim_stage_settings settings = r_settings();
    settings.gpu.capability_major = 10;
    r_play_on(&settings, blackwell_body);
}

static void algorithm_body(void)
{
    plim_cublaslt_result result;
    int found = 0;
    R_EQ(ask(R_32F, 0, &result, &found), 0);
    const plim_cublaslt_algorithm copy = result.algorithm; /* callers may */
    int32_t value = 0;
    size_t bytes = 0;
    R_EQ(cublasLtMatmulAlgoConfigGetAttribute(&copy, 2, &value, sizeof(value), &bytes), 0);
    R_EQ(value, 1);
    value = 4;
    R_EQ(cublasLtMatmulAlgoConfigSetAttribute(&result.algorithm, 2, &value, sizeof(value)), 0);
    value = 0;
    R_EQ(cublasLtMatmulAlgoConfigGetAttribute(&result.algorithm, 2, &value, 4, NULL), 0);
    R_EQ(value, 4);
    R_EQ(cublasLtMatmulAlgoConfigSetAttribute(&result.algorithm, 0, &value, 4), 7);
    R_EQ(cublasLtMatmulAlgoConfigSetAttribute(&result.algorithm, 9, &value, 4), 7);
    R_EQ(cublasLtMatmulAlgoConfigGetAttribute(&copy, 8, NULL, 0, &bytes), 0);
    R_EQ(bytes, 2);
    R_EQ(cublasLtMatmulAlgoCapGetAttribute(&copy, 0, &value, 4, NULL), 0);
    R_EQ(value, 1);
    R_EQ(cublasLtMatmulAlgoCapGetAttribute(&copy, 8, &value, 4, NULL), 7);
    R_EQ(cublasLtMatmulAlgoCapGetAttribute(&copy, 99, &value, 4, NULL), 7);
}

static void algorithms_keep_their_settings(void)
{
    r_play(algorithm_body);
}

T_MAIN(T_TEST(attributes_come_back), T_TEST(matrices_and_preferences_begin_as_documented),
       T_TEST(hopper_multiplies_8_bit_floats_but_not_4_bit_ones), T_TEST(ampere_does_not),
       T_TEST(blackwell_scales_vectors_but_not_rows), T_TEST(algorithms_keep_their_settings))
