/*
 * types.h - types of numbers by number: cudaDataType_t, CUDA Runtime API manual, "Data types".
 */
#ifndef PLIMSOLL_STANDIN_LIBRARY_TYPES_H
#define PLIMSOLL_STANDIN_LIBRARY_TYPES_H

#include <stddef.h>

enum {
    PLIM_STANDIN_R_32F = 0,
    PLIM_STANDIN_R_64F = 1,
    PLIM_STANDIN_R_16F = 2,
    PLIM_STANDIN_R_8I = 3,
    PLIM_STANDIN_C_32F = 4,
    PLIM_STANDIN_C_64F = 5,
    PLIM_STANDIN_C_16F = 6,
    PLIM_STANDIN_R_8U = 8,
    PLIM_STANDIN_R_32I = 10,
    PLIM_STANDIN_R_16BF = 14,
    PLIM_STANDIN_C_16BF = 15,
    PLIM_STANDIN_R_8F_E4M3 = 28,
    PLIM_STANDIN_R_8F_E5M2 = 29,
    PLIM_STANDIN_R_6F_E2M3 = 31,
    PLIM_STANDIN_R_4F_E2M1 = 33
};

/* 0 for types that are not whole bytes, and unknown ones. */
size_t plim_standin_type_bytes(int type);

#endif
