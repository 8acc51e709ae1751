/*
 * shape.h - lines that are alike but for their digits, and the plan for each kind.
 *
 * Logs print a few kinds of lines again and again. The first of a kind is parsed; a later one is
 * recognised at the cost of a comparison, and its numbers are where they were.
 */
#ifndef PLIMSOLL_SERIES_SHAPE_H
#define PLIMSOLL_SERIES_SHAPE_H

#include "series/plan.h"

#define PLIM_SHAPES_MAX        64u
#define PLIM_SHAPE_BYTES_MIN   8u
#define PLIM_SHAPE_BYTES_MAX   2048u /* of a line that is remembered */
#define PLIM_SHAPE_NUMBERS_MAX 192u

typedef struct plim_series_shape plim_series_shape;

typedef struct plim_shapes {
    const plim_mem *mem;
    plim_series_shape *items[PLIM_SHAPES_MAX]; /* made when needed */
    uint32_t count;
    uint32_t next_victim;
    uint32_t last; /* the shape of the last line that had one */
    uint32_t generation;
    uint64_t hash_key;
    plim_series_span
        numbers[PLIM_SHAPE_NUMBERS_MAX]; /* of a line that is not quite like its shape */
} plim_shapes;

/* A plan, and where the numbers are in the line that was asked about. */
typedef struct plim_shape_match {
    const plim_series_plan *plan;    /* NULL: the line is like none of them */
    const plim_series_span *numbers; /* valid until the next call */
} plim_shape_match;

void plim_shapes_init(plim_shapes *shapes, const plim_mem *mem);
void plim_shapes_deinit(plim_shapes *shapes);

/** Forget all when names had to go. */
void plim_shapes_follow(plim_shapes *shapes, uint32_t generation);

/** True if a line is like the one that the last line lets expect, but for its numbers. */
plim_shape_match plim_shapes_guess(plim_shapes *shapes, const char *line, size_t length,
                                   uint32_t table);

/** The shape of a line that comes unexpected. */
plim_shape_match plim_shapes_find(plim_shapes *shapes, const plim_series_line *line);

/** Keep the plan of the line that was just not found. False: no memory. */
bool plim_shapes_learn(plim_shapes *shapes, const plim_series_line *line,
                       const plim_series_plan *plan);

#endif
