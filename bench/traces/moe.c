/*
 * moe.c - a mixture of experts, trained with the experts spread over several devices: this one has
 * some of each layer's, and gets the tokens that all of them route there.
 *
 * How many that are changes with each layer and step: an expert's share is log-normal and drifts,
 * which is what a router does that is not perfectly balanced (Shazeer et al. 2017; Fedus et al.
 * 2022 give each expert room for 1 to 1.25 times the mean because of it).
 */
#include "traces/programs.h"
#include "traces/transformer.h"

enum { LAYERS = 16, EXPERTS_HERE = 8, PRODUCTS = 3, EVEN_SHARE = 256 };

/* OLMoE's widths (Muennighoff et al. 2024): 64 experts, 8 for each token, over 8 devices. */
static const trace_model olmoe = { "olmoe-1b-7b", LAYERS, 2048, 2048, 16, 1024, 50304 };
enum { EXPERTS = 64, CHOSEN = 8 };

typedef struct expert {
    trace_weight weights[PRODUCTS];
    uint64_t share;  /* of the tokens; EVEN_SHARE: its even one */
    uint64_t tokens; /* in this step */
    plim_addr kept[5];
} expert;

typedef struct mixture {
    trace_transformer it;
    expert experts[LAYERS][EXPERTS_HERE];
    trace_weight routers[LAYERS];
    plim_addr routed[LAYERS][4];
} mixture;

static uint64_t width_of(unsigned kept)
{
    return kept == 0 ? olmoe.hidden : olmoe.ffn;
}

static void set_up(trace_play *play, mixture *run)
{
    run->it.model = olmoe;
    run->it.weight_bytes = 2;
    run->it.is_foreach = play_chance(play, 500);
    play_enter(play, &at_setup);
    transformer_load(play, &run->it, false);
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        weight_load(play, &run->routers[layer], (uint64_t)olmoe.hidden * EXPERTS, 2);
        for (unsigned e = 0; e < EXPERTS_HERE; e++) {
            for (unsigned i = 0; i < PRODUCTS; i++) {
                weight_load(play, &run->experts[layer][e].weights[i],
                            (uint64_t)olmoe.hidden * olmoe.ffn, 2);
            }
            run->experts[layer][e].share = play_skewed(play, EVEN_SHARE, 200, 8 * EVEN_SHARE);
        }
    }
    play_leave(play, &at_setup);
}

/* Where this step's tokens go. */
static void route(trace_play *play, mixture *run, uint64_t tokens)
{
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        for (unsigned e = 0; e < EXPERTS_HERE; e++) {
            expert *const it = &run->experts[layer][e];
            if (play_chance(play, 20)) { /* drift */
                it->share = play_skewed(play, EVEN_SHARE, 200, 8 * EVEN_SHARE);
            }
            /* The tokens of all devices together have `CHOSEN` experts each; on average this
             * device's experts get as many as it has itself. */
            const uint64_t even = tokens * CHOSEN / EXPERTS_HERE;
            it->tokens = even * it->share / EVEN_SHARE * play_between(play, 205, 307) / 256;
        }
    }
}

static void expert_forward(trace_play *play, expert *it)
{
    it->kept[0] = play_take(play, it->tokens * olmoe.hidden * 2, &at_dispatch);
    for (unsigned i = 1; i < 5; i++) { /* gate, up, activation, product */
        it->kept[i] = play_take(play, it->tokens * olmoe.ffn * 2, &at_expert);
    }
    plim_addr down = play_take(play, it->tokens * olmoe.hidden * 2, &at_expert);
    play_touch(play, it->tokens * olmoe.hidden * 2, &at_combine);
    play_drop(play, &down);
}

static void experts_forward(trace_play *play, mixture *run, unsigned layer, uint64_t tokens)
{
    plim_addr *const routed = run->routed[layer];
    routed[0] = play_take(play, tokens * EXPERTS * 4, &at_router);
    routed[1] = play_take(play, tokens * CHOSEN * 4, &at_topk);
    routed[2] = play_take(play, tokens * CHOSEN * 8, &at_topk);
    play_touch(play, tokens * CHOSEN * 8, &at_dispatch); /* sorted by expert */
    routed[3] = play_take(play, tokens * olmoe.hidden * 2, &at_combine);
    for (unsigned e = 0; e < EXPERTS_HERE; e++) {
        expert_forward(play, &run->experts[layer][e]);
    }
}

static void expert_backward(trace_play *play, expert *it)
{
    plim_addr flowing = play_take(play, it->tokens * olmoe.hidden * 2, &at_combine);
    for (unsigned i = 5; i-- > 0;) {
        plim_addr gradient = play_take(play, it->tokens * width_of(i) * 2, &at_expert);
        if (i < PRODUCTS) {
            weight_grad(play, &it->weights[i], 2);
        }
        play_drop(play, &flowing);
        flowing = gradient;
        play_drop(play, &it->kept[i]);
    }
    play_drop(play, &flowing);
}

static void experts_backward(trace_play *play, mixture *run, unsigned layer, uint64_t tokens)
{
    plim_addr gathered = play_take(play, tokens * olmoe.hidden * 2, &at_dispatch);
    for (unsigned e = EXPERTS_HERE; e-- > 0;) {
        expert_backward(play, &run->experts[layer][e]);
    }
    weight_grad(play, &run->routers[layer], 2);
    for (unsigned i = 4; i-- > 0;) {
        play_drop(play, &run->routed[layer][i]);
    }
    play_drop(play, &run->it.flowing);
    run->it.flowing = gathered;
}

static void forward(trace_play *play, mixture *run, const trace_pass *pass)
{
    play_enter(play, &at_forward);
    transformer_embed(play, &run->it, pass);
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        transformer_ops(play, &run->it, pass, layer, 0, TRANSFORMER_OP_GATE);
        play_enter(play, &at_block);
        experts_forward(play, run, layer, pass->tokens);
        play_leave(play, &at_block);
        transformer_ops(play, &run->it, pass, layer, TRANSFORMER_OP_RESIDUAL, TRANSFORMER_OPS);
    }
    transformer_loss(play, &run->it, pass);
    play_leave(play, &at_forward);
}

static void backward(trace_play *play, mixture *run, const trace_pass *pass)
{
    play_enter(play, &at_backward);
    transformer_loss_back(play, &run->it, pass);
    for (unsigned layer = LAYERS; layer-- > 0;) {
        transformer_ops_back(play, &run->it, pass, layer, TRANSFORMER_OP_RESIDUAL, TRANSFORMER_OPS);
        experts_backward(play, run, layer, pass->tokens);
        transformer_ops_back(play, &run->it, pass, layer, 0, TRANSFORMER_OP_GATE);
    }
    transformer_embed_back(play, &run->it, pass);
    play_leave(play, &at_backward);
}

static void optimize(trace_play *play, mixture *run)
{
    play_enter(play, &at_optimizer);
    transformer_optimize(play, &run->it);
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        weights_optimize(play, &run->routers[layer], 1, run->it.is_foreach);
        for (unsigned e = 0; e < EXPERTS_HERE; e++) {
            weights_optimize(play, run->experts[layer][e].weights, PRODUCTS, run->it.is_foreach);
            weights_zero_grad(play, run->experts[layer][e].weights, PRODUCTS);
        }
        weights_zero_grad(play, &run->routers[layer], 1);
    }
    transformer_zero_grad(play, &run->it);
    play_leave(play, &at_optimizer);
}

static void run_moe(trace_play *play, void *state)
{
    mixture *const run = state;
    set_up(play, run);
    const uint64_t length = (uint64_t)1024 << play_draw(play, 2);
    const trace_pass pass = { length * play_between(play, 1, 2), length, TRACE_KEEP_ALL };
    while (!play_is_over(play)) {
        play_step(play);
        play_enter(play, &at_train_step);
        route(play, run, pass.tokens);
        plim_addr inputs = play_take(play, pass.tokens * 8, &at_load_batch);
        forward(play, run, &pass);
        backward(play, run, &pass);
        play_drop(play, &inputs);
        optimize(play, run);
        play_leave(play, &at_train_step);
    }
}

const trace_generator trace_moe = { run_moe, sizeof(mixture) };
