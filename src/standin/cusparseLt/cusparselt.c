/*
 * cusparselt.c - cuSPARSELt: matrices and what they shrink to, products, their plans.
 */
#include "standin/cusparseLt/cusparselt.h"
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/library/library.h"
#include "standin/work/work.h"

#include <stddef.h>
#include <string.h>

/* ---- the library, and matrices --------------------------------------------------------------- */

typedef plim_cusparselt_matrix lt_matrix;

PLIM_STANDIN_NOTHING(cusparseLtDestroy)
PLIM_STANDIN_NOTHING(cusparseLtMatDescriptorDestroy)
PLIM_STANDIN_KIND(cusparseLtSpMMACompress2, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_MODELLED(cusparseLtSpMMACompressedSize2, "half the numbers, and 2 bits for each")

/* Sparse units came with capability 8.0. */
int cusparseLtInit(void *context)
{
    if (context == NULL) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    if (plim_standin_settings()->gpu.capability_major < 8) {
        return PLIM_CUSPARSELT_NOT_SUPPORTED;
    }
    return plim_standin_footprint_context(plim_standin_current_device())
               ? 0
               : PLIM_CUSPARSELT_EXECUTION_FAILED;
}

static int make(lt_matrix *of, const lt_matrix *from)
{
    if (of == NULL || from->rows < 1 || from->columns < 1) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    *of = *from;
    return 0;
}

int cusparseLtDenseDescriptorInit(const void *context, lt_matrix *of, int64_t rows, int64_t columns,
                                  int64_t leading, uint32_t alignment, int type, int order)
{
    const lt_matrix from = { .rows = rows, .columns = columns, .count = 1, .type = type };
    return make(of, &from);
}

int cusparseLtStructuredDescriptorInit(const void *context, lt_matrix *of, int64_t rows,
                                       int64_t columns, int64_t leading, uint32_t alignment,
                                       int type, int order, int sparsity)
{
    const lt_matrix from = {
        .rows = rows, .columns = columns, .count = 1, .type = type, .is_structured = 1
    };
    return make(of, &from);
}

/* cusparseLtMatDescAttribute_t: 0 is how many matrices, an int; 1 their distance, an int64_t. */
int cusparseLtMatDescSetAttribute(const void *context, lt_matrix *of, int number, const void *value,
                                  size_t bytes)
{
    if (of == NULL || value == NULL) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    if (number == 0 && bytes == sizeof(int32_t)) {
        int32_t count = 0;
        memcpy(&count, value, bytes);
        of->count = count;
        return 0;
    }
    if (number == 1 && bytes == sizeof(of->stride)) {
        memcpy(&of->stride, value, bytes);
        return 0;
    }
    return PLIM_CUSPARSELT_INVALID_VALUE;
}

int cusparseLtMatDescGetAttribute(const void *context, const lt_matrix *of, int number,
                                  void *ret_value, size_t bytes)
{
    if (of == NULL || ret_value == NULL) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    if (number == 0 && bytes == sizeof(int32_t)) {
        const int32_t count = (int32_t)of->count;
        memcpy(ret_value, &count, bytes);
        return 0;
    }
    if (number == 1 && bytes == sizeof(of->stride)) {
        memcpy(ret_value, &of->stride, bytes);
        return 0;
    }
    return PLIM_CUSPARSELT_INVALID_VALUE;
}

/*
 * Two of four numbers stay, each with 2 bits that say which it was: 9/16 of 16-bit numbers and
 * 10/16 of 8-bit ones, as PyTorch reckons too (aten/src/ATen/native/sparse/cuda/cuSPARSELtOps.cpp).
 * Numbers of 32 bits go in pairs, one of two.
 */
int cusparseLtSpMMACompressedSize2(const void *context, const lt_matrix *of, size_t *ret_bytes,
                                   size_t *ret_buffer_bytes)
{
    if (of == NULL || ret_bytes == NULL || ret_buffer_bytes == NULL || !of->is_structured) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    const size_t numbers = (size_t)of->rows * (size_t)of->columns * (size_t)of->count;
    *ret_bytes = numbers / 2 * plim_standin_type_bytes(of->type) + numbers / 8;
    *ret_buffer_bytes = 0;
    return 0;
}

int cusparseLtSpMMACompress2(const void *context, const lt_matrix *of, int is_first, int op,
                             const void *dense, void *compressed, void *buffer, void *stream)
{
    return plim_standin_submit_kernel(stream) == 0 ? 0 : PLIM_CUSPARSELT_EXECUTION_FAILED;
}

/* ---- products with a structured matrix: descriptions, algorithms, plans ---------------------- */

#define SEARCH_ITERATIONS 10 /* cuSPARSELt manual, cusparseLtMatmulAlgAttribute_t */

/* cusparseLtMatmulAlgAttribute_t */
enum { ALGORITHM = 0, ALGORITHMS = 1, ITERATIONS = 2, SPLITS = 3, SPLIT_MODE = 4 };

typedef plim_cusparselt_algorithm algorithm;

/* A product's settings change no size. */
PLIM_STANDIN_NOTHING(cusparseLtMatmulDescriptorInit)
PLIM_STANDIN_NOTHING(cusparseLtMatmulDescSetAttribute)
PLIM_STANDIN_NOTHING(cusparseLtMatmulPlanInit)
PLIM_STANDIN_NOTHING(cusparseLtMatmulPlanDestroy)
PLIM_STANDIN_NOTHING(cusparseLtMatmulAlgSelectionDestroy)
PLIM_STANDIN_KIND(cusparseLtMatmul, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_KIND(cusparseLtMatmulSearch, PLIM_STAGE_NOTHING, "")
PLIM_STANDIN_MODELLED(cusparseLtMatmulGetWorkspace, "wants no workspace")
PLIM_STANDIN_MODELLED(cusparseLtMatmulAlgGetAttribute, "one algorithm")

int cusparseLtMatmulAlgSelectionInit(const void *context, algorithm *of, const void *product,
                                     int kind)
{
    if (of == NULL) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    memset(of, 0, sizeof(*of));
    of->values[ALGORITHMS] = 1;
    of->values[ITERATIONS] = SEARCH_ITERATIONS;
    of->values[SPLITS] = 1;
    return 0;
}

static int is_attribute(int number, size_t bytes)
{
    return number >= 0 && (size_t)number < sizeof(((algorithm *)0)->values) / sizeof(int32_t) &&
           bytes == sizeof(int32_t);
}

int cusparseLtMatmulAlgSetAttribute(const void *context, algorithm *of, int number,
                                    const void *value, size_t bytes)
{
    if (of == NULL || value == NULL || !is_attribute(number, bytes) || number == ALGORITHMS) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    memcpy(&of->values[number], value, bytes);
    return 0;
}

int cusparseLtMatmulAlgGetAttribute(const void *context, const algorithm *of, int number,
                                    void *ret_value, size_t bytes)
{
    if (of == NULL || ret_value == NULL || !is_attribute(number, bytes)) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    memcpy(ret_value, &of->values[number], bytes);
    return 0;
}

int cusparseLtMatmulGetWorkspace(const void *context, const void *plan, size_t *ret_bytes)
{
    if (ret_bytes == NULL) {
        return PLIM_CUSPARSELT_INVALID_VALUE;
    }
    *ret_bytes = 0;
    return 0;
}

static int launch(void **streams, int32_t stream_count)
{
    void *stream = streams != NULL && stream_count > 0 ? streams[0] : NULL;
    return plim_standin_submit_kernel(stream) == 0 ? 0 : PLIM_CUSPARSELT_EXECUTION_FAILED;
}

int cusparseLtMatmul(const void *context, const void *plan, const void *alpha, const void *a,
                     const void *b, const void *beta, const void *c, void *d, void *workspace,
                     void **streams, int32_t stream_count)
{
    return launch(streams, stream_count);
}

/* All algorithms are equally fast: the one that is set stays. */
int cusparseLtMatmulSearch(const void *context, void *plan, const void *alpha, const void *a,
                           const void *b, const void *beta, const void *c, void *d, void *workspace,
                           void **streams, int32_t stream_count)
{
    return launch(streams, stream_count);
}
