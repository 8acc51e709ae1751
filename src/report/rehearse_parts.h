/*
 * rehearse_parts.h - the parts of a rehearsal's page, and what they have in common.
 *
 *   rehearse_text.c     the page: what was run, the answer, and the order of the rest
 *   rehearse_figures.c  peaks, of processes and of devices
 *   rehearse_course.c   peaks by phase and by step
 *   rehearse_belief.c   values that were read, what is modelled, what was called
 *   rehearse_tries.c    the table of a search
 */
#ifndef PLIMSOLL_REPORT_REHEARSE_PARTS_H
#define PLIMSOLL_REPORT_REHEARSE_PARTS_H

#include "base/size.h"
#include "base/text.h"
#include "report/rehearse_page.h"

typedef struct plim_rehearse_page {
    plim_text *out;
    const plim_style *style;
    const plim_rehearsed *rehearsed;
    const plim_rehearsal_outcome *outcome;
} plim_rehearse_page;

/* A short name by value, for use in a call. */
typedef struct plim_rehearse_name {
    char text[96];
} plim_rehearse_name;

void plim_rehearse_blank(const plim_rehearse_page *page);
void plim_rehearse_heading(const plim_rehearse_page *page, const char *words);
/* Of the memory of a device; that of a device without memory is nobody's: "-". */
plim_short_text plim_rehearse_share(const plim_rehearse_page *page, uint64_t bytes);
/* "step 2, backward": what nobody noted is left out. */
plim_rehearse_name plim_rehearse_moment(uint64_t step, const char *phase);

/* "reserved    33.0 GiB  ████████   41.7%  note" */
void plim_rehearse_figure(const plim_rehearse_page *page, const char *label, uint64_t bytes,
                          const char *note);

/* The parts, in their order. */
void plim_rehearse_figures_write(const plim_rehearse_page *page);
void plim_rehearse_course_write(const plim_rehearse_page *page);
void plim_rehearse_belief_write(const plim_rehearse_page *page);

#endif
