/*
 * diff.c - the page of a pair. See diff.h.
 */
#include "report/model/diff.h"

#include "report/model/diff_parts.h"
#include "report/model/diff_ranks.h"
#include "report/model/inspect_parts.h"

#include <string.h>

static void say_side(plim_page *page, const char *lead, const char *name)
{
    plim_page_file(page, name);
    page->last->lead = lead;
    page->last->hang = (uint32_t)strlen("before");
}

static void say_sides(plim_page *page, const plim_diffed *diffed)
{
    if (diffed->before.history == diffed->after.history) {
        plim_page_file(page, diffed->before.name);
        return;
    }
    say_side(page, "before", diffed->before.name);
    say_side(page, "after", diffed->after.name);
}

/* The devices that hold anything, as ranks; NULL after a failure. */
static plim_diffed_rank *gather(plim_page *page, const plim_diffed *diffed, size_t *ret_count)
{
    const size_t count = plim_diff_device_count(diffed->result);
    plim_diffed_rank *const ranks = plim_page_alloc(page, count + 1, sizeof *ranks);
    *ret_count = 0;
    for (size_t i = 0; ranks != NULL && i < count; i++) {
        const plim_diff_device *const device = plim_diff_device_at(diffed->result, i);
        if (!plim_diff_has_memory(diffed, device)) {
            continue;
        }
        if (plim_diffed_rank_of(diffed, device, &ranks[*ret_count], NULL) != PLIM_OK) {
            page->status = PLIM_OUT_OF_HOST_MEMORY;
            return NULL;
        }
        ++*ret_count;
    }
    return ranks;
}

static const plim_diff_device *find_device(const plim_diffed *diffed, int32_t number)
{
    for (size_t i = 0; i < plim_diff_device_count(diffed->result); i++) {
        const plim_diff_device *const device = plim_diff_device_at(diffed->result, i);
        if (device->device == number) {
            return device;
        }
    }
    return NULL;
}

static void say_device(plim_page *page, const plim_diff_view *view, const plim_diffed *diffed,
                       const plim_diffed_rank *rank, bool is_named)
{
    plim_diff_part part = { .page = page,
                            .view = view,
                            .diffed = diffed,
                            .device = find_device(diffed, rank->device),
                            .rank = *rank };
    plim_page_gap(page);
    if (is_named) {
        plim_page_say(page, "device", PLIM_TONE_HEADING, "{}",
                      PLIM_FACTS(plim_words(plim_device_name(page, rank->device))));
    }
    plim_diff_answer(&part);
    plim_diff_conditions(&part);
    if (rank->in_before && rank->in_after) {
        plim_diff_figures(&part);
        plim_diff_groups(&part);
    }
}

static void say_next(plim_page *page, const plim_diff_view *view, const plim_diffed *diffed)
{
    const char *const name = diffed->after.name;
    if (view->no_next) {
        return;
    }
    plim_page_gap(page);
    plim_page_say(page, "next", PLIM_TONE_FAINT,
                  "Next: plimsoll diagnose {} says what happens there; --top=N more lines, --json "
                  "everything",
                  PLIM_FACTS(plim_words(name)));
}

/* The device of --device, or that which changed for the worse most. */
static size_t choose(const plim_diff_view *view, const plim_diffed_rank *ranks, size_t count)
{
    if (!view->one_device) {
        return plim_diffed_rank_worst(ranks, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (ranks[i].device == view->device) {
            return i;
        }
    }
    return SIZE_MAX;
}

void plim_diff_page(plim_page *page, const plim_diff_view *view, const plim_diffed *diffed)
{
    size_t count = 0;
    const plim_diffed_rank *const ranks = gather(page, diffed, &count);
    if (ranks == NULL) {
        return;
    }
    const size_t shown = choose(view, ranks, count);
    say_sides(page, diffed);
    if (shown == SIZE_MAX && view->one_device) {
        plim_page_gap(page);
        plim_page_say(page, "no_such_device", PLIM_TONE_WARN,
                      "Neither recording has memory of device {}.",
                      PLIM_FACTS(plim_id("device", view->device)));
        return;
    }
    if (shown == SIZE_MAX) {
        plim_page_gap(page);
        plim_page_say(page, "empty", PLIM_TONE_WARN,
                      "Nothing to compare: no events and no segments on either side.", NULL);
        return;
    }
    say_device(page, view, diffed, &ranks[shown], count > 1);
    if (count > 1 && !view->one_device) {
        plim_diff_devices_table(page, ranks, count);
    }
    say_next(page, view, diffed);
}
