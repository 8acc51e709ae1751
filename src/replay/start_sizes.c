/*
 * start_sizes.c - where blocks of the start ended that no longer stand at the end.
 *
 *   |[ A: requested 3 MiB, block unknown    |  ?  | free                    ][ B ]|
 *    rounded request ..................begin ^     ^ the first allocation here   ^ limit
 *
 * A block of a large plain segment may be up to 1 MiB larger than its request: so much is not cut
 * off. While it lives, what is behind it is one free block, and an allocation takes the front of a
 * free block. So the first allocation between A and B tells where A ended. Where there is none, a
 * driver call tells something: PyTorch asks for memory only when no free block is large enough.
 */
#include "base/memory.h"
#include "replay/taking.h"
#include "settings/rounding.h"

#include <stdlib.h>

/* More of them are compared with no further driver call. */
#define CALLS_MAX 4096u

/* A block whose end is looked for. */
typedef struct open_end {
    plim_standing *row;
    plim_addr begin; /* where it ends at the least */
    uint32_t ended;  /* the event that frees it, or PLIM_NONE */
    uint16_t stream;
    bool is_known;
} open_end;

typedef struct search {
    plim_taking *taking;
    PLIM_VEC(open_end) ends; /* by address */
    size_t open;             /* of them, not known yet */
    uint64_t last_event;     /* nothing is learned behind it */
    uint32_t calls;
} search;

static uint32_t end_of(const plim_taking *taking, const plim_standing *row)
{
    const plim_events *events = &taking->program->device->events;
    if (row->event == PLIM_NONE || events->action[row->event] != PLIM_ALLOC) {
        return row->event;
    }
    return taking->start.lifetimes.partner[row->event];
}

static bool add(search *s, plim_standing *row, const plim_segment *segment)
{
    const plim_settings *settings = &s->taking->program->facts.conf.settings;
    if (!plim_standing_is_placeable(row) || row->block_bytes > 0 || row->deferral != PLIM_NONE) {
        return true;
    }
    const open_end end = { .row = row,
                           .begin = row->addr + plim_round_size(settings, row->requested_bytes),
                           .ended = end_of(s->taking, row),
                           .stream = (uint16_t)segment->stream };
    if (end.begin >= row->limit || row->limit - end.begin <= PLIM_SMALL_BYTES_MAX) {
        return true; /* the rule says where it ends */
    }
    if (end.ended != PLIM_NONE && end.ended > s->last_event) {
        s->last_event = end.ended;
    }
    s->open++;
    return PLIM_VEC_PUSH(s->taking->program->mem, &s->ends, end);
}

/* The rows in large plain segments; both are in order of addresses. */
static bool collect(search *s)
{
    const plim_program_start *start = &s->taking->program->start;
    size_t next = 0;
    for (size_t i = 0; i < start->segments.count; i++) {
        const plim_segment *segment = &start->segments.items[i];
        const plim_addr end = segment->addr + segment->bytes;
        for (; next < s->taking->standing.count; next++) {
            plim_standing *row = &s->taking->standing.items[next];
            if (row->addr >= end) {
                break;
            }
            const bool is_inside = row->addr >= segment->addr;
            if (is_inside && segment->is_large && !segment->is_expandable &&
                !add(s, row, segment)) {
                return false;
            }
        }
    }
    return true;
}

/* The block that an address lies behind, or NULL. */
static open_end *find(const search *s, plim_addr addr)
{
    size_t low = 0;
    size_t high = s->ends.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->ends.items[middle].begin <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    open_end *end = low > 0 ? &s->ends.items[low - 1] : NULL;
    return end != NULL && addr < end->row->limit ? end : NULL;
}

static void learn_from_alloc(search *s, uint64_t event)
{
    const plim_addr addr = s->taking->program->device->events.addr[event];
    open_end *end = find(s, addr);
    if (end == NULL || end->is_known || event > end->ended) {
        return;
    }
    end->is_known = true;
    s->open--;
    if (addr - end->begin <= PLIM_SMALL_BYTES_MAX) {
        end->row->block_bytes = addr - end->row->addr;
    }
}

/* Memory was asked for a request: what was free behind a block was less than that. */
static void learn_from_call(search *s, uint64_t event)
{
    const plim_program *program = s->taking->program;
    const plim_events *events = &program->device->events;
    const plim_settings *settings = &program->facts.conf.settings;
    uint64_t request = event;
    while (request < program->to_event && events->action[request] != PLIM_ALLOC) {
        request++;
    }
    uint16_t stream = 0;
    if (request == program->to_event || settings->max_split_bytes != PLIM_UNLIMITED ||
        s->calls >= CALLS_MAX || events->bytes[request] - 1 >= PLIM_REQUEST_BYTES_MAX - 1 ||
        !plim_taking_stream(s->taking, events->stream[request], &stream)) {
        return;
    }
    s->calls++;
    const uint64_t bytes = plim_round_size(settings, events->bytes[request]);
    for (size_t i = 0; bytes > PLIM_SMALL_BYTES_MAX && i < s->ends.count; i++) {
        open_end *end = &s->ends.items[i];
        const uint64_t gap = end->row->limit - end->begin;
        if (end->is_known || event > end->ended || end->stream != stream || gap < bytes ||
            gap - bytes >= PLIM_SMALL_BYTES_MAX) {
            continue;
        }
        end->begin += gap - bytes + PLIM_BLOCK_BYTES_MIN;
        end->row->block_bytes = end->begin - end->row->addr;
    }
}

bool plim_taking_learn_sizes(plim_taking *taking)
{
    search s = { .taking = taking };
    const plim_events *events = &taking->program->device->events;
    bool done = collect(&s);
    for (uint64_t i = taking->program->from_event;
         done && s.open > 0 && i < taking->program->to_event && i <= s.last_event; i++) {
        if (events->action[i] == PLIM_ALLOC) {
            learn_from_alloc(&s, i);
        } else if (events->action[i] == PLIM_SEGMENT_ALLOC) {
            learn_from_call(&s, i);
        }
    }
    PLIM_VEC_FREE(taking->program->mem, &s.ends);
    return done;
}
