/*
 * diagnose_parts.h - the parts of the page of a diagnosis. See diagnose.h.
 */
#ifndef PLIMSOLL_REPORT_MODEL_DIAGNOSE_PARTS_H
#define PLIMSOLL_REPORT_MODEL_DIAGNOSE_PARTS_H

#include "report/model/diagnose.h"

#define PLIM_DIAGNOSE_FIXES_SHOWN 3u
#define PLIM_DIAGNOSE_LINES_SHOWN 3u /* of evidence, and of other findings */
#define PLIM_DIAGNOSE_TOP         12u

/* The part of the page about one device, while it is made. */
typedef struct plim_diagnose_part {
    plim_page *page;
    const plim_diagnose_view *view;
    const plim_history *history;
    const plim_device_diagnosis *device;
    const char *const *sentences; /* of the device's findings, in their order */
} plim_diagnose_part;

/** The part about one device, by its index in the diagnosis. file  with its sentences made */
plim_diagnose_part plim_diagnose_part_of(plim_page *page, const plim_diagnose_view *view,
                                         const plim_diagnosed *file, size_t index);
/** The index of the worst device: the first of those whose verdict comes first. Pinned host memory
 * is one of the last resort. */
size_t plim_diagnose_worst(const plim_diagnosis *diagnosis);

/** The verdict in a sentence, what it rests on, and its line of code. */
void plim_diagnose_verdict(const plim_diagnose_part *self);
/** Findings that are not the verdict: the first few, a line each; or all, with all that is known.
 */
void plim_diagnose_findings(const plim_diagnose_part *self);
/** The first fixes, or all. */
void plim_diagnose_fixes(const plim_diagnose_part *self);
/** One fix, numbered. */
void plim_diagnose_fix(const plim_diagnose_part *self, const plim_diagnosis_advice *advice,
                       size_t number);
/** The gaps of the recording, and what cannot be concluded without it. */
void plim_diagnose_lacks(const plim_diagnose_part *self);
/** The composition of memory: at the peak, at failures, in each step. */
void plim_diagnose_composition(const plim_diagnose_part *self);
/** The places at which reserved memory was lost. */
void plim_diagnose_fragmentation(const plim_diagnose_part *self);

/** The frame of a place as words: "train.py:42 in step". frame  not PLIM_NONE */
plim_fact plim_diagnose_frame(const plim_diagnose_part *self, uint32_t frame);
/** Rows of a table: --top, or the usual number. */
size_t plim_diagnose_rows(const plim_diagnose_part *self, size_t count);

#endif
