/*
 * explain.h - what `plimsoll explain` has in hand, and the page it makes of it.
 *
 * A text that was explained comes as plain structs: their owner (a
 * plim_explanation, a test) outlives the page.
 *   explain.c         a text: the message that answers for all, why, what to do, the rest
 *   explain_bar.c     the device as one bar, and the request that failed
 *   explain_fixes.c   what to do next
 *   explain_others.c  the other messages
 *   explain_trend.c   how memory moved over the steps of a run
 *   explain_words.c   frameworks, devices, verdicts and trends, as a page calls them
 */
#ifndef PLIMSOLL_REPORT_MODEL_EXPLAIN_H
#define PLIMSOLL_REPORT_MODEL_EXPLAIN_H

#include "report/model/page.h"

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

/* The user's options. All zero is a valid default. */
typedef struct plim_explain_view {
    bool all;            /* every message and series in full */
    bool trend;          /* the series, not the messages */
    bool with_recording; /* say how to record, apart, where nothing is recorded yet */
    uint32_t fixes_max;  /* that are shown; 0: PLIM_EXPLAIN_FIXES_SHOWN */
} plim_explain_view;

#define PLIM_EXPLAIN_FIXES_SHOWN 4u

/** True if a text has messages or series; without them it has no page. */
bool plim_explain_has_page(const plim_explain_view *view, const plim_explained *file);
/** Say what is to be said of texts, one after the other; of several each is named. */
void plim_explain_page(plim_page *page, const plim_explain_view *view, const plim_explained *files,
                       size_t count);

#endif
