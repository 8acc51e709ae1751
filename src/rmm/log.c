/*
 * log.c - the rows of an RMM log, line by line, to the events of one device.
 *
 * RMM logs an allocation after it was made and a free before it is made, under one lock; so the
 * order of the rows is one in which addresses make sense, whatever threads wrote them.
 */
#include "rmm/read.h"
#include "rmm/values.h"

#include "base/error.h"
#include "base/numbers.h"
#include "history/builder.h"

#include <inttypes.h>
#include <string.h>

#define CHUNK_BYTES    ((size_t)64 << 10) /* that are wanted at a time */
#define LINE_BYTES_MAX ((size_t)1 << 20)
#define SHOWN_BYTES    40 /* of a field, in messages */
#define DAY_US         INT64_C(86400000000)
#define ALLOCATOR_NAME "rmm" /* the word of a conf that names another allocator than PyTorch's */

typedef struct rmm_log {
    const plim_mem *mem;
    plim_history *history;
    plim_csv_header header;
    uint64_t line;   /* the current one, from 1 */
    uint64_t offset; /* of its first byte */
    int64_t last_us; /* the time before this row's, or PLIM_TIME_UNKNOWN */
    int64_t day_us;  /* midnights that the clock has passed */
    uint64_t nothing_rows;
    bool has_clock; /* some row has a time */
    bool has_date;
    bool is_cut; /* the last row is not whole */
} rmm_log;

static plim_status fail_field(const rmm_log *log, plim_csv_field field, const char *is_not,
                              plim_error *err)
{
    char shown[SHOWN_BYTES + 1];
    const size_t bytes = (size_t)plim_min(field.bytes, SHOWN_BYTES);
    for (size_t i = 0; i < bytes; i++) {
        shown[i] = (char)(field.text[i] >= ' ' && field.text[i] <= '~' ? field.text[i] : '?');
    }
    shown[bytes] = '\0';
    return plim_fail_at(err, PLIM_CORRUPT, log->offset, "line %" PRIu64 ": \"%s\" is not %s",
                        log->line, shown, is_not);
}

/* The row's time; the log has no date, so a clock that steps far back has passed midnight. */
static int64_t time_of(rmm_log *log, plim_csv_field field)
{
    int64_t us = 0;
    const plim_rmm_clock clock = plim_rmm_time(field, &us);
    if (clock == PLIM_RMM_CLOCK_NONE) {
        plim_history_count_anomaly(log->history,
                                   log->header.at[PLIM_CSV_TIME] == 0 ? PLIM_ANOMALY_MISSING_FIELD
                                                                      : PLIM_ANOMALY_BAD_FIELD,
                                   1);
        return PLIM_TIME_UNKNOWN;
    }
    if (clock == PLIM_RMM_CLOCK_DAY) {
        us += log->day_us;
        if (log->last_us != PLIM_TIME_UNKNOWN && us < log->last_us - DAY_US / 2) {
            us += DAY_US;
            log->day_us += DAY_US;
        }
    } else {
        log->has_date = true;
    }
    log->has_clock = true;
    log->last_us = us;
    return us;
}

static plim_status push(rmm_log *log, plim_event *event, plim_action action, int64_t time_us,
                        plim_error *err)
{
    event->action = action;
    return plim_history_push_event_at(log->history, event, time_us, err);
}

/* One row, whose numbers are read. */
static plim_status take_event(rmm_log *log, plim_csv_field action, plim_event *event,
                              int64_t time_us, plim_error *err)
{
    if (plim_csv_is(action, "allocate failure")) {
        event->addr = PLIM_SIZE_UNKNOWN; /* what was free then */
        return push(log, event, PLIM_OOM, time_us, err);
    }
    const bool is_alloc = plim_csv_is(action, "allocate");
    const bool is_free = plim_csv_is(action, "free") || plim_csv_is(action, "deallocate");
    if (!is_alloc && !is_free) {
        return fail_field(log, action, "an action of RMM's (allocate, free, allocate failure)",
                          err);
    }
    if (event->addr == 0) { /* nothing was requested, and nothing was given */
        log->nothing_rows++;
        return PLIM_OK;
    }
    if (is_alloc) {
        return push(log, event, PLIM_ALLOC, time_us, err);
    }
    PLIM_TRY(push(log, event, PLIM_FREE_REQUESTED, time_us, err));
    return push(log, event, PLIM_FREE_COMPLETED, time_us, err);
}

static plim_status take_row(rmm_log *log, const char *line, size_t bytes, plim_error *err)
{
    plim_csv_field fields[PLIM_CSV_COLUMN_COUNT];
    plim_event event = { .stack = PLIM_NONE };
    if (!plim_csv_read_row(&log->header, line, bytes, fields)) {
        return plim_fail_at(err, PLIM_CORRUPT, log->offset,
                            "line %" PRIu64 ": fewer fields than the header has", log->line);
    }
    if (plim_csv_is(fields[PLIM_CSV_ACTION], "Action")) {
        return PLIM_OK; /* the header again: another adaptor wrote to the same place */
    }
    if (!plim_rmm_address(fields[PLIM_CSV_POINTER], &event.addr)) {
        return fail_field(log, fields[PLIM_CSV_POINTER], "an address", err);
    }
    if (!plim_rmm_bytes(fields[PLIM_CSV_SIZE], &event.bytes)) {
        return fail_field(log, fields[PLIM_CSV_SIZE], "a number of bytes", err);
    }
    if (!plim_rmm_address(fields[PLIM_CSV_STREAM], &event.stream)) {
        return fail_field(log, fields[PLIM_CSV_STREAM], "a stream", err);
    }
    return take_event(log, fields[PLIM_CSV_ACTION], &event, time_of(log, fields[PLIM_CSV_TIME]),
                      err);
}

/* A line without its end; `is_last`: the file ends within it. */
static plim_status take_line(rmm_log *log, const char *line, size_t bytes, bool is_last,
                             plim_error *err)
{
    bytes -= bytes > 0 && line[bytes - 1] == '\r';
    log->line++;
    if (log->line == 1) {
        return plim_csv_read_header(line, bytes, &log->header)
                   ? PLIM_OK
                   : plim_fail(err, PLIM_UNSUPPORTED,
                               "not a log of RMM: its header has no Action, Pointer and Size");
    }
    if (bytes == 0) {
        return PLIM_OK;
    }
    plim_error why = { 0 };
    const plim_status status = take_row(log, line, bytes, &why);
    if (is_last && status == PLIM_CORRUPT) {
        log->is_cut = true; /* the program was killed, or still runs */
        return PLIM_OK;
    }
    if (status != PLIM_OK && err != NULL) {
        *err = why;
    }
    return status;
}

/* The lines of a window; what is left of it is a line that goes on. */
static plim_status take_window(rmm_log *log, const plim_window *window, bool is_last,
                               size_t *ret_taken, plim_error *err)
{
    size_t taken = 0;
    while (taken < window->length) {
        const char *const line = (const char *)window->data + taken;
        const size_t left = window->length - taken;
        const char *const end = memchr(line, '\n', left);
        if (end == NULL && !is_last) {
            break;
        }
        const size_t bytes = end == NULL ? left : (size_t)(end - line);
        PLIM_TRY(take_line(log, line, bytes, end == NULL, err));
        taken += bytes + (end != NULL);
        log->offset += bytes + (end != NULL);
    }
    *ret_taken = taken;
    return PLIM_OK;
}

static plim_status take_lines(rmm_log *log, plim_input *input, const plim_load_options *options,
                              plim_error *err)
{
    size_t taken = 0;
    size_t wanted = CHUNK_BYTES;
    for (;;) {
        plim_window window;
        PLIM_TRY(plim_input_refill(input, taken, wanted, &window, err));
        PLIM_TRY(take_window(log, &window, window.length < wanted, &taken, err));
        if (window.length < wanted) {
            return PLIM_OK;
        }
        const size_t left = window.length - taken;
        if (left > LINE_BYTES_MAX) {
            return plim_fail_at(err, PLIM_LIMIT, log->offset,
                                "line %" PRIu64 " is longer than %zu KiB", log->line + 1,
                                LINE_BYTES_MAX >> 10);
        }
        wanted = left + CHUNK_BYTES;
        if (options != NULL && options->progress != NULL &&
            !options->progress(options->progress_ctx, plim_input_done_bytes(input),
                               plim_input_total_bytes(input))) {
            return plim_fail(err, PLIM_CANCELLED, "stopped while reading");
        }
    }
}

/* Says what such a log lacks; none of it is a fault. */
static plim_status say_lacks(rmm_log *log, plim_error *err)
{
    plim_history *const history = log->history;
    PLIM_TRY(plim_history_warn(history, err,
                               "RMM's log has no stacks, device, segments or block sizes: reserved "
                               "memory is not known, and all is shown as GPU 0"));
    if (log->has_clock && !log->has_date) {
        PLIM_TRY(plim_history_warn(history, err, "RMM's log has times of day without a date"));
    }
    if (log->nothing_rows > 0) {
        PLIM_TRY(plim_history_warn(history, err, "%" PRIu64 " rows without an address are left out",
                                   log->nothing_rows));
    }
    return log->is_cut ? plim_history_warn(history, err,
                                           "the last row, line %" PRIu64 ", is cut off: left out",
                                           log->line)
                       : PLIM_OK;
}

static plim_status finish(rmm_log *log, plim_input *input, plim_error *err)
{
    plim_history *const history = log->history;
    plim_setting allocator = { .group = PLIM_NONE, .kind = PLIM_SETTING_TEXT };
    const char *const name = "PYTORCH_CUDA_ALLOC_CONF"; /* where a history names its allocator */
    PLIM_TRY(plim_history_add_string(history, name, strlen(name), &allocator.name, err));
    PLIM_TRY(plim_history_add_string(history, ALLOCATOR_NAME, strlen(ALLOCATOR_NAME),
                                     &allocator.value.text, err));
    PLIM_TRY(plim_history_push_setting(history, &allocator, err));
    PLIM_TRY(say_lacks(log, err));
    const plim_device_ranges ranges = { .events = { 0, plim_history_pushed_events(history) },
                                        .overflowed = PLIM_NO };
    PLIM_TRY(plim_history_add_device(history, &ranges, err));
    const plim_source source = { .format = "rmm-csv",
                                 .compression = plim_input_compression(input),
                                 .generation = "RMM",
                                 .pickle_protocol = -1,
                                 .bytes = log->offset };
    plim_history_set_source(history, &source);
    plim_history_seal(history);
    return PLIM_OK;
}

bool plim_rmm_looks_like(const uint8_t *data, size_t bytes)
{
    plim_csv_header header;
    const size_t seen = (size_t)plim_min(bytes, PLIM_RMM_HEADER_BYTES_MAX);
    const char *const line = (const char *)data;
    const char *const end = seen == 0 ? NULL : memchr(line, '\n', seen);
    if (seen == 0 || (end == NULL && seen < bytes)) {
        return false;
    }
    size_t length = end == NULL ? seen : (size_t)(end - line);
    length -= length > 0 && line[length - 1] == '\r';
    return plim_csv_read_header(line, length, &header);
}

plim_status plim_rmm_read(plim_input *input, const plim_load_options *options,
                          plim_history **ret_history, plim_error *err)
{
    rmm_log log = { .mem = plim_mem_or_heap(options == NULL ? NULL : options->mem),
                    .last_us = PLIM_TIME_UNKNOWN };
    PLIM_TRY(plim_history_create(log.mem, &log.history, err));
    plim_status status = take_lines(&log, input, options, err);
    if (status == PLIM_OK && log.line == 0) {
        status = plim_fail_at(err, PLIM_CORRUPT, 0, "the file is empty");
    }
    if (status == PLIM_OK) {
        status = finish(&log, input, err);
    }
    if (status != PLIM_OK) {
        plim_history_destroy(log.history);
        return status;
    }
    *ret_history = log.history;
    return PLIM_OK;
}
