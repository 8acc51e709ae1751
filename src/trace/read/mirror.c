/*
 * mirror.c - applying events to sets of address ranges.
 */
#include "trace/read/mirror.h"

#include "base/error.h"
#include "base/numbers.h"

#include <stdlib.h>

void plim_mirror_init(plim_mirror *mirror, const plim_mem *mem)
{
    *mirror = (plim_mirror){ .mem = mem, .gap = PLIM_NO_GAP };
    plim_spans_init(&mirror->block_spans, mem);
    plim_spans_init(&mirror->segment_spans, mem);
}

void plim_mirror_deinit(plim_mirror *mirror)
{
    if (mirror->mem == NULL) {
        return;
    }
    plim_spans_deinit(&mirror->block_spans);
    plim_spans_deinit(&mirror->segment_spans);
    PLIM_VEC_FREE(mirror->mem, &mirror->blocks);
    PLIM_VEC_FREE(mirror->mem, &mirror->free_rows);
    PLIM_VEC_FREE(mirror->mem, &mirror->segments);
    PLIM_VEC_FREE(mirror->mem, &mirror->lost);
    *mirror = (plim_mirror){ 0 };
}

/* --- events in gaps --- */

/* An event of the last gap, like `like` but for the action. */
static bool lose(plim_mirror *mirror, const plim_event *like, plim_action action,
                 plim_lost_order order)
{
    plim_lost_event lost = { mirror->gap, order, *like };
    lost.event.action = action;
    lost.event.time_ns = mirror->gap_time_ns;
    lost.event.stack = PLIM_NONE;
    return PLIM_VEC_PUSH(mirror->mem, &mirror->lost, lost);
}

void plim_mirror_gap(plim_mirror *mirror, uint64_t at, int64_t time_ns)
{
    mirror->gap = at;
    mirror->gap_time_ns = time_ns;
}

/* --- blocks --- */

static bool take_row(plim_mirror *mirror, const plim_mirror_block *block, uint32_t *ret_row)
{
    if (mirror->free_rows.count > 0) {
        *ret_row = mirror->free_rows.items[--mirror->free_rows.count];
        mirror->blocks.items[*ret_row] = *block;
        return true;
    }
    *ret_row = (uint32_t)mirror->blocks.count;
    return PLIM_VEC_PUSH(mirror->mem, &mirror->blocks, *block);
}

static bool remove_block(plim_mirror *mirror, const plim_span *span)
{
    const plim_span gone = *span;
    const plim_spans_result result = plim_spans_remove(&mirror->block_spans, gone.begin, gone.end);
    return result == PLIM_SPANS_DONE && PLIM_VEC_PUSH(mirror->mem, &mirror->free_rows, gone.tag);
}

/* A block that must be gone, though no event frees it. */
static bool end_block(plim_mirror *mirror, const plim_span *span)
{
    const plim_mirror_block *const block = &mirror->blocks.items[span->tag];
    const plim_event event = { .addr = span->begin,
                               .bytes = block->requested_bytes,
                               .stream = block->stream,
                               .pool = block->pool };
    if (mirror->gap != PLIM_NO_GAP && block->born <= mirror->gap &&
        ((!block->is_pending && !lose(mirror, &event, PLIM_FREE_REQUESTED, PLIM_LOST_REQUEST)) ||
         !lose(mirror, &event, PLIM_FREE_COMPLETED, PLIM_LOST_COMPLETION))) {
        return false;
    }
    return remove_block(mirror, span);
}

static bool end_blocks(plim_mirror *mirror, plim_addr begin, plim_addr end)
{
    const plim_span *span = plim_spans_from(&mirror->block_spans, begin);
    while (begin < end && span != NULL && span->begin < end) {
        if (!end_block(mirror, span)) {
            return false;
        }
        span = plim_spans_from(&mirror->block_spans, begin);
    }
    return true;
}

bool plim_mirror_add_block(plim_mirror *mirror, plim_addr addr, uint64_t bytes,
                           const plim_mirror_block *block)
{
    uint32_t row = 0;
    if (bytes == 0) {
        return true;
    }
    if (!take_row(mirror, block, &row)) {
        return false;
    }
    const plim_span span = plim_span_of(addr, bytes, row, false);
    plim_spans_result result = plim_spans_add(&mirror->block_spans, span);
    if (result == PLIM_SPANS_CONTRADICTION) {
        if (!end_blocks(mirror, span.begin, span.end)) {
            return false;
        }
        result = plim_spans_add(&mirror->block_spans, span);
    }
    return result != PLIM_SPANS_NO_MEMORY; /* contradiction: at the very end of all addresses */
}

static bool allocate(plim_mirror *mirror, const plim_event *event, uint64_t born)
{
    const plim_mirror_block block = { .requested_bytes = event->bytes,
                                      .born = born,
                                      .stack = event->stack,
                                      .stream = event->stream,
                                      .pool = event->pool,
                                      .is_small = event->is_small };
    return plim_mirror_add_block(mirror, event->addr, event->block_bytes, &block);
}

/* A block that is freed and was never allocated: that was in the gap. */
static bool allocate_lost(plim_mirror *mirror, const plim_event *event)
{
    return allocate(mirror, event, mirror->gap) && lose(mirror, event, PLIM_ALLOC, PLIM_LOST_ALLOC);
}

static const plim_span *find_block(const plim_mirror *mirror, plim_addr addr)
{
    const plim_span *const span = plim_spans_find(&mirror->block_spans, addr);
    return span != NULL && span->begin == addr ? span : NULL;
}

/* True if another block took the place of this one in the last gap. */
static bool is_replaced(const plim_mirror *mirror, const plim_span *span, const plim_event *event)
{
    const plim_mirror_block *const block = &mirror->blocks.items[span->tag];
    return mirror->gap != PLIM_NO_GAP && block->born <= mirror->gap &&
           (block->requested_bytes != event->bytes ||
            span->end - span->begin != event->block_bytes ||
            (block->is_pending && event->action == PLIM_FREE_REQUESTED));
}

static bool free_block(plim_mirror *mirror, const plim_event *event)
{
    const plim_span *span = find_block(mirror, event->addr);
    if (mirror->gap != PLIM_NO_GAP && (span == NULL || is_replaced(mirror, span, event))) {
        if (!allocate_lost(mirror, event)) { /* ends what was there */
            return false;
        }
        span = find_block(mirror, event->addr);
    }
    if (span == NULL) {
        return true; /* of the time before the recording: start.h knows what to do */
    }
    plim_mirror_block *const block = &mirror->blocks.items[span->tag];
    if (event->action == PLIM_FREE_REQUESTED) {
        block->is_pending = true;
        return true;
    }
    if (mirror->gap != PLIM_NO_GAP && block->born <= mirror->gap && !block->is_pending &&
        !lose(mirror, event, PLIM_FREE_REQUESTED, PLIM_LOST_OWN_REQUEST)) {
        return false;
    }
    return remove_block(mirror, span);
}

/* --- segments --- */

/* Cuts out of a segment what must be gone, though no event says so. */
static bool end_part(plim_mirror *mirror, const plim_span *span, plim_addr from, plim_addr to)
{
    const plim_mirror_segment *const segment = &mirror->segments.items[span->tag];
    const plim_event event = {
        .addr = from, .bytes = to - from, .stream = segment->stream, .pool = segment->pool
    };
    if (mirror->gap != PLIM_NO_GAP && segment->born <= mirror->gap &&
        !lose(mirror, &event, segment->is_expandable ? PLIM_SEGMENT_UNMAP : PLIM_SEGMENT_FREE,
              PLIM_LOST_SEGMENT_END)) {
        return false;
    }
    return plim_spans_cut(&mirror->segment_spans, from, to) == PLIM_SPANS_DONE;
}

static bool end_segments(plim_mirror *mirror, plim_addr begin, plim_addr end)
{
    const plim_span *span = plim_spans_from(&mirror->segment_spans, begin);
    if (begin >= end || span == NULL || span->begin >= end) {
        return true;
    }
    if (!end_blocks(mirror, begin, end)) {
        return false;
    }
    while (span != NULL && span->begin < end) {
        const plim_addr from = span->begin > begin ? span->begin : begin;
        const plim_addr to = span->end < end ? span->end : end;
        if (!end_part(mirror, span, from, to)) {
            return false;
        }
        span = plim_spans_from(&mirror->segment_spans, begin);
    }
    return true;
}

static bool is_same_run(const plim_mirror_segment *a, const plim_mirror_segment *b)
{
    return a->is_expandable && b->is_expandable && a->stream == b->stream &&
           plim_pool_ids_equal(a->pool, b->pool) && a->is_small == b->is_small;
}

/* The run a newly mapped range joins: what ends at `addr` or begins there. */
static const plim_span *find_run(const plim_mirror *mirror, plim_addr inside,
                                 const plim_mirror_segment *segment)
{
    const plim_span *const span = plim_spans_find(&mirror->segment_spans, inside);
    const bool joins = span != NULL && is_same_run(&mirror->segments.items[span->tag], segment);
    return joins ? span : NULL;
}

bool plim_mirror_add_segment(plim_mirror *mirror, plim_addr addr, uint64_t bytes,
                             const plim_mirror_segment *segment)
{
    plim_span span = plim_span_of(addr, bytes, (uint32_t)mirror->segments.count, false);
    if (span.begin >= span.end) {
        return true;
    }
    if (!end_segments(mirror, span.begin, span.end) ||
        !PLIM_VEC_PUSH(mirror->mem, &mirror->segments, *segment)) {
        return false;
    }
    const plim_span *const low = addr == 0 ? NULL : find_run(mirror, addr - 1, segment);
    if (low != NULL) {
        span.begin = low->begin;
        span.tag = low->tag;
        (void)plim_spans_remove(&mirror->segment_spans, low->begin, low->end);
    }
    const plim_span *const high = find_run(mirror, span.end, segment);
    if (high != NULL) {
        span.end = high->end;
        (void)plim_spans_remove(&mirror->segment_spans, high->begin, high->end);
    }
    return plim_spans_add(&mirror->segment_spans, span) != PLIM_SPANS_NO_MEMORY;
}

static bool begin_segment(plim_mirror *mirror, const plim_event *event, uint64_t born)
{
    const plim_mirror_segment segment = { .stack = event->stack,
                                          .stream = event->stream,
                                          .pool = event->pool,
                                          .is_small = event->is_small,
                                          .is_expandable = event->action == PLIM_SEGMENT_MAP,
                                          .born = born };
    return plim_mirror_add_segment(mirror, event->addr, event->bytes, &segment);
}

/* Parts of a run that is unmapped and that no event maps. */
static bool lose_holes(plim_mirror *mirror, const plim_event *what, plim_addr end)
{
    plim_addr at = what->addr;
    while (at < end) {
        const plim_span *const span = plim_spans_from(&mirror->segment_spans, at);
        const plim_addr until = span == NULL || span->begin > end ? end : span->begin;
        plim_event part = *what;
        part.addr = at;
        part.bytes = until - at;
        if (until > at && !lose(mirror, &part, PLIM_SEGMENT_MAP, PLIM_LOST_SEGMENT_BEGIN)) {
            return false;
        }
        at = span == NULL || until == end ? end : span->end;
    }
    return true;
}

static bool end_segment(plim_mirror *mirror, const plim_event *what)
{
    const plim_span gone = plim_span_of(what->addr, what->bytes, 0, false);
    const plim_span *const span = plim_spans_find(&mirror->segment_spans, gone.begin);
    const bool is_whole = span != NULL && span->begin == gone.begin && span->end == gone.end;
    if (!end_blocks(mirror, gone.begin, gone.end)) {
        return false;
    }
    if (mirror->gap != PLIM_NO_GAP && what->action == PLIM_SEGMENT_UNMAP) {
        if (!lose_holes(mirror, what, gone.end)) {
            return false;
        }
    } else if (mirror->gap != PLIM_NO_GAP && !is_whole) {
        return end_segments(mirror, gone.begin, gone.end) &&
               lose(mirror, what, PLIM_SEGMENT_ALLOC, PLIM_LOST_SEGMENT_BEGIN);
    }
    const uint64_t gap = mirror->gap;
    mirror->gap = PLIM_NO_GAP; /* this event is how it ends: nothing of that is lost */
    const bool done = end_segments(mirror, gone.begin, gone.end);
    mirror->gap = gap;
    return done;
}

bool plim_mirror_apply(plim_mirror *mirror, const plim_event *event, uint64_t number)
{
    switch ((uint8_t)event->action) {
    case PLIM_ALLOC:
        return allocate(mirror, event, number);
    case PLIM_FREE_REQUESTED:
    case PLIM_FREE_COMPLETED:
        return free_block(mirror, event);
    case PLIM_SEGMENT_ALLOC:
    case PLIM_SEGMENT_MAP:
        return begin_segment(mirror, event, number);
    case PLIM_SEGMENT_FREE:
    case PLIM_SEGMENT_UNMAP:
        return end_segment(mirror, event);
    default:
        return true;
    }
}

/* --- lost events in order --- */

static int compare_lost(const void *a, const void *b)
{
    const plim_lost_event *const left = a;
    const plim_lost_event *const right = b;
    if (left->at != right->at) {
        return left->at < right->at ? -1 : 1;
    }
    if (left->order != right->order) {
        return left->order < right->order ? -1 : 1;
    }
    return (left->event.addr > right->event.addr) - (left->event.addr < right->event.addr);
}

void plim_mirror_sort_lost(plim_mirror *mirror)
{
    if (mirror->lost.count > 0) {
        qsort(mirror->lost.items, mirror->lost.count, sizeof *mirror->lost.items, compare_lost);
    }
}

/* --- what is there at the end, as rows of a history: segments tiled by blocks --- */

typedef struct end_writer {
    const plim_mirror *mirror;
    plim_history *history;
    plim_mirror_report report;
    const plim_span *block; /* the next one to push, or NULL */
} end_writer;

static plim_status push_free(end_writer *writer, plim_addr from, plim_addr to, plim_error *err)
{
    if (from >= to) {
        return PLIM_OK;
    }
    const plim_block block = { .addr = from, .bytes = to - from, .stack = PLIM_NONE };
    writer->report.blocks++;
    return plim_history_push_block(writer->history, &block, err);
}

/* Pushes the next block. */
static plim_status push_block(end_writer *writer, plim_error *err)
{
    const plim_span *const span = writer->block;
    const plim_mirror_block *const row = &writer->mirror->blocks.items[span->tag];
    const plim_block block = { .addr = span->begin,
                               .bytes = span->end - span->begin,
                               .requested_bytes = row->requested_bytes,
                               .stack = row->stack,
                               .state = row->is_pending ? PLIM_BLOCK_ACTIVE_PENDING_FREE
                                                        : PLIM_BLOCK_ACTIVE_ALLOCATED };
    writer->report.blocks++;
    writer->block = plim_spans_next(&writer->mirror->block_spans, span);
    return plim_history_push_block(writer->history, &block, err);
}

/* Pushes a segment whose blocks are those from `first` on. */
static plim_status push_segment(end_writer *writer, plim_addr begin, plim_addr end,
                                const plim_mirror_segment *row, uint64_t first, plim_error *err)
{
    plim_segment segment = { .addr = begin,
                             .bytes = end - begin,
                             .pool = row->pool,
                             .stack = row->stack,
                             .block_first = first,
                             .block_count = writer->report.blocks - first,
                             .is_large = !row->is_small,
                             .is_expandable = row->is_expandable };
    PLIM_TRY(plim_history_add_stream(writer->history, row->stream, &segment.stream, err));
    writer->report.segments++;
    return plim_history_push_segment(writer->history, &segment, err);
}

static bool is_alike(const plim_mirror_block *a, const plim_mirror_block *b)
{
    return a->stream == b->stream && plim_pool_ids_equal(a->pool, b->pool) &&
           a->is_small == b->is_small;
}

/* Blocks that touch and lie in no segment: their segment is at least as large as they are. */
static plim_status push_made_up(end_writer *writer, plim_addr limit, plim_error *err)
{
    const plim_span *const span = writer->block;
    const plim_addr begin = span->begin;
    const plim_mirror_block *const like = &writer->mirror->blocks.items[span->tag];
    const plim_mirror_segment segment = {
        .stream = like->stream, .pool = like->pool, .stack = PLIM_NONE, .is_small = like->is_small
    };
    const uint64_t first = writer->report.blocks;
    plim_addr end = begin;
    while (writer->block != NULL && writer->block->begin == end && writer->block->end <= limit &&
           is_alike(like, &writer->mirror->blocks.items[writer->block->tag])) {
        end = writer->block->end;
        PLIM_TRY(push_block(writer, err));
    }
    writer->report.made_up_segments++;
    return push_segment(writer, begin, end, &segment, first, err);
}

/* Blocks that end before `limit`, where no segment is. */
static plim_status push_outside(end_writer *writer, plim_addr limit, plim_error *err)
{
    while (writer->block != NULL && writer->block->end <= limit) {
        PLIM_TRY(push_made_up(writer, limit, err));
    }
    return PLIM_OK;
}

/* Pushes the blocks that begin before `*end`, which is moved to where the last of them ends. */
static plim_status push_blocks(end_writer *writer, plim_addr *behind, plim_addr *end,
                               plim_error *err)
{
    while (writer->block != NULL && writer->block->begin < *end) {
        PLIM_TRY(push_free(writer, *behind, writer->block->begin, err));
        *behind = writer->block->end;
        *end = plim_max(*behind, *end);
        PLIM_TRY(push_block(writer, err));
    }
    return PLIM_OK;
}

/* A segment, made larger where blocks reach beyond it, with the segments they reach into;
 * `*segment` is moved to the next. */
static plim_status push_inside(end_writer *writer, const plim_span **segment, plim_error *err)
{
    const plim_spans *const spans = &writer->mirror->segment_spans;
    const uint64_t first = writer->report.blocks;
    const plim_span recorded = **segment;
    const plim_addr begin =
        writer->block != NULL ? plim_min(writer->block->begin, recorded.begin) : recorded.begin;
    plim_addr behind = begin;
    plim_addr end = recorded.end;
    PLIM_TRY(push_blocks(writer, &behind, &end, err));
    const plim_span *next = plim_spans_next(spans, &recorded);
    while (next != NULL && next->begin < end) {
        end = plim_max(next->end, end);
        PLIM_TRY(push_blocks(writer, &behind, &end, err));
        next = plim_spans_next(spans, next);
    }
    *segment = next;
    PLIM_TRY(push_free(writer, behind, end, err));
    writer->report.stretched_segments += begin < recorded.begin || recorded.end < end;
    return push_segment(writer, begin, end, &writer->mirror->segments.items[recorded.tag], first,
                        err);
}

plim_status plim_mirror_push(const plim_mirror *mirror, plim_history *history,
                             plim_mirror_report *ret_report, plim_error *err)
{
    end_writer writer = { .mirror = mirror,
                          .history = history,
                          .block = plim_spans_first(&mirror->block_spans) };
    const plim_span *segment = plim_spans_first(&mirror->segment_spans);
    while (segment != NULL) {
        PLIM_TRY(push_outside(&writer, segment->begin, err));
        PLIM_TRY(push_inside(&writer, &segment, err));
    }
    PLIM_TRY(push_outside(&writer, UINT64_MAX, err));
    *ret_report = writer.report;
    return PLIM_OK;
}
