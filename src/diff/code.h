/*
 * code.h - the code of both sides in one set of numbers, and what each stack requested.
 *
 *   a frame        file, function, line        of one history
 *   a function     file, function              of both: equal numbers, equal code
 *
 * A file of an installed package goes by its path in that package, so that the place where
 * packages lie does not matter. Compiled code goes by its name alone, and code that is generated
 * under changing names by its function.
 */
#ifndef PLIMSOLL_DIFF_CODE_H
#define PLIMSOLL_DIFF_CODE_H

#include "base/intern.h"
#include "base/vec.h"
#include "inspect/groups.h"
#include "phases/stack_kinds.h"

#define PLIM_DIFF_SIDES 2 /* before, after */

typedef enum plim_diff_side_kind { PLIM_DIFF_BEFORE, PLIM_DIFF_AFTER } plim_diff_side_kind;

typedef struct plim_diff_function {
    uint32_t file; /* numbers of texts */
    uint32_t name;
    uint8_t owner;                    /* plim_frame_owner */
    uint32_t stacks[PLIM_DIFF_SIDES]; /* that request memory and go through it */
} plim_diff_function;

#define PLIM_DIFF_SAMPLE 4 /* of the sizes of a stack, a sample that is the same in both sides */

/* The requests of one stack, over all devices of its history. */
typedef struct plim_diff_profile {
    uint64_t count; /* 0: the stack requests nothing */
    uint64_t bytes; /* cut off at 2^64 - 1 */
    uint64_t
        sizes[PLIM_DIFF_SAMPLE]; /* the lowest hashes of its sizes, rising; UINT64_MAX: fewer */
} plim_diff_profile;

typedef struct plim_diff_text {
    const char *data;
    size_t bytes;
} plim_diff_text;

typedef struct plim_diff_side {
    const plim_history *history;
    plim_grouper grouper;        /* for the owners of frames */
    plim_stack_kinds kinds;      /* for calls of modules */
    uint32_t *functions;         /* by frame */
    plim_diff_profile *profiles; /* by stack */
} plim_diff_side;

typedef struct plim_diff_code {
    const plim_mem *mem;
    plim_diff_side sides[PLIM_DIFF_SIDES];
    PLIM_VEC(plim_diff_text) texts;
    plim_intern text_index;
    PLIM_VEC(plim_diff_function) functions;
    plim_intern function_index;
} plim_diff_code;

/* Linear in events, frames and the frames of distinct stacks. Errors: PLIM_OUT_OF_HOST_MEMORY.
 * After a failure plim_diff_code_deinit() is allowed. */
plim_status plim_diff_code_init(plim_diff_code *code, const plim_history *before,
                                const plim_history *after, const plim_mem *mem, plim_error *err);
/* A zeroed one is allowed. */
void plim_diff_code_deinit(plim_diff_code *code);

/* The function of a frame. */
static inline const plim_diff_function *
plim_diff_function_of(const plim_diff_code *code, plim_diff_side_kind side, uint32_t frame)
{
    return &code->functions.items[code->sides[side].functions[frame]];
}

#endif
