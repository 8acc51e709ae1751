/*
 * descriptors.h - what the descriptors of cuDNN's older interface hold.
 *
 * A tensor's and a filter's is a plim_cudnn_tensor. Those that nothing is decided by (activations,
 * poolings, spatial transformers) are empty.
 */
#ifndef PLIMSOLL_STANDIN_CUDNN_DESCRIPTORS_H
#define PLIMSOLL_STANDIN_CUDNN_DESCRIPTORS_H

#include "standin/cudnn/cudnn.h"

typedef struct plim_cudnn_convolution_descriptor {
    int spatial; /* dimensions */
    int groups;
    int64_t strides[PLIM_CUDNN_RANK_MAX];
    int64_t dilations[PLIM_CUDNN_RANK_MAX];
    int math; /* cudnnMathType_t */
} plim_cudnn_convolution_descriptor;

typedef struct plim_cudnn_dropout_descriptor {
    float dropout;
} plim_cudnn_dropout_descriptor;

typedef struct plim_cudnn_rnn_data_descriptor {
    int type;
    int64_t sequence_length; /* the longest */
    int64_t batch;
    int64_t vector_size;
} plim_cudnn_rnn_data_descriptor;

typedef struct plim_cudnn_rnn_descriptor {
    int cell;       /* plim_cudnn_cell */
    int bias_mode;  /* cudnnRNNBiasMode_t */
    int input_mode; /* cudnnRNNInputMode_t */
    int type;
    int64_t input_size, hidden_size, projected_size;
    int64_t layers, directions;
    float dropout;
} plim_cudnn_rnn_descriptor;

typedef struct plim_cudnn_ctc_descriptor {
    int64_t labels_max; /* 0: not set */
} plim_cudnn_ctc_descriptor;

/* Sets a tensor of packed rows, the last dimension closest. */
void plim_cudnn_tensor_set_packed(plim_cudnn_tensor *tensor, int type, int rank,
                                  const int64_t *sizes);

#endif
