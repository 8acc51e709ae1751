/*
 * cudnn.c - cuDNN: its version, contexts, words for errors; normalization and classification.
 *
 * PyTorch refuses a cuDNN of another major version than it was built with, so the version is the
 * one that the program's own packages ask for. Parameter lists from the manual of cuDNN 9.
 */
#include "standin/cudnn/cudnn.h"
#include "standin/core/footprint.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cudnn/descriptors.h"
#include "standin/cudnn/workspace.h"

#include <stdlib.h>
#include <string.h>

typedef struct context {
    void *stream;
} context;

size_t cudnnGetVersion(void)
{
    return plim_standin_settings()->cudnn_version;
}

size_t cudnnGetCudartVersion(void)
{
    return plim_standin_settings()->cuda_version;
}

int cudnnGetProperty(int kind, int *value)
{
    const int version = (int)plim_standin_settings()->cudnn_version;
    const int parts[] = { version / 10000, version / 100 % 100, version % 100 };
    if (kind < 0 || kind > 2 || value == NULL) { /* libraryPropertyType: in this order */
        return PLIM_CUDNN_BAD_PARAM;
    }
    *value = parts[kind];
    return PLIM_CUDNN_OK;
}

int cudnnCreate(context **handle)
{
    if (handle == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (!plim_standin_footprint_library(PLIM_STANDIN_CUDNN)) {
        return PLIM_CUDNN_NO_DEVICE_MEMORY;
    }
    context *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return PLIM_CUDNN_NO_HOST_MEMORY;
    }
    *handle = made;
    return PLIM_CUDNN_OK;
}

int cudnnDestroy(context *handle)
{
    free(handle);
    return PLIM_CUDNN_OK;
}

int cudnnSetStream(context *handle, void *stream)
{
    if (handle == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    handle->stream = stream;
    return PLIM_CUDNN_OK;
}

int cudnnGetStream(const context *handle, void **stream)
{
    if (handle == NULL || stream == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    *stream = handle->stream;
    return PLIM_CUDNN_OK;
}

const char *cudnnGetErrorString(int status)
{
    switch (status) {
    case PLIM_CUDNN_OK:
        return "CUDNN_STATUS_SUCCESS";
    case PLIM_CUDNN_FINALIZED:
        return "CUDNN_STATUS_NOT_INITIALIZED";
    case PLIM_CUDNN_BAD_PARAM:
        return "CUDNN_STATUS_BAD_PARAM";
    case PLIM_CUDNN_BAD_PARAM_NULL:
        return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case PLIM_CUDNN_BAD_PARAM_NOT_FINALIZED:
        return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
    case PLIM_CUDNN_BAD_PARAM_SIZE:
        return "CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT";
    case PLIM_CUDNN_BAD_PARAM_ATTRIBUTE_TYPE:
        return "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE";
    case PLIM_CUDNN_NOT_SUPPORTED:
        return "CUDNN_STATUS_NOT_SUPPORTED";
    case PLIM_CUDNN_NO_HOST_MEMORY:
        return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
    case PLIM_CUDNN_NO_DEVICE_MEMORY:
        return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    default:
        return "CUDNN_STATUS_UNKNOWN";
    }
}

void cudnnGetLastErrorString(char *text, size_t bytes)
{
    if (text != NULL && bytes > 0) {
        text[0] = '\0'; /* no story to the status */
    }
}

/* ---- batch normalization: what it needs beside its operands ---------------------------------- */

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

/* ---- connectionist temporal classification, and functions that only compute ------------------ */

#define LABELS_MAX 256 /* cuDNN's maximum, where labels_max is not set */

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
