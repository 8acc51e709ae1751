/*
 * test_steps.c - steps from names, bursts and repetition, and none where nothing says so.
 */
#include "phases/program.h"
#include "plimsoll/phases.h"

typedef struct found {
    program made;
    plim_steps steps;
} found;

static found find(program *made)
{
    found all = { .made = *made };
    const plim_device_history *device = program_end(made);
    T_TRUE(plim_steps_init(&all.steps, made->history, device, NULL, NULL) == PLIM_OK);
    for (size_t i = 0; i < all.steps.count; i++) {
        T_TRUE(all.steps.first_events[i] < all.steps.first_events[i + 1]);
        T_TRUE(all.steps.first_events[i + 1] <= device->events.count);
    }
    return all;
}

static void end(found *all)
{
    plim_steps_deinit(&all->steps);
    plim_steps_deinit(&all->steps);
    plim_history_destroy(all->made.history);
}

static const struct {
    const char *what;
    training run;
    bool has_stacks;
    plim_steps_source source;
} trainings[] = {
    { "named",
      { .steps = 3, .batches = 1, .has_names = true, .has_optimizer = true },
      true,
      PLIM_STEPS_ANNOTATED },
    { "named, four batches a step",
      { .steps = 3, .batches = 4, .has_names = true, .has_optimizer = true },
      true,
      PLIM_STEPS_ANNOTATED },
    { "named, an optimizer that asks for nothing",
      { .steps = 4, .batches = 2, .has_names = true },
      true,
      PLIM_STEPS_ANNOTATED },
    { "named, no stacks",
      { .steps = 3, .batches = 1, .has_names = true },
      false,
      PLIM_STEPS_ANNOTATED },
    { "bursts", { .steps = 5, .batches = 1, .has_optimizer = true }, true, PLIM_STEPS_OPTIMIZER },
    { "bursts, three batches a step",
      { .steps = 2, .batches = 3, .has_optimizer = true },
      true,
      PLIM_STEPS_OPTIMIZER },
    { "bursts, gradients kept",
      { .steps = 4, .batches = 1, .has_optimizer = true, .keeps_gradients = true },
      true,
      PLIM_STEPS_OPTIMIZER },
    { "repetition", { .steps = 6, .batches = 1 }, true, PLIM_STEPS_PERIOD },
    { "repetition, no stacks", { .steps = 8, .batches = 1 }, false, PLIM_STEPS_PERIOD },
};

static void steps_of_training_are_those_of_the_program(void)
{
    for (size_t i = 0; i < T_COUNT(trainings); i++) {
        T_CASE("%s", trainings[i].what);
        training run = trainings[i].run;
        program made;
        program_begin(&made);
        made.has_stacks = trainings[i].has_stacks;
        training_run(&made, &run);
        found all = find(&made);
        T_EQ_U64(all.steps.source, trainings[i].source);
        T_EQ_U64(all.steps.count, run.steps);
        /* Without stacks the weights repeat nothing, and are of the first step for all one can
         * tell; the end of the last one may be anywhere after its last request. */
        for (size_t k = trainings[i].has_stacks ? 0 : 1; k < run.steps; k++) {
            T_EQ_U64(all.steps.first_events[k], run.first_events[k]);
        }
        end(&all);
    }
}

static void spans_of_the_profiler_win(void)
{
    training run = { .steps = 2, .batches = 1, .has_names = true, .has_optimizer = true };
    program made;
    program_begin(&made);
    (void)program_alloc(&made, 1, WEIGHT, CODE_BUILD);
    uint64_t first = 0;
    for (size_t i = 0; i < 3; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "ProfilerStep#%zu", i + 7);
        program_annotate(&made, name, true);
        first = i == 0 ? made.events : first;
        training_step(&made, &run, i % 2);
        training_step(&made, &run, 1);
        program_annotate(&made, name, false);
    }
    const uint64_t last = made.events;
    (void)program_alloc(&made, 50, 4096, CODE_MAIN);
    found all = find(&made);
    T_EQ_U64(all.steps.source, PLIM_STEPS_ANNOTATED);
    T_EQ_U64(all.steps.count, 3);
    T_EQ_U64(all.steps.first_events[0], first);
    T_EQ_U64(all.steps.first_events[3], last);
    end(&all);
}

static void spans_named_like_steps_are_steps_if_there_are_more(void)
{
    static const struct {
        const char *format;
        size_t spans;
        size_t steps;
    } rows[] = {
        { "train_step", 3, 3 },    { "## Iteration %d ##", 4, 4 },
        { "Step %d", 2, 2 },       { "train_step", 1, 0 },
        { "stepper", 4, 0 },       { "aten::add", 4, 0 },
        { "training step", 3, 3 },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].format);
        program made;
        program_begin(&made);
        for (size_t k = 0; k < rows[i].spans; k++) {
            char name[48];
            (void)snprintf(name, sizeof name, "%s", rows[i].format);
            char *const digit = strstr(name, "%d");
            if (digit != NULL) {
                digit[0] = (char)('0' + k);
                digit[1] = ' ';
            }
            program_annotate(&made, name, true);
            (void)program_alloc(&made, k + 1, 1000 * (k + 1), CODE_MAIN);
            program_annotate(&made, name, false);
        }
        found all = find(&made);
        T_EQ_U64(all.steps.count, rows[i].steps);
        T_TRUE((all.steps.first_events == NULL) == (rows[i].steps == 0));
        end(&all);
    }
}

static void optimizers_inside_one_another_and_one_after_another_are_one(void)
{
    program made;
    program_begin(&made);
    for (size_t i = 0; i < 3; i++) {
        (void)program_alloc(&made, 1, 100, CODE_MAIN);
        (void)program_alloc(&made, 2, 200, CODE_FORWARD);
        program_annotate(&made, "Optimizer.step#ZeroRedundancyOptimizer.step", true);
        program_annotate(&made, "Optimizer.step#AdamW.step", true);
        (void)program_alloc(&made, 3, 300, CODE_OPTIMIZER);
        program_annotate(&made, "Optimizer.step#AdamW.step", false);
        program_annotate(&made, "Optimizer.step#ZeroRedundancyOptimizer.step", false);
        program_annotate(&made, "Optimizer.step#SGD.step", true);
        (void)program_free(&made, 3, 300);
        program_annotate(&made, "Optimizer.step#SGD.step", false);
        (void)program_free(&made, 2, 200);
        (void)program_free(&made, 1, 100);
    }
    found all = find(&made);
    T_EQ_U64(all.steps.count, 3);
    end(&all);
}

static void what_an_optimizer_did_not_end_is_no_step(void)
{
    program made;
    program_begin(&made);
    (void)program_alloc(&made, 1, WEIGHT, CODE_BUILD);
    training_batch(&made, true, false);
    program_annotate(&made, "Optimizer.step#AdamW.step", true);
    (void)program_alloc(&made, 30, WEIGHT, CODE_STATE);
    found all = find(&made);
    T_EQ_U64(all.steps.count, 0);
    T_EQ_U64(all.steps.source, PLIM_STEPS_NONE);
    end(&all);
}

static void a_torn_first_step_belongs_to_none(void)
{
    training run = { .steps = 3, .batches = 1, .has_names = true, .has_optimizer = true };
    program made;
    program_begin(&made);
    (void)program_alloc(&made, 15, HIDDEN, CODE_NOBODY); /* the ring buffer begins in backward */
    (void)program_free(&made, 15, HIDDEN);
    program_annotate(&made, "Optimizer.step#AdamW.step", true);
    (void)program_alloc(&made, 40, WEIGHT, CODE_OPTIMIZER);
    (void)program_free(&made, 40, WEIGHT);
    program_annotate(&made, "Optimizer.step#AdamW.step", false);
    training_step(&made, &run, 1);
    training_step(&made, &run, 2);
    found all = find(&made);
    T_EQ_U64(all.steps.count, 2);
    T_EQ_U64(all.steps.first_events[0], run.first_events[1]);
    end(&all);
}

static void layers_are_no_steps(void)
{
    program made;
    program_begin(&made);
    for (uint64_t i = 0; i < 40; i++) { /* one call of a model, forty layers */
        (void)program_alloc(&made, 5, 1000, CODE_FORWARD);
        (void)program_alloc(&made, 6, 2000, CODE_FORWARD);
        (void)program_alloc(&made, 7, 3000, CODE_FORWARD);
        (void)program_alloc(&made, 8, 4000, CODE_FORWARD);
        (void)program_free(&made, 5, 1000);
        (void)program_free(&made, 6, 2000);
        (void)program_free(&made, 7, 3000);
        (void)program_free(&made, 8, 4000);
    }
    found all = find(&made);
    T_EQ_U64(all.steps.count, 0);
    end(&all);
}

static void repetition_survives_what_lies_between(void)
{
    program made;
    program_begin(&made);
    uint64_t starts[20];
    for (uint64_t i = 0; i < 20; i++) {
        if (i == 10) { /* an evaluation */
            (void)program_alloc(&made, 50, 77777, CODE_OTHER);
            (void)program_free(&made, 50, 77777);
        }
        starts[i] = made.events;
        (void)program_alloc(&made, 1, 512, CODE_MAIN);
        for (uint64_t k = 0; k < 12; k++) {
            (void)program_alloc(&made, 2, 1000 + k * 512, CODE_FORWARD);
            (void)program_free(&made, 2, 1000 + k * 512);
        }
        (void)program_free(&made, 1, 512);
    }
    found all = find(&made);
    T_EQ_U64(all.steps.source, PLIM_STEPS_PERIOD);
    T_EQ_U64(all.steps.count, 20);
    T_EQ_U64(all.steps.first_events[0], starts[0]);
    T_EQ_U64(all.steps.first_events[15], starts[15]);
    end(&all);
}

static void growing_sizes_repeat_by_their_stacks(void)
{
    program made;
    program_begin(&made);
    for (uint64_t i = 0; i < 10; i++) { /* tokens, with a cache that grows */
        (void)program_alloc(&made, 1, 512, CODE_MAIN);
        (void)program_alloc(&made, 2, 4000 + 64 * i, CODE_FORWARD);
        (void)program_alloc(&made, 3, 9000, CODE_FORWARD);
        (void)program_alloc(&made, 4, 700 + i, CODE_OTHER);
        (void)program_alloc(&made, 5, 100 + i, CODE_FORWARD);
        for (uint64_t k = 1; k <= 5; k++) {
            (void)program_free(&made, k, 0);
        }
    }
    found all = find(&made);
    T_EQ_U64(all.steps.source, PLIM_STEPS_PERIOD);
    T_EQ_U64(all.steps.count, 10);
    end(&all);
}

/* --- turns of a loop, by the lines that call backward --- */

/* Forward, backward called from one of two lines, an optimizer's span. Sizes differ each time, so
 * that nothing repeats. */
static void turn(program *at, program_code backward, bool has_span)
{
    const uint64_t bytes = 1000 + 512 * at->events;
    (void)program_alloc(at, 1, bytes, CODE_MAIN);
    (void)program_alloc(at, 2, bytes + 1, CODE_FORWARD);
    (void)program_alloc(at, 3, 4, backward);
    (void)program_alloc(at, 4, bytes + 2, CODE_NOBODY);
    (void)program_free(at, 2, bytes + 1);
    (void)program_free(at, 3, 4);
    if (has_span) {
        program_annotate(at, "Optimizer.step#Adam.step", true);
        (void)program_alloc(at, 5, 64, CODE_OPTIMIZER);
        (void)program_free(at, 5, 64);
        program_annotate(at, "Optimizer.step#Adam.step", false);
    }
    (void)program_free(at, 4, bytes + 2);
    (void)program_free(at, 1, bytes);
}

static void two_optimizers_of_one_turn_are_one_step(void)
{
    for (size_t critics = 1; critics <= 5; critics += 4) {
        program made;
        program_begin(&made);
        uint64_t starts[8];
        for (size_t i = 0; i < 8; i++) {
            starts[i] = made.events;
            for (size_t k = 0; k < critics; k++) {
                turn(&made, CODE_BACKWARD_BESIDE, true);
            }
            turn(&made, CODE_BACKWARD, true);
        }
        found all = find(&made);
        T_EQ_U64(all.steps.source, PLIM_STEPS_ANNOTATED);
        T_EQ_U64(all.steps.count, 8);
        for (size_t i = 0; i < 8; i++) {
            T_EQ_U64(all.steps.first_events[i], starts[i]);
        }
        end(&all);
    }
}

static void loops_one_after_another_are_not_joined(void)
{
    program made;
    program_begin(&made);
    for (size_t i = 0; i < 18; i++) {
        turn(&made, i < 12 ? CODE_BACKWARD : CODE_BACKWARD_BESIDE, true);
    }
    found all = find(&made);
    T_EQ_U64(all.steps.count, 18);
    end(&all);
}

static void a_penalty_now_and_then_joins_no_steps(void)
{
    program made;
    program_begin(&made);
    for (size_t i = 0; i < 64; i++) {
        turn(&made, CODE_BACKWARD, true);
        if (i % 16 == 15) {
            turn(&made, CODE_BACKWARD_BESIDE, false);
        }
    }
    found all = find(&made);
    T_EQ_U64(all.steps.count, 64);
    end(&all);
}

/* The optimizer requests memory in three steps of twenty only, when states come. */
static void calls_of_backward_are_steps_where_optimizers_say_little(void)
{
    program made;
    program_begin(&made);
    uint64_t starts[20];
    for (uint64_t i = 0; i < 20; i++) {
        starts[i] = made.events;
        turn(&made, CODE_BACKWARD, false);
        if (i == 0 || i == 7 || i == 11) {
            (void)program_alloc(&made, 100 + i, 4096, CODE_STATE);
        }
    }
    (void)program_alloc(&made, 1, 512, CODE_MAIN);
    found all = find(&made);
    T_EQ_U64(all.steps.source, PLIM_STEPS_BACKWARD);
    T_EQ_U64(all.steps.count, 20);
    for (size_t i = 0; i < 20; i++) {
        T_EQ_U64(all.steps.first_events[i], starts[i]);
    }
    end(&all);
}

static void chance_is_no_repetition(void)
{
    program made;
    program_begin(&made);
    for (uint64_t i = 0; i < 3000; i++) {
        const uint64_t bytes = t_random() % 100000;
        (void)program_alloc(&made, i + 1, bytes, (program_code)(t_random() % CODE_COUNT));
        if (t_random() % 2 == 0) {
            (void)program_free(&made, t_random() % (i + 1) + 1, bytes);
        }
    }
    found all = find(&made);
    T_TRUE(all.steps.source != PLIM_STEPS_PERIOD);
    end(&all);
}

static void clocks_that_lie_are_borne(void)
{
    static const char *const names[] = { "ProfilerStep#1", "Optimizer.step#SGD.step", "step",
                                         "enumerate(DataLoader)#x", "Optimizer.zero_grad#S" };
    for (size_t round = 0; round < 200; round++) {
        program made;
        program_begin(&made);
        const uint64_t events = t_random() % 50;
        for (uint64_t i = 0; i < events; i++) {
            made.time_us = t_random() % 4 == 0 ? PLIM_TIME_UNKNOWN : (int64_t)t_random();
            (void)program_push(&made, (uint8_t)(t_random() % 12), t_random() % 8, t_random(),
                               (program_code)(t_random() % CODE_COUNT));
        }
        const uint64_t spans = t_random() % 40;
        for (uint64_t i = 0; i < spans; i++) {
            const int64_t time_us = t_random() % 8 == 0 ? PLIM_TIME_UNKNOWN : (int64_t)t_random();
            program_annotate_at(&made, names[t_random() % T_COUNT(names)], t_random() % 2 == 0,
                                time_us);
        }
        found all = find(&made);
        end(&all);
    }
}

static void a_million_spans_backwards_take_no_time(void)
{
    program made;
    program_begin(&made);
    for (int64_t i = 1000000; i-- > 0;) {
        program_annotate_at(&made, i % 3 == 0 ? "ProfilerStep#1" : "train_step", i % 2 == 0, i);
    }
    for (uint64_t i = 0; i < 1000; i++) {
        (void)program_alloc(&made, i + 1, 512, CODE_MAIN);
    }
    found all = find(&made);
    end(&all);
}

typedef struct attempt_of {
    const plim_history *history;
    const plim_device_history *device;
} attempt_of;

static bool attempt(const plim_mem *mem, void *ctx)
{
    const attempt_of *of = ctx;
    plim_steps steps = { 0 };
    plim_error err = { 0 };
    const plim_status status = plim_steps_init(&steps, of->history, of->device, mem, &err);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_TRUE(status == PLIM_OK || steps.first_events == NULL);
    plim_steps_deinit(&steps);
    return status == PLIM_OK;
}

static void each_allocation_may_fail(void)
{
    for (size_t i = 0; i < T_COUNT(trainings); i++) {
        T_CASE("%s", trainings[i].what);
        training run = trainings[i].run;
        program made;
        program_begin(&made);
        made.has_stacks = trainings[i].has_stacks;
        program_annotate_at(&made, "Optimizer.zero_grad#X", true, 2000);
        program_annotate_at(&made, "Optimizer.zero_grad#X", false, 1000);
        training_run(&made, &run);
        attempt_of of = { .history = made.history, .device = program_end(&made) };
        t_fail_each_allocation(attempt, &of);
        plim_history_destroy(made.history);
    }
    program made;
    program_begin(&made);
    for (size_t i = 0; i < 6; i++) {
        turn(&made, CODE_BACKWARD_BESIDE, false);
        turn(&made, CODE_BACKWARD, false);
    }
    attempt_of of = { .history = made.history, .device = program_end(&made) };
    t_fail_each_allocation(attempt, &of);
    plim_history_destroy(made.history);
}

T_MAIN(T_TEST(steps_of_training_are_those_of_the_program), T_TEST(spans_of_the_profiler_win),
       T_TEST(spans_named_like_steps_are_steps_if_there_are_more),
       T_TEST(optimizers_inside_one_another_and_one_after_another_are_one),
       T_TEST(what_an_optimizer_did_not_end_is_no_step), T_TEST(a_torn_first_step_belongs_to_none),
       T_TEST(layers_are_no_steps), T_TEST(repetition_survives_what_lies_between),
       T_TEST(growing_sizes_repeat_by_their_stacks),
       T_TEST(two_optimizers_of_one_turn_are_one_step),
       T_TEST(loops_one_after_another_are_not_joined),
       T_TEST(a_penalty_now_and_then_joins_no_steps),
       T_TEST(calls_of_backward_are_steps_where_optimizers_say_little),
       T_TEST(chance_is_no_repetition), T_TEST(clocks_that_lie_are_borne),
       T_TEST(a_million_spans_backwards_take_no_time), T_TEST(each_allocation_may_fail))
