/*
 * engines.c - see engines.h.
 *
 * A graph with a convolution in it, and whatever is fused with it, has an engine for each
 * algorithm. Any other is compiled as a whole by one engine.
 */
#include "standin/cudnn/engines.h"

#include "standin/core/current.h"
#include "standin/core/stage.h"
#include "standin/cudnn/graph.h"
#include "standin/cudnn/workspace.h"

#include <string.h>

/* The operands of a convolution, by direction. */
typedef struct operands {
    int kind;
    plim_cudnn_direction direction;
    int convolution, x, w, y;
} operands;

static const operands convolutions[] = {
    { PLIM_CUDNN_KIND_CONVOLUTION_FORWARD, PLIM_CUDNN_FORWARD, PLIM_CUDNN_FORWARD_CONVOLUTION,
      PLIM_CUDNN_FORWARD_X, PLIM_CUDNN_FORWARD_W, PLIM_CUDNN_FORWARD_Y },
    { PLIM_CUDNN_KIND_CONVOLUTION_BACKWARD_DATA, PLIM_CUDNN_BACKWARD_DATA,
      PLIM_CUDNN_BACKWARD_DATA_CONVOLUTION, PLIM_CUDNN_BACKWARD_DATA_DX, PLIM_CUDNN_BACKWARD_DATA_W,
      PLIM_CUDNN_BACKWARD_DATA_DY },
    { PLIM_CUDNN_KIND_CONVOLUTION_BACKWARD_FILTER, PLIM_CUDNN_BACKWARD_FILTER,
      PLIM_CUDNN_BACKWARD_FILTER_CONVOLUTION, PLIM_CUDNN_BACKWARD_FILTER_X,
      PLIM_CUDNN_BACKWARD_FILTER_DW, PLIM_CUDNN_BACKWARD_FILTER_DY },
};

/* The operations that are compiled into one kernel. */
static const int fused_kinds[] = {
    PLIM_CUDNN_KIND_POINTWISE,
    PLIM_CUDNN_KIND_OPERATION_MATMUL,
    PLIM_CUDNN_KIND_OPERATION_REDUCTION,
    PLIM_CUDNN_KIND_OPERATION_RESAMPLE_FORWARD,
    PLIM_CUDNN_KIND_OPERATION_RESAMPLE_BACKWARD,
    PLIM_CUDNN_KIND_OPERATION_CONCAT,
    PLIM_CUDNN_KIND_OPERATION_NORM_FORWARD,
    PLIM_CUDNN_KIND_OPERATION_NORM_BACKWARD,
    PLIM_CUDNN_KIND_OPERATION_RESHAPE,
    PLIM_CUDNN_KIND_OPERATION_RNG,
    PLIM_CUDNN_KIND_OPERATION_PAGED_CACHE_LOAD,
    PLIM_CUDNN_KIND_OPERATION_EXPAND_BAND,
    PLIM_CUDNN_KIND_OPERATION_CONTRACT_BAND,
    PLIM_CUDNN_KIND_OPERATION_ATTENTION_FORWARD,
    PLIM_CUDNN_KIND_OPERATION_ATTENTION_BACKWARD,
    PLIM_CUDNN_KIND_OPERATION_DIAGONAL_BAND_MASK,
    PLIM_CUDNN_KIND_OPERATION_SOFTMAX,
    PLIM_CUDNN_KIND_OPERATION_TRANSPOSE,
    PLIM_CUDNN_KIND_OPERATION_SLICE,
};

#define FUSED_INDEX 10 /* of the engine for all graphs but those with convolutions */

/* False where there is no tensor of a shape. */
static bool read_tensor(const plim_cudnn_body *operation, int name, plim_cudnn_tensor *ret)
{
    const plim_cudnn_body *tensor = plim_cudnn_body_child(operation, name, 0);
    if (tensor == NULL || plim_cudnn_body_kind(tensor) != PLIM_CUDNN_KIND_TENSOR) {
        return false;
    }
    *ret = (plim_cudnn_tensor){ .type = (int)plim_cudnn_body_integer(tensor, PLIM_CUDNN_TENSOR_TYPE,
                                                                     PLIM_CUDNN_FLOAT) };
    const int64_t rank =
        plim_cudnn_body_get(tensor, PLIM_CUDNN_TENSOR_SIZES, PLIM_CUDNN_RANK_MAX, ret->sizes);
    const int64_t strides =
        plim_cudnn_body_get(tensor, PLIM_CUDNN_TENSOR_STRIDES, PLIM_CUDNN_RANK_MAX, ret->strides);
    ret->rank = (int)rank;
    return rank > 0 && rank <= PLIM_CUDNN_RANK_MAX && strides == rank;
}

/* ---- convolutions ---------------------------------------------------------------------------- */

static const operands *operands_of(int kind)
{
    for (size_t i = 0; i < sizeof convolutions / sizeof convolutions[0]; i++) {
        if (convolutions[i].kind == kind) {
            return &convolutions[i];
        }
    }
    return NULL;
}

static bool read_convolution(const plim_cudnn_body *operation, const operands *names,
                             plim_cudnn_convolution *ret)
{
    *ret = (plim_cudnn_convolution){
        .direction = names->direction,
        .capability_major = (int)plim_standin_settings()->gpu.capability_major,
    };
    if (!read_tensor(operation, names->x, &ret->x) || !read_tensor(operation, names->w, &ret->w) ||
        !read_tensor(operation, names->y, &ret->y)) {
        return false;
    }
    const plim_cudnn_body *how = plim_cudnn_body_child(operation, names->convolution, 0);
    if (how == NULL || ret->x.rank < 3 || ret->w.rank != ret->x.rank ||
        ret->y.rank != ret->x.rank) {
        return false;
    }
    const int64_t spatial = ret->x.rank - 2;
    return plim_cudnn_body_get(how, PLIM_CUDNN_CONVOLUTION_STRIDES, PLIM_CUDNN_RANK_MAX,
                               ret->strides) == spatial &&
           plim_cudnn_body_get(how, PLIM_CUDNN_CONVOLUTION_DILATIONS, PLIM_CUDNN_RANK_MAX,
                               ret->dilations) == spatial;
}

static void take_notes(plim_cudnn_engine *engine, plim_cudnn_algorithm algorithm)
{
    switch (algorithm) {
    case PLIM_CUDNN_TENSOR_CORE:
        engine->notes[engine->note_count++] = PLIM_CUDNN_NOTE_TENSOR_CORE;
        break;
    case PLIM_CUDNN_WINOGRAD:
        engine->notes[engine->note_count++] = PLIM_CUDNN_NOTE_WINOGRAD;
        engine->notes[engine->note_count++] = PLIM_CUDNN_NOTE_WINOGRAD_4X4;
        break;
    case PLIM_CUDNN_FFT_TILING:
        engine->notes[engine->note_count++] = PLIM_CUDNN_NOTE_FFT;
        break;
    case PLIM_CUDNN_IMPLICIT_GEMM:
    case PLIM_CUDNN_COPIES:
    case PLIM_CUDNN_ALGORITHMS:
    default:
        break;
    }
}

static size_t convolution_engines(const plim_cudnn_body *operation, const operands *names,
                                  plim_cudnn_engine *ret)
{
    plim_cudnn_convolution convolution;
    plim_cudnn_algorithm algorithms[PLIM_CUDNN_ALGORITHMS];
    if (!read_convolution(operation, names, &convolution)) {
        return 0;
    }
    const size_t count = plim_cudnn_convolution_rank(&convolution, algorithms);
    for (size_t i = 0; i < count; i++) {
        ret[i] = (plim_cudnn_engine){
            .index = algorithms[i],
            .workspace_bytes = plim_cudnn_convolution_workspace(&convolution, algorithms[i]),
        };
        take_notes(&ret[i], algorithms[i]);
    }
    return count;
}

/* The graph's convolution; false where it has none. */
static bool find_convolution(const plim_cudnn_body *graph, plim_cudnn_convolution *ret)
{
    const plim_cudnn_body *operation = NULL;
    for (int64_t i = 0;
         (operation = plim_cudnn_body_child(graph, PLIM_CUDNN_GRAPH_OPERATIONS, i)) != NULL; i++) {
        const operands *names = operands_of(plim_cudnn_body_kind(operation));
        if (names != NULL) {
            return read_convolution(operation, names, ret);
        }
    }
    return false;
}

void plim_cudnn_engines_note_range(const plim_cudnn_body *graph, int64_t chosen, bool is_searched)
{
    plim_cudnn_convolution convolution;
    plim_cudnn_algorithm algorithms[PLIM_CUDNN_ALGORITHMS];
    if (!find_convolution(graph, &convolution)) {
        return;
    }
    const size_t count = plim_cudnn_convolution_rank(&convolution, algorithms);
    uint64_t expected = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bytes = plim_cudnn_convolution_workspace(&convolution, algorithms[i]);
        if ((is_searched && bytes > expected) || (!is_searched && algorithms[i] == chosen)) {
            expected = bytes;
        }
    }
    const plim_cudnn_bounds bounds = plim_cudnn_convolution_bounds(&convolution, is_searched);
    plim_stage_note_range(plim_standin_stage(), (uint32_t)plim_standin_current_device(),
                          expected > bounds.least_bytes ? expected - bounds.least_bytes : 0,
                          bounds.most_bytes > expected ? bounds.most_bytes - expected : 0);
}

/* ---- all others ------------------------------------------------------------------------------ */

/*
 * Gradients of keys and values that several heads of queries share are computed for each of these
 * and then added up: whole heads that are no tensor of the caller's have to be somewhere.
 */
static uint64_t whole_heads_bytes(const plim_cudnn_body *reduction)
{
    plim_cudnn_tensor x;
    plim_cudnn_tensor y;
    const plim_cudnn_body *input = plim_cudnn_body_child(reduction, PLIM_CUDNN_REDUCTION_X, 0);
    if (input == NULL || !read_tensor(reduction, PLIM_CUDNN_REDUCTION_X, &x) ||
        !read_tensor(reduction, PLIM_CUDNN_REDUCTION_Y, &y) || x.rank != 4 || y.rank != 4 ||
        x.sizes[1] <= y.sizes[1] || x.sizes[2] != y.sizes[2] || x.sizes[3] != y.sizes[3] ||
        plim_cudnn_body_integer(input, PLIM_CUDNN_TENSOR_IS_VIRTUAL, 0) == 0) {
        return 0;
    }
    return (uint64_t)x.sizes[0] * (uint64_t)x.sizes[1] * (uint64_t)x.sizes[2] *
           (uint64_t)x.sizes[3] * plim_cudnn_type_bytes(x.type);
}

static uint64_t attention_bytes(const plim_cudnn_body *operation)
{
    plim_cudnn_tensor q;
    plim_cudnn_tensor k;
    plim_cudnn_tensor v;
    if (!read_tensor(operation, PLIM_CUDNN_ATTENTION_BACKWARD_Q, &q) ||
        !read_tensor(operation, PLIM_CUDNN_ATTENTION_BACKWARD_K, &k) ||
        !read_tensor(operation, PLIM_CUDNN_ATTENTION_BACKWARD_V, &v) || q.rank != 4 ||
        k.rank != 4 || v.rank != 4) {
        return 0;
    }
    const plim_cudnn_attention attention = {
        .type = q.type,
        .batch = q.sizes[0],
        .query_heads = q.sizes[1],
        .key_heads = k.sizes[1],
        .value_heads = v.sizes[1],
        .query_length = q.sizes[2],
        .key_length = k.sizes[2],
        .query_size = q.sizes[3],
        .value_size = v.sizes[3],
    };
    return plim_cudnn_attention_backward_workspace(&attention);
}

static bool is_fused(int kind)
{
    for (size_t i = 0; i < sizeof fused_kinds / sizeof fused_kinds[0]; i++) {
        if (fused_kinds[i] == kind) {
            return true;
        }
    }
    return false;
}

static uint64_t fused_workspace(const plim_cudnn_body *operation)
{
    switch (plim_cudnn_body_kind(operation)) {
    case PLIM_CUDNN_KIND_OPERATION_REDUCTION:
        return whole_heads_bytes(operation);
    case PLIM_CUDNN_KIND_OPERATION_ATTENTION_BACKWARD:
        return attention_bytes(operation);
    default:
        return 0;
    }
}

size_t plim_cudnn_engines_of(const plim_cudnn_body *graph,
                             plim_cudnn_engine ret[PLIM_CUDNN_ENGINES_MAX])
{
    _Static_assert(PLIM_CUDNN_ALGORITHMS <= PLIM_CUDNN_ENGINES_MAX, "an engine for each");
    plim_cudnn_engine fused = { .index = FUSED_INDEX,
                                .notes = { PLIM_CUDNN_NOTE_TENSOR_CORE },
                                .note_count = 1,
                                .is_compiled_at_run_time = true };
    const plim_cudnn_body *operation = NULL;
    int64_t count = 0;
    for (; (operation = plim_cudnn_body_child(graph, PLIM_CUDNN_GRAPH_OPERATIONS, count)) != NULL;
         count++) {
        const int kind = plim_cudnn_body_kind(operation);
        const operands *names = operands_of(kind);
        if (names != NULL) {
            return convolution_engines(operation, names, ret);
        }
        if (!is_fused(kind)) {
            return 0;
        }
        fused.workspace_bytes += fused_workspace(operation);
    }
    if (count == 0) {
        return 0;
    }
    ret[0] = fused;
    return 1;
}
