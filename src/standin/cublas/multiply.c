/*
 * multiply.c - matrix products, which leave their results as they are.
 *
 * The ones PyTorch calls for the usual types. The many others are defaults and do
 * the same, but show up in the trace.
 */
#include "standin/core/stub.h"

PLIM_STANDIN_NOTHING(cublasGemmEx)
PLIM_STANDIN_NOTHING(cublasGemmStridedBatchedEx)
PLIM_STANDIN_NOTHING(cublasSgemm_v2)
PLIM_STANDIN_NOTHING(cublasSgemmEx)
PLIM_STANDIN_NOTHING(cublasSgemmStridedBatched)
PLIM_STANDIN_NOTHING(cublasDgemm_v2)
PLIM_STANDIN_NOTHING(cublasDgemmStridedBatched)
PLIM_STANDIN_NOTHING(cublasSgemv_v2)
