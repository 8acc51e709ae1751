/*
 * test_advice.c - the peak of a history that is changed, and what is advised with which figure.
 */
#include "diagnose/advice/what_if.h"
#include "phases/program.h"
#include "plimsoll/diagnose.h"

#include <stdlib.h>

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

/* The bytes that a technique is said to save; 0: it is not advised. */
static uint64_t saving_of(const diagnosed *all, const char *technique)
{
    for (size_t i = 0; i < all->device->advice_count; i++) {
        if (strcmp(all->device->advice[i].technique, technique) == 0) {
            return all->device->advice[i].saves_bytes;
        }
    }
    return 0;
}

/* --- the walker --- */

/* 100 for good, then two hills: 400 and 300 high. */
static void two_hills(program *made)
{
    program_begin(made);
    (void)program_alloc(made, 1, 100, CODE_BUILD);   /* event 0 */
    (void)program_alloc(made, 2, 300, CODE_FORWARD); /* event 1: 400 */
    (void)program_free(made, 2, 300);                /* events 2 and 3 */
    (void)program_alloc(made, 3, 200, CODE_FORWARD); /* event 4: 300 */
    (void)program_free(made, 3, 200);
}

static void changes_are_limited_by_the_next_hill(void)
{
    program made;
    two_hills(&made);
    const plim_device_history *const device = program_end(&made);
    plim_timeline timeline;
    T_TRUE(plim_timeline_init(&timeline, made.history, device, NULL, NULL) == PLIM_OK);
    plim_what_if what_if;
    T_TRUE(plim_what_if_init(&what_if, &timeline, plim_mem_or_heap(NULL), NULL) == PLIM_OK);
    T_EQ_U64(what_if.peak_bytes, 400);
    T_EQ_I64(what_if.peak_event, 1);
    T_EQ_U64(plim_what_if_saves(&what_if), 0);
    plim_what_if_less(&what_if, 50, 1, 2);
    T_EQ_U64(plim_what_if_saves(&what_if), 50);
    plim_what_if_less(&what_if, 300, 1, 2); /* the other hill is 300 high */
    T_EQ_U64(plim_what_if_saves(&what_if), 100);
    plim_what_if_less(&what_if, 300, 1, 2);
    plim_what_if_less(&what_if, 150, 4, PLIM_NEVER);
    T_EQ_U64(plim_what_if_saves(&what_if), 250);
    plim_what_if_less(&what_if, 100, PLIM_AT_START, PLIM_NEVER); /* from before its birth too */
    T_EQ_U64(plim_what_if_saves(&what_if), 100);
    plim_what_if_less(&what_if, 300, 1, 2); /* and what comes back elsewhere */
    plim_what_if_more(&what_if, 80, 4, 5);
    T_EQ_U64(plim_what_if_saves(&what_if), 20);
    plim_what_if_more(&what_if, 1000, 3, 4); /* more than before saves nothing */
    T_EQ_U64(plim_what_if_saves(&what_if), 0);
    plim_what_if_less(&what_if, 300, 2, 2); /* an empty range, and one that is turned round */
    plim_what_if_less(&what_if, 300, PLIM_NEVER, 1);
    T_EQ_U64(plim_what_if_saves(&what_if), 0);
    plim_what_if_deinit(&what_if);
    plim_what_if_deinit(&what_if);
    plim_timeline_deinit(&timeline);
    plim_history_destroy(made.history);
}

/* --- a model of blocks --- */

#define BLOCKS 4u
#define WIDE   (64u << 10) /* what a block saves besides its output */
#define OUTPUT (16u << 10)
#define MATRIX 4096u /* a weight, its gradient, each of its two states */
#define LOSS   (8u << 10)

typedef struct blocky {
    uint64_t steps;
    bool keeps_gradients;
} blocky;

/* In a block: norm, wide, two small ones that go at once, output. */
static void block_forward(program *at, uint64_t block)
{
    (void)program_alloc(at, 100 + block, 1000, CODE_FORWARD);
    (void)program_alloc(at, 120 + block, WIDE, CODE_FORWARD);
    (void)program_alloc(at, 140, 700, CODE_FORWARD);
    (void)program_free(at, 140, 700);
    (void)program_alloc(at, 160 + block, OUTPUT, CODE_FORWARD);
}

static void block_backward(program *at, uint64_t block, bool makes)
{
    (void)program_alloc(at, 180, WIDE, CODE_NOBODY);
    (void)program_free(at, 120 + block, WIDE);
    (void)program_alloc(at, makes ? 200 + block : 220, MATRIX, CODE_NOBODY);
    if (!makes) {
        (void)program_free(at, 220, MATRIX);
    }
    (void)program_free(at, 100 + block, 1000);
    (void)program_free(at, 180, WIDE);
    (void)program_free(at, 160 + block, OUTPUT);
}

static void blocky_step(program *at, const blocky *run, uint64_t step)
{
    for (uint64_t i = 0; i < BLOCKS; i++) {
        block_forward(at, i);
    }
    (void)program_alloc(at, 170, LOSS, CODE_FORWARD);
    (void)program_alloc(at, 171, LOSS, CODE_NOBODY); /* the backward pass begins */
    (void)program_free(at, 170, LOSS);
    (void)program_free(at, 171, LOSS);
    for (uint64_t i = BLOCKS; i-- > 0;) {
        block_backward(at, i, step == 0 || !run->keeps_gradients);
    }
    for (uint64_t i = 0; step == 0 && i < 2 * (uint64_t)BLOCKS; i++) {
        (void)program_alloc(at, 240 + i, MATRIX, CODE_STATE);
    }
    for (uint64_t i = 0; i < BLOCKS; i++) {
        (void)program_alloc(at, 260 + i, MATRIX, CODE_OPTIMIZER);
    }
    for (uint64_t i = 0; i < BLOCKS; i++) {
        (void)program_free(at, 260 + i, MATRIX);
    }
    for (uint64_t i = 0; i < BLOCKS && !run->keeps_gradients; i++) {
        (void)program_free(at, 200 + i, MATRIX);
    }
}

static diagnosed diagnose_blocky(const blocky *run)
{
    program made;
    program_begin(&made);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        (void)program_alloc(&made, 10 + i, MATRIX, CODE_BUILD);
    }
    for (uint64_t i = 0; i < run->steps; i++) {
        blocky_step(&made, run, i);
    }
    return diagnose(&made);
}

#define SAVED_OF_BLOCK (1000u + WIDE)

static void blocks_are_found_and_recomputed(void)
{
    const blocky run = { .steps = 4 };
    diagnosed all = diagnose_blocky(&run);
    /* The highest moment is when the last block's backward pass begins: with all of its own, and
     * with nothing but the outputs of the three before it. */
    T_EQ_U64(saving_of(&all, "checkpointing"), (BLOCKS - 1) * SAVED_OF_BLOCK);
    T_EQ_U64(saving_of(&all, "checkpointing_half"), 2 * SAVED_OF_BLOCK);
    for (size_t i = 0; i < all.device->advice_count; i++) {
        const plim_diagnosis_advice *const advice = &all.device->advice[i];
        T_TRUE(advice->text != NULL && advice->technique != NULL);
        T_TRUE(advice->cost_rank >= 0 && advice->cost_rank <= 1);
        T_TRUE(!advice->has_saving ||
               advice->saves_bytes <= all.device->facts->peak.requested_bytes);
    }
    end(&all);
}

static void states_and_batches_have_their_figures(void)
{
    const blocky run = { .steps = 4 };
    diagnosed all = diagnose_blocky(&run);
    const uint64_t states = 2 * (uint64_t)BLOCKS * MATRIX;
    T_EQ_U64(saving_of(&all, "sgd"), states);
    T_EQ_U64(saving_of(&all, "momentum"), states / 2);
    T_EQ_U64(saving_of(&all, "optimizer_offload"), states);
    const uint64_t peak = all.device->facts->peak.requested_bytes;
    const uint64_t model = BLOCKS * (uint64_t)MATRIX + states;
    T_EQ_U64(saving_of(&all, "smaller_batch"), (peak - model) / 2);
    T_EQ_U64(saving_of(&all, "set_to_none"), 0);    /* in force */
    T_EQ_U64(saving_of(&all, "sharded_states"), 0); /* nothing says that there are ranks */
    T_EQ_U64(saving_of(&all, "chunked_loss"), 0);
    end(&all);
}

static void gradients_that_stay_are_freed(void)
{
    const blocky run = { .steps = 4, .keeps_gradients = true };
    diagnosed all = diagnose_blocky(&run);
    T_EQ_U64(saving_of(&all, "set_to_none"), BLOCKS * (uint64_t)MATRIX);
    end(&all);
}

/* --- what is not there --- */

static void without_events_or_on_request_there_is_none(void)
{
    program made;
    two_hills(&made);
    (void)program_end(&made);
    const plim_diagnose_options options = { .findings_only = true };
    plim_diagnosis *diagnosis = NULL;
    T_TRUE(plim_diagnose(made.history, &options, &diagnosis, NULL) == PLIM_OK);
    T_EQ_U64(plim_diagnosis_device(diagnosis, 0)->advice_count, 0);
    plim_diagnosis_destroy(diagnosis);
    plim_history_destroy(made.history);
    program_begin(&made);
    diagnosed empty = diagnose(&made);
    T_EQ_U64(empty.device->advice_count, 0);
    end(&empty);
}

static void hostile_histories_are_harmless(void)
{
    program made;
    program_begin(&made);
    for (uint64_t i = 0; i < 64; i++) { /* bytes whose sum and square wrap, addresses taken twice */
        (void)program_alloc(&made, i % 5, UINT64_MAX - i, CODE_BUILD);
        (void)program_alloc(&made, i % 7, UINT64_C(1) << (i % 64), CODE_FORWARD);
        (void)program_alloc(&made, i % 3, 0, CODE_NOBODY);
        (void)program_free(&made, i % 11, 1);
        (void)program_alloc(&made, 50, 65536, i % 2 == 0 ? CODE_OPTIMIZER : CODE_STATE);
    }
    diagnosed all = diagnose(&made);
    end(&all);
}

/* Settings are searched for where there is a budget; the change is a line of shell. */
static void settings_are_tried_within_a_budget(void)
{
    const blocky run = { .steps = 2 };
    program made;
    program_begin(&made);
    for (uint64_t i = 0; i < run.steps; i++) {
        blocky_step(&made, &run, i);
    }
    (void)program_end(&made);
    const plim_diagnose_options options = { .budget_seconds = 5 };
    plim_diagnosis *diagnosis = NULL;
    T_TRUE(plim_diagnose(made.history, &options, &diagnosis, NULL) == PLIM_OK);
    const plim_device_diagnosis *const device = plim_diagnosis_device(diagnosis, 0);
    for (size_t i = 0; i < device->advice_count; i++) {
        if (device->advice[i].basis == PLIM_BASIS_REPLAYED) {
            T_TRUE(strstr(device->advice[i].change, "PYTORCH_CUDA_ALLOC_CONF") != NULL);
        }
    }
    plim_diagnosis_destroy(diagnosis);
    plim_history_destroy(made.history);
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
    const blocky run = { .steps = 3, .keeps_gradients = true };
    diagnosed all = diagnose_blocky(&run);
    t_fail_each_allocation(attempt, all.made.history);
    end(&all);
}

T_MAIN(T_TEST(changes_are_limited_by_the_next_hill), T_TEST(blocks_are_found_and_recomputed),
       T_TEST(states_and_batches_have_their_figures), T_TEST(gradients_that_stay_are_freed),
       T_TEST(without_events_or_on_request_there_is_none), T_TEST(hostile_histories_are_harmless),
       T_TEST(settings_are_tried_within_a_budget), T_TEST(each_allocation_may_fail))
