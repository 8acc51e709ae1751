/*
 * next_peak.c - see next_peak.h.
 */
#include "diagnose/case/next_peak.h"

#include "diagnose/case/changes.h"

uint64_t plim_maker_of(const plim_events *events, uint64_t event)
{
    return events->stack[event] != PLIM_NONE ? events->stack[event]
                                             : events->bytes[event] | UINT64_C(1) << 63;
}

bool plim_lives_short(const plim_case *one, uint64_t event, uint64_t longest)
{
    const uint32_t end = one->view.timeline.start.lifetimes.partner[event];
    return end != PLIM_NONE && end - event <= longest;
}

static bool is_of_burst(const plim_case *one, const plim_makers *makers, uint64_t id)
{
    const int64_t born = plim_live_change_born(&one->view.timeline, id);
    return born != PLIM_AT_START && plim_lives_short(one, (uint64_t)born, makers->longest) &&
           plim_map_get(&makers->keys, plim_maker_of(one->passes.events, (uint64_t)born)) !=
               PLIM_MAP_ABSENT;
}

uint64_t plim_next_peak(const plim_case *one, const plim_makers *makers, int64_t *ret_event)
{
    plim_cursor cursor;
    plim_cursor_init(&cursor, &one->view.timeline);
    uint64_t members = 0; /* of the burst, live */
    uint64_t highest = 0;
    *ret_event = PLIM_AT_START;
    for (uint64_t event = 0; plim_cursor_next(&cursor); event++) {
        const plim_live_change change = plim_live_change_of(&one->view.timeline, event);
        if (change.ended != PLIM_NO_ALLOCATION && members > 0 &&
            is_of_burst(one, makers, change.ended)) {
            members--;
        }
        if (change.begun != PLIM_NO_ALLOCATION && is_of_burst(one, makers, change.begun)) {
            members++;
        }
        const uint64_t live = plim_cursor_figures(&cursor).requested_bytes;
        if (members == 0 && live > highest) {
            highest = live;
            *ret_event = (int64_t)event;
        }
    }
    return highest;
}
