/*
 * explain_parts.h - the parts of the page of an explained text, and its words. See explain.h.
 */
#ifndef PLIMSOLL_REPORT_MODEL_EXPLAIN_PARTS_H
#define PLIMSOLL_REPORT_MODEL_EXPLAIN_PARTS_H

#include "base/size.h"
#include "report/model/explain.h"

/* A page while it is made. */
typedef struct plim_explaining {
    plim_page *page;
    const plim_explain_view *view;
    const plim_explained *file;
} plim_explaining;

/** The device as a bar, the failed request against it, and what both consist of; whether there
 * was anything to show. */
bool plim_explained_bar(plim_page *page, const plim_oom_message *message);
/** Numbered fixes, each with its command on a line of its own. */
void plim_explained_fixes(const plim_explaining *self, const plim_advice *advice, size_t count);
/** The other messages of the text, like ones together, a line each. */
void plim_explained_others(const plim_explaining *self);
/** The series of the text: the first in full, the others in a line each. */
void plim_explained_trend(const plim_explaining *self);

/* ---- words ---- */

/* A short text by value, for use in a call. */
typedef struct plim_explain_phrase {
    char text[160];
} plim_explain_phrase;

/** "PyTorch" for "pytorch"; what it does not know, it gives back. */
const char *plim_explain_framework(const char *framework);

/** "GPU 0"; "the device" where the text does not name it; "device 3" where it is no GPU. */
plim_short_text plim_explain_device(const plim_oom_message *message);

/** The answer in one line: "Out of memory: GPU 0 is fragmented". */
plim_explain_phrase plim_explain_headline(const plim_oom_message *message);

/** The verdict's word, for lists: "other process". */
plim_short_text plim_explain_verdict(plim_verdict verdict);

/** The meaning of a class of trend: "grows for ever". */
const char *plim_explain_trend_words(plim_trend_class kind);

/** The name of a figure: "cached, not in use". */
const char *plim_explain_figure(plim_figure_id id);

/** The axis of a series: "iteration", or "point" where the log counts no steps. */
typedef struct plim_explain_axis {
    const char *step; /* times are in seconds, minutes or hours, by the length of the run */
    const char *steps;
    double unit; /* steps of the series */
} plim_explain_axis;
plim_explain_axis plim_explain_axis_of(const plim_series *series);
/** A place on the axis, or a distance. */
plim_fact plim_explain_steps(const plim_explain_axis *axis, const char *name, double steps);

/** Bytes of a series, which may be in per cent of a capacity that is not known: "12.4%". */
plim_fact plim_explain_amount(const plim_series *series, const char *name, double amount);

#endif
