/*
 * workspace.c - see workspace.h.
 *
 * The real library's workspaces depend on which of hundreds of kernels its heuristics choose, and
 * no table of them is published. These are models: deterministic, made after what is documented
 * and what was measured in public. The sources:
 *
 *   [V100]  a profile of ResNet-50 training in float32, batch 32, on a V100 with PyTorch 1.9 and
 *           cuDNN 8, with every allocation: pytorch/kineto, tb_plugin/samples, 2021
 *   [CH]    sizes that cuDNN 7 returned for half-precision convolutions on a V100:
 *           github.com/chainer/chainer/pull/3972
 *   [OCT]   a memory snapshot of PyTorch 2.5 with cuDNN 9.1:
 *           github.com/HugePandaCoder/octree-nca-groupeq, mem_snapshots/inference2_peso_oct.pickle
 *   [CUA]   workspaces that cuDNN returned for one layer with 3 channels and 10 filters of 3×3
 *   [FE]    cudnn-frontend, node/scaled_dot_product_flash_attention.h: the buffers of the backward
 *           pass. Where it builds attention of many operations they are its own, and exact
 *   [DOC]   the manual of cuDNN
 *
 *   what                     wants, and how well that is known
 *   -----------------------  ------------------------------------------------------------------
 *   convolution, tensor      copies of those operands that are not in the layout the kernels
 *   cores                    take, channels last and a multiple of 16 bytes. 16 bit: all of them
 *                            [CH: x + w + 2 y + 4 KiB forward, y + w + 2 x + 6 KiB backward; we
 *                            count each once]; float32 (TF32): the input only, and none for 1×1
 *                            filters [OCT]. The filter's gradient: one float32 copy of it for
 *                            partial sums. Channels last and aligned: 0 otherwise
 *   convolution, implicit    forward: a copy of the filter, 0 if it is 1×1 [V100, within 80 KB],
 *   GEMM                     with strides and 256 channels and more all operands or the columns
 *                            of the input, whichever is less [V100, two layers]; gradient of the
 *                            input: one copy of it for 1×1 filters of stride 1 on planes of 56×56
 *                            and more, from 28×28 on where it has more channels than the output
 *                            [V100, all layers]; of the filter: a copy of it, 0 if it is 1×1 and
 *                            below 2 MiB [V100, within 1 MiB]
 *   convolution, Winograd    36 values for each tile of 4×4 outputs and channel, in and out, and
 *                            for each pair of channels. [V100: to the byte, 9 layers; CUA: too]
 *   convolution, FFT         32×17 complex values for each tile of 32×32 and channel, in and out,
 *                            and for each pair of channels [DOC: the tile, and that it wants
 *                            channels first; one size was reported, a tenth of this]
 *   convolution, copies      all operands, the filter once more [V100: one layer within 3 KB]
 *   choice of algorithm      tensor cores where the type and the GPU have them; else Winograd for
 *                            3×3 filters of stride 1 [V100: with 128 channels and more, and for
 *                            all gradients of filters], else implicit GEMM
 *   what it could be         0 to the largest; of these copies not for 1×1 filters in float32,
 *                            Winograd only without tensor cores, and FFT only for filters of
 *                            5×5 and more besides; searched: the largest that is tried, FFT
 *                            over whole planes too
 *   attention, forward       0
 *   attention, backward      as one operation: gradient of the queries in float32 and one float32
 *                            for each row, and whole heads of the gradients of keys and values
 *                            where several queries share them [FE]
 *   batch normalization      channels first: 0 [V100]; channels last: four float32 sums for each
 *                            channel and multiprocessor (not measured). Kept for the backward
 *                            pass: one bit per element if an activation is fused [DOC], else 0
 *   recurrent networks       kept: gates, cells and outputs of each layer, step and sequence,
 *                            and what dropout let through; workspace: the gates of one layer
 *                            (not measured)
 *   CTC loss                 two float32 for each step and each of 2 labels + 1 (not measured)
 *   dropout                  48 bytes for each thread the GPU can run at once: a state of cuRAND's
 *                            XORWOW generator (1.9 MB on 20 multiprocessors of 2048)
 */
#include "standin/cudnn/workspace.h"

#include "base/numbers.h"

#define ALIGNMENT_BYTES 16 /* what tensor-core kernels load at once */

static uint64_t times(int64_t a, int64_t b)
{
    uint64_t product = 0;
    if (a <= 0 || b <= 0) {
        return 0;
    }
    /* Impossible sizes become the largest there is, which is out of memory. */
    return __builtin_mul_overflow((uint64_t)a, (uint64_t)b, &product) ? UINT64_MAX / 4 : product;
}

static uint64_t plane_of(const plim_cudnn_tensor *tensor)
{
    uint64_t plane = 1;
    for (int i = 2; i < tensor->rank; i++) {
        plane *= (uint64_t)tensor->sizes[i];
    }
    return plane;
}

static uint64_t bytes_of(const plim_cudnn_tensor *tensor)
{
    return times(tensor->sizes[0], tensor->sizes[1]) * plane_of(tensor) *
           plim_cudnn_type_bytes(tensor->type);
}

static int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* ---- convolutions ---------------------------------------------------------------------------- */

static bool is_sixteen_bit(int type)
{
    return type == PLIM_CUDNN_HALF || type == PLIM_CUDNN_BFLOAT16;
}

static bool is_one_by_one(const plim_cudnn_tensor *filter)
{
    return plane_of(filter) == 1;
}

static bool has_unit_strides(const plim_cudnn_convolution *convolution)
{
    for (int i = 0; i + 2 < convolution->x.rank; i++) {
        if (convolution->strides[i] != 1 || convolution->dilations[i] != 1) {
            return false;
        }
    }
    return true;
}

static int64_t groups_of(const plim_cudnn_convolution *convolution)
{
    const int64_t channels = convolution->w.sizes[1];
    return channels > 0 ? convolution->x.sizes[1] / channels : 1;
}

static bool is_depthwise(const plim_cudnn_convolution *convolution)
{
    return convolution->w.sizes[1] == 1 && groups_of(convolution) > 1;
}

/* Do channels lie side by side? Where there is one channel or one pixel, both layouts are one. */
static bool is_channels_last(const plim_cudnn_tensor *tensor)
{
    return tensor->sizes[1] == 1 || plane_of(tensor) == 1 || tensor->strides[1] == 1;
}

static bool is_channels_first(const plim_cudnn_tensor *tensor)
{
    return !is_channels_last(tensor) || tensor->sizes[1] == 1;
}

static bool uses_tensor_cores(const plim_cudnn_convolution *convolution)
{
    const int major = convolution->capability_major;
    switch (convolution->x.type) {
    case PLIM_CUDNN_HALF:
    case PLIM_CUDNN_INT8:
    case PLIM_CUDNN_UINT8:
        return major >= 7;
    case PLIM_CUDNN_BFLOAT16:
    case PLIM_CUDNN_FLOAT: /* as TF32 */
        return major >= 8;
    case PLIM_CUDNN_FP8_E4M3:
    case PLIM_CUDNN_FP8_E5M2:
        return major >= 9;
    default:
        return false;
    }
}

/* Two dimensions, one group, stride 1, and a type that the transforms know. */
static bool can_be_transformed(const plim_cudnn_convolution *convolution)
{
    const int type = convolution->x.type;
    return convolution->x.rank == 4 && (type == PLIM_CUDNN_FLOAT || type == PLIM_CUDNN_HALF) &&
           has_unit_strides(convolution) && groups_of(convolution) == 1;
}

static bool can_take(const plim_cudnn_convolution *convolution, plim_cudnn_algorithm algorithm)
{
    const plim_cudnn_tensor *w = &convolution->w;
    switch (algorithm) {
    case PLIM_CUDNN_TENSOR_CORE:
        return uses_tensor_cores(convolution);
    case PLIM_CUDNN_WINOGRAD:
        return can_be_transformed(convolution) && w->sizes[2] == 3 && w->sizes[3] == 3;
    case PLIM_CUDNN_FFT_TILING:
        return can_be_transformed(convolution) && !is_one_by_one(w) && w->sizes[2] <= 16 &&
               w->sizes[3] <= 16 && is_channels_first(&convolution->x);
    case PLIM_CUDNN_COPIES:
        return !is_depthwise(convolution) && is_channels_first(&convolution->x) &&
               plim_cudnn_type_bytes(convolution->x.type) <= sizeof(float);
    case PLIM_CUDNN_IMPLICIT_GEMM:
    case PLIM_CUDNN_ALGORITHMS:
    default:
        return true;
    }
}

/* Without tensor cores, is Winograd what the heuristics would choose? */
static bool prefers_winograd(const plim_cudnn_convolution *convolution)
{
    return can_take(convolution, PLIM_CUDNN_WINOGRAD) &&
           (convolution->direction == PLIM_CUDNN_BACKWARD_FILTER || convolution->w.sizes[1] >= 128);
}

size_t plim_cudnn_convolution_rank(const plim_cudnn_convolution *convolution,
                                   plim_cudnn_algorithm ret[PLIM_CUDNN_ALGORITHMS])
{
    const bool has_own_kernels = is_depthwise(convolution);
    const bool winograd_first = prefers_winograd(convolution);
    const plim_cudnn_algorithm order[] = {
        has_own_kernels ? PLIM_CUDNN_IMPLICIT_GEMM : PLIM_CUDNN_TENSOR_CORE,
        has_own_kernels ? PLIM_CUDNN_TENSOR_CORE
                        : (winograd_first ? PLIM_CUDNN_WINOGRAD : PLIM_CUDNN_IMPLICIT_GEMM),
        winograd_first ? PLIM_CUDNN_IMPLICIT_GEMM : PLIM_CUDNN_WINOGRAD,
        PLIM_CUDNN_COPIES,
        PLIM_CUDNN_FFT_TILING,
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (can_take(convolution, order[i])) {
            ret[count++] = order[i];
        }
    }
    return count;
}

static bool is_aligned(const plim_cudnn_tensor *tensor, int64_t channels)
{
    const uint64_t bytes = plim_cudnn_type_bytes(tensor->type);
    return bytes == 0 || ((uint64_t)channels * bytes) % ALIGNMENT_BYTES == 0;
}

/* A copy in the layout that tensor cores take; 0 where the operand is in it. */
static uint64_t copy_bytes(const plim_cudnn_tensor *tensor)
{
    const uint64_t bytes = plim_cudnn_type_bytes(tensor->type);
    if (bytes == 0 || (is_channels_last(tensor) && is_aligned(tensor, tensor->sizes[1]))) {
        return 0;
    }
    const int64_t unit = bytes < ALIGNMENT_BYTES ? (int64_t)(ALIGNMENT_BYTES / bytes) : 1;
    return times(tensor->sizes[0], round_up(tensor->sizes[1], unit)) * plane_of(tensor) * bytes;
}

static uint64_t filter_elements(const plim_cudnn_convolution *convolution)
{
    return times(convolution->w.sizes[0], convolution->w.sizes[1]) * plane_of(&convolution->w);
}

static uint64_t tensor_core_workspace(const plim_cudnn_convolution *convolution)
{
    const plim_cudnn_tensor *x = &convolution->x;
    const plim_cudnn_tensor *w = &convolution->w;
    const plim_cudnn_tensor *y = &convolution->y;
    const bool is_backward_data = convolution->direction == PLIM_CUDNN_BACKWARD_DATA;
    const uint64_t sums = convolution->direction == PLIM_CUDNN_BACKWARD_FILTER
                              ? filter_elements(convolution) * sizeof(float)
                              : 0;

    if (!is_sixteen_bit(x->type)) { /* kernels that read and write either layout, but for this */
        const bool is_direct = is_one_by_one(w) && has_unit_strides(convolution);
        return sums + (is_direct ? 0 : copy_bytes(is_backward_data ? y : x));
    }
    if (convolution->direction == PLIM_CUDNN_BACKWARD_FILTER) {
        return sums + copy_bytes(x) + copy_bytes(y);
    }
    return copy_bytes(x) + copy_bytes(w) + copy_bytes(y);
}

static uint64_t all_copies(const plim_cudnn_convolution *convolution)
{
    return bytes_of(&convolution->x) + bytes_of(&convolution->y) + 2 * bytes_of(&convolution->w);
}

/* The input as columns, one for each pixel of the output. */
static uint64_t columns_bytes(const plim_cudnn_convolution *convolution)
{
    const plim_cudnn_tensor *x = &convolution->x;
    return times(x->sizes[0], x->sizes[1]) * plane_of(&convolution->y) * plane_of(&convolution->w) *
           plim_cudnn_type_bytes(x->type);
}

static uint64_t implicit_forward_workspace(const plim_cudnn_convolution *convolution)
{
    enum { MANY_CHANNELS = 256 };
    if (is_one_by_one(&convolution->w) || convolution->w.sizes[1] == 1) {
        return 0;
    }
    if (has_unit_strides(convolution) || convolution->w.sizes[1] < MANY_CHANNELS) {
        return bytes_of(&convolution->w);
    }
    const uint64_t copies = all_copies(convolution);
    const uint64_t columns = columns_bytes(convolution);
    return copies < columns ? copies : columns;
}

static uint64_t implicit_gemm_workspace(const plim_cudnn_convolution *convolution)
{
    enum { SMALL_PLANE = 28 * 28, LARGE_PLANE = 56 * 56, SMALL_FILTER_BYTES = 2 << 20 };
    const bool is_direct = is_one_by_one(&convolution->w);
    const uint64_t plane = plane_of(&convolution->x);
    const uint64_t filter = bytes_of(&convolution->w);
    switch (convolution->direction) {
    case PLIM_CUDNN_FORWARD:
        return implicit_forward_workspace(convolution);
    case PLIM_CUDNN_BACKWARD_DATA:
        return is_direct && has_unit_strides(convolution) && convolution->w.sizes[1] != 1 &&
                       (plane >= LARGE_PLANE ||
                        (plane >= SMALL_PLANE && convolution->w.sizes[1] > convolution->w.sizes[0]))
                   ? bytes_of(&convolution->x)
                   : 0;
    case PLIM_CUDNN_BACKWARD_FILTER:
    default:
        return is_direct && filter < SMALL_FILTER_BYTES ? 0 : filter;
    }
}

/* The workspace of a method that transforms tiles: `values` for a tile and channel, in and out. */
static uint64_t transform_bytes(const plim_cudnn_convolution *convolution, int64_t tile,
                                uint64_t value_bytes)
{
    const int64_t *plane = &convolution->y.sizes[2];
    const int64_t tiles = convolution->y.sizes[0] * (round_up(plane[0], tile) / tile) *
                          (round_up(plane[1], tile) / tile);
    const int64_t inputs = convolution->w.sizes[1];
    const int64_t outputs = convolution->w.sizes[0];
    return (times(tiles, inputs) + times(tiles, outputs) + times(inputs, outputs)) * value_bytes;
}

uint64_t plim_cudnn_convolution_workspace(const plim_cudnn_convolution *convolution,
                                          plim_cudnn_algorithm algorithm)
{
    switch (algorithm) {
    case PLIM_CUDNN_TENSOR_CORE:
        return tensor_core_workspace(convolution);
    case PLIM_CUDNN_WINOGRAD: /* F(4×4, 3×3): 6×6 values */
        return transform_bytes(convolution, 4, 36 * plim_cudnn_type_bytes(convolution->x.type));
    case PLIM_CUDNN_FFT_TILING: /* 32×32 values: half of the spectrum of real numbers */
        return transform_bytes(convolution, 32 - (convolution->w.sizes[2] - 1),
                               UINT64_C(32) * 17 * 2 * sizeof(float));
    case PLIM_CUDNN_COPIES:
        return all_copies(convolution);
    case PLIM_CUDNN_IMPLICIT_GEMM:
    case PLIM_CUDNN_ALGORITHMS:
    default:
        return implicit_gemm_workspace(convolution);
    }
}

/* The transform of whole planes, which are filled up to powers of two of at most 256. */
static uint64_t whole_plane_bytes(const plim_cudnn_convolution *convolution)
{
    enum { PLANE_MAX = 256 };
    int64_t sides[2];
    for (int i = 0; i < 2; i++) {
        const int64_t wanted = convolution->x.sizes[2 + i] + convolution->w.sizes[2 + i] - 1;
        for (sides[i] = 1; sides[i] < wanted; sides[i] *= 2) {
        }
        if (sides[i] > PLANE_MAX) {
            return 0;
        }
    }
    const int64_t batch = convolution->x.sizes[0];
    const int64_t inputs = convolution->w.sizes[1];
    const int64_t outputs = convolution->w.sizes[0];
    return (times(batch, inputs) + times(batch, outputs) + times(inputs, outputs)) *
           (uint64_t)(sides[0] * (sides[1] / 2 + 1)) * 2 * sizeof(float);
}

/* Sums of parts of a filter's gradient may be kept in several copies. */
static uint64_t split_sums_bytes(const plim_cudnn_convolution *convolution)
{
    enum { FILTER_SUMS = 4 };
    return convolution->direction == PLIM_CUDNN_BACKWARD_FILTER && !is_depthwise(convolution)
               ? FILTER_SUMS * filter_elements(convolution) * sizeof(float)
               : 0;
}

/* Would the heuristics perhaps choose it? */
static bool is_plausible(const plim_cudnn_convolution *convolution, plim_cudnn_algorithm algorithm)
{
    switch (algorithm) {
    case PLIM_CUDNN_WINOGRAD: /* tensor cores are faster */
        return !uses_tensor_cores(convolution);
    case PLIM_CUDNN_COPIES: /* no measured 1×1 filter in float32 had its operands copied */
        return !is_one_by_one(&convolution->w) || is_sixteen_bit(convolution->x.type);
    case PLIM_CUDNN_IMPLICIT_GEMM:
    case PLIM_CUDNN_TENSOR_CORE:
    case PLIM_CUDNN_FFT_TILING:
    case PLIM_CUDNN_ALGORITHMS:
    default:
        return true;
    }
}

plim_cudnn_bounds plim_cudnn_convolution_bounds(const plim_cudnn_convolution *convolution,
                                                bool is_searched)
{
    enum { WIDE_FILTER = 5 };
    plim_cudnn_algorithm ranked[PLIM_CUDNN_ALGORITHMS];
    const size_t count = plim_cudnn_convolution_rank(convolution, ranked);
    uint64_t without_fft = split_sums_bytes(convolution);
    uint64_t fft = 0;
    uint64_t searched = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bytes = plim_cudnn_convolution_workspace(convolution, ranked[i]);
        if (ranked[i] == PLIM_CUDNN_FFT_TILING) {
            fft = plim_max(bytes, whole_plane_bytes(convolution));
        } else if (is_searched || is_plausible(convolution, ranked[i])) {
            without_fft = plim_max(without_fft, bytes);
            searched = ranked[i] == PLIM_CUDNN_COPIES ? searched : plim_max(searched, bytes);
        }
    }
    const bool may_choose_fft =
        is_searched || (!uses_tensor_cores(convolution) && convolution->w.sizes[2] >= WIDE_FILTER);
    return (plim_cudnn_bounds){
        .least_bytes = is_searched ? searched : 0,
        .most_bytes = may_choose_fft ? plim_max(without_fft, fft) : without_fft,
    };
}

/* ---- attention ------------------------------------------------------------------------------- */

uint64_t plim_cudnn_attention_backward_workspace(const plim_cudnn_attention *attention)
{
    const uint64_t rows =
        times(attention->batch, attention->query_heads) * (uint64_t)attention->query_length;
    const uint64_t keys = times(attention->batch, attention->query_heads) *
                          (uint64_t)attention->key_length * plim_cudnn_type_bytes(attention->type);
    uint64_t bytes = rows * (uint64_t)attention->query_size * sizeof(float) + rows * sizeof(float);
    if (attention->key_heads != attention->query_heads) {
        bytes += keys * (uint64_t)attention->query_size;
    }
    if (attention->value_heads != attention->query_heads) {
        bytes += keys * (uint64_t)attention->value_size;
    }
    return bytes;
}

/* ---- normalization --------------------------------------------------------------------------- */

uint64_t plim_cudnn_batch_norm_workspace(const plim_cudnn_tensor *x, uint32_t multiprocessors)
{
    if (x->rank < 3 || !is_channels_last(x)) {
        return 0;
    }
    return times(round_up(x->sizes[1], 64), 4 * (int64_t)multiprocessors) * sizeof(float);
}

uint64_t plim_cudnn_activation_mask_bytes(const plim_cudnn_tensor *x)
{
    return (times(x->sizes[0], x->sizes[1]) * plane_of(x) + 7) / 8;
}

/* ---- recurrent networks ---------------------------------------------------------------------- */

static int64_t gates_of(plim_cudnn_cell cell)
{
    switch (cell) {
    case PLIM_CUDNN_CELL_LSTM:
        return 4;
    case PLIM_CUDNN_CELL_GRU:
        return 3;
    case PLIM_CUDNN_CELL_RELU:
    case PLIM_CUDNN_CELL_TANH:
    default:
        return 1;
    }
}

uint64_t plim_cudnn_recurrent_workspace(const plim_cudnn_recurrent *recurrent)
{
    const uint64_t steps = times(recurrent->sequence_length, recurrent->batch);
    return steps *
           times(gates_of(recurrent->cell) * recurrent->hidden_size, recurrent->directions) *
           plim_cudnn_type_bytes(recurrent->type);
}

uint64_t plim_cudnn_recurrent_reserve(const plim_cudnn_recurrent *recurrent)
{
    const uint64_t bytes = plim_cudnn_type_bytes(recurrent->type);
    const uint64_t steps =
        times(recurrent->sequence_length, recurrent->batch) * (uint64_t)recurrent->directions;
    /* An LSTM's cells, and the part of a GRU's new gate that comes from the hidden state. */
    const int64_t extra = recurrent->cell >= PLIM_CUDNN_CELL_LSTM ? 1 : 0;
    const bool is_projected = recurrent->projected_size != recurrent->hidden_size;
    const int64_t values = (gates_of(recurrent->cell) + extra) * recurrent->hidden_size +
                           recurrent->projected_size + (is_projected ? recurrent->hidden_size : 0);
    uint64_t total = steps * times(values, recurrent->layers) * bytes;
    if (recurrent->has_dropout) { /* the inputs of all layers but the first, as dropped */
        total += steps * times(recurrent->projected_size, recurrent->layers - 1) * bytes;
    }
    return total;
}

/* ---- others ---------------------------------------------------------------------------------- */

uint64_t plim_cudnn_ctc_workspace(int64_t time, int64_t batch, int64_t labels_max)
{
    return times(time, batch) * (uint64_t)(2 * labels_max + 1) * 2 * sizeof(float);
}

uint64_t plim_cudnn_dropout_states_bytes(uint32_t multiprocessors, uint32_t threads)
{
    return UINT64_C(48) * multiprocessors * threads; /* sizeof(curandStateXORWOW_t) */
}
