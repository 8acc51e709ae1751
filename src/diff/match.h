/*
 * match.h - the stacks of both sides in classes: those of one class are the same code.
 *
 *   1  the same functions from end to end; of several that differ in lines alone the order of the
 *      lines and the sizes that each requests say which is which
 *   2  the same again, after functions that only one side has were found to be others renamed
 *   3  the same functions but for those that only one side has
 *   4  the same lines of the user's, through other code of libraries
 *   5  the same functions of the user's
 *   6  the same operator, without a frame of the user's
 *
 * The first two are sure, where sizes do not contradict them; the rest are likely.
 */
#ifndef PLIMSOLL_DIFF_MATCH_H
#define PLIMSOLL_DIFF_MATCH_H

#include "diff/code.h"
#include "plimsoll/diff.h"

#define PLIM_DIFF_NO_CLASS 0u /* of allocations without a stack, and of stacks of a free */

typedef struct plim_diff_class {
    plim_diff_match match;
    const char *because;
    bool is_by_engine; /* requests without a stack, during calls of backward */
} plim_diff_class;

typedef struct plim_diff_classes {
    const plim_mem *mem;
    uint32_t *of[PLIM_DIFF_SIDES]; /* by stack of the side */
    uint32_t counts[PLIM_DIFF_SIDES];
    PLIM_VEC(plim_diff_class) items;
    uint32_t *engine_of; /* by class of calls of backward; 0 for others, as for those beyond */
    size_t engine_count;
} plim_diff_classes;

/* n log n in stacks. Errors: PLIM_OUT_OF_HOST_MEMORY. After a failure plim_diff_classes_deinit()
 * is allowed. */
plim_status plim_diff_classes_init(plim_diff_classes *classes, plim_diff_code *code,
                                   plim_error *err);
/* A zeroed one is allowed. */
void plim_diff_classes_deinit(plim_diff_classes *classes);

/* The class of what the autograd engine requests during calls of a class. */
static inline uint32_t plim_diff_engine_class(const plim_diff_classes *classes, uint32_t call)
{
    return call < classes->engine_count ? classes->engine_of[call] : PLIM_DIFF_NO_CLASS;
}

/* The class of a stack, or of PLIM_NONE. */
static inline uint32_t plim_diff_class_of(const plim_diff_classes *classes,
                                          plim_diff_side_kind side, uint32_t stack)
{
    return stack == PLIM_NONE ? PLIM_DIFF_NO_CLASS : classes->of[side][stack];
}

#endif
