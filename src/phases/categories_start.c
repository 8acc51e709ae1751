/*
 * categories_start.c - see categories_start.h.
 *
 * Some have the stack of their block. Of the others, what the trace frees is judged by where it
 * does: activations die in backward, gradients with the optimizer. What is never freed and as
 * large as gradients are is a weight, and what there is of that size beyond one for each
 * gradient is the optimizer's. Which is which nothing tells, but the sums come out right.
 */
#include "phases/categories_start.h"

#include "plimsoll/phases.h"

void plim_pass_sizes_init(plim_pass_sizes *sizes, const plim_mem *mem)
{
    plim_map_init(&sizes->now, mem);
    plim_map_init(&sizes->most, mem);
}

void plim_pass_sizes_deinit(plim_pass_sizes *sizes)
{
    if (sizes->now.mem != NULL) {
        plim_map_deinit(&sizes->now);
        plim_map_deinit(&sizes->most);
    }
}

bool plim_pass_sizes_take(plim_pass_sizes *sizes, uint64_t bytes, uint32_t pass_end)
{
    const uint64_t before = plim_map_get(&sizes->now, bytes);
    const bool is_same = before != PLIM_MAP_ABSENT && before >> 32 == pass_end;
    const uint64_t count = is_same ? (before & UINT32_MAX) + 1 : 1;
    if (!plim_map_put(&sizes->now, bytes, (uint64_t)pass_end << 32 | count)) {
        return false;
    }
    const uint64_t most = plim_map_get(&sizes->most, bytes);
    return (most != PLIM_MAP_ABSENT && most >= count) || plim_map_put(&sizes->most, bytes, count);
}

plim_pass_kind plim_pass_kind_at(const plim_passes *passes, uint32_t event)
{
    size_t low = 0;
    size_t high = passes->list.count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (passes->list.items[middle].first <= event) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return passes->list.items[low].kind;
}

/* By the code that asked for it. */
static plim_category judge_stack(plim_stack_kind kind, bool is_forever)
{
    switch (kind) {
    case PLIM_STACK_USER_INIT:
    case PLIM_STACK_BUILD:
        return PLIM_CATEGORY_PARAMETERS;
    case PLIM_STACK_DATA:
        return PLIM_CATEGORY_INPUTS;
    case PLIM_STACK_FORWARD:
    case PLIM_STACK_RECOMPUTE:
        return is_forever ? PLIM_CATEGORY_OTHER : PLIM_CATEGORY_ACTIVATIONS;
    case PLIM_STACK_BACKWARD:
    case PLIM_STACK_BUCKETS:
    case PLIM_STACK_ZERO_GRAD:
        return PLIM_CATEGORY_GRADIENTS;
    case PLIM_STACK_OPTIMIZER_SETUP:
    case PLIM_STACK_OPTIMIZER_STATE:
    case PLIM_STACK_OPTIMIZER_STEP:
        return PLIM_CATEGORY_OPTIMIZER_STATE;
    case PLIM_STACK_NONE:
    case PLIM_STACK_USER:
    case PLIM_STACK_GRADIENT_TOOLS:
        break;
    }
    return PLIM_CATEGORY_OTHER;
}

/* Takes one of a size, as long as there are any. False: no memory. */
static bool use_up(plim_pass_sizes *sizes, uint64_t bytes, bool *ret_had)
{
    const uint64_t left = plim_map_get(&sizes->most, bytes);
    *ret_had = left != PLIM_MAP_ABSENT && left > 0;
    return !*ret_had || plim_map_put(&sizes->most, bytes, left - 1);
}

/* By where the trace frees it. In an optimizer's step gradients go, and states that it replaces:
 * those are as many of each size as it makes in later steps. */
static bool judge_end(const plim_passes *passes, plim_pass_sizes *replaced_states,
                      const plim_allocation *one, plim_category *ret_category)
{
    *ret_category = PLIM_CATEGORY_OTHER;
    bool is_state = false;
    switch (plim_pass_kind_at(passes, (uint32_t)one->freed)) {
    case PLIM_PASS_BACKWARD:
    case PLIM_PASS_RECOMPUTE:
        *ret_category = PLIM_CATEGORY_ACTIVATIONS;
        return true;
    case PLIM_PASS_OPTIMIZER:
        if (!use_up(replaced_states, one->requested_bytes, &is_state)) {
            return false;
        }
        *ret_category = is_state ? PLIM_CATEGORY_OPTIMIZER_STATE : PLIM_CATEGORY_GRADIENTS;
        return true;
    case PLIM_PASS_SETUP:
    case PLIM_PASS_BETWEEN:
    case PLIM_PASS_FORWARD:
        break;
    }
    return true;
}

/* By its size alone. */
static bool judge_size(const plim_passes *passes, plim_pass_sizes *gradients, uint64_t bytes,
                       plim_category *ret_category)
{
    *ret_category = PLIM_CATEGORY_OTHER;
    if (!passes->has_backward) { /* inference: what stays is the model */
        *ret_category = passes->has_forward ? PLIM_CATEGORY_PARAMETERS : PLIM_CATEGORY_OTHER;
        return true;
    }
    const uint64_t left = plim_map_get(&gradients->most, bytes);
    if (left == PLIM_MAP_ABSENT) {
        return true;
    }
    if (left == 0) {
        *ret_category = passes->has_optimizer ? PLIM_CATEGORY_OPTIMIZER_STATE : PLIM_CATEGORY_OTHER;
        return true;
    }
    *ret_category = PLIM_CATEGORY_PARAMETERS;
    return plim_map_put(&gradients->most, bytes, left - 1);
}

static bool judge(const plim_allocation *one, const plim_passes *passes, plim_leftovers *left,
                  plim_category *ret_category)
{
    const plim_stack_kind kind =
        one->is_stack_of_free ? PLIM_STACK_NONE : plim_stack_kind_of(&passes->stacks, one->stack);
    const bool is_forever = one->freed == PLIM_NEVER;
    if (kind != PLIM_STACK_NONE) {
        *ret_category = judge_stack(kind, is_forever);
        return true;
    }
    return is_forever ? judge_size(passes, &left->gradients, one->requested_bytes, ret_category)
                      : judge_end(passes, &left->replaced_states, one, ret_category);
}

bool plim_categories_of_start(uint8_t *of, const plim_timeline *timeline, const plim_passes *passes,
                              plim_leftovers *left)
{
    plim_live live = plim_timeline_live(timeline, PLIM_AT_START, false);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        plim_category category = PLIM_CATEGORY_OTHER;
        if (!judge(&one, passes, left, &category)) {
            return false;
        }
        of[one.id] = (uint8_t)category;
    }
    return true;
}
