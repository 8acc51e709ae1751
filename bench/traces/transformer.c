/*
 * transformer.c - a transformer's tensors. See transformer.h.
 *
 * The layer is that of Llama (Touvron et al. 2023): norm, rotary attention with fewer heads for
 * keys than for queries, norm, gated feed-forward. What each operation keeps is what autograd
 * saves: its inputs for products, its output for activations, statistics for norms.
 */
#include "traces/transformer.h"

/* How wide a tensor is, per token. */
typedef enum width { NONE, ONE, HIDDEN, KV, FFN, HEADS, SCORES } width;

typedef struct operation {
    const trace_place *place;
    uint8_t input;         /* width of it: of the gradient that backward makes */
    uint8_t output;        /* width */
    uint8_t output_bytes;  /* of a number */
    uint8_t scratch;       /* width */
    uint8_t scratch_bytes; /* of a number; freed when the operation is done */
    bool has_weight;       /* input x output */
    bool is_kept;          /* for backward */
    uint8_t last_reader;   /* operation of this layer (0 … 11 of a residual: of the next) */
} operation;

static const operation operations[TRANSFORMER_OPS] = {
    { &at_norm, HIDDEN, HIDDEN, 2, HIDDEN, 4, false, true, 4 },
    { &at_norm, NONE, ONE, 4, NONE, 0, false, true, 1 },
    { &at_q, HIDDEN, HIDDEN, 2, NONE, 0, true, false, 5 },
    { &at_k, HIDDEN, KV, 2, NONE, 0, true, false, 6 },
    { &at_v, HIDDEN, KV, 2, NONE, 0, true, true, 8 },
    { &at_rotary, HIDDEN, HIDDEN, 2, HIDDEN, 2, false, true, 8 },
    { &at_rotary, KV, KV, 2, KV, 2, false, true, 8 },
    { &at_scores, SCORES, SCORES, 2, SCORES, 4, false, true, 8 },
    { &at_sdpa, HIDDEN, HIDDEN, 2, NONE, 0, false, true, 10 },
    { &at_sdpa, NONE, HEADS, 4, NONE, 0, false, true, 9 },
    { &at_o, HIDDEN, HIDDEN, 2, NONE, 0, true, false, 11 },
    { &at_residual, HIDDEN, HIDDEN, 2, NONE, 0, false, true, 19 },
    { &at_norm, HIDDEN, HIDDEN, 2, HIDDEN, 4, false, true, 15 },
    { &at_norm, NONE, ONE, 4, NONE, 0, false, true, 13 },
    { &at_gate, HIDDEN, FFN, 2, NONE, 0, true, true, 16 },
    { &at_up, HIDDEN, FFN, 2, NONE, 0, true, true, 17 },
    { &at_act, FFN, FFN, 2, NONE, 0, false, true, 17 },
    { &at_act, FFN, FFN, 2, NONE, 0, false, true, 18 },
    { &at_down, FFN, HIDDEN, 2, NONE, 0, true, false, 19 },
    { &at_residual, HIDDEN, HIDDEN, 2, NONE, 0, false, true, 11 },
};

enum { OP_SCORES = 7, OP_STATISTICS = 9, OP_FIRST_RESIDUAL = 11 };
enum { END_EMBEDDED, END_NORM, END_LOGITS, END_LOGPROBS };

/* Widths as published: GPT-2 (Radford et al. 2019), TinyLlama (Zhang et al. 2024), Qwen2.5 (Qwen
 * 2024), Llama 2 and 3 (Meta 2023, 2024), Mistral (Jiang et al. 2023). */
static const trace_model trainable[] = {
    { "gpt2", 12, 768, 768, 12, 3072, 50257 },
    { "gpt2-medium", 24, 1024, 1024, 16, 4096, 50257 },
    { "qwen2.5-0.5b", 24, 896, 128, 14, 4864, 151936 },
    { "tinyllama-1.1b", 22, 2048, 256, 32, 5632, 32000 },
    { "llama-3.2-1b", 16, 2048, 512, 32, 8192, 128256 },
};
static const trace_model servable[] = {
    { "tinyllama-1.1b", 22, 2048, 256, 32, 5632, 32000 },
    { "mistral-7b", 32, 4096, 1024, 32, 14336, 32000 },
    { "llama-2-7b", 32, 4096, 4096, 32, 11008, 32000 },
    { "llama-3-8b", 32, 4096, 1024, 32, 14336, 128256 },
    { "qwen2.5-7b", 28, 3584, 512, 28, 18944, 152064 },
};

trace_model transformer_choose(trace_play *play, bool is_large)
{
    if (is_large) {
        return servable[play_draw(play, sizeof servable / sizeof servable[0])];
    }
    return trainable[play_draw(play, sizeof trainable / sizeof trainable[0])];
}

static uint64_t width_of(const trace_model *model, unsigned wide, uint64_t context)
{
    const uint64_t widths[] = { [NONE] = 0,
                                [ONE] = 1,
                                [HIDDEN] = model->hidden,
                                [KV] = model->kv,
                                [FFN] = model->ffn,
                                [HEADS] = model->heads,
                                [SCORES] = model->heads * context };
    return widths[wide];
}

static bool has_weight(const trace_transformer *it, uint32_t op)
{
    return operations[op].has_weight &&
           (it->has_dense_ffn || op < TRANSFORMER_OP_GATE || op >= TRANSFORMER_OP_RESIDUAL);
}

void transformer_load(trace_play *play, trace_transformer *it, bool dense_ffn)
{
    const trace_model *const model = &it->model;
    it->has_dense_ffn = dense_ffn;
    weight_load(play, &it->embedding, (uint64_t)model->vocab * model->hidden, it->weight_bytes);
    for (uint32_t layer = 0; layer < model->layers; layer++) {
        for (uint32_t op = 0; op < TRANSFORMER_OPS; op++) {
            const uint64_t in = width_of(model, operations[op].input, 0);
            const uint64_t out = width_of(model, operations[op].output, 0);
            if (has_weight(it, op)) {
                weight_load(play, &it->weights[layer][op], in * out, it->weight_bytes);
            } else if (operations[op].place == &at_norm && in > 0) {
                weight_load(play, &it->weights[layer][op], in, it->weight_bytes);
            }
        }
    }
    weight_load(play, &it->head, (uint64_t)model->vocab * model->hidden, it->weight_bytes);
}

/* --- forwards --- */

static bool is_left_out(const trace_transformer *it, const trace_pass *pass, uint32_t op)
{
    return (op == OP_SCORES && !it->is_eager) ||
           (op == OP_STATISTICS && (it->is_eager || pass->keep == TRACE_KEEP_NOTHING));
}

static void drop_read(trace_play *play, trace_transformer *it, uint32_t reader)
{
    for (uint32_t op = 0; op < TRANSFORMER_OPS; op++) {
        if (operations[op].last_reader == reader) {
            play_drop(play, &it->outputs[op]);
        }
    }
}

static void forward_one(trace_play *play, trace_transformer *it, const trace_pass *pass,
                        uint32_t layer, uint32_t index)
{
    const operation *const op = &operations[index];
    const uint64_t output =
        pass->tokens * width_of(&it->model, op->output, pass->context) * op->output_bytes;
    const uint64_t scratch =
        pass->tokens * width_of(&it->model, op->scratch, pass->context) * op->scratch_bytes;
    const bool is_kept =
        op->is_kept && (pass->keep == TRACE_KEEP_ALL ||
                        (pass->keep == TRACE_KEEP_OUTPUTS && index == TRANSFORMER_OP_RESIDUAL));
    if (has_weight(it, index)) {
        weight_cast(play, &it->weights[layer][index], it->weight_bytes,
                    pass->keep == TRACE_KEEP_ALL);
    }
    plim_addr temporary = play_take(play, scratch, op->place);
    if (op->place == &at_norm && scratch > 0) { /* the mean square, and its root */
        play_touch(play, pass->tokens * 4, op->place);
        play_touch(play, pass->tokens * 4, op->place);
    } else if (op->place == &at_rotary) { /* times the cosine, and the sine */
        play_touch(play, scratch, op->place);
        play_touch(play, scratch, op->place);
    }
    plim_addr *const to = is_kept ? &it->kept[layer][index] : &it->outputs[index];
    play_drop(play, to); /* nothing, but for a residual that is computed again */
    *to = play_take(play, output, op->place);
    play_drop(play, &temporary);
}

void transformer_ops(trace_play *play, trace_transformer *it, const trace_pass *pass,
                     uint32_t layer, uint32_t first, uint32_t end)
{
    play_enter(play, &at_block);
    for (uint32_t op = first; op < end; op++) {
        if (!is_left_out(it, pass, op)) {
            forward_one(play, it, pass, layer, op);
        }
        drop_read(play, it, op);
    }
    play_leave(play, &at_block);
}

void transformer_embed(trace_play *play, trace_transformer *it, const trace_pass *pass)
{
    const uint64_t bytes = pass->tokens * it->model.hidden * 2;
    plim_addr *const to = pass->keep == TRACE_KEEP_NOTHING ? &it->outputs[TRANSFORMER_OP_RESIDUAL]
                                                           : &it->ends[END_EMBEDDED];
    play_drop(play, to);
    *to = play_take(play, bytes, &at_embedding);
}

void transformer_loss(trace_play *play, trace_transformer *it, const trace_pass *pass)
{
    const uint64_t numbers = pass->tokens * it->model.vocab;
    it->ends[END_NORM] = play_take(play, pass->tokens * it->model.hidden * 2, &at_norm);
    weight_cast(play, &it->head, it->weight_bytes, true);
    plim_addr half = play_take(play, numbers * 2, &at_head);
    it->ends[END_LOGITS] = play_take(play, numbers * 4, &at_loss);
    play_drop(play, &half);
    it->ends[END_LOGPROBS] = play_take(play, numbers * 4, &at_loss);
    play_touch(play, 4, &at_loss);
}

void transformer_forward(trace_play *play, trace_transformer *it, const trace_pass *pass)
{
    play_enter(play, &at_forward);
    transformer_embed(play, it, pass);
    for (uint32_t layer = 0; layer < it->model.layers; layer++) {
        transformer_ops(play, it, pass, layer, 0, TRANSFORMER_OPS);
    }
    if (pass->keep != TRACE_KEEP_NOTHING) {
        transformer_loss(play, it, pass);
    }
    play_leave(play, &at_forward);
}

void transformer_end_pass(trace_play *play, trace_transformer *it)
{
    for (uint32_t op = 0; op < TRANSFORMER_OPS; op++) {
        play_drop(play, &it->outputs[op]);
    }
}

void transformer_sample(trace_play *play, const trace_transformer *it, uint64_t rows)
{
    const uint64_t numbers = rows * it->model.vocab;
    plim_addr logits = play_take(play, numbers * 2, &at_logits);
    plim_addr single = play_take(play, numbers * 4, &at_sampler);
    play_drop(play, &logits);
    plim_addr sorted = play_take(play, numbers * 4, &at_sampler);
    plim_addr order = play_take(play, numbers * 8, &at_sampler);
    plim_addr chances = play_take(play, numbers * 4, &at_sampler);
    play_drop(play, &sorted);
    play_drop(play, &order);
    play_drop(play, &single);
    play_touch(play, rows * 8, &at_sampler);
    play_drop(play, &chances);
}

/* --- backwards --- */

static void backward_one(trace_play *play, trace_transformer *it, const trace_pass *pass,
                         uint32_t layer, uint32_t index)
{
    const operation *const op = &operations[index];
    const uint64_t input = pass->tokens * width_of(&it->model, op->input, pass->context) * 2;
    if (!op->has_weight) { /* a factor of the derivative */
        play_touch(play, input, op->place);
    }
    plim_addr gradient = play_take(play, input, op->place);
    if (it->weights[layer][index].count > 0) {
        weight_grad(play, &it->weights[layer][index], it->weight_bytes);
    }
    if (gradient != 0) { /* else there is none to hand on */
        play_drop(play, &it->flowing);
        it->flowing = gradient;
    }
    play_drop(play, &it->kept[layer][index]);
}

void transformer_ops_back(trace_play *play, trace_transformer *it, const trace_pass *pass,
                          uint32_t layer, uint32_t first, uint32_t end)
{
    for (uint32_t op = end; op-- > first;) {
        if (!is_left_out(it, pass, op)) {
            backward_one(play, it, pass, layer, op);
        }
    }
}

void transformer_loss_back(trace_play *play, trace_transformer *it, const trace_pass *pass)
{
    const uint64_t numbers = pass->tokens * it->model.vocab;
    plim_addr one = play_take(play, 4, &at_loss);
    plim_addr single = play_take(play, numbers * 4, &at_loss);
    play_drop(play, &one);
    play_drop(play, &it->ends[END_LOGPROBS]);
    plim_addr half = play_take(play, numbers * 2, &at_head);
    play_drop(play, &single);
    play_drop(play, &it->ends[END_LOGITS]);
    it->flowing = play_take(play, pass->tokens * it->model.hidden * 2, &at_head);
    weight_grad(play, &it->head, it->weight_bytes);
    play_drop(play, &half);
    play_drop(play, &it->ends[END_NORM]);
}

void transformer_embed_back(trace_play *play, trace_transformer *it, const trace_pass *pass)
{
    (void)pass;
    weight_grad(play, &it->embedding, it->weight_bytes);
    play_drop(play, &it->flowing);
    play_drop(play, &it->ends[END_EMBEDDED]);
}

void transformer_backward(trace_play *play, trace_transformer *it, const trace_pass *pass)
{
    play_enter(play, &at_backward);
    transformer_loss_back(play, it, pass);
    for (uint32_t layer = it->model.layers; layer-- > 0;) {
        if (pass->keep == TRACE_KEEP_OUTPUTS) {
            const trace_pass again = { pass->tokens, pass->context, TRACE_KEEP_ALL };
            play_enter(play, &at_recompute);
            transformer_ops(play, it, &again, layer, 0, TRANSFORMER_OP_RESIDUAL);
            play_leave(play, &at_recompute);
            transformer_end_pass(play, it); /* what only the output would have read */
        }
        transformer_ops_back(play, it, pass, layer, 0, TRANSFORMER_OPS);
    }
    transformer_embed_back(play, it, pass);
    play_leave(play, &at_backward);
}

/* --- the optimizer --- */

void transformer_optimize(trace_play *play, trace_transformer *it)
{
    weights_optimize(play, &it->embedding, 1, it->is_foreach);
    weights_optimize(play, &it->weights[0][0], (size_t)it->model.layers * TRANSFORMER_OPS,
                     it->is_foreach);
    weights_optimize(play, &it->head, 1, it->is_foreach);
}

void transformer_zero_grad(trace_play *play, trace_transformer *it)
{
    weights_zero_grad(play, &it->embedding, 1);
    weights_zero_grad(play, &it->weights[0][0], (size_t)it->model.layers * TRANSFORMER_OPS);
    weights_zero_grad(play, &it->head, 1);
}
