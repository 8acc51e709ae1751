/*
 * progress.h - one line on a terminal that says how far long work is; or many, for a program that
 * shows them its own way.
 *
 *     reading run.pickle  [############..................]  41%  210 MiB of 512 MiB
 *
 * It appears only on a terminal and only once the work has taken half a second, is redrawn at
 * most ten times a second, and is gone without a trace at the end. It needs no memory and cannot
 * fail: a bar that cannot be drawn is not.
 *
 * With a channel, lines are written there at the same times and nothing is drawn
 * (docs/formats/progress.md). A reader that is slow misses some, one that has gone ends them;
 * SIGPIPE has to be ignored.
 */
#ifndef PLIMSOLL_BASE_PROGRESS_H
#define PLIMSOLL_BASE_PROGRESS_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* All zero is a valid default. */
typedef struct plim_progress_options {
    FILE *file;              /* NULL: stderr */
    const plim_clock *clock; /* NULL: the system's */
    bool is_terminal;        /* draw without asking the file, with `columns` to fill; for tests */
    size_t columns;
    const char *noun; /* borrowed: what is counted, "events"; NULL: bytes */
    int channel;      /* a descriptor for lines; 0: without */
} plim_progress_options;

typedef struct plim_progress_bar {
    const char *label; /* borrowed, "reading run.pickle" */
    FILE *file;
    const plim_clock *clock;
    int channel;    /* for lines; 0: without */
    bool is_wanted; /* there is a channel, or the file is a terminal that can erase a line */
    bool is_drawn;
    size_t columns;   /* 0: ask the terminal */
    const char *noun; /* NULL: bytes */
    uint64_t start_ns;
    uint64_t drawn_ns;
} plim_progress_bar;

/* `label` is borrowed until the bar is finished; options may be NULL. */
void plim_progress_bar_init(plim_progress_bar *bar, const char *label,
                            const plim_progress_options *options);

/*
 * Say how far the work is, in bytes or in what options named; cheap, call it often. `bar` is a
 * plim_progress_bar: this is the shape of callback that the library takes. total_bytes is 0 when
 * unknown. Always true: go on.
 */
bool plim_progress_bar_update(void *bar, uint64_t done_bytes, uint64_t total_bytes);

/* Erases the line; a zeroed bar is allowed, and so is a second time. */
void plim_progress_bar_finish(plim_progress_bar *bar);

#endif
