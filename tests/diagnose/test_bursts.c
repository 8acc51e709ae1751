/*
 * test_bursts.c - bursts far above the rest, and what optimizers make in their first step.
 */
#include "phases/program.h"
#include "plimsoll/diagnose.h"

#define KIB(n) ((uint64_t)(n) << 10)

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

static const plim_diagnosis_finding *find(const diagnosed *all, plim_verdict kind)
{
    for (size_t i = 0; i < all->device->finding_count; i++) {
        if (all->device->findings[i].kind == kind) {
            return &all->device->findings[i];
        }
    }
    return NULL;
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    const plim_diagnose_options options = { .mem = mem };
    plim_diagnosis *diagnosis = NULL;
    const plim_status status = plim_diagnose(ctx, &options, &diagnosis, NULL);
    plim_diagnosis_destroy(diagnosis);
    return status == PLIM_OK;
}

/* Ends the recording, and checks that each allocation may fail on the way to this diagnosis. */
static diagnosed diagnose_with_failures(program *made)
{
    diagnosed all = diagnose(made);
    t_fail_each_allocation(attempt, all.made.history);
    return all;
}

static uint32_t line_of(const diagnosed *all, const plim_diagnosis_finding *finding)
{
    T_TRUE(finding->root.frame != PLIM_NONE);
    return plim_history_frame(all->made.history, finding->root.frame)->line;
}

/* --- a program --- */

#define MODEL KIB(400)

static void begin(program *at)
{
    program_begin(at);
    (void)program_alloc(at, 1, MODEL, CODE_BUILD);
}

/* A step of `layers` layers, which keep `bytes` each for the backward pass. */
static void step_of(program *at, uint64_t layers, uint64_t bytes)
{
    (void)program_alloc(at, 9, KIB(4), CODE_MAIN);
    for (uint64_t i = 0; i < layers; i++) {
        (void)program_alloc(at, 100 + i, bytes, CODE_FORWARD);
    }
    (void)program_alloc(at, 10, MODEL, CODE_NOBODY);
    for (uint64_t i = layers; i-- > 0;) {
        (void)program_free(at, 100 + i, bytes);
        (void)program_alloc(at, 11, bytes, CODE_NOBODY);
        (void)program_free(at, 11, bytes);
    }
    program_annotate(at, "Optimizer.step#SGD.step", true);
    (void)program_alloc(at, 12, KIB(1), CODE_OPTIMIZER);
    (void)program_free(at, 12, KIB(1));
    program_annotate(at, "Optimizer.step#SGD.step", false);
    (void)program_free(at, 10, MODEL);
    (void)program_free(at, 9, KIB(4));
}

/* Layers run forward; with a graph all are kept until the end. */
static void evaluate(program *at, uint64_t layers, uint64_t bytes, bool has_graph)
{
    for (uint64_t i = 0; i < layers; i++) {
        (void)program_alloc(at, 200 + i, bytes, CODE_EVALUATE);
        if (!has_graph && i > 0) {
            (void)program_free(at, 200 + i - 1, bytes);
        }
    }
    for (uint64_t i = has_graph ? 0 : layers - 1; i < layers; i++) {
        (void)program_free(at, 200 + i, bytes);
    }
}

/* --- evaluation --- */

static void evaluation_that_records_a_graph_is_a_spike(void)
{
    program made;
    begin(&made);
    for (size_t i = 0; i < 6; i++) {
        step_of(&made, 8, KIB(50));
        evaluate(&made, 8, KIB(200), true);
    }
    diagnosed all = diagnose_with_failures(&made);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "spike");
    const plim_diagnosis_finding *const spike = &all.device->findings[0];
    T_EQ_STR(plim_cause_name(spike->cause), "evaluation_with_grad");
    T_EQ_U64(line_of(&all, spike), 4); /* the line of the program that calls the module */
    T_EQ_U64(spike->bytes, MODEL + 8 * KIB(200) - (2 * MODEL + 8 * KIB(50) + KIB(4)));
    end(&all);
}

static void large_evaluation_in_every_step_is_a_note(void)
{
    program made;
    begin(&made);
    for (size_t i = 0; i < 6; i++) {
        step_of(&made, 8, KIB(50));
        evaluate(&made, 8, KIB(1000), false);
    }
    diagnosed all = diagnose(&made);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "healthy");
    const plim_diagnosis_finding *const spike = find(&all, PLIM_VERDICT_SPIKE);
    T_NOT_NULL(spike);
    T_FALSE(spike->decides);
    T_EQ_STR(plim_cause_name(spike->cause), "evaluation_batch");
    end(&all);
}

static void large_evaluation_now_and_then_is_a_spike(void)
{
    program made;
    begin(&made);
    for (size_t i = 0; i < 12; i++) {
        step_of(&made, 8, KIB(50));
        if (i % 4 == 3) {
            evaluate(&made, 8, KIB(1000), false);
        }
    }
    diagnosed all = diagnose(&made);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "spike");
    T_EQ_STR(plim_cause_name(all.device->findings[0].cause), "evaluation_batch");
    end(&all);
}

static void small_evaluation_is_no_finding(void)
{
    for (size_t has_graph = 0; has_graph < 2; has_graph++) {
        program made;
        begin(&made);
        for (size_t i = 0; i < 6; i++) {
            step_of(&made, 8, KIB(50));
            evaluate(&made, 8, KIB(60), has_graph != 0);
        }
        diagnosed all = diagnose(&made);
        T_EQ_STR(plim_verdict_name(all.device->verdict), "healthy");
        T_NULL(find(&all, PLIM_VERDICT_SPIKE));
        end(&all);
    }
}

/* Three steps, and a larger forward pass that does not fit. */
static diagnosed diagnose_last_pass(program_code code)
{
    program made;
    begin(&made);
    for (size_t i = 0; i < 3; i++) {
        step_of(&made, 8, KIB(50));
    }
    for (uint64_t i = 0; i < 7; i++) {
        (void)program_alloc(&made, 200 + i, KIB(200), code);
    }
    (void)program_push(&made, PLIM_OOM, 0, KIB(200), code);
    return diagnose_with_failures(&made);
}

static void evaluation_that_runs_out_of_memory_is_a_spike(void)
{
    diagnosed all = diagnose_last_pass(CODE_EVALUATE);
    const plim_diagnosis_finding *const spike = find(&all, PLIM_VERDICT_SPIKE);
    T_NOT_NULL(spike);
    T_TRUE(spike->decides);
    T_EQ_STR(plim_cause_name(spike->cause), "evaluation_with_grad");
    T_EQ_STR(plim_severity_name(spike->finding.severity), "failure");
    end(&all);
    all = diagnose_last_pass(CODE_FORWARD); /* from where training calls the model */
    T_NULL(find(&all, PLIM_VERDICT_SPIKE));
    end(&all);
}

/* --- steps that stand out --- */

static diagnosed diagnose_steps(const uint64_t *layers, size_t count)
{
    program made;
    begin(&made);
    for (size_t i = 0; i < count; i++) {
        step_of(&made, layers[i], KIB(100));
    }
    return diagnose(&made);
}

static void one_batch_far_larger_is_a_spike(void)
{
    const uint64_t layers[] = { 5, 5, 5, 6, 5, 5, 6, 5, 5, 40, 5, 6, 5, 5 };
    diagnosed all = diagnose_steps(layers, T_COUNT(layers));
    T_EQ_STR(plim_verdict_name(all.device->verdict), "spike");
    T_EQ_STR(plim_cause_name(all.device->findings[0].cause), "large_batch");
    T_EQ_U64(all.device->findings[0].first_step, 9);
    T_EQ_U64(all.device->findings[0].bytes, 34 * KIB(100));
    t_fail_each_allocation(attempt, all.made.history);
    end(&all);
}

static void steps_that_differ_are_no_spike(void)
{
    static const struct {
        const char *what;
        uint64_t layers[14];
    } rows[] = {
        { "the first", { 40, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 } },
        { "looking for a batch size", { 5, 10, 40, 20, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10 } },
        { "a curriculum", { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 40, 40, 40 } },
        { "a generator after its critic", { 0 } },
        { "sizes that vary", { 5, 9, 14, 7, 21, 16, 8, 30, 11, 5, 26, 18, 6, 12 } },
        { "a little more", { 5, 5, 5, 5, 5, 5, 5, 5, 5, 8, 5, 5, 5, 5 } },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].what);
        uint64_t layers[24];
        memcpy(layers, rows[i].layers, sizeof rows[i].layers);
        size_t count = T_COUNT(rows[i].layers);
        if (i == 3) {
            for (count = 0; count < 24; count++) {
                layers[count] = count % 6 == 5 ? 16 : 5;
            }
        }
        diagnosed all = diagnose_steps(layers, count);
        const plim_diagnosis_finding *const spike = find(&all, PLIM_VERDICT_SPIKE);
        T_TRUE(spike == NULL || !spike->decides);
        end(&all);
    }
}

/* --- what each step holds for a moment --- */

static diagnosed diagnose_moments(uint64_t bytes, uint64_t later)
{
    program made;
    program_begin(&made);
    (void)program_alloc(&made, 1, KIB(10), CODE_BUILD);
    for (uint64_t step = 0; step < 6; step++) {
        program_annotate(&made, "train_step", true);
        (void)program_alloc(&made, 2, bytes, CODE_MAIN);
        (void)program_free(&made, 2, bytes);
        for (uint64_t i = 0; i < 8; i++) {
            (void)program_alloc(&made, 3, later, CODE_OTHER);
            (void)program_free(&made, 3, later);
        }
        program_annotate(&made, "train_step", false);
    }
    return diagnose(&made);
}

static void a_tensor_that_dwarfs_all_else_is_a_spike(void)
{
    diagnosed all = diagnose_moments(KIB(200), KIB(10));
    T_EQ_STR(plim_verdict_name(all.device->verdict), "spike");
    T_EQ_U64(all.device->findings[0].bytes, KIB(200) - KIB(10));
    T_EQ_U64(line_of(&all, &all.device->findings[0]), 10);
    t_fail_each_allocation(attempt, all.made.history);
    end(&all);
    all = diagnose_moments(KIB(60), KIB(10)); /* 3.5 times */
    T_EQ_STR(plim_verdict_name(all.device->verdict), "healthy");
    T_NOT_NULL(find(&all, PLIM_VERDICT_SPIKE));
    T_FALSE(find(&all, PLIM_VERDICT_SPIKE)->decides);
    end(&all);
    all = diagnose_moments(KIB(12), KIB(10));
    T_NULL(find(&all, PLIM_VERDICT_SPIKE));
    end(&all);
}

/* --- failures --- */

/* Small requests of a forward pass, then a few large ones, the last of which fails. */
static diagnosed diagnose_failure(uint64_t layers, uint64_t bytes, const program_code *large,
                                  size_t count)
{
    program made;
    begin(&made);
    for (uint64_t i = 0; i < layers; i++) {
        (void)program_alloc(&made, 100 + i, bytes, CODE_FORWARD);
    }
    for (size_t i = 0; i + 1 < count; i++) {
        (void)program_alloc(&made, 300 + i, KIB(5000), large[i]);
    }
    (void)program_push(&made, PLIM_OOM, 0, KIB(5000), large[count - 1]);
    return diagnose(&made);
}

static void a_few_large_tensors_after_many_small_ones_are_a_spike(void)
{
    const program_code large[] = { CODE_MAIN, CODE_NOBODY };
    diagnosed all = diagnose_failure(20, KIB(100), large, 2);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "spike");
    T_EQ_U64(all.device->findings[0].bytes, 2 * KIB(5000));
    T_EQ_U64(line_of(&all, &all.device->findings[0]), 10);
    t_fail_each_allocation(attempt, all.made.history);
    end(&all);
}

static void layers_alike_are_no_spike(void)
{
    const program_code same[] = { CODE_MAIN, CODE_MAIN, CODE_MAIN };
    diagnosed all = diagnose_failure(20, KIB(100), same, 3);
    T_NULL(find(&all, PLIM_VERDICT_SPIKE));
    end(&all);
    const program_code first[] = { CODE_MAIN, CODE_OTHER };
    all = diagnose_failure(2, KIB(100), first, 2); /* nothing came before */
    T_NULL(find(&all, PLIM_VERDICT_SPIKE));
    end(&all);
    all = diagnose_failure(20, KIB(1500), first, 2); /* not much larger than the rest */
    T_NULL(find(&all, PLIM_VERDICT_SPIKE));
    end(&all);
}

/* --- states --- */

/* A step with two states for each of four weights; it fails at request `fails` of them. */
static void adam_step(program *at, size_t step, uint64_t fails)
{
    for (uint64_t i = 0; i < 4; i++) {
        (void)program_alloc(at, 100 + i, KIB(10), CODE_FORWARD);
    }
    for (uint64_t i = 0; i < 4; i++) {
        (void)program_alloc(at, 20 + i, KIB(100), CODE_NOBODY);
        (void)program_free(at, 103 - i, KIB(10));
    }
    for (uint64_t i = 0; step == 0 && i < 8; i++) {
        if (i == fails) {
            (void)program_push(at, PLIM_OOM, 0, KIB(100), CODE_STATE);
            return;
        }
        (void)program_alloc(at, 30 + i, KIB(100), CODE_STATE);
    }
    (void)program_alloc(at, 50, KIB(100), CODE_OPTIMIZER);
    (void)program_free(at, 50, KIB(100));
    for (uint64_t i = 0; i < 4; i++) {
        (void)program_free(at, 20 + i, KIB(100));
    }
}

static void states_that_do_not_fit_are_first_step_growth(void)
{
    program made;
    begin(&made);
    adam_step(&made, 0, 5);
    diagnosed all = diagnose_with_failures(&made);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "first_step_growth");
    T_EQ_STR(all.device->findings[0].finding.id, "first_step_growth.optimizer_states");
    T_EQ_U64(all.device->findings[0].bytes, 6 * KIB(100));
    end(&all);
}

static void a_second_step_that_states_leave_no_room_for_is_too(void)
{
    program made;
    begin(&made);
    adam_step(&made, 0, UINT64_MAX);
    for (uint64_t i = 0; i < 4; i++) {
        (void)program_alloc(&made, 100 + i, KIB(10), CODE_FORWARD);
    }
    (void)program_alloc(&made, 20, KIB(100), CODE_NOBODY);
    (void)program_push(&made, PLIM_OOM, 0, KIB(100), CODE_NOBODY);
    diagnosed all = diagnose_with_failures(&made);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "first_step_growth");
    T_EQ_U64(all.device->findings[0].bytes, 8 * KIB(100));
    end(&all);
}

static void states_that_fit_are_a_note(void)
{
    program made;
    begin(&made);
    for (size_t step = 0; step < 4; step++) {
        adam_step(&made, step, UINT64_MAX);
    }
    diagnosed all = diagnose(&made);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "healthy");
    const plim_diagnosis_finding *const note = find(&all, PLIM_VERDICT_FIRST_STEP_GROWTH);
    T_NOT_NULL(note);
    T_FALSE(note->decides);
    T_EQ_STR(plim_severity_name(note->finding.severity), "note");
    T_EQ_U64(note->bytes, 8 * KIB(100));
    end(&all);
}

/* A failure many steps later is not the states'. */
static void later_failures_are_not_of_states(void)
{
    program made;
    begin(&made);
    for (size_t step = 0; step < 4; step++) {
        adam_step(&made, step, UINT64_MAX);
    }
    (void)program_alloc(&made, 100, KIB(10), CODE_FORWARD);
    (void)program_push(&made, PLIM_OOM, 0, KIB(9000), CODE_FORWARD);
    diagnosed all = diagnose(&made);
    const plim_diagnosis_finding *const note = find(&all, PLIM_VERDICT_FIRST_STEP_GROWTH);
    T_TRUE(note == NULL || !note->decides);
    end(&all);
}

T_MAIN(T_TEST(evaluation_that_records_a_graph_is_a_spike),
       T_TEST(large_evaluation_in_every_step_is_a_note),
       T_TEST(large_evaluation_now_and_then_is_a_spike), T_TEST(small_evaluation_is_no_finding),
       T_TEST(evaluation_that_runs_out_of_memory_is_a_spike),
       T_TEST(one_batch_far_larger_is_a_spike), T_TEST(steps_that_differ_are_no_spike),
       T_TEST(a_tensor_that_dwarfs_all_else_is_a_spike),
       T_TEST(a_few_large_tensors_after_many_small_ones_are_a_spike),
       T_TEST(layers_alike_are_no_spike), T_TEST(states_that_do_not_fit_are_first_step_growth),
       T_TEST(a_second_step_that_states_leave_no_room_for_is_too),
       T_TEST(states_that_fit_are_a_note), T_TEST(later_failures_are_not_of_states))
