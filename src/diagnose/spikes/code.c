/*
 * code.c - what the stacks of a burst say: the modules it is made in, the line that calls them, the
 * cause that their names give away.
 */
#include "diagnose/spikes/parts.h"

#include "base/hash.h"
#include "stacks/frames.h"

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
        if (plim_group_owner(&one->view.grouper, frames.frames[i]) == PLIM_FRAME_USER) {
            return frames.frames[i];
        }
    }
    return PLIM_NONE;
}

/* The cause that a frame's technique gives away; the first that is found in a stack decides. */
static plim_cause cause_of_frame(const plim_case *one, uint32_t index)
{
    static const struct {
        plim_frame_technique technique;
        plim_cause cause;
    } causes[] = {
        { PLIM_TECHNIQUE_CROSS_ENTROPY, PLIM_CAUSE_LOGITS },
        { PLIM_TECHNIQUE_LOG_SOFTMAX, PLIM_CAUSE_LOGITS },
        { PLIM_TECHNIQUE_ATTENTION, PLIM_CAUSE_ATTENTION_SCORES },
        { PLIM_TECHNIQUE_GATHERING, PLIM_CAUSE_GATHERED_WEIGHTS },
    };
    const plim_frame *const frame = plim_history_frame(one->history, index);
    const plim_frame_technique technique =
        plim_frame_technique_of(plim_history_string(one->history, frame->filename, NULL),
                                plim_history_string(one->history, frame->name, NULL));
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if (causes[i].technique == technique) {
            return causes[i].cause;
        }
    }
    return PLIM_CAUSE_BURST;
}

static plim_cause cause_of_names(const plim_case *one, plim_stack frames)
{
    plim_cause cause = PLIM_CAUSE_BURST;
    for (uint32_t i = 0; i < frames.frame_count && cause == PLIM_CAUSE_BURST; i++) {
        cause = cause_of_frame(one, frames.frames[i]);
    }
    return cause;
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
    const uint32_t user = plim_group_user_frame(&one->view.grouper, stack);
    return named != PLIM_CAUSE_BURST || user == PLIM_NONE ? named
                                                          : cause_of_line(one, frames.frames[user]);
}
