/*
 * mirror_end.c - what stands at the end, as the rows of a history: segments tiled by blocks.
 */
#include "trace/mirror.h"

#include "base/error.h"

/* A walk over a set of spans, in order. */
typedef struct span_walk {
    const plim_spans *spans;
    size_t chunk;
    size_t index;
} span_walk;

static const plim_span *look(const span_walk *walk)
{
    return walk->chunk < walk->spans->chunks.count
               ? &walk->spans->chunks.items[walk->chunk]->spans[walk->index]
               : NULL;
}

static void step(span_walk *walk)
{
    walk->index++;
    if (walk->index == walk->spans->chunks.items[walk->chunk]->count) {
        walk->chunk++;
        walk->index = 0;
    }
}

typedef struct end_writer {
    const plim_mirror *mirror;
    plim_history *history;
    plim_mirror_report report;
    span_walk blocks;
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

static plim_status push_block(end_writer *writer, const plim_span *span, plim_error *err)
{
    const plim_mirror_block *const row = &writer->mirror->blocks.items[span->stream];
    const plim_block block = { .addr = span->begin,
                               .bytes = span->end - span->begin,
                               .requested_bytes = row->requested_bytes,
                               .stack = row->stack,
                               .state = row->is_pending ? PLIM_BLOCK_ACTIVE_PENDING_FREE
                                                        : PLIM_BLOCK_ACTIVE_ALLOCATED };
    writer->report.blocks++;
    return plim_history_push_block(writer->history, &block, err);
}

/* Pushes a segment whose blocks are those from `first` on. */
static plim_status push_segment(end_writer *writer, plim_addr begin, plim_addr end,
                                const plim_mirror_segment *row, uint64_t first, plim_error *err)
{
    const plim_note *const note = plim_history_note(writer->history, row->note);
    const plim_segment segment = { .addr = begin,
                                   .bytes = end - begin,
                                   .pool = { note->pool[0], note->pool[1] },
                                   .stream = row->stream,
                                   .stack = row->stack,
                                   .block_first = first,
                                   .block_count = writer->report.blocks - first,
                                   .is_large = !row->is_small,
                                   .is_expandable = row->is_expandable };
    writer->report.segments++;
    return plim_history_push_segment(writer->history, &segment, err);
}

static bool is_alike(const plim_mirror_block *a, const plim_mirror_block *b)
{
    return a->stream == b->stream && a->note == b->note && a->is_small == b->is_small;
}

/* Blocks that touch and lie in no segment: their segment is at least as large as they are. */
static plim_status push_made_up(end_writer *writer, plim_addr limit, plim_error *err)
{
    const plim_span *span = look(&writer->blocks);
    const plim_addr begin = span->begin;
    const plim_mirror_block *const like = &writer->mirror->blocks.items[span->stream];
    const plim_mirror_segment segment = {
        .stack = PLIM_NONE, .stream = like->stream, .note = like->note, .is_small = like->is_small
    };
    const uint64_t first = writer->report.blocks;
    plim_addr end = begin;
    while (span != NULL && span->begin == end && span->end <= limit &&
           is_alike(like, &writer->mirror->blocks.items[span->stream])) {
        PLIM_TRY(push_block(writer, span, err));
        end = span->end;
        step(&writer->blocks);
        span = look(&writer->blocks);
    }
    writer->report.made_up_segments++;
    return push_segment(writer, begin, end, &segment, first, err);
}

/* Blocks that end before `limit`, where no segment is. */
static plim_status push_outside(end_writer *writer, plim_addr limit, plim_error *err)
{
    const plim_span *span = look(&writer->blocks);
    while (span != NULL && span->end <= limit) {
        PLIM_TRY(push_made_up(writer, limit, err));
        span = look(&writer->blocks);
    }
    return PLIM_OK;
}

/* Pushes the blocks that begin before `*end`, which is moved to where the last of them ends. */
static plim_status push_blocks(end_writer *writer, plim_addr *behind, plim_addr *end,
                               plim_error *err)
{
    const plim_span *span = look(&writer->blocks);
    while (span != NULL && span->begin < *end) {
        PLIM_TRY(push_free(writer, *behind, span->begin, err));
        PLIM_TRY(push_block(writer, span, err));
        *behind = span->end;
        *end = span->end > *end ? span->end : *end;
        step(&writer->blocks);
        span = look(&writer->blocks);
    }
    return PLIM_OK;
}

/* A segment, made larger where blocks reach beyond it, with the segments they reach into. */
static plim_status push_inside(end_writer *writer, span_walk *segments, plim_error *err)
{
    const uint64_t first = writer->report.blocks;
    const plim_span told = *look(segments);
    const plim_span *const span = look(&writer->blocks);
    const plim_addr begin = span != NULL && span->begin < told.begin ? span->begin : told.begin;
    plim_addr behind = begin;
    plim_addr end = told.end;
    PLIM_TRY(push_blocks(writer, &behind, &end, err));
    step(segments);
    const plim_span *next = look(segments);
    while (next != NULL && next->begin < end) {
        end = next->end > end ? next->end : end;
        PLIM_TRY(push_blocks(writer, &behind, &end, err));
        step(segments);
        next = look(segments);
    }
    PLIM_TRY(push_free(writer, behind, end, err));
    writer->report.stretched_segments += begin < told.begin || told.end < end;
    return push_segment(writer, begin, end, &writer->mirror->segments.items[told.stream], first,
                        err);
}

plim_status plim_mirror_push(const plim_mirror *mirror, plim_history *history,
                             plim_mirror_report *ret_report, plim_error *err)
{
    end_writer writer = { .mirror = mirror,
                          .history = history,
                          .blocks = { .spans = &mirror->block_spans } };
    span_walk segments = { .spans = &mirror->segment_spans };
    while (look(&segments) != NULL) {
        PLIM_TRY(push_outside(&writer, look(&segments)->begin, err));
        PLIM_TRY(push_inside(&writer, &segments, err));
    }
    PLIM_TRY(push_outside(&writer, UINT64_MAX, err));
    *ret_report = writer.report;
    return PLIM_OK;
}
