/*
 * categories_lifetimes.c - see categories_lifetimes.h.
 *
 * Forward fills memory and backward empties it, so the peak of a step parts the two, and what is
 * live there was saved for backward. This is worth less than a stack, and only asked without any.
 */
#include "phases/categories_lifetimes.h"

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

static plim_category judge(const step_facts *facts, uint32_t made, uint32_t ended)
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

void plim_categories_by_lifetimes(uint8_t *of, const plim_timeline *timeline,
                                  const plim_passes *passes, const plim_steps *steps)
{
    if (steps->count == 0) {
        return;
    }
    const plim_events *events = passes->events;
    const uint32_t *ended = timeline->start.lifetimes.partner;
    const plim_free_halves halves = plim_timeline_halves(timeline);
    uint8_t *const of_event = of + plim_timeline_recorded_id(timeline, 0);
    const uint64_t first = steps->first_events[0];
    for (uint64_t i = 0; i < first; i++) {
        const bool is_kept = ended[i] == PLIM_NONE || ended[i] > passes->last_request;
        if (events->action[i] == PLIM_ALLOC && of_event[i] == PLIM_CATEGORY_OTHER) {
            of_event[i] = is_kept            ? PLIM_CATEGORY_PARAMETERS
                          : ended[i] < first ? PLIM_CATEGORY_TEMPORARY
                                             : PLIM_CATEGORY_OTHER;
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
                of_event[i] = (uint8_t)judge(&facts, i, ended[i]);
            }
        }
    }
}
