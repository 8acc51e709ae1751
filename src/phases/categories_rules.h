/*
 * categories_rules.h - what an allocation is for, from who requested it, when, and how long it
 * lived.
 */
#ifndef PLIMSOLL_PHASES_CATEGORIES_RULES_H
#define PLIMSOLL_PHASES_CATEGORIES_RULES_H

#include "base/map.h"
#include "phases/passes.h"
#include "plimsoll/phases.h"

/* An allocation as the rules see it. Events are those of the device. */
typedef struct plim_life {
    uint32_t made;  /* by this event */
    uint32_t ended; /* by this event, or PLIM_NONE: it outlives the recording */
    uint64_t bytes;
    uint32_t stack;
} plim_life;

/* Evidence of all events, collected before each is judged. */
typedef struct plim_category_evidence {
    const plim_mem *mem;
    plim_map built_bytes;      /* sizes of weights → how many */
    plim_map left_bytes;       /* sizes of what backward left and was freed in time → how many */
    uint64_t kept_by_backward; /* allocations as large as a weight that it left for good, … */
    uint64_t freed_after_backward; /* … and that were freed again after it */
    uint32_t *kept_in_pass;        /* by stack: the last pass that left something for good, + 1 */
    uint8_t *kept_often;           /* by stack: in more than one pass */
    uint8_t *is_input;             /* by stack: it makes batches */
    size_t stack_count;
} plim_category_evidence;

bool plim_category_evidence_init(plim_category_evidence *evidence, size_t stack_count,
                                 const plim_mem *mem);
void plim_category_evidence_deinit(plim_category_evidence *evidence);

/* Takes in an allocation that lies in pass number `pass`; in order of events. false: no memory. */
bool plim_category_evidence_take(plim_category_evidence *evidence, const plim_passes *passes,
                                 size_t pass, const plim_life *life);

/* The category of an allocation in pass number `pass`. */
plim_category plim_category_judge(const plim_category_evidence *evidence, const plim_passes *passes,
                                  size_t pass, const plim_life *life);

#endif
