/*
 * events.c - events as they were recorded, and the figures after each.
 */
#include "query/columns.h"
#include "query/values.h"

#include "base/error.h"
#include "inspect/end_state.h"

#include <string.h>

/* --- events --- */

#define EVENT_COLUMNS(X)                                                                         \
    X(DEVICE, "device", INTEGER, "PyTorch's index; -1 is pinned host memory")                    \
    X(EVENT, "event", INTEGER, "its number on the device, from 0")                               \
    X(ACTION, "action", TEXT, "alloc, free_requested, free_completed, segment_alloc, oom, …")    \
    X(ADDR, "addr", INTEGER, "of the block or the segment; address(addr) shows it")              \
    X(BYTES, "bytes", INTEGER,                                                                   \
      "requested; of segment_…: from or to the driver; of oom: the request")                     \
    X(DEVICE_FREE, "device_free_bytes", INTEGER, "of oom: free as the driver reported, or NULL") \
    X(TIME, "time_us", INTEGER, "microseconds since the Unix epoch, or NULL")                    \
    X(STEP, "step", INTEGER, "the step that it lies in, or NULL")                                \
    X(STREAM, "stream", INTEGER, "handle of its stream; 0 is the default stream")                \
    X(POOL, "pool", TEXT, "0:0 is the default pool; NULL: the event names none")                 \
    X(STACK, "stack", INTEGER, "id in the table stacks, or NULL")                                \
    X(ALLOCATION, "allocation", INTEGER,                                                         \
      "the id in allocations that it begins, frees or completes")                                \
    X(COMPILE_CONTEXT, "compile_context", TEXT, "of torch.compile, or NULL")                     \
    X(USER_METADATA, "user_metadata", TEXT, "the program's note on it, or NULL")                 \
    X(FORWARD_STACK, "forward_stack", TEXT, "frames of the forward pass, or NULL")

enum { EVENT_COLUMNS(PLIM_COLUMN_ENUM) EVENT_COLUMN_COUNT };

static const plim_query_column event_columns[] = { EVENT_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_events(const plim_query *query, size_t part)
{
    return query->devices[part].history->events.count;
}

static bool holds_event(plim_relation_cursor *cursor)
{
    return cursor->only_action < 0 ||
           plim_cursor_device(cursor)->history->events.action[cursor->row] == cursor->only_action;
}

static plim_status events_by_key(plim_relation_cursor *cursor, int column, sqlite3_value *value,
                                 plim_error *err)
{
    (void)column;
    (void)err;
    const char *const wanted = value != NULL && sqlite3_value_type(value) == SQLITE_TEXT
                                   ? (const char *)sqlite3_value_text(value)
                                   : NULL;
    for (int action = 0; wanted != NULL && action <= PLIM_ACTION_MAX; action++) {
        const char *const name = plim_history_action_name(cursor->query->history, (uint8_t)action);
        if (strcmp(name, wanted) == 0 && strcmp(name, "unknown") != 0) {
            cursor->only_action = action;
        }
    }
    return PLIM_OK; /* SQLite compares the rest */
}

static void put_about(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    plim_error err = { 0 };
    const plim_status status = column == STEP
                                   ? plim_query_need_steps(cursor->query, cursor->part, &err)
                                   : plim_query_need_view(cursor->query, cursor->part, &err);
    if (status != PLIM_OK) {
        plim_put_error(out, cursor->query, &err);
        return;
    }
    const plim_device_view *const view = &plim_cursor_device(cursor)->view;
    if (column == STEP) {
        plim_put_step(out, plim_steps_at(&view->steps, cursor->row));
        return;
    }
    const uint64_t id = plim_timeline_about(&view->timeline, cursor->row);
    plim_put_known(out, id != PLIM_NO_ALLOCATION, id);
}

static void put_note(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_history *const history = cursor->query->history;
    const plim_note *const note =
        plim_history_note(history, plim_cursor_device(cursor)->history->events.note[cursor->row]);
    switch (column) {
    case POOL:
        if (note->has_pool) {
            plim_put_pool(out, note->pool);
        }
        break;
    case COMPILE_CONTEXT:
        plim_put_string(out, history, note->compile_context);
        break;
    case USER_METADATA:
        plim_put_string(out, history, note->user_metadata);
        break;
    default:
        plim_put_string(out, history, note->forward_stack);
        break;
    }
}

static void put_event(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_history *const history = cursor->query->history;
    const plim_events *const events = &plim_cursor_device(cursor)->history->events;
    const uint64_t row = cursor->row;
    const bool is_oom = events->action[row] == PLIM_OOM;
    switch (column) {
    case DEVICE:
        plim_put_i64(out, plim_cursor_device(cursor)->history->device);
        break;
    case EVENT:
        plim_put_u64(out, row);
        break;
    case ACTION:
        plim_put_word(out, plim_history_action_name(history, events->action[row]));
        break;
    case ADDR:
        if (!is_oom) {
            plim_put_addr(out, events->addr[row]);
        }
        break;
    case BYTES:
        plim_put_known(out, events->bytes[row] != PLIM_SIZE_UNKNOWN, events->bytes[row]);
        break;
    case DEVICE_FREE:
        plim_put_known(out, is_oom && events->addr[row] != PLIM_SIZE_UNKNOWN, events->addr[row]);
        break;
    case TIME:
        plim_put_time(out, events->time_us[row]);
        break;
    case STREAM:
        plim_put_addr(out, plim_history_stream(history, events->stream[row]));
        break;
    case STACK:
        plim_put_index(out, events->stack[row]);
        break;
    case STEP:
    case ALLOCATION:
        put_about(cursor, column, out);
        break;
    default:
        put_note(cursor, column, out);
        break;
    }
}

const plim_relation plim_relation_events = {
    .schema = { .name = "events",
                .meaning = "what the allocator recorded, in order",
                PLIM_COLUMNS(event_columns) },
    .is_by_device = true,
    .device = DEVICE,
    .number = EVENT,
    .parameter = PLIM_NO_COLUMN,
    .keys = { { .column = ACTION, .values = 8 }, PLIM_NO_KEY },
    .estimate = count_events,
    .rows = count_events,
    .holds = holds_event,
    .by_key = events_by_key,
    .column = put_event,
};

/* --- the figures after each --- */

#define MOMENT_COLUMNS(X)                                                                      \
    X(M_DEVICE, "device", INTEGER, "PyTorch's index; -1 is pinned host memory")                \
    X(M_EVENT, "event", INTEGER, "the figures hold after this event; -1: before the first")    \
    X(M_TIME, "time_us", INTEGER, "of that event: microseconds since the Unix epoch, or NULL") \
    X(M_STEP, "step", INTEGER, "the step that the event lies in, or NULL")                     \
    X(M_REQUESTED, "requested_bytes", INTEGER, "of live allocations")                          \
    X(M_ALLOCATED, "allocated_bytes", INTEGER, "their blocks")                                 \
    X(M_ACTIVE, "active_bytes", INTEGER, "allocated_bytes and blocks freed but still pending") \
    X(M_RESERVED, "reserved_bytes", INTEGER, "all segments")                                   \
    X(M_LIVE, "live_count", INTEGER, "live allocations")                                       \
    X(M_SLACK, "allocated_slack_bytes", INTEGER, "allocated_bytes are off by so much at most") \
    X(M_FRAGMENTATION, "fragmentation", REAL, "1 - allocated_bytes/reserved_bytes")

enum { MOMENT_COLUMNS(PLIM_COLUMN_ENUM) M_AT };

static const plim_query_column moment_columns[] = {
    MOMENT_COLUMNS(PLIM_COLUMN_ROW){ .name = "at",
                                     .type = PLIM_QUERY_TYPE_TEXT,
                                     .meaning =
                                         "only this moment: moments('peak'); names as in live",
                                     .is_parameter = true },
};

static uint64_t count_moments(const plim_query *query, size_t part)
{
    return count_events(query, part) + 1;
}

static plim_status moment_at(plim_relation_cursor *cursor, const char *moment, plim_error *err)
{
    plim_cursor_init(&cursor->figures, &plim_cursor_device(cursor)->view.timeline);
    if (moment == NULL) {
        return PLIM_OK;
    }
    int64_t event = 0;
    PLIM_TRY(plim_query_moment(cursor->query, cursor->part, moment, &event, err));
    const uint64_t row = (uint64_t)(event + 1);
    const bool is_wanted = row >= cursor->position && row < cursor->position_end;
    cursor->position = is_wanted ? row : cursor->position_end;
    cursor->position_end = is_wanted ? row + 1 : cursor->position_end;
    return PLIM_OK;
}

/* Rows only go forward: so does the walk. */
static plim_figures figures_of(plim_relation_cursor *cursor)
{
    while (plim_cursor_moment(&cursor->figures) < (int64_t)cursor->row - 1) {
        (void)plim_cursor_next(&cursor->figures);
    }
    return plim_cursor_figures(&cursor->figures);
}

static void put_figure(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_figures figures = figures_of(cursor);
    switch (column) {
    case M_REQUESTED:
        plim_put_u64(out, figures.requested_bytes);
        break;
    case M_ALLOCATED:
        plim_put_u64(out, figures.allocated_bytes);
        break;
    case M_ACTIVE:
        plim_put_u64(out, figures.active_bytes);
        break;
    case M_RESERVED:
        plim_put_u64(out, figures.reserved_bytes);
        break;
    case M_LIVE:
        plim_put_u64(out, figures.live_count);
        break;
    case M_SLACK:
        plim_put_u64(out, figures.allocated_slack_bytes);
        break;
    default:
        sqlite3_result_double(out,
                              plim_fragmentation(figures.allocated_bytes, figures.reserved_bytes));
        break;
    }
}

static void put_moment_step(plim_relation_cursor *cursor, int64_t event, sqlite3_context *out)
{
    plim_error err = { 0 };
    if (event < 0) {
        return;
    }
    if (plim_query_need_steps(cursor->query, cursor->part, &err) != PLIM_OK) {
        plim_put_error(out, cursor->query, &err);
        return;
    }
    plim_put_step(out, plim_steps_at(&plim_cursor_device(cursor)->view.steps, (uint64_t)event));
}

static void put_moment(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_query_device *const device = plim_cursor_device(cursor);
    const int64_t event = (int64_t)cursor->row - 1;
    switch (column) {
    case M_DEVICE:
        plim_put_i64(out, device->history->device);
        break;
    case M_EVENT:
        plim_put_i64(out, event);
        break;
    case M_TIME:
        plim_put_time(out, event < 0 ? PLIM_TIME_UNKNOWN : device->history->events.time_us[event]);
        break;
    case M_STEP:
        put_moment_step(cursor, event, out);
        break;
    case M_AT:
        sqlite3_result_text(out, cursor->moment, -1, SQLITE_TRANSIENT); /* NULL: NULL */
        break;
    default:
        put_figure(cursor, column, out);
        break;
    }
}

const plim_relation plim_relation_moments = {
    .schema = { .name = "moments",
                .meaning = "the sums after each event; moments('peak') is one row a device",
                PLIM_COLUMNS(moment_columns) },
    .is_by_device = true,
    .device = M_DEVICE,
    .number = M_EVENT,
    .number_first = -1,
    .parameter = M_AT,
    .keys = { PLIM_NO_KEY },
    .estimate = count_moments,
    .prepare = plim_query_need_view,
    .rows = count_moments,
    .at = moment_at,
    .column = put_moment,
};
