/*
 * case.h - one device under diagnosis: what every detector reads, worked out once, and the findings
 * they add.
 *
 *   diagnose.c   makes a case of each device, calls the detectors, chooses the verdict
 *   leaks/ …     detectors: each reads the case and adds findings, and knows no other
 *
 * Detectors run in the order of plim_diagnose_device(); a later one may read earlier findings.
 */
#ifndef PLIMSOLL_DIAGNOSE_CASE_CASE_H
#define PLIMSOLL_DIAGNOSE_CASE_CASE_H

#include "base/arena.h"
#include "base/vec.h"
#include "inspect/device_view.h"
#include "phases/passes.h"
#include "plimsoll/diagnose.h"

/* Figures of one step. */
typedef struct plim_step_fact {
    uint64_t first_event; /* [first, end) */
    uint64_t end_event;
    uint64_t end_requested_bytes; /* live after its last event */
    uint64_t peak_requested_bytes;
    uint64_t peak_event;
    uint64_t least_requested_bytes; /* the lowest moment in it */
} plim_step_fact;

typedef struct plim_case {
    const plim_mem *mem;
    plim_arena *arena; /* of the diagnosis: what findings point to lies here */
    const plim_diagnose_options *options;
    const plim_history *history;
    const plim_device_history *device;
    const plim_device_inspection *facts;
    plim_device_view view; /* with the settings in force when it was recorded */
    plim_passes passes;
    plim_step_fact *step_facts; /* steps.count of them; NULL without steps */
    uint64_t capacity_bytes;    /* 0: not known */
    bool has_stacks;
    PLIM_VEC(plim_diagnosis_finding) findings;
    plim_device_diagnosis *out; /* detectors fill in what is theirs */
} plim_case;

/* Errors: those of plim_diagnose(). After a failure plim_case_deinit() is allowed. */
plim_status plim_case_init(plim_case *one, plim_error *err);
/* A zeroed one is allowed. */
void plim_case_deinit(plim_case *one);

/* Begins a finding: id from kind and cause, no place, nothing known. NULL: no memory. It is valid
 * until the next one is added. */
plim_diagnosis_finding *plim_case_add(plim_case *one, plim_verdict kind, plim_cause cause);

/* Gives a finding another cause, and the id that goes with it. False: no memory. */
bool plim_case_name_cause(plim_case *one, plim_diagnosis_finding *finding, plim_cause cause);

/* The user's own innermost line of a stack; else the innermost frame; PLIM_NONE in an empty one. */
plim_code_place plim_case_place(plim_case *one, uint32_t stack);

/* Figures of `count` runs of events, run i being [first_events[i], first_events[i + 1]). The
 * caller's; NULL: no memory. */
plim_step_fact *plim_case_measure(const plim_case *one, const uint64_t *first_events, size_t count);

/* Adds a sentence to a finding; its figures lie in `line`, which is copied. False: no memory. */
bool plim_case_say(plim_case *one, plim_diagnosis_finding *finding, const plim_evidence_line *line);

/* --- figures of a sentence --- */

static inline plim_evidence_figure plim_say_bytes(const char *name, uint64_t bytes)
{
    return (plim_evidence_figure){ name, PLIM_FIGURE_BYTES, (double)bytes, NULL };
}
static inline plim_evidence_figure plim_say_amount(const char *name, uint64_t amount)
{
    return (plim_evidence_figure){ name, PLIM_FIGURE_AMOUNT, (double)amount, NULL };
}
static inline plim_evidence_figure plim_say_step(const char *name, uint64_t step)
{
    return (plim_evidence_figure){ name, PLIM_FIGURE_STEP, (double)step, NULL };
}
static inline plim_evidence_figure plim_say_share(const char *name, double share)
{
    return (plim_evidence_figure){ name, PLIM_FIGURE_SHARE, share, NULL };
}
static inline plim_evidence_figure plim_say_frame(const char *name, uint32_t frame)
{
    return (plim_evidence_figure){ name, PLIM_FIGURE_FRAME, (double)frame, NULL };
}
static inline plim_evidence_figure plim_say_word(const char *name, const char *word)
{
    return (plim_evidence_figure){ name, PLIM_FIGURE_WORD, 0, word };
}

/* --- detectors: each adds findings, or fills in its part of one->out. Errors:
 * PLIM_OUT_OF_HOST_MEMORY and those that are named. --- */

/* Failed requests: the judge's verdict on each failure that ended the program; spurious and
 * caught ones. */
plim_status plim_find_failures(plim_case *one, plim_error *err);
/* Leaks, each with its root and its cause; and growth that only looks like one. */
plim_status plim_find_leaks(plim_case *one, plim_error *err);
/* Reserved memory that is lost, and the blocks that pin it. */
plim_status plim_find_fragmentation(plim_case *one, plim_error *err);
/* Bursts far above the rest. */
plim_status plim_find_spikes(plim_case *one, plim_error *err);
/* Growth in the first steps. */
plim_status plim_find_growth(plim_case *one, plim_error *err);
/* Categories at the peak and at other moments; PLIM_INVALID_ARGUMENT: the user's rules. */
plim_status plim_compose(plim_case *one, plim_error *err);
/* Memory that does not grow and is held in vain: gradients between steps, */
plim_status plim_find_gradients_kept(plim_case *one, plim_error *err);
/* batches that wait for their turn, */
plim_status plim_find_batches_ahead(plim_case *one, plim_error *err);
/* and reference cycles, whose sawtooth a leak's finding may have taken for growth. */
plim_status plim_find_cycles(plim_case *one, plim_error *err);
/* What waited for Python's collector as a request failed, where the search for holders found it. */
plim_status plim_find_garbage(plim_case *one, plim_error *err);
/* Settings that are not in force or work against each other; the collector. */
plim_status plim_find_settings(plim_case *one, plim_error *err);
/* Pinned host memory; file cache in the device's. */
plim_status plim_find_host(plim_case *one, plim_error *err);
/* Advice, and the bytes that it saves. */
plim_status plim_find_advice(plim_case *one, plim_error *err);

/* Orders findings and chooses the verdict and its confidence. */
void plim_choose_verdict(plim_case *one);

#endif
