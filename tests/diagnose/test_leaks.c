/*
 * test_leaks.c - what stays step after step, and what only looks like it.
 */
#include "phases/program.h"
#include "plimsoll/diagnose.h"

#include <math.h>

#define KIB(n) ((uint64_t)(n) << 10)
#define NAMES  1000u /* from here on: names of what is kept */

typedef struct diagnosed {
    program made;
    plim_diagnosis *diagnosis;
    const plim_device_diagnosis *device;
} diagnosed;

static bool attempt(const plim_mem *mem, void *ctx)
{
    const plim_diagnose_options options = { .mem = mem };
    plim_diagnosis *diagnosis = NULL;
    const plim_status status = plim_diagnose(ctx, &options, &diagnosis, NULL);
    plim_diagnosis_destroy(diagnosis);
    return status == PLIM_OK;
}

static diagnosed diagnose(program *made, uint64_t capacity_bytes)
{
    diagnosed all = { .made = *made };
    (void)program_end(&all.made);
    const plim_diagnose_options options = { .capacity_bytes = capacity_bytes };
    T_TRUE(plim_diagnose(all.made.history, &options, &all.diagnosis, NULL) == PLIM_OK);
    all.device = plim_diagnosis_device(all.diagnosis, 0);
    return all;
}

static void end(diagnosed *all)
{
    plim_diagnosis_destroy(all->diagnosis);
    plim_history_destroy(all->made.history);
}

static const plim_diagnosis_finding *leak_of(const diagnosed *all, size_t *ret_count)
{
    const plim_diagnosis_finding *first = NULL;
    *ret_count = 0;
    for (size_t i = 0; i < all->device->finding_count; i++) {
        const plim_diagnosis_finding *const finding = &all->device->findings[i];
        if (finding->kind == PLIM_VERDICT_LEAK && finding->decides) {
            first = first == NULL ? finding : first;
            (*ret_count)++;
        }
    }
    return first;
}

/* Ends a program that must have no leak. */
static void expect_none(program *made)
{
    diagnosed all = diagnose(made, 0);
    size_t count = 0;
    (void)leak_of(&all, &count);
    T_EQ_U64(count, 0);
    end(&all);
}

static bool is_near(double got, double wanted, double share)
{
    return fabs(got - wanted) <= share * wanted;
}

/* Ends a program that must have one leak, of this growth and period. */
static void expect_one(program *made, double growth, double period, uint64_t first_step)
{
    diagnosed all = diagnose(made, 0);
    size_t count = 0;
    const plim_diagnosis_finding *const leak = leak_of(&all, &count);
    T_EQ_U64(count, 1);
    T_TRUE(is_near(leak->growth_bytes_per_step, growth, 0.02));
    T_TRUE(leak->growth_low_bytes_per_step <= leak->growth_bytes_per_step);
    T_TRUE(leak->growth_high_bytes_per_step >= leak->growth_bytes_per_step);
    T_TRUE(is_near(leak->period_steps, period, 0));
    T_EQ_U64(leak->first_step, first_step);
    T_TRUE(leak->evidence_count >= 3);
    T_EQ_I64(all.device->verdict, PLIM_VERDICT_LEAK);
    end(&all);
}

/* --- a program that trains --- */

static void begin(program *at)
{
    program_begin(at);
    (void)program_alloc(at, 1, KIB(400), CODE_BUILD);
}

static void step_begins(program *at, uint64_t bytes)
{
    (void)program_alloc(at, 9, KIB(4), CODE_MAIN);
    for (uint64_t i = 0; i < 4; i++) {
        (void)program_alloc(at, 100 + i, bytes, CODE_FORWARD);
    }
}

static void step_ends(program *at, uint64_t bytes)
{
    (void)program_alloc(at, 10, KIB(400), CODE_NOBODY);
    for (uint64_t i = 4; i-- > 0;) {
        (void)program_free(at, 100 + i, bytes);
    }
    program_annotate(at, "Optimizer.step#SGD.step", true);
    (void)program_alloc(at, 12, KIB(1), CODE_OPTIMIZER);
    (void)program_free(at, 12, KIB(1));
    program_annotate(at, "Optimizer.step#SGD.step", false);
    (void)program_free(at, 10, KIB(400));
    (void)program_free(at, 9, KIB(4));
}

static void keep(program *at, uint64_t name, uint64_t bytes)
{
    (void)program_alloc(at, NAMES + name, bytes, CODE_OTHER);
}

static void drop(program *at, uint64_t name, uint64_t bytes)
{
    (void)program_free(at, NAMES + name, bytes);
}

/* `steps` steps; every `period`-th from `first` on keeps `bytes`. */
static void leak(program *at, uint64_t steps, uint64_t first, uint64_t period, uint64_t bytes)
{
    for (uint64_t i = 0; i < steps; i++) {
        step_begins(at, KIB(64));
        if (i >= first && (i - first) % period == 0) {
            keep(at, i, bytes);
        }
        step_ends(at, KIB(64));
    }
}

/* --- leaks --- */

static void what_stays_each_step_is_a_leak(void **state)
{
    (void)state;
    program at;
    begin(&at);
    leak(&at, 20, 0, 1, 512);
    expect_one(&at, 512, 1, 0);
}

static void period_and_onset_are_exact(void **state)
{
    (void)state;
    program at;
    begin(&at);
    leak(&at, 40, 7, 5, KIB(20));
    expect_one(&at, (double)KIB(4), 5, 7);
}

static void without_annotations_or_stacks_it_is_found(void **state)
{
    (void)state;
    program at;
    begin(&at);
    at.has_stacks = false;
    leak(&at, 24, 0, 1, KIB(3));
    diagnosed all = diagnose(&at, 0);
    size_t count = 0;
    const plim_diagnosis_finding *const found = leak_of(&all, &count);
    T_EQ_U64(count, 1);
    T_TRUE(is_near(found->growth_bytes_per_step, (double)KIB(3), 0.02));
    T_TRUE(found->confidence < 0.9);
    T_EQ_U64(found->root.frame, PLIM_NONE);
    bool says = false;
    for (size_t i = 0; i < found->evidence_count; i++) {
        says = says || strcmp(found->evidence[i].id, "no_stacks") == 0;
    }
    T_TRUE(says);
    end(&all);
}

static void sizes_that_never_come_again_are_one_leak(void **state)
{
    (void)state;
    program at;
    begin(&at);
    at.has_stacks = false;
    for (uint64_t i = 0; i < 30; i++) {
        step_begins(&at, KIB(64));
        keep(&at, i, KIB(10) + 16 * i);
        step_ends(&at, KIB(64));
    }
    diagnosed all = diagnose(&at, 0);
    size_t count = 0;
    (void)leak_of(&all, &count);
    T_EQ_U64(count, 1);
    end(&all);
}

static void what_stays_together_is_one_leak(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 20; i++) {
        step_begins(&at, KIB(64));
        keep(&at, 3 * i, KIB(2));
        (void)program_alloc(&at, NAMES + 3 * i + 1, KIB(6), CODE_CACHE);
        (void)program_alloc(&at, NAMES + 3 * i + 2, KIB(8), CODE_EVALUATE);
        step_ends(&at, KIB(64));
    }
    expect_one(&at, (double)KIB(16), 1, 0);
}

static void two_periods_are_two_leaks(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 40; i++) {
        step_begins(&at, KIB(64));
        keep(&at, i, KIB(2));
        if (i % 8 == 7) {
            (void)program_alloc(&at, 5000 + i, KIB(6), CODE_CACHE);
        }
        step_ends(&at, KIB(64));
    }
    diagnosed all = diagnose(&at, 0);
    size_t count = 0;
    (void)leak_of(&all, &count);
    T_EQ_U64(count, 2);
    end(&all);
}

static void a_cache_made_anew_and_larger_is_a_leak(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 20; i++) {
        step_begins(&at, KIB(64));
        keep(&at, i, KIB(8 * (i + 1)));
        if (i > 0) {
            drop(&at, i - 1, KIB(8 * i));
        }
        step_ends(&at, KIB(64));
    }
    diagnosed all = diagnose(&at, 0);
    size_t count = 0;
    const plim_diagnosis_finding *const found = leak_of(&all, &count);
    T_EQ_U64(count, 1);
    T_TRUE(is_near(found->growth_bytes_per_step, (double)KIB(8), 0.02));
    T_TRUE(is_near(found->period_steps, 1, 0));
    end(&all);
}

static void the_device_is_full_when_the_peak_meets_it(void **state)
{
    (void)state;
    program at;
    begin(&at);
    leak(&at, 20, 0, 1, KIB(64));
    /* At its peak step i has weights, batch, four layers, gradients, and i + 1 kept ones. */
    const uint64_t above = KIB(400) + KIB(4) + 4 * KIB(64) + KIB(400);
    diagnosed all = diagnose(&at, above + 101 * KIB(64));
    size_t count = 0;
    const plim_diagnosis_finding *const found = leak_of(&all, &count);
    T_EQ_U64(count, 1);
    T_TRUE(found->has_full_step);
    T_TRUE(is_near(found->full_at_step, 100, 0.05));
    T_EQ_I64(found->finding.severity, PLIM_SEVERITY_FAILURE);
    end(&all);
}

static void a_loop_without_steps_has_turns(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 12; i++) { /* nothing is annotated or trained, and little given back */
        (void)program_alloc(&at, 9, KIB(4), CODE_MAIN);
        for (uint64_t j = 0; j < 3; j++) {
            (void)program_alloc(&at, NAMES + 4 * i + j, KIB(30 + i), CODE_FORWARD);
        }
        (void)program_free(&at, 9, KIB(4));
    }
    diagnosed all = diagnose(&at, 0);
    size_t count = 0;
    (void)leak_of(&all, &count);
    T_EQ_U64(count, 1);
    end(&all);
}

/* --- lookalikes --- */

static void a_pool_that_is_full_is_healthy(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 30; i++) {
        step_begins(&at, KIB(64));
        if (i >= 18) {
            drop(&at, i - 18, KIB(10));
        }
        keep(&at, i, KIB(10));
        step_ends(&at, KIB(64));
    }
    expect_none(&at);
}

static void a_cache_of_varying_sizes_is_healthy(void **state)
{
    (void)state;
    program at;
    begin(&at);
    at.has_stacks = false;
    for (uint64_t i = 0; i < 40; i++) {
        step_begins(&at, KIB(64));
        if (i >= 8) {
            drop(&at, i - 8, KIB(10) + 512 * ((i - 8) * 37 % 41));
        }
        keep(&at, i, KIB(10) + 512 * (i * 37 % 41));
        step_ends(&at, KIB(64));
    }
    expect_none(&at);
}

static void a_cache_that_settles_is_healthy(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 40; i++) {
        step_begins(&at, KIB(64));
        if (i < 12) {
            keep(&at, i, KIB(10));
        }
        step_ends(&at, KIB(64));
    }
    expect_none(&at);
}

static void what_is_freed_in_a_mass_is_healthy(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 37; i++) {
        step_begins(&at, KIB(64));
        if (i == 0) { /* a workspace from the same line, far larger than the rest */
            keep(&at, 900, KIB(40000));
        }
        keep(&at, i, KIB(10));
        for (uint64_t j = 0; i % 10 == 9 && j < 10; j++) {
            drop(&at, i - 9 + j, KIB(10));
        }
        step_ends(&at, KIB(64));
    }
    expect_none(&at);
}

static void one_stair_is_healthy(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 30; i++) {
        const uint64_t bytes = i < 14 ? KIB(64) : KIB(160);
        step_begins(&at, bytes);
        for (uint64_t j = 0; i == 14 && j < 5; j++) {
            keep(&at, j, KIB(80));
        }
        step_ends(&at, bytes);
    }
    expect_none(&at);
}

static void larger_inputs_are_healthy(void **state)
{
    (void)state;
    program at;
    begin(&at);
    for (uint64_t i = 0; i < 30; i++) { /* one output lives to the next step */
        step_begins(&at, KIB(16 + 4 * i));
        keep(&at, i, KIB(8 + 2 * i));
        if (i > 0) {
            drop(&at, i - 1, KIB(6 + 2 * i));
        }
        step_ends(&at, KIB(16 + 4 * i));
    }
    expect_none(&at);
}

static void frees_from_before_the_recording_make_up_for_births(void **state)
{
    (void)state;
    program at;
    program_begin(&at);
    for (uint64_t i = 0; i < 24; i++) {
        step_begins(&at, KIB(64));
        drop(&at, 500 + i, KIB(10)); /* was there before the first event */
        keep(&at, i, KIB(10));
        step_ends(&at, KIB(64));
    }
    expect_none(&at);
}

static void the_end_of_the_program_frees_nothing(void **state)
{
    (void)state;
    program at;
    begin(&at);
    leak(&at, 20, 0, 1, KIB(5));
    for (uint64_t i = 0; i < 20; i++) {
        drop(&at, i, KIB(5));
    }
    expect_one(&at, (double)KIB(5), 1, 0);
}

static void nothing_is_said_of_few_steps(void **state)
{
    (void)state;
    for (uint64_t steps = 0; steps < 4; steps++) {
        program at;
        begin(&at);
        leak(&at, steps, 0, 1, KIB(5));
        expect_none(&at);
    }
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    program at;
    begin(&at);
    leak(&at, 12, 2, 1, KIB(5));
    diagnosed all = diagnose(&at, KIB(100000));
    t_fail_each_allocation(attempt, all.made.history);
    end(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stays_each_step_is_a_leak),
        cmocka_unit_test(period_and_onset_are_exact),
        cmocka_unit_test(without_annotations_or_stacks_it_is_found),
        cmocka_unit_test(sizes_that_never_come_again_are_one_leak),
        cmocka_unit_test(what_stays_together_is_one_leak),
        cmocka_unit_test(two_periods_are_two_leaks),
        cmocka_unit_test(a_cache_made_anew_and_larger_is_a_leak),
        cmocka_unit_test(the_device_is_full_when_the_peak_meets_it),
        cmocka_unit_test(a_loop_without_steps_has_turns),
        cmocka_unit_test(a_pool_that_is_full_is_healthy),
        cmocka_unit_test(a_cache_of_varying_sizes_is_healthy),
        cmocka_unit_test(a_cache_that_settles_is_healthy),
        cmocka_unit_test(what_is_freed_in_a_mass_is_healthy),
        cmocka_unit_test(one_stair_is_healthy),
        cmocka_unit_test(larger_inputs_are_healthy),
        cmocka_unit_test(frees_from_before_the_recording_make_up_for_births),
        cmocka_unit_test(the_end_of_the_program_frees_nothing),
        cmocka_unit_test(nothing_is_said_of_few_steps),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
