/*
 * functions.c - functions beside those of SQLite: sizes, durations, addresses and frames as pages
 * show them.
 *
 * There is no regexp(): the C library's can take exponential time, and GLOB and LIKE do for the
 * names of functions and files.
 */
#include "query/values.h"

#include "base/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void put_short(sqlite3_context *out, bool is_less, plim_short_text text)
{
    char shown[sizeof text.text + 1];
    snprintf(shown, sizeof shown, "%s%s", is_less ? "-" : "", text.text);
    sqlite3_result_text(out, shown, -1, SQLITE_TRANSIENT);
}

/* The size of a number, without its sign; false for other values. */
static bool read_number(sqlite3_value *value, uint64_t *ret_size, bool *ret_is_less)
{
    const int type = sqlite3_value_numeric_type(value);
    if (type == SQLITE_INTEGER) {
        const int64_t number = sqlite3_value_int64(value);
        *ret_is_less = number < 0;
        *ret_size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
        return true;
    }
    const double real = sqlite3_value_double(value);
    if (type != SQLITE_FLOAT || isnan(real)) {
        return false;
    }
    *ret_is_less = real < 0;
    *ret_size = fabs(real) < 0x1p64 ? (uint64_t)fabs(real) : UINT64_MAX;
    return true;
}

static void put_size(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    uint64_t size = 0;
    bool is_less = false;
    (void)argc;
    if (read_number(argv[0], &size, &is_less)) {
        put_short(out, is_less, plim_format_bytes(size));
    }
}

static void put_duration(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    uint64_t size = 0;
    bool is_less = false;
    (void)argc;
    if (read_number(argv[0], &size, &is_less)) {
        put_short(out, is_less, plim_format_duration_us(size));
    }
}

static void put_address(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
        char shown[24];
        snprintf(shown, sizeof shown, "0x%" PRIx64, (uint64_t)sqlite3_value_int64(argv[0]));
        sqlite3_result_text(out, shown, -1, SQLITE_TRANSIENT);
    }
}

static void put_frame(sqlite3_context *out, int argc, sqlite3_value **argv)
{
    plim_query *const query = sqlite3_user_data(out);
    (void)argc;
    const int64_t stack = sqlite3_value_int64(argv[0]);
    if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER && stack >= 0 &&
        stack < plim_history_stack_count(query->history)) {
        plim_put_label(out, query, (uint32_t)stack, PLIM_LABEL_TEXT);
    }
}

static const struct {
    plim_query_function shown;
    const char *name;
    void (*put)(sqlite3_context *out, int argc, sqlite3_value **argv);
} functions[] = {
    { { "size(bytes)", "1610612736 as 1.50 GiB" }, "size", put_size },
    { { "duration(us)", "42000 microseconds as 42.0 ms" }, "duration", put_duration },
    { { "address(addr)", "an address as 0x7f…" }, "address", put_address },
    { { "frame(stack)", "the frame that speaks for a stack: train.py:41 in step" },
      "frame",
      put_frame },
};

#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

size_t plim_query_function_count(void)
{
    return FUNCTION_COUNT;
}

const plim_query_function *plim_query_function_at(size_t index)
{
    return index < FUNCTION_COUNT ? &functions[index].shown : NULL;
}

int plim_query_add_functions(plim_query *query)
{
    const int kind = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const int code = sqlite3_create_function_v2(query->db, functions[i].name, 1, kind, query,
                                                    functions[i].put, NULL, NULL, NULL);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    return SQLITE_OK;
}
