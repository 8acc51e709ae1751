/*
 * training.c - a transformer is trained: with fixed shapes, on padded batches with recomputation,
 * or with evaluations in between.
 *
 * Fixed shapes give few sizes; the two others are what users report fragmentation of: lengths
 * that change from step to step, and a second set of shapes now and then.
 */
#include "traces/programs.h"
#include "traces/transformer.h"

enum { EVALUATION_BATCHES_MAX = 64 };

typedef struct training {
    trace_transformer it;
    uint64_t sequences; /* of a batch */
    uint64_t length;    /* of a sequence, or the median of them */
    uint32_t accumulated;
    bool clips;
    plim_addr predictions[EVALUATION_BATCHES_MAX];
} training;

static void set_up(trace_play *play, training *run)
{
    trace_transformer *const it = &run->it;
    it->model = transformer_choose(play, false);
    it->weight_bytes = play_chance(play, 600) ? 4 : 2;
    it->is_foreach = play_chance(play, 600);
    it->is_eager = it->model.heads <= 16 && play_chance(play, 300);
    run->length = (uint64_t)512 << play_draw(play, 3);
    run->sequences = (it->model.vocab > 100000 ? 4096 : 8192) / run->length;
    run->accumulated = 1u << play_draw(play, 4);
    run->clips = play_chance(play, 500);
    play_enter(play, &at_setup);
    transformer_load(play, it, true);
    play_leave(play, &at_setup);
}

/* Norms of all gradients are there until their own norm is. */
static void clip(trace_play *play, trace_transformer *it)
{
    plim_addr norms[TRANSFORMER_LAYERS_MAX * 9 + 2];
    size_t count = 0;
    play_enter(play, &at_clip);
    for (size_t i = 0; i < (size_t)it->model.layers * TRANSFORMER_OPS; i++) {
        const trace_weight *const weight = &it->weights[i / TRANSFORMER_OPS][i % TRANSFORMER_OPS];
        if (weight->gradient != 0 && count < sizeof norms / sizeof norms[0]) {
            norms[count] = play_take(play, 4, &at_clip);
            count++;
        }
    }
    play_touch(play, 4 * (count + 1), &at_clip);
    for (size_t i = 0; i < count; i++) {
        play_drop(play, &norms[i]);
    }
    play_leave(play, &at_clip);
}

static void micro_step(trace_play *play, training *run, const trace_pass *pass)
{
    plim_addr inputs[2];
    for (unsigned i = 0; i < 2; i++) {
        inputs[i] = play_take(play, pass->tokens * 8, &at_load_batch);
    }
    transformer_forward(play, &run->it, pass);
    transformer_backward(play, &run->it, pass);
    for (unsigned i = 0; i < 2; i++) {
        play_drop(play, &inputs[i]);
    }
}

static void finish_step(trace_play *play, training *run)
{
    if (run->clips) {
        clip(play, &run->it);
    }
    play_enter(play, &at_optimizer);
    transformer_optimize(play, &run->it);
    play_leave(play, &at_optimizer);
    transformer_zero_grad(play, &run->it);
}

static void step(trace_play *play, training *run, const trace_pass *pass)
{
    play_step(play);
    play_enter(play, &at_train_step);
    for (uint32_t micro = 0; micro < run->accumulated; micro++) {
        micro_step(play, run, pass);
    }
    finish_step(play, run);
    play_leave(play, &at_train_step);
}

static void train(trace_play *play, void *state)
{
    training *const run = state;
    set_up(play, run);
    const trace_pass pass = { run->sequences * run->length, run->length, TRACE_KEEP_ALL };
    while (!play_is_over(play)) {
        step(play, run, &pass);
    }
}

/* --- padded batches --- */

/* The longest of a batch: all others are padded to it. */
static uint64_t padded_length(trace_play *play, const training *run, uint64_t multiple)
{
    uint64_t longest = 1;
    for (uint64_t i = 0; i < run->sequences; i++) {
        const uint64_t length = play_skewed(play, run->length, 250, 4096);
        longest = length > longest ? length : longest;
    }
    return (longest + multiple - 1) / multiple * multiple;
}

static void finetune(trace_play *play, void *state)
{
    training *const run = state;
    set_up(play, run);
    run->length = play_between(play, 150, 400); /* as instruction data has them */
    run->sequences = play_between(play, 2, 6);
    run->it.is_eager = false;
    const uint64_t multiple = play_chance(play, 500) ? 8 : 1;
    const trace_keep keep = play_chance(play, 700) ? TRACE_KEEP_OUTPUTS : TRACE_KEEP_ALL;
    while (!play_is_over(play)) {
        play_step(play);
        play_enter(play, &at_train_step);
        for (uint32_t micro = 0; micro < run->accumulated; micro++) {
            const uint64_t length = padded_length(play, run, multiple);
            const trace_pass pass = { run->sequences * length, length, keep };
            micro_step(play, run, &pass);
        }
        finish_step(play, run);
        play_leave(play, &at_train_step);
    }
}

/* --- evaluations --- */

/* What is predicted stays on the device, batch after batch, until it is all put together. */
static void evaluate(trace_play *play, training *run, uint64_t sequences, uint64_t batches)
{
    uint64_t rows = 0;
    play_enter(play, &at_evaluate);
    for (uint64_t i = 0; i < batches; i++) {
        const uint64_t count = i + 1 < batches ? sequences : play_between(play, 1, sequences);
        const uint64_t length = padded_length(play, run, 1);
        const trace_pass pass = { count * length, length, TRACE_KEEP_NOTHING };
        plim_addr inputs = play_take(play, pass.tokens * 8, &at_load_batch);
        transformer_forward(play, &run->it, &pass);
        plim_addr logits = play_take(play, pass.tokens * run->it.model.vocab * 2, &at_head);
        transformer_end_pass(play, &run->it);
        run->predictions[i] = play_take(play, pass.tokens * 8, &at_evaluate);
        play_drop(play, &logits);
        play_drop(play, &inputs);
        rows += pass.tokens;
    }
    play_touch(play, rows * 8, &at_evaluate);
    for (uint64_t i = 0; i < batches; i++) {
        play_drop(play, &run->predictions[i]);
    }
    play_leave(play, &at_evaluate);
}

static void train_and_evaluate(trace_play *play, void *state)
{
    training *const run = state;
    set_up(play, run);
    const trace_pass pass = { run->sequences * run->length, run->length, TRACE_KEEP_ALL };
    const uint64_t interval = play_between(play, 2, 8);
    const uint64_t batches = play_between(play, 4, 24);
    const bool empties_cache = play_chance(play, 500);
    while (!play_is_over(play)) {
        for (uint64_t i = 0; i < interval && !play_is_over(play); i++) {
            step(play, run, &pass);
        }
        const uint64_t length = run->length;
        run->length = length / 4; /* texts of their own, not packed to one length */
        evaluate(play, run, run->sequences * 2, batches);
        run->length = length;
        if (empties_cache) {
            play_empty_cache(play);
        }
    }
}

const trace_generator trace_training = { train, sizeof(training) };
const trace_generator trace_finetune = { finetune, sizeof(training) };
const trace_generator trace_evaluation = { train_and_evaluate, sizeof(training) };
