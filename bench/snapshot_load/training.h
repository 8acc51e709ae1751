/*
 * training.h - the memory events of a training loop that never ran.
 *
 * A transformer of 48 layers: parameters first; then steps of a forward pass that keeps its
 * activations and drops its temporaries, a backward pass that frees the activations in reverse
 * order and makes gradients, and an Adam step whose state appears once and stays. The number of
 * tokens differs from step to step, so that blocks are cut and merged anew. The same seed gives
 * the same events.
 */
#ifndef BENCH_SNAPSHOT_LOAD_TRAINING_H
#define BENCH_SNAPSHOT_LOAD_TRAINING_H

#include "pool.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum training_action {
    TRAINING_SEGMENT_ALLOC,
    TRAINING_ALLOC,
    TRAINING_FREE_REQUESTED,
    TRAINING_FREE_COMPLETED,
} training_action;

typedef struct training_event {
    training_action action;
    uint32_t stack; /* below TRAINING_STACKS_MAX */
    uint64_t addr;
    uint64_t bytes; /* of the segment, or as requested */
    uint64_t time_us;
    uint64_t context; /* events of one call into the allocator have the same */
} training_event;

enum { TRAINING_STACKS_MAX = 256 };

/* What is told as it happens. Both get `ctx`. */
typedef struct training_listener {
    bool (*on_event)(void *ctx, const training_event *event); /* false: enough */
    void (*on_step)(void *ctx, bool is_start, uint64_t time_us);
    void *ctx;
} training_listener;

/* Trains until the listener has had enough: the call into the allocator that was under way ends
 * as it should, and nothing follows. `memory` (initialised) is left as the training left it. */
void training_run(uint64_t seed, block_pool *memory, const training_listener *listener);

#endif
