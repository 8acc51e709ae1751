/*
 * blocks.c - one walk over the events with the blocks of large segments, as the allocator has them.
 *
 * A large segment that is not expandable is a chain of blocks, taken or free, and no two free ones
 * touch. An allocation is found by its address: it takes the front of a free block, whose size is
 * all there is to know. Everything else is as large as its rounded request, and costs a comparison.
 *
 *   segment 0x7f..., 20 MiB    [ taken ][ free ][ taken ][ taken ][ free            ]
 *   by address                 ^        ^       ^        ^        ^
 *
 * A block of the start whose end is not known has its row, as long as that is looked for. Where an
 * allocation does not fit the chains, nothing is changed and its size is an estimate.
 */
#include "history/blocks.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/map.h"
#include "base/numbers.h"
#include "history/driver_actions.h"

#include <stdlib.h>

/* Steps along chains for what does not fit, and for what is not known: more would be quadratic. */
#define STEPS_MAX ((uint64_t)1 << 24)

/* Something of the start; by address. */
typedef struct start_row {
    plim_addr addr;
    uint64_t requested_bytes;
    uint64_t *bytes;       /* of its block */
    uint64_t *slack_bytes; /* of that */
    uint32_t link;         /* its block, or PLIM_NONE */
    bool is_known;         /* it stands at the end */
} start_row;

typedef enum link_state { LINK_GONE, LINK_FREE, LINK_TAKEN } link_state;

/* A block in the chain of its segment. */
typedef struct chain_link {
    plim_addr begin;
    plim_addr end;
    uint32_t before; /* in the segment, or PLIM_NONE */
    uint32_t after;  /* likewise; of one that is gone: the next such */
    uint32_t open;   /* row of `rows` + 1 while its end is not known, else 0 */
    link_state state;
} chain_link;

typedef struct block_walk {
    plim_blocks *blocks;
    plim_start *start;
    const plim_events *events;
    plim_spans segments; /* that stand now */
    PLIM_VEC(chain_link) links;
    uint32_t gone;    /* the first link that is gone, or PLIM_NONE */
    plim_map by_addr; /* address: the last link that began there; it may be gone */
    PLIM_VEC(start_row) rows;
    uint64_t open_count; /* of them, whose end is not known */
    uint64_t steps;
    size_t next_known;
    size_t next_of_start; /* in the list of what ends blocks of the start */
    size_t next_displacement;
} block_walk;

/* --- sizes --- */

/* Rounded or not: no rounding goes past a power of two. */
static bool is_large(uint64_t bytes)
{
    return bytes > PLIM_SMALL_BYTES_MAX;
}

/* The block that a rounded request gets out of a free block of the large pool. */
static uint64_t cut(const plim_block_rule *rule, uint64_t rounded_bytes, uint64_t room_bytes)
{
    const bool is_cut =
        rounded_bytes < rule->max_split_bytes && room_bytes - rounded_bytes > PLIM_SMALL_BYTES_MAX;
    return is_cut ? rounded_bytes : room_bytes;
}

static bool push_odd(block_walk *walk, uint32_t alloc, plim_block_size size)
{
    plim_blocks *const blocks = walk->blocks;
    const plim_odd_block odd = { .bytes = size.bytes,
                                 .alloc = alloc,
                                 .slack_bytes = (uint32_t)plim_min(size.slack_bytes, UINT32_MAX) };
    blocks->is_odd[alloc / 64] |= (uint64_t)1 << alloc % 64;
    return PLIM_VEC_PUSH(blocks->mem, &blocks->odd, odd);
}

/* --- chains --- */

static chain_link *link_of(const block_walk *walk, uint32_t index)
{
    return index == PLIM_NONE ? NULL : &walk->links.items[index];
}

/* The block that begins at an address, or PLIM_NONE. */
static uint32_t link_at(const block_walk *walk, plim_addr addr)
{
    const uint64_t index = plim_map_get(&walk->by_addr, addr);
    const bool is_there = index != PLIM_MAP_ABSENT && walk->links.items[index].state != LINK_GONE &&
                          walk->links.items[index].begin == addr;
    return is_there ? (uint32_t)index : PLIM_NONE;
}

/* A new link after another one, or first in its segment; PLIM_NONE: no memory. */
static uint32_t add_link(block_walk *walk, plim_addr begin, plim_addr end, uint32_t before)
{
    uint32_t index = (uint32_t)walk->links.count;
    const chain_link fresh = {
        .begin = begin, .end = end, .before = before, .after = PLIM_NONE, .state = LINK_FREE
    };
    if (walk->gone != PLIM_NONE) {
        index = walk->gone;
    } else if (!PLIM_VEC_PUSH(walk->blocks->mem, &walk->links, fresh)) {
        return PLIM_NONE;
    }
    if (!plim_map_put(&walk->by_addr, begin, index)) {
        return PLIM_NONE; /* the walk ends here */
    }
    walk->gone = index == walk->gone ? walk->links.items[index].after : walk->gone;
    walk->links.items[index] = fresh;
    chain_link *const low = link_of(walk, before);
    if (low != NULL) {
        walk->links.items[index].after = low->after;
        low->after = index;
    }
    chain_link *const high = link_of(walk, walk->links.items[index].after);
    if (high != NULL) {
        high->before = index;
    }
    return index;
}

/* Takes a link out of its chain. */
static void remove_link(block_walk *walk, uint32_t index)
{
    chain_link *const link = link_of(walk, index);
    chain_link *const low = link_of(walk, link->before);
    chain_link *const high = link_of(walk, link->after);
    if (low != NULL) {
        low->after = link->after;
    }
    if (high != NULL) {
        high->before = link->before;
    }
    walk->open_count -= link->open != 0;
    link->state = LINK_GONE;
    link->after = walk->gone;
    walk->gone = index;
}

/* Takes the first bytes of a free block. */
static bool take_front(block_walk *walk, uint32_t index, uint64_t bytes)
{
    chain_link *link = link_of(walk, index);
    const plim_addr end = link->end;
    link->state = LINK_TAKEN;
    if (bytes >= end - link->begin) {
        return true;
    }
    link->end = link->begin + bytes;
    return add_link(walk, link->end, end, index) != PLIM_NONE;
}

/* A block is free again, as one with its free neighbours. */
static void give_back(block_walk *walk, plim_addr addr)
{
    const uint32_t index = link_at(walk, addr);
    chain_link *const link = link_of(walk, index);
    if (link == NULL || link->state != LINK_TAKEN) {
        return;
    }
    walk->open_count -= link->open != 0;
    link->open = 0;
    link->state = LINK_FREE;
    const chain_link *const high = link_of(walk, link->after);
    if (high != NULL && high->state == LINK_FREE) {
        link->end = high->end;
        remove_link(walk, link->after);
    }
    chain_link *const low = link_of(walk, link->before);
    if (low != NULL && low->state == LINK_FREE) {
        low->end = link->end;
        remove_link(walk, index);
    }
}

/* --- what is learned of the start --- */

/* Moves the end of an open block, and with it the free block after it. False: no memory. */
static bool move_end(block_walk *walk, chain_link *open, plim_addr end)
{
    const uint32_t after = open->after;
    chain_link *const free = link_of(walk, after);
    open->end = end;
    *walk->rows.items[open->open - 1].bytes = end - open->begin;
    if (free == NULL || free->state != LINK_FREE || free->begin == end) {
        return true;
    }
    free->begin = end;
    return plim_map_put(&walk->by_addr, end, after);
}

/* An allocation takes the front of a free block: there the block before it ended. */
static void close_end(block_walk *walk, chain_link *open)
{
    *walk->rows.items[open->open - 1].slack_bytes = 0;
    walk->open_count--;
    open->open = 0;
}

/* True if an open block can have ended at an address. */
static bool can_end(const block_walk *walk, const chain_link *open, plim_addr addr)
{
    const start_row *const row = &walk->rows.items[open->open - 1];
    const uint64_t least = plim_rule_round(&walk->blocks->rule, row->requested_bytes);
    return addr - open->begin >= least && addr - open->begin - least <= PLIM_SMALL_BYTES_MAX;
}

/* The block that holds an address, in a segment with a chain; or PLIM_NONE. */
static uint32_t link_around(block_walk *walk, const plim_span *segment, plim_addr addr)
{
    uint32_t index = link_at(walk, segment->begin);
    while (index != PLIM_NONE && link_of(walk, index)->end <= addr) {
        walk->steps++;
        index = walk->steps > STEPS_MAX ? PLIM_NONE : link_of(walk, index)->after;
    }
    return index;
}

/* Makes an address that an allocation takes the front of a free block, where that teaches the end
 * of an open one; else PLIM_NONE. False: no memory. */
static bool learn_end(block_walk *walk, const plim_span *segment, plim_addr addr,
                      uint32_t *ret_index)
{
    *ret_index = PLIM_NONE;
    if (walk->open_count == 0) {
        return true;
    }
    chain_link *open = link_of(walk, link_around(walk, segment, addr));
    if (open != NULL && open->state == LINK_FREE) {
        open = link_of(walk, open->before);
    }
    const chain_link *const after = open == NULL ? NULL : link_of(walk, open->after);
    if (after == NULL || open->open == 0 || after->state != LINK_FREE || after->end <= addr ||
        !can_end(walk, open, addr)) {
        return true;
    }
    *ret_index = open->after;
    return move_end(walk, open, addr);
}

/* New memory was needed for a request: what was free after an open block was less than that. */
static bool compare_free(block_walk *walk, chain_link *open, uint64_t wanted_bytes)
{
    const chain_link *const free = link_of(walk, open->after);
    const start_row *const row = &walk->rows.items[open->open - 1];
    const uint64_t room = free == NULL || free->state != LINK_FREE ? 0 : free->end - free->begin;
    const uint64_t off = room < wanted_bytes ? 0 : room - wanted_bytes + PLIM_BLOCK_BYTES_MIN;
    if (off == 0 || off > *row->slack_bytes || off >= room) {
        return true;
    }
    *row->slack_bytes -= off;
    return move_end(walk, open, open->end + off);
}

static bool learn_from_call(block_walk *walk, uint64_t event)
{
    const plim_events *const events = walk->events;
    if (walk->open_count == 0 || walk->blocks->rule.max_split_bytes != UINT64_MAX) {
        return true;
    }
    uint64_t request = event;
    while (request < events->count && events->action[request] != PLIM_ALLOC) {
        request++;
    }
    const uint64_t wanted =
        request < events->count ? plim_rule_round(&walk->blocks->rule, events->bytes[request]) : 0;
    walk->steps += walk->rows.count + (request - event);
    if (!is_large(wanted) || walk->steps > STEPS_MAX) {
        return true;
    }
    for (size_t i = 0; i < walk->rows.count; i++) {
        chain_link *const link = link_of(walk, walk->rows.items[i].link);
        const bool is_open = link != NULL && link->open == i + 1;
        const plim_span *const segment =
            is_open ? plim_spans_find(&walk->segments, link->begin) : NULL;
        if (segment != NULL && segment->tag == events->stream[request] &&
            !compare_free(walk, link, wanted)) {
            return false;
        }
    }
    return true;
}

/* --- allocations --- */

/* The free block that an allocation takes the front of; PLIM_NONE: its size is `*size`. */
static bool find_free(block_walk *walk, plim_addr addr, uint32_t *ret_index, plim_block_size *size)
{
    *ret_index = link_at(walk, addr);
    if (*ret_index != PLIM_NONE && link_of(walk, *ret_index)->state == LINK_FREE) {
        return true;
    }
    *ret_index = PLIM_NONE;
    const plim_span *const segment = plim_spans_find(&walk->segments, addr);
    if (segment != NULL && segment->joins) {
        return true; /* expandable */
    }
    size->slack_bytes = PLIM_SMALL_BYTES_MAX;
    return segment == NULL || learn_end(walk, segment, addr, ret_index);
}

static bool take_large(block_walk *walk, plim_addr addr, bool is_known, plim_block_size *size)
{
    const uint64_t rounded = size->bytes;
    uint32_t index = PLIM_NONE;
    if (!find_free(walk, addr, &index, size)) {
        return false;
    }
    if (index == PLIM_NONE) {
        return true;
    }
    chain_link *const link = link_of(walk, index);
    chain_link *const before = link_of(walk, link->before);
    if (before != NULL && before->open != 0) {
        close_end(walk, before);
    }
    const uint64_t room = link->end - link->begin;
    if (!is_known && room >= rounded) {
        size->bytes = cut(&walk->blocks->rule, rounded, room);
    }
    /* Where no completion is recorded, what was pending in the way is not known. */
    const bool is_sure = room >= rounded && walk->start->lifetimes.halves.completed;
    size->slack_bytes = is_sure ? 0 : PLIM_SMALL_BYTES_MAX;
    return take_front(walk, index, size->bytes);
}

static bool take_alloc(block_walk *walk, uint32_t event)
{
    const plim_known_block *const known =
        walk->next_known < walk->start->known.count &&
                walk->start->known.items[walk->next_known].alloc == event
            ? &walk->start->known.items[walk->next_known++]
            : NULL;
    const uint64_t bytes = walk->events->bytes[event];
    if (!is_large(bytes) && known == NULL) {
        return true;
    }
    const uint64_t rounded = plim_rule_round(&walk->blocks->rule, bytes);
    plim_block_size size = { known != NULL ? known->bytes : rounded, 0 };
    if (is_large(rounded) && !take_large(walk, walk->events->addr[event], known != NULL, &size)) {
        return false;
    }
    size.slack_bytes = known != NULL ? 0 : size.slack_bytes;
    return (size.bytes == rounded && size.slack_bytes == 0) || push_odd(walk, event, size);
}

/* --- the start --- */

static int compare_rows(const void *a, const void *b)
{
    const plim_addr left = ((const start_row *)a)->addr;
    const plim_addr right = ((const start_row *)b)->addr;
    return (left > right) - (left < right);
}

static bool collect_rows(block_walk *walk)
{
    plim_start *const start = walk->start;
    for (size_t i = 0; i < start->allocations.count; i++) {
        plim_start_allocation *const one = &start->allocations.items[i];
        const start_row row = { one->addr,         one->requested_bytes,
                                &one->block_bytes, &one->slack_bytes,
                                PLIM_NONE,         one->has_block };
        if (!PLIM_VEC_PUSH(walk->blocks->mem, &walk->rows, row)) {
            return false;
        }
    }
    for (size_t i = 0; i < start->pending.count; i++) {
        plim_start_pending *const one = &start->pending.items[i];
        const start_row row = { one->addr,         one->requested_bytes,
                                &one->block_bytes, &one->slack_bytes,
                                PLIM_NONE,         one->has_block };
        if (!PLIM_VEC_PUSH(walk->blocks->mem, &walk->rows, row)) {
            return false;
        }
    }
    if (walk->rows.count > 0) {
        qsort(walk->rows.items, walk->rows.count, sizeof *walk->rows.items, compare_rows);
    }
    return true;
}

/* The size of a block of the start, of which the segment has `room` bytes: 0, it is outside. Where
 * it is not certain, it may still be learned. */
static void size_row(const block_walk *walk, const start_row *row, bool is_plain, uint64_t room)
{
    const plim_block_rule *const rule = &walk->blocks->rule;
    const uint64_t rounded = plim_rule_round(rule, row->requested_bytes);
    if (row->is_known) {
        return;
    }
    *row->bytes = rounded;
    *row->slack_bytes = is_large(rounded) ? PLIM_SMALL_BYTES_MAX : 0;
    if (is_large(rounded) && is_plain && room >= rounded) {
        *row->bytes = cut(rule, rounded, room);
        *row->slack_bytes = plim_min(PLIM_SMALL_BYTES_MAX, room - rounded);
    } else if (room > 0 && !is_plain) {
        *row->slack_bytes = 0;
    }
}

/* Cuts a block of the start out of the free end of its segment's chain. */
static bool chain_row(block_walk *walk, size_t index, uint32_t *last)
{
    start_row *const row = &walk->rows.items[index];
    const chain_link *link = link_of(walk, *last);
    if (row->addr < link->begin || link->state != LINK_FREE) {
        return true; /* it overlaps the one before */
    }
    if (row->addr > link->begin) {
        *last = add_link(walk, row->addr, link->end, *last);
        if (*last == PLIM_NONE) {
            return false;
        }
        link_of(walk, link_of(walk, *last)->before)->end = row->addr;
    }
    row->link = *last;
    if (!take_front(walk, *last, *row->bytes)) {
        return false;
    }
    if (*row->slack_bytes > 0) {
        link_of(walk, *last)->open = (uint32_t)index + 1;
        walk->open_count++;
    }
    const uint32_t after = link_of(walk, *last)->after;
    *last = after != PLIM_NONE ? after : *last;
    return true;
}

/* The rows of a segment, from `*next` on, and its chain. */
static bool place_segment(block_walk *walk, const plim_span *segment, size_t *next)
{
    const bool is_plain =
        !segment->joins && segment->end - segment->begin != PLIM_SMALL_SEGMENT_BYTES;
    uint32_t last = is_plain ? add_link(walk, segment->begin, segment->end, PLIM_NONE) : PLIM_NONE;
    if (is_plain && last == PLIM_NONE) {
        return false;
    }
    for (; *next < walk->rows.count && walk->rows.items[*next].addr < segment->end; (*next)++) {
        const start_row *const row = &walk->rows.items[*next];
        const plim_addr limit = *next + 1 < walk->rows.count
                                    ? plim_min(walk->rows.items[*next + 1].addr, segment->end)
                                    : segment->end;
        size_row(walk, row, is_plain, limit - row->addr);
        if (is_plain && !chain_row(walk, *next, &last)) {
            return false;
        }
    }
    return true;
}

static bool place_start(block_walk *walk)
{
    size_t next = 0;
    for (const plim_span *segment = plim_spans_first(&walk->segments); segment != NULL;
         segment = plim_spans_next(&walk->segments, segment)) {
        for (; next < walk->rows.count && walk->rows.items[next].addr < segment->begin; next++) {
            size_row(walk, &walk->rows.items[next], false, 0);
        }
        if (!place_segment(walk, segment, &next)) {
            return false;
        }
    }
    for (; next < walk->rows.count; next++) {
        size_row(walk, &walk->rows.items[next], false, 0);
    }
    return true;
}

/* --- driver calls --- */

static void remove_chain(block_walk *walk, plim_addr begin)
{
    uint32_t index = link_at(walk, begin);
    while (index != PLIM_NONE) {
        const uint32_t after = link_of(walk, index)->after;
        remove_link(walk, index);
        index = after;
    }
}

static bool take_call(block_walk *walk, uint64_t event)
{
    const plim_events *const events = walk->events;
    const uint8_t action = events->action[event];
    const plim_addr begin = events->addr[event];
    if (action == PLIM_SEGMENT_ALLOC && !learn_from_call(walk, event)) {
        return false;
    }
    const plim_spans_result result = plim_segments_follow(&walk->segments, events, event);
    if (result == PLIM_SPANS_DONE && action == PLIM_SEGMENT_FREE) {
        remove_chain(walk, begin);
        return true;
    }
    if (result == PLIM_SPANS_DONE && action == PLIM_SEGMENT_ALLOC &&
        events->bytes[event] != PLIM_SMALL_SEGMENT_BYTES) {
        return add_link(walk, begin, plim_span_of(begin, events->bytes[event], 0, false).end,
                        PLIM_NONE) != PLIM_NONE;
    }
    return result != PLIM_SPANS_NO_MEMORY;
}

/* --- the walk --- */

static bool is_in(const plim_event_list *list, size_t *next, uint32_t event)
{
    while (*next < list->count && list->items[*next] < event) {
        (*next)++;
    }
    return *next < list->count && list->items[*next] == event;
}

/* The half of a free with which its block goes. */
static void take_free(block_walk *walk, uint32_t event)
{
    const plim_lifetimes *const lifetimes = &walk->start->lifetimes;
    if (!is_large(walk->events->bytes[event])) {
        return;
    }
    const plim_event_list *const of_start =
        lifetimes->halves.requested && lifetimes->halves.completed ? &lifetimes->start_completions
                                                                   : &lifetimes->start_frees;
    const bool is_about =
        lifetimes->partner[event] != PLIM_NONE || is_in(of_start, &walk->next_of_start, event);
    if (is_about) {
        give_back(walk, walk->events->addr[event]);
    }
}

static void take_displaced(block_walk *walk, uint32_t event)
{
    const plim_lifetimes *const lifetimes = &walk->start->lifetimes;
    if (walk->next_displacement < lifetimes->displacements.count &&
        lifetimes->displacements.items[walk->next_displacement].event == event) {
        walk->next_displacement++;
        give_back(walk, walk->events->addr[event]);
    }
}

static bool walk_events(block_walk *walk)
{
    const uint8_t *const actions = walk->events->action;
    const uint8_t last_half =
        walk->start->lifetimes.halves.completed ? PLIM_FREE_COMPLETED : PLIM_FREE_REQUESTED;
    bool done = true;
    for (uint64_t i = 0; done && i < walk->events->count; i++) {
        const uint8_t action = actions[i];
        if (action == PLIM_ALLOC) {
            take_displaced(walk, (uint32_t)i);
            done = take_alloc(walk, (uint32_t)i);
        } else if (action == last_half) {
            take_free(walk, (uint32_t)i);
        } else if (plim_is_driver_call(action)) {
            done = take_call(walk, i);
        }
    }
    return done;
}

static bool walk_all(block_walk *walk, const plim_undone *undone)
{
    if (!plim_spans_copy(&undone->segments, walk->blocks->mem, &walk->segments) ||
        !place_start(walk)) {
        return false;
    }
    return walk_events(walk);
}

/* Nothing says how blocks were cut, or where segments were: only those at the end are known. */
static bool estimate(block_walk *walk)
{
    const plim_blocks *const blocks = walk->blocks;
    for (size_t i = 0; i < walk->rows.count; i++) {
        const start_row *const row = &walk->rows.items[i];
        const uint64_t rounded = plim_rule_round(&blocks->rule, row->requested_bytes);
        if (!row->is_known) {
            *row->bytes = rounded;
            *row->slack_bytes =
                is_large(rounded) ? blocks->large_slack_bytes : blocks->small_slack_bytes;
        }
    }
    for (size_t i = 0; i < walk->start->known.count; i++) {
        const plim_known_block *const known = &walk->start->known.items[i];
        if (!push_odd(walk, known->alloc, (plim_block_size){ known->bytes, 0 })) {
            return false;
        }
    }
    return true;
}

static bool has_segments(const plim_device_history *device)
{
    uint64_t i = 0;
    while (i < device->events.count && !plim_is_driver_call(device->events.action[i])) {
        i++;
    }
    return device->segment_count > 0 || i < device->events.count;
}

plim_status plim_blocks_init(plim_blocks *blocks, plim_start *start,
                             const plim_device_history *device, const plim_block_rule *rule,
                             const plim_mem *mem, plim_error *err)
{
    *blocks = (plim_blocks){ .mem = mem, .rule = *rule, .events = device->events.count };
    if (rule->max_split_bytes == 0) {
        blocks->rule.max_split_bytes = UINT64_MAX;
    }
    const bool is_followed = !rule->is_other && !rule->is_exact && has_segments(device);
    if (!is_followed && !rule->is_exact) {
        blocks->small_slack_bytes = rule->is_other ? PLIM_OTHER_SLACK_BYTES : 0;
        blocks->large_slack_bytes = rule->is_other ? PLIM_OTHER_SLACK_BYTES : PLIM_SMALL_BYTES_MAX;
    }
    block_walk walk = {
        .blocks = blocks, .start = start, .events = &device->events, .gone = PLIM_NONE
    };
    plim_map_init(&walk.by_addr, mem);
    blocks->is_odd =
        plim_mem_alloc_zeroed(mem, (size_t)(blocks->events / 64 + 1), sizeof *blocks->is_odd);
    const bool done = blocks->is_odd != NULL && collect_rows(&walk) &&
                      (is_followed ? walk_all(&walk, &start->undone) : estimate(&walk));
    plim_spans_deinit(&walk.segments);
    PLIM_VEC_FREE(mem, &walk.links);
    plim_map_deinit(&walk.by_addr);
    PLIM_VEC_FREE(mem, &walk.rows);
    if (!done) {
        plim_blocks_deinit(blocks);
        return plim_fail_memory(err, "working out the sizes of blocks");
    }
    return PLIM_OK;
}

void plim_blocks_deinit(plim_blocks *blocks)
{
    if (blocks->mem == NULL) {
        return;
    }
    plim_mem_free(blocks->mem, blocks->is_odd, (size_t)(blocks->events / 64 + 1),
                  sizeof *blocks->is_odd);
    PLIM_VEC_FREE(blocks->mem, &blocks->odd);
    *blocks = (plim_blocks){ 0 };
}

const plim_odd_block *plim_blocks_find(const plim_blocks *blocks, uint32_t alloc)
{
    const plim_odd_block *low = blocks->odd.items;
    size_t count = blocks->odd.count;
    while (count > 1) {
        const size_t half = count / 2;
        low += low[half].alloc <= alloc ? half : 0;
        count -= half;
    }
    PLIM_ASSERT_DEBUG(low->alloc == alloc);
    return low;
}
