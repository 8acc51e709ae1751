/*
 * attributes.c - see attributes.h. The tables follow the enumerations of cublasLt.h, CUDA 13.2.
 */
#include "standin/cublasLt/attributes.h"

#include "base/memory.h"
#include "standin/cublas/cublas.h"

#include <string.h>

#define COLUMN_ORDER        0
#define FILL_FULL           2
#define EPILOGUE_DEFAULT    1
#define NO_TYPE             (-1)
#define ALIGNMENT           256
#define REDUCTIONS_ALL      0x7
#define IMPLEMENTATIONS_ALL (-1)

/* cublasLtMatmulDescAttributes_t */
const plim_cublaslt_attribute plim_cublaslt_product[PLIM_CUBLASLT_ATTRIBUTES] = {
    [0] = { 4, 0 }, /* type that is computed in */
    [1] = { 4, 0 }, /* type of scaling */
    [2] = { 4, 0 }, /* pointer mode: host */
    [3] = { 4, 0 }, /* transposes A, B, C */
    [4] = { 4, 0 },
    [5] = { 4, 0 },
    [6] = { 4, FILL_FULL },
    [7] = { 4, EPILOGUE_DEFAULT },
    [8] = { 8, 0 }, /* bias: pointer, stride between products */
    [10] = { 8, 0 },
    [11] = { 8, 0 }, /* auxiliary output: pointer, leading dimension, stride */
    [12] = { 8, 0 },
    [13] = { 8, 0 },
    [14] = { 8, 0 }, /* stride of alpha */
    [15] = { 4, 0 }, /* multiprocessors to use: all */
    [17] = { 8, 0 }, /* scales of A, B, C, D: pointers */
    [18] = { 8, 0 },
    [19] = { 8, 0 },
    [20] = { 8, 0 },
    [21] = { 8, 0 },       /* largest number of D: pointer */
    [22] = { 4, NO_TYPE }, /* auxiliary output: type, scale, largest number */
    [23] = { 8, 0 },
    [24] = { 8, 0 },
    [25] = { 1, 0 },       /* fast accumulation */
    [26] = { 4, NO_TYPE }, /* bias: type */
    [31] = { 4, 0 },       /* how A, B, C, D and the auxiliary output are scaled */
    [32] = { 4, 0 },
    [33] = { 4, 0 },
    [34] = { 4, 0 },
    [35] = { 4, 0 },
    [36] = { 8, 0 }, /* scales that D gives: pointer, mode */
    [37] = { 4, 0 },
    [38] = { 8, 0 }, /* emulation */
    [39] = { 8, 0 }, /* strides of alpha and beta between products */
    [40] = { 8, 0 },
};

/* cublasLtMatrixLayoutAttribute_t */
const plim_cublaslt_attribute plim_cublaslt_matrix[PLIM_CUBLASLT_ATTRIBUTES] = {
    [0] = { 4, 0 }, /* type */
    [1] = { 4, COLUMN_ORDER },
    [2] = { 8, 0 }, /* rows, columns, leading dimension */
    [3] = { 8, 0 },
    [4] = { 8, 0 },
    [5] = { 4, 1 }, /* matrices: count, stride */
    [6] = { 8, 0 },
    [7] = { 8, 0 }, /* from real to imaginary parts: they alternate */
    [8] = { 4, 0 }, /* matrices lie at strides */
    [9] = { 8, 0 }, /* groups: arrays of rows, columns, leading dimensions, and their types */
    [10] = { 8, 0 },
    [11] = { 8, 0 },
    [12] = { 4, 0 },
    [13] = { 4, 0 },
};

/* cublasLtMatmulPreferenceAttributes_t */
const plim_cublaslt_attribute plim_cublaslt_preference[PLIM_CUBLASLT_ATTRIBUTES] = {
    [0] = { 4, 0 }, /* search: the best fit */
    [1] = { 8, 0 }, /* workspace: none */
    [3] = { 4, REDUCTIONS_ALL },
    [5] = { 4, ALIGNMENT }, /* of A, B, C, D */
    [6] = { 4, ALIGNMENT },
    [7] = { 4, ALIGNMENT },
    [8] = { 4, ALIGNMENT },
    [9] = { 4, 0 }, /* waves, a float: any */
    [12] = { 8, IMPLEMENTATIONS_ALL },
    [13] = { 4, 0 }, /* groups: their average shape */
    [14] = { 4, 0 },
    [15] = { 4, 0 },
};

/* cublasLtMatrixTransformDescAttributes_t: type of scaling, pointer mode, transposes A and B */
const plim_cublaslt_attribute plim_cublaslt_transform[PLIM_CUBLASLT_ATTRIBUTES] = {
    [0] = { 4, 0 },
    [1] = { 4, 0 },
    [2] = { 4, 0 },
    [3] = { 4, 0 },
};

plim_cublaslt_object *plim_cublaslt_create(const plim_cublaslt_attribute *kinds)
{
    plim_cublaslt_object *object = plim_mem_alloc_zeroed(&plim_mem_heap, 1, sizeof(*object));
    if (object == NULL) {
        return NULL;
    }
    object->kinds = kinds;
    for (int i = 0; i < PLIM_CUBLASLT_ATTRIBUTES; i++) {
        object->values[i] = kinds[i].initial;
    }
    return object;
}

void plim_cublaslt_destroy(plim_cublaslt_object *object)
{
    plim_mem_free(&plim_mem_heap, object, 1, sizeof(*object));
}

static size_t size_of(const plim_cublaslt_object *object, int number)
{
    if (object == NULL || number < 0 || number >= PLIM_CUBLASLT_ATTRIBUTES) {
        return 0;
    }
    return object->kinds[number].bytes;
}

int plim_cublaslt_set(plim_cublaslt_object *object, int number, const void *value, size_t bytes)
{
    if (value == NULL || bytes == 0 || bytes != size_of(object, number)) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    /* The machine is little-endian: a short value is the beginning of a long one. */
    object->values[number] = 0;
    memcpy(&object->values[number], value, bytes);
    return 0;
}

int plim_cublaslt_get(const plim_cublaslt_object *object, int number, void *ret_value, size_t bytes,
                      size_t *ret_bytes)
{
    const size_t size = size_of(object, number);
    if (size == 0 || (bytes == 0 && ret_bytes == NULL) ||
        (bytes != 0 && (bytes < size || ret_value == NULL))) {
        return PLIM_CUBLAS_INVALID_VALUE;
    }
    if (ret_bytes != NULL) {
        *ret_bytes = size;
    }
    if (bytes != 0) {
        memcpy(ret_value, &object->values[number], size);
    }
    return 0;
}
