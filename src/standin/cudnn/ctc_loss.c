/*
 * ctc_loss.c - connectionist temporal classification, and functions that only compute.
 *
 * Parameter lists from the manual of cuDNN 9, library cudnn_adv.
 */
#include "standin/core/stub.h"
#include "standin/cudnn/descriptors.h"
#include "standin/cudnn/workspace.h"

#define LABELS_MAX 256 /* the longest that cuDNN takes, where nobody says it */

PLIM_STANDIN_MODELLED(cudnnGetCTCLossWorkspaceSize, "two values for each step and label state")
PLIM_STANDIN_MODELLED(cudnnGetCTCLossWorkspaceSize_v8, "two values for each step and label state")
PLIM_STANDIN_NOTHING(cudnnSetCTCLossDescriptorEx)
PLIM_STANDIN_NOTHING(cudnnCTCLoss)
PLIM_STANDIN_NOTHING(cudnnCTCLoss_v8)

PLIM_STANDIN_NOTHING(cudnnPoolingForward)
PLIM_STANDIN_NOTHING(cudnnSpatialTfGridGeneratorBackward)
PLIM_STANDIN_NOTHING(cudnnSpatialTfGridGeneratorForward)
PLIM_STANDIN_NOTHING(cudnnSpatialTfSamplerBackward)
PLIM_STANDIN_NOTHING(cudnnSpatialTfSamplerForward)

int cudnnSetCTCLossDescriptor_v9(plim_cudnn_ctc_descriptor *self, int type, int norm_mode,
                                 int gradient_mode, int labels_max)
{
    if (self == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    self->labels_max = labels_max;
    return PLIM_CUDNN_OK;
}

/* `probabilities` is steps × batch × alphabet. */
int cudnnGetCTCLossWorkspaceSize(void *handle, const plim_cudnn_tensor *probabilities,
                                 const plim_cudnn_tensor *gradients, const int *labels,
                                 const int *label_lengths, const int *input_lengths, int algorithm,
                                 const plim_cudnn_ctc_descriptor *self, size_t *bytes)
{
    int64_t labels_max = 0;
    if (probabilities == NULL || label_lengths == NULL || bytes == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    for (int64_t i = 0; i < probabilities->sizes[1]; i++) {
        labels_max = label_lengths[i] > labels_max ? label_lengths[i] : labels_max;
    }
    *bytes = plim_cudnn_ctc_workspace(probabilities->sizes[0], probabilities->sizes[1], labels_max);
    return PLIM_CUDNN_OK;
}

int cudnnGetCTCLossWorkspaceSize_v8(void *handle, int algorithm,
                                    const plim_cudnn_ctc_descriptor *self,
                                    const plim_cudnn_tensor *probabilities,
                                    const plim_cudnn_tensor *gradients, size_t *bytes)
{
    if (self == NULL || probabilities == NULL || bytes == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    *bytes = plim_cudnn_ctc_workspace(probabilities->sizes[0], probabilities->sizes[1],
                                      self->labels_max > 0 ? self->labels_max : LABELS_MAX);
    return PLIM_CUDNN_OK;
}
