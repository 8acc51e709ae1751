/*
 * training.c - one table of operations, walked forwards and backwards.
 *
 * Sizes follow a transformer of width 1024 with 32-bit weights and 16-bit activations. What a real
 * framework does beyond that (recomputation, communication, several streams) is left out.
 */
#include "training.h"

#include <stddef.h>

enum {
    LAYERS = 48,
    LAYER_KINDS = 5, /* layers of one kind share their stacks */
    WIDTH = 1024,
};

typedef enum training_phase { SETUP, FORWARD, BACKWARD, OPTIMIZER } training_phase;

/* One operation of a layer. Zero is "does not have that". */
typedef struct layer_operation {
    uint32_t token_bytes;   /* activation kept for the backward pass, per token */
    uint32_t scratch_bytes; /* freed before the operation ends, per token */
    uint32_t weight_bytes;  /* its parameter */
} layer_operation;

static const layer_operation operations[] = {
    { .token_bytes = 2 * WIDTH, .weight_bytes = 4 * WIDTH },          /* norm */
    { .token_bytes = 8 },                                             /* statistics */
    { .token_bytes = 6 * WIDTH, .weight_bytes = 12 * WIDTH * WIDTH }, /* q, k, v */
    { .token_bytes = 2 * WIDTH, .scratch_bytes = 4 * WIDTH },         /* rotation */
    { .token_bytes = 2 * WIDTH, .scratch_bytes = 64 },                /* attention */
    { .token_bytes = 64 },                                            /* its sums */
    { .token_bytes = 2 * WIDTH, .weight_bytes = 4 * WIDTH * WIDTH },  /* projection */
    { .token_bytes = WIDTH, .scratch_bytes = 2 * WIDTH },             /* dropout */
    { .token_bytes = 2 * WIDTH },                                     /* residual */
    { .token_bytes = 2 * WIDTH, .weight_bytes = 4 * WIDTH },          /* norm */
    { .token_bytes = 8 * WIDTH, .weight_bytes = 16 * WIDTH * WIDTH }, /* up */
    { .token_bytes = 8 * WIDTH, .scratch_bytes = 4 * WIDTH },         /* activation */
    { .token_bytes = 2 * WIDTH, .weight_bytes = 16 * WIDTH * WIDTH }, /* down */
    { .token_bytes = 2 * WIDTH, .scratch_bytes = 512 },               /* residual */
};

enum { OPERATIONS = sizeof operations / sizeof operations[0], OPERATIONS_MAX = 16 };
_Static_assert(sizeof operations / sizeof operations[0] + 2 <= 16,
               "an operation fits a stack's number");

typedef struct training {
    block_pool *memory;
    const training_listener *listener;
    uint64_t random;
    uint64_t time_us;
    uint64_t context;
    uint64_t tokens; /* of this step */
    bool is_over;
    pool_block *weight[LAYERS][OPERATIONS];
    pool_block *gradient[LAYERS][OPERATIONS];
    pool_block *moments[LAYERS][OPERATIONS][2];
    pool_block *activation[LAYERS][OPERATIONS];
} training;

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(training *run, uint64_t below)
{
    uint64_t z = (run->random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

/* Setup has stacks 0..15, the others 80 each from there: 16 operations of 5 kinds of layer. */
static uint32_t stack_of(training_phase phase, unsigned index, unsigned layer)
{
    if (phase == SETUP) {
        return index;
    }
    const unsigned kind = layer % LAYER_KINDS;
    const unsigned first = OPERATIONS_MAX * (1 + LAYER_KINDS * ((unsigned)phase - 1));
    return first + kind * OPERATIONS_MAX + index;
}

static void tell(training *run, training_action action, const pool_block *block, uint64_t bytes,
                 uint32_t stack)
{
    const training_event event = { .action = action,
                                   .stack = stack,
                                   .addr = block->addr,
                                   .bytes = bytes,
                                   .time_us = run->time_us,
                                   .context = run->context };
    if (!run->listener->on_event(run->listener->ctx, &event)) {
        run->is_over = true;
    }
}

/* NULL once the training is over. */
static pool_block *take(training *run, uint64_t bytes, uint32_t stack)
{
    if (run->is_over) {
        return NULL;
    }
    uint64_t reserved_bytes;
    pool_block *const block = pool_alloc(run->memory, bytes, &reserved_bytes);
    run->context++;
    block->context = run->context;
    block->stack = stack;
    run->time_us += 2 + draw(run, 30);
    if (reserved_bytes > 0) {
        run->time_us += 400; /* the driver takes its time */
        tell(run, TRAINING_SEGMENT_ALLOC, block, reserved_bytes, stack);
        run->time_us += 5;
    }
    tell(run, TRAINING_ALLOC, block, bytes, stack);
    return block;
}

/* Frees *block, if there is one, and forgets it. */
static void drop(training *run, pool_block **block, uint32_t stack)
{
    if (run->is_over || *block == NULL) {
        return;
    }
    run->context++;
    run->time_us += 1 + draw(run, 12);
    tell(run, TRAINING_FREE_REQUESTED, *block, (*block)->requested_bytes, stack);
    run->time_us += draw(run, 2);
    tell(run, TRAINING_FREE_COMPLETED, *block, (*block)->requested_bytes, stack);
    pool_free(run->memory, *block);
    *block = NULL;
}

static void set_up(training *run)
{
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        for (unsigned i = 0; i < OPERATIONS; i++) {
            if (operations[i].weight_bytes > 0) {
                run->weight[layer][i] =
                    take(run, operations[i].weight_bytes, stack_of(SETUP, i, 0));
            }
        }
    }
}

static void forward(training *run)
{
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        for (unsigned i = 0; i < OPERATIONS; i++) {
            const layer_operation *const op = &operations[i];
            const uint32_t stack = stack_of(FORWARD, i, layer);
            pool_block *half = NULL; /* the weight in 16 bits, for the product alone */
            pool_block *scratch = NULL;
            if (op->weight_bytes > 0) {
                half = take(run, op->weight_bytes / 2, stack);
            }
            if (op->scratch_bytes > 0) {
                scratch = take(run, op->scratch_bytes * run->tokens, stack);
            }
            run->activation[layer][i] = take(run, op->token_bytes * run->tokens, stack);
            drop(run, &scratch, stack);
            drop(run, &half, stack_of(FORWARD, OPERATIONS, layer));
        }
    }
}

/* One operation's backward: the gradient of its output turns into that of its input. */
static void backward_one(training *run, unsigned layer, unsigned i, pool_block **flowing)
{
    const layer_operation *const op = &operations[i];
    const uint32_t stack = stack_of(BACKWARD, i, layer);
    pool_block *workspace = take(run, 4096 + 512 * draw(run, 64), stack);
    pool_block *input = take(run, op->token_bytes * run->tokens, stack);
    if (op->weight_bytes > 0) {
        pool_block *half = take(run, op->weight_bytes / 2, stack);
        run->gradient[layer][i] = take(run, op->weight_bytes, stack);
        drop(run, &half, stack_of(BACKWARD, OPERATIONS, layer));
    }
    drop(run, &workspace, stack);
    drop(run, flowing, stack_of(BACKWARD, OPERATIONS + 1, layer));
    drop(run, &run->activation[layer][i], stack_of(BACKWARD, OPERATIONS + 1, layer));
    *flowing = input;
}

static void backward(training *run)
{
    pool_block *flowing = take(run, 4, stack_of(BACKWARD, 0, 0)); /* of the loss */
    for (unsigned layer = LAYERS; layer-- > 0;) {
        for (unsigned i = OPERATIONS; i-- > 0;) {
            backward_one(run, layer, i, &flowing);
        }
    }
    drop(run, &flowing, stack_of(BACKWARD, OPERATIONS + 1, 0));
}

static void optimize(training *run)
{
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        for (unsigned i = 0; i < OPERATIONS; i++) {
            const uint64_t bytes = operations[i].weight_bytes;
            if (bytes == 0) {
                continue;
            }
            const uint32_t stack = stack_of(OPTIMIZER, i, layer);
            for (unsigned k = 0; k < 2; k++) {
                if (run->moments[layer][i][k] == NULL) { /* the first step */
                    run->moments[layer][i][k] = take(run, bytes, stack_of(OPTIMIZER, 15, layer));
                }
            }
            pool_block *root = take(run, bytes, stack);
            pool_block *bias = take(run, 4, stack);
            drop(run, &bias, stack);
            drop(run, &root, stack);
        }
    }
}

static void zero_gradients(training *run)
{
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        for (unsigned i = 0; i < OPERATIONS; i++) {
            drop(run, &run->gradient[layer][i], stack_of(OPTIMIZER, OPERATIONS, layer));
        }
    }
}

void training_run(uint64_t seed, block_pool *memory, const training_listener *listener)
{
    training run = { .memory = memory,
                     .listener = listener,
                     .random = seed,
                     .time_us = UINT64_C(1760000000000000) };
    set_up(&run);
    while (!run.is_over) {
        run.tokens = 64 * (32 + draw(&run, 97)); /* 2048 to 8192 */
        listener->on_step(listener->ctx, true, run.time_us);
        zero_gradients(&run);
        forward(&run);
        backward(&run);
        optimize(&run);
        run.time_us += 1000;
        if (!run.is_over) {
            listener->on_step(listener->ctx, false, run.time_us);
        }
    }
}
