/*
 * cusparselt.h - objects of cuSPARSELt, which lie in the caller's memory.
 *
 * Each is 512 bytes or more, aligned to 16 (cusparseLt.h 0.8 to 0.10), and ours need less.
 */
#ifndef PLIMSOLL_STANDIN_CUSPARSELT_CUSPARSELT_H
#define PLIMSOLL_STANDIN_CUSPARSELT_CUSPARSELT_H

#include <stdint.h>

/* cusparseStatus_t */
enum {
    PLIM_CUSPARSELT_INVALID_VALUE = 3,
    PLIM_CUSPARSELT_EXECUTION_FAILED = 6,
    PLIM_CUSPARSELT_NOT_SUPPORTED = 10
};

typedef struct plim_cusparselt_matrix {
    int64_t rows;
    int64_t columns;
    int64_t count; /* of matrices */
    int64_t stride;
    int type;
    int is_structured; /* two of four numbers are zero */
} plim_cusparselt_matrix;

/* cusparseLtMatmulAlgAttribute_t, by number: all are 32 bits wide. */
typedef struct plim_cusparselt_algorithm {
    int32_t values[6];
} plim_cusparselt_algorithm;

#endif
