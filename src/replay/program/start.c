/*
 * start.c - what is live at the first op, and where it lies: allocations, frees that wait, segments
 * cut into blocks.
 *
 *   segment   |........................................................|
 *   live      [ A        ]        [ B  ]                     [ C       ]
 *   blocks    [ A          ][free ][ B  ][ free             ][ C       ]
 *
 * The timeline knows the size of a block, or an estimate. By PyTorch's rules (PyTorch 2.11,
 * c10/cuda/CUDACachingAllocator.cpp, should_split()) a large segment that is not expandable is
 * never split so that 1 MiB or less remains: an estimated block takes a gap that small.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "replay/program/extraction.h"
#include "settings/rounding.h"

#include <stdlib.h>
#include <string.h>

/* --- what is live, and what waits --- */

static uint32_t event_of(int64_t moment)
{
    return moment == PLIM_NEVER || moment < 0 ? PLIM_NONE : (uint32_t)moment;
}

static bool defer(plim_extraction *e, uint32_t request, int64_t completed)
{
    const plim_deferral row = { .request = request, .completed = event_of(completed) };
    return PLIM_VEC_PUSH(e->program->mem, &e->deferrals.rows, row);
}

static int compare_completed(const void *a, const void *b)
{
    const uint32_t left = ((const plim_deferral *)a)->completed;
    const uint32_t right = ((const plim_deferral *)b)->completed;
    return (left > right) - (left < right);
}

/* An entry; one that is freed already waits, and gets its slot when all are known. */
static bool add(plim_extraction *e, const plim_allocation *one)
{
    const bool waits = one->freed < (int64_t)e->program->from_event;
    plim_start_entry row = {
        .addr = one->addr,
        .requested_bytes = one->requested_bytes,
        .block_bytes = one->block_bytes,
        .is_estimate = one->block_slack_bytes > 0,
        .scaled_bytes = waits ? one->requested_bytes : plim_extraction_bytes(e, one->id),
        .stream = one->stream,
        .stack = waits ? PLIM_NONE : one->stack,
        .event = event_of(one->born != PLIM_AT_START ? one->born : one->freed),
        .deferral = waits ? (uint32_t)e->deferrals.rows.count : PLIM_NONE,
    };
    if (waits && !defer(e, PLIM_NONE, one->completed)) {
        return false;
    }
    if (!waits && !plim_extraction_slot(e, &row.slot)) {
        return false;
    }
    e->slots[one->id] = row.slot;
    return PLIM_VEC_PUSH(e->program->mem, &e->at_start, row);
}

static bool add_all(plim_extraction *e)
{
    plim_live live = plim_timeline_live(&e->timeline, (int64_t)e->program->from_event - 1, true);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        if (!add(e, &one)) {
            return false;
        }
    }
    return true;
}

/* Frees of what is replayed whose request and completion are apart. */
static bool defer_requests(plim_extraction *e)
{
    const plim_free_halves halves = plim_timeline_halves(&e->timeline);
    const plim_events *events = &e->program->device->events;
    if (!halves.requested || !halves.completed) {
        return true; /* no event shows when they completed */
    }
    for (uint64_t i = e->program->from_event; i < e->program->to_event; i++) {
        if (events->action[i] != PLIM_FREE_REQUESTED) {
            continue;
        }
        const int64_t completed = plim_timeline_completed(&e->timeline, (uint32_t)i);
        if (completed != (int64_t)i + 1 &&
            plim_timeline_about(&e->timeline, i) != PLIM_NO_ALLOCATION &&
            !defer(e, (uint32_t)i, completed)) {
            return false;
        }
    }
    return true;
}

/* Entries name deferrals by row; sorting moves these. */
static bool sort_start_deferrals(plim_extraction *e)
{
    plim_deferrals *deferrals = &e->deferrals;
    for (size_t i = 0; i < deferrals->of_start; i++) {
        deferrals->rows.items[i].entry = (uint32_t)i; /* remembers where it was */
    }
    if (deferrals->of_start > 1) {
        qsort(deferrals->rows.items, deferrals->of_start, sizeof *deferrals->rows.items,
              compare_completed);
    }
    uint32_t *moved = plim_mem_alloc(e->program->mem, deferrals->of_start + 1, sizeof *moved);
    if (moved == NULL) {
        return false;
    }
    for (size_t i = 0; i < deferrals->of_start; i++) {
        moved[deferrals->rows.items[i].entry] = (uint32_t)i;
    }
    for (size_t i = 0; i < e->at_start.count; i++) {
        plim_start_entry *row = &e->at_start.items[i];
        row->deferral = row->deferral != PLIM_NONE ? moved[row->deferral] : PLIM_NONE;
    }
    plim_mem_free(e->program->mem, moved, deferrals->of_start + 1, sizeof *moved);
    return true;
}

static bool gather(plim_extraction *e)
{
    if (!add_all(e)) {
        return false;
    }
    e->deferrals.of_start = e->deferrals.rows.count;
    if (!sort_start_deferrals(e) || !defer_requests(e) || !plim_deferrals_deal(&e->deferrals)) {
        return false;
    }
    for (size_t i = 0; i < e->at_start.count; i++) {
        plim_start_entry *row = &e->at_start.items[i];
        if (row->deferral != PLIM_NONE && !plim_extraction_slot(e, &row->slot)) {
            return false;
        }
    }
    return true;
}

/* --- segments --- */

/* The segment at the end that one of the start still is, or NULL. */
static const plim_segment *same_at_end(const plim_extraction *e, plim_addr addr)
{
    const uint64_t since = plim_map_get(&e->segment_events, addr);
    const bool came_later = since != PLIM_MAP_ABSENT && since >= e->program->from_event;
    return came_later ? NULL : plim_extraction_segment_at_end(e->program->device, addr);
}

static bool add_segments(plim_extraction *e, const plim_spans *spans)
{
    plim_program *program = e->program;
    for (const plim_span *span = plim_spans_first(spans); span != NULL;
         span = plim_spans_next(spans, span)) {
        if ((span->begin | span->end) % PLIM_BLOCK_BYTES_MIN != 0) {
            program->caveats[PLIM_CAVEAT_CONTRADICTIONS]++;
            continue; /* no driver's: what is in it is requested */
        }
        const plim_segment *end = same_at_end(e, span->begin);
        plim_segment segment = { .addr = span->begin,
                                 .bytes = span->end - span->begin,
                                 .stack = end != NULL ? end->stack : PLIM_NONE,
                                 .is_expandable = span->joins };
        uint16_t stream = 0;
        if (!plim_extraction_stream(e, span->tag, &stream)) {
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
    const plim_start_entry *left = a;
    const plim_start_entry *right = b;
    if (left->addr != right->addr) {
        return left->addr < right->addr ? -1 : 1;
    }
    return (left->slot > right->slot) - (left->slot < right->slot);
}

/* True for a size that an allocator can have served. */
static bool is_request(const plim_start_entry *row)
{
    return row->requested_bytes > 0 && row->requested_bytes < PLIM_REQUEST_BYTES_MAX;
}

/* True if the entry, whose limit is set, can be a block where it is. */
static bool is_placeable(const plim_start_entry *row)
{
    return row->limit > row->addr && row->limit - row->addr >= row->requested_bytes &&
           row->addr % PLIM_BLOCK_BYTES_MIN == 0 && is_request(row);
}

/* A run of an expandable segment serves what is in it; nothing else shows its size class. */
static void classify_run(const plim_extraction *e, plim_segment *segment,
                         const plim_start_entry *first, size_t count)
{
    if (!segment->is_expandable || same_at_end(e, segment->addr) != NULL) {
        return;
    }
    segment->is_large = false;
    for (size_t i = 0; i < count; i++) {
        segment->is_large = segment->is_large || (is_placeable(&first[i]) &&
                                                  first[i].requested_bytes > PLIM_SMALL_BYTES_MAX);
    }
}

static uint64_t block_bytes_of(plim_program *program, const plim_segment *segment,
                               const plim_start_entry *row)
{
    const uint64_t room = row->limit - row->addr;
    if (!row->is_estimate) {
        return plim_min(row->block_bytes, room);
    }
    program->caveats[PLIM_CAVEAT_START_BLOCKS]++;
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
static bool cut_segment(plim_program *program, plim_segment *segment, const plim_start_entry *rows,
                        size_t count)
{
    segment->block_first = program->start.blocks.count;
    plim_addr at = segment->addr;
    for (size_t i = 0; rows != NULL && i < count; i++) {
        const plim_start_entry *row = &rows[i];
        if (!is_placeable(row)) {
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

/* Where the block of each row must end: where the next one begins, or its segment ends. Rows that
 * lie in no segment keep a limit of 0. What kind a run is follows from the rows in it. Both are in
 * order of addresses. */
static void bound_rows(plim_extraction *e)
{
    const plim_program_start *start = &e->program->start;
    plim_start_entry *rows = e->at_start.items;
    const size_t count = e->at_start.count;
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
            classify_run(e, segment, &rows[first], next - first);
        }
    }
}

static bool push_allocation(plim_extraction *e, const plim_start_entry *row,
                            const plim_segment *segment)
{
    plim_program *program = e->program;
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
        pool = plim_extraction_pool_at(e, row->addr, row->event);
        if (!plim_extraction_stream(e, row->stream, &allocation.stream)) {
            return false;
        }
    }
    if (!plim_extraction_pool(e, pool, &allocation.pool)) {
        return false;
    }
    if (row->deferral == PLIM_NONE) {
        plim_extraction_live(e, allocation.requested_bytes);
    }
    return PLIM_VEC_PUSH(program->mem, &program->start.allocations, allocation);
}

static bool push_outside(plim_extraction *e, const plim_start_entry *row)
{
    e->program->caveats[PLIM_CAVEAT_START_OUTSIDE]++;
    return !is_request(row) || push_allocation(e, row, NULL);
}

/* The rows that lie before an address are in no segment. */
static bool pass_outside(plim_extraction *e, plim_addr addr, size_t *next)
{
    for (; *next < e->at_start.count && e->at_start.items[*next].addr < addr; (*next)++) {
        if (!push_outside(e, &e->at_start.items[*next])) {
            return false;
        }
    }
    return true;
}

/* Cuts a segment, and requests what cannot be in it. */
static bool place_in(plim_extraction *e, plim_segment *segment, size_t *next)
{
    const plim_start_entry *rows = e->at_start.items;
    const size_t first = *next;
    while (*next < e->at_start.count && rows[*next].addr < segment->addr + segment->bytes) {
        (*next)++;
    }
    const size_t count = *next - first;
    if (!cut_segment(e->program, segment, count > 0 ? &rows[first] : NULL, count)) {
        return false;
    }
    for (size_t i = first; i < *next; i++) {
        if (!(is_placeable(&rows[i]) ? push_allocation(e, &rows[i], segment)
                                     : push_outside(e, &rows[i]))) {
            return false;
        }
    }
    return true;
}

static bool place_all(plim_extraction *e)
{
    plim_program *program = e->program;
    bound_rows(e);
    size_t next = 0;
    for (size_t i = 0; i < program->start.segments.count; i++) {
        plim_segment *segment = &program->start.segments.items[i];
        if (!pass_outside(e, segment->addr, &next) || !place_in(e, segment, &next)) {
            return false;
        }
    }
    return pass_outside(e, UINT64_MAX, &next);
}

/* Expandable memory that is there begins no range when more of it is mapped. */
static bool note_ranges(plim_extraction *e)
{
    const plim_program_start *start = &e->program->start;
    for (size_t i = 0; i < start->segments.count; i++) {
        const plim_segment *segment = &start->segments.items[i];
        const plim_range_key key = { .pool = segment->pool,
                                     .stream = (uint16_t)segment->stream,
                                     .is_small = !segment->is_large,
                                     .base = segment->addr,
                                     .mapped_bytes = segment->bytes };
        bool is_new = false;
        if (segment->is_expandable && !plim_extraction_range(e, &key, &is_new)) {
            return false;
        }
    }
    return true;
}

/* --- the prologue: frees that wait --- */

static bool add_deferral(plim_extraction *e, const plim_start_entry *row)
{
    const plim_deferral *deferral = &e->deferrals.rows.items[row->deferral];
    const bool has_queue = deferral->queue != PLIM_NONE;
    const plim_op op = { .slot = row->slot,
                         .stream = has_queue ? (uint16_t)deferral->queue : 0,
                         .kind = has_queue ? PLIM_OP_DEFER : PLIM_OP_FREE };
    return !is_request(row) || plim_extraction_op(e, e->program->from_event, op);
}

/* In the order of their completion, which is how they were dealt to queues. */
static bool add_prologue(plim_extraction *e)
{
    const plim_mem *mem = e->program->mem;
    const size_t count = e->deferrals.of_start;
    size_t *order = plim_mem_alloc(mem, count + 1, sizeof *order);
    if (order == NULL) {
        return false;
    }
    for (size_t i = 0; i < e->at_start.count; i++) {
        const uint32_t deferral = e->at_start.items[i].deferral;
        if (deferral != PLIM_NONE) {
            order[deferral] = i;
        }
    }
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        done = add_deferral(e, &e->at_start.items[order[i]]);
    }
    plim_mem_free(mem, order, count + 1, sizeof *order);
    e->program->prologue = e->program->ops.count;
    return done;
}

static bool place(plim_extraction *e)
{
    if (e->at_start.count > 1) {
        qsort(e->at_start.items, e->at_start.count, sizeof *e->at_start.items, compare_addr);
    }
    plim_spans segments = { 0 };
    const bool done =
        plim_timeline_segments(&e->timeline, (int64_t)e->program->from_event - 1, &segments) &&
        add_segments(e, &segments) && place_all(e) && note_ranges(e) && add_prologue(e);
    plim_spans_deinit(&segments);
    return done;
}

plim_status plim_extraction_start(plim_extraction *e, plim_error *err)
{
    return gather(e) && place(e) ? PLIM_OK
                                 : plim_fail_memory(err, "rebuilding the start of a replay");
}
