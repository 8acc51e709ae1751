/*
 * lines.h - the command's two streams as one text for an explainer.
 */
#ifndef PLIMSOLL_LAUNCH_LINES_H
#define PLIMSOLL_LAUNCH_LINES_H

#include "base/text.h"

#include "plimsoll/launch.h"

/* Of a line that has not ended. What is longer, such as a progress bar redrawn for hours, is cut.
 */
#define PLIM_LAUNCH_LINE_BYTES_MAX ((size_t)64 << 10)

/*
 * A stream alone is fed as it comes. Of two, whole lines are fed in the order in which they
 * ended, so that no line of one stands within a line of the other.
 */
typedef struct plim_launch_lines {
    plim_explainer *explainer; /* NULL after a failure */
    plim_error err;            /* the failure */
    size_t stream_count;
    plim_text begun[PLIM_LAUNCH_STREAMS]; /* the line of each that has not ended */
} plim_launch_lines;

/** No call fails: a failure is kept, and later calls do nothing. */
void plim_launch_lines_begin(plim_launch_lines *text, const plim_explain_options *options,
                             size_t stream_count);
void plim_launch_lines_feed(plim_launch_lines *text, size_t stream, const char *data, size_t bytes);
/** Gives back all memory; the explanation, or NULL and the failure in *ret_err. */
plim_explanation *plim_launch_lines_finish(plim_launch_lines *text, plim_error *ret_err);

#endif
