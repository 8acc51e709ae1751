/*
 * graphs.c - graphs are captured, each for a size of batch, into private pools; replaying one asks
 * for nothing, and what is left is work around it.
 *
 * All graphs may share one pool (as serving engines do), or each has its own (as compiled training
 * does). Some are thrown away and captured anew for another size, as recompilation does.
 */
#include "traces/programs.h"
#include "traces/transformer.h"

enum { GRAPHS = 12, CAPTURE_STREAM = 3 };

typedef struct graph {
    plim_pool_id pool;
    plim_addr input;
    plim_addr output;
    uint64_t tokens; /* 0: none */
} graph;

typedef struct captured {
    trace_transformer it;
    graph graphs[GRAPHS];
    plim_pool_id shared;
    bool is_shared;
    bool empties_cache;
} captured;

static void capture(trace_play *play, captured *run, graph *it, uint64_t tokens)
{
    const trace_pass pass = { tokens, tokens, TRACE_KEEP_NOTHING };
    it->tokens = tokens;
    it->pool = run->is_shared ? run->shared : play_pool_new(play);
    play_enter(play, &at_capture);
    it->input = play_take(play, tokens * 8, &at_inputs);
    transformer_forward(play, &run->it, &pass); /* once before, so that all lazy work is done */
    transformer_end_pass(play, &run->it);
    const plim_stream before = play_on(play, play_stream(CAPTURE_STREAM));
    play_pool_begin(play, it->pool);
    transformer_forward(play, &run->it, &pass);
    it->output = play_take(play, tokens * run->it.model.hidden * 2, &at_logits);
    transformer_end_pass(play, &run->it);
    play_pool_end(play, it->pool);
    (void)play_on(play, before);
    play_leave(play, &at_capture);
}

static void throw_away(trace_play *play, captured *run, graph *it)
{
    play_drop(play, &it->input);
    play_drop(play, &it->output);
    play_pool_release(play, it->pool);
    if (run->empties_cache) {
        play_empty_cache(play);
    }
    it->tokens = 0;
}

static void replay(trace_play *play, captured *run, const graph *it)
{
    plim_addr inputs = play_take(play, it->tokens * 8, &at_inputs);
    play_touch(play, it->tokens * 4, &at_inputs);
    transformer_sample(play, &run->it, it->tokens < 64 ? it->tokens : 64);
    play_drop(play, &inputs);
    if (play_chance(play, 30)) { /* a size nothing was captured for: runs as it comes */
        const uint64_t tokens = play_between(play, 64, 2048);
        const trace_pass pass = { tokens, tokens, TRACE_KEEP_NOTHING };
        transformer_forward(play, &run->it, &pass);
        transformer_end_pass(play, &run->it);
    }
}

static void run_graphs(trace_play *play, void *state)
{
    captured *const run = state;
    run->it.model = transformer_choose(play, true);
    run->it.weight_bytes = 2;
    run->is_shared = play_chance(play, 500);
    run->empties_cache = play_chance(play, 500);
    run->shared = play_pool_new(play);
    play_enter(play, &at_setup);
    transformer_load(play, &run->it, true);
    play_leave(play, &at_setup);
    for (unsigned i = 0; i < GRAPHS; i++) { /* the largest first, so that others fit into it */
        capture(play, run, &run->graphs[i], (uint64_t)(GRAPHS - i) * 64);
    }
    while (!play_is_over(play)) {
        play_step(play);
        play_enter(play, &at_serve);
        replay(play, run, &run->graphs[play_draw(play, GRAPHS)]);
        if (play_chance(play, 4)) {
            graph *const old = &run->graphs[play_draw(play, GRAPHS)];
            throw_away(play, run, old);
            capture(play, run, old, play_between(play, 1, 96) * 8);
        }
        play_leave(play, &at_serve);
    }
}

const trace_generator trace_graphs = { run_graphs, sizeof(captured) };
