/*
 * explain_page.h - what the pages and the document of `explain` are made from, and their parts.
 *
 * A text that was explained comes as plain structs: whoever has them (a plim_explanation, a
 * test) points to them here.
 */
#ifndef PLIMSOLL_REPORT_EXPLAIN_PAGE_H
#define PLIMSOLL_REPORT_EXPLAIN_PAGE_H

#include "base/text.h"
#include "report/term/style.h"

#include "plimsoll/explain.h"

/* One text. All of it is borrowed. */
typedef struct plim_explained {
    const char *path; /* as given; "-" is standard input */
    bool is_read;     /* else `error` says why not, and nothing below has a meaning */
    plim_error error;
    uint64_t bytes;
    uint64_t lines;
    const plim_oom_message *const *messages; /* in the order of the text */
    size_t message_count;
    const plim_oom_message *main_message; /* one of them, or NULL */
    uint64_t unkept_count;                /* messages beyond those */
    const plim_series *const *series;     /* the worst trend first */
    size_t series_count;
    const plim_advice *leak_advice; /* when the first series leaks */
    size_t leak_advice_count;
} plim_explained;

/* What the user asked for. All zero is a valid default. */
typedef struct plim_explain_view {
    bool all;            /* every message and series in full */
    bool trend;          /* the series, not the messages */
    bool with_name;      /* head the page with the name of the text: there are several */
    bool with_recording; /* say how to record, apart, where nothing is recorded yet */
    uint32_t fixes_max;  /* that are shown; 0: PLIM_EXPLAIN_FIXES_SHOWN */
} plim_explain_view;

#define PLIM_EXPLAIN_FIXES_SHOWN 4u

typedef struct plim_explain_page {
    plim_text *out;
    const plim_style *style;
    const plim_explain_view *view;
    const plim_explained *file;
} plim_explain_page;

/** The device as a bar, the failed request against it, and what both consist of. */
void plim_explain_bar(const plim_explain_page *page, const plim_oom_message *message);

/** Numbered fixes, each with its command on a line of its own. */
void plim_explain_fixes(const plim_explain_page *page, const plim_advice *advice, size_t count);

/** The other messages of the text, like ones together, a line each. */
void plim_explain_others(const plim_explain_page *page);

/** The series of the text: the first in full, the others in a line each. */
void plim_explain_trend(const plim_explain_page *page);

#endif
