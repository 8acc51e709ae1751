/*
 * code.c - what the stacks of a burst say: the modules it is made in, the line that calls them, the
 * cause that their names give away.
 */
#include "diagnose/spikes/parts.h"

#include "base/hash.h"

#include <string.h>

/* The level of the outermost call of a module, or PLIM_NONE. */
static uint32_t outermost_call(const plim_case *one, plim_stack frames)
{
    for (uint32_t i = frames.frame_count; i-- > 0;) {
        if (plim_frame_is_module_call(&one->passes.stacks, frames.frames[i])) {
            return i;
        }
    }
    return PLIM_NONE;
}

uint64_t plim_module_path(const plim_case *one, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    const uint32_t outermost = outermost_call(one, frames);
    uint64_t path = 0;
    for (uint32_t i = 0; outermost != PLIM_NONE && i <= outermost; i++) {
        if (plim_frame_is_python(&one->passes.stacks, frames.frames[i])) {
            path = plim_hash_u64(path ^ frames.frames[i], UINT64_C(0x9e3779b97f4a7c15));
        }
    }
    return path;
}

uint32_t plim_model_call(plim_case *one, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    const uint32_t outermost = outermost_call(one, frames);
    for (uint32_t i = outermost == PLIM_NONE ? 0 : outermost + 1; i < frames.frame_count; i++) {
        if (plim_group_owner(&one->grouper, frames.frames[i]) == PLIM_FRAME_USER) {
            return frames.frames[i];
        }
    }
    return PLIM_NONE;
}

/* Functions whose own tensors are these; the first that is found in a stack decides. */
static const struct {
    const char *name;
    plim_cause cause;
} words[] = {
    { "cross_entropy", PLIM_CAUSE_LOGITS },
    { "nll_loss", PLIM_CAUSE_LOGITS },
    { "log_softmax", PLIM_CAUSE_LOGITS },
    { "ForCausalLMLoss", PLIM_CAUSE_LOGITS },
    { "fixed_cross_entropy", PLIM_CAUSE_LOGITS },
    { "kl_div", PLIM_CAUSE_LOGITS },
    { "scaled_dot_product_attention", PLIM_CAUSE_ATTENTION_SCORES },
    { "multi_head_attention_forward", PLIM_CAUSE_ATTENTION_SCORES },
    { "eager_attention_forward", PLIM_CAUSE_ATTENTION_SCORES },
    { "all_gather_into_tensor", PLIM_CAUSE_GATHERED_WEIGHTS },
    { "_all_gather_base", PLIM_CAUSE_GATHERED_WEIGHTS },
    { "all_gather", PLIM_CAUSE_GATHERED_WEIGHTS },
    { "_unshard", PLIM_CAUSE_GATHERED_WEIGHTS },
    { "unshard", PLIM_CAUSE_GATHERED_WEIGHTS },
    { "summon_full_params", PLIM_CAUSE_GATHERED_WEIGHTS },
};

static plim_cause cause_of_names(const plim_case *one, plim_stack frames)
{
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        const plim_frame *const frame = plim_history_frame(one->history, frames.frames[i]);
        const char *const name = plim_history_string(one->history, frame->name, NULL);
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
            if (strcmp(name, words[w].name) == 0) {
                return words[w].cause;
            }
        }
    }
    return PLIM_CAUSE_BURST;
}

/* A statement makes several allocations: some stacks of its line may say more than others. */
static plim_cause cause_of_line(const plim_case *one, uint32_t frame)
{
    const uint32_t count = plim_history_stack_count(one->history);
    for (uint32_t i = 0; i < count; i++) {
        const plim_stack frames = plim_history_stack(one->history, i);
        bool has_frame = false;
        for (uint32_t j = 0; j < frames.frame_count && !has_frame; j++) {
            has_frame = frames.frames[j] == frame;
        }
        const plim_cause cause = has_frame ? cause_of_names(one, frames) : PLIM_CAUSE_BURST;
        if (cause != PLIM_CAUSE_BURST) {
            return cause;
        }
    }
    return PLIM_CAUSE_BURST;
}

plim_cause plim_burst_cause(plim_case *one, uint32_t stack)
{
    const plim_stack_kind kind = plim_stack_kind_of(&one->passes.stacks, stack);
    if (kind == PLIM_STACK_OPTIMIZER_STEP || kind == PLIM_STACK_OPTIMIZER_STATE) {
        return PLIM_CAUSE_OPTIMIZER_TEMPORARIES;
    }
    const plim_stack frames = plim_history_stack(one->history, stack);
    const plim_cause named = cause_of_names(one, frames);
    const uint32_t user = plim_group_user_frame(&one->grouper, stack);
    return named != PLIM_CAUSE_BURST || user == PLIM_NONE ? named
                                                          : cause_of_line(one, frames.frames[user]);
}
