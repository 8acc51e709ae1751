/*
 * start_state.c - where what stood at the first op lay: its segments, cut into blocks.
 *
 *   segment   |........................................................|
 *   standing  [ A        ]        [ B  ]                     [ C       ]
 *   blocks    [ A          ][free ][ B  ][ free             ][ C       ]
 *
 * Where a block ended is known of those that still stand at the end of the recording. Of the
 * others it follows from PyTorch's rules: large plain segments are never cut so that 1 MiB or less
 * is left over, so a gap that small belongs to the block before it; everywhere else blocks are as
 * large as their rounded requests.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "replay/taking.h"
#include "settings/rounding.h"

#include <stdlib.h>
#include <string.h>

/* --- segments --- */

/* The segment at the end that holds an address, or NULL. */
static const plim_segment *segment_at_end(const plim_device_history *device, plim_addr addr)
{
    size_t low = 0;
    size_t high = (size_t)device->segment_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (device->segments[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const plim_segment *segment = low > 0 ? &device->segments[low - 1] : NULL;
    return segment != NULL && addr - segment->addr < segment->bytes ? segment : NULL;
}

plim_pool_id plim_taking_pool_at(const plim_taking *taking, plim_addr addr, uint64_t event)
{
    const plim_device_history *device = taking->program->device;
    const plim_note *named =
        event < device->events.count
            ? plim_history_note(taking->program->history, device->events.note[event])
            : plim_history_note(taking->program->history, 0);
    if (named->has_pool) {
        return named->pool;
    }
    const plim_segment *segment = segment_at_end(device, addr);
    if (segment == NULL) {
        return (plim_pool_id){ 0, 0 };
    }
    /* Only from when it came on: before, the address may have been another segment's. */
    const uint64_t since = plim_map_get(&taking->segment_events, segment->addr);
    const bool is_known = since == PLIM_MAP_ABSENT || since <= event;
    return is_known ? segment->pool : (plim_pool_id){ 0, 0 };
}

bool plim_taking_note_segments(plim_taking *taking)
{
    const plim_events *events = &taking->program->device->events;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_SEGMENT_ALLOC &&
            !plim_map_put(&taking->segment_events, events->addr[i], i)) {
            return false;
        }
    }
    return true;
}

/* The segment at the end that one of the start still is, or NULL. */
static const plim_segment *same_at_end(const plim_taking *taking, plim_addr addr)
{
    const uint64_t since = plim_map_get(&taking->segment_events, addr);
    const bool came_later = since != PLIM_MAP_ABSENT && since >= taking->program->from_event;
    return came_later ? NULL : segment_at_end(taking->program->device, addr);
}

static bool add_segments(plim_taking *taking, const plim_spans *spans)
{
    plim_program *program = taking->program;
    for (const plim_span *span = plim_spans_first(spans); span != NULL;
         span = plim_spans_next(spans, span)) {
        if ((span->begin | span->end) % PLIM_BLOCK_BYTES_MIN != 0) {
            program->doubts[PLIM_DOUBT_CONTRADICTIONS]++;
            continue; /* no driver's: what is in it is requested */
        }
        const plim_segment *end = same_at_end(taking, span->begin);
        plim_segment segment = { .addr = span->begin,
                                 .bytes = span->end - span->begin,
                                 .stack = end != NULL ? end->stack : PLIM_NONE,
                                 .is_expandable = span->joins };
        uint16_t stream = 0;
        if (!plim_taking_stream(taking, span->tag, &stream)) {
            return false;
        }
        segment.stream = stream;
        segment.is_large = end != NULL ? end->is_large : segment.bytes > PLIM_SMALL_SEGMENT_BYTES;
        if (end != NULL) {
            segment.pool = end->pool;
        }
        if (!PLIM_VEC_PUSH(program->mem, &program->start.segments, segment)) {
            return false;
        }
    }
    return true;
}

/* --- blocks --- */

static int compare_addr(const void *a, const void *b)
{
    const plim_standing *left = a;
    const plim_standing *right = b;
    if (left->addr != right->addr) {
        return left->addr < right->addr ? -1 : 1;
    }
    return (left->slot > right->slot) - (left->slot < right->slot);
}

/* A run of an expandable segment serves what is in it; nothing else tells its size class. */
static void classify_run(const plim_taking *taking, plim_segment *segment,
                         const plim_standing *first, size_t count)
{
    if (!segment->is_expandable || same_at_end(taking, segment->addr) != NULL) {
        return;
    }
    segment->is_large = false;
    for (size_t i = 0; i < count; i++) {
        segment->is_large = segment->is_large || (plim_standing_is_placeable(&first[i]) &&
                                                  first[i].requested_bytes > PLIM_SMALL_BYTES_MAX);
    }
}

static uint64_t block_bytes_of(plim_program *program, const plim_segment *segment,
                               const plim_standing *row)
{
    const uint64_t room = row->limit - row->addr;
    if (!row->is_estimate) {
        return plim_min(row->block_bytes, room);
    }
    program->doubts[PLIM_DOUBT_START_BLOCKS]++;
    const plim_settings *settings = &program->facts.conf.settings;
    const uint64_t rounded = row->block_bytes;
    if (rounded >= room) {
        return room;
    }
    const uint64_t least = segment->is_expandable || !segment->is_large ? PLIM_BLOCK_BYTES_MIN
                                                                        : PLIM_SMALL_BYTES_MAX + 1;
    const bool is_oversize = rounded >= settings->max_split_bytes;
    return is_oversize || room - rounded < least ? room : rounded;
}

static bool push_block(plim_program *program, const plim_block *block, uint32_t slot)
{
    return PLIM_VEC_PUSH(program->mem, &program->start.blocks, *block) &&
           PLIM_VEC_PUSH(program->mem, &program->start.block_slots, slot);
}

static bool push_free(plim_program *program, plim_addr from, plim_addr to)
{
    if (from >= to) {
        return true;
    }
    const plim_block block = { .addr = from, .bytes = to - from, .stack = PLIM_NONE };
    return push_block(program, &block, PLIM_NONE);
}

/* Cuts a segment around the rows that lie in it, in order, as far as they can be blocks. */
static bool cut_segment(plim_program *program, plim_segment *segment, const plim_standing *rows,
                        size_t count)
{
    segment->block_first = program->start.blocks.count;
    plim_addr at = segment->addr;
    for (size_t i = 0; rows != NULL && i < count; i++) {
        const plim_standing *row = &rows[i];
        if (!plim_standing_is_placeable(row)) {
            continue;
        }
        const plim_block block = { .addr = row->addr,
                                   .bytes = block_bytes_of(program, segment, row),
                                   .requested_bytes = row->requested_bytes,
                                   .stack = row->stack,
                                   .state = PLIM_BLOCK_ACTIVE_ALLOCATED };
        if (!push_free(program, at, row->addr) || !push_block(program, &block, row->slot)) {
            return false;
        }
        at = block.addr + block.bytes;
    }
    if (!push_free(program, at, segment->addr + segment->bytes)) {
        return false;
    }
    segment->block_count = program->start.blocks.count - segment->block_first;
    return true;
}

/* Whether anybody can have been given so much. */
static bool is_request(const plim_standing *row)
{
    return row->requested_bytes > 0 && row->requested_bytes < PLIM_REQUEST_BYTES_MAX;
}

bool plim_standing_is_placeable(const plim_standing *row)
{
    return row->limit > row->addr && row->limit - row->addr >= row->requested_bytes &&
           row->addr % PLIM_BLOCK_BYTES_MIN == 0 && is_request(row);
}

/* Where the block of each row must end: where the next one begins, or its segment ends. Rows that
 * lie in no segment keep a limit of 0. What kind a run is follows from the rows in it. Both are in
 * order of addresses. */
static void bound_rows(plim_taking *taking)
{
    const plim_program_start *start = &taking->program->start;
    plim_standing *rows = taking->standing.items;
    const size_t count = taking->standing.count;
    size_t next = 0;
    for (size_t i = 0; i < start->segments.count; i++) {
        plim_segment *segment = &start->segments.items[i];
        const plim_addr end = segment->addr + segment->bytes;
        while (next < count && rows[next].addr < segment->addr) {
            next++;
        }
        const size_t first = next;
        for (; next < count && rows[next].addr < end; next++) {
            const bool has_next = next + 1 < count && rows[next + 1].addr < end;
            rows[next].limit = has_next ? rows[next + 1].addr : end;
        }
        if (next > first) {
            classify_run(taking, segment, &rows[first], next - first);
        }
    }
}

static bool push_allocation(plim_taking *taking, const plim_standing *row,
                            const plim_segment *segment)
{
    plim_program *program = taking->program;
    plim_start_block allocation = {
        .addr = row->addr,
        .requested_bytes = row->scaled_bytes,
        .slot = row->slot,
        .pool = PLIM_NONE,
        .is_outside = segment == NULL,
        .stack = row->stack,
    };
    plim_pool_id pool;
    if (segment != NULL) {
        allocation.stream = (uint16_t)segment->stream;
        pool = segment->pool;
    } else {
        pool = plim_taking_pool_at(taking, row->addr, row->event);
        if (!plim_taking_stream(taking, row->stream, &allocation.stream)) {
            return false;
        }
    }
    if (!plim_taking_pool(taking, pool, &allocation.pool)) {
        return false;
    }
    if (row->deferral == PLIM_NONE) {
        plim_taking_live(taking, allocation.requested_bytes);
    }
    return PLIM_VEC_PUSH(program->mem, &program->start.allocations, allocation);
}

static bool push_outside(plim_taking *taking, const plim_standing *row)
{
    taking->program->doubts[PLIM_DOUBT_START_OUTSIDE]++;
    return !is_request(row) || push_allocation(taking, row, NULL);
}

/* The rows that lie before an address are in no segment. */
static bool pass_outside(plim_taking *taking, plim_addr addr, size_t *next)
{
    for (; *next < taking->standing.count && taking->standing.items[*next].addr < addr; (*next)++) {
        if (!push_outside(taking, &taking->standing.items[*next])) {
            return false;
        }
    }
    return true;
}

/* Cuts a segment, and requests what cannot be in it. */
static bool place_in(plim_taking *taking, plim_segment *segment, size_t *next)
{
    const plim_standing *rows = taking->standing.items;
    const size_t first = *next;
    while (*next < taking->standing.count && rows[*next].addr < segment->addr + segment->bytes) {
        (*next)++;
    }
    const size_t count = *next - first;
    if (!cut_segment(taking->program, segment, count > 0 ? &rows[first] : NULL, count)) {
        return false;
    }
    for (size_t i = first; i < *next; i++) {
        if (!(plim_standing_is_placeable(&rows[i]) ? push_allocation(taking, &rows[i], segment)
                                                   : push_outside(taking, &rows[i]))) {
            return false;
        }
    }
    return true;
}

static bool place_all(plim_taking *taking)
{
    plim_program *program = taking->program;
    bound_rows(taking);
    size_t next = 0;
    for (size_t i = 0; i < program->start.segments.count; i++) {
        plim_segment *segment = &program->start.segments.items[i];
        if (!pass_outside(taking, segment->addr, &next) || !place_in(taking, segment, &next)) {
            return false;
        }
    }
    return pass_outside(taking, UINT64_MAX, &next);
}

/* Expandable memory that is there begins no range when more of it is mapped. */
static bool note_ranges(plim_taking *taking)
{
    const plim_program_start *start = &taking->program->start;
    for (size_t i = 0; i < start->segments.count; i++) {
        const plim_segment *segment = &start->segments.items[i];
        const plim_range_key key = { .pool = segment->pool,
                                     .stream = (uint16_t)segment->stream,
                                     .is_small = !segment->is_large,
                                     .base = segment->addr,
                                     .mapped_bytes = segment->bytes };
        bool is_new = false;
        if (segment->is_expandable && !plim_taking_range(taking, &key, &is_new)) {
            return false;
        }
    }
    return true;
}

/* --- the prologue: frees that wait --- */

static bool add_deferral(plim_taking *taking, const plim_standing *row)
{
    const plim_deferral *deferral = &taking->deferrals.rows.items[row->deferral];
    const bool has_queue = deferral->queue != PLIM_NONE;
    const plim_op op = { .slot = row->slot,
                         .stream = has_queue ? (uint16_t)deferral->queue : 0,
                         .kind = has_queue ? PLIM_OP_DEFER : PLIM_OP_FREE };
    return !is_request(row) || plim_taking_op(taking, taking->program->from_event, op);
}

/* In the order of their completion, which is how they were dealt to queues. */
static bool add_prologue(plim_taking *taking)
{
    const plim_mem *mem = taking->program->mem;
    const size_t count = taking->deferrals.of_start;
    size_t *order = plim_mem_alloc(mem, count + 1, sizeof *order);
    if (order == NULL) {
        return false;
    }
    for (size_t i = 0; i < taking->standing.count; i++) {
        const uint32_t deferral = taking->standing.items[i].deferral;
        if (deferral != PLIM_NONE) {
            order[deferral] = i;
        }
    }
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        done = add_deferral(taking, &taking->standing.items[order[i]]);
    }
    plim_mem_free(mem, order, count + 1, sizeof *order);
    taking->program->prologue = taking->program->ops.count;
    return done;
}

plim_status plim_taking_place(plim_taking *taking, plim_error *err)
{
    if (taking->standing.count > 1) {
        qsort(taking->standing.items, taking->standing.count, sizeof *taking->standing.items,
              compare_addr);
    }
    plim_spans segments = { 0 };
    const bool done = plim_timeline_segments(&taking->timeline,
                                             (int64_t)taking->program->from_event - 1, &segments) &&
                      add_segments(taking, &segments) && place_all(taking) && note_ranges(taking) &&
                      add_prologue(taking);
    plim_spans_deinit(&segments);
    if (!done) {
        return plim_fail_memory(err, "rebuilding the start of a replay");
    }
    return PLIM_OK;
}
