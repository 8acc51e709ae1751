/*
 * test_lock.c - a lock read, written, changed and held to; and its groups as histories.
 */
#include "plimsoll/lock.h"

#include "harness.h"
#include "plimsoll/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRY(command, allocated, groups)                                                        \
    "{\"command\": \"" command "\", \"gpu\": \"h100\", \"devices\": 1, \"capacity_bytes\": 80, " \
    "\"steps\": 0, \"world_size\": 0, \"rank\": 0, \"conf\": \"\", \"torch\": \"2.11\", "        \
    "\"device_use_bytes\": 100000000, \"peaks\": [{\"rank\": 0, \"device\": 0, "                 \
    "\"allocated_bytes\": " allocated ", \"reserved_bytes\": 90000000, \"phases\": "             \
    "[{\"name\": \"forward\", \"allocated_bytes\": 1000}], \"groups\": [" groups "]}]}"
#define GROUP "{\"bytes\": 7, \"count\": 2, \"stack\": [\"a.py:5 in f\", \"a: b.py:9 in main\"]}"
#define PEAK                                                                                       \
    "{\"rank\": 0, \"device\": 0, \"allocated_bytes\": 1, \"reserved_bytes\": 1, \"phases\": [], " \
    "\"groups\": []}"
#define LOCK(entries) "{\"schema\": \"lock/1\", \"entries\": [" entries "]}"

static plim_lock *read_lock(const char *text)
{
    plim_lock *lock = NULL;
    plim_error err = { 0 };
    const plim_status status = plim_lock_read_text("the lock", text, NULL, &lock, &err);
    T_TRUE(status == PLIM_OK);
    return lock;
}

static void entries_are_in_order_and_found(void)
{
    plim_lock *const lock = read_lock(
        LOCK(ENTRY("b", "50", GROUP) ", " ENTRY("a", "60", "") ", " ENTRY("b", "70", "")));
    T_EQ_U64(plim_lock_count(lock), 2);
    T_TRUE(strcmp(plim_lock_at(lock, 0)->command, "a") == 0);
    T_EQ_U64(plim_lock_at(lock, 1)->peaks[0].allocated_bytes, 70); /* the last of one name */
    plim_lock_entry like = *plim_lock_at(lock, 0);
    T_TRUE(plim_lock_find(lock, &like) == plim_lock_at(lock, 0));
    like.steps = 3;
    T_TRUE(plim_lock_find(lock, &like) == NULL);
    T_TRUE(plim_lock_put(lock, &like, NULL) == PLIM_OK);
    T_EQ_U64(plim_lock_count(lock), 3);
    T_TRUE(plim_lock_at(lock, 1) == &like);
    plim_lock_destroy(lock);
}

static char *read_file(const char *path)
{
    FILE *const file = fopen(path, "re");
    T_TRUE(file != NULL);
    char *const text = calloc(1, 1 << 16);
    T_TRUE(text != NULL);
    T_TRUE(fread(text, 1, (1 << 16) - 1, file) > 0);
    (void)fclose(file);
    return text;
}

static void what_is_written_reads_back_and_is_the_same(void)
{
    char first[] = "/tmp/plim-lock-XXXXXX";
    char second[] = "/tmp/plim-lock-XXXXXX";
    (void)close(mkstemp(first));
    (void)close(mkstemp(second));
    plim_lock *const lock = read_lock(LOCK(ENTRY("b", "50", GROUP) ", " ENTRY("a", "60", GROUP)));
    T_TRUE(plim_lock_write(lock, first, NULL) == PLIM_OK);
    plim_lock *again = NULL;
    T_TRUE(plim_lock_read(first, NULL, &again, NULL) == PLIM_OK);
    T_TRUE(plim_lock_write(again, second, NULL) == PLIM_OK);
    char *const one = read_file(first);
    char *const other = read_file(second);
    T_TRUE(strcmp(one, other) == 0);
    free(one);
    free(other);
    plim_lock_destroy(lock);
    plim_lock_destroy(again);
    (void)unlink(first);
    (void)unlink(second);
}

static const struct {
    const char *name;
    const char *text;
} wrong[] = {
    { "nothing", "" },
    { "no JSON", "{" },
    { "an array", "[]" },
    { "another schema", "{\"schema\": \"lock/2\", \"entries\": []}" },
    { "no entries", "{\"schema\": \"lock/1\"}" },
    { "entries of numbers", LOCK("1") },
    { "a negative figure", LOCK(ENTRY("a", "-1", "")) },
    { "a figure that is no whole number", LOCK(ENTRY("a", "1.5", "")) },
    { "a figure beyond 64 bits", LOCK(ENTRY("a", "99999999999999999999", "")) },
    { "a figure that is a text", LOCK(ENTRY("a", "\"1\"", "")) },
    { "a device twice",
      LOCK("{\"command\": \"a\", \"gpu\": \"h100\", \"devices\": 1, \"capacity_bytes\": 80, "
           "\"steps\": 0, \"world_size\": 0, \"rank\": 0, \"conf\": \"\", \"torch\": \"\", "
           "\"device_use_bytes\": 1, \"peaks\": [" PEAK ", " PEAK "]}") },
    { "a list in place of a group", LOCK(ENTRY("a", "1", "[]")) },
    { "frames of numbers", LOCK(ENTRY("a", "1", "{\"bytes\": 1, \"count\": 1, \"stack\": [1]}")) },
};

static void what_is_no_lock_is_refused_with_a_line(void)
{
    for (size_t i = 0; i < T_COUNT(wrong); i++) {
        T_CASE("%s", wrong[i].name);
        plim_lock *lock = NULL;
        plim_error err = { 0 };
        T_TRUE(plim_lock_read_text("x.lock", wrong[i].text, NULL, &lock, &err) == PLIM_CORRUPT);
        T_TRUE(lock == NULL);
        T_TRUE(strncmp(err.message, "x.lock: ", 8) == 0);
        T_TRUE(strchr(err.message, '\n') == NULL);
    }
    plim_lock *lock = NULL;
    T_TRUE(plim_lock_read("/nowhere/x.lock", NULL, &lock, NULL) == PLIM_IO);
}

static void deep_nesting_is_no_stack(void)
{
    enum { DEPTH = 1 << 20 };
    char *const text = malloc(DEPTH + 1);
    T_TRUE(text != NULL);
    memset(text, '[', DEPTH);
    text[DEPTH] = '\0';
    plim_lock *lock = NULL;
    T_TRUE(plim_lock_read_text("x", text, NULL, &lock, NULL) == PLIM_CORRUPT);
    free(text);
}

static const struct {
    uint64_t locked, now;
    double share;
    bool is_exceeded, is_lower;
} figures[] = {
    { 1000000000, 1000000000, 0.01, false, false },
    { 1000000000, 1009000000, 0.01, false, false },
    { 1000000000, 1011000000, 0.01, true, false },
    { 1000000000, 1011000000, 0.02, false, false },
    { 1000000000, 989000000, 0.01, false, true },
    { 1000000, 2000000, 0.01, false, false }, /* below PLIM_LOCK_BYTES_LEAST */
    { 0, 2000000, 0.01, true, false },
    { 1000000000, 1000000001, 0, false, false },
};

static void a_figure_is_exceeded_beyond_the_limit(void)
{
    for (size_t i = 0; i < T_COUNT(figures); i++) {
        T_CASE("%zu", i);
        const plim_lock_peak peaks[] = { { .allocated_bytes = figures[i].locked },
                                         { .allocated_bytes = figures[i].now } };
        const plim_lock_entry locked = { .peaks = &peaks[0], .peak_count = 1 };
        const plim_lock_entry now = { .peaks = &peaks[1], .peak_count = 1 };
        const plim_upgrade_limit limit = { .share = figures[i].share };
        plim_lock_comparison all = { 0 };
        T_TRUE(plim_lock_compare(&locked, &now, &limit, NULL, &all, NULL) == PLIM_OK);
        T_TRUE(all.is_exceeded == figures[i].is_exceeded);
        T_TRUE(all.is_lower == figures[i].is_lower);
        T_EQ_U64(all.figure_count, 3);
        plim_lock_comparison_deinit(&all);
    }
}

static void ranks_and_phases_are_held_one_by_one(void)
{
    const plim_lock_phase before[] = { { "forward", 50 << 20 }, { "backward", 90 << 20 } };
    const plim_lock_phase after[] = { { "forward", 60 << 20 }, { "backward", 90 << 20 } };
    const plim_lock_peak locked_peaks[] = {
        { .allocated_bytes = 90 << 20, .phases = before, .phase_count = 2 },
        { .rank = 1, .allocated_bytes = 90 << 20 },
    };
    const plim_lock_peak now_peaks[] = {
        { .allocated_bytes = 90 << 20, .phases = after, .phase_count = 2 },
        { .rank = 2, .allocated_bytes = 5 << 20 },
    };
    const plim_lock_entry locked = { .peaks = locked_peaks, .peak_count = 2 };
    const plim_lock_entry now = { .peaks = now_peaks, .peak_count = 2 };
    const plim_upgrade_limit limit = { .share = 0.01 };
    plim_lock_comparison all = { 0 };
    T_TRUE(plim_lock_compare(&locked, &now, &limit, NULL, &all, NULL) == PLIM_OK);
    T_TRUE(all.is_exceeded && all.is_lower);
    T_EQ_U64(all.figure_count, 9);
    T_TRUE(all.figures[2].kind == PLIM_LOCK_PHASE && all.figures[2].is_exceeded);
    T_FALSE(all.figures[3].is_exceeded);
    T_TRUE(all.figures[4].rank == 2 && all.figures[4].is_exceeded); /* not in the lock */
    T_TRUE(all.figures[6].rank == 1 && all.figures[6].is_lower);    /* no more */
    plim_lock_comparison_deinit(&all);
}

static void groups_are_a_history(void)
{
    plim_lock *const lock =
        read_lock(LOCK(ENTRY("a", "1", GROUP ", {\"bytes\": 3, \"count\": 1, \"stack\": []}")));
    plim_history *history = NULL;
    T_TRUE(plim_lock_history(&plim_lock_at(lock, 0)->peaks[0], NULL, &history, NULL) == PLIM_OK);
    plim_inspection *all = NULL;
    T_TRUE(plim_inspect(history, NULL, &all, NULL) == PLIM_OK);
    const plim_moment *const peak = &plim_inspection_device(all, 0)->peak;
    T_EQ_U64(peak->requested_bytes, 10);
    T_EQ_U64(peak->group_count, 2);
    const plim_stack stack = plim_history_stack(history, peak->groups[0].stack);
    T_EQ_U64(stack.frame_count, 2);
    const plim_frame *const inner = plim_history_frame(history, stack.frames[0]);
    const plim_frame *const outer = plim_history_frame(history, stack.frames[1]);
    T_EQ_U64(inner->line, 5);
    T_TRUE(strcmp(plim_history_string(history, inner->filename, NULL), "a.py") == 0);
    T_TRUE(strcmp(plim_history_string(history, inner->name, NULL), "f") == 0);
    T_EQ_U64(outer->line, 9);
    T_TRUE(strcmp(plim_history_string(history, outer->filename, NULL), "a: b.py") == 0);
    plim_inspection_destroy(all);
    plim_history_destroy(history);
    T_TRUE(plim_lock_history(NULL, NULL, &history, NULL) == PLIM_OK);
    plim_history_destroy(history);
    plim_lock_destroy(lock);
}

static bool use_with(const plim_mem *mem, void *text)
{
    plim_lock *lock = NULL;
    plim_history *history = NULL;
    const plim_upgrade_limit limit = { .share = 0.01 };
    plim_lock_comparison all = { 0 };
    const bool done =
        plim_lock_read_text("x", text, mem, &lock, NULL) == PLIM_OK &&
        plim_lock_compare(plim_lock_at(lock, 0), plim_lock_at(lock, 1), &limit, mem, &all, NULL) ==
            PLIM_OK &&
        plim_lock_history(&plim_lock_at(lock, 0)->peaks[0], mem, &history, NULL) == PLIM_OK;
    plim_history_destroy(history);
    plim_lock_comparison_deinit(&all);
    plim_lock_destroy(lock);
    return done;
}

static void each_failing_allocation_surfaces(void)
{
    static char text[] = LOCK(ENTRY("b", "50", GROUP) ", " ENTRY("a", "60", GROUP));
    t_fail_each_allocation(use_with, text);
}

T_MAIN(T_TEST(entries_are_in_order_and_found), T_TEST(what_is_written_reads_back_and_is_the_same),
       T_TEST(what_is_no_lock_is_refused_with_a_line), T_TEST(deep_nesting_is_no_stack),
       T_TEST(a_figure_is_exceeded_beyond_the_limit), T_TEST(ranks_and_phases_are_held_one_by_one),
       T_TEST(groups_are_a_history), T_TEST(each_failing_allocation_surfaces))
