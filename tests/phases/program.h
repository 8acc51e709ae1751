/*
 * program.h - histories of small programs, built event by event, with stacks as PyTorch has them.
 */
#ifndef PLIMSOLL_TESTS_PHASES_PROGRAM_H
#define PLIMSOLL_TESTS_PHASES_PROGRAM_H

#include "harness.h"
#include "history/builder.h"
#include "history/timeline.h"

#define TORCH "/opt/venv/lib/python3/site-packages/torch/"

/* Who asks for memory. */
typedef enum program_code {
    CODE_NOBODY, /* no stack */
    CODE_MAIN,   /* the program's own code */
    CODE_OTHER,  /* likewise, another line */
    CODE_BUILD,
    CODE_FORWARD,
    CODE_EVALUATE, /* the same modules, called from another line */
    CODE_RECOMPUTE,
    CODE_OPTIMIZER,
    CODE_STATE,
    CODE_BACKWARD,        /* backward() makes the first gradient */
    CODE_BACKWARD_BESIDE, /* likewise, called from another line */
    CODE_CACHE,           /* an object that is no module */
    CODE_COUNT,
} program_code;

typedef struct program {
    plim_history *history;
    uint32_t stacks[CODE_COUNT];
    uint32_t note;
    uint64_t events;
    int64_t time_us;
    bool has_stacks;
} program;

static inline uint32_t program_frame(program *at, const char *file, const char *name, uint32_t line)
{
    plim_frame frame = { .line = line, .fx = PLIM_NONE };
    uint32_t id = 0;
    T_TRUE(plim_history_add_string(at->history, file, strlen(file), &frame.filename, NULL) ==
           PLIM_OK);
    T_TRUE(plim_history_add_string(at->history, name, strlen(name), &frame.name, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_frame(at->history, &frame, &id, NULL) == PLIM_OK);
    return id;
}

/* A stack from pairs of file and name, innermost first; NULL ends them. */
static inline uint32_t program_stack(program *at, const char *const *words, uint32_t line)
{
    uint32_t frames[16];
    size_t count = 0;
    for (; words[2 * count] != NULL; count++) {
        frames[count] = program_frame(at, words[2 * count], words[2 * count + 1], line);
    }
    frames[count++] = program_frame(at, "/home/u/train.py", "main", 10);
    frames[count++] = program_frame(at, "/home/u/train.py", "<module>", 99);
    uint32_t stack = 0;
    T_TRUE(plim_history_add_stack(at->history, frames, count, &stack, NULL) == PLIM_OK);
    return stack;
}

/* What unpacks saved tensors runs in the engine's thread: no frame of the program outside. */
static inline uint32_t program_recompute(program *at)
{
    const uint32_t frames[] = {
        program_frame(at, TORCH "nn/modules/linear.py", "forward", 1),
        program_frame(at, TORCH "nn/modules/module.py", "_call_impl", 1),
        program_frame(at, TORCH "utils/checkpoint.py", "unpack_hook", 1),
    };
    uint32_t stack = 0;
    T_TRUE(plim_history_add_stack(at->history, frames, 3, &stack, NULL) == PLIM_OK);
    return stack;
}

static inline void program_begin(program *at)
{
    static const char *const none[] = { NULL };
    static const char *const build[] = { TORCH "nn/modules/linear.py", "__init__", NULL };
    static const char *const forward[] = { TORCH "nn/modules/linear.py", "forward",
                                           TORCH "nn/modules/module.py", "_call_impl", NULL };
    static const char *const optimizer[] = { TORCH "optim/adamw.py", "_multi_tensor_adamw",
                                             TORCH "optim/optimizer.py", "wrapper", NULL };
    static const char *const state[] = { TORCH "optim/adamw.py", "_init_group",
                                         TORCH "optim/adamw.py", "step", NULL };
    static const char *const cache[] = { "/home/u/cache.py", "__init__", "/home/u/cache.py", "make",
                                         NULL };
    *at = (program){ .has_stacks = true, .time_us = 1000 };
    T_TRUE(plim_history_create(NULL, &at->history, NULL) == PLIM_OK);
    at->stacks[CODE_NOBODY] = PLIM_NONE;
    at->stacks[CODE_MAIN] = program_stack(at, none, 1);
    static const char *const other[] = { "/home/u/train.py", "other", NULL };
    at->stacks[CODE_OTHER] = program_stack(at, other, 2);
    at->stacks[CODE_BUILD] = program_stack(at, build, 3);
    at->stacks[CODE_FORWARD] = program_stack(at, forward, 4);
    static const char *const evaluate[] = { TORCH "nn/modules/linear.py",
                                            "forward",
                                            TORCH "nn/modules/module.py",
                                            "_call_impl",
                                            "/home/u/train.py",
                                            "evaluate",
                                            NULL };
    at->stacks[CODE_EVALUATE] = program_stack(at, evaluate, 4);
    at->stacks[CODE_RECOMPUTE] = program_recompute(at);
    at->stacks[CODE_OPTIMIZER] = program_stack(at, optimizer, 5);
    at->stacks[CODE_STATE] = program_stack(at, state, 6);
    static const char *const backward[] = { TORCH "autograd/__init__.py", "_make_grads",
                                            TORCH "_tensor.py", "backward", NULL };
    static const char *const beside[] = { TORCH "autograd/__init__.py",
                                          "_make_grads",
                                          TORCH "_tensor.py",
                                          "backward",
                                          "/home/u/train.py",
                                          "judge",
                                          NULL };
    at->stacks[CODE_BACKWARD] = program_stack(at, backward, 8);
    at->stacks[CODE_BACKWARD_BESIDE] = program_stack(at, beside, 9);
    at->stacks[CODE_CACHE] = program_stack(at, cache, 7);
}

static inline uint64_t program_push(program *at, plim_action action, uint64_t addr, uint64_t bytes,
                                    program_code code)
{
    const plim_event event = { .addr = addr,
                               .bytes = bytes,
                               .time_ns = plim_time_ns(at->time_us),
                               .stack = at->has_stacks ? at->stacks[code] : PLIM_NONE,
                               .note = at->note,
                               .action = action };
    T_TRUE(plim_history_push_event(at->history, &event, NULL) == PLIM_OK);
    if (at->time_us != PLIM_TIME_UNKNOWN) {
        at->time_us += 10;
    }
    return at->events++;
}

/* Addresses are names here: each allocation has its own. Both return the event. */
static inline uint64_t program_alloc(program *at, uint64_t name, uint64_t bytes, program_code code)
{
    return program_push(at, PLIM_ALLOC, name << 40, bytes, code);
}

static inline uint64_t program_free(program *at, uint64_t name, uint64_t bytes)
{
    const uint64_t event = program_push(at, PLIM_FREE_REQUESTED, name << 40, bytes, CODE_NOBODY);
    (void)program_push(at, PLIM_FREE_COMPLETED, name << 40, bytes, CODE_NOBODY);
    return event;
}

static inline void program_annotate_at(program *at, const char *name, bool is_start,
                                       int64_t time_us)
{
    plim_annotation annotation = { .time_us = time_us, .is_start = is_start };
    T_TRUE(plim_history_add_string(at->history, name, strlen(name), &annotation.name, NULL) ==
           PLIM_OK);
    T_TRUE(plim_history_push_annotation(at->history, &annotation, NULL) == PLIM_OK);
}

/* Between the last event and the next. */
static inline void program_annotate(program *at, const char *name, bool is_start)
{
    program_annotate_at(at, name, is_start, at->time_us - 5);
}

static inline const plim_device_history *program_end(program *at)
{
    const plim_device_ranges ranges = { .events = { .count = at->events } };
    T_TRUE(plim_history_add_device(at->history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(at->history);
    return plim_history_device(at->history, 0);
}

/* --- a program that trains --- */

#define WEIGHT 4096u /* bytes; gradients have as many */
#define HIDDEN 7000u

typedef struct training {
    size_t steps;
    size_t batches;       /* per step */
    bool has_names;       /* Optimizer.step#… */
    bool has_optimizer;   /* one that asks for memory in every step */
    bool keeps_gradients; /* zeroes them instead of freeing them */
    bool replaces_states; /* its optimizer makes new states in each step and drops the old ones */
    uint64_t first_events[16];
} training;

static inline void training_batch(program *at, bool is_first, bool has_gradient)
{
    (void)program_alloc(at, 10, 512, CODE_MAIN);       /* the batch */
    (void)program_alloc(at, 11, HIDDEN, CODE_FORWARD); /* saved for backward */
    (void)program_alloc(at, 12, 900, CODE_FORWARD);    /* dropped on the way */
    (void)program_free(at, 12, 900);
    if (is_first) {
        (void)program_alloc(at, 13, 1u << 20, CODE_FORWARD); /* a workspace */
    }
    (void)program_alloc(at, 14, HIDDEN + 8, CODE_FORWARD);
    (void)program_alloc(at, 15, HIDDEN, CODE_NOBODY);
    const bool makes = !has_gradient;
    (void)program_alloc(at, makes ? 20 : 21, WEIGHT, CODE_NOBODY);
    if (!makes) { /* added to what is there */
        (void)program_free(at, 21, WEIGHT);
    }
    (void)program_free(at, 15, HIDDEN);
    (void)program_free(at, 11, HIDDEN);
    (void)program_alloc(at, makes ? 22 : 23, 2 * WEIGHT, CODE_NOBODY);
    if (!makes) {
        (void)program_free(at, 23, 2 * WEIGHT);
    }
    (void)program_free(at, 14, HIDDEN + 8);
}

/* Two for each weight, under names from 50 on. A step makes each before it drops the one before. */
static inline void training_replace(program *at, size_t step)
{
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t bytes = (i / 2 + 1) * WEIGHT;
        (void)program_alloc(at, 50 + 4 * (step % 2) + i, bytes, CODE_OPTIMIZER);
        if (step > 0) {
            (void)program_free(at, 50 + 4 * ((step + 1) % 2) + i, bytes);
        }
    }
}

static inline void training_step(program *at, training *run, size_t step)
{
    run->first_events[step] = at->events;
    for (size_t i = 0; i < run->batches; i++) {
        training_batch(at, step == 0 && i == 0, i > 0 || (run->keeps_gradients && step > 0));
        if (i + 1 < run->batches) {
            (void)program_free(at, 10, 512);
        }
    }
    if (run->has_names) {
        program_annotate(at, "Optimizer.step#AdamW.step", true);
    }
    if (run->has_optimizer) {
        for (uint64_t i = 0; step == 0 && i < 4; i++) {
            (void)program_alloc(at, 30 + i, (i / 2 + 1) * WEIGHT, CODE_STATE);
        }
        (void)program_alloc(at, 40, WEIGHT, CODE_OPTIMIZER);
        (void)program_alloc(at, 41, 2 * WEIGHT, CODE_OPTIMIZER);
        (void)program_free(at, 40, WEIGHT);
        (void)program_free(at, 41, 2 * WEIGHT);
    }
    if (run->replaces_states) {
        training_replace(at, step);
    }
    if (run->has_names) {
        program_annotate(at, "Optimizer.step#AdamW.step", false);
    }
    if (!run->keeps_gradients) {
        (void)program_free(at, 20, WEIGHT);
        (void)program_free(at, 22, 2 * WEIGHT);
    }
    (void)program_free(at, 10, 512);
    run->first_events[step + 1] = at->events;
}

static inline void training_run(program *at, training *run)
{
    (void)program_alloc(at, 1, WEIGHT, CODE_BUILD);
    (void)program_alloc(at, 2, 2 * WEIGHT, CODE_BUILD);
    for (size_t i = 0; i < run->steps; i++) {
        training_step(at, run, i);
    }
}

#endif
