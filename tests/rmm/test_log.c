/*
 * test_log.c - logs of RMM as histories: every form that its releases write, and damage.
 */
#include "base/input.h"
#include "plimsoll/timeline.h"
#include "rmm/read.h"

#include "harness.h"

#define HEADER "Thread,Time,Action,Pointer,Size,Stream\n"

static plim_status parse(const char *text, const plim_mem *mem, plim_history **ret_history,
                         plim_error *err)
{
    plim_input *input = NULL;
    const plim_input_options how = { .mem = mem };
    const plim_load_options options = { .mem = mem };
    plim_status status = plim_input_open_memory(text, strlen(text), &how, &input, err);
    if (status == PLIM_OK) {
        status = plim_rmm_read(input, &options, ret_history, err);
    }
    plim_input_close(input);
    return status;
}

static plim_history *must_parse(const char *text)
{
    plim_history *history = NULL;
    plim_error err = { 0 };
    if (parse(text, NULL, &history, &err) != PLIM_OK) {
        print_error("%s\n", err.message);
    }
    T_NOT_NULL(history);
    return history;
}

static const plim_events *events_of(const plim_history *history)
{
    return &plim_history_device(history, 0)->events;
}

static void rows_become_events(void)
{
    plim_history *const history =
        must_parse(HEADER "4201,10:31:45.000123,allocate,0x7f8a40000000,1024,0x5a\n"
                          "4201,10:31:45.000124,allocate failure,(nil),90000000000,0\n"
                          "4207,10:31:46.5,free,0x7f8a40000000,1024,2\n");
    const plim_events *const events = events_of(history);
    T_EQ_U64(events->count, 4);
    T_EQ_U64(events->action[0], PLIM_ALLOC);
    T_EQ_U64(events->addr[0], 0x7f8a40000000);
    T_EQ_U64(events->bytes[0], 1024);
    T_EQ_U64(plim_history_stream(history, events->stream[0]), 0x5a);
    T_EQ_I64(events->time_us[0], INT64_C(37905000123));
    T_EQ_U64(events->stack[0], PLIM_NONE);
    T_EQ_U64(events->action[1], PLIM_OOM);
    T_EQ_U64(events->addr[1], PLIM_SIZE_UNKNOWN);
    T_EQ_U64(events->bytes[1], 90000000000);
    T_EQ_U64(events->action[2], PLIM_FREE_REQUESTED);
    T_EQ_U64(events->action[3], PLIM_FREE_COMPLETED);
    T_EQ_I64(events->time_us[3], INT64_C(37906500000));
    T_EQ_U64(plim_history_stream(history, events->stream[2]), 2);
    T_EQ_STR(plim_history_source(history).format, "rmm-csv");
    T_EQ_U64(plim_history_warning_count(history), 2);
    plim_history_destroy(history);
}

/* One allocation of 4096 bytes in every form of the file. */
static void all_forms_read_alike(void)
{
    static const char *const forms[] = {
        HEADER "1,10:00:00.000001,allocate,0x1000,4096,0\n",
        HEADER "1,10:00:00:000001,allocate,0x1000,4096,0x0\n",
        HEADER "1,36000.000001,allocate,0x1000,4096,\n",
        HEADER "1,36000.000001999,allocate,1000,4096,0\n",
        "Thread,Time,Action,Pointer,Size,Stream\r\n1,10:00:00.000001,allocate,0x1000,4096,0\r\n",
        "\xef\xbb\xbf" HEADER "1,10:00:00.000001,allocate,0x1000,4096,0",
        ",Thread,Time,Action,Pointer,Size,Stream\n0,1,10:00:00.000001,allocate,0x1000,4096,0\n",
        "Size, Pointer, Action, Time\n4096, 0x1000, allocate, 10:00:00.000001\n\n",
        "\"Time\",\"Action\",\"Pointer\",\"Size\"\n\"10:00:00.000001\",\"allocate\",\"0x1000\","
        "\"4096\"\n",
        HEADER HEADER "1,10:00:00.000001,allocate,0X1000,4096,0\n",
        "Note,Time,Action,Pointer,Size\n\"a,b\",10:00:00.000001,allocate,0x1000,4096\n",
    };
    for (size_t i = 0; i < T_COUNT(forms); i++) {
        T_CASE("form %zu", i);
        T_TRUE(plim_rmm_looks_like((const uint8_t *)forms[i], strlen(forms[i])));
        plim_history *const history = must_parse(forms[i]);
        const plim_events *const events = events_of(history);
        T_EQ_U64(events->count, 1);
        T_EQ_U64(events->addr[0], 0x1000);
        T_EQ_U64(events->bytes[0], 4096);
        T_EQ_I64(events->time_us[0], INT64_C(36000000001));
        plim_history_destroy(history);
    }
}

static void other_files_are_not_taken_for_logs(void)
{
    static const char *const others[] = {
        "",
        "\n",
        "Thread,Time,Action\n",
        "Traceback (most recent call last):\n",
        "a,b,c\n1,2,3\n",
        "action,pointer,size\n",
        "Step Action Pointer Size\n",
    };
    for (size_t i = 0; i < T_COUNT(others); i++) {
        T_CASE("file %zu", i);
        T_FALSE(plim_rmm_looks_like((const uint8_t *)others[i], strlen(others[i])));
    }
}

static void a_clock_may_pass_midnight(void)
{
    plim_history *const history =
        must_parse(HEADER "1,23:59:59.999999,allocate,0x1000,256,0\n"
                          "1,00:00:00.000001,allocate,0x2000,256,0\n"
                          "1,00:00:00.000000,free,0x1000,256,0\n" /* another thread */
                          "1,23:00:00.000000,free,0x2000,256,0\n"
                          "1,00:30:00.000000,allocate,0x2000,256,0\n"
                          "1,noon,free,0x2000,256,0\n");
    const plim_events *const events = events_of(history);
    T_EQ_I64(events->time_us[0], INT64_C(86399999999));
    T_EQ_I64(events->time_us[1], INT64_C(86400000001));
    T_EQ_I64(events->time_us[2], INT64_C(86400000000));
    T_EQ_I64(events->time_us[4], INT64_C(169200000000));
    T_EQ_I64(events->time_us[6], INT64_C(174600000000));
    T_EQ_I64(events->time_us[7], PLIM_TIME_UNKNOWN);
    T_EQ_U64(plim_history_anomaly_count(history, PLIM_ANOMALY_BAD_FIELD), 1);
    plim_history_destroy(history);
}

static void damage_is_said_with_its_line(void)
{
    static const struct {
        const char *text;
        plim_status status;
        const char *message;
    } rows[] = {
        { HEADER "1,10:00:00.1,allocate,0x1000\n", PLIM_CORRUPT,
          "line 2: fewer fields than the header has" },
        { HEADER "1,10:00:00.1,allocate,zero,1,0\n", PLIM_CORRUPT,
          "line 2: \"zero\" is not an address" },
        { HEADER "1,10:00:00.1,allocate,0x11112222333344445,1,0\n", PLIM_CORRUPT,
          "line 2: \"0x11112222333344445\" is not an address" },
        { HEADER "\n1,10:00:00.1,free,0x1000,-1,0\n", PLIM_CORRUPT,
          "line 3: \"-1\" is not a number of bytes" },
        { HEADER "1,10:00:00.1,free,0x1000,18446744073709551616,0\n", PLIM_CORRUPT,
          "line 2: \"18446744073709551616\" is not a number of bytes" },
        { HEADER "1,10:00:00.1,free,0x1000,nan,0\n", PLIM_CORRUPT,
          "line 2: \"nan\" is not a number of bytes" },
        { HEADER "1,10:00:00.1,free,0x1000,1,main\n", PLIM_CORRUPT,
          "line 2: \"main\" is not a stream" },
        { HEADER "1,10:00:00.1,\x1b[31m,0x1000,1,0\n", PLIM_CORRUPT,
          "line 2: \"?[31m\" is not an action of RMM's (allocate, free, allocate failure)" },
        { "nothing of RMM\n", PLIM_UNSUPPORTED,
          "not a log of RMM: its header has no Action, Pointer and Size" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("row %zu", i);
        plim_history *history = NULL;
        plim_error err = { 0 };
        T_EQ_U64(parse(rows[i].text, NULL, &history, &err), rows[i].status);
        T_EQ_STR(err.message, rows[i].message);
        T_NULL(history);
    }
}

static void a_row_that_is_cut_off_is_left_out(void)
{
    plim_history *const history = must_parse(HEADER "1,10:00:00.1,allocate,0x1000,256,0\n"
                                                    "1,10:00:00.2,allocate,0x20");
    T_EQ_U64(events_of(history)->count, 1);
    T_EQ_STR(plim_history_warning(history, 2), "the last row, line 3, is cut off: left out");
    plim_history_destroy(history);
}

static void requests_of_nothing_are_left_out(void)
{
    plim_history *const history = must_parse(HEADER "1,10:00:00.1,allocate,(nil),0,0\n"
                                                    "1,10:00:00.2,free,(nil),0,0\n");
    T_EQ_U64(events_of(history)->count, 0);
    T_EQ_STR(plim_history_warning(history, 2), "2 rows without an address are left out");
    plim_history_destroy(history);
}

static void a_line_has_a_limit(void)
{
    const size_t bytes = (size_t)3 << 20;
    char *const text = malloc(bytes + 1);
    T_NOT_NULL(text);
    memset(text, 'x', bytes);
    text[bytes] = '\0';
    memcpy(text, HEADER, strlen(HEADER));
    plim_history *history = NULL;
    plim_error err = { 0 };
    T_EQ_U64(parse(text, NULL, &history, &err), PLIM_LIMIT);
    T_EQ_STR(err.message, "line 2 is longer than 1024 KiB");
    T_EQ_U64(err.offset, strlen(HEADER));
    free(text);
}

static bool read_some(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_history *history = NULL;
    plim_error err = { 0 };
    const plim_status status = parse(HEADER "1,10:00:00.1,allocate,0x1000,256,0\n"
                                            "1,10:00:00.1,free,0x1000,256,1\n"
                                            "1,10:00:00.1,fr",
                                     mem, &history, &err);
    T_EQ_U64(err.status, status);
    plim_history_destroy(history);
    return status == PLIM_OK;
}

static void every_allocation_may_fail(void)
{
    t_fail_each_allocation(read_some, NULL);
}

T_MAIN(T_TEST(rows_become_events), T_TEST(all_forms_read_alike),
       T_TEST(other_files_are_not_taken_for_logs), T_TEST(a_clock_may_pass_midnight),
       T_TEST(damage_is_said_with_its_line), T_TEST(a_row_that_is_cut_off_is_left_out),
       T_TEST(requests_of_nothing_are_left_out), T_TEST(a_line_has_a_limit),
       T_TEST(every_allocation_may_fail))
