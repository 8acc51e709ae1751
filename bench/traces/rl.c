/*
 * rl.c - reinforcement learning of a language model: rollout and training take turns on the same
 * device.
 *
 * A rollout has a pool for keys and values that training has no room for: it comes and goes, as in
 * vLLM's sleep mode, and the cache is emptied in between where the program is careful. Answers
 * have other lengths in every round, so training has other shapes in every round.
 */
#include "traces/programs.h"
#include "traces/transformer.h"

enum { ANSWERS_MAX = 64, ANSWER_TOKENS_MAX = 2048 };

typedef struct policy {
    trace_transformer it;
    plim_addr reference[TRANSFORMER_LAYERS_MAX]; /* the frozen model, a tensor a layer */
    plim_addr pools[TRANSFORMER_LAYERS_MAX];
    uint64_t answers;
    uint64_t length[ANSWERS_MAX];
    uint64_t prompt;
    uint64_t micro_tokens; /* answers are packed to about as many */
    bool is_careful;       /* empties the cache between rollout and training */
} policy;

static void set_up(trace_play *play, policy *run)
{
    trace_transformer *const it = &run->it;
    it->model = transformer_choose(play, false);
    it->weight_bytes = 2;
    it->is_foreach = play_chance(play, 500);
    run->answers = 8u << play_draw(play, 4);
    run->micro_tokens = it->model.vocab > 100000 ? 4096 : 8192;
    run->is_careful = play_chance(play, 600);
    play_enter(play, &at_setup);
    transformer_load(play, it, true);
    for (uint32_t layer = 0; layer < it->model.layers; layer++) {
        run->reference[layer] =
            play_take(play,
                      ((uint64_t)it->model.hidden * 2 + it->model.kv * 2 + it->model.ffn * 3) *
                          it->model.hidden * 2,
                      &at_parameter);
    }
    play_leave(play, &at_setup);
}

/* Tokens are drawn until the longest answer is done; layers run in captured graphs. */
static void rollout(trace_play *play, policy *run)
{
    trace_transformer *const it = &run->it;
    uint64_t longest = 1;
    run->prompt = play_skewed(play, 200, 150, 1024);
    for (uint64_t i = 0; i < run->answers; i++) {
        run->length[i] = play_skewed(play, 350, 220, ANSWER_TOKENS_MAX);
        longest = run->length[i] > longest ? run->length[i] : longest;
    }
    play_enter(play, &at_rollout);
    for (uint32_t layer = 0; layer < it->model.layers; layer++) {
        run->pools[layer] =
            play_take(play, run->answers * ANSWER_TOKENS_MAX * it->model.kv * 2 * 2, &at_kv_pool);
    }
    const trace_pass prefill = { run->answers * run->prompt, run->prompt, TRACE_KEEP_NOTHING };
    transformer_forward(play, it, &prefill);
    transformer_end_pass(play, it);
    for (uint64_t token = 0; token < longest && !play_is_over(play); token++) {
        uint64_t running = 0;
        for (uint64_t i = 0; i < run->answers; i++) {
            running += run->length[i] > token;
        }
        play_touch(play, running * 8, &at_inputs);
        transformer_sample(play, it, running);
    }
    for (uint32_t layer = 0; layer < it->model.layers; layer++) {
        play_drop(play, &run->pools[layer]);
    }
    play_leave(play, &at_rollout);
}

/* The number of answers, from the `first`th on, in a micro-batch; their tokens. */
static uint64_t packed(const policy *run, uint64_t first, uint64_t *ret_tokens)
{
    uint64_t count = 0;
    *ret_tokens = 0;
    while (first + count < run->answers &&
           (count == 0 ||
            *ret_tokens + run->prompt + run->length[first + count] <= run->micro_tokens)) {
        *ret_tokens += run->prompt + run->length[first + count];
        count++;
    }
    return count;
}

/* What the policy and the frozen model say of each token. */
static void logprobs(trace_play *play, policy *run, plim_addr kept[2][ANSWERS_MAX])
{
    play_enter(play, &at_logprobs);
    for (unsigned model = 0; model < 2; model++) {
        uint64_t tokens = 0;
        for (uint64_t i = 0; i < run->answers; i += packed(run, i, &tokens)) {
            (void)packed(run, i, &tokens);
            const trace_pass pass = { tokens, tokens, TRACE_KEEP_NOTHING };
            transformer_forward(play, &run->it, &pass);
            plim_addr half = play_take(play, tokens * run->it.model.vocab * 2, &at_head);
            play_touch(play, tokens * run->it.model.vocab * 4, &at_loss);
            play_drop(play, &half);
            transformer_end_pass(play, &run->it);
            kept[model][i] = play_take(play, tokens * 4, &at_logprobs);
        }
    }
    play_leave(play, &at_logprobs);
}

static void learn(trace_play *play, policy *run)
{
    plim_addr kept[2][ANSWERS_MAX] = { { 0 } };
    logprobs(play, run, kept);
    play_touch(play, run->answers * ANSWER_TOKENS_MAX * 4, &at_advantage);
    play_enter(play, &at_train_step);
    uint64_t tokens = 0;
    for (uint64_t i = 0; i < run->answers; i += packed(run, i, &tokens)) {
        (void)packed(run, i, &tokens);
        const trace_pass pass = { tokens, tokens, TRACE_KEEP_OUTPUTS };
        transformer_forward(play, &run->it, &pass);
        transformer_backward(play, &run->it, &pass);
        play_drop(play, &kept[0][i]);
        play_drop(play, &kept[1][i]);
    }
    play_enter(play, &at_optimizer);
    transformer_optimize(play, &run->it);
    play_leave(play, &at_optimizer);
    transformer_zero_grad(play, &run->it);
    play_leave(play, &at_train_step);
}

/* Weights go to the engine in buckets. */
static void sync_weights(trace_play *play, const policy *run)
{
    for (uint32_t layer = 0; layer < run->it.model.layers; layer += 4) {
        play_touch(play, (uint64_t)256 << 20, &at_sync_weights);
    }
}

static void run_rl(trace_play *play, void *state)
{
    policy *const run = state;
    set_up(play, run);
    while (!play_is_over(play)) {
        play_step(play);
        rollout(play, run);
        if (run->is_careful) {
            play_empty_cache(play);
        }
        learn(play, run);
        sync_weights(play, run);
        if (run->is_careful) {
            play_empty_cache(play);
        }
    }
}

const trace_generator trace_rl = { run_rl, sizeof(policy) };
