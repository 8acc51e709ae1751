/*
 * test_diff.c - what grew between two histories.
 */
#include "history/script.h"
#include "plimsoll/diff.h"

/* The result for two scripts; both histories stay with the caller. */
typedef struct compared {
    plim_history *before, *after;
    plim_diff_result *result;
} compared;

static compared compare(const char *before, const char *after)
{
    compared both = { script_history(before), script_history(after), NULL };
    T_TRUE(plim_diff(both.before, both.after, NULL, &both.result, NULL) == PLIM_OK);
    return both;
}

static void end(compared *both)
{
    plim_diff_destroy(both->result);
    plim_history_destroy(both->before);
    plim_history_destroy(both->after);
}

static const plim_diff_moment *moment_of(const compared *both, plim_diff_moment_kind kind)
{
    T_EQ_U64(plim_diff_device_count(both->result), 1);
    return &plim_diff_device_at(both->result, 0)->moments[kind];
}

static void equal_runs_have_no_difference(void)
{
    compared both =
        compare("alloc 0 100 @1; alloc 512 300 @2; request 512 300; complete 512 300",
                "alloc 8192 300 @2; alloc 512 100 @1; request 8192 300; complete 8192 300");
    const plim_diff_moment *const peak = moment_of(&both, PLIM_DIFF_PEAK);
    T_TRUE(peak->is_known && peak->is_same);
    T_EQ_U64(peak->before.requested_bytes, 400);
    T_EQ_U64(peak->group_count, 2);
    const plim_diff_moment *const last = moment_of(&both, PLIM_DIFF_END);
    T_TRUE(last->is_same);
    T_EQ_U64(last->group_count, 1);
    T_TRUE(last->groups[0].match == PLIM_DIFF_SURE);
    T_NULL(last->groups[0].because);
    const plim_diff_moment *const step = moment_of(&both, PLIM_DIFF_STEP);
    T_FALSE(step->is_known);
    T_EQ_STR(step->unknown_because, "no steps were found");
    T_FALSE(moment_of(&both, PLIM_DIFF_CHOSEN)->is_known);
    end(&both);
}

static void growth_comes_first_and_shrinkage_last(void)
{
    compared both = compare("alloc 0 100 @1; alloc 512 300 @2; alloc 1024 70 @3",
                            "alloc 0 700 @1; alloc 1024 200 @2; alloc 2048 70 @3");
    const plim_diff_moment *const peak = moment_of(&both, PLIM_DIFF_PEAK);
    T_FALSE(peak->is_same);
    T_EQ_U64(peak->group_count, 3);
    T_EQ_I64(peak->groups[0].change_bytes, 600);
    T_TRUE(script_is_stack(both.after, peak->groups[0].after.stack, 1));
    T_TRUE(script_is_stack(both.before, peak->groups[0].before.stack, 1));
    T_EQ_U64(peak->groups[0].after.user_frame, 0);
    T_EQ_STR(peak->groups[0].package, "");
    T_EQ_I64(peak->groups[1].change_bytes, 0);
    T_EQ_I64(peak->groups[2].change_bytes, -100);
    end(&both);
}

/* Allocations without a stack are one group. */
static void memory_without_stacks_is_one_group(void)
{
    compared both = compare("alloc 0 100; alloc 512 300", "alloc 0 900; alloc 1024 1");
    const plim_diff_moment *const peak = moment_of(&both, PLIM_DIFF_PEAK);
    T_EQ_U64(peak->group_count, 1);
    T_EQ_I64(peak->groups[0].change_bytes, 501);
    T_TRUE(peak->groups[0].after.stack == PLIM_NONE);
    end(&both);
}

static void moments_of_one_history_are_compared(void)
{
    plim_history *const history =
        script_history("alloc 0 100 @1; alloc 512 300 @2; request 512 300; complete 512 300");
    const plim_moment_choice before = { .kind = PLIM_MOMENT_EVENT, .number = 0 };
    const plim_moment_choice after = { .kind = PLIM_MOMENT_PEAK };
    const plim_diff_options options = { .before_at = &before, .after_at = &after };
    plim_diff_result *result = NULL;
    T_TRUE(plim_diff(history, history, &options, &result, NULL) == PLIM_OK);
    const plim_diff_moment *const chosen =
        &plim_diff_device_at(result, 0)->moments[PLIM_DIFF_CHOSEN];
    T_TRUE(chosen->is_known);
    T_EQ_U64(chosen->group_count, 2);
    T_EQ_I64(chosen->groups[0].change_bytes, 300);
    T_TRUE(chosen->groups[0].match == PLIM_DIFF_SURE);
    T_TRUE(plim_diff_device_at(result, 0)->moments[PLIM_DIFF_PEAK].is_same);
    plim_diff_destroy(result);
    const plim_diff_options half = { .before_at = &before };
    T_TRUE(plim_diff(history, history, &half, &result, NULL) == PLIM_INVALID_ARGUMENT);
    const plim_moment_choice beyond = { .kind = PLIM_MOMENT_STEP_PEAK, .number = 9 };
    const plim_diff_options absent = { .before_at = &before, .after_at = &beyond };
    T_TRUE(plim_diff(history, history, &absent, &result, NULL) == PLIM_INVALID_ARGUMENT);
    plim_history_destroy(history);
}

static void devices_of_either_side_are_there(void)
{
    compared both = compare("alloc 0 100 @1", "device 2; alloc 0 300 @1");
    T_EQ_U64(plim_diff_device_count(both.result), 2);
    const plim_diff_device *const first = plim_diff_device_at(both.result, 0);
    const plim_diff_device *const second = plim_diff_device_at(both.result, 1);
    T_TRUE(first->device == 0 && first->in_before && first->in_after);
    T_TRUE(second->device == 2 && !second->in_before && second->in_after);
    T_EQ_I64(first->moments[PLIM_DIFF_END].groups[0].change_bytes, -100);
    T_EQ_I64(second->moments[PLIM_DIFF_END].groups[0].change_bytes, 300);
    T_EQ_STR(second->moments[PLIM_DIFF_STEP].unknown_because, "only one side has this device");
    end(&both);
}

static void histories_without_events_compare(void)
{
    compared both = compare("", "segment 0 2048; block 0 512 100 allocated @1; "
                                "block 512 1536 0 free");
    const plim_diff_moment *const last = moment_of(&both, PLIM_DIFF_END);
    T_TRUE(last->is_known);
    T_EQ_U64(last->after.requested_bytes, 100);
    T_EQ_U64(last->group_count, 1);
    T_TRUE(last->groups[0].match == PLIM_DIFF_NEW);
    end(&both);
}

static void names_are_there(void)
{
    T_EQ_STR(plim_diff_moment_name(PLIM_DIFF_STEP), "step");
    T_EQ_STR(plim_diff_match_name(PLIM_DIFF_LIKELY), "likely");
    T_TRUE(*plim_diff_moment_text(PLIM_DIFF_PEAK) != '\0');
    T_TRUE(*plim_diff_match_text(PLIM_DIFF_GONE) != '\0');
}

static bool compare_with(const plim_mem *mem, void *histories)
{
    plim_history *const *const both = histories;
    const plim_diff_options options = { .mem = mem };
    plim_diff_result *result = NULL;
    const plim_status status = plim_diff(both[0], both[1], &options, &result, NULL);
    if (status == PLIM_OK) {
        plim_diff_destroy(result);
    } else {
        T_TRUE(status == PLIM_OUT_OF_HOST_MEMORY);
    }
    return status == PLIM_OK;
}

static void each_failing_allocation_surfaces(void)
{
    plim_history *both[] = { script_history("alloc 0 100 @1; alloc 512 300 @2; alloc 1024 9"),
                             script_history("alloc 0 700 @1; alloc 1024 200 @3; device 1; "
                                            "alloc 0 10 @4") };
    t_fail_each_allocation(compare_with, both);
    plim_history_destroy(both[0]);
    plim_history_destroy(both[1]);
}

T_MAIN(T_TEST(equal_runs_have_no_difference), T_TEST(growth_comes_first_and_shrinkage_last),
       T_TEST(memory_without_stacks_is_one_group), T_TEST(moments_of_one_history_are_compared),
       T_TEST(devices_of_either_side_are_there), T_TEST(histories_without_events_compare),
       T_TEST(names_are_there), T_TEST(each_failing_allocation_surfaces))
