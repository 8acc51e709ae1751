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

#include "base/map.h"
#include "base/total.h"
#include "diagnose/case/changes.h"

/* Short is up to this share of the step. */
#define SHORT_SHARE 8
/* Short allocations of less than this share of the peak do not make it. */
#define BURST_SHARE 20

typedef struct burst_search {
    plim_case *one;
    plim_map makers; /* maker → 1 */
    uint64_t first;  /* events of the peak's step */
    uint64_t end;
    uint64_t longest; /* life of what is of the burst, in events */
} burst_search;

/* The maker of a request: its stack, or without one its size. */
static uint64_t maker_of(const plim_events *events, uint64_t event)
{
    return events->stack[event] != PLIM_NONE ? events->stack[event]
                                             : events->bytes[event] | UINT64_C(1) << 63;
}

/* The event that ends it, or that the recording ends with. */
static uint64_t end_of(const plim_timeline *timeline, uint64_t event)
{
    const uint32_t end = timeline->start.lifetimes.partner[event];
    return end != PLIM_NONE ? end : timeline->device->events.count;
}

static bool is_short(const burst_search *at, uint64_t event)
{
    const plim_timeline *const timeline = &at->one->timeline;
    const uint64_t end = end_of(timeline, event);
    return end < timeline->device->events.count && end - event <= at->longest;
}

static uint64_t peak_event(const burst_search *at)
{
    return (uint64_t)at->one->facts->peak.event;
}

/* Bytes of what is short and live at the peak. */
static plim_total short_bytes(const burst_search *at)
{
    const plim_events *const events = at->one->passes.events;
    plim_total bytes = 0;
    for (uint64_t i = at->first; i <= peak_event(at); i++) {
        if (events->action[i] == PLIM_ALLOC && end_of(&at->one->timeline, i) > peak_event(at) &&
            is_short(at, i)) {
            bytes += events->bytes[i];
        }
    }
    return bytes;
}

static bool find_makers(burst_search *at)
{
    const plim_events *const events = at->one->passes.events;
    for (uint64_t i = at->first; i <= peak_event(at); i++) {
        if (events->action[i] == PLIM_ALLOC && end_of(&at->one->timeline, i) > peak_event(at) &&
            is_short(at, i) && !plim_map_put(&at->makers, maker_of(events, i), 1)) {
            return false;
        }
    }
    return true;
}

static bool is_of_burst(const burst_search *at, uint64_t id)
{
    const int64_t born = plim_live_change_born(&at->one->timeline, id);
    return born != PLIM_AT_START && is_short(at, (uint64_t)born) &&
           plim_map_get(&at->makers, maker_of(at->one->passes.events, (uint64_t)born)) !=
               PLIM_MAP_ABSENT;
}

/* The highest moment that has nothing of the burst. */
static void find_next_peak(const burst_search *at, plim_peak_place *place)
{
    const plim_timeline *const timeline = &at->one->timeline;
    plim_cursor cursor;
    plim_cursor_init(&cursor, timeline);
    uint64_t members = 0; /* of the burst, live */
    for (uint64_t event = 0; plim_cursor_next(&cursor); event++) {
        const plim_live_change change = plim_live_change_of(timeline, event);
        if (change.ended != PLIM_NO_ALLOCATION && members > 0 && is_of_burst(at, change.ended)) {
            members--;
        }
        if (change.begun != PLIM_NO_ALLOCATION && is_of_burst(at, change.begun)) {
            members++;
        }
        const uint64_t live = plim_cursor_figures(&cursor).requested_bytes;
        if (members == 0 && live > place->next_peak_bytes) {
            place->next_peak_bytes = live;
            place->next_peak_event = (int64_t)event;
        }
    }
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
    at->longest = length / SHORT_SHARE;
    if (short_bytes(at) < at->one->facts->peak.requested_bytes / BURST_SHARE) {
        at->longest = length;
    }
    if (!find_makers(at)) {
        return false;
    }
    if (at->makers.count > 0) {
        find_next_peak(at, place);
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
    place->step = plim_case_step(one, (uint64_t)event);
    place->pass = pass_name(&one->passes, (uint64_t)event);
    if (place->step != PLIM_NO_STEP) {
        at.first = one->step_facts[place->step].first_event;
        at.end = one->step_facts[place->step].end_event;
        place->position = (double)((uint64_t)event - at.first) / (double)(at.end - at.first);
    }
    plim_map_init(&at.makers, one->mem);
    const bool is_done = find_burst(&at, place);
    plim_map_deinit(&at.makers);
    return is_done;
}
