/*
 * test_categories.c - what memory is for, from who requested it and how long it lived.
 */
#include "base/memory.h"
#include "phases/categories.h"
#include "phases/program.h"

typedef struct sorted {
    program made;
    const plim_device_history *device;
    plim_timeline timeline;
    plim_categories categories;
} sorted;

static sorted sort(program *made)
{
    sorted all = { .made = *made, .device = program_end(made) };
    T_TRUE(plim_timeline_init(&all.timeline, made->history, all.device, NULL, NULL) == PLIM_OK);
    T_TRUE(plim_categories_init(&all.categories, &all.timeline, NULL, NULL) == PLIM_OK);
    return all;
}

static void end(sorted *all)
{
    plim_categories_deinit(&all->categories);
    plim_categories_deinit(&all->categories);
    plim_timeline_deinit(&all->timeline);
    plim_history_destroy(all->made.history);
}

static plim_category category_at(const sorted *all, uint64_t event)
{
    const uint64_t id = plim_timeline_recorded_id(&all->timeline, event);
    return (plim_category)all->categories.of[id];
}

/* The category of the first allocation under a name at or after an event. */
static const char *category_of(const sorted *all, uint64_t name, uint64_t from)
{
    for (uint64_t i = from; i < all->device->events.count; i++) {
        if (all->device->events.action[i] == PLIM_ALLOC &&
            all->device->events.addr[i] == name << 40) {
            return plim_category_name(category_at(all, i));
        }
    }
    return "none";
}

static const struct {
    const char *what;
    training run;
} trainings[] = {
    { "named", { .steps = 3, .batches = 1, .has_names = true, .has_optimizer = true } },
    { "named, batches", { .steps = 3, .batches = 4, .has_names = true, .has_optimizer = true } },
    { "bursts", { .steps = 3, .batches = 1, .has_optimizer = true } },
    { "gradients kept",
      { .steps = 3, .batches = 1, .has_optimizer = true, .keeps_gradients = true } },
    { "no word of the optimizer", { .steps = 3, .batches = 1 } },
};

static void memory_of_training_is_for_what_the_program_says(void)
{
    static const struct {
        uint64_t name;
        const char *category;
    } names[] = {
        { 1, "parameters" },       { 2, "parameters" }, { 10, "inputs" },
        { 11, "activations" },     { 12, "temporary" }, { 13, "other" },
        { 14, "activations" },     { 15, "temporary" }, { 20, "gradients" },
        { 22, "gradients" },       { 21, "temporary" }, { 30, "optimizer_state" },
        { 33, "optimizer_state" }, { 40, "temporary" }, { 41, "temporary" },
    };
    for (size_t i = 0; i < T_COUNT(trainings); i++) {
        training run = trainings[i].run;
        program made;
        program_begin(&made);
        training_run(&made, &run);
        sorted all = sort(&made);
        for (size_t k = 0; k < T_COUNT(names); k++) {
            T_CASE("%s: %" PRIu64, trainings[i].what, names[k].name);
            const char *const found = category_of(&all, names[k].name, 0);
            if (strcmp(found, "none") != 0) {
                T_EQ_STR(found, names[k].category);
            }
        }
        end(&all);
    }
}

static void what_is_recomputed_is_an_activation_until_it_is_used(void)
{
    program made;
    program_begin(&made);
    (void)program_alloc(&made, 1, 4096, CODE_BUILD);
    (void)program_alloc(&made, 2, 5000, CODE_FORWARD);
    (void)program_alloc(&made, 3, 600, CODE_NOBODY);
    (void)program_alloc(&made, 4, 7000, CODE_RECOMPUTE);
    (void)program_alloc(&made, 5, 800, CODE_RECOMPUTE);
    (void)program_free(&made, 5, 800);
    (void)program_alloc(&made, 6, 4096, CODE_NOBODY);
    (void)program_free(&made, 4, 7000);
    (void)program_free(&made, 3, 600);
    (void)program_free(&made, 2, 5000);
    (void)program_alloc(&made, 7, 100, CODE_OTHER);
    (void)program_free(&made, 6, 4096);
    (void)program_alloc(&made, 8, 100, CODE_OTHER);
    sorted all = sort(&made);
    T_EQ_STR(category_of(&all, 2, 0), "activations");
    T_EQ_STR(category_of(&all, 3, 0), "temporary");
    T_EQ_STR(category_of(&all, 4, 0), "activations");
    T_EQ_STR(category_of(&all, 5, 0), "temporary");
    T_EQ_STR(category_of(&all, 6, 0), "gradients");
    end(&all);
}

static void objects_made_apart_from_the_model_are_no_weights(void)
{
    program made;
    program_begin(&made);
    (void)program_alloc(&made, 1, 4096, CODE_BUILD);
    (void)program_alloc(&made, 2, 1u << 20, CODE_CACHE);
    (void)program_alloc(&made, 3, 512, CODE_FORWARD);
    (void)program_free(&made, 3, 512);
    sorted all = sort(&made);
    T_EQ_STR(category_of(&all, 1, 0), "parameters");
    T_EQ_STR(category_of(&all, 2, 0), "other");
    end(&all);
}

static void the_source_has_the_first_word(void)
{
    static const struct {
        const char *name;
        const char *category;
    } rows[] = {
        { "PARAMETER", "parameters" },
        { "OPTIMIZER_STATE", "optimizer_state" },
        { "Category.GRADIENT", "gradients" },
        { "autograd_detail", "activations" },
        { "Autograd Detail", "activations" },
        { "INPUT", "inputs" },
        { "TEMPORARY", "temporary" },
        { "ACTIVATION", "activations" },
        { "Unknown", "other" },
        { "weights", "parameters" },
        { "optimizer_state", "optimizer_state" },
        { "no such thing", "parameters" }, /* so the stack decides */
        { "a name that is longer than all names that there are", "parameters" },
        { "", "parameters" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].name);
        program made;
        program_begin(&made);
        plim_note note = { .compile_context = PLIM_NONE,
                           .user_metadata = PLIM_NONE,
                           .forward_stack = PLIM_NONE };
        T_TRUE(plim_history_add_string(made.history, rows[i].name, strlen(rows[i].name),
                                       &note.category, NULL) == PLIM_OK);
        T_TRUE(plim_history_add_note(made.history, &note, &made.note, NULL) == PLIM_OK);
        (void)program_alloc(&made, 1, 4096, CODE_BUILD);
        sorted all = sort(&made);
        T_EQ_STR(category_of(&all, 1, 0), rows[i].category);
        end(&all);
    }
}

static void what_stood_at_the_start_is_told_by_sizes(void)
{
    training run = { .steps = 2, .batches = 1, .has_names = true, .has_optimizer = true };
    program made;
    program_begin(&made);
    training_step(&made, &run, 1);
    training_step(&made, &run, 1);
    /* A gradient each of WEIGHT and 2 WEIGHT; three blocks of the first size: a weight and two
     * states. */
    const uint64_t sizes[] = { WEIGHT, WEIGHT, WEIGHT, 2 * WEIGHT, 12345 };
    plim_segment segment = { .addr = UINT64_C(1) << 60, .stack = PLIM_NONE, .block_count = 5 };
    for (size_t i = 0; i < 5; i++) {
        const plim_block block = { .addr = segment.addr + segment.bytes,
                                   .bytes = 16384,
                                   .requested_bytes = sizes[i],
                                   .stack = PLIM_NONE,
                                   .state = PLIM_BLOCK_ACTIVE_ALLOCATED };
        T_TRUE(plim_history_push_block(made.history, &block, NULL) == PLIM_OK);
        segment.bytes += block.bytes;
    }
    T_TRUE(plim_history_push_segment(made.history, &segment, NULL) == PLIM_OK);
    const plim_device_ranges ranges = { .events = { .count = made.events },
                                        .segments = { .count = 1 },
                                        .blocks = { .count = 5 } };
    T_TRUE(plim_history_add_device(made.history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(made.history);
    const plim_device_history *device = plim_history_device(made.history, 0);
    plim_timeline timeline;
    plim_categories categories;
    T_TRUE(plim_timeline_init(&timeline, made.history, device, NULL, NULL) == PLIM_OK);
    T_TRUE(plim_categories_init(&categories, &timeline, NULL, NULL) == PLIM_OK);
    uint64_t sums[PLIM_CATEGORY_COUNT] = { 0 };
    plim_live live = plim_timeline_live(&timeline, PLIM_AT_START, false);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        sums[categories.of[one.id]] += one.requested_bytes;
    }
    T_EQ_U64(sums[PLIM_CATEGORY_PARAMETERS], 3 * WEIGHT);
    T_EQ_U64(sums[PLIM_CATEGORY_OPTIMIZER_STATE], 2 * WEIGHT);
    T_EQ_U64(sums[PLIM_CATEGORY_OTHER], 12345);
    plim_categories_deinit(&categories);
    plim_timeline_deinit(&timeline);
    plim_history_destroy(made.history);
}

static void without_stacks_lifetimes_tell(void)
{
    training run = { .steps = 3, .batches = 1, .has_names = true, .has_optimizer = true };
    program made;
    program_begin(&made);
    made.has_stacks = false;
    program_annotate(&made, "unrelated", true);
    (void)program_alloc(&made, 60, 555, CODE_NOBODY);
    (void)program_free(&made, 60, 555);
    training_run(&made, &run);
    sorted all = sort(&made);
    const uint64_t second = run.first_events[1];
    T_EQ_STR(category_of(&all, 11, second), "activations");
    T_EQ_STR(category_of(&all, 12, second), "temporary");
    T_EQ_STR(category_of(&all, 22, second), "gradients");
    T_EQ_STR(category_of(&all, 30, 0), "optimizer_state");
    T_EQ_STR(category_of(&all, 40, second), "temporary");
    end(&all);
}

/* Functional optimizers return new states in each step, so that those of the step before go with
 * the step, as gradients do. */
static void states_that_a_step_replaces_are_states(void)
{
    for (size_t i = 0; i < 8; i++) {
        const bool is_tail = (i & 4) != 0;
        training run = { .has_names = (i & 1) != 0, .batches = 1, .replaces_states = true };
        program made;
        program_begin(&made);
        made.has_stacks = (i & 2) == 0;
        if (!made.has_stacks && !run.has_names) {
            plim_history_destroy(made.history);
            continue; /* nothing tells an optimizer's step from a backward pass */
        }
        T_CASE("%s, %s, %s", run.has_names ? "named" : "not named",
               made.has_stacks ? "stacks" : "no stacks", is_tail ? "a tail" : "from the beginning");
        for (size_t step = is_tail ? 1 : 0; step < 4; step++) {
            training_step(&made, &run, step);
        }
        sorted all = sort(&made);
        uint64_t states = 0;
        uint64_t gradients = 0;
        plim_live live = plim_timeline_live(&all.timeline, PLIM_AT_START, false);
        plim_allocation one;
        while (plim_live_next(&live, &one)) {
            const uint8_t category = all.categories.of[one.id];
            states += category == PLIM_CATEGORY_OPTIMIZER_STATE ? one.requested_bytes : 0;
            gradients += category == PLIM_CATEGORY_GRADIENTS ? one.requested_bytes : 0;
        }
        T_EQ_U64(states, is_tail ? 6 * WEIGHT : 0);
        T_EQ_U64(gradients, 0);
        for (uint64_t name = 50; name < 58; name++) {
            T_EQ_STR(category_of(&all, name, 0), "optimizer_state");
        }
        T_EQ_STR(category_of(&all, 22, run.first_events[2]), "gradients");
        end(&all);
    }
}

static void where_nothing_repeats_nothing_is_said(void)
{
    program made;
    program_begin(&made);
    made.has_stacks = false;
    for (uint64_t i = 0; i < 20; i++) {
        (void)program_alloc(&made, i + 1, 1000 * i + 7 * i * i, CODE_NOBODY);
    }
    sorted all = sort(&made);
    for (uint64_t i = 0; i < all.device->events.count; i++) {
        T_EQ_U64(category_at(&all, i), PLIM_CATEGORY_OTHER);
    }
    end(&all);
}

static void any_order_of_events_is_sorted(void)
{
    for (size_t round = 0; round < 300; round++) {
        program made;
        program_begin(&made);
        const uint64_t events = t_random() % 60;
        for (uint64_t i = 0; i < events; i++) {
            if (t_random() % 6 == 0) {
                program_annotate(&made, "Optimizer.step#X.step", t_random() % 2 == 0);
            }
            made.time_us = t_random() % 5 == 0 ? (int64_t)(t_random() % 1000) : made.time_us;
            (void)program_push(&made, (uint8_t)(t_random() % 4), t_random() % 6, t_random() % 9,
                               (program_code)(t_random() % CODE_COUNT));
        }
        sorted all = sort(&made);
        for (uint64_t i = 0; i < events; i++) {
            T_TRUE(category_at(&all, i) < PLIM_CATEGORY_COUNT);
        }
        end(&all);
    }
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    const sorted *of = ctx;
    plim_categories categories = { 0 };
    const plim_status status = plim_categories_init(&categories, &of->timeline, mem, NULL);
    T_TRUE(status == PLIM_OK || (status == PLIM_OUT_OF_HOST_MEMORY && categories.mem == NULL));
    plim_categories_deinit(&categories);
    return status == PLIM_OK;
}

static void each_allocation_may_fail(void)
{
    for (size_t i = 0; i < 2 * T_COUNT(trainings); i++) {
        T_CASE("%s%s", trainings[i / 2].what, i % 2 == 0 ? "" : ", no stacks");
        training run = trainings[i / 2].run;
        program made;
        program_begin(&made);
        made.has_stacks = i % 2 == 0;
        training_run(&made, &run);
        sorted all = sort(&made);
        t_fail_each_allocation(attempt, &all);
        end(&all);
    }
}

static void names_are_found_again(void)
{
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        plim_category found = PLIM_CATEGORY_COUNT;
        T_TRUE(plim_category_find(plim_category_name((plim_category)i), &found));
        T_EQ_U64(found, i);
        T_TRUE(plim_category_text((plim_category)i)[0] != '\0');
    }
    plim_category found = PLIM_CATEGORY_INPUTS;
    T_FALSE(plim_category_find("nonsense", &found));
    T_EQ_U64(found, PLIM_CATEGORY_INPUTS);
}

T_MAIN(T_TEST(memory_of_training_is_for_what_the_program_says),
       T_TEST(what_is_recomputed_is_an_activation_until_it_is_used),
       T_TEST(objects_made_apart_from_the_model_are_no_weights),
       T_TEST(the_source_has_the_first_word), T_TEST(what_stood_at_the_start_is_told_by_sizes),
       T_TEST(without_stacks_lifetimes_tell), T_TEST(states_that_a_step_replaces_are_states),
       T_TEST(where_nothing_repeats_nothing_is_said), T_TEST(any_order_of_events_is_sorted),
       T_TEST(each_allocation_may_fail), T_TEST(names_are_found_again))
