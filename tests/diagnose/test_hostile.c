/*
 * test_hostile.c - histories that nothing sensible made: nothing breaks, and what is said holds
 * together.
 */
#include "diagnose/well_formed.h"
#include "inspect/programs.h"
#include "plimsoll/diagnose.h"

/* --- making them --- */

typedef struct pen {
    plim_history *history;
    uint64_t count;
} pen;

static pen begin(void)
{
    pen one = { 0 };
    uint32_t stream = 0;
    T_TRUE(plim_history_create(NULL, &one.history, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_stream(one.history, 0, &stream, NULL) == PLIM_OK);
    program_stacks(one.history);
    return one;
}

static void put(pen *one, plim_action action, uint64_t addr, uint64_t bytes, uint32_t stack)
{
    const plim_event event = { .action = action,
                               .addr = addr,
                               .bytes = bytes,
                               .time_ns = plim_time_ns((int64_t)one->count),
                               .stack = stack };
    T_TRUE(plim_history_push_event(one->history, &event, NULL) == PLIM_OK);
    one->count++;
}

/* A span that the program named, around the events put between its two ends. */
static void name_step(pen *one, bool is_start)
{
    static const char name[] = "ProfilerStep#1";
    plim_annotation note = { .device = 0, .time_us = (int64_t)one->count, .is_start = is_start };
    T_TRUE(plim_history_add_string(one->history, name, sizeof name - 1, &note.name, NULL) ==
           PLIM_OK);
    T_TRUE(plim_history_push_annotation(one->history, &note, NULL) == PLIM_OK);
}

static plim_history *finish(pen *one)
{
    const plim_device_ranges ranges = { .events = { 0, one->count } };
    T_TRUE(plim_history_add_device(one->history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(one->history);
    return one->history;
}

/* --- what holds --- */

static void diagnose(plim_history *history)
{
    const plim_diagnose_options all[] = { { 0 }, { .capacity_bytes = 4096 } };
    for (size_t i = 0; i < T_COUNT(all); i++) {
        plim_diagnosis *diagnosis = NULL;
        T_TRUE(plim_diagnose(history, &all[i], &diagnosis, NULL) == PLIM_OK);
        diagnosis_is_well_formed(history, diagnosis);
        plim_diagnosis_destroy(diagnosis);
    }
    plim_history_destroy(history);
}

static void no_event_and_one_event_are_diagnosed(void)
{
    static const plim_action actions[] = {
        PLIM_ALLOC,         PLIM_FREE_REQUESTED, PLIM_FREE_COMPLETED,
        PLIM_SEGMENT_ALLOC, PLIM_SEGMENT_UNMAP,  PLIM_SNAPSHOT,
        PLIM_OOM,           PLIM_USER_DEFINED
    };
    pen empty = begin();
    diagnose(finish(&empty));
    for (size_t i = 0; i < T_COUNT(actions); i++) {
        T_CASE("%zu", i);
        pen one = begin();
        put(&one, actions[i], 512, i % 2 == 0 ? 512 : UINT64_MAX, i % 2 == 0 ? 0 : PLIM_NONE);
        diagnose(finish(&one));
    }
}

static void many_steps_of_two_events_take_no_square(void)
{
    pen one = begin();
    for (uint64_t i = 0; i < 100000; i++) {
        name_step(&one, true);
        put(&one, PLIM_ALLOC, 512 * (i + 1), 512, 0);
        put(&one, PLIM_SNAPSHOT, 0, 0, PLIM_NONE);
        name_step(&one, false);
    }
    diagnose(finish(&one));
}

static void steps_of_a_million_events_are_diagnosed(void)
{
    pen one = begin();
    for (uint64_t step = 0; step < 3; step++) {
        name_step(&one, true);
        for (uint64_t i = 0; i < 350000; i++) {
            const uint64_t addr = 1024 * (i % 1000) + 1024;
            put(&one, PLIM_ALLOC, addr, 100 + i % 7, (uint32_t)(i % PROGRAM_STACKS));
            put(&one, PLIM_FREE_REQUESTED, addr, 100 + i % 7, PLIM_NONE);
            put(&one, PLIM_FREE_COMPLETED, addr, 100 + i % 7, PLIM_NONE);
        }
        name_step(&one, false);
    }
    diagnose(finish(&one));
}

static void noise_and_torn_programs_are_diagnosed(void)
{
    static toy_program program;
    for (uint32_t i = 0; i < 300; i++) {
        T_CASE("%u", i);
        if (i % 2 == 0) {
            program_of_noise(&program, PROGRAM_EVENTS_MAX / 2);
        } else {
            program_of_toy(&program, PROGRAM_EVENTS_MAX / 4);
        }
        diagnose(program_history(&program, t_random_between(0, program.event_count)));
    }
}

/* --- memory --- */

static bool attempt(const plim_mem *mem, void *ctx)
{
    const plim_diagnose_options options = { .mem = mem, .capacity_bytes = 1 << 20 };
    plim_diagnosis *diagnosis = NULL;
    plim_error err = { 0 };
    const plim_status status = plim_diagnose(ctx, &options, &diagnosis, &err);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    plim_diagnosis_destroy(diagnosis);
    return status == PLIM_OK;
}

static void no_allocation_is_taken_for_granted(void)
{
    static toy_program program;
    for (uint32_t i = 0; i < 6; i++) {
        program_of_toy(&program, PROGRAM_EVENTS_MAX / 4);
        plim_history *const history = program_history(&program, i % 2 == 0 ? 0 : 20);
        t_fail_each_allocation(attempt, history);
        plim_history_destroy(history);
    }
    pen one = begin();
    for (uint64_t step = 0; step < 24; step++) {
        name_step(&one, true);
        put(&one, PLIM_ALLOC, (1 << 20) * (step + 1), 4096, (uint32_t)(step % 2));
        put(&one, PLIM_ALLOC, 512, 100000, 2);
        put(&one, PLIM_FREE_REQUESTED, 512, 100000, PLIM_NONE);
        put(&one, PLIM_FREE_COMPLETED, 512, 100000, PLIM_NONE);
        name_step(&one, false);
    }
    put(&one, PLIM_OOM, 4096, 1 << 20, 3);
    plim_history *const history = finish(&one);
    t_fail_each_allocation(attempt, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(no_event_and_one_event_are_diagnosed),
       T_TEST(many_steps_of_two_events_take_no_square),
       T_TEST(steps_of_a_million_events_are_diagnosed),
       T_TEST(noise_and_torn_programs_are_diagnosed), T_TEST(no_allocation_is_taken_for_granted))
