/*
 * groups.h - what was live at a moment, by the stack that allocated it.
 *
 * A grouper serves all moments of all devices of a history: it keeps a table by stack and what
 * it has learned of frames. A moment costs one look at each event up to it.
 */
#ifndef PLIMSOLL_INSPECT_GROUPS_H
#define PLIMSOLL_INSPECT_GROUPS_H

#include "base/arena.h"
#include "base/total.h"
#include "base/vec.h"
#include "history/timeline.h"
#include "inspect/stack_filter.h"
#include "phases/categories.h"
#include "plimsoll/inspect.h"
#include "stacks/frames.h"

typedef struct plim_group_sum {
    plim_total bytes;
    plim_total before_bytes; /* from before the recording */
    uint64_t count;
    uint64_t before_count;
    uint64_t by_free_count; /* known by the stack of their free */
    int64_t first_born;     /* of those of the recording; PLIM_AT_START: no such alloc */
    int64_t last_born;
    uint32_t stack;
} plim_group_sum;

typedef struct plim_grouper {
    const plim_history *history;
    const plim_mem *mem;
    uint32_t *group_of; /* by stack: index into sums + 1, or 0; all 0 between moments */
    uint8_t *owners;    /* by frame: plim_frame_owner + 1, or 0 where it is not looked up yet */
    PLIM_VEC(plim_group_sum) sums;
    bool is_short;                     /* of memory, while adding up */
    const plim_stack_filter *filter;   /* borrowed; NULL: all stacks pass */
    const plim_categories *categories; /* borrowed, of the timeline; NULL: not added up */
} plim_grouper;

/* 4 bytes for each stack of the history and 1 for each frame. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_grouper_init(plim_grouper *grouper, const plim_history *history,
                              const plim_mem *mem, plim_error *err);
/* A zeroed one is allowed. */
void plim_grouper_deinit(plim_grouper *grouper);

/* The owner of the code of a frame. */
plim_frame_owner plim_group_owner(plim_grouper *grouper, uint32_t frame);

/* Which frame of a stack is the innermost of the user's own code, or PLIM_NONE. */
uint32_t plim_group_user_frame(plim_grouper *grouper, uint32_t stack);

/* Adds an allocation to the sum of its stack, whatever the filter lets pass; that there is no
 * memory, plim_group_take() says. */
void plim_group_add(plim_grouper *grouper, const plim_allocation *one);
/*
 * What was added since the last call, in groups that live in `arena`: in the order below.
 * Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_group_take(plim_grouper *grouper, plim_arena *arena,
                            const plim_stack_group **ret_groups, size_t *ret_count,
                            plim_error *err);

/*
 * Gives `moment` its groups, which live in `arena`: largest first, then most allocations first,
 * then in order of first appearance. Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_group_moment(plim_grouper *grouper, const plim_timeline *timeline,
                              plim_arena *arena, plim_moment *moment, plim_error *err);

#endif
