/*
 * matrix.c - the library, matrices, and what they shrink to.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cusparseLt/cusparselt.h"
#include "standin/library/types.h"
#include "standin/work/work.h"

#include <stddef.h>
#include <string.h>

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
