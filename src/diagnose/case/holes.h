/*
 * holes.h - the free memory of a moment: where it lies, what it is lost to, which blocks pin it.
 *
 *   segment  |[ A ][ hole ][ B ]  [   hole    ]|   A and B pin it
 *   segment  |[            free               ]|   whole: the allocator can give it back
 *
 * A failure and fragmentation are measured alike. The segments are those of the timeline, the
 * blocks its live and pending allocations; whether a pool is private only segments that stand at
 * the end say.
 */
#ifndef PLIMSOLL_DIAGNOSE_CASE_HOLES_H
#define PLIMSOLL_DIAGNOSE_CASE_HOLES_H

#include "diagnose/case/case.h"

typedef struct plim_holes_request {
    int64_t moment;
    bool is_oom;
    uint64_t bytes;  /* rounded; 0: nothing was requested */
    uint32_t stream; /* index into streams, of the request; PLIM_NONE: none */
} plim_holes_request;

/*
 * Measures one moment; pins lie in the arena. Blocks that live at least a step, or a tenth of the
 * recording, count as pins. Linear in events up to the moment, n log n in what is live.
 * Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_holes_measure(plim_case *one, const plim_holes_request *request,
                               plim_fragmentation_facts *ret_facts, plim_error *err);

/* Free bytes that live blocks, other pools or rules keep from use: all but whole segments and
 * rounding. */
uint64_t plim_holes_lost(const plim_loss *loss);

/* Says which place's blocks keep most from use; without a place nothing is said. False: no memory.
 */
bool plim_holes_say_pin(plim_case *one, plim_diagnosis_finding *finding,
                        const plim_fragmentation_facts *facts);

/* The cause that explains most of the loss; `stack` is that of the request. */
plim_cause plim_holes_cause(plim_case *one, const plim_fragmentation_facts *facts, uint32_t stack);

#endif
