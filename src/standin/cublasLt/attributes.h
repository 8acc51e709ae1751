/*
 * attributes.h - objects of cuBLASLt: values under numbers, given back as they were set.
 *
 * Descriptions of products and matrices, preferences and algorithms are all that: each attribute
 * has a number, a size and a value to begin with (cublasLt.h of CUDA 13.2).
 */
#ifndef PLIMSOLL_STANDIN_CUBLASLT_ATTRIBUTES_H
#define PLIMSOLL_STANDIN_CUBLASLT_ATTRIBUTES_H

#include <stddef.h>
#include <stdint.h>

#define PLIM_CUBLASLT_ATTRIBUTES 41 /* numbers are below this */

typedef struct plim_cublaslt_attribute {
    uint8_t bytes;   /* 0: there is no attribute of this number */
    int64_t initial; /* floats begin with zeros as well */
} plim_cublaslt_attribute;

typedef struct plim_cublaslt_object {
    const plim_cublaslt_attribute *kinds; /* PLIM_CUBLASLT_ATTRIBUTES of them */
    int64_t values[PLIM_CUBLASLT_ATTRIBUTES];
} plim_cublaslt_object;

extern const plim_cublaslt_attribute plim_cublaslt_product[PLIM_CUBLASLT_ATTRIBUTES];
extern const plim_cublaslt_attribute plim_cublaslt_matrix[PLIM_CUBLASLT_ATTRIBUTES];
extern const plim_cublaslt_attribute plim_cublaslt_preference[PLIM_CUBLASLT_ATTRIBUTES];
extern const plim_cublaslt_attribute plim_cublaslt_transform[PLIM_CUBLASLT_ATTRIBUTES];

/* Attributes that are used here, too. */
enum {
    PLIM_CUBLASLT_PRODUCT_COMPUTE_TYPE = 0,
    PLIM_CUBLASLT_PRODUCT_SCALE_TYPE = 1,
    PLIM_CUBLASLT_PRODUCT_A_SCALE_MODE = 31,
    PLIM_CUBLASLT_PRODUCT_B_SCALE_MODE = 32,
    PLIM_CUBLASLT_MATRIX_TYPE = 0,
    PLIM_CUBLASLT_MATRIX_ROWS = 2,
    PLIM_CUBLASLT_MATRIX_COLUMNS = 3,
    PLIM_CUBLASLT_MATRIX_LEADING = 4,
    PLIM_CUBLASLT_MATRIX_COUNT = 5,
    PLIM_CUBLASLT_MATRIX_BATCH_MODE = 8,
    PLIM_CUBLASLT_GROUPS_ROWS = 9,
    PLIM_CUBLASLT_GROUPS_COLUMNS = 10,
    PLIM_CUBLASLT_GROUPS_LEADING = 11
};

/* NULL when there is no memory. */
plim_cublaslt_object *plim_cublaslt_create(const plim_cublaslt_attribute *kinds);
void plim_cublaslt_destroy(plim_cublaslt_object *object);

/* cublasStatus_t: INVALID_VALUE for an unknown number or another size. */
int plim_cublaslt_set(plim_cublaslt_object *object, int number, const void *value, size_t bytes);
/* ret_bytes, which may be NULL, gets the bytes written; with bytes 0 only that. */
int plim_cublaslt_get(const plim_cublaslt_object *object, int number, void *ret_value, size_t bytes,
                      size_t *ret_bytes);

#endif
