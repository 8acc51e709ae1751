/*
 * allocations.c - allocations: all of a device, and those that are live at a moment.
 *
 * A row is an id of the timeline. Nothing is copied but, for reading them by stack, category or
 * step, their ids in that order: 4 bytes each.
 */
#include "query/columns.h"
#include "query/values.h"

#include "base/error.h"

#include <string.h>

#define ALLOCATION_COLUMNS(X)                                                                    \
    X(DEVICE, "device", INTEGER, "PyTorch's index; -1 is pinned host memory")                    \
    X(ID, "id", INTEGER, "its number on the device, as in the column allocation of events")      \
    X(ADDR, "addr", INTEGER, "of its block; address(addr) shows it")                             \
    X(REQUESTED, "requested_bytes", INTEGER, "as the program requested them")                    \
    X(BLOCK, "block_bytes", INTEGER, "of the block that holds it")                               \
    X(SLACK, "block_slack_bytes", INTEGER, "block_bytes are off by so much at most; 0: exact")   \
    X(BORN, "born_event", INTEGER, "its alloc; -1: it was there before the first event")         \
    X(FREED, "freed_event", INTEGER,                                                             \
      "the event that ends it; -1: before the first; NULL: the recording has none")              \
    X(COMPLETED, "completed_event", INTEGER, "the event that gives its block back, or NULL")     \
    X(BORN_US, "born_us", INTEGER, "time of born_event in microseconds since the Unix epoch")    \
    X(FREED_US, "freed_us", INTEGER, "time of freed_event")                                      \
    X(LIFETIME_EVENTS, "lifetime_events", INTEGER,                                               \
      "events from birth to free; NULL unless both were recorded")                               \
    X(LIFETIME_US, "lifetime_us", INTEGER, "microseconds from birth to free, likewise")          \
    X(BORN_STEP, "born_step", INTEGER, "the step that born_event lies in, or NULL")              \
    X(FREED_STEP, "freed_step", INTEGER, "the step that freed_event lies in, or NULL")           \
    X(CATEGORY, "category", TEXT, "purpose of the memory: a name of the table categories")       \
    X(RULE, "category_rule", TEXT, "the rule that gave the category")                            \
    X(STREAM, "stream", INTEGER, "handle of its stream; 0 is the default stream")                \
    X(POOL, "pool", TEXT, "0:0 is the default pool; NULL: its event names none")                 \
    X(STACK, "stack", INTEGER, "id in the table stacks, or NULL")                                \
    X(FUNCTION, "function", TEXT, "of the frame that speaks for the stack: your own code first") \
    X(FILE, "file", TEXT, "of that frame")                                                       \
    X(LINE, "line", INTEGER, "of that frame")                                                    \
    X(LIVE_AT_END, "live_at_end", INTEGER, "1: no event ends it")                                \
    X(NEVER_FREED, "never_freed", INTEGER, "1: born in the recording, and no event ends it")     \
    X(BEFORE, "before_recording", INTEGER, "1: it was there before the first event")             \
    X(OF_FREE, "stack_of_free", INTEGER,                                                         \
      "1: its alloc was not recorded, so that the stack is that of its free")

enum { ALLOCATION_COLUMNS(PLIM_COLUMN_ENUM) AT, ALLOCATION_COLUMN_COUNT = AT };

static const plim_query_column columns[] = { ALLOCATION_COLUMNS(PLIM_COLUMN_ROW) };

/* The id of a device's first event. */
static uint64_t first_recorded(const plim_query_device *device)
{
    return plim_timeline_recorded_id(&device->view.timeline, 0);
}

/* --- rows --- */

static uint64_t estimate_all(const plim_query *query, size_t part)
{
    const plim_device_history *const device = query->devices[part].history;
    return device->events.count / 2 + device->block_count;
}

static uint64_t count_ids(const plim_query *query, size_t part)
{
    return plim_timeline_id_end(&query->devices[part].view.timeline);
}

static bool holds_allocation(plim_relation_cursor *cursor)
{
    return plim_query_is_allocation(plim_cursor_device(cursor), cursor->row);
}

/* --- by key --- */

/* The key of a value, or the number of keys: no row has it. */
static uint64_t find_key(const plim_key_order *order, int column, sqlite3_value *value)
{
    if (column == CATEGORY) {
        const char *const name = (const char *)sqlite3_value_text(value);
        plim_category category = PLIM_CATEGORY_OTHER;
        return name != NULL && plim_category_find(name, &category) ? (uint64_t)category
                                                                   : order->key_count;
    }
    const int64_t number = sqlite3_value_int64(value);
    return number >= 0 && (uint64_t)number < order->key_count - 1 ? (uint64_t)number + 1
                                                                  : order->key_count;
}

static bool is_of_type(int column, sqlite3_value *value)
{
    return sqlite3_value_type(value) == (column == CATEGORY ? SQLITE_TEXT : SQLITE_INTEGER);
}

static plim_status by_key(plim_relation_cursor *cursor, int column, sqlite3_value *value,
                          plim_error *err)
{
    const plim_key_column key = column == STACK      ? PLIM_KEY_STACK
                                : column == CATEGORY ? PLIM_KEY_CATEGORY
                                                     : PLIM_KEY_STEP;
    if (value != NULL && !is_of_type(column, value)) {
        return PLIM_OK; /* SQLite compares */
    }
    PLIM_TRY(plim_query_need_order(cursor->query, cursor->part, key, err));
    const plim_key_order *const order = &plim_cursor_device(cursor)->orders[key];
    const uint64_t wanted = value != NULL ? find_key(order, column, value) : 0;
    cursor->order = order->ids;
    cursor->position = 0;
    cursor->position_end = order->id_count;
    if (value != NULL) {
        const bool is_there = wanted < order->key_count;
        cursor->position = is_there ? order->first[wanted] : 0;
        cursor->position_end = is_there ? order->first[wanted + 1] : 0;
    }
    return PLIM_OK;
}

/* --- columns --- */

static const plim_allocation *allocation_of(plim_relation_cursor *cursor)
{
    if (!cursor->has_allocation) {
        cursor->allocation =
            plim_timeline_allocation(&plim_cursor_device(cursor)->view.timeline, cursor->row);
        cursor->has_allocation = true;
    }
    return &cursor->allocation;
}

static int64_t time_of(const plim_query_device *device, int64_t event)
{
    return event == PLIM_AT_START || event == PLIM_NEVER ? PLIM_TIME_UNKNOWN
                                                         : device->history->events.time_us[event];
}

static uint64_t step_of(const plim_query_device *device, int64_t event)
{
    return event == PLIM_AT_START || event == PLIM_NEVER
               ? PLIM_NO_STEP
               : plim_steps_at(&device->view.steps, (uint64_t)event);
}

static void put_event(sqlite3_context *out, int64_t event)
{
    if (event != PLIM_NEVER) {
        plim_put_i64(out, event);
    }
}

static void put_pool(sqlite3_context *out, plim_query *query, const plim_query_device *device,
                     int64_t born)
{
    if (born != PLIM_AT_START) {
        const plim_note *const note =
            plim_history_note(query->history, device->history->events.note[born]);
        if (note->has_pool) {
            plim_put_pool(out, note->pool);
        }
    }
}

static void put_life(sqlite3_context *out, const plim_query_device *device,
                     const plim_allocation *one, int column)
{
    const bool is_whole = one->born != PLIM_AT_START && one->freed != PLIM_NEVER;
    const int64_t born_us = time_of(device, one->born);
    const int64_t freed_us = time_of(device, one->freed);
    switch (column) {
    case BORN:
        put_event(out, one->born);
        break;
    case FREED:
        put_event(out, one->freed);
        break;
    case COMPLETED:
        put_event(out, one->completed);
        break;
    case BORN_US:
        plim_put_time(out, born_us);
        break;
    case FREED_US:
        plim_put_time(out, freed_us);
        break;
    case LIFETIME_EVENTS:
        plim_put_known(out, is_whole, is_whole ? (uint64_t)(one->freed - one->born) : 0);
        break;
    case LIFETIME_US: /* files' times are at most PLIM_TIME_US_MAX apart from 0 */
        if (is_whole && plim_time_ns(born_us) != PLIM_TIME_UNKNOWN &&
            plim_time_ns(freed_us) != PLIM_TIME_UNKNOWN) {
            plim_put_i64(out, freed_us - born_us);
        }
        break;
    case BORN_STEP:
        plim_put_step(out, step_of(device, one->born));
        break;
    case FREED_STEP:
        plim_put_step(out, step_of(device, one->freed));
        break;
    case LIVE_AT_END:
        plim_put_bool(out, one->freed == PLIM_NEVER);
        break;
    case NEVER_FREED:
        plim_put_bool(out, !one->is_from_before && one->freed == PLIM_NEVER);
        break;
    default:
        plim_put_bool(out, one->is_from_before);
        break;
    }
}

static void put_rest(sqlite3_context *out, plim_query *query, const plim_query_device *device,
                     const plim_allocation *one, int column)
{
    const plim_categories *const categories = &device->view.categories;
    switch (column) {
    case REQUESTED:
        plim_put_u64(out, one->requested_bytes);
        break;
    case STACK:
        plim_put_index(out, one->stack);
        break;
    case ADDR:
        plim_put_addr(out, one->addr);
        break;
    case BLOCK:
        plim_put_u64(out, one->block_bytes);
        break;
    case SLACK:
        plim_put_u64(out, one->block_slack_bytes);
        break;
    case CATEGORY:
        plim_put_word(out, plim_category_name((plim_category)categories->of[one->id]));
        break;
    case RULE:
        plim_put_word(out,
                      plim_category_rule_name((plim_category_rule)categories->rule_of[one->id]));
        break;
    case STREAM:
        if (one->stream != PLIM_NONE) {
            plim_put_addr(out, plim_history_stream(query->history, one->stream));
        }
        break;
    case POOL:
        put_pool(out, query, device, one->born);
        break;
    case FUNCTION:
    case FILE:
    case LINE:
        plim_put_label(out, query, one->stack, (plim_label_part)(column - FUNCTION));
        break;
    case OF_FREE:
        plim_put_bool(out, one->is_stack_of_free && one->stack != PLIM_NONE);
        break;
    default:
        put_life(out, device, one, column);
        break;
    }
}

/* Categories and steps are worked out when they are first read. */
static plim_status prepare_column(plim_relation_cursor *cursor, int column, plim_error *err)
{
    if (column == CATEGORY || column == RULE) {
        return plim_query_need_categories(cursor->query, cursor->part, err);
    }
    return column == BORN_STEP || column == FREED_STEP
               ? plim_query_need_steps(cursor->query, cursor->part, err)
               : PLIM_OK;
}

static void put_column(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_query_device *const device = plim_cursor_device(cursor);
    const uint64_t first = first_recorded(device);
    plim_error err; /* written only by a failure: this runs for each value */
    if (column == DEVICE) {
        plim_put_i64(out, device->history->device);
    } else if (column == ID) {
        plim_put_u64(out, cursor->row);
    } else if (column == AT) {
        sqlite3_result_text(out, cursor->moment != NULL ? cursor->moment : "peak", -1,
                            SQLITE_TRANSIENT);
    } else if (column == REQUESTED && cursor->row >= first) { /* what is read most */
        plim_put_u64(out, device->history->events.bytes[cursor->row - first]);
    } else if (column == STACK && cursor->row >= first) {
        plim_put_index(out, device->history->events.stack[cursor->row - first]);
    } else if (prepare_column(cursor, column, &err) != PLIM_OK) {
        plim_put_error(out, cursor->query, &err);
    } else {
        put_rest(out, cursor->query, device, allocation_of(cursor), column);
    }
}

#define ALLOCATION_KEYS                                                                            \
    {                                                                                              \
        { .column = STACK, .is_grouped = true, .is_sorted = true },                                \
            { .column = BORN_STEP, .is_grouped = true, .is_sorted = true, .values = 100 },         \
            { .column = CATEGORY, .is_grouped = true, .values = PLIM_CATEGORY_COUNT }, PLIM_NO_KEY \
    }

const plim_relation plim_relation_allocations = {
    .schema = { .name = "allocations",
                .meaning = "every allocation that the recording shows, with its life",
                PLIM_COLUMNS(columns) },
    .is_by_device = true,
    .device = DEVICE,
    .number = ID,
    .parameter = PLIM_NO_COLUMN,
    .keys = ALLOCATION_KEYS,
    .estimate = estimate_all,
    .prepare = plim_query_need_view,
    .rows = count_ids,
    .holds = holds_allocation,
    .by_key = by_key,
    .column = put_column,
};

/* --- live at a moment --- */

static const plim_query_column live_columns[] = {
    ALLOCATION_COLUMNS(PLIM_COLUMN_ROW){
        .name = "at",
        .type = PLIM_QUERY_TYPE_TEXT,
        .meaning = "the moment: peak (default), start, end, event:120, step:7 (its highest "
                   "moment), step:7:end, oom, oom:2",
        .is_parameter = true },
};

static plim_status live_at(plim_relation_cursor *cursor, const char *moment, plim_error *err)
{
    int64_t event = 0;
    PLIM_TRY(plim_query_moment(cursor->query, cursor->part, moment, &event, err));
    cursor->live = plim_timeline_live(&plim_cursor_device(cursor)->view.timeline, event, false);
    return PLIM_OK;
}

/* Goes straight to the next one: the position follows. */
static bool holds_live(plim_relation_cursor *cursor)
{
    if (!plim_live_next(&cursor->live, &cursor->allocation)) {
        cursor->position = cursor->position_end;
        return false;
    }
    cursor->has_allocation = true;
    cursor->row = cursor->allocation.id;
    cursor->position = cursor->row;
    return true;
}

const plim_relation plim_relation_live = {
    .schema = { .name = "live",
                .meaning = "the allocations that are live at a moment: live('step:7')",
                PLIM_COLUMNS(live_columns) },
    .is_by_device = true,
    .device = DEVICE,
    .number = PLIM_NO_COLUMN, /* a walk goes on from where it is */
    .parameter = AT,
    .keys = { PLIM_NO_KEY },
    .estimate = estimate_all,
    .prepare = plim_query_need_view,
    .rows = count_ids,
    .holds = holds_live,
    .at = live_at,
    .column = put_column,
};
