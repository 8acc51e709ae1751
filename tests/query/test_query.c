/*
 * test_query.c - tables, views and functions over small histories.
 */
#include "answer.h"
#include "history/script.h"

typedef struct question {
    const char *sql;
    const char *answer;
} question;

static void ask_all(const plim_history *history, const question *questions, size_t count)
{
    plim_query *query = NULL;
    plim_error err = { 0 };
    T_TRUE(plim_query_open(history, NULL, &query, NULL) == PLIM_OK);
    for (size_t i = 0; i < count; i++) {
        plim_text text;
        plim_text_init(&text, NULL, (size_t)1 << 20);
        T_CASE("%s", questions[i].sql);
        err.message[0] = '\0';
        if (answer(query, questions[i].sql, &text, &err) != PLIM_OK) {
            print_error("%s: %s\n", questions[i].sql, err.message);
        }
        T_EQ_STR(plim_text_string(&text), questions[i].answer);
        plim_text_deinit(&text);
    }
    plim_query_close(query);
}

/* --- allocations --- */

/* 10 stands before the recording; 300 lives from event 2 to the end. */
#define SCRIPT                                                                 \
    "segment 0 4096; block 0 1024 300 allocated @1; block 1024 3072 0 free; "  \
    "alloc 512 200 @2; request 2048 10 @3; alloc 0 300 @1; complete 2048 10; " \
    "request 512 200; complete 512 200; alloc 512 40 @2; request 512 40; complete 512 40"

static const question about_allocations[] = {
    { "SELECT id, requested_bytes, born_event, freed_event, completed_event FROM allocations "
      "ORDER BY id",
      "0|10|-1|1|3;1|200|0|4|5;3|300|2|NULL|NULL;7|40|6|7|8" },
    { "SELECT requested_bytes FROM allocations WHERE id = 3", "300" },
    { "SELECT requested_bytes FROM allocations WHERE id > 0 AND id <= 3", "200;300" },
    { "SELECT requested_bytes FROM allocations WHERE id = 2", "" },
    { "SELECT requested_bytes FROM allocations WHERE id >= 2.5", "300;40" },
    { "SELECT requested_bytes FROM allocations WHERE id < 1.5", "10;200" },
    { "SELECT requested_bytes FROM allocations WHERE id > NULL", "" },
    { "SELECT COUNT(*) FROM allocations WHERE id < 'x'", "4" },
    { "SELECT COUNT(*) FROM allocations WHERE id = '3'", "1" },
    { "SELECT COUNT(*) FROM allocations WHERE device = 0", "4" },
    { "SELECT COUNT(*) FROM allocations WHERE device = 1", "0" },
    { "SELECT COUNT(*) FROM allocations WHERE device IS NULL", "0" },
    { "SELECT stack, COUNT(*), SUM(requested_bytes) FROM allocations GROUP BY stack",
      "0|1|300;1|2|240;2|1|10" },
    { "SELECT stack FROM allocations ORDER BY stack", "0;1;1;2" },
    { "SELECT stack FROM allocations ORDER BY stack DESC", "2;1;1;0" },
    { "SELECT DISTINCT stack FROM allocations", "0;1;2" },
    { "SELECT id FROM allocations WHERE stack = 1", "1;7" },
    { "SELECT id FROM allocations WHERE stack = 9", "" },
    { "SELECT id FROM allocations WHERE stack = -1", "" },
    { "SELECT id, live_at_end, never_freed, before_recording, stack_of_free FROM allocations",
      "0|0|0|1|1;1|0|0|0|0;3|1|1|0|0;7|0|0|0|0" },
    { "SELECT id, lifetime_events, lifetime_us FROM allocations",
      "0|NULL|NULL;1|4|NULL;3|NULL|NULL;7|1|NULL" },
    { "SELECT block_bytes, block_slack_bytes FROM allocations WHERE id = 3", "1024|0" },
};

static void allocations_have_their_lives(void)
{
    plim_history *const history = script_history(SCRIPT);
    ask_all(history, about_allocations, T_COUNT(about_allocations));
    plim_history_destroy(history);
}

static const question about_moments[] = {
    { "SELECT id FROM live('peak')", "1;3" },
    { "SELECT id, at FROM live", "1|peak;3|peak" },
    { "SELECT id FROM live WHERE at = 'start'", "0" },
    { "SELECT id FROM live('event:0')", "0;1" },
    { "SELECT id FROM live('0')", "0;1" },
    { "SELECT id FROM live('end')", "3" },
    { "SELECT id FROM live(NULL)", "" },
    { "SELECT m.event, COUNT(l.id) FROM moments AS m, live('event:' || m.event) AS l "
      "WHERE m.event >= 0 GROUP BY m.event",
      "0|2;1|1;2|2;3|2;4|1;5|1;6|2;7|1;8|1" },
    { "SELECT event, requested_bytes, live_count FROM moments",
      "-1|10|1;0|210|2;1|200|1;2|500|2;3|500|2;4|300|1;5|300|1;6|340|2;7|300|1;8|300|1" },
    { "SELECT event, requested_bytes FROM moments('peak')", "2|500" },
    { "SELECT event, requested_bytes FROM moments WHERE event = 4", "4|300" },
    { "SELECT event, requested_bytes FROM moments WHERE event BETWEEN -5 AND 0", "-1|10;0|210" },
    { "SELECT event FROM moments WHERE event < -1", "" },
    { "SELECT event FROM moments WHERE event = 9223372036854775807", "" },
    { "SELECT event FROM moments WHERE event = -9223372036854775807 - 1", "" },
    { "SELECT event FROM moments WHERE event >= 9223372036854775807", "" },
    { "SELECT event FROM moments WHERE event > 7.5 AND event < 1e300", "8" },
    { "SELECT COUNT(*) FROM moments WHERE event > -1e300", "10" },
    { "SELECT event FROM moments WHERE event > 6", "7;8" },
    { "SELECT MAX(requested_bytes) = (SELECT requested_bytes FROM moments('peak')) FROM moments",
      "1" },
    { "SELECT SUM(requested_bytes) FROM live('peak')", "500" },
    { "SELECT moment, event, requested_bytes FROM named_moments",
      "start|-1|10;peak|2|500;end|8|300" },
};

static void moments_are_those_of_the_timeline(void)
{
    plim_history *const history = script_history(SCRIPT);
    ask_all(history, about_moments, T_COUNT(about_moments));
    plim_history_destroy(history);
}

/* --- the schema --- */

typedef struct named_columns {
    const plim_query_table *table;
    bool is_as_described;
} named_columns;

/* SELECT * leaves out parameters, which are the last. */
static bool compare_names(void *ctx, const char *const *names, size_t count)
{
    named_columns *const expected = ctx;
    size_t shown = expected->table->column_count;
    while (expected->table->columns[shown - 1].is_parameter) {
        shown--;
    }
    expected->is_as_described = count == shown;
    for (size_t i = 0; i < count && expected->is_as_described; i++) {
        expected->is_as_described = strcmp(names[i], expected->table->columns[i].name) == 0;
    }
    return true;
}

static bool any_row(void *ctx, const plim_query_value *values, size_t count)
{
    (void)ctx;
    (void)values;
    (void)count;
    return true;
}

static void every_table_and_view_is_as_described(void)
{
    static const char *const scripts[] = { "", "alloc 0 1", SCRIPT,
                                           "alloc 0 1; device 1; alloc 0 5; oom 4096 1000" };
    for (size_t h = 0; h < T_COUNT(scripts); h++) {
        plim_history *const history = script_history(scripts[h]);
        plim_query *query = NULL;
        T_TRUE(plim_query_open(history, NULL, &query, NULL) == PLIM_OK);
        for (size_t i = 0; i < plim_query_table_count(); i++) {
            named_columns expected = { .table = plim_query_table_at(i) };
            const plim_query_reader reader = { .begin = compare_names,
                                               .row = any_row,
                                               .ctx = &expected };
            char sql[80];
            plim_error err = { 0 };
            const int bytes = snprintf(sql, sizeof sql, "SELECT * FROM %s", expected.table->name);
            T_CASE("%s of history %zu", expected.table->name, h);
            if (plim_query_run(query, sql, (size_t)bytes, &reader, &err) != PLIM_OK) {
                print_error("%s\n", err.message);
            }
            T_TRUE(expected.is_as_described);
        }
        plim_query_close(query);
        plim_history_destroy(history);
    }
}

/* --- memory that runs out --- */

static bool run_statements(const plim_mem *mem, void *ctx)
{
    static const char *const statements[] = {
        "SELECT stack, SUM(requested_bytes) FROM allocations GROUP BY stack",
        "SELECT category, born_step, frame(stack) FROM allocations",
        "SELECT step, allocation FROM events",
        "SELECT step, live_count FROM moments",
        "SELECT * FROM live('end')",
        "SELECT text FROM stacks JOIN frames ON frames.stack = stacks.id",
        "SELECT * FROM steps",
        "SELECT COUNT(*) FROM anomalies, devices, findings",
    };
    const plim_query_options options = { .mem = mem, .memory_limit_bytes = (uint64_t)1 << 30 };
    plim_query *query = NULL;
    plim_error err = { 0 };
    plim_status status = plim_query_open(ctx, &options, &query, &err);
    for (size_t i = 0; status == PLIM_OK && i < T_COUNT(statements); i++) {
        const plim_query_reader reader = { .row = any_row };
        status = plim_query_run(query, statements[i], strlen(statements[i]), &reader, &err);
    }
    if (status != PLIM_OK && status != PLIM_OUT_OF_HOST_MEMORY) {
        fail_msg("%s", err.message);
    }
    plim_query_close(query);
    return status == PLIM_OK;
}

static void each_allocation_may_fail(void)
{
    plim_history *const history = script_history(SCRIPT);
    t_fail_each_allocation(run_statements, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(each_allocation_may_fail), T_TEST(every_table_and_view_is_as_described),
       T_TEST(allocations_have_their_lives), T_TEST(moments_are_those_of_the_timeline))
