/*
 * batch_norm.c - batch normalization: what it wants beside its operands.
 *
 * Parameter lists from the manual of cuDNN 9, library cudnn_ops.
 */
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cudnn/cudnn.h"
#include "standin/cudnn/workspace.h"

enum {
    MODE_SPATIAL_PERSISTENT = 2, /* cudnnBatchNormMode_t */
    OPS_ACTIVATION = 1,          /* cudnnBatchNormOps_t; all above have one too */
};

PLIM_STANDIN_MODELLED(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize,
                      "0 for channels first, partial sums for channels last")
PLIM_STANDIN_MODELLED(cudnnGetBatchNormalizationBackwardExWorkspaceSize,
                      "0 for channels first, partial sums for channels last")
PLIM_STANDIN_MODELLED(cudnnGetBatchNormalizationTrainingExReserveSpaceSize,
                      "a bit for each element with an activation, else 0")
PLIM_STANDIN_NOTHING(cudnnBatchNormalizationBackwardEx)
PLIM_STANDIN_NOTHING(cudnnBatchNormalizationForwardInference)
PLIM_STANDIN_NOTHING(cudnnBatchNormalizationForwardTrainingEx)

static int tell_workspace(int mode, const plim_cudnn_tensor *x, size_t *bytes)
{
    if (x == NULL || bytes == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    *bytes = mode == MODE_SPATIAL_PERSISTENT
                 ? plim_cudnn_batch_norm_workspace(x, plim_standin_settings()->gpu.multiprocessors)
                 : 0;
    return PLIM_CUDNN_OK;
}

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void *handle, int mode, int ops,
                                                             const plim_cudnn_tensor *x,
                                                             const void *z, const void *y,
                                                             const void *scale,
                                                             const void *activation, size_t *bytes)
{
    return tell_workspace(mode, x, bytes);
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void *handle, int mode, int ops,
                                                      const plim_cudnn_tensor *x, const void *y,
                                                      const void *dy, const void *dz,
                                                      const void *dx, const void *scale,
                                                      const void *activation, size_t *bytes)
{
    return tell_workspace(mode, x, bytes);
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode, int ops,
                                                         const void *activation,
                                                         const plim_cudnn_tensor *x, size_t *bytes)
{
    if (x == NULL || bytes == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    *bytes = ops >= OPS_ACTIVATION ? plim_cudnn_activation_mask_bytes(x) : 0;
    return PLIM_CUDNN_OK;
}
