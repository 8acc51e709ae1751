/*
 * categories.c - see categories.h.
 *
 * Three walks over the events: passes (passes.h), what they teach (plim_category_evidence),
 * judgement. What stood before the first event comes last, because the events tell what it may have
 * been.
 */
#include "phases/categories.h"

#include "base/error.h"
#include "base/memory.h"
#include "phases/categories_lifetimes.h"
#include "phases/categories_rules.h"
#include "phases/categories_start.h"

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

/* --- walks --- */

typedef struct sorting {
    const plim_timeline *timeline;
    plim_categories *out;
    plim_passes passes;
    plim_category_evidence evidence;
    plim_leftovers left;
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
           plim_category_of_source(
               plim_history_string(all->timeline->history, note->category, NULL), ret_category);
}

/* Notes what of a pass tells the allocations of the start. False: no memory. */
static bool note_leftover(sorting *all, size_t pass, const plim_life *life, plim_category category)
{
    const plim_pass *const of = &all->passes.list.items[pass];
    if (category == PLIM_CATEGORY_GRADIENTS) {
        return plim_pass_sizes_take(&all->left.gradients, life->bytes, of->backward_end);
    }
    const bool is_replaced = category == PLIM_CATEGORY_OPTIMIZER_STATE &&
                             of->kind == PLIM_PASS_OPTIMIZER && life->ended != PLIM_NONE &&
                             life->ended < all->passes.last_request &&
                             plim_pass_kind_at(&all->passes, life->ended) == PLIM_PASS_OPTIMIZER;
    return !is_replaced || plim_pass_sizes_take(&all->left.replaced_states, life->bytes, of->end);
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
        if (!named_by_source(all, i, &category)) {
            category = plim_category_judge(&all->evidence, &all->passes, pass, &life);
        }
        all->out->of[plim_timeline_recorded_id(all->timeline, i)] = (uint8_t)category;
        if (!note_leftover(all, pass, &life, category)) {
            return false;
        }
    }
    return true;
}

static bool sort_all(sorting *all, size_t stack_count, const plim_mem *mem)
{
    plim_pass_sizes_init(&all->left.gradients, mem);
    plim_pass_sizes_init(&all->left.replaced_states, mem);
    return plim_category_evidence_init(&all->evidence, stack_count, mem) && learn(all) &&
           judge_events(all) &&
           plim_categories_of_start(all->out->of, all->timeline, &all->passes, &all->left);
}

static plim_status judge_lifetimes(sorting *all, const plim_mem *mem, plim_error *err)
{
    plim_steps steps = { 0 };
    PLIM_TRY(plim_steps_init(&steps, all->timeline->history, all->timeline->device, mem, err));
    plim_categories_by_lifetimes(all->out->of, all->timeline, &all->passes, &steps);
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
    sorting all = { .timeline = timeline, .out = &sorted };
    plim_status status = PLIM_OK;
    if (sorted.of == NULL) {
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
    plim_pass_sizes_deinit(&all.left.gradients);
    plim_pass_sizes_deinit(&all.left.replaced_states);
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
    *sorted = (plim_categories){ 0 };
}
