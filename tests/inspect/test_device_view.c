/*
 * test_device_view.c - a moment by its name, and where it lies in a device.
 */
#include "history/script.h"
#include "inspect/device_view.h"

static const char script[] = "alloc 0 100; alloc 512 300; request 512 300; complete 512 300; "
                             "alloc 1024 50; oom 4096 10; alloc 2048 20";

static const struct {
    const char *text;
    bool is_a_moment;
    bool is_there;
    int64_t event;
} names[] = {
    { "peak", true, true, 1 },        { "start", true, true, PLIM_AT_START },
    { "end", true, true, 6 },         { "event:2", true, true, 2 },
    { "4", true, true, 4 },           { "oom", true, true, 5 },
    { "oom:0", true, true, 5 },       { "oom:1", true, false, 0 },
    { "7", true, false, 0 },          { "step:0", true, false, 0 }, /* no steps were found */
    { "step:0:end", true, false, 0 }, { "18446744073709551616", false, false, 0 },
    { "", false, false, 0 },          { "-1", false, false, 0 },
    { " 4", false, false, 0 },        { "event:", false, false, 0 },
    { "event:4x", false, false, 0 },  { "step:1:middle", false, false, 0 },
    { "Peak", false, false, 0 },
};

static void names_are_moments(void)
{
    plim_history *const history = script_history(script);
    plim_device_view view;
    T_TRUE(plim_device_view_init(&view, history, plim_history_device(history, 0), NULL, NULL) ==
           PLIM_OK);
    for (size_t i = 0; i < T_COUNT(names); i++) {
        T_CASE("%s", names[i].text);
        plim_moment_choice choice = { 0 };
        T_TRUE(plim_moment_parse(names[i].text, &choice) == names[i].is_a_moment);
        if (!names[i].is_a_moment) {
            continue;
        }
        int64_t event = 0;
        const plim_status status = plim_device_view_moment(&view, choice, &event, NULL);
        T_TRUE(status == (names[i].is_there ? PLIM_OK : PLIM_INVALID_ARGUMENT));
        T_EQ_I64(event, names[i].event);
    }
    plim_device_view_deinit(&view);
    plim_history_destroy(history);
}

static void steps_are_moments(void)
{
    plim_history *const history = script_history("alloc 0 100; alloc 512 300; request 512 300; "
                                                 "alloc 1024 50; alloc 2048 70; request 2048 70");
    plim_device_view view;
    T_TRUE(plim_device_view_init(&view, history, plim_history_device(history, 0), NULL, NULL) ==
           PLIM_OK);
    uint64_t bounds[] = { 1, 3, 6 };
    plim_steps_deinit(&view.steps);
    view.steps = (plim_steps){ .first_events = bounds, .count = 2 };
    static const struct {
        const char *text;
        int64_t event;
    } steps[] = { { "step:0", 1 }, { "step:0:end", 2 }, { "step:1:peak", 4 }, { "step:1:end", 5 } };
    for (size_t i = 0; i < T_COUNT(steps); i++) {
        plim_moment_choice choice = { 0 };
        int64_t event = 0;
        T_TRUE(plim_moment_parse(steps[i].text, &choice));
        T_TRUE(plim_device_view_moment(&view, choice, &event, NULL) == PLIM_OK);
        T_EQ_I64(event, steps[i].event);
    }
    T_EQ_U64(plim_steps_at(&view.steps, 0), PLIM_NO_STEP);
    T_EQ_U64(plim_steps_at(&view.steps, 2), 0);
    T_EQ_U64(plim_steps_at(&view.steps, 3), 1);
    T_EQ_U64(plim_steps_at(&view.steps, 6), PLIM_NO_STEP);
    view.steps = (plim_steps){ 0 };
    plim_device_view_deinit(&view);
    plim_history_destroy(history);
}

static bool view_with(const plim_mem *mem, void *history)
{
    plim_device_view view;
    const plim_status status =
        plim_device_view_init(&view, history, plim_history_device(history, 0), mem, NULL);
    plim_device_view_deinit(&view);
    return status == PLIM_OK;
}

static void each_failing_allocation_surfaces(void)
{
    plim_history *const history = script_history(script);
    t_fail_each_allocation(view_with, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(names_are_moments), T_TEST(steps_are_moments),
       T_TEST(each_failing_allocation_surfaces))
