/*
 * rehearse_parts.h - the parts of the page of a rehearsal. See rehearse.h.
 */
#ifndef PLIMSOLL_REPORT_MODEL_REHEARSE_PARTS_H
#define PLIMSOLL_REPORT_MODEL_REHEARSE_PARTS_H

#include "report/model/rehearse.h"

/* A page while it is made. */
typedef struct plim_rehearsing_page {
    plim_page *page;
    const plim_rehearsed *rehearsed;
    const plim_rehearsal_outcome *outcome;
    bool lists_calls;
} plim_rehearsing_page;

/** A share of the memory of a device; of one without memory it is not a number. */
double plim_rehearsed_share(const plim_rehearsal_outcome *outcome, uint64_t bytes);
/** "step 2, backward": what was not noted is left out. */
const char *plim_rehearsed_moment(plim_page *page, uint64_t step, const char *phase);

/** Begin a table of figures; each is "reserved    33.0 GiB  ████████   41.7%  note". */
void plim_rehearsed_figures(plim_page *page, const char *id);
void plim_rehearsed_figure(const plim_rehearsing_page *self, const char *label, uint64_t bytes,
                           const char *note);

/** The last failure of a process that died of it; else of the first that failed and went on. */
const plim_rehearsed_oom *plim_rehearsed_fatal_oom(const plim_rehearsal_outcome *outcome);
/** Frames of the user's own code; where there are none, the innermost of any. */
void plim_rehearsed_say_stack(plim_page *page, const plim_rehearsed_oom *oom);

void plim_rehearsed_say_failed(const plim_rehearsing_page *self);
/** Failed requests after which the program went on, in all processes. */
void plim_rehearsed_say_survived(const plim_rehearsing_page *self);
/** Those before the one that ended it. */
void plim_rehearsed_say_earlier(const plim_rehearsing_page *self);
/** Warnings of the rehearsal and its processes, and nothing else. */
void plim_rehearsed_say_warnings(const plim_rehearsing_page *self);
/** The answer of a search. */
void plim_rehearsed_say_best(plim_page *page, const plim_rehearse_tries *tries);

/** "checkpoint=every:2"; in the page. */
const char *plim_rehearsed_technique_text(plim_page *page, const plim_rehearsed_technique *of);
/** "same result", in this program; "" where it is not known. */
const char *plim_rehearsed_label(plim_page *page, const plim_rehearsed_technique *of);
/** Techniques that were to be switched on and were refused. */
void plim_rehearsed_say_refused(const plim_rehearsing_page *self);

/* The parts, in their order. */
void plim_rehearsed_say_tight(const plim_rehearsing_page *self);
/* Its need, where it ran out and that was asked. */
void plim_rehearsed_say_need(const plim_rehearsing_page *self);
void plim_rehearsed_say_figures(const plim_rehearsing_page *self);
void plim_rehearsed_say_phases(const plim_rehearsing_page *self);
/* Techniques that were switched on from outside, and took hold or had nothing to do. */
void plim_rehearsed_say_with(const plim_rehearsing_page *self);
void plim_rehearsed_say_facts(const plim_rehearsing_page *self);
void plim_rehearsed_say_limitations(const plim_rehearsing_page *self);

#endif
