/*
 * batch_norm.c - batch normalisation wants no scratch memory here.
 *
 * The real library asks for some, by rules of its own; zero is our only honest
 * number. Parameter lists from the cuDNN manual, "cudnn_ops library".
 */
#include "standin/core/handle.h"
#include "standin/core/stub.h"

#include <stddef.h>

int cudnnCreateTensorDescriptor(void **descriptor);
int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void *handle, int mode, int ops,
                                                             void *x, void *z, void *y, void *scale,
                                                             void *activation, size_t *bytes);
int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void *handle, int mode, int ops, void *x,
                                                      void *y, void *dy, void *dz, void *dx,
                                                      void *scale, void *activation, size_t *bytes);
int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode, int ops,
                                                         void *activation, void *x, size_t *bytes);

int cudnnCreateTensorDescriptor(void **descriptor)
{
    *descriptor = plim_standin_handle_create();
    return 0;
}

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void *handle, int mode, int ops,
                                                             void *x, void *z, void *y, void *scale,
                                                             void *activation, size_t *bytes)
{
    (void)handle;
    (void)mode;
    (void)ops;
    (void)x;
    (void)z;
    (void)y;
    (void)scale;
    (void)activation;
    *bytes = 0;
    return 0;
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void *handle, int mode, int ops, void *x,
                                                      void *y, void *dy, void *dz, void *dx,
                                                      void *scale, void *activation, size_t *bytes)
{
    (void)dy;
    (void)dz;
    return cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(handle, mode, ops, x, dx, y,
                                                                    scale, activation, bytes);
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode, int ops,
                                                         void *activation, void *x, size_t *bytes)
{
    return cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(handle, mode, ops, x, NULL,
                                                                    NULL, NULL, activation, bytes);
}

/* Nothing is normalised, and descriptors are not read. */
PLIM_STANDIN_NOTHING(cudnnBatchNormalizationBackwardEx)
PLIM_STANDIN_NOTHING(cudnnBatchNormalizationForwardInference)
PLIM_STANDIN_NOTHING(cudnnBatchNormalizationForwardTrainingEx)
PLIM_STANDIN_NOTHING(cudnnDestroyTensorDescriptor)
PLIM_STANDIN_NOTHING(cudnnSetTensorNdDescriptor)
