/*
 * peak_place.c - see peak_place.h.
 *
 * The burst of the peak is what stands at it for a short while: of what is live there, the
 * allocations that end within an eighth of the step (without steps: of the recording) after they
 * begin. Where those are next to nothing it is all that the step itself made and frees again. What
 * the same code makes elsewhere, for as short a while, is of the burst too: a change of that code
 * removes it everywhere.
 */
#include "diagnose/composition/peak_place.h"

#include "base/total.h"
#include "diagnose/case/next_peak.h"

/* Short is up to this share of the step. */
#define SHORT_SHARE 8
/* Short allocations of less than this share of the peak do not make it. */
#define BURST_SHARE 20

typedef struct burst_search {
    plim_case *one;
    plim_makers makers;
    uint64_t first; /* events of the peak's step */
    uint64_t end;
} burst_search;

static uint64_t peak_event(const burst_search *at)
{
    return (uint64_t)at->one->facts->peak.event;
}

/* True if it is short and live at the peak. */
static bool is_member(const burst_search *at, uint64_t event)
{
    const uint32_t end = at->one->view.timeline.start.lifetimes.partner[event];
    return (end == PLIM_NONE || end > peak_event(at)) &&
           plim_lives_short(at->one, event, at->makers.longest);
}

/* Bytes of what is short and live at the peak. */
static plim_total short_bytes(const burst_search *at)
{
    const plim_events *const events = at->one->passes.events;
    plim_total bytes = 0;
    for (uint64_t i = at->first; i <= peak_event(at); i++) {
        if (events->action[i] == PLIM_ALLOC && is_member(at, i)) {
            bytes += events->bytes[i];
        }
    }
    return bytes;
}

static bool find_makers(burst_search *at)
{
    const plim_events *const events = at->one->passes.events;
    for (uint64_t i = at->first; i <= peak_event(at); i++) {
        if (events->action[i] == PLIM_ALLOC && is_member(at, i) &&
            !plim_map_put(&at->makers.keys, plim_maker_of(events, i), 1)) {
            return false;
        }
    }
    return true;
}

static const char *pass_name(const plim_passes *passes, uint64_t event)
{
    static const char *const names[] = {
        [PLIM_PASS_SETUP] = "setup",       [PLIM_PASS_BETWEEN] = "between",
        [PLIM_PASS_FORWARD] = "forward",   [PLIM_PASS_RECOMPUTE] = "recompute",
        [PLIM_PASS_BACKWARD] = "backward", [PLIM_PASS_OPTIMIZER] = "optimizer",
    };
    if (!passes->has_any_stack && passes->list.count < 2) {
        return NULL; /* nothing parts one pass from another */
    }
    return names[plim_passes_at(passes, event)->kind];
}

static bool find_burst(burst_search *at, plim_peak_place *place)
{
    const uint64_t length = at->end - at->first;
    at->makers.longest = length / SHORT_SHARE;
    if (short_bytes(at) < at->one->facts->peak.requested_bytes / BURST_SHARE) {
        at->makers.longest = length;
    }
    if (!find_makers(at)) {
        return false;
    }
    if (at->makers.keys.count > 0) {
        place->next_peak_bytes = plim_next_peak(at->one, &at->makers, &place->next_peak_event);
    }
    return true;
}

bool plim_place_peak(plim_case *one)
{
    plim_peak_place *const place = &one->out->peak_place;
    *place = (plim_peak_place){ .step = PLIM_NO_STEP, .next_peak_event = PLIM_AT_START };
    const int64_t event = one->facts->peak.event;
    if (event < 0) {
        return true;
    }
    burst_search at = { .one = one, .first = 0, .end = one->passes.events->count };
    place->step = plim_steps_at(&one->view.steps, (uint64_t)event);
    place->pass = pass_name(&one->passes, (uint64_t)event);
    if (place->step != PLIM_NO_STEP) {
        at.first = one->step_facts[place->step].first_event;
        at.end = one->step_facts[place->step].end_event;
        place->position = (double)((uint64_t)event - at.first) / (double)(at.end - at.first);
    }
    plim_map_init(&at.makers.keys, one->mem);
    const bool is_done = find_burst(&at, place);
    plim_map_deinit(&at.makers.keys);
    return is_done;
}
