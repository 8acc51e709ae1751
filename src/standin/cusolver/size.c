/*
 * size.c - see size.h.
 */
#include "standin/cusolver/size.h"

#include "standin/cusolver/cusolver.h"

#include <limits.h>

/* cudaDataType_t, CUDA Runtime API manual */
enum { TYPE_R_32F = 0, TYPE_R_64F = 1, TYPE_C_32F = 4, TYPE_C_64F = 5 };

int plim_cusolver_give(const void *context, int64_t m, int64_t n, int64_t leading, int64_t elements,
                       int *ret_elements)
{
    if (context == NULL) {
        return PLIM_CUSOLVER_NOT_INITIALIZED;
    }
    if (m < 0 || n < 0 || leading < m || elements > INT_MAX || ret_elements == NULL) {
        return PLIM_CUSOLVER_INVALID_VALUE;
    }
    *ret_elements = (int)elements;
    return 0;
}

size_t plim_cusolver_type_bytes(int type)
{
    switch (type) {
    case TYPE_R_32F:
        return sizeof(float);
    case TYPE_R_64F:
        return sizeof(double);
    case TYPE_C_32F:
        return 2 * sizeof(float);
    case TYPE_C_64F:
        return 2 * sizeof(double);
    default:
        return 0;
    }
}
