/*
 * sums.h - of each class of stacks and each category, what both sides hold at one moment.
 */
#ifndef PLIMSOLL_DIFF_SUMS_H
#define PLIMSOLL_DIFF_SUMS_H

#include "diff/calls.h"
#include "diff/match.h"

/* One class on one side. */
typedef struct plim_diff_sum {
    plim_total bytes;
    uint64_t count;
    plim_total of_category[PLIM_CATEGORY_COUNT];
    uint32_t stack; /* of its largest part, or PLIM_NONE */
    plim_total stack_bytes;
} plim_diff_sum;

typedef struct plim_diff_sums {
    const plim_mem *mem;
    const plim_diff_classes *classes;
    plim_diff_sum *items[PLIM_DIFF_SIDES]; /* by class; all zero between moments */
    plim_total *by_stack[PLIM_DIFF_SIDES]; /* likewise, by stack */
    bool *is_seen;                         /* by class */
    PLIM_VEC(uint32_t) seen;               /* classes with anything */
    plim_total categories[PLIM_DIFF_SIDES][PLIM_CATEGORY_COUNT];
} plim_diff_sums;

/* Errors: PLIM_OUT_OF_HOST_MEMORY. After a failure plim_diff_sums_deinit() is allowed. */
plim_status plim_diff_sums_init(plim_diff_sums *sums, const plim_diff_classes *classes,
                                plim_error *err);
/* A zeroed one is allowed. */
void plim_diff_sums_deinit(plim_diff_sums *sums);
/* All zero again. */
void plim_diff_sums_reset(plim_diff_sums *sums);

/* The class of an allocation, and the stack that shows it: its own, or that of the call of backward
 * that it was requested during. None where its stack is that of its free. */
uint32_t plim_diff_allocation_class(const plim_diff_classes *classes, plim_diff_side_kind side,
                                    const plim_diff_calls *view, const plim_allocation *one,
                                    uint32_t *ret_stack);

/* One side's part of a class. */
typedef struct plim_diff_addend {
    plim_total bytes;
    uint64_t count;
    uint32_t class;
    uint32_t stack; /* that shows it, or PLIM_NONE */
    plim_category category;
} plim_diff_addend;

/* False: no memory. */
bool plim_diff_sums_add(plim_diff_sums *sums, plim_diff_side_kind side,
                        const plim_diff_addend *part);

/* All that is live after an event. False: no memory. */
bool plim_diff_sums_add_live(plim_diff_sums *sums, plim_diff_side_kind side,
                             const plim_diff_calls *view, int64_t event);

#endif
