/*
 * facts.c - devices, their steps, failures, and what a diagnosis finds.
 */
#include "query/columns.h"
#include "query/values.h"

#include "base/error.h"

/* --- devices --- */

#define DEVICE_COLUMNS(X)                                                                          \
    X(DEVICE, "device", INTEGER, "PyTorch's index; -1 is pinned host memory")                      \
    X(EVENTS, "events", INTEGER, "that were recorded")                                             \
    X(DURATION, "duration_us", INTEGER, "from the first event to the last, or NULL")               \
    X(STEPS, "steps", INTEGER, "that were found")                                                  \
    X(PEAK_EVENT, "peak_event", INTEGER, "after it requested bytes are highest; -1: at the start") \
    X(PEAK_REQUESTED, "peak_requested_bytes", INTEGER, "of live allocations at the peak")          \
    X(PEAK_ALLOCATED, "peak_allocated_bytes", INTEGER, "their blocks")                             \
    X(PEAK_ACTIVE, "peak_active_bytes", INTEGER, "and blocks that are pending")                    \
    X(PEAK_RESERVED, "peak_reserved_bytes", INTEGER, "segments at that moment")                    \
    X(PEAK_LIVE, "peak_live_count", INTEGER, "live allocations at the peak")                       \
    X(START_REQUESTED, "start_requested_bytes", INTEGER, "live before the first event")            \
    X(START_LIVE, "start_live_count", INTEGER, "allocations live before the first event")          \
    X(END_REQUESTED, "end_requested_bytes", INTEGER, "in allocated blocks at the end")             \
    X(END_ALLOCATED, "end_allocated_bytes", INTEGER, "these blocks")                               \
    X(END_RESERVED, "end_reserved_bytes", INTEGER, "segments at the end")                          \
    X(END_FRAGMENTATION, "end_fragmentation", REAL, "1 - end_allocated_bytes/end_reserved_bytes")  \
    X(OOMS, "ooms", INTEGER, "requests that failed")                                               \
    X(TRUNCATED, "truncated", INTEGER, "1: earlier events are lost")

enum { DEVICE_COLUMNS(PLIM_COLUMN_ENUM) DEVICE_COLUMN_COUNT };

static const plim_query_column device_columns[] = { DEVICE_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t one_row(const plim_query *query, size_t part)
{
    (void)query;
    (void)part;
    return 1;
}

static plim_status prepare_device(plim_query *query, size_t part, plim_error *err)
{
    PLIM_TRY(plim_query_need_inspection(query, err));
    return plim_query_need_steps(query, part, err);
}

static uint64_t count_inspected(const plim_query *query, size_t part)
{
    return plim_query_inspected(query, part) != NULL;
}

static void put_end(sqlite3_context *out, const plim_device_inspection *facts, int column)
{
    switch (column) {
    case END_REQUESTED:
        plim_put_u64(out, facts->end.requested_bytes);
        break;
    case END_ALLOCATED:
        plim_put_u64(out, facts->end.allocated_bytes);
        break;
    case END_RESERVED:
        plim_put_u64(out, facts->end.reserved_bytes);
        break;
    case END_FRAGMENTATION:
        sqlite3_result_double(out, facts->end.fragmentation);
        break;
    case OOMS:
        plim_put_u64(out, facts->oom_count);
        break;
    default:
        plim_put_bool(out, facts->truncated);
        break;
    }
}

static void put_peak(sqlite3_context *out, const plim_device_inspection *facts, int column)
{
    switch (column) {
    case PEAK_EVENT:
        plim_put_i64(out, facts->peak.event);
        break;
    case PEAK_REQUESTED:
        plim_put_u64(out, facts->peak.requested_bytes);
        break;
    case PEAK_ALLOCATED:
        plim_put_u64(out, facts->peak.allocated_bytes);
        break;
    case PEAK_ACTIVE:
        plim_put_u64(out, facts->peak.active_bytes);
        break;
    case PEAK_RESERVED:
        plim_put_u64(out, facts->peak.reserved_bytes);
        break;
    case PEAK_LIVE:
        plim_put_u64(out, facts->peak.live_count);
        break;
    case START_REQUESTED:
        plim_put_u64(out, facts->start_requested_bytes);
        break;
    case START_LIVE:
        plim_put_u64(out, facts->start_live_count);
        break;
    default:
        put_end(out, facts, column);
        break;
    }
}

static void put_device(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_device_inspection *const facts = plim_query_inspected(cursor->query, cursor->part);
    switch (column) {
    case DEVICE:
        plim_put_i64(out, facts->device);
        break;
    case EVENTS:
        plim_put_u64(out, facts->events);
        break;
    case DURATION:
        plim_put_known(out, facts->has_times, facts->duration_us);
        break;
    case STEPS:
        plim_put_u64(out, plim_cursor_device(cursor)->view.steps.count);
        break;
    default:
        put_peak(out, facts, column);
        break;
    }
}

const plim_relation plim_relation_devices = {
    .schema = { .name = "devices",
                .meaning = "each device, and its peak, start and end",
                PLIM_COLUMNS(device_columns) },
    .is_by_device = true,
    .device = DEVICE,
    .number = PLIM_NO_COLUMN,
    .parameter = PLIM_NO_COLUMN,
    .keys = { PLIM_NO_KEY },
    .estimate = one_row,
    .prepare = prepare_device,
    .rows = count_inspected,
    .column = put_device,
};

/* --- steps --- */

#define STEP_COLUMNS(X)                                                         \
    X(S_DEVICE, "device", INTEGER, "PyTorch's index; -1 is pinned host memory") \
    X(S_STEP, "step", INTEGER, "its number, from 0")                            \
    X(S_FIRST, "first_event", INTEGER, "its first event")                       \
    X(S_LAST, "last_event", INTEGER, "its last event")                          \
    X(S_TIME, "time_us", INTEGER, "of its first event, or NULL")                \
    X(S_START, "start_bytes", INTEGER, "requested bytes before it")             \
    X(S_PEAK, "peak_bytes", INTEGER, "its highest requested bytes")             \
    X(S_PEAK_EVENT, "peak_event", INTEGER, "after which they are highest")      \
    X(S_END, "end_bytes", INTEGER, "requested bytes after it")                  \
    X(S_GROWTH, "growth_bytes", INTEGER, "end_bytes - start_bytes")

enum { STEP_COLUMNS(PLIM_COLUMN_ENUM) STEP_COLUMN_COUNT };

static const plim_query_column step_columns[] = { STEP_COLUMNS(PLIM_COLUMN_ROW) };

/* So many events has a step of a small model. */
#define STEP_EVENTS_EXPECTED 1000u

static uint64_t estimate_steps(const plim_query *query, size_t part)
{
    const uint64_t events = query->devices[part].history->events.count;
    return events / STEP_EVENTS_EXPECTED + (events > 0);
}

static uint64_t count_steps(const plim_query *query, size_t part)
{
    return query->devices[part].view.steps.count;
}

/* SQLite has no unsigned numbers: a difference beyond 2^63 is a real number. */
static void put_growth(sqlite3_context *out, const plim_step_figures *figures)
{
    const bool is_less = figures->end_bytes < figures->start_bytes;
    const uint64_t change = is_less ? figures->start_bytes - figures->end_bytes
                                    : figures->end_bytes - figures->start_bytes;
    if (change > INT64_MAX) {
        sqlite3_result_double(out, is_less ? -(double)change : (double)change);
    } else {
        plim_put_i64(out, is_less ? -(int64_t)change : (int64_t)change);
    }
}

static void put_step(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_query_device *const device = plim_cursor_device(cursor);
    const plim_step_figures *const figures = &device->step_figures[cursor->row];
    const uint64_t *const first = &device->view.steps.first_events[cursor->row];
    switch (column) {
    case S_DEVICE:
        plim_put_i64(out, device->history->device);
        break;
    case S_STEP:
        plim_put_u64(out, cursor->row);
        break;
    case S_FIRST:
        plim_put_u64(out, first[0]);
        break;
    case S_LAST:
        plim_put_i64(out, (int64_t)first[1] - 1);
        break;
    case S_TIME:
        plim_put_time(out, device->history->events.time_us[first[0]]);
        break;
    case S_START:
        plim_put_u64(out, figures->start_bytes);
        break;
    case S_PEAK:
        plim_put_u64(out, figures->peak_bytes);
        break;
    case S_PEAK_EVENT:
        plim_put_i64(out, figures->peak_event);
        break;
    case S_END:
        plim_put_u64(out, figures->end_bytes);
        break;
    default:
        put_growth(out, figures);
        break;
    }
}

const plim_relation plim_relation_steps = {
    .schema = { .name = "steps",
                .meaning = "the steps of the program, and requested bytes in each",
                PLIM_COLUMNS(step_columns) },
    .is_by_device = true,
    .device = S_DEVICE,
    .number = S_STEP,
    .parameter = PLIM_NO_COLUMN,
    .keys = { PLIM_NO_KEY },
    .estimate = estimate_steps,
    .prepare = plim_query_need_step_figures,
    .rows = count_steps,
    .column = put_step,
};

/* --- failures --- */

#define OOM_COLUMNS(X)                                                              \
    X(O_DEVICE, "device", INTEGER, "PyTorch's index")                               \
    X(O_OOM, "oom", INTEGER, "its number on the device, from 0: moments('oom:1')")  \
    X(O_EVENT, "event", INTEGER, "the event that records it")                       \
    X(O_TIME, "time_us", INTEGER, "of that event, or NULL")                         \
    X(O_BYTES, "requested_bytes", INTEGER, "of the request that failed")            \
    X(O_SEGMENT, "segment_bytes", INTEGER,                                          \
      "that its allocation needs from the device, by PyTorch's rule")               \
    X(O_FREE, "device_free_bytes", INTEGER, "as the driver reported, or NULL")      \
    X(O_LIVE, "live_bytes", INTEGER, "requested bytes of live allocations then")    \
    X(O_ALLOCATED, "allocated_bytes", INTEGER, "their blocks")                      \
    X(O_RESERVED, "reserved_bytes", INTEGER, "segments then")                       \
    X(O_FRAGMENTATION, "fragmentation", REAL, "1 - allocated_bytes/reserved_bytes") \
    X(O_STACK, "stack", INTEGER, "of the request, or NULL")                         \
    X(O_FUNCTION, "function", TEXT, "of the frame that speaks for the stack")       \
    X(O_FILE, "file", TEXT, "of that frame")                                        \
    X(O_LINE, "line", INTEGER, "of that frame")

enum { OOM_COLUMNS(PLIM_COLUMN_ENUM) OOM_COLUMN_COUNT };

static const plim_query_column oom_columns[] = { OOM_COLUMNS(PLIM_COLUMN_ROW) };

static plim_status prepare_inspection(plim_query *query, size_t part, plim_error *err)
{
    (void)part;
    return plim_query_need_inspection(query, err);
}

static uint64_t count_ooms(const plim_query *query, size_t part)
{
    const plim_device_inspection *const device = plim_query_inspected(query, part);
    return device != NULL ? device->oom_count : 0;
}

static void put_failed(sqlite3_context *out, plim_query *query, const plim_oom_moment *oom,
                       int column)
{
    switch (column) {
    case O_LIVE:
        plim_put_u64(out, oom->moment.requested_bytes);
        break;
    case O_ALLOCATED:
        plim_put_u64(out, oom->moment.allocated_bytes);
        break;
    case O_RESERVED:
        plim_put_u64(out, oom->moment.reserved_bytes);
        break;
    case O_FRAGMENTATION:
        sqlite3_result_double(out, oom->moment.fragmentation);
        break;
    case O_STACK:
        plim_put_index(out, oom->stack);
        break;
    default:
        plim_put_label(out, query, oom->stack, (plim_label_part)(column - O_FUNCTION));
        break;
    }
}

static void put_oom(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_oom_moment *const oom =
        &plim_query_inspected(cursor->query, cursor->part)->ooms[cursor->row];
    switch (column) {
    case O_DEVICE:
        plim_put_i64(out, plim_cursor_device(cursor)->history->device);
        break;
    case O_OOM:
        plim_put_u64(out, cursor->row);
        break;
    case O_EVENT:
        plim_put_u64(out, oom->event);
        break;
    case O_TIME:
        plim_put_time(out, oom->moment.time_us);
        break;
    case O_BYTES:
        plim_put_u64(out, oom->requested_bytes);
        break;
    case O_SEGMENT:
        plim_put_u64(out, oom->segment_bytes);
        break;
    case O_FREE:
        plim_put_known(out, oom->has_device_free, oom->device_free_bytes);
        break;
    default:
        put_failed(out, cursor->query, oom, column);
        break;
    }
}

const plim_relation plim_relation_ooms = {
    .schema = { .name = "ooms",
                .meaning = "requests that failed, and the memory then",
                PLIM_COLUMNS(oom_columns) },
    .is_by_device = true,
    .device = O_DEVICE,
    .number = O_OOM,
    .parameter = PLIM_NO_COLUMN,
    .keys = { PLIM_NO_KEY },
    .estimate = one_row,
    .prepare = prepare_inspection,
    .rows = count_ooms,
    .column = put_oom,
};
