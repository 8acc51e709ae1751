/*
 * diff_figures.c - the figures of a device on both sides, and which device changed most.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "report/model/diff_parts.h"
#include "report/model/inspect.h"

#include <stdio.h>

const char *plim_diff_figure_name(plim_diff_figure_id figure)
{
    static const char *const names[] = {
#define PLIM_DIFF_FIGURE_NAME(code, name, title) [code] = (name),
        PLIM_DIFF_FIGURE_LIST(PLIM_DIFF_FIGURE_NAME)
#undef PLIM_DIFF_FIGURE_NAME
    };
    return names[figure];
}

const char *plim_diff_figure_title(plim_diff_figure_id figure)
{
    static const char *const titles[] = {
#define PLIM_DIFF_FIGURE_TITLE(code, name, title) [code] = (title),
        PLIM_DIFF_FIGURE_LIST(PLIM_DIFF_FIGURE_TITLE)
#undef PLIM_DIFF_FIGURE_TITLE
    };
    return titles[figure];
}

plim_diff_figure_id plim_diff_figure_at(plim_diff_moment_kind kind)
{
    static const plim_diff_figure_id figures[PLIM_DIFF_MOMENT_COUNT] = {
        [PLIM_DIFF_PEAK] = PLIM_DIFF_FIGURE_PEAK,
        [PLIM_DIFF_END] = PLIM_DIFF_FIGURE_END,
        [PLIM_DIFF_STEP] = PLIM_DIFF_FIGURE_STEP,
        [PLIM_DIFF_CHOSEN] = PLIM_DIFF_FIGURE_AT,
    };
    return figures[kind];
}

plim_diff_moment_kind plim_diff_moment_of(plim_diff_figure_id figure)
{
    switch (figure) {
    case PLIM_DIFF_FIGURE_AT:
        return PLIM_DIFF_CHOSEN;
    case PLIM_DIFF_FIGURE_STEP:
        return PLIM_DIFF_STEP;
    case PLIM_DIFF_FIGURE_END:
        return PLIM_DIFF_END;
    case PLIM_DIFF_FIGURE_PEAK:
    case PLIM_DIFF_FIGURE_RESERVED:
    case PLIM_DIFF_FIGURE_NEW:
    case PLIM_DIFF_FIGURE_COUNT:
        break;
    }
    return PLIM_DIFF_PEAK;
}

const plim_device_inspection *plim_diff_facts(const plim_diffed_side *side, int32_t device)
{
    for (size_t i = 0; i < plim_inspection_device_count(side->inspection); i++) {
        const plim_device_inspection *const facts = plim_inspection_device(side->inspection, i);
        if (facts->device == device) {
            return facts;
        }
    }
    return NULL;
}

static bool holds_memory(const plim_diffed_side *side, int32_t device)
{
    const plim_device_inspection *const facts = plim_diff_facts(side, device);
    return facts != NULL && plim_inspect_has_memory(facts);
}

bool plim_diff_has_memory(const plim_diffed *diffed, const plim_diff_device *device)
{
    return holds_memory(&diffed->before, device->device) ||
           holds_memory(&diffed->after, device->device);
}

bool plim_diff_has_stacks(const plim_diff_moment *moment)
{
    bool is_named[2] = { false, false };
    uint64_t bytes[2] = { 0, 0 };
    for (size_t i = 0; i < moment->group_count; i++) {
        const plim_diff_group *const group = &moment->groups[i];
        is_named[0] = is_named[0] || group->before.stack != PLIM_NONE;
        is_named[1] = is_named[1] || group->after.stack != PLIM_NONE;
        bytes[0] |= group->before.bytes;
        bytes[1] |= group->after.bytes;
    }
    return (is_named[0] || bytes[0] == 0) && (is_named[1] || bytes[1] == 0);
}

/* --- figures --- */

static plim_diff_figure figure_of(const plim_diff_moment *moment)
{
    return (plim_diff_figure){ .is_known = moment->is_known,
                               .unknown_because = moment->unknown_because,
                               .before_bytes = moment->before.requested_bytes,
                               .after_bytes = moment->after.requested_bytes };
}

/* The growth of a step is no moment: its groups add up to it. */
static plim_diff_figure step_of(const plim_diff_moment *moment)
{
    plim_diff_figure figure = { .is_known = moment->is_known,
                                .unknown_because = moment->unknown_because };
    for (size_t i = 0; figure.is_known && i < moment->group_count; i++) {
        figure.before_bytes = plim_plus(figure.before_bytes, moment->groups[i].before.bytes);
        figure.after_bytes = plim_plus(figure.after_bytes, moment->groups[i].after.bytes);
    }
    return figure;
}

/* A recording of the state at its end has no peak. */
static plim_diff_figure peak_of(const plim_diffed *diffed, const plim_diff_device *device)
{
    const plim_device_inspection *const before = plim_diff_facts(&diffed->before, device->device);
    const plim_device_inspection *const after = plim_diff_facts(&diffed->after, device->device);
    const bool lacks_before = before != NULL && before->events == 0 && before->end.segments > 0;
    const bool lacks_after = after != NULL && after->events == 0 && after->end.segments > 0;
    plim_diff_figure figure = figure_of(&device->moments[PLIM_DIFF_PEAK]);
    if (lacks_before || lacks_after) {
        figure.is_known = false;
        figure.unknown_because = !lacks_after    ? "no events were recorded before"
                                 : !lacks_before ? "no events were recorded after"
                                                 : "no events were recorded";
    }
    return figure;
}

static plim_diff_figure reserved_of(const plim_diff_moment *moment)
{
    plim_diff_figure figure = figure_of(moment);
    figure.before_bytes = moment->before.reserved_bytes;
    figure.after_bytes = moment->after.reserved_bytes;
    if (figure.is_known && (figure.before_bytes == 0 || figure.after_bytes == 0)) {
        figure.is_known = false;
        figure.unknown_because = figure.before_bytes == figure.after_bytes
                                     ? "neither side has segments"
                                     : "one side has no segments";
    }
    return figure;
}

/* Of code that is only after. */
static plim_diff_figure new_of(const plim_diff_moment *moment)
{
    plim_diff_figure figure = { .is_known = moment->is_known,
                                .unknown_because = moment->unknown_because };
    if (figure.is_known && !plim_diff_has_stacks(moment)) {
        figure.is_known = false;
        figure.unknown_because = "one side has no stacks";
    }
    for (size_t i = 0; figure.is_known && i < moment->group_count; i++) {
        if (moment->groups[i].match == PLIM_DIFF_NEW) {
            figure.after_bytes = plim_plus(figure.after_bytes, moment->groups[i].after.bytes);
        }
    }
    return figure;
}

static int64_t change_of(const plim_diffed_rank *rank, plim_diff_figure_id figure)
{
    const plim_diff_figure *const one = &rank->figures[figure];
    return one->is_known ? plim_diff_change(one->before_bytes, one->after_bytes) : 0;
}

/* What is held, in the order in which it matters. */
static const plim_diff_figure_id held_figures[] = { PLIM_DIFF_FIGURE_PEAK, PLIM_DIFF_FIGURE_STEP,
                                                    PLIM_DIFF_FIGURE_END };
#define HELD_COUNT (sizeof held_figures / sizeof held_figures[0])

/* The first whose sum is as before and whose groups or categories are not; PLIM_DIFF_FIGURE_COUNT:
 * all are as before. */
static plim_diff_figure_id first_remade(const plim_diffed_rank *rank,
                                        const plim_diff_device *device)
{
    for (size_t i = 0; i < HELD_COUNT; i++) {
        if (rank->figures[held_figures[i]].is_known &&
            !device->moments[plim_diff_moment_of(held_figures[i])].is_same) {
            return held_figures[i];
        }
    }
    return PLIM_DIFF_FIGURE_COUNT;
}

/* The first whose change has this sign, or PLIM_DIFF_FIGURE_COUNT. */
static plim_diff_figure_id first_changed(const plim_diffed_rank *rank, bool grew)
{
    for (size_t i = 0; i < HELD_COUNT; i++) {
        const int64_t change = change_of(rank, held_figures[i]);
        if (grew ? change > 0 : change < 0) {
            return held_figures[i];
        }
    }
    return PLIM_DIFF_FIGURE_COUNT;
}

/* The figure of the answer: at the moments that were chosen, else where the comparison shows its
 * difference best, else the first that differs. */
static plim_diff_figure_id subject_of(const plim_diffed_rank *rank, const plim_diff_device *device)
{
    const plim_diff_figure_id lead = plim_diff_figure_at(device->lead);
    if (rank->figures[PLIM_DIFF_FIGURE_AT].is_known) {
        return PLIM_DIFF_FIGURE_AT;
    }
    if (change_of(rank, lead) != 0) {
        return lead;
    }
    const plim_diff_figure_id grown = first_changed(rank, true);
    const plim_diff_figure_id shrunk = first_changed(rank, false);
    const plim_diff_figure_id other = first_remade(rank, device);
    return grown != PLIM_DIFF_FIGURE_COUNT                 ? grown
           : shrunk != PLIM_DIFF_FIGURE_COUNT              ? shrunk
           : other != PLIM_DIFF_FIGURE_COUNT               ? other
           : rank->figures[PLIM_DIFF_FIGURE_PEAK].is_known ? PLIM_DIFF_FIGURE_PEAK
                                                           : PLIM_DIFF_FIGURE_END;
}

static bool is_same(const plim_diff_device *device, const plim_diffed_rank *rank)
{
    const plim_diff_figure *const reserved = &rank->figures[PLIM_DIFF_FIGURE_RESERVED];
    bool is_any = false;
    for (int i = 0; i < PLIM_DIFF_MOMENT_COUNT; i++) {
        const plim_diff_moment *const moment = &device->moments[i];
        is_any = is_any || moment->is_known;
        if (moment->is_known && !moment->is_same) {
            return false;
        }
    }
    return is_any && rank->in_before && rank->in_after &&
           (!reserved->is_known || reserved->before_bytes == reserved->after_bytes);
}

/* The line that grew most at the moment of the answer. */
static plim_status keep_line(const plim_diffed *diffed, const plim_diff_device *device,
                             plim_diffed_rank *rank, plim_error *err)
{
    static const plim_diff_view all = { 0 };
    const plim_diff_moment *const moment = &device->moments[plim_diff_moment_of(rank->subject)];
    plim_diff_lines rows;
    if (!rank->figures[rank->subject].is_known || !plim_diff_has_stacks(moment)) {
        return PLIM_OK;
    }
    const plim_status status = plim_diff_lines_init(&rows, NULL, &all, diffed, moment, err);
    if (status == PLIM_OK && rows.grown > 0) {
        snprintf(rank->where, sizeof rank->where, "%.*s",
                 (int)plim_min(rows.items[0].where_length, sizeof rank->where - 1),
                 rows.items[0].where);
    }
    plim_diff_lines_deinit(&rows);
    return status;
}

plim_status plim_diffed_rank_of(const plim_diffed *diffed, const plim_diff_device *device,
                                plim_diffed_rank *ret, plim_error *err)
{
    plim_diffed_rank rank = { .device = device->device,
                              .in_before = holds_memory(&diffed->before, device->device),
                              .in_after = holds_memory(&diffed->after, device->device) };
    const plim_diff_moment *const moments = device->moments;
    const bool is_chosen = diffed->after_at != NULL;
    const plim_diff_figure peak = peak_of(diffed, device);
    const plim_diff_moment *const held = is_chosen       ? &moments[PLIM_DIFF_CHOSEN]
                                         : peak.is_known ? &moments[PLIM_DIFF_PEAK]
                                                         : &moments[PLIM_DIFF_END];
    rank.figures[PLIM_DIFF_FIGURE_AT] = figure_of(&moments[PLIM_DIFF_CHOSEN]);
    rank.figures[PLIM_DIFF_FIGURE_PEAK] = peak;
    rank.figures[PLIM_DIFF_FIGURE_STEP] = step_of(&moments[PLIM_DIFF_STEP]);
    rank.figures[PLIM_DIFF_FIGURE_END] = figure_of(&moments[PLIM_DIFF_END]);
    rank.figures[PLIM_DIFF_FIGURE_RESERVED] = reserved_of(held);
    rank.figures[PLIM_DIFF_FIGURE_NEW] = new_of(held);
    rank.subject = subject_of(&rank, device);
    rank.is_same = is_same(device, &rank);
    PLIM_TRY(keep_line(diffed, device, &rank, err));
    *ret = rank;
    return PLIM_OK;
}

/* --- what matters --- */

/* True if `left` changed for the worse more. */
static bool is_worse(const plim_diffed_rank *left, const plim_diffed_rank *right)
{
    static const plim_diff_figure_id order[] = { PLIM_DIFF_FIGURE_AT, PLIM_DIFF_FIGURE_PEAK,
                                                 PLIM_DIFF_FIGURE_STEP, PLIM_DIFF_FIGURE_END,
                                                 PLIM_DIFF_FIGURE_RESERVED };
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const int64_t a = change_of(left, order[i]);
        const int64_t b = change_of(right, order[i]);
        if (a != b && (a > 0 || b > 0)) {
            return a > b;
        }
    }
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) { /* nothing grew */
        const int64_t a = change_of(left, order[i]);
        const int64_t b = change_of(right, order[i]);
        if (a != b) {
            return a < b;
        }
    }
    return !left->is_same && right->is_same;
}

size_t plim_diffed_rank_worst(const plim_diffed_rank *ranks, size_t count)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (worst == SIZE_MAX || is_worse(&ranks[i], &ranks[worst])) {
            worst = i;
        }
    }
    return worst;
}
