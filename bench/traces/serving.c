/*
 * serving.c - an LLM answers requests: from one pool of pages, or with caches that grow.
 *
 * Lengths of prompts and answers are log-normal, about those of chats (vLLM's paper has means of
 * 161 and 338 tokens for ShareGPT); requests come at random, as many in a step as a Poisson
 * process brings.
 */
#include "traces/programs.h"
#include "traces/transformer.h"

enum { RUNNING_MAX = 256, BUDGET_TOKENS = 8192, PAGE_TOKENS = 16, CONTEXT_MAX = 8192 };

static uint64_t prompt_tokens(trace_play *play)
{
    return play_skewed(play, 110, 300, CONTEXT_MAX / 2);
}

static uint64_t answer_tokens(trace_play *play)
{
    return play_skewed(play, 240, 220, CONTEXT_MAX / 2);
}

/* The number that come within one step: each of a few may. */
static uint64_t arrivals(trace_play *play, uint64_t per_mille)
{
    uint64_t count = 0;
    while (count < 8 && play_chance(play, per_mille)) {
        count++;
    }
    return count;
}

/* --- one pool of pages --- */

typedef struct paged {
    trace_transformer it;
    plim_addr pools[TRANSFORMER_LAYERS_MAX];
    uint64_t left[RUNNING_MAX]; /* tokens each request still wants */
    uint64_t running;
    uint64_t waiting_tokens; /* of prompts that wait for the step's budget */
    uint64_t rate;           /* per mille */
} paged;

static void model_pass(trace_play *play, trace_transformer *it, uint64_t tokens, uint64_t rows)
{
    const trace_pass pass = { tokens, CONTEXT_MAX, TRACE_KEEP_NOTHING };
    transformer_forward(play, it, &pass);
    plim_addr last = play_take(play, rows * it->model.hidden * 2, &at_logits);
    transformer_end_pass(play, it);
    transformer_sample(play, it, rows);
    play_drop(play, &last);
}

/* As vLLM begins: weights, the largest step there can be, and all the rest is for the pool. */
static void start_engine(trace_play *play, paged *run)
{
    trace_transformer *const it = &run->it;
    it->model = transformer_choose(play, true);
    it->weight_bytes = 2;
    run->rate = play_between(play, 100, 500);
    play_enter(play, &at_setup);
    transformer_load(play, it, true);
    play_leave(play, &at_setup);
    play_enter(play, &at_profile_run);
    model_pass(play, it, BUDGET_TOKENS, RUNNING_MAX);
    play_leave(play, &at_profile_run);
    play_empty_cache(play);
    const uint64_t pool_bytes = play_between(play, 8, 40) << 30;
    const uint64_t page_bytes = (uint64_t)it->model.kv * 2 * 2 * PAGE_TOKENS;
    const uint64_t pages = pool_bytes / it->model.layers / page_bytes;
    for (uint32_t layer = 0; layer < it->model.layers; layer++) {
        run->pools[layer] = play_take(play, pages * page_bytes, &at_kv_pool);
    }
}

/* Batches of single tokens are padded to the sizes graphs were captured for. */
static uint64_t padded(uint64_t tokens)
{
    if (tokens <= 4) {
        return tokens == 3 ? 4 : tokens;
    }
    return (tokens + 7) / 8 * 8;
}

static void answer(trace_play *play, paged *run)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < run->running; i++) {
        if (run->left[i] > 1) {
            run->left[kept] = run->left[i] - 1;
            kept++;
        }
    }
    run->running = kept;
    for (uint64_t n = arrivals(play, run->rate); n > 0 && run->running < RUNNING_MAX; n--) {
        run->waiting_tokens += prompt_tokens(play);
        run->left[run->running] = answer_tokens(play);
        run->running++;
    }
    const uint64_t room = BUDGET_TOKENS - run->running;
    const uint64_t chunk = run->waiting_tokens < room ? run->waiting_tokens : room;
    run->waiting_tokens -= chunk;
    const uint64_t tokens = chunk > 0 ? chunk + run->running : padded(run->running);
    if (tokens == 0) {
        return;
    }
    plim_addr inputs[4];
    const uint64_t bytes[] = { tokens * 8, tokens * 8, tokens * 4,
                               run->running * (CONTEXT_MAX / PAGE_TOKENS) * 4 };
    for (unsigned i = 0; i < 4; i++) {
        inputs[i] = play_take(play, bytes[i], &at_inputs);
    }
    model_pass(play, &run->it, tokens, run->running);
    for (unsigned i = 0; i < 4; i++) {
        play_drop(play, &inputs[i]);
    }
}

static void run_paged(trace_play *play, void *state)
{
    paged *const run = state;
    play_enter(play, &at_serve);
    start_engine(play, run);
    while (!play_is_over(play)) {
        play_step(play);
        answer(play, run);
    }
    play_leave(play, &at_serve);
}

/* --- caches that grow --- */

enum { CHATS_MAX = 24 };

typedef struct chat {
    plim_addr keys[TRANSFORMER_LAYERS_MAX];
    plim_addr values[TRANSFORMER_LAYERS_MAX];
    uint64_t length; /* tokens in the cache; 0: nobody is here */
    uint64_t left;
} chat;

typedef struct contiguous {
    trace_transformer it;
    chat chats[CHATS_MAX];
    uint64_t rate;
    bool repeats; /* keys for each head of the queries are spelt out for attention */
} contiguous;

/* A cache is concatenated with the new tokens: another tensor, a little longer. */
static void grow(trace_play *play, plim_addr *cache, uint64_t bytes)
{
    plim_addr grown = play_take(play, bytes, &at_kv_grow);
    play_drop(play, cache);
    *cache = grown;
}

static void pass_chat(trace_play *play, contiguous *run, chat *with, uint64_t tokens)
{
    trace_transformer *const it = &run->it;
    const trace_pass pass = { tokens, with->length, TRACE_KEEP_NOTHING };
    with->length += tokens;
    play_enter(play, &at_forward);
    transformer_embed(play, it, &pass);
    for (uint32_t layer = 0; layer < it->model.layers; layer++) {
        transformer_ops(play, it, &pass, layer, 0, TRANSFORMER_OP_SDPA);
        grow(play, &with->keys[layer], with->length * it->model.kv * 2);
        grow(play, &with->values[layer], with->length * it->model.kv * 2);
        plim_addr repeated[2] = { 0 };
        for (unsigned i = 0; i < 2 && run->repeats; i++) {
            repeated[i] = play_take(play, with->length * it->model.hidden * 2, &at_kv_grow);
        }
        transformer_ops(play, it, &pass, layer, TRANSFORMER_OP_SDPA, TRANSFORMER_OPS);
        play_drop(play, &repeated[0]);
        play_drop(play, &repeated[1]);
    }
    transformer_end_pass(play, it);
    play_leave(play, &at_forward);
    transformer_sample(play, it, 1);
}

static void end_chat(trace_play *play, contiguous *run, chat *with)
{
    for (uint32_t layer = 0; layer < run->it.model.layers; layer++) {
        play_drop(play, &with->keys[layer]);
        play_drop(play, &with->values[layer]);
    }
    with->length = 0;
}

static void begin_chats(trace_play *play, contiguous *run)
{
    uint64_t coming = arrivals(play, run->rate);
    for (size_t i = 0; i < CHATS_MAX && coming > 0; i++) {
        if (run->chats[i].length == 0) {
            run->chats[i].left = answer_tokens(play);
            pass_chat(play, run, &run->chats[i], prompt_tokens(play));
            coming--;
        }
    }
}

static void run_contiguous(trace_play *play, void *state)
{
    contiguous *const run = state;
    trace_transformer *const it = &run->it;
    it->model = transformer_choose(play, true);
    it->weight_bytes = 2;
    it->is_eager = play_chance(play, 300);
    run->repeats = it->model.kv < it->model.hidden && play_chance(play, 600);
    run->rate = play_between(play, 8, 60);
    play_enter(play, &at_setup);
    transformer_load(play, it, true);
    play_leave(play, &at_setup);
    play_enter(play, &at_generate);
    while (!play_is_over(play)) {
        play_step(play);
        begin_chats(play, run);
        for (size_t i = 0; i < CHATS_MAX; i++) {
            chat *const with = &run->chats[i];
            if (with->length > 0 && with->left > 0) {
                pass_chat(play, run, with, 1);
                with->left--;
            }
            if (with->length > 0 && with->left == 0) {
                end_chat(play, run, with);
            }
        }
    }
    play_leave(play, &at_generate);
}

const trace_generator trace_paged = { run_paged, sizeof(paged) };
const trace_generator trace_contiguous = { run_contiguous, sizeof(contiguous) };
