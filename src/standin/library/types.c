/*
 * types.c - see types.h.
 */
#include "standin/library/types.h"

size_t plim_standin_type_bytes(int type)
{
    switch (type) {
    case PLIM_STANDIN_R_8I:
    case PLIM_STANDIN_R_8U:
    case PLIM_STANDIN_R_8F_E4M3:
    case PLIM_STANDIN_R_8F_E5M2:
        return 1;
    case PLIM_STANDIN_R_16F:
    case PLIM_STANDIN_R_16BF:
        return 2;
    case PLIM_STANDIN_R_32F:
    case PLIM_STANDIN_R_32I:
    case PLIM_STANDIN_C_16F:
    case PLIM_STANDIN_C_16BF:
        return 4;
    case PLIM_STANDIN_R_64F:
    case PLIM_STANDIN_C_32F:
        return 8;
    case PLIM_STANDIN_C_64F:
        return 16;
    default:
        return 0;
    }
}
