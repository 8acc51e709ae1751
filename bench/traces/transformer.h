/*
 * transformer.h - a transformer's tensors: a table of operations, walked forwards and backwards.
 *
 * Widths are those of published models; activations have 16 bits, weights 16 or 32. Which tensors
 * live how long follows PyTorch's autograd: what backward needs is kept, the rest goes when its
 * last reader is done.
 */
#ifndef PLIMSOLL_BENCH_TRACES_TRANSFORMER_H
#define PLIMSOLL_BENCH_TRACES_TRANSFORMER_H

#include "traces/play.h"

enum { TRANSFORMER_LAYERS_MAX = 40, TRANSFORMER_OPS = 20 };

/* Where a layer can be interrupted: keys and values are there before SDPA, the feed-forward part
 * begins at GATE and ends before RESIDUAL. */
enum { TRANSFORMER_OP_SDPA = 8, TRANSFORMER_OP_GATE = 14, TRANSFORMER_OP_RESIDUAL = 19 };

typedef struct trace_model {
    const char *name; /* whose widths these are */
    uint32_t layers;
    uint32_t hidden;
    uint32_t kv; /* width of keys, and of values */
    uint32_t heads;
    uint32_t ffn;
    uint32_t vocab;
} trace_model;

typedef enum trace_keep {
    TRACE_KEEP_NOTHING, /* no gradients */
    TRACE_KEEP_OUTPUTS, /* of layers: the rest is computed again in backward */
    TRACE_KEEP_ALL,
} trace_keep;

/* What one pass through the layers is over. */
typedef struct trace_pass {
    uint64_t tokens;  /* of all sequences of the batch */
    uint64_t context; /* tokens that one attends to */
    trace_keep keep;
} trace_pass;

typedef struct trace_weight {
    plim_addr at;
    plim_addr half; /* what autocast made of it, until backward */
    plim_addr gradient;
    plim_addr moments[2];
    uint64_t count; /* of numbers; 0: none */
} trace_weight;

typedef struct trace_transformer {
    trace_model model;
    uint32_t weight_bytes; /* of a number: 4 under autocast, or 2 */
    bool is_eager;         /* attention scores become a tensor */
    bool is_foreach;       /* the optimizer works on lists of tensors, not in one kernel */
    bool has_dense_ffn;
    trace_weight embedding;
    trace_weight head;
    trace_weight weights[TRANSFORMER_LAYERS_MAX][TRANSFORMER_OPS];
    plim_addr kept[TRANSFORMER_LAYERS_MAX][TRANSFORMER_OPS];
    plim_addr outputs[TRANSFORMER_OPS]; /* of the layer under way */
    plim_addr ends[4];                  /* embedded tokens, final norm, logits, log-probabilities */
    plim_addr flowing;                  /* backward: the gradient of what was just undone */
} trace_transformer;

/* A model whose training fits a device, or (is_large) one that is served. */
trace_model transformer_choose(trace_play *play, bool is_large);
/* Its weights; dense_ffn: also those of the feed-forward parts. */
void transformer_load(trace_play *play, trace_transformer *it, bool dense_ffn);

/* Operations [first, end) of a layer, forwards. */
void transformer_ops(trace_play *play, trace_transformer *it, const trace_pass *pass,
                     uint32_t layer, uint32_t first, uint32_t end);
/* … and backwards, from the last to the first. */
void transformer_ops_back(trace_play *play, trace_transformer *it, const trace_pass *pass,
                          uint32_t layer, uint32_t first, uint32_t end);

/* Whole layers, embedding before. Where gradients are kept: and loss after that. */
void transformer_forward(trace_play *play, trace_transformer *it, const trace_pass *pass);
void transformer_backward(trace_play *play, trace_transformer *it, const trace_pass *pass);
/* The parts of these before and after the layers. */
void transformer_embed(trace_play *play, trace_transformer *it, const trace_pass *pass);
void transformer_loss(trace_play *play, trace_transformer *it, const trace_pass *pass);
void transformer_loss_back(trace_play *play, trace_transformer *it, const trace_pass *pass);
void transformer_embed_back(trace_play *play, trace_transformer *it, const trace_pass *pass);
/* Drops what a pass without gradients leaves: the last layer's output. */
void transformer_end_pass(trace_play *play, trace_transformer *it);
/* Logits of `rows` positions in 16 and 32 bits, and what drawing a token from them takes. */
void transformer_sample(trace_play *play, const trace_transformer *it, uint64_t rows);

void transformer_optimize(trace_play *play, trace_transformer *it);
void transformer_zero_grad(trace_play *play, trace_transformer *it);

/* One weight, for models with more than the table knows. */
void weight_load(trace_play *play, trace_weight *weight, uint64_t count, uint32_t weight_bytes);
/* A product with it: under autocast there is a copy in 16 bits. */
void weight_cast(trace_play *play, trace_weight *weight, uint32_t weight_bytes, bool is_kept);
void weight_grad(trace_play *play, trace_weight *weight, uint32_t weight_bytes);
/* The optimizer's work on many of them at once. */
void weights_optimize(trace_play *play, trace_weight *weights, size_t count, bool is_foreach);
void weights_zero_grad(trace_play *play, trace_weight *weights, size_t count);

#endif
