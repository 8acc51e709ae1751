/*
 * test_timeline.c - raw memory timelines as histories: matching, categories, damage.
 */
#include "reading.h"

/* Category of an event, by its note. */
static const char *category(const plim_history *history, uint64_t event)
{
    const plim_events *const events = &plim_history_device(history, 0)->events;
    return plim_history_string(history, plim_history_note(history, events->note[event])->category,
                               NULL);
}

static void rows_become_events(void)
{
    plim_history *const history = t_must_read(
        "[[-1, 1, 4096, 0], [5000, 2, 1024, 7], [6000, 2, 1024, 4],\n"
        " [7000, 3, -1024, 7], [7000, 3, 1024, 5], [8000, 4, -1024, 4], [9000, 4, -512, 3]]");
    const plim_events *const events = &plim_history_device(history, 0)->events;
    T_EQ_U64(events->count, 7);
    T_EQ_U64(events->action[0], PLIM_ALLOC);
    T_EQ_I64(events->time_us[0], 5); /* that of the first event with one */
    T_EQ_U64(plim_history_device(history, 0)->earlier_events, 1);
    T_EQ_STR(category(history, 0), "PARAMETER");
    T_EQ_STR(category(history, 1), "GRADIENT"); /* the first that is known */
    T_EQ_STR(category(history, 2), "ACTIVATION");
    T_EQ_U64(events->action[3], PLIM_FREE_REQUESTED);
    T_EQ_U64(events->addr[3], events->addr[2]);
    T_EQ_U64(events->action[4], PLIM_FREE_COMPLETED);
    T_EQ_U64(events->bytes[5], 512);
    T_TRUE(events->addr[0] != events->addr[1]);
    T_EQ_U64(t_peak(history), 4096 + 2048 + 512); /* what no row allocates was there before */
    T_EQ_STR(plim_history_source(history).format, "memory-timeline");
    T_EQ_U64(plim_history_warning_count(history), 3);
    T_EQ_STR(plim_history_warning(history, 2),
             "1 free has no allocation: taken to be from before the timeline");
    plim_history_destroy(history);
}

static void a_free_takes_the_oldest_of_its_size(void)
{
    plim_history *const history =
        t_must_read("[[1000, 2, 512, 4], [2000, 2, 512, 4], [3000, 2, 512, 5], [4000, 4, -512, 4],"
                    " [5000, 4, -512, 6]]");
    const plim_events *const events = &plim_history_device(history, 0)->events;
    T_EQ_U64(events->addr[3], events->addr[0]);
    T_EQ_U64(events->addr[5], events->addr[1]);
    T_EQ_STR(plim_history_warning(history, 2), "1 of them by size alone");
    plim_history_destroy(history);
}

static void a_recorded_timeline_is_read(void)
{
    plim_history *const history = t_must_read_file("tests/data/profiles/timeline.raw.json.gz");
    T_EQ_U64(t_peak(history), 11023360);
    T_EQ_U64(plim_history_warning_count(history), 2);
    plim_history_destroy(history);
}

static void what_cannot_be_read_says_why(void)
{
    static const char sums[] = "a memory timeline of sums by category has no allocations: export "
                               "it to NAME.raw.json.gz, or record a snapshot";
    static const struct {
        const char *text;
        plim_status status;
        const char *message;
    } rows[] = {
        { "[[1700000000, 1700000001], [[0, 1], [0, 2]]]", PLIM_UNSUPPORTED, sums },
        { "[[1700000000, 1700000001, 3, 4], [[0, 1], [0, 2]]]", PLIM_UNSUPPORTED, sums },
        { "[[], []]", PLIM_CORRUPT, "row 0: not [time, action, bytes, category] in whole numbers" },
        { "[[1, 2, 3]]", PLIM_CORRUPT,
          "row 0: not [time, action, bytes, category] in whole numbers" },
        { "[[1, 2, 512, 0], [1, 2, 1.5, 0]]", PLIM_CORRUPT,
          "row 1: not [time, action, bytes, category] in whole numbers" },
        { "[[1, 2, 512, 8]]", PLIM_CORRUPT, "row 0: a size or category out of range" },
        { "[[1, 2, 9223372036854775807, 0]]", PLIM_CORRUPT,
          "row 0: a size or category out of range" },
        { "[[1, 2, 512, 0], [1, 5, 512, 0]]", PLIM_CORRUPT, "row 1: an action other than 1 to 4" },
        { "[[1, 2, 512, 0], {}]", PLIM_CORRUPT, "row 1: not [time, action, bytes, category]" },
        { "[[1, 2, 512", PLIM_CORRUPT,
          "damaged JSON: a character that does not belong there, or the file is cut off" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("row %zu", i);
        plim_history *history = NULL;
        plim_error err = { 0 };
        T_EQ_U64(t_read(rows[i].text, strlen(rows[i].text), NULL, &history, &err), rows[i].status);
        T_EQ_STR(err.message, rows[i].message);
        T_NULL(history);
    }
}

static bool read_some(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    static const char text[] = "[[-1, 1, 4096, 0], [5000, 2, 1024, 7], [7000, 3, -1024, 7],"
                               " [7000, 3, 1024, 5], [8000, 4, -1024, 5], [9000, 4, -9, 5]]";
    plim_history *history = NULL;
    plim_error err = { 0 };
    const plim_status status = t_read(text, sizeof text - 1, mem, &history, &err);
    T_EQ_U64(err.status, status);
    plim_history_destroy(history);
    return status == PLIM_OK;
}

static void every_allocation_may_fail(void)
{
    t_fail_each_allocation(read_some, NULL);
}

T_MAIN(T_TEST(rows_become_events), T_TEST(a_free_takes_the_oldest_of_its_size),
       T_TEST(a_recorded_timeline_is_read), T_TEST(what_cannot_be_read_says_why),
       T_TEST(every_allocation_may_fail))
