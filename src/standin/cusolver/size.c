/*
 * size.c - see size.h.
 */
#include "standin/cusolver/size.h"

#include "standin/cusolver/cusolver.h"
#include "standin/library/types.h"

#include <limits.h>
#include <stdbool.h>

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
    const bool is_factorised = type == PLIM_STANDIN_R_32F || type == PLIM_STANDIN_R_64F ||
                               type == PLIM_STANDIN_C_32F || type == PLIM_STANDIN_C_64F;
    return is_factorised ? plim_standin_type_bytes(type) : 0;
}
