/*
 * composition.c - what memory was made of at the peak, at failures and at the peaks of steps: one
 * walk over the events, whatever the number of moments.
 */
#include "diagnose/case/case.h"

#include "base/error.h"
#include "base/total.h"
#include "diagnose/case/changes.h"
#include "diagnose/composition/peak_place.h"
#include "phases/user_rules.h"

#include <stdlib.h>
#include <string.h>

/* Steps whose composition is kept: the first, the last, the one with the highest peak, and others
 * at even distances. */
#define STEPS_MAX 256

/* The categories of phases.h, then those of a user. */
#define SLOTS (PLIM_CATEGORY_COUNT + PLIM_USER_RULES_MAX)

/* Live allocations of one category. */
typedef struct slot_sum {
    plim_total bytes;
    plim_total by_rule[PLIM_CATEGORY_RULE_COUNT];
    uint64_t count;
} slot_sum;

/* A moment to be described. */
typedef struct wanted_moment {
    int64_t event;
    plim_device_composition *out;
} wanted_moment;

typedef struct composing {
    plim_case *one;
    PLIM_VEC(wanted_moment) wanted;
    plim_user_rules rules;
    uint8_t slot_of_rule[PLIM_USER_RULES_MAX];
    const char *names[SLOTS]; /* in the arena, or constant */
    size_t slot_count;
    slot_sum slots[SLOTS];
    plim_total live;
} composing;

/* --- sums --- */

/* Rules of a user come before all others. */
static slot_sum *slot_of(composing *at, uint64_t id, uint64_t bytes, plim_category_rule *ret_rule)
{
    const plim_case *const one = at->one;
    const uint8_t category = one->view.categories.of[id];
    *ret_rule = (plim_category_rule)one->view.categories.rule_of[id];
    if (at->rules.list.count == 0) {
        return &at->slots[category];
    }
    const plim_allocation allocation = plim_timeline_allocation(&one->view.timeline, id);
    const uint64_t stream = allocation.stream != PLIM_NONE
                                ? plim_history_stream(one->history, allocation.stream)
                                : UINT64_MAX;
    const size_t rule = plim_user_rules_judge(
        &at->rules, allocation.is_stack_of_free ? PLIM_NONE : allocation.stack, stream, bytes,
        (plim_category)category);
    if (rule == at->rules.list.count) {
        return &at->slots[category];
    }
    *ret_rule = PLIM_CATEGORY_RULE_USER;
    return &at->slots[at->slot_of_rule[rule]];
}

static void take(composing *at, uint64_t id, uint64_t bytes)
{
    plim_category_rule rule = PLIM_CATEGORY_RULE_NONE;
    slot_sum *const slot = slot_of(at, id, bytes, &rule);
    slot->bytes += bytes;
    slot->by_rule[rule] += bytes;
    slot->count++;
    at->live += bytes;
}

static void drop(composing *at, uint64_t id, uint64_t bytes)
{
    plim_category_rule rule = PLIM_CATEGORY_RULE_NONE;
    slot_sum *const slot = slot_of(at, id, bytes, &rule);
    slot->bytes = plim_total_less(slot->bytes, bytes);
    slot->by_rule[rule] = plim_total_less(slot->by_rule[rule], bytes);
    slot->count -= slot->count > 0 ? 1u : 0u;
    at->live = plim_total_less(at->live, bytes);
}

static const char *main_rule(const slot_sum *slot)
{
    size_t most = 0;
    for (size_t i = 1; i < PLIM_CATEGORY_RULE_COUNT; i++) {
        if (slot->by_rule[i] > slot->by_rule[most]) {
            most = i;
        }
    }
    return plim_category_rule_name((plim_category_rule)most);
}

/* Largest first; those of no bytes are left out. */
static bool describe(composing *at, const wanted_moment *moment)
{
    size_t room = 0;
    for (size_t i = 0; i < at->slot_count; i++) {
        room += at->slots[i].bytes > 0 ? 1u : 0u;
    }
    plim_category_sum *const sums = plim_arena_alloc(at->one->arena, room * sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < at->slot_count; i++) {
        if (at->slots[i].bytes == 0) {
            continue;
        }
        const plim_category_sum sum = { .name = at->names[i],
                                        .bytes = plim_total_bytes(at->slots[i].bytes),
                                        .count = at->slots[i].count,
                                        .rule = main_rule(&at->slots[i]) };
        size_t place = count++;
        for (; place > 0 && sums[place - 1].bytes < sum.bytes; place--) {
            sums[place] = sums[place - 1];
        }
        sums[place] = sum;
    }
    *moment->out = (plim_device_composition){
        .event = moment->event,
        .step = moment->event == PLIM_AT_START
                    ? PLIM_NO_STEP
                    : plim_steps_at(&at->one->view.steps, (uint64_t)moment->event),
        .requested_bytes = plim_total_bytes(at->live),
        .unknown_bytes = plim_total_bytes(at->slots[PLIM_CATEGORY_OTHER].bytes),
        .sums = sums,
        .sum_count = count,
    };
    return true;
}

/* --- moments --- */

static bool want(composing *at, int64_t event, plim_device_composition *out)
{
    const wanted_moment moment = { .event = event, .out = out };
    return PLIM_VEC_PUSH(at->one->mem, &at->wanted, moment);
}

static plim_device_composition *make_room(composing *at, size_t count)
{
    return plim_arena_alloc(at->one->arena, count * sizeof(plim_device_composition));
}

static bool want_failures(composing *at)
{
    const plim_device_inspection *const facts = at->one->facts;
    const size_t count =
        facts->oom_count < PLIM_OOM_GROUPS_MAX ? facts->oom_count : PLIM_OOM_GROUPS_MAX;
    plim_device_composition *const failures = make_room(at, count);
    if (failures == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!want(at, facts->ooms[i].moment.event, &failures[i])) {
            return false;
        }
    }
    at->one->out->failures = failures;
    at->one->out->failure_count = count;
    return true;
}

static size_t highest_step(const plim_case *one)
{
    size_t highest = 0;
    for (size_t i = 1; i < one->view.steps.count; i++) {
        if (one->step_facts[i].peak_requested_bytes >
            one->step_facts[highest].peak_requested_bytes) {
            highest = i;
        }
    }
    return highest;
}

static bool want_steps(composing *at)
{
    const plim_case *const one = at->one;
    const size_t count = one->view.steps.count;
    if (count == 0) {
        return true;
    }
    const size_t highest = highest_step(one);
    const size_t evenly = count <= STEPS_MAX ? count : STEPS_MAX - 1;
    plim_device_composition *const steps = make_room(at, STEPS_MAX);
    if (steps == NULL) {
        return false;
    }
    size_t kept = 0;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < evenly; i++) {
        const size_t step = evenly == 1 ? 0 : i * (count - 1) / (evenly - 1);
        const bool skips_highest = last < highest && highest < step;
        if ((skips_highest &&
             !want(at, (int64_t)one->step_facts[highest].peak_event, &steps[kept++])) ||
            !want(at, (int64_t)one->step_facts[step].peak_event, &steps[kept++])) {
            return false;
        }
        last = step;
    }
    at->one->out->steps = steps;
    at->one->out->composition_step_count = kept;
    return true;
}

static int compare_moments(const void *left, const void *right)
{
    const wanted_moment *const a = left;
    const wanted_moment *const b = right;
    return (a->event > b->event) - (a->event < b->event);
}

static bool walk(composing *at)
{
    const plim_timeline *const timeline = &at->one->view.timeline;
    plim_live live = plim_timeline_live(timeline, PLIM_AT_START, false);
    plim_allocation standing;
    while (plim_live_next(&live, &standing)) {
        take(at, standing.id, standing.requested_bytes);
    }
    size_t next = 0;
    for (int64_t event = PLIM_AT_START; next < at->wanted.count; event++) {
        if (event >= (int64_t)timeline->device->events.count) {
            break;
        }
        if (event >= 0) {
            const plim_live_change change = plim_live_change_of(timeline, (uint64_t)event);
            if (change.ended != PLIM_NO_ALLOCATION) {
                drop(at, change.ended, change.ended_bytes);
            }
            if (change.begun != PLIM_NO_ALLOCATION) {
                take(at, change.begun, change.begun_bytes);
            }
        }
        for (; next < at->wanted.count && at->wanted.items[next].event == event; next++) {
            if (!describe(at, &at->wanted.items[next])) {
                return false;
            }
        }
    }
    return true;
}

static bool compose(composing *at)
{
    if (!want(at, at->one->facts->peak.event, &at->one->out->peak) || !want_failures(at) ||
        !want_steps(at)) {
        return false;
    }
    qsort(at->wanted.items, at->wanted.count, sizeof *at->wanted.items, compare_moments);
    return walk(at);
}

/* Gives each name a slot: those of phases.h, then each new one. False: no memory. */
static bool name_slots(composing *at)
{
    for (; at->slot_count < PLIM_CATEGORY_COUNT; at->slot_count++) {
        at->names[at->slot_count] = plim_category_name((plim_category)at->slot_count);
    }
    for (size_t i = 0; i < at->rules.list.count; i++) {
        const char *const name = at->rules.list.items[i].name;
        size_t slot = 0;
        while (slot < at->slot_count && strcmp(at->names[slot], name) != 0) {
            slot++;
        }
        if (slot == at->slot_count) {
            const char *const kept = plim_arena_copy(at->one->arena, name, strlen(name));
            if (kept == NULL) {
                return false;
            }
            at->names[at->slot_count++] = kept;
        }
        at->slot_of_rule[i] = (uint8_t)slot;
    }
    return at->rules.list.count == 0 || plim_user_rules_bind(&at->rules, at->one->history);
}

plim_status plim_compose(plim_case *one, plim_error *err)
{
    composing at = { .one = one };
    PLIM_TRY(plim_user_rules_parse(one->options->rules, one->options->rules_bytes, one->mem,
                                   &at.rules, err));
    bool is_done = true;
    if (!one->options->findings_only) {
        is_done = name_slots(&at) && compose(&at) && plim_place_peak(one);
    }
    PLIM_VEC_FREE(one->mem, &at.wanted);
    plim_user_rules_deinit(&at.rules);
    return is_done ? PLIM_OK : plim_fail_memory(err, "summing up categories");
}
