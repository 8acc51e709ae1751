/*
 * categories_rules.c - see categories_rules.h; docs/design/phases.md argues for each rule.
 */
#include "phases/categories_rules.h"

/* --- evidence --- */

bool plim_category_evidence_init(plim_category_evidence *evidence, size_t stack_count,
                                 const plim_mem *mem)
{
    *evidence = (plim_category_evidence){ .mem = mem, .stack_count = stack_count };
    plim_map_init(&evidence->built_bytes, mem);
    plim_map_init(&evidence->left_bytes, mem);
    evidence->kept_in_pass = plim_mem_alloc_zeroed(mem, stack_count + 1, sizeof(uint32_t));
    evidence->kept_often = plim_mem_alloc_zeroed(mem, stack_count + 1, 1);
    evidence->is_input = plim_mem_alloc_zeroed(mem, stack_count + 1, 1);
    return evidence->kept_in_pass != NULL && evidence->kept_often != NULL &&
           evidence->is_input != NULL;
}

void plim_category_evidence_deinit(plim_category_evidence *evidence)
{
    if (evidence->mem == NULL) {
        return;
    }
    plim_map_deinit(&evidence->built_bytes);
    plim_map_deinit(&evidence->left_bytes);
    plim_mem_free(evidence->mem, evidence->kept_in_pass, evidence->stack_count + 1,
                  sizeof(uint32_t));
    plim_mem_free(evidence->mem, evidence->kept_often, evidence->stack_count + 1, 1);
    plim_mem_free(evidence->mem, evidence->is_input, evidence->stack_count + 1, 1);
    *evidence = (plim_category_evidence){ 0 };
}

static plim_stack_kind kind_of(const plim_passes *passes, const plim_life *life)
{
    return plim_stack_kind_of(&passes->stacks, life->stack);
}

/* True if it is still there at an event; the recording's end is one that some things outlive. */
static bool lives_at(const plim_life *life, uint32_t event)
{
    return life->ended == PLIM_NONE || life->ended >= event;
}

/* What is freed after the last request is freed because the program ends. */
static bool is_forever(const plim_passes *passes, const plim_life *life)
{
    return life->ended == PLIM_NONE || life->ended > passes->last_request;
}

/* True if more passes like this one follow: what goes on living then is not of this one. */
static bool has_later_forward(const plim_passes *passes, const plim_pass *pass)
{
    return pass->next_forward < passes->events->count;
}

/* A request of the program itself that goes into a forward pass it comes before. */
static bool is_made_for_forward(const plim_passes *passes, const plim_pass *pass,
                                const plim_life *life)
{
    return has_later_forward(passes, pass) && pass->kind != PLIM_PASS_FORWARD &&
           lives_at(life, pass->next_forward) && !is_forever(passes, life);
}

static bool count_bytes(plim_map *map, uint64_t bytes)
{
    const uint64_t met = plim_map_get(map, bytes);
    return plim_map_put(map, bytes, met == PLIM_MAP_ABSENT ? 1 : met + 1);
}

/* True if weights have this size, or gradients that were freed in time. */
static bool has_weight_size(const plim_category_evidence *evidence, const plim_life *life)
{
    return plim_map_get(&evidence->built_bytes, life->bytes) != PLIM_MAP_ABSENT ||
           plim_map_get(&evidence->left_bytes, life->bytes) != PLIM_MAP_ABSENT;
}

/* True if another step of training follows: a gradient of this one is of no use then. */
static bool has_later_step(const plim_passes *passes, const plim_pass *pass)
{
    return pass->next_step < passes->events->count;
}

static bool take_sizes(plim_category_evidence *evidence, const plim_passes *passes,
                       const plim_pass *pass, const plim_life *life)
{
    const plim_stack_kind kind = kind_of(passes, life);
    if (kind == PLIM_STACK_BUILD || kind == PLIM_STACK_USER_INIT) {
        return !lives_at(life, pass->end) || count_bytes(&evidence->built_bytes, life->bytes);
    }
    if (pass->kind != PLIM_PASS_BACKWARD || !lives_at(life, pass->backward_end)) {
        return true;
    }
    const bool is_kept = is_forever(passes, life);
    if (has_weight_size(evidence, life) && has_later_step(passes, pass)) {
        *(is_kept ? &evidence->kept_by_backward : &evidence->freed_after_backward) += 1;
    }
    return is_kept || count_bytes(&evidence->left_bytes, life->bytes);
}

bool plim_category_evidence_take(plim_category_evidence *evidence, const plim_passes *passes,
                                 size_t pass_index, const plim_life *life)
{
    const plim_pass *pass = &passes->list.items[pass_index];
    if (!take_sizes(evidence, passes, pass, life)) {
        return false;
    }
    if (life->stack >= evidence->stack_count) {
        return true;
    }
    if (kind_of(passes, life) == PLIM_STACK_USER && is_made_for_forward(passes, pass, life)) {
        evidence->is_input[life->stack] = 1;
    }
    if (is_forever(passes, life) && has_later_forward(passes, pass)) {
        uint32_t *kept = &evidence->kept_in_pass[life->stack];
        if (*kept != 0 && *kept != pass_index + 1) {
            evidence->kept_often[life->stack] = 1;
        }
        *kept = (uint32_t)pass_index + 1;
    }
    return true;
}

/* --- rules --- */

/* What forward made and a later pass still has. */
static plim_category judge_forward(const plim_category_evidence *evidence,
                                   const plim_passes *passes, const plim_pass *pass,
                                   const plim_life *life)
{
    if (!lives_at(life, pass->end)) {
        return PLIM_CATEGORY_TEMPORARY;
    }
    /* Made once and kept while forward passes come and go: a workspace, a table. What is kept
     * pass after pass is a leak or a cache of what forward made. */
    const bool is_once =
        is_forever(passes, life) && has_later_forward(passes, pass) &&
        !(life->stack < evidence->stack_count && evidence->kept_often[life->stack] != 0);
    return is_once ? PLIM_CATEGORY_OTHER : PLIM_CATEGORY_ACTIVATIONS;
}

/*
 * What backward left for good is a gradient if it is as large as a weight; in a program that
 * frees most of its gradients, only in the last pass. Else it is a workspace, or, where the
 * recording ends within backward, what that was working on.
 */
static plim_category judge_left_for_good(const plim_category_evidence *evidence,
                                         const plim_passes *passes, const plim_pass *pass,
                                         const plim_life *life)
{
    const bool is_open = pass->backward_end == passes->events->count;
    if (has_later_step(passes, pass) &&
        evidence->freed_after_backward > evidence->kept_by_backward) {
        return PLIM_CATEGORY_OTHER;
    }
    if (evidence->built_bytes.count > 0 ? has_weight_size(evidence, life) : !is_open) {
        return PLIM_CATEGORY_GRADIENTS;
    }
    return is_open ? PLIM_CATEGORY_TEMPORARY : PLIM_CATEGORY_OTHER;
}

static plim_category judge_backward(const plim_category_evidence *evidence,
                                    const plim_passes *passes, const plim_pass *pass,
                                    const plim_life *life)
{
    if (is_forever(passes, life)) {
        return judge_left_for_good(evidence, passes, pass, life);
    }
    /* No request between the last one of backward and the next step shows when backward ended:
     * there what is as large as a weight is taken for its gradient. */
    const bool survives = life->ended >= pass->backward_end ||
                          (has_weight_size(evidence, life) && life->ended > pass->backward_last);
    return survives ? PLIM_CATEGORY_GRADIENTS : PLIM_CATEGORY_TEMPORARY;
}

/* Kept from one step of the optimizer to the next, or for good. */
static plim_category judge_optimizer(const plim_passes *passes, const plim_pass *pass,
                                     const plim_life *life, plim_stack_kind kind)
{
    const uint64_t count = passes->events->count;
    bool is_state = false;
    if (kind == PLIM_STACK_OPTIMIZER_STATE || kind == PLIM_STACK_OPTIMIZER_SETUP) {
        is_state = lives_at(life, pass->end);
    } else if (life->ended != PLIM_NONE) {
        is_state = pass->next_optimizer < count && lives_at(life, pass->next_optimizer);
    } else { /* in the last step, which may never have ended: what it was working on */
        is_state = pass->end < count || !passes->has_states;
    }
    return is_state ? PLIM_CATEGORY_OPTIMIZER_STATE : PLIM_CATEGORY_TEMPORARY;
}

static plim_category judge_user(const plim_category_evidence *evidence, const plim_passes *passes,
                                const plim_pass *pass, const plim_life *life)
{
    if (!lives_at(life, pass->end)) {
        return PLIM_CATEGORY_TEMPORARY;
    }
    if (life->stack < evidence->stack_count && evidence->is_input[life->stack] != 0) {
        return PLIM_CATEGORY_INPUTS;
    }
    const bool has_gradient = plim_map_get(&evidence->left_bytes, life->bytes) != PLIM_MAP_ABSENT;
    if (pass->kind == PLIM_PASS_SETUP && is_forever(passes, life) && has_gradient) {
        return PLIM_CATEGORY_PARAMETERS; /* made by hand, and trained */
    }
    if (pass->kind == PLIM_PASS_FORWARD) {
        return judge_forward(evidence, passes, pass, life);
    }
    return is_forever(passes, life) || pass->kind == PLIM_PASS_SETUP ? PLIM_CATEGORY_OTHER
                                                                     : PLIM_CATEGORY_TEMPORARY;
}

/* No stack: only when and for how long is known. */
static plim_category judge_unknown(const plim_category_evidence *evidence,
                                   const plim_passes *passes, const plim_pass *pass,
                                   const plim_life *life)
{
    switch (pass->kind) {
    case PLIM_PASS_BACKWARD:
    case PLIM_PASS_RECOMPUTE:
        return judge_backward(evidence, passes, pass, life);
    case PLIM_PASS_OPTIMIZER:
        return judge_optimizer(passes, pass, life, PLIM_STACK_OPTIMIZER_STEP);
    case PLIM_PASS_FORWARD:
        return judge_forward(evidence, passes, pass, life);
    case PLIM_PASS_SETUP:
    case PLIM_PASS_BETWEEN:
        break;
    }
    return PLIM_CATEGORY_OTHER;
}

plim_category plim_category_judge(const plim_category_evidence *evidence, const plim_passes *passes,
                                  size_t pass_index, const plim_life *life)
{
    const plim_pass *pass = &passes->list.items[pass_index];
    const plim_stack_kind kind = kind_of(passes, life);
    const bool stays = lives_at(life, pass->end);
    switch (kind) {
    case PLIM_STACK_NONE:
        return judge_unknown(evidence, passes, pass, life);
    case PLIM_STACK_USER:
        return judge_user(evidence, passes, pass, life);
    case PLIM_STACK_USER_INIT:
    case PLIM_STACK_BUILD:
        return stays ? PLIM_CATEGORY_PARAMETERS : PLIM_CATEGORY_TEMPORARY;
    case PLIM_STACK_DATA:
        return stays ? PLIM_CATEGORY_INPUTS : PLIM_CATEGORY_TEMPORARY;
    case PLIM_STACK_FORWARD:
    case PLIM_STACK_RECOMPUTE:
        return judge_forward(evidence, passes, pass, life);
    case PLIM_STACK_BACKWARD:
        return judge_backward(evidence, passes, pass, life);
    case PLIM_STACK_BUCKETS:
    case PLIM_STACK_ZERO_GRAD:
        return stays ? PLIM_CATEGORY_GRADIENTS : PLIM_CATEGORY_TEMPORARY;
    case PLIM_STACK_GRADIENT_TOOLS:
        return is_forever(passes, life) ? PLIM_CATEGORY_OTHER : PLIM_CATEGORY_TEMPORARY;
    case PLIM_STACK_OPTIMIZER_SETUP:
    case PLIM_STACK_OPTIMIZER_STATE:
    case PLIM_STACK_OPTIMIZER_STEP:
        return judge_optimizer(passes, pass, life, kind);
    }
    return PLIM_CATEGORY_OTHER;
}
