/*
 * cudnn.h - the numbers of cuDNN's interface that our stand-in for it uses.
 *
 * All are from the manual of cuDNN 9 ("cuDNN backend API", docs.nvidia.com/deeplearning/cudnn) and
 * part of its binary interface: they do not change between versions. Only what is used is named.
 */
#ifndef PLIMSOLL_STANDIN_CUDNN_CUDNN_H
#define PLIMSOLL_STANDIN_CUDNN_CUDNN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLIM_CUDNN_RANK_MAX 8 /* dimensions of a tensor: CUDNN_DIM_MAX */

/* cudnnStatus_t */
enum {
    PLIM_CUDNN_OK = 0,
    PLIM_CUDNN_FINALIZED = 1001, /* CUDNN_STATUS_NOT_INITIALIZED: too late to set anything */
    PLIM_CUDNN_BAD_PARAM = 2000,
    PLIM_CUDNN_BAD_PARAM_NULL = 2002,
    PLIM_CUDNN_BAD_PARAM_NOT_FINALIZED = 2004,
    PLIM_CUDNN_BAD_PARAM_SIZE = 2006,
    PLIM_CUDNN_BAD_PARAM_ATTRIBUTE_TYPE = 2010,
    PLIM_CUDNN_NOT_SUPPORTED = 3000,
    PLIM_CUDNN_NO_HOST_MEMORY = 4003,
    PLIM_CUDNN_NO_DEVICE_MEMORY = 4004,
};

/* cudnnDataType_t */
typedef enum plim_cudnn_type {
    PLIM_CUDNN_FLOAT = 0,
    PLIM_CUDNN_DOUBLE = 1,
    PLIM_CUDNN_HALF = 2,
    PLIM_CUDNN_INT8 = 3,
    PLIM_CUDNN_INT32 = 4,
    PLIM_CUDNN_UINT8 = 6,
    PLIM_CUDNN_BFLOAT16 = 9,
    PLIM_CUDNN_INT64 = 10,
    PLIM_CUDNN_BOOLEAN = 11,
    PLIM_CUDNN_FP8_E4M3 = 12,
    PLIM_CUDNN_FP8_E5M2 = 13,
} plim_cudnn_type;

/* Of one element; 0 for types that are not stood in for. */
static inline uint64_t plim_cudnn_type_bytes(int type)
{
    switch (type) {
    case PLIM_CUDNN_DOUBLE:
    case PLIM_CUDNN_INT64:
        return 8;
    case PLIM_CUDNN_FLOAT:
    case PLIM_CUDNN_INT32:
        return 4;
    case PLIM_CUDNN_HALF:
    case PLIM_CUDNN_BFLOAT16:
        return 2;
    case PLIM_CUDNN_INT8:
    case PLIM_CUDNN_UINT8:
    case PLIM_CUDNN_BOOLEAN:
    case PLIM_CUDNN_FP8_E4M3:
    case PLIM_CUDNN_FP8_E5M2:
        return 1;
    default:
        return 0;
    }
}

/* A tensor or a filter: batch or outputs first, channels next, then the plane. */
typedef struct plim_cudnn_tensor {
    int type; /* plim_cudnn_type */
    int rank; /* 0: not set */
    int64_t sizes[PLIM_CUDNN_RANK_MAX];
    int64_t strides[PLIM_CUDNN_RANK_MAX];
} plim_cudnn_tensor;

#endif
