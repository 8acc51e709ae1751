/*
 * categories.c - see categories.h.
 *
 * Three walks over the events: passes (passes.h), what they teach (plim_category_evidence),
 * judgement. What stood before the first event comes last, because the events show what it may have
 * been.
 */
#include "phases/categories.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/memory.h"
#include "phases/categories_rules.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
} categories[] = {
#define PLIM_CATEGORY_ROW(code, name, text) [code] = { name, text },
    PLIM_CATEGORY_LIST(PLIM_CATEGORY_ROW)
#undef PLIM_CATEGORY_ROW
};

const char *plim_category_name(plim_category category)
{
    return (size_t)category < PLIM_CATEGORY_COUNT ? categories[category].name : "unknown";
}

const char *plim_category_text(plim_category category)
{
    return (size_t)category < PLIM_CATEGORY_COUNT ? categories[category].text : "unknown";
}

static const struct {
    const char *name;
    const char *text;
} rules[] = {
#define PLIM_CATEGORY_RULE_ROW(code, name, text) [code] = { name, text },
    PLIM_CATEGORY_RULE_LIST(PLIM_CATEGORY_RULE_ROW)
#undef PLIM_CATEGORY_RULE_ROW
};

const char *plim_category_rule_name(plim_category_rule rule)
{
    return (size_t)rule < PLIM_CATEGORY_RULE_COUNT ? rules[rule].name : "unknown";
}

const char *plim_category_rule_text(plim_category_rule rule)
{
    return (size_t)rule < PLIM_CATEGORY_RULE_COUNT ? rules[rule].text : "unknown";
}

bool plim_category_find(const char *name, plim_category *ret_category)
{
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        if (strcmp(name, categories[i].name) == 0) {
            *ret_category = (plim_category)i;
            return true;
        }
    }
    return false;
}

/* --- names sources use --- */

/* PyTorch's memory profiler (torch/profiler/_memory_profiler.py, Category), read without regard
 * to case, and our own names. */
static const struct {
    const char *name;
    plim_category category;
} source_names[] = {
    { "parameter", PLIM_CATEGORY_PARAMETERS },
    { "weight", PLIM_CATEGORY_PARAMETERS },
    { "weights", PLIM_CATEGORY_PARAMETERS },
    { "optimizer_state", PLIM_CATEGORY_OPTIMIZER_STATE },
    { "optimizer", PLIM_CATEGORY_OPTIMIZER_STATE },
    { "input", PLIM_CATEGORY_INPUTS },
    { "temporary", PLIM_CATEGORY_TEMPORARY },
    { "activation", PLIM_CATEGORY_ACTIVATIONS },
    { "gradient", PLIM_CATEGORY_GRADIENTS },
    { "autograd_detail", PLIM_CATEGORY_ACTIVATIONS }, /* what autograd keeps for backward */
    { "unknown", PLIM_CATEGORY_OTHER },
};

#define NAME_MAX 32

/* The category of a name as sources write it; false: there is no such category. */
static bool category_of_source(const char *name, plim_category *ret_category)
{
    const char *const dot = strrchr(name, '.'); /* "Category.PARAMETER" */
    const char *from = dot != NULL ? dot + 1 : name;
    char small[NAME_MAX];
    size_t count = 0;
    for (; from[count] != '\0'; count++) {
        if (count == NAME_MAX - 1) {
            return false;
        }
        const char c = from[count];
        small[count] = plim_lower(c);
        if (c == ' ' || c == '-') {
            small[count] = '_';
        }
    }
    small[count] = '\0';
    for (size_t i = 0; i < sizeof source_names / sizeof source_names[0]; i++) {
        if (strcmp(small, source_names[i].name) == 0) {
            *ret_category = source_names[i].category;
            return true;
        }
    }
    return plim_category_find(small, ret_category);
}

/* --- verdicts --- */

/* "other" is no rule's. */
static void set_category(plim_categories *out, uint64_t id, plim_category category,
                         plim_category_rule rule)
{
    out->of[id] = (uint8_t)category;
    out->rule_of[id] = (uint8_t)(category != PLIM_CATEGORY_OTHER ? rule : PLIM_CATEGORY_RULE_NONE);
}

/* --- what is live at the start ---
 *
 * Some have the stack of their block. Of the others, what the trace frees is judged by where it
 * does: activations die in backward, gradients with the optimizer. What is never freed and as
 * large as gradients are is a weight, and what there is of that size beyond one for each
 * gradient is the optimizer's. Which is which is unknown, but the sums come out right.
 */

/*
 * The number of allocations of each size that one pass leaves: gradients of a backward pass, of
 * which there is one for each weight; states that one step of an optimizer makes and the next
 * replaces.
 */
typedef struct pass_sizes {
    plim_map now;  /* size → pass << 32 | how many of it */
    plim_map most; /* size → the most of any pass */
} pass_sizes;

/* What was found of the events, for the start; judging uses it up. */
typedef struct start_evidence {
    pass_sizes gradients;
    pass_sizes replaced_states;
} start_evidence;

static void pass_sizes_init(pass_sizes *sizes, const plim_mem *mem)
{
    plim_map_init(&sizes->now, mem);
    plim_map_init(&sizes->most, mem);
}

static void pass_sizes_deinit(pass_sizes *sizes)
{
    if (sizes->now.mem != NULL) {
        plim_map_deinit(&sizes->now);
        plim_map_deinit(&sizes->most);
    }
}

static bool pass_sizes_take(pass_sizes *sizes, uint64_t bytes, uint32_t pass_end)
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

/* By the code that requested it. */
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
static bool use_up(pass_sizes *sizes, uint64_t bytes, bool *ret_had)
{
    const uint64_t left = plim_map_get(&sizes->most, bytes);
    *ret_had = left != PLIM_MAP_ABSENT && left > 0;
    return !*ret_had || plim_map_put(&sizes->most, bytes, left - 1);
}

/* By where the trace frees it. In an optimizer's step gradients go, and states that it replaces:
 * those are as many of each size as it makes in later steps. */
static bool judge_end(const plim_passes *passes, pass_sizes *replaced_states,
                      const plim_allocation *one, plim_category *ret_category)
{
    *ret_category = PLIM_CATEGORY_OTHER;
    bool is_state = false;
    switch (plim_passes_at(passes, (uint64_t)one->freed)->kind) {
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
static bool judge_size(const plim_passes *passes, pass_sizes *gradients, uint64_t bytes,
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

static bool judge_at_start(const plim_allocation *one, const plim_passes *passes,
                           start_evidence *start, plim_category *ret_category,
                           plim_category_rule *ret_rule)
{
    const plim_stack_kind kind =
        one->is_stack_of_free ? PLIM_STACK_NONE : plim_stack_kind_of(&passes->stacks, one->stack);
    const bool is_forever = one->freed == PLIM_NEVER;
    if (kind != PLIM_STACK_NONE) {
        *ret_category = judge_stack(kind, is_forever);
        *ret_rule = PLIM_CATEGORY_RULE_STACK;
        return true;
    }
    *ret_rule = is_forever ? PLIM_CATEGORY_RULE_SIZE : PLIM_CATEGORY_RULE_LIFETIME;
    return is_forever ? judge_size(passes, &start->gradients, one->requested_bytes, ret_category)
                      : judge_end(passes, &start->replaced_states, one, ret_category);
}

static bool judge_start(plim_categories *out, const plim_timeline *timeline,
                        const plim_passes *passes, start_evidence *start)
{
    plim_live live = plim_timeline_live(timeline, PLIM_AT_START, false);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        plim_category category = PLIM_CATEGORY_OTHER;
        plim_category_rule rule = PLIM_CATEGORY_RULE_NONE;
        if (!judge_at_start(&one, passes, start, &category, &rule)) {
            return false;
        }
        set_category(out, one.id, category, rule);
    }
    return true;
}

/* --- without stacks: lifetimes against steps ---
 *
 * Forward fills memory and backward empties it, so the peak of a step parts the two, and what is
 * live there was saved for backward. This is worth less than a stack, and only asked without any.
 *
 *   before the first step, and kept for good     parameters
 *   in a step, freed in it, live at its peak     activations
 *   likewise, live only before or after it      temporary
 *   made after the peak, live when the optimizer begins     gradients
 */

typedef struct step_facts {
    uint32_t first;
    uint32_t end;
    uint32_t peak;      /* the event with the most bytes live before the optimizer */
    uint32_t optimizer; /* the last span of the optimizer in it begins here; `end` without one */
} step_facts;

/* The optimizer's last span in a step; `*mark` goes on from step to step. */
static void find_optimizer(const plim_passes *passes, size_t *mark, step_facts *facts)
{
    const size_t count = passes->marks.of[PLIM_MARK_OPTIMIZER].count;
    const plim_mark *marks = passes->marks.of[PLIM_MARK_OPTIMIZER].items;
    while (*mark < count && marks[*mark].first < facts->end) {
        if (marks[*mark].first >= facts->first) {
            facts->optimizer = (uint32_t)marks[*mark].first;
        }
        (*mark)++;
    }
}

/* The peak before the optimizer, which may have one of its own. */
static void find_peak(plim_free_halves halves, const plim_events *events, step_facts *facts)
{
    int64_t live = 0; /* in 64 KiB, rounded up: so that no sum wraps */
    int64_t most = 0;
    for (uint32_t i = facts->first; i < facts->optimizer; i++) {
        const int64_t weight = (int64_t)(events->bytes[i] >> 16) + 1;
        if (events->action[i] == PLIM_ALLOC) {
            live += weight;
        } else if (plim_ends_allocation(halves, events->action[i])) {
            live -= weight;
        }
        if (live > most) {
            most = live;
            facts->peak = i;
        }
    }
}

static plim_category judge_in_step(const step_facts *facts, uint32_t made, uint32_t ended)
{
    if (made > facts->peak && made < facts->optimizer && facts->optimizer < facts->end &&
        ended >= facts->optimizer) {
        return PLIM_CATEGORY_GRADIENTS;
    }
    if (ended >= facts->end) {
        return PLIM_CATEGORY_OTHER;
    }
    return made <= facts->peak && ended > facts->peak ? PLIM_CATEGORY_ACTIVATIONS
                                                      : PLIM_CATEGORY_TEMPORARY;
}

static void judge_by_lifetimes(plim_categories *out, const plim_timeline *timeline,
                               const plim_passes *passes, const plim_steps *steps)
{
    if (steps->count == 0) {
        return;
    }
    const plim_events *events = passes->events;
    const uint32_t *ended = timeline->start.lifetimes.partner;
    const plim_free_halves halves = plim_timeline_halves(timeline);
    const uint64_t base = plim_timeline_recorded_id(timeline, 0);
    const uint8_t *const of_event = out->of + base;
    const uint64_t first = steps->first_events[0];
    for (uint64_t i = 0; i < first; i++) {
        const bool is_kept = ended[i] == PLIM_NONE || ended[i] > passes->last_request;
        if (events->action[i] == PLIM_ALLOC && of_event[i] == PLIM_CATEGORY_OTHER) {
            set_category(out, base + i,
                         is_kept            ? PLIM_CATEGORY_PARAMETERS
                         : ended[i] < first ? PLIM_CATEGORY_TEMPORARY
                                            : PLIM_CATEGORY_OTHER,
                         PLIM_CATEGORY_RULE_LIFETIME);
        }
    }
    size_t mark = 0;
    for (size_t step = 0; step < steps->count; step++) {
        step_facts facts = { .first = (uint32_t)steps->first_events[step],
                             .end = (uint32_t)steps->first_events[step + 1] };
        facts.peak = facts.first;
        facts.optimizer = facts.end;
        find_optimizer(passes, &mark, &facts);
        find_peak(halves, events, &facts);
        for (uint32_t i = facts.first; i < facts.end; i++) {
            if (events->action[i] == PLIM_ALLOC && of_event[i] == PLIM_CATEGORY_OTHER) {
                set_category(out, base + i, judge_in_step(&facts, i, ended[i]),
                             PLIM_CATEGORY_RULE_LIFETIME);
            }
        }
    }
}

/* --- walks --- */

typedef struct sorting {
    const plim_timeline *timeline;
    plim_categories *out;
    plim_passes passes;
    plim_category_evidence evidence;
    start_evidence start;
} sorting;

static plim_life life_of_event(const sorting *all, uint32_t event)
{
    return (plim_life){ .made = event,
                        .ended = all->timeline->start.lifetimes.partner[event],
                        .bytes = all->passes.events->bytes[event],
                        .stack = all->passes.events->stack[event] };
}

/* The pass of the next event, from that of the one before. */
static size_t pass_at(const plim_passes *passes, size_t pass, uint64_t event)
{
    while (pass + 1 < passes->list.count && passes->list.items[pass + 1].first <= event) {
        pass++;
    }
    return pass;
}

static bool learn(sorting *all)
{
    const plim_events *events = all->passes.events;
    size_t pass = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        pass = pass_at(&all->passes, pass, i);
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        const plim_life life = life_of_event(all, (uint32_t)i);
        if (!plim_category_evidence_take(&all->evidence, &all->passes, pass, &life)) {
            return false;
        }
    }
    return true;
}

/* What the source itself says an event's memory is for. */
static bool named_by_source(const sorting *all, uint64_t event, plim_category *ret_category)
{
    const plim_note *note =
        plim_history_note(all->timeline->history, all->passes.events->note[event]);
    return note->category != PLIM_NONE &&
           category_of_source(plim_history_string(all->timeline->history, note->category, NULL),
                              ret_category);
}

/* Notes what of a pass bears on the allocations of the start. False: no memory. */
static bool note_for_start(sorting *all, size_t pass, const plim_life *life, plim_category category)
{
    const plim_pass *const of = &all->passes.list.items[pass];
    if (category == PLIM_CATEGORY_GRADIENTS) {
        return pass_sizes_take(&all->start.gradients, life->bytes, of->backward_end);
    }
    const bool is_replaced = category == PLIM_CATEGORY_OPTIMIZER_STATE &&
                             of->kind == PLIM_PASS_OPTIMIZER && life->ended != PLIM_NONE &&
                             life->ended < all->passes.last_request &&
                             plim_passes_at(&all->passes, life->ended)->kind == PLIM_PASS_OPTIMIZER;
    return !is_replaced || pass_sizes_take(&all->start.replaced_states, life->bytes, of->end);
}

static bool judge_events(sorting *all)
{
    const plim_events *events = all->passes.events;
    size_t pass = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        pass = pass_at(&all->passes, pass, i);
        if (events->action[i] != PLIM_ALLOC) {
            continue;
        }
        plim_category category = PLIM_CATEGORY_OTHER;
        const plim_life life = life_of_event(all, (uint32_t)i);
        plim_category_rule rule = PLIM_CATEGORY_RULE_SOURCE;
        if (!named_by_source(all, i, &category)) {
            category = plim_category_judge(&all->evidence, &all->passes, pass, &life);
            rule = plim_stack_kind_of(&all->passes.stacks, life.stack) != PLIM_STACK_NONE
                       ? PLIM_CATEGORY_RULE_STACK
                       : PLIM_CATEGORY_RULE_LIFETIME;
        }
        set_category(all->out, plim_timeline_recorded_id(all->timeline, i), category, rule);
        if (!note_for_start(all, pass, &life, category)) {
            return false;
        }
    }
    return true;
}

static bool sort_all(sorting *all, size_t stack_count, const plim_mem *mem)
{
    pass_sizes_init(&all->start.gradients, mem);
    pass_sizes_init(&all->start.replaced_states, mem);
    return plim_category_evidence_init(&all->evidence, stack_count, mem) && learn(all) &&
           judge_events(all) && judge_start(all->out, all->timeline, &all->passes, &all->start);
}

static plim_status judge_lifetimes(sorting *all, const plim_mem *mem, plim_error *err)
{
    plim_steps steps = { 0 };
    PLIM_TRY(plim_steps_init(&steps, all->timeline->history, all->timeline->device, mem, err));
    judge_by_lifetimes(all->out, all->timeline, &all->passes, &steps);
    plim_steps_deinit(&steps);
    return PLIM_OK;
}

plim_status plim_categories_init(plim_categories *ret_categories, const plim_timeline *timeline,
                                 const plim_mem *mem, plim_error *err)
{
    mem = plim_mem_or_heap(mem);
    const plim_history *const history = timeline->history;
    plim_categories sorted = { .mem = mem, .count = plim_timeline_id_end(timeline) };
    sorted.of = plim_mem_alloc_zeroed(mem, sorted.count + 1, 1);
    sorted.rule_of = plim_mem_alloc_zeroed(mem, sorted.count + 1, 1);
    sorting all = { .timeline = timeline, .out = &sorted };
    plim_status status = PLIM_OK;
    if (sorted.of == NULL || sorted.rule_of == NULL) {
        status = plim_fail_memory(err, "sorting allocations");
    }
    if (status == PLIM_OK) {
        status = plim_passes_init(&all.passes, history, timeline->device, mem, err);
    }
    if (status == PLIM_OK && !sort_all(&all, plim_history_stack_count(history), mem)) {
        status = plim_fail_memory(err, "sorting allocations");
    }
    if (status == PLIM_OK && !all.passes.has_any_stack) {
        status = judge_lifetimes(&all, mem, err);
    }
    pass_sizes_deinit(&all.start.gradients);
    pass_sizes_deinit(&all.start.replaced_states);
    plim_category_evidence_deinit(&all.evidence);
    plim_passes_deinit(&all.passes);
    if (status != PLIM_OK) {
        plim_categories_deinit(&sorted);
        return status;
    }
    *ret_categories = sorted;
    return PLIM_OK;
}

void plim_categories_deinit(plim_categories *sorted)
{
    if (sorted->mem == NULL) {
        return;
    }
    plim_mem_free(sorted->mem, sorted->of, sorted->count + 1, 1);
    plim_mem_free(sorted->mem, sorted->rule_of, sorted->count + 1, 1);
    *sorted = (plim_categories){ 0 };
}
