/*
 * descriptors.c - see descriptors.h. They keep what is set and return it.
 *
 * Signatures and enumerations: the manual of cuDNN 9, libraries cudnn_ops, cudnn_cnn, cudnn_adv.
 */
#include "standin/cudnn/descriptors.h"

#include "standin/core/stub.h"

#include <stdlib.h>

#define FORMAT_NHWC 1 /* cudnnTensorFormat_t */

typedef struct empty {
    char nothing;
} empty;

/* cudnnCreate…Descriptor and cudnnDestroy…Descriptor of a kind. */
#define DESCRIPTOR(kind, type)                     \
    int cudnnCreate##kind##Descriptor(type **ret)  \
    {                                              \
        return create(sizeof(type), (void **)ret); \
    }                                              \
    int cudnnDestroy##kind##Descriptor(type *self) \
    {                                              \
        free(self);                                \
        return PLIM_CUDNN_OK;                      \
    }

static int create(size_t bytes, void **ret)
{
    if (ret == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    void *made = calloc(1, bytes);
    if (made == NULL) {
        return PLIM_CUDNN_NO_HOST_MEMORY;
    }
    *ret = made;
    return PLIM_CUDNN_OK;
}

DESCRIPTOR(Tensor, plim_cudnn_tensor)
DESCRIPTOR(Filter, plim_cudnn_tensor)
DESCRIPTOR(Convolution, plim_cudnn_convolution_descriptor)
DESCRIPTOR(Dropout, plim_cudnn_dropout_descriptor)
DESCRIPTOR(RNN, plim_cudnn_rnn_descriptor)
DESCRIPTOR(RNNData, plim_cudnn_rnn_data_descriptor)
DESCRIPTOR(CTCLoss, plim_cudnn_ctc_descriptor)
DESCRIPTOR(Activation, empty)
DESCRIPTOR(Pooling, empty)
DESCRIPTOR(SpatialTransformer, empty)

PLIM_STANDIN_NOTHING(cudnnSetActivationDescriptor)
PLIM_STANDIN_NOTHING(cudnnSetPooling2dDescriptor)
PLIM_STANDIN_NOTHING(cudnnSetSpatialTransformerNdDescriptor)

void plim_cudnn_tensor_set_packed(plim_cudnn_tensor *tensor, int type, int rank,
                                  const int64_t *sizes)
{
    int64_t stride = 1;
    tensor->type = type;
    tensor->rank = rank;
    for (int i = rank - 1; i >= 0; i--) {
        tensor->sizes[i] = sizes[i];
        tensor->strides[i] = stride;
        stride *= sizes[i];
    }
}

int cudnnSetTensorNdDescriptor(plim_cudnn_tensor *self, int type, int rank, const int *sizes,
                               const int *strides)
{
    if (self == NULL || sizes == NULL || strides == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (rank < 1 || rank > PLIM_CUDNN_RANK_MAX) {
        return PLIM_CUDNN_NOT_SUPPORTED;
    }
    self->type = type;
    self->rank = rank;
    for (int i = 0; i < rank; i++) {
        self->sizes[i] = sizes[i];
        self->strides[i] = strides[i];
    }
    return PLIM_CUDNN_OK;
}

int cudnnGetTensorNdDescriptor(const plim_cudnn_tensor *self, int wanted, int *type, int *rank,
                               int *sizes, int *strides)
{
    if (self == NULL || type == NULL || rank == NULL || sizes == NULL || strides == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    *type = self->type;
    *rank = self->rank;
    for (int i = 0; i < self->rank && i < wanted; i++) {
        sizes[i] = (int)self->sizes[i];
        strides[i] = (int)self->strides[i];
    }
    return PLIM_CUDNN_OK;
}

int cudnnSetFilterNdDescriptor(plim_cudnn_tensor *self, int type, int format, int rank,
                               const int *sizes)
{
    int64_t stride = 1;
    if (self == NULL || sizes == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (rank < 3 || rank > PLIM_CUDNN_RANK_MAX) {
        return PLIM_CUDNN_NOT_SUPPORTED;
    }
    self->type = type;
    self->rank = rank;
    for (int i = 0; i < rank; i++) {
        self->sizes[i] = sizes[i];
    }
    if (format == FORMAT_NHWC) { /* channels closest, then the plane */
        self->strides[1] = 1;
        stride = self->sizes[1];
    }
    for (int i = rank - 1; i >= 0; i--) {
        if (format != FORMAT_NHWC || i != 1) {
            self->strides[i] = stride;
            stride *= self->sizes[i];
        }
    }
    return PLIM_CUDNN_OK;
}

int cudnnGetFilterNdDescriptor(const plim_cudnn_tensor *self, int wanted, int *type, int *format,
                               int *rank, int *sizes)
{
    if (self == NULL || type == NULL || format == NULL || rank == NULL || sizes == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    *type = self->type;
    *format = self->strides[1] == 1 && self->strides[self->rank - 1] != 1 ? FORMAT_NHWC : 0;
    *rank = self->rank;
    for (int i = 0; i < self->rank && i < wanted; i++) {
        sizes[i] = (int)self->sizes[i];
    }
    return PLIM_CUDNN_OK;
}

int cudnnSetConvolutionNdDescriptor(plim_cudnn_convolution_descriptor *self, int spatial,
                                    const int *pads, const int *strides, const int *dilations,
                                    int mode, int compute_type)
{
    if (self == NULL || pads == NULL || strides == NULL || dilations == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (spatial < 1 || spatial > PLIM_CUDNN_RANK_MAX - 2) {
        return PLIM_CUDNN_NOT_SUPPORTED;
    }
    self->spatial = spatial;
    self->groups = self->groups == 0 ? 1 : self->groups;
    for (int i = 0; i < spatial; i++) {
        self->strides[i] = strides[i];
        self->dilations[i] = dilations[i];
    }
    return PLIM_CUDNN_OK;
}

int cudnnSetConvolutionGroupCount(plim_cudnn_convolution_descriptor *self, int groups)
{
    if (self == NULL || groups < 1) {
        return PLIM_CUDNN_BAD_PARAM;
    }
    self->groups = groups;
    return PLIM_CUDNN_OK;
}

int cudnnSetConvolutionMathType(plim_cudnn_convolution_descriptor *self, int math)
{
    if (self == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    self->math = math;
    return PLIM_CUDNN_OK;
}
