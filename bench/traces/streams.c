/*
 * streams.c - sharded training: each device has a part of every weight, and a layer's are gathered
 * when it is their turn.
 *
 *   communication  gather 1 │ gather 2   │ gather 3 …        reduce …
 *   computation             │ forward 1  │ forward 2 …
 *
 * Gathered weights are memory of the communication stream that the computation uses, gradients the
 * reverse (as FSDP does, Zhao et al. 2023): frees wait for the other stream, and how long depends
 * on how far the program runs ahead of the device.
 */
#include "traces/programs.h"
#include "traces/transformer.h"

enum { DEVICES = 8, COMMUNICATION = 1, COPIES = 2 };

typedef struct sharded {
    trace_transformer it; /* without weights: they are shards */
    trace_weight shards[TRANSFORMER_LAYERS_MAX];
    plim_addr gathered[TRANSFORMER_LAYERS_MAX];
    uint64_t layer_numbers;
    uint32_t ahead; /* layers that are queued before the device is done with one */
    uint32_t launched;
} sharded;

static void set_up(trace_play *play, sharded *run)
{
    const trace_model model = transformer_choose(play, play_chance(play, 500));
    run->it.model = model;
    run->it.weight_bytes = 2;
    run->ahead = (uint32_t)play_between(play, 1, 6);
    run->layer_numbers = ((uint64_t)model.hidden * 2 + model.kv * 2 + model.ffn * 3) * model.hidden;
    play_enter(play, &at_setup);
    for (uint32_t layer = 0; layer < model.layers; layer++) {
        weight_load(play, &run->shards[layer], run->layer_numbers / DEVICES, 4);
    }
    play_leave(play, &at_setup);
}

/* The program launched a layer's work; now and then the device has caught up. */
static void launch(trace_play *play, sharded *run)
{
    run->launched++;
    if (run->launched % run->ahead == 0) {
        play_complete(play, 0);
        play_complete(play, play_stream(COMMUNICATION));
    }
}

static void gather(trace_play *play, sharded *run, uint32_t layer)
{
    if (layer >= run->it.model.layers || run->gathered[layer] != 0) {
        return;
    }
    const plim_stream before = play_on(play, play_stream(COMMUNICATION));
    play_enter(play, &at_all_gather);
    plim_addr shard = play_take(play, run->layer_numbers / DEVICES * 2, &at_all_gather);
    run->gathered[layer] = play_take(play, run->layer_numbers * 2, &at_all_gather);
    play_drop(play, &shard);
    play_leave(play, &at_all_gather);
    (void)play_on(play, before);
}

static void let_go(trace_play *play, sharded *run, uint32_t layer)
{
    play_use(play, run->gathered[layer], 0);
    play_drop(play, &run->gathered[layer]);
}

static void reduce(trace_play *play, sharded *run, uint32_t layer)
{
    play_enter(play, &at_reduce_scatter);
    plim_addr gradients = play_take(play, run->layer_numbers * 2, &at_reduce_scatter);
    const plim_stream before = play_on(play, play_stream(COMMUNICATION));
    plim_addr shard = play_take(play, run->layer_numbers / DEVICES * 2, &at_reduce_scatter);
    run->shards[layer].gradient =
        play_take(play, run->layer_numbers / DEVICES * 4, &at_reduce_scatter);
    (void)play_on(play, before);
    play_use(play, gradients, play_stream(COMMUNICATION));
    play_drop(play, &gradients);
    play_drop(play, &shard);
    play_leave(play, &at_reduce_scatter);
}

static void forward(trace_play *play, sharded *run, const trace_pass *pass)
{
    play_enter(play, &at_forward);
    transformer_embed(play, &run->it, pass);
    gather(play, run, 0);
    for (uint32_t layer = 0; layer < run->it.model.layers; layer++) {
        gather(play, run, layer + 1);
        transformer_ops(play, &run->it, pass, layer, 0, TRANSFORMER_OPS);
        if (layer + 1 < run->it.model.layers) { /* the last is needed again at once */
            let_go(play, run, layer);
        }
        launch(play, run);
    }
    transformer_loss(play, &run->it, pass);
    play_leave(play, &at_forward);
}

static void backward(trace_play *play, sharded *run, const trace_pass *pass)
{
    play_enter(play, &at_backward);
    transformer_loss_back(play, &run->it, pass);
    for (uint32_t layer = run->it.model.layers; layer-- > 0;) {
        gather(play, run, layer);
        if (layer > 0) {
            gather(play, run, layer - 1);
        }
        if (pass->keep == TRACE_KEEP_OUTPUTS) {
            const trace_pass again = { pass->tokens, pass->context, TRACE_KEEP_ALL };
            transformer_ops(play, &run->it, &again, layer, 0, TRANSFORMER_OP_RESIDUAL);
            transformer_end_pass(play, &run->it);
        }
        transformer_ops_back(play, &run->it, pass, layer, 0, TRANSFORMER_OPS);
        let_go(play, run, layer);
        reduce(play, run, layer);
        launch(play, run);
    }
    transformer_embed_back(play, &run->it, pass);
    play_leave(play, &at_backward);
}

/* A batch is copied on a stream of its own, and used on the computation's. */
static plim_addr load(trace_play *play, uint64_t tokens)
{
    const plim_stream before = play_on(play, play_stream(COPIES));
    const plim_addr batch = play_take(play, tokens * 16, &at_load_batch);
    (void)play_on(play, before);
    play_use(play, batch, 0);
    return batch;
}

static void run_streams(trace_play *play, void *state)
{
    sharded *const run = state;
    set_up(play, run);
    const uint64_t length = (uint64_t)1024 << play_draw(play, 3);
    const trace_pass pass = { length, length,
                              play_chance(play, 500) ? TRACE_KEEP_OUTPUTS : TRACE_KEEP_ALL };
    const bool is_foreach = play_chance(play, 500);
    while (!play_is_over(play)) {
        play_step(play);
        play_enter(play, &at_train_step);
        plim_addr batch = load(play, pass.tokens);
        forward(play, run, &pass);
        backward(play, run, &pass);
        play_drop(play, &batch);
        play_enter(play, &at_optimizer);
        weights_optimize(play, run->shards, run->it.model.layers, is_foreach);
        play_leave(play, &at_optimizer);
        weights_zero_grad(play, run->shards, run->it.model.layers);
        play_leave(play, &at_train_step);
    }
}

const trace_generator trace_streams = { run_streams, sizeof(sharded) };
