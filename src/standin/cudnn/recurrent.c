/*
 * recurrent.c - recurrent networks: where weights lie in their one buffer, and how big the others
 * are.
 *
 *   weights   all matrices, layer by layer and direction by direction (a "pseudo-layer"), then
 *             all biases in the same order, without gaps
 *   matrices  of a pseudo-layer: for each gate hidden × input, for each gate hidden × projected,
 *             and with a projection one projected × hidden
 *   biases    for each gate `hidden` values, for the input, the recurrent side, or both
 *
 * PyTorch lays out its flattened parameters by what we answer, and checks that the matrices of a
 * group follow each other. Sources: the manual of cuDNN 9 (cudnnGetRNNWeightParams,
 * cudnnSetRNNDescriptor_v8), and that MXNet, whose own formula is this one, checks its size
 * against cuDNN's for equality (src/operator/rnn-inl.h).
 */
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cudnn/descriptors.h"
#include "standin/cudnn/workspace.h"

enum {
    BIAS_NONE = 0, /* cudnnRNNBiasMode_t */
    BIAS_INPUT = 1,
    BIAS_DOUBLE = 2,
    BIAS_RECURRENT = 3,
    INPUT_SKIP = 1,    /* cudnnRNNInputMode_t */
    MODE_TRAINING = 1, /* cudnnForwardMode_t */
};

typedef plim_cudnn_rnn_descriptor rnn;

PLIM_STANDIN_MODELLED(cudnnGetRNNTempSpaceSizes, "gates, cells and outputs of all steps")
PLIM_STANDIN_MODELLED(cudnnDropoutGetStatesSize, "48 bytes for each thread of the GPU")
PLIM_STANDIN_NOTHING(cudnnRNNForward)
PLIM_STANDIN_NOTHING(cudnnRNNBackwardData_v8)
PLIM_STANDIN_NOTHING(cudnnRNNBackwardWeights_v8)

int cudnnSetRNNDescriptor_v8(rnn *self, int algorithm, int cell, int bias_mode, int direction_mode,
                             int input_mode, int type, int math_precision, int math_type,
                             int32_t input_size, int32_t hidden_size, int32_t projected_size,
                             int32_t layers, const plim_cudnn_dropout_descriptor *dropout,
                             uint32_t flags)
{
    if (self == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (cell < PLIM_CUDNN_CELL_RELU || cell > PLIM_CUDNN_CELL_GRU || bias_mode < BIAS_NONE ||
        bias_mode > BIAS_RECURRENT || input_size < 1 || hidden_size < 1 || layers < 1 ||
        projected_size < 1 || projected_size > hidden_size) {
        return PLIM_CUDNN_BAD_PARAM;
    }
    *self = (rnn){
        .cell = cell,
        .bias_mode = bias_mode,
        .input_mode = input_mode,
        .type = type,
        .input_size = input_size,
        .hidden_size = hidden_size,
        .projected_size = projected_size,
        .layers = layers,
        .directions = direction_mode == 0 ? 1 : 2, /* cudnnDirectionMode_t */
        .dropout = dropout == NULL ? 0 : dropout->dropout,
    };
    return PLIM_CUDNN_OK;
}

int cudnnSetRNNDataDescriptor(plim_cudnn_rnn_data_descriptor *self, int type, int layout,
                              int sequence_length, int batch, int vector_size, const int *lengths,
                              void *padding)
{
    if (self == NULL || lengths == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (sequence_length < 1 || batch < 1 || vector_size < 1) {
        return PLIM_CUDNN_BAD_PARAM;
    }
    *self = (plim_cudnn_rnn_data_descriptor){
        .type = type, .sequence_length = sequence_length, .batch = batch, .vector_size = vector_size
    };
    return PLIM_CUDNN_OK;
}

/* ---- the layout of weights, in values ---------------------------------------------------------
 */

static int64_t gates_of(const rnn *self)
{
    static const int64_t gates[] = { 1, 1, 4, 3 }; /* by cudnnRNNMode_t */
    return gates[self->cell];
}

static bool is_projected(const rnn *self)
{
    return self->projected_size != self->hidden_size;
}

/* The width of a pseudo-layer's input. */
static int64_t width_of(const rnn *self, int64_t pseudo_layer)
{
    if (pseudo_layer >= self->directions) {
        return self->projected_size * self->directions;
    }
    return self->input_mode == INPUT_SKIP ? 0 : self->input_size;
}

static int64_t matrices_of(const rnn *self, int64_t pseudo_layer)
{
    return gates_of(self) * self->hidden_size *
               (width_of(self, pseudo_layer) + self->projected_size) +
           (is_projected(self) ? self->projected_size * self->hidden_size : 0);
}

static int64_t bias_groups_of(const rnn *self)
{
    return self->bias_mode == BIAS_NONE ? 0 : (self->bias_mode == BIAS_DOUBLE ? 2 : 1);
}

static int64_t biases_of(const rnn *self)
{
    return bias_groups_of(self) * gates_of(self) * self->hidden_size;
}

/* The offset of a pseudo-layer's matrices; one after the last: the end. */
static int64_t matrices_before(const rnn *self, int64_t pseudo_layer)
{
    int64_t values = 0;
    for (int64_t i = 0; i < pseudo_layer; i++) {
        values += matrices_of(self, i);
    }
    return values;
}

int cudnnGetRNNWeightSpaceSize(void *handle, const rnn *self, size_t *bytes)
{
    if (self == NULL || bytes == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    const int64_t count = self->layers * self->directions;
    *bytes = (size_t)(matrices_before(self, count) + count * biases_of(self)) *
             plim_cudnn_type_bytes(self->type);
    return PLIM_CUDNN_OK;
}

/* Fills in the descriptor and address of a matrix of weights; empty without rows. */
static void tell(const rnn *self, const void *space, int64_t at, int64_t rows, int64_t columns,
                 plim_cudnn_tensor *tensor, const void **address)
{
    const int64_t sizes[] = { 1, rows, columns };
    const bool is_there = rows > 0 && columns > 0;
    if (tensor != NULL) {
        plim_cudnn_tensor_set_packed(tensor, self->type, is_there ? 3 : 0, sizes);
    }
    if (address != NULL) {
        *address = is_there ? (const char *)space + (uint64_t)at * plim_cudnn_type_bytes(self->type)
                            : NULL;
    }
}

static void tell_matrix(const rnn *self, const void *space, int64_t pseudo_layer, int64_t linear,
                        plim_cudnn_tensor *matrix, const void **address)
{
    const int64_t gates = gates_of(self);
    const int64_t width = width_of(self, pseudo_layer);
    const int64_t hidden = self->hidden_size;
    const int64_t start = matrices_before(self, pseudo_layer);
    const int64_t recurrent = start + gates * hidden * width;
    const int64_t projection = recurrent + gates * hidden * self->projected_size;

    if (linear < gates) {
        tell(self, space, start + linear * hidden * width, hidden, width, matrix, address);
    } else if (linear < 2 * gates) {
        tell(self, space, recurrent + (linear - gates) * hidden * self->projected_size, hidden,
             self->projected_size, matrix, address);
    } else {
        tell(self, space, projection, is_projected(self) ? self->projected_size : 0, hidden, matrix,
             address);
    }
}

static void tell_bias(const rnn *self, const void *space, int64_t pseudo_layer, int64_t linear,
                      plim_cudnn_tensor *bias, const void **address)
{
    const int64_t gates = gates_of(self);
    const bool is_recurrent = linear >= gates;
    const bool is_there =
        linear < 2 * gates && (self->bias_mode == BIAS_DOUBLE ||
                               self->bias_mode == (is_recurrent ? BIAS_RECURRENT : BIAS_INPUT));
    const int64_t index = self->bias_mode == BIAS_DOUBLE ? linear : linear % gates;
    const int64_t at = matrices_before(self, self->layers * self->directions) +
                       pseudo_layer * biases_of(self) + index * self->hidden_size;
    tell(self, space, at, is_there ? self->hidden_size : 0, 1, bias, address);
}

int cudnnGetRNNWeightParams(void *handle, const rnn *self, int32_t pseudo_layer, size_t space_bytes,
                            const void *space, int32_t linear_layer, plim_cudnn_tensor *matrix,
                            const void **matrix_address, plim_cudnn_tensor *bias,
                            const void **bias_address)
{
    size_t needed = 0;
    PLIM_STANDIN_TRY(cudnnGetRNNWeightSpaceSize(handle, self, &needed));
    if (pseudo_layer < 0 || pseudo_layer >= self->layers * self->directions || linear_layer < 0 ||
        linear_layer > 2 * gates_of(self)) {
        return PLIM_CUDNN_BAD_PARAM;
    }
    if (space_bytes < needed) {
        return PLIM_CUDNN_BAD_PARAM_SIZE;
    }
    tell_matrix(self, space, pseudo_layer, linear_layer, matrix, matrix_address);
    tell_bias(self, space, pseudo_layer, linear_layer, bias, bias_address);
    return PLIM_CUDNN_OK;
}

/* ---- buffers ----------------------------------------------------------------------------------
 */

int cudnnGetRNNTempSpaceSizes(void *handle, const rnn *self, int mode,
                              const plim_cudnn_rnn_data_descriptor *x, size_t *workspace_bytes,
                              size_t *reserve_bytes)
{
    if (self == NULL || x == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    const plim_cudnn_recurrent recurrent = {
        .cell = (plim_cudnn_cell)self->cell,
        .type = self->type,
        .input_size = self->input_size,
        .hidden_size = self->hidden_size,
        .projected_size = self->projected_size,
        .layers = self->layers,
        .directions = self->directions,
        .sequence_length = x->sequence_length,
        .batch = x->batch,
        .has_dropout = self->dropout > 0 && self->layers > 1,
    };
    if (workspace_bytes != NULL) {
        *workspace_bytes = plim_cudnn_recurrent_workspace(&recurrent);
    }
    if (reserve_bytes != NULL) {
        *reserve_bytes = mode == MODE_TRAINING ? plim_cudnn_recurrent_reserve(&recurrent) : 0;
    }
    return PLIM_CUDNN_OK;
}

int cudnnDropoutGetStatesSize(void *handle, size_t *bytes)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;
    if (bytes == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    *bytes = plim_cudnn_dropout_states_bytes(gpu->multiprocessors, gpu->threads_per_multiprocessor);
    return PLIM_CUDNN_OK;
}

int cudnnSetDropoutDescriptor(plim_cudnn_dropout_descriptor *self, void *handle, float dropout,
                              void *states, size_t bytes, unsigned long long seed)
{
    if (self == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    self->dropout = dropout;
    return PLIM_CUDNN_OK;
}

int cudnnRestoreDropoutDescriptor(plim_cudnn_dropout_descriptor *self, void *handle, float dropout,
                                  void *states, size_t bytes, unsigned long long seed)
{
    return cudnnSetDropoutDescriptor(self, handle, dropout, states, bytes, seed);
}
