/*
 * workspace.h - how much memory cuDNN's algorithms want beside their operands: models.
 *
 * Pure functions of shapes, types and the GPU; workspace.c names the source of each.
 */
#ifndef PLIMSOLL_STANDIN_CUDNN_WORKSPACE_H
#define PLIMSOLL_STANDIN_CUDNN_WORKSPACE_H

#include "standin/cudnn/cudnn.h"

typedef enum plim_cudnn_direction {
    PLIM_CUDNN_FORWARD,
    PLIM_CUDNN_BACKWARD_DATA,
    PLIM_CUDNN_BACKWARD_FILTER,
} plim_cudnn_direction;

typedef struct plim_cudnn_convolution {
    plim_cudnn_direction direction;
    plim_cudnn_tensor x; /* or its gradient */
    plim_cudnn_tensor w; /* sizes[1] is the channels of one group */
    plim_cudnn_tensor y;
    int64_t strides[PLIM_CUDNN_RANK_MAX]; /* rank - 2 of them */
    int64_t dilations[PLIM_CUDNN_RANK_MAX];
    int capability_major;
} plim_cudnn_convolution;

/* The numbers are those of the engines that stand for them. */
typedef enum plim_cudnn_algorithm {
    PLIM_CUDNN_IMPLICIT_GEMM,
    PLIM_CUDNN_TENSOR_CORE, /* implicit GEMM on tensor cores */
    PLIM_CUDNN_WINOGRAD,    /* not fused, tiles of 4 by 4 */
    PLIM_CUDNN_FFT_TILING,
    PLIM_CUDNN_COPIES, /* all operands in the layout of other kernels */
    PLIM_CUDNN_ALGORITHMS
} plim_cudnn_algorithm;

/* Those that can do it, the one cuDNN would take first. How many: at least one. */
size_t plim_cudnn_convolution_rank(const plim_cudnn_convolution *convolution,
                                   plim_cudnn_algorithm ret[PLIM_CUDNN_ALGORITHMS]);
uint64_t plim_cudnn_convolution_workspace(const plim_cudnn_convolution *convolution,
                                          plim_cudnn_algorithm algorithm);

/*
 * Between what the real library would want for it, whichever of its kernels it takes: the one that
 * its heuristics choose; or, `is_searched`, the largest of those that a search for the fastest
 * tries, which the caller allocates for all of them.
 */
typedef struct plim_cudnn_bounds {
    uint64_t least_bytes;
    uint64_t most_bytes;
} plim_cudnn_bounds;

plim_cudnn_bounds plim_cudnn_convolution_bounds(const plim_cudnn_convolution *convolution,
                                                bool is_searched);

/* Scaled dot-product attention, batch × heads × sequence × head dimension. */
typedef struct plim_cudnn_attention {
    int type;
    int64_t batch, query_heads, key_heads, value_heads;
    int64_t query_length, key_length;
    int64_t query_size, value_size; /* of a head */
} plim_cudnn_attention;

/* Of the single operation that does all of the backward pass. */
uint64_t plim_cudnn_attention_backward_workspace(const plim_cudnn_attention *attention);

/* Of batch normalization in channels-last layout, which keeps partial sums. */
uint64_t plim_cudnn_batch_norm_workspace(const plim_cudnn_tensor *x, uint32_t multiprocessors);
/* One bit for each element, where an activation is fused with it. */
uint64_t plim_cudnn_activation_mask_bytes(const plim_cudnn_tensor *x);

/* cudnnRNNMode_t */
typedef enum plim_cudnn_cell {
    PLIM_CUDNN_CELL_RELU,
    PLIM_CUDNN_CELL_TANH,
    PLIM_CUDNN_CELL_LSTM,
    PLIM_CUDNN_CELL_GRU,
} plim_cudnn_cell;

typedef struct plim_cudnn_recurrent {
    plim_cudnn_cell cell;
    int type;
    int64_t input_size, hidden_size, projected_size; /* projected = hidden: none */
    int64_t layers, directions;
    int64_t sequence_length, batch; /* the longest; of all sequences together */
    bool has_dropout;
} plim_cudnn_recurrent;

uint64_t plim_cudnn_recurrent_workspace(const plim_cudnn_recurrent *recurrent);
/* The reserve space that a forward pass in training leaves for the backward pass. */
uint64_t plim_cudnn_recurrent_reserve(const plim_cudnn_recurrent *recurrent);

uint64_t plim_cudnn_ctc_workspace(int64_t time, int64_t batch, int64_t labels_max);

/* States of the generator that dropout draws from. */
uint64_t plim_cudnn_dropout_states_bytes(uint32_t multiprocessors, uint32_t threads);

#endif
