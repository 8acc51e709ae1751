/*
 * tape.h - what a convolutional network's forward leaves for its backward: undone in reverse.
 */
#ifndef PLIMSOLL_BENCH_TRACES_TAPE_H
#define PLIMSOLL_BENCH_TRACES_TAPE_H

#include "traces/transformer.h"

enum { TAPE_MAX = 1024, TAPE_WEIGHTS_MAX = 512, TAPE_SHAPES_MAX = 1024 };

typedef struct trace_tape {
    struct {
        plim_addr kept;
        uint64_t bytes;
        trace_weight *weight; /* its gradient is due here, or NULL */
        const trace_place *place;
    } entries[TAPE_MAX];
    size_t count;
    trace_weight weights[TAPE_WEIGHTS_MAX];
    size_t weight_count; /* that exist */
    size_t next_weight;  /* of a forward: weights come in the same order every time */
    uint32_t weight_bytes;
    bool is_trained;
    bool searches;                    /* for the fastest convolution, once for each shape */
    uint32_t shapes[TAPE_SHAPES_MAX]; /* that were met, hashed; 0: free */
} trace_tape;

/* A feature map. */
typedef struct trace_map {
    uint64_t images;
    uint64_t channels;
    uint64_t height;
    uint64_t width;
} trace_map;

static inline uint64_t map_numbers(const trace_map *map)
{
    return map->images * map->channels * map->height * map->width;
}

/* A forward begins. */
void tape_rewind(trace_tape *tape);
/* Something that backward needs (16 bits a number), and its gradient has this size too. */
void tape_keep(trace_play *play, trace_tape *tape, uint64_t numbers, const trace_place *place);
/* A convolution to `channels`, with its weight (made when it is met first) and workspace. */
void tape_conv(trace_play *play, trace_tape *tape, trace_map *map, uint64_t channels,
               uint32_t kernel, uint32_t stride);
/* A product over the channels. */
void tape_linear(trace_play *play, trace_tape *tape, trace_map *map, uint64_t channels,
                 const trace_place *place);
/* A norm in 32 bits; two norms, activations and convolutions and a residual. */
void tape_norm(trace_play *play, trace_tape *tape, const trace_map *map, const trace_place *place);
void tape_resnet_block(trace_play *play, trace_tape *tape, trace_map *map, uint64_t channels);
/* Undoes everything, or, where nothing is trained, drops it. */
void tape_backward(trace_play *play, trace_tape *tape);
void tape_optimize(trace_play *play, trace_tape *tape, bool is_foreach);

#endif
