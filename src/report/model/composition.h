/*
 * composition.h - what reserved memory consisted of at one moment, in parts that add up.
 *
 *   reserved  = stacks + other stacks + filtered out + rounding + pending + free
 *               [------------- requested ------------]
 *               [------------------ allocated ------------------]
 *               [----------------------- active -------------------------]
 *
 * The library groups by stack. A page reads better by line of the user's code: many stacks end
 * in one such line (each layer of a model, each operator it calls), so they can be merged.
 */
#ifndef PLIMSOLL_REPORT_MODEL_COMPOSITION_H
#define PLIMSOLL_REPORT_MODEL_COMPOSITION_H

#include "plimsoll/inspect.h"

typedef enum plim_part_kind {
    PLIM_PART_STACKS,   /* live allocations: one stack, or those that share a line */
    PLIM_PART_OTHERS,   /* all stacks that are not shown one by one */
    PLIM_PART_FILTERED, /* live allocations that a filter by stack leaves out */
    PLIM_PART_ROUNDING, /* bytes of blocks beyond the requests */
    PLIM_PART_PENDING,  /* freed, but a stream has not passed the free yet */
    PLIM_PART_FREE,     /* reserved and not in use */
} plim_part_kind;

typedef struct plim_composition_part {
    plim_part_kind kind;
    uint64_t bytes;
    uint64_t count;                /* allocations; 0 where they have no meaning */
    const plim_stack_group *group; /* the largest one in it; NULL unless PLIM_PART_STACKS */
    size_t group_count;            /* how many are in it */
    uint64_t before_count;         /* of its allocations: older than the recording */
    uint64_t by_free_count;        /* and of those: known by the stack of their free */
    int64_t first_born;            /* as in plim_stack_group */
    int64_t last_born;
} plim_composition_part;

typedef struct plim_composition {
    plim_composition_part
        *parts; /* stacks by size, then the others in the order of plim_part_kind */
    size_t part_count;
    size_t part_capacity;
    uint64_t total_bytes; /* reserved bytes, or the sum of parts where a file says less */
    const plim_mem *mem;
} plim_composition;

/**
 * Take a moment apart.
 *
 * top      how many parts of kind PLIM_PART_STACKS at most
 * merged   put stacks together that share a line (plim_stack_label_frame())
 * ret      the caller's, until plim_composition_deinit(); points into moment and history
 * returns  false when there is no memory
 */
bool plim_composition_init(const plim_mem *mem, const plim_history *history,
                           const plim_moment *moment, size_t top, bool merged,
                           plim_composition *ret);
/* A zeroed one is allowed. */
void plim_composition_deinit(plim_composition *composition);

#endif
