/*
 * stacks.h - stacks of invented Python frames, for every number a training gives.
 *
 * All stacks end in the same outer frames, share their middle with others of their kind (a pair
 * of frames that calls a module comes again and again) and differ in the innermost three.
 */
#ifndef BENCH_SNAPSHOT_LOAD_STACKS_H
#define BENCH_SNAPSHOT_LOAD_STACKS_H

#include <stdint.h>

enum {
    STACKS_FRAMES = 500,      /* distinct frames */
    STACKS_DEPTH_SPREAD = 12, /* depths are the mean plus or minus this */
    STACKS_DEPTH_MIN = 20,    /* of the mean */
    STACKS_DEPTH_MAX = 200,
};

/* The number of frames that stack `stack` has when the mean is `depth`. */
uint32_t stacks_depth(uint32_t stack, uint32_t depth);

/* The frame at `index` of stack `stack` (0 is innermost), below STACKS_FRAMES. */
uint32_t stacks_frame(uint32_t stack, uint32_t depth, uint32_t index);

enum { STACKS_TEXT_BYTES = 128 };

/* What frame `frame` is called; returns its line. */
uint32_t stacks_describe(uint32_t frame, char name[STACKS_TEXT_BYTES],
                         char filename[STACKS_TEXT_BYTES]);

#endif
