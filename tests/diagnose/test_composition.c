/*
 * test_composition.c - what memory was made of, and where the peak is.
 */
#include "phases/program.h"
#include "plimsoll/diagnose.h"

typedef struct diagnosed {
    program made;
    plim_diagnosis *diagnosis;
    const plim_device_diagnosis *device;
} diagnosed;

static diagnosed diagnose(program *made)
{
    diagnosed all = { .made = *made };
    (void)program_end(&all.made);
    T_TRUE(plim_diagnose(all.made.history, NULL, &all.diagnosis, NULL) == PLIM_OK);
    all.device = plim_diagnosis_device(all.diagnosis, 0);
    return all;
}

static void end(diagnosed *all)
{
    plim_diagnosis_destroy(all->diagnosis);
    plim_history_destroy(all->made.history);
}

static plim_category_sum sum_of(const plim_device_composition *moment, const char *name)
{
    for (size_t i = 0; i < moment->sum_count; i++) {
        if (strcmp(moment->sums[i].name, name) == 0) {
            return moment->sums[i];
        }
    }
    return (plim_category_sum){ .name = name, .rule = "" };
}

static void check_sums(const plim_device_composition *moment)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < moment->sum_count; i++) {
        bytes += moment->sums[i].bytes;
        T_TRUE(i == 0 || moment->sums[i].bytes <= moment->sums[i - 1].bytes);
        T_TRUE(moment->sums[i].bytes > 0 && moment->sums[i].count > 0);
    }
    T_EQ_U64(bytes, moment->requested_bytes);
}

static diagnosed diagnose_training(training *run, bool has_stacks)
{
    program made;
    program_begin(&made);
    made.has_stacks = has_stacks;
    training_run(&made, run);
    return diagnose(&made);
}

static void moments_are_made_of_categories(void)
{
    training run = { .steps = 4, .batches = 1, .has_names = true, .has_optimizer = true };
    diagnosed all = diagnose_training(&run, true);
    const plim_device_diagnosis *const device = all.device;
    T_EQ_I64(device->peak.event, device->facts->peak.event);
    T_EQ_U64(device->peak.requested_bytes, device->facts->peak.requested_bytes);
    check_sums(&device->peak);
    T_EQ_U64(sum_of(&device->peak, "parameters").bytes, 3 * WEIGHT);
    T_EQ_STR(sum_of(&device->peak, "parameters").rule, "stack");
    T_EQ_U64(sum_of(&device->peak, "optimizer_state").count, 4);
    T_EQ_U64(device->peak.unknown_bytes, sum_of(&device->peak, "other").bytes);
    T_EQ_U64(device->peak.unknown_bytes, 1u << 20); /* the workspace */
    T_EQ_STR(sum_of(&device->peak, "other").rule, "none");
    T_EQ_U64(device->composition_step_count, 4);
    for (size_t i = 0; i < 4; i++) {
        T_EQ_U64(device->steps[i].step, i);
        check_sums(&device->steps[i]);
    }
    T_EQ_U64(device->failure_count, 0);
    end(&all);
}

static void where_no_stack_says_it_lifetimes_do(void)
{
    training run = { .steps = 4, .batches = 1, .has_names = true, .has_optimizer = true };
    diagnosed all = diagnose_training(&run, false);
    check_sums(&all.device->peak);
    T_EQ_STR(sum_of(&all.device->peak, "parameters").rule, "lifetime");
    end(&all);
}

static void of_many_steps_the_worst_is_kept(void)
{
    program made;
    program_begin(&made);
    for (uint64_t step = 0; step < 1000; step++) {
        program_annotate(&made, "train_step", true);
        (void)program_alloc(&made, 1, step == 313 ? 9000 : 1000, CODE_FORWARD);
        (void)program_free(&made, 1, step == 313 ? 9000 : 1000);
        program_annotate(&made, "train_step", false);
    }
    diagnosed all = diagnose(&made);
    const plim_device_diagnosis *const device = all.device;
    T_EQ_U64(device->step_count, 1000);
    T_TRUE(device->composition_step_count >= 255 && device->composition_step_count <= 256);
    bool has_worst = false;
    for (size_t i = 0; i < device->composition_step_count; i++) {
        has_worst = has_worst || device->steps[i].step == 313;
        T_TRUE(i == 0 || device->steps[i - 1].step < device->steps[i].step);
    }
    T_TRUE(has_worst);
    T_EQ_U64(device->steps[0].step, 0);
    T_EQ_U64(device->steps[device->composition_step_count - 1].step, 999);
    T_EQ_U64(device->peak_place.step, 313);
    T_EQ_U64(device->peak_place.next_peak_bytes, 0); /* the same line makes all there is */
    end(&all);
}

/* A burst of one line on what another line keeps for longer. */
static void the_next_peak_has_nothing_of_the_burst(void)
{
    program made;
    program_begin(&made);
    (void)program_alloc(&made, 1, 1000, CODE_BUILD);
    for (uint64_t step = 0; step < 3; step++) {
        program_annotate(&made, "train_step", true);
        (void)program_alloc(&made, 2, 500, CODE_FORWARD);
        for (uint64_t i = 0; i < 8; i++) {
            (void)program_alloc(&made, 3, 10, CODE_OTHER);
            (void)program_free(&made, 3, 10);
        }
        (void)program_alloc(&made, 4, 4000, CODE_MAIN);
        (void)program_free(&made, 4, 4000);
        for (uint64_t i = 0; i < 8; i++) {
            (void)program_alloc(&made, 3, 20, CODE_OTHER);
            (void)program_free(&made, 3, 20);
        }
        (void)program_free(&made, 2, 500);
        program_annotate(&made, "train_step", false);
    }
    diagnosed all = diagnose(&made);
    const plim_peak_place *const place = &all.device->peak_place;
    T_EQ_U64(all.device->peak.requested_bytes, 5500);
    T_EQ_U64(place->step, 0);
    T_TRUE(place->position > 0.4 && place->position < 0.6);
    T_EQ_U64(place->next_peak_bytes, 1520);
    end(&all);
}

/* --- rules of a user --- */

static plim_status diagnose_rules(const plim_history *history, const char *rules,
                                  plim_diagnosis **ret_diagnosis, plim_error *err)
{
    const plim_diagnose_options options = { .rules = rules, .rules_bytes = strlen(rules) };
    return plim_diagnose(history, &options, ret_diagnosis, err);
}

static void rules_of_a_user_come_first(void)
{
    training run = { .steps = 4, .batches = 1, .has_names = true, .has_optimizer = true };
    diagnosed all = diagnose_training(&run, true);
    const uint64_t states = sum_of(&all.device->peak, "optimizer_state").bytes;
    plim_diagnosis *ruled = NULL;
    T_TRUE(diagnose_rules(all.made.history,
                          "# mine\n\ncategory moments: function \"_init_*\", size >= 1KiB\n"
                          "category temporary: is other # workspaces\r\n",
                          &ruled, NULL) == PLIM_OK);
    const plim_device_composition *const peak = &plim_diagnosis_device(ruled, 0)->peak;
    check_sums(peak);
    T_EQ_U64(sum_of(peak, "moments").bytes, states);
    T_EQ_STR(sum_of(peak, "moments").rule, "user");
    T_EQ_U64(sum_of(peak, "optimizer_state").bytes, 0);
    T_EQ_U64(sum_of(peak, "other").bytes, 0);
    T_EQ_U64(peak->unknown_bytes, 0);
    plim_diagnosis_destroy(ruled);
    end(&all);
}

static void wrong_rules_name_their_line(void)
{
    static const struct {
        const char *text;
        uint64_t line;
    } rows[] = {
        { "group x: size >= 1KiB", 1 },
        { "\ncategory: size >= 1KiB", 2 },
        { "category x", 1 },
        { "category x:", 1 },
        { "category x: size = 1KiB", 1 },
        { "category x: size >= much", 1 },
        { "category x: file model.py", 1 },
        { "category x: file \"model.py", 1 },
        { "category x: file \"\"", 1 },
        { "category x: file \"a\", file \"b\"", 1 },
        { "category x: stream left", 1 },
        { "category x: is nothing", 1 },
        { "category x: size >= 1KiB\n\ncategory y: size >= 1KiB file \"a\"", 3 },
        { "category a_name_that_is_longer_than_32_bytes: size >= 1KiB", 1 },
    };
    training run = { .steps = 1, .batches = 1 };
    diagnosed all = diagnose_training(&run, true);
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].text);
        plim_diagnosis *ruled = NULL;
        plim_error err = { 0 };
        T_TRUE(diagnose_rules(all.made.history, rows[i].text, &ruled, &err) ==
               PLIM_INVALID_ARGUMENT);
        T_EQ_U64(err.offset, rows[i].line);
        T_NULL(ruled);
    }
    end(&all);
}

static bool attempt_rules(const plim_mem *mem, void *ctx)
{
    static const char rules[] = "category a: file \"*train.py\"\ncategory b: stream 0x0";
    const plim_diagnose_options options = { .mem = mem,
                                            .rules = rules,
                                            .rules_bytes = sizeof rules - 1 };
    plim_diagnosis *diagnosis = NULL;
    const plim_status status = plim_diagnose(ctx, &options, &diagnosis, NULL);
    plim_diagnosis_destroy(diagnosis);
    return status == PLIM_OK;
}

static void nothing_has_no_peak(void)
{
    program made;
    program_begin(&made);
    diagnosed all = diagnose(&made);
    T_EQ_I64(all.device->peak.event, PLIM_AT_START);
    T_EQ_U64(all.device->peak.sum_count, 0);
    T_EQ_U64(all.device->peak_place.step, PLIM_NO_STEP);
    T_NULL(all.device->peak_place.pass);
    end(&all);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    const plim_diagnose_options options = { .mem = mem };
    plim_diagnosis *diagnosis = NULL;
    const plim_status status = plim_diagnose(ctx, &options, &diagnosis, NULL);
    plim_diagnosis_destroy(diagnosis);
    return status == PLIM_OK;
}

static void each_allocation_may_fail(void)
{
    training run = { .steps = 4, .batches = 1, .has_names = true, .has_optimizer = true };
    diagnosed all = diagnose_training(&run, true);
    t_fail_each_allocation(attempt, all.made.history);
    t_fail_each_allocation(attempt_rules, all.made.history);
    end(&all);
}

T_MAIN(T_TEST(rules_of_a_user_come_first), T_TEST(wrong_rules_name_their_line),
       T_TEST(moments_are_made_of_categories), T_TEST(where_no_stack_says_it_lifetimes_do),
       T_TEST(of_many_steps_the_worst_is_kept), T_TEST(the_next_peak_has_nothing_of_the_burst),
       T_TEST(nothing_has_no_peak), T_TEST(each_allocation_may_fail))
