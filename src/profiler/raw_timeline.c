/*
 * raw_timeline.c - a raw memory timeline: [[time, action, bytes, category], …].
 *
 * It has no addresses, so frees are matched by size and category, the oldest first, and each
 * allocation gets an address of its own that stands for the one it had.
 *
 * Source: PyTorch 2.11, torch/profiler/_memory_profiler.py, export_memory_timeline_raw().
 */
#include "profiler/parts.h"

#include "base/error.h"
#include "base/map.h"
#include "base/numbers.h"
#include "base/size.h"
#include "base/vec.h"
#include "history/builder.h"
#include "profiler/numbers.h"
#include "json/tokens.h"

#include <inttypes.h>
#include <string.h>

#define FIELDS     4
#define FIRST_ADDR (UINT64_C(1) << 32)
#define PAGE_BYTES UINT64_C(512)
#define CATEGORIES 8
#define NO_ROW     UINT32_MAX
#define BYTES_MAX  (UINT64_C(1) << 56) /* of one row: addresses are given out in a row */

/* Action of the profiler. */
enum { PREEXISTING = 1, CREATE = 2, INCREMENT_VERSION = 3, DESTROY = 4 };

/* The order of _CATEGORY_TO_COLORS; the last is "not known". */
static const char *const categories[CATEGORIES] = { "PARAMETER",       "OPTIMIZER_STATE",
                                                    "INPUT",           "TEMPORARY",
                                                    "ACTIVATION",      "GRADIENT",
                                                    "AUTOGRAD_DETAIL", "unknown" };

/* An event: an allocation, or what frees one. */
typedef struct timeline_row {
    int64_t time_us;
    uint64_t bytes;
    uint64_t addr;
    uint32_t next; /* of an allocation: the next live one of its size and category */
    uint8_t category;
    bool is_free;
} timeline_row;

/* Live allocations of one size and category, the oldest first. */
typedef struct live_queue {
    uint32_t first;
    uint32_t last;
} live_queue;

typedef struct timeline_reader {
    const plim_mem *mem;
    plim_history *history;
    const plim_load_options *options;
    uint64_t depth;
    int64_t fields[FIELDS];
    size_t field_count;
    bool is_bad_row;
    uint64_t row; /* from 0 */
    PLIM_VEC(timeline_row) rows;
    PLIM_VEC(live_queue) queues;
    plim_map queue_of; /* size and category to a queue */
    uint32_t moved;    /* the allocation whose category changes, or NO_ROW */
    uint64_t next_addr;
    int64_t first_us; /* of the events with a time */
    uint64_t unmatched;
    uint64_t mismatched; /* frees whose category no live allocation of the size had */
} timeline_reader;

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "reading the memory timeline");
}

static plim_status fail_row(const timeline_reader *reader, const char *why, plim_error *err)
{
    return plim_fail(err, PLIM_CORRUPT, "row %" PRIu64 ": %s", reader->row, why);
}

/* --- live allocations --- */

static bool queue_for(timeline_reader *reader, uint64_t bytes, uint8_t category,
                      live_queue **ret_queue)
{
    const uint64_t key = bytes * CATEGORIES + category; /* below 2^59 */
    uint64_t place = plim_map_get(&reader->queue_of, key);
    const live_queue empty = { NO_ROW, NO_ROW };
    if (place == PLIM_MAP_ABSENT) {
        place = reader->queues.count;
        if (!PLIM_VEC_PUSH(reader->mem, &reader->queues, empty) ||
            !plim_map_put(&reader->queue_of, key, place)) {
            return false;
        }
    }
    *ret_queue = &reader->queues.items[place];
    return true;
}

static bool add_live(timeline_reader *reader, uint32_t row, uint8_t category)
{
    live_queue *queue = NULL;
    if (!queue_for(reader, reader->rows.items[row].bytes, category, &queue)) {
        return false;
    }
    reader->rows.items[row].next = NO_ROW;
    if (queue->first == NO_ROW) {
        queue->first = row;
    } else {
        reader->rows.items[queue->last].next = row;
    }
    queue->last = row;
    return true;
}

/* The oldest live allocation of a size, of this category if there is one; NO_ROW: none. */
static uint32_t take_live(timeline_reader *reader, uint64_t bytes, uint8_t category)
{
    for (size_t i = 0; i < CATEGORIES; i++) {
        const uint64_t at = (category + i) % CATEGORIES;
        const uint64_t place = plim_map_get(&reader->queue_of, bytes * CATEGORIES + at);
        live_queue *const queue = place == PLIM_MAP_ABSENT ? NULL : &reader->queues.items[place];
        if (queue != NULL && queue->first != NO_ROW) {
            const uint32_t row = queue->first;
            queue->first = reader->rows.items[row].next;
            reader->mismatched += i > 0;
            return row;
        }
    }
    return NO_ROW;
}

/* --- rows --- */

static uint64_t new_addr(timeline_reader *reader, uint64_t bytes)
{
    const uint64_t addr = reader->next_addr;
    reader->next_addr = plim_plus(addr, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    return addr;
}

static plim_status create(timeline_reader *reader, int64_t us, uint64_t bytes, uint8_t category,
                          plim_error *err)
{
    const timeline_row row = { .time_us = us,
                               .bytes = bytes,
                               .addr = new_addr(reader, bytes),
                               .next = NO_ROW,
                               .category = category };
    if (reader->rows.count >= NO_ROW || !PLIM_VEC_PUSH(reader->mem, &reader->rows, row) ||
        !add_live(reader, (uint32_t)reader->rows.count - 1, category)) {
        return no_memory(err);
    }
    return PLIM_OK;
}

static plim_status destroy(timeline_reader *reader, int64_t us, uint64_t bytes, uint8_t category,
                           plim_error *err)
{
    const uint32_t live = take_live(reader, bytes, category);
    timeline_row row = {
        .time_us = us, .bytes = bytes, .next = NO_ROW, .category = category, .is_free = true
    };
    reader->unmatched += live == NO_ROW;
    row.addr = live == NO_ROW ? new_addr(reader, bytes) : reader->rows.items[live].addr;
    return PLIM_VEC_PUSH(reader->mem, &reader->rows, row) ? PLIM_OK : no_memory(err);
}

/* A new version comes as two rows: one leaves its category, the other enters it. */
static plim_status change(timeline_reader *reader, bool leaves, uint64_t bytes, uint8_t category,
                          plim_error *err)
{
    if (leaves) {
        reader->moved = take_live(reader, bytes, category);
        return PLIM_OK;
    }
    if (reader->moved == NO_ROW || reader->rows.items[reader->moved].bytes != bytes) {
        return PLIM_OK; /* a version of what is not live */
    }
    timeline_row *const row = &reader->rows.items[reader->moved];
    if (row->category == CATEGORIES - 1) {
        row->category = category; /* the first that is known */
    }
    const uint32_t moved = reader->moved;
    reader->moved = NO_ROW;
    return add_live(reader, moved, category) ? PLIM_OK : no_memory(err);
}

static plim_status take_row(timeline_reader *reader, plim_error *err)
{
    const int64_t time_ns = reader->fields[0];
    const int64_t signed_bytes = reader->fields[2];
    const uint64_t bytes = (uint64_t)(signed_bytes < 0 ? -signed_bytes : signed_bytes);
    if (reader->field_count != FIELDS || reader->is_bad_row) {
        return fail_row(reader, "not [time, action, bytes, category] in whole numbers", err);
    }
    if (bytes >= BYTES_MAX || reader->fields[3] < 0 || reader->fields[3] >= CATEGORIES) {
        return fail_row(reader, "a size or category out of range", err);
    }
    const uint8_t category = (uint8_t)reader->fields[3];
    const int64_t us = time_ns < 0 ? PLIM_TIME_UNKNOWN : time_ns / 1000;
    if (us != PLIM_TIME_UNKNOWN &&
        (reader->first_us == PLIM_TIME_UNKNOWN || us < reader->first_us)) {
        reader->first_us = us;
    }
    switch (reader->fields[1]) {
    case PREEXISTING:
    case CREATE:
        return create(reader, us, bytes, category, err);
    case INCREMENT_VERSION:
        return change(reader, signed_bytes < 0, bytes, category, err);
    case DESTROY:
        return destroy(reader, us, bytes, category, err);
    default:
        return fail_row(reader, "an action other than 1 to 4", err);
    }
}

/* --- tokens --- */

static plim_status take_begin(timeline_reader *reader, bool is_array, plim_error *err)
{
    reader->depth++;
    reader->field_count = 0;
    reader->is_bad_row = false;
    if (is_array && reader->depth == 3 && reader->row == 1) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "a memory timeline of sums by category has no allocations: export it "
                         "to NAME.raw.json.gz, or record a snapshot");
    }
    return is_array && reader->depth <= 2
               ? PLIM_OK
               : fail_row(reader, "not [time, action, bytes, category]", err);
}

static plim_status take_end(timeline_reader *reader, plim_error *err)
{
    const bool is_row = reader->depth == 2;
    reader->depth--;
    if (!is_row) {
        return PLIM_OK;
    }
    /* The times of a timeline of sums; its sums follow. */
    const bool may_be_times = reader->row == 0 && reader->fields[1] > DESTROY;
    const plim_status status =
        may_be_times && !reader->is_bad_row ? PLIM_OK : take_row(reader, err);
    reader->row++;
    return status;
}

static plim_status take(void *ctx, plim_json_token token, const char *text, size_t bytes,
                        plim_error *err)
{
    timeline_reader *const reader = ctx;
    switch (token) {
    case PLIM_JSON_MAP_BEGIN:
    case PLIM_JSON_ARRAY_BEGIN:
        return take_begin(reader, token == PLIM_JSON_ARRAY_BEGIN, err);
    case PLIM_JSON_MAP_END:
    case PLIM_JSON_ARRAY_END:
        return take_end(reader, err);
    case PLIM_JSON_NUMBER:
        if (reader->field_count < FIELDS) {
            reader->is_bad_row |=
                !plim_trace_integer(text, bytes, &reader->fields[reader->field_count]);
        }
        reader->field_count++;
        break;
    case PLIM_JSON_KEY:
    case PLIM_JSON_STRING:
    case PLIM_JSON_NULL:
    case PLIM_JSON_FALSE:
    case PLIM_JSON_TRUE:
        reader->is_bad_row = true;
        break;
    }
    return PLIM_OK;
}

static plim_status report_piece(void *ctx, const plim_input *input, uint64_t bytes, plim_error *err)
{
    (void)bytes;
    const plim_load_options *const options = ((const timeline_reader *)ctx)->options;
    return options == NULL || options->progress == NULL ||
                   options->progress(options->progress_ctx, plim_input_done_bytes(input),
                                     plim_input_total_bytes(input))
               ? PLIM_OK
               : plim_fail(err, PLIM_CANCELLED, "stopped while reading");
}

/* --- the history --- */

static plim_status add_notes(plim_history *history, uint32_t notes[CATEGORIES], plim_error *err)
{
    for (size_t i = 0; i < CATEGORIES; i++) {
        plim_note note = { .compile_context = PLIM_NONE,
                           .user_metadata = PLIM_NONE,
                           .forward_stack = PLIM_NONE,
                           .category = PLIM_NONE };
        if (i + 1 < CATEGORIES) {
            PLIM_TRY(plim_history_add_string(history, categories[i], strlen(categories[i]),
                                             &note.category, err));
        }
        PLIM_TRY(plim_history_add_note(history, &note, &notes[i], err));
    }
    return PLIM_OK;
}

static plim_status push_rows(timeline_reader *reader, plim_error *err)
{
    uint32_t notes[CATEGORIES];
    PLIM_TRY(add_notes(reader->history, notes, err));
    for (size_t i = 0; i < reader->rows.count; i++) {
        const timeline_row *const row = &reader->rows.items[i];
        const int64_t us = row->time_us == PLIM_TIME_UNKNOWN ? reader->first_us : row->time_us;
        plim_event event = { .action = row->is_free ? PLIM_FREE_REQUESTED : PLIM_ALLOC,
                             .addr = row->addr,
                             .bytes = row->bytes,
                             .stack = PLIM_NONE,
                             .note = notes[row->category] };
        PLIM_TRY(plim_history_push_event_at(reader->history, &event, us, err));
        if (row->is_free) {
            event.action = PLIM_FREE_COMPLETED;
            PLIM_TRY(plim_history_push_event_at(reader->history, &event, us, err));
        }
    }
    plim_device_ranges ranges = { .events = { 0, plim_history_pushed_events(reader->history) },
                                  .overflowed = PLIM_NO };
    /* What was there before comes first. */
    while (ranges.earlier_events < reader->rows.count &&
           reader->rows.items[ranges.earlier_events].time_us == PLIM_TIME_UNKNOWN &&
           !reader->rows.items[ranges.earlier_events].is_free) {
        ranges.earlier_events++;
    }
    return plim_history_add_device(reader->history, &ranges, err);
}

static plim_status say_lacks(timeline_reader *reader, plim_error *err)
{
    plim_history *const history = reader->history;
    PLIM_TRY(plim_history_warn(
        history, err,
        "a memory timeline has sizes, times and categories alone: no stacks, segments or device "
        "(all is shown as GPU 0)"));
    PLIM_TRY(plim_history_warn(history, err,
                               "it has no addresses: each free is matched with the oldest "
                               "allocation of its size and category"));
    if (reader->mismatched > 0) {
        PLIM_TRY(plim_history_warn(history, err, "%" PRIu64 " of them by size alone",
                                   reader->mismatched));
    }
    return reader->unmatched == 0
               ? PLIM_OK
               : plim_history_warn(history, err,
                                   "%" PRIu64 " %s no allocation: taken to be from before the "
                                   "timeline",
                                   reader->unmatched,
                                   reader->unmatched == 1 ? "free has" : "frees have");
}

static plim_status read_all(timeline_reader *reader, plim_input *input, plim_error *err)
{
    const plim_json_sink sink = { .take = take, .piece = report_piece, .ctx = reader };
    PLIM_TRY(plim_json_tokens(input, reader->mem, &sink, err));
    if (reader->rows.count == 0) {
        return plim_fail(err, PLIM_UNSUPPORTED, "a memory timeline without events");
    }
    PLIM_TRY(push_rows(reader, err));
    return say_lacks(reader, err);
}

plim_status plim_profiler_read_timeline(plim_input *input, const plim_load_options *options,
                                        plim_history *history, plim_error *err)
{
    timeline_reader reader = { .mem = plim_mem_or_heap(options == NULL ? NULL : options->mem),
                               .history = history,
                               .options = options,
                               .moved = NO_ROW,
                               .next_addr = FIRST_ADDR,
                               .first_us = PLIM_TIME_UNKNOWN };
    plim_map_init(&reader.queue_of, reader.mem);
    const plim_status status = read_all(&reader, input, err);
    plim_map_deinit(&reader.queue_of);
    PLIM_VEC_FREE(reader.mem, &reader.rows);
    PLIM_VEC_FREE(reader.mem, &reader.queues);
    return status;
}
