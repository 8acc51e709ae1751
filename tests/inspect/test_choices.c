/*
 * test_choices.c - a moment of one's choice, what is live at the end, what was never freed,
 * categories, and a filter by stack.
 */
#include "history/script.h"
#include "inspect/stack_filter.h"

#include "plimsoll/inspect.h"
#include "plimsoll/timeline.h"

/* 700 bytes are older than the recording, 60 and 40 are never freed, 30 are freed. */
static const char script[] =
    "segment 0 4096; block 0 1024 700 allocated @1; block 1024 512 60 allocated; "
    "block 1536 512 40 allocated; block 2048 2048 0 free; time 10; alloc 1024 60 @2; time 20; "
    "alloc 2048 30 @3; time 30; request 2048 30 @3; complete 2048 30; time 40; alloc 1536 40 @2";

static const plim_device_inspection *
inspect(const plim_history *history, const plim_inspect_options *options, plim_inspection **ret)
{
    T_TRUE(plim_inspect(history, options, ret, NULL) == PLIM_OK);
    return plim_inspection_device(*ret, 0);
}

static void what_is_live_at_the_end_is_apart_by_its_birth(void)
{
    plim_history *const history = script_history(script);
    plim_inspection *all = NULL;
    const plim_device_inspection *const facts = inspect(history, NULL, &all);
    T_EQ_I64(facts->end_live.event, 4);
    T_EQ_I64(facts->end_live.time_us, 40);
    T_EQ_U64(facts->end_live.requested_bytes, 800);
    T_EQ_U64(facts->end_live.grouped_bytes, 800);
    T_EQ_U64(facts->end_live.grouped_count, 3);
    T_EQ_U64(facts->end_live.group_count, 2);
    T_EQ_I64(facts->end_live.groups[0].first_born, PLIM_AT_START);
    const plim_never_freed *const kept = &facts->never_freed;
    T_EQ_U64(kept->bytes, 100);
    T_EQ_U64(kept->count, 2);
    T_EQ_U64(kept->before_bytes, 700);
    T_EQ_U64(kept->before_count, 1);
    T_EQ_U64(kept->group_count, 1);
    T_EQ_U64(kept->groups[0].bytes, 100);
    T_EQ_U64(kept->groups[0].before_recording_count, 0);
    T_EQ_I64(kept->groups[0].first_born, 0);
    T_EQ_I64(kept->groups[0].last_born, 4);
    T_FALSE(facts->has_chosen);
    T_TRUE(facts->no_chosen_because == NULL);
    T_TRUE(facts->peak.categories == NULL);
    plim_inspection_destroy(all);
    plim_history_destroy(history);
}

static const struct {
    const char *at;
    bool is_there;
    int64_t event;
    uint64_t bytes, count;
} moments[] = {
    { "start", true, PLIM_AT_START, 700, 1 },
    { "0", true, 0, 760, 2 },
    { "peak", true, 4, 800, 3 },
    { "event:2", true, 2, 760, 2 },
    { "end", true, 4, 800, 3 },
    { "event:5", false, 0, 0, 0 },
    { "step:3", false, 0, 0, 0 },
    { "oom", false, 0, 0, 0 },
};

static void a_moment_has_its_figures_and_groups(void)
{
    plim_history *const history = script_history(script);
    for (size_t i = 0; i < T_COUNT(moments); i++) {
        T_CASE("%s", moments[i].at);
        plim_moment_choice at = { 0 };
        T_TRUE(plim_moment_parse(moments[i].at, &at));
        const plim_inspect_options options = { .at = &at, .with_categories = true };
        plim_inspection *all = NULL;
        const plim_device_inspection *const facts = inspect(history, &options, &all);
        T_TRUE(facts->has_chosen == moments[i].is_there);
        T_TRUE((facts->no_chosen_because == NULL) == moments[i].is_there);
        T_EQ_U64(facts->chosen_step, PLIM_NO_STEP);
        if (moments[i].is_there) {
            T_EQ_I64(facts->chosen.event, moments[i].event);
            T_EQ_U64(facts->chosen.requested_bytes, moments[i].bytes);
            T_EQ_U64(facts->chosen.live_count, moments[i].count);
            uint64_t grouped = 0;
            for (size_t k = 0; k < facts->chosen.group_count; k++) {
                grouped += facts->chosen.groups[k].bytes;
            }
            T_EQ_U64(grouped, moments[i].bytes);
            uint64_t sorted = 0;
            for (size_t k = 0; k < PLIM_CATEGORY_COUNT; k++) {
                sorted += facts->chosen.categories[k].bytes;
            }
            T_EQ_U64(sorted, moments[i].bytes);
        }
        plim_inspection_destroy(all);
    }
    plim_history_destroy(history);
}

static void a_filter_leaves_the_totals_as_they_are(void)
{
    plim_history *const history = script_history(script);
    const plim_inspect_options options = { .stack_pattern = "f2", .with_categories = true };
    plim_inspection *all = NULL;
    const plim_device_inspection *const facts = inspect(history, &options, &all);
    T_EQ_U64(facts->peak.requested_bytes, 800);
    T_EQ_U64(facts->peak.live_count, 3);
    T_TRUE(facts->peak.is_filtered);
    T_EQ_U64(facts->peak.grouped_bytes, 100);
    T_EQ_U64(facts->peak.grouped_count, 2);
    T_EQ_U64(facts->peak.group_count, 1);
    uint64_t sorted = 0;
    for (size_t k = 0; k < PLIM_CATEGORY_COUNT; k++) {
        sorted += facts->peak.categories[k].count;
    }
    T_EQ_U64(sorted, 2);
    T_EQ_U64(facts->never_freed.bytes, 100);
    T_EQ_U64(facts->never_freed.before_count, 0);
    plim_inspection_destroy(all);
    plim_history_destroy(history);
}

/* Frames are "f1" in /home/u/train.py, line 1. */
static const struct {
    const char *pattern;
    bool passes;
} patterns[] = {
    { "", true },
    { "f1", true },
    { "f2", false },
    { "train", true },
    { "/home/u/train.py", true },
    { "train.py:1", true },
    { "train.py:2", false },
    { "f1:1", false }, /* a line is of a file */
    { ":1", false },   /* and of some file */
    { "*", true },
    { "f?", true },
    { "f", true },
    { "?", false },
    { "train.*", true },
    { "rain.*", false },
    { "u/*.py", true },
    { "u/*.py:1", true },
    { "/u/*.py", false },
    { "*/u/*.py", true },
    { "/home/*", true },
    { "*.pyc", false },
    { "**t*r*a*in.py**", true },
    { "train.py?", false },
};

static void patterns_name_functions_and_files(void)
{
    plim_history *const history = script_history("alloc 0 1 @1");
    for (size_t i = 0; i < T_COUNT(patterns); i++) {
        T_CASE("\"%s\"", patterns[i].pattern);
        plim_stack_filter filter;
        T_TRUE(plim_stack_filter_init(&filter, history, patterns[i].pattern, NULL, NULL) ==
               PLIM_OK);
        T_EQ_U64(filter.count, 1);
        T_TRUE(plim_stack_filter_passes(&filter, 0) == patterns[i].passes);
        T_FALSE(plim_stack_filter_passes(&filter, PLIM_NONE));
        plim_stack_filter_deinit(&filter);
    }
    plim_history_destroy(history);
}

static void little_is_no_hindrance(void)
{
    static const char *const scripts[] = { "", "alloc 0 5", "request 0 5", "oom 5 5",
                                           "segment 0 512; block 0 512 5 allocated @1" };
    const plim_moment_choice at = { .kind = PLIM_MOMENT_END };
    const plim_inspect_options options = { .at = &at,
                                           .stack_pattern = "f1",
                                           .with_categories = true };
    for (size_t i = 0; i < T_COUNT(scripts); i++) {
        plim_history *const history = script_history(scripts[i]);
        plim_inspection *all = NULL;
        T_TRUE(plim_inspect(history, &options, &all, NULL) == PLIM_OK);
        plim_inspection_destroy(all);
        plim_history_destroy(history);
    }
}

static bool inspect_with(const plim_mem *mem, void *history)
{
    const plim_moment_choice at = { .kind = PLIM_MOMENT_EVENT, .number = 9 };
    const plim_inspect_options options = {
        .mem = mem, .at = &at, .stack_pattern = "f*", .with_categories = true
    };
    plim_inspection *all = NULL;
    const bool done = plim_inspect(history, &options, &all, NULL) == PLIM_OK;
    plim_inspection_destroy(all);
    return done;
}

static void each_failing_allocation_surfaces(void)
{
    plim_history *const history = script_history(script);
    t_fail_each_allocation(inspect_with, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(what_is_live_at_the_end_is_apart_by_its_birth),
       T_TEST(a_moment_has_its_figures_and_groups), T_TEST(a_filter_leaves_the_totals_as_they_are),
       T_TEST(patterns_name_functions_and_files), T_TEST(little_is_no_hindrance),
       T_TEST(each_failing_allocation_surfaces))
