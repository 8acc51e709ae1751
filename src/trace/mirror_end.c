/*
 * mirror_end.c - what stands at the end, as the rows of a history: segments tiled by blocks.
 */
#include "trace/mirror.h"

#include "base/error.h"
#include "base/numbers.h"

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
    const plim_span told = **segment;
    const plim_addr begin =
        writer->block != NULL ? plim_min(writer->block->begin, told.begin) : told.begin;
    plim_addr behind = begin;
    plim_addr end = told.end;
    PLIM_TRY(push_blocks(writer, &behind, &end, err));
    const plim_span *next = plim_spans_next(spans, &told);
    while (next != NULL && next->begin < end) {
        end = plim_max(next->end, end);
        PLIM_TRY(push_blocks(writer, &behind, &end, err));
        next = plim_spans_next(spans, next);
    }
    *segment = next;
    PLIM_TRY(push_free(writer, behind, end, err));
    writer->report.stretched_segments += begin < told.begin || told.end < end;
    return push_segment(writer, begin, end, &writer->mirror->segments.items[told.tag], first, err);
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
