/*
 * device.c - the events of one device: decoded, applied to the mirror, pushed.
 *
 * Where nothing is missing that is one pass. Where something is, a first pass only finds out what
 * the missing events must have been (mirror.h), and a second one pushes the events with those in
 * their places.
 */
#include "trace/read/reading.h"

#include "base/error.h"
#include "trace/rows.h"

#include <inttypes.h>

typedef struct device_reader {
    plim_file_reading *reading;
    const plim_device_chunk *chunks;
    size_t chunk_count;
    plim_mirror mirror;
    plim_recorded_end end;
    plim_note_runs runs;
    size_t run;   /* the first of the runs that is not before the events read */
    bool applies; /* events to the mirror */
    bool pushes;  /* events into the history */
    size_t lost;  /* of the mirror's lost events: those before it are pushed */

    uint64_t number;  /* events so far, without lost ones */
    uint64_t counted; /* events so far by the heads of the chunks, lost ones too */
    uint64_t place;   /* of the next event, lost ones counted */
    uint64_t missing;
    uint64_t spoiled; /* chunks with something that is no row */
    int64_t time_ns;  /* of the last event */

    /* The stack of the last row, and what the history calls it. */
    uint32_t stack_id;
    uint32_t stack;
} device_reader;

/* --- what events refer to --- */

static void find_stack(device_reader *reader, uint32_t id)
{
    if (id != reader->stack_id) {
        reader->stack = id == PLIM_NONE ? PLIM_NONE : plim_file_reading_stack(reader->reading, id);
        reader->stack_id = id;
    }
}

/* --- rows --- */

/* The mark of an event that was reconstructed. */
static const char worked_out[] = "worked out: missing in the recording";

static plim_status push_worked_out(plim_history *history, const plim_event *lost, plim_error *err)
{
    plim_event event = *lost;
    plim_note note = { .pool = lost->pool,
                       .has_pool = true,
                       .compile_context = PLIM_NONE,
                       .forward_stack = PLIM_NONE,
                       .category = PLIM_NONE };
    PLIM_TRY(plim_history_add_string(history, worked_out, sizeof worked_out - 1,
                                     &note.user_metadata, err));
    PLIM_TRY(plim_history_add_note(history, &note, &event.note, err));
    return plim_history_push_event(history, &event, err);
}

/* Pushes the lost events that come after the first `number`. */
static plim_status push_lost(device_reader *reader, uint64_t number, plim_error *err)
{
    const plim_mirror *const mirror = &reader->mirror;
    while (reader->lost < mirror->lost.count && mirror->lost.items[reader->lost].at <= number) {
        PLIM_TRY(push_worked_out(reader->reading->history, &mirror->lost.items[reader->lost].event,
                                 err));
        reader->lost++;
    }
    return PLIM_OK;
}

static void put_gap(device_reader *reader, uint64_t count)
{
    reader->missing += count;
    reader->place += count;
    if (reader->applies) {
        plim_mirror_gap(&reader->mirror, reader->number, reader->time_ns);
    }
}

/* What notes say of the event at `place`, besides its row. */
static void take_note(device_reader *reader, plim_event *event)
{
    const plim_note_runs *const runs = &reader->runs;
    while (reader->run < runs->count &&
           reader->place - runs->items[reader->run].first >= runs->items[reader->run].count &&
           reader->place >= runs->items[reader->run].first) {
        reader->run++;
    }
    if (reader->run == runs->count || reader->place < runs->items[reader->run].first) {
        return;
    }
    const plim_note_run *const run = &runs->items[reader->run];
    event->note = run->note;
    if (event->action == PLIM_USER_DEFINED && run->action != PLIM_USER_DEFINED) {
        event->action = run->action;
        plim_history_count_anomaly(reader->reading->history, PLIM_ANOMALY_UNKNOWN_ACTION, 1);
    }
}

static plim_status read_event(device_reader *reader, plim_event *event, plim_error *err)
{
    find_stack(reader, event->stack);
    event->stack = reader->stack;
    event->block_bytes = event->block_bytes != 0 ? event->block_bytes : event->bytes;
    reader->number++;
    reader->time_ns = event->time_ns;
    if (reader->applies && !plim_mirror_apply(&reader->mirror, event, reader->number)) {
        return plim_fail_memory(err, "reading a recording");
    }
    take_note(reader, event);
    reader->place++;
    if (!reader->pushes) {
        return PLIM_OK;
    }
    PLIM_TRY(push_lost(reader, reader->number - 1, err));
    return plim_history_push_event(reader->reading->history, event, err);
}

static plim_status read_annotation(device_reader *reader, const plim_event *row, plim_error *err)
{
    plim_annotation annotation = { .device = reader->chunks->device,
                                   .time_us = plim_time_us(row->time_ns),
                                   .is_start = row->addr != 0 };
    if (!reader->pushes) {
        return PLIM_OK;
    }
    PLIM_TRY(plim_file_reading_string(reader->reading, row->bytes, &annotation.name, err));
    return plim_history_push_annotation(reader->reading->history, &annotation, err);
}

static plim_status read_row(device_reader *reader, plim_event *row, plim_error *err)
{
    switch ((unsigned)row->action) {
    case PLIM_ROW_LOST:
        put_gap(reader, row->bytes);
        return PLIM_OK;
    case PLIM_ROW_ANNOTATION:
        return read_annotation(reader, row, err);
    default:
        return read_event(reader, row, err);
    }
}

typedef struct events_head {
    uint32_t events;
    uint64_t first;
    uint64_t lost;
} events_head;

static events_head read_head(const plim_chunk *chunk)
{
    return (events_head){ .events = plim_get_u32(chunk->stored + 4),
                          .first = plim_get_u64(chunk->stored + 8),
                          .lost = plim_get_u64(chunk->stored + 16) };
}

static plim_status read_events(device_reader *reader, const plim_chunk *chunk, plim_error *err)
{
    plim_trace_bytes bytes = { 0 };
    plim_row_state state;
    plim_event row;
    const events_head head = read_head(chunk);
    if (head.first != reader->counted) { /* chunks are missing */
        put_gap(reader, head.first > reader->counted ? head.first - reader->counted : 0);
    }
    reader->counted = head.first + head.events + head.lost;
    reader->place = head.first;
    PLIM_TRY(plim_file_reading_open(reader->reading, chunk, &bytes, err));
    if (bytes.at != NULL) {
        bytes.at += PLIM_EVENTS_HEAD_BYTES;
    }
    plim_rows_begin(&state);
    while (plim_row_get(&state, &bytes, &row)) {
        PLIM_TRY(read_row(reader, &row, err));
    }
    if (bytes.at == NULL) {
        reader->spoiled++;
        put_gap(reader, 0);
        if (reader->pushes) {
            plim_file_reading_spoiled(reader->reading, chunk);
        }
    }
    return PLIM_OK;
}

/* --- what stood at the start --- */

static uint32_t read_state_stack(device_reader *reader, plim_trace_bytes *bytes)
{
    const uint64_t id = plim_get_varint(bytes);
    return id == 0 ? PLIM_NONE : plim_file_reading_stack(reader->reading, id - 1);
}

static plim_status read_state_block(device_reader *reader, plim_trace_bytes *bytes,
                                    uint64_t *behind, const plim_mirror_segment *segment,
                                    plim_error *err)
{
    plim_mirror_block block = { .stream = segment->stream,
                                .pool = segment->pool,
                                .is_small = segment->is_small };
    const plim_addr addr = *behind + plim_unzigzag(plim_get_varint(bytes));
    const uint64_t length = plim_get_varint(bytes);
    block.requested_bytes = plim_get_varint(bytes);
    const uint64_t state = plim_get_varint(bytes);
    block.stack = read_state_stack(reader, bytes);
    block.is_pending = state == PLIM_BLOCK_ACTIVE_PENDING_FREE;
    *behind = addr + length;
    if (bytes->at == NULL || state == PLIM_BLOCK_INACTIVE) {
        return PLIM_OK;
    }
    return plim_mirror_add_block(&reader->mirror, addr, length, &block)
               ? PLIM_OK
               : plim_fail_memory(err, "reading a recording");
}

static plim_status read_state_segment(device_reader *reader, plim_trace_bytes *bytes,
                                      plim_error *err)
{
    plim_mirror_segment segment = { 0 };
    const plim_addr addr = plim_get_varint(bytes);
    const uint64_t length = plim_get_varint(bytes);
    segment.pool.a = plim_get_varint(bytes);
    segment.pool.b = plim_get_varint(bytes);
    segment.stream = plim_get_varint(bytes);
    segment.stack = read_state_stack(reader, bytes);
    const uint64_t flags = plim_get_varint(bytes);
    const uint64_t count = plim_get_varint(bytes);
    if (bytes->at == NULL) {
        return PLIM_OK;
    }
    segment.is_small = (flags & 1) == 0;
    segment.is_expandable = (flags & 2) != 0;
    if (!plim_mirror_add_segment(&reader->mirror, addr, length, &segment)) {
        return plim_fail_memory(err, "reading a recording");
    }
    uint64_t behind = addr;
    for (uint64_t i = 0; i < count && bytes->at != NULL; i++) {
        PLIM_TRY(read_state_block(reader, bytes, &behind, &segment, err));
    }
    return PLIM_OK;
}

static plim_status read_state(device_reader *reader, const plim_chunk *chunk, plim_error *err)
{
    plim_trace_bytes bytes = { 0 };
    PLIM_TRY(plim_file_reading_open(reader->reading, chunk, &bytes, err));
    (void)plim_get_varint(&bytes); /* the device */
    while (plim_bytes_left(&bytes) > 0) {
        PLIM_TRY(read_state_segment(reader, &bytes, err));
    }
    if (bytes.at == NULL) {
        plim_file_reading_spoiled(reader->reading, chunk);
    }
    return PLIM_OK;
}

/* --- passes --- */

static const plim_chunk *chunk_at(const device_reader *reader, size_t index)
{
    return &reader->reading->chunks.items[reader->chunks[index].chunk];
}

static plim_status read_all_state(device_reader *reader, plim_error *err)
{
    for (size_t i = 0; i < reader->chunk_count; i++) {
        if (reader->chunks[i].kind == PLIM_CHUNK_STATE) {
            PLIM_TRY(read_state(reader, chunk_at(reader, i), err));
        }
    }
    return PLIM_OK;
}

/* Notes, and the segments and blocks at the end. */
static plim_status read_beside(device_reader *reader, plim_error *err)
{
    for (size_t i = 0; i < reader->chunk_count; i++) {
        if (reader->chunks[i].kind == PLIM_CHUNK_NOTES) {
            PLIM_TRY(
                plim_file_reading_notes(reader->reading, chunk_at(reader, i), &reader->runs, err));
        } else if (reader->chunks[i].kind == PLIM_CHUNK_END_STATE) {
            PLIM_TRY(
                plim_file_reading_end(reader->reading, chunk_at(reader, i), &reader->end, err));
        }
    }
    return PLIM_OK;
}

static plim_status read_all_events(device_reader *reader, plim_error *err)
{
    reader->number = 0;
    reader->counted = 0;
    reader->place = 0;
    reader->run = 0;
    reader->missing = 0;
    reader->spoiled = 0;
    reader->time_ns = PLIM_TIME_UNKNOWN;
    for (size_t i = 0; i < reader->chunk_count; i++) {
        if (reader->chunks[i].kind == PLIM_CHUNK_EVENTS) {
            PLIM_TRY(read_events(reader, chunk_at(reader, i), err));
        }
    }
    return PLIM_OK;
}

/* True if the heads of the chunks say that events are missing. */
static bool has_gaps(const device_reader *reader)
{
    uint64_t counted = 0;
    for (size_t i = 0; i < reader->chunk_count; i++) {
        if (reader->chunks[i].kind != PLIM_CHUNK_EVENTS) {
            continue;
        }
        const events_head head = read_head(chunk_at(reader, i));
        if (head.lost > 0 || head.first != counted) {
            return true;
        }
        counted += head.events;
    }
    return false;
}

static plim_status warn(const device_reader *reader, const plim_mirror_report *report,
                        plim_error *err)
{
    plim_history *const history = reader->reading->history;
    const int32_t device = reader->chunks->device;
    if (reader->missing > 0) {
        PLIM_TRY(plim_history_warn(history, err,
                                   "device %" PRId32 ": %" PRIu64
                                   " events are missing: recorded faster than they could be "
                                   "written, or damaged; later events show %zu of them",
                                   device, reader->missing, reader->mirror.lost.count));
    }
    if (report->made_up_segments > 0) {
        PLIM_TRY(plim_history_warn(history, err,
                                   "device %" PRId32 ": %" PRIu64
                                   " segments are only known by the blocks in them: the "
                                   "recording began after them",
                                   device, report->made_up_segments));
    }
    if (report->stretched_segments > 0) {
        PLIM_TRY(
            plim_history_warn(history, err,
                              "device %" PRId32 ": %" PRIu64
                              " segments are larger than was recorded: blocks reach beyond them",
                              device, report->stretched_segments));
    }
    return PLIM_OK;
}

/* Where the rows of the history stood before the device. */
typedef struct rows_before {
    uint64_t events;
    uint64_t segments;
    uint64_t blocks;
} rows_before;

static plim_status finish(device_reader *reader, const rows_before *before, plim_error *err)
{
    plim_file_reading *const reading = reader->reading;
    plim_mirror_report report = { 0 };
    const bool is_recorded = plim_recorded_end_is_whole(&reader->end);
    const bool has_gaps = reader->missing > 0 || reader->spoiled > 0;
    if (is_recorded) {
        PLIM_TRY(plim_recorded_end_push(&reader->end, reading->history, err));
        report.segments = reader->end.segments.count;
        report.blocks = reader->end.blocks.count;
    } else {
        PLIM_TRY(plim_mirror_push(&reader->mirror, reading->history, &report, err));
    }
    PLIM_TRY(warn(reader, &report, err));
    reading->segments += report.segments;
    reading->blocks += report.blocks;
    const uint64_t events = plim_history_pushed_events(reading->history) - before->events;
    const plim_device_ranges ranges = {
        .device = reader->chunks->device,
        .events = { before->events, events },
        .segments = { before->segments, report.segments },
        .blocks = { before->blocks, report.blocks },
        .capacity_events = reader->end.is_recorded ? reader->end.capacity_events : 0,
        .overflowed = has_gaps                  ? PLIM_YES
                      : reader->end.is_recorded ? reader->end.overflowed
                                                : PLIM_NO,
    };
    if (events == 0 && report.segments == 0 && !reader->end.is_recorded) {
        return PLIM_OK; /* it was only annotated */
    }
    return plim_history_add_device(reading->history, &ranges, err);
}

static plim_status read_passes(device_reader *reader, plim_error *err)
{
    PLIM_TRY(read_beside(reader, err));
    const bool is_missing = has_gaps(reader);
    reader->applies = is_missing || !plim_recorded_end_is_whole(&reader->end);
    if (reader->applies) {
        PLIM_TRY(read_all_state(reader, err));
    }
    if (is_missing) {
        PLIM_TRY(read_all_events(reader, err));
        plim_mirror_sort_lost(&reader->mirror);
        reader->applies = false;
    }
    reader->pushes = true;
    PLIM_TRY(read_all_events(reader, err));
    return push_lost(reader, reader->number, err);
}

plim_status plim_file_reading_device(plim_file_reading *reading, const plim_device_chunk *chunks,
                                     size_t count, plim_error *err)
{
    const rows_before before = { plim_history_pushed_events(reading->history), reading->segments,
                                 reading->blocks };
    device_reader reader = { .reading = reading,
                             .chunks = chunks,
                             .chunk_count = count,
                             .stack_id = PLIM_NONE,
                             .stack = PLIM_NONE };
    plim_mirror_init(&reader.mirror, reading->mem);
    plim_status status = read_passes(&reader, err);
    if (status == PLIM_OK) {
        status = finish(&reader, &before, err);
    }
    plim_mirror_deinit(&reader.mirror);
    plim_recorded_end_deinit(&reader.end, reading->mem);
    PLIM_VEC_FREE(reading->mem, &reader.runs);
    return status;
}
