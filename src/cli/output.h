/*
 * output.h - the two streams: results on stdout, words to the human on stderr.
 *
 * Failed writes are found once, at the end; a full disk or a reader that left makes
 * the command fail like any other trouble.
 */
#ifndef PLIMSOLL_CLI_OUTPUT_H
#define PLIMSOLL_CLI_OUTPUT_H

#include "base/progress.h"
#include "base/text.h"
#include "cli/options.h"
#include "report/term/style.h"

#include "plimsoll/launch.h"

#include <stdio.h>

#define PLIM_OUTPUT_BYTES_MAX ((size_t)1 << 30)

/**
 * Before anything is printed: stdout gets a buffer that needs no allocation. PLIMSOLL_PROGRESS_FD
 * is taken out of the environment: programs that the command runs have neither the variable nor the
 * descriptor.
 */
void plim_output_begin(void);

/** A bar on standard error, or lines to the descriptor that the caller of the command named.
 * noun  what is counted, "events"; NULL: bytes. Both are borrowed until the bar is finished. */
void plim_output_progress(plim_progress_bar *bar, const char *label, const char *noun);

/** The style of results on a stream, or in a file (NULL), from the environment and the user's
 * options. */
plim_style plim_output_style(FILE *stream, plim_color_choice color, uint32_t width);

/** One line on stderr, "<who>: …". Strangers' text in it is cleaned like any other. */
void plim_say(const char *who, const char *format, ...) PLIM_PRINTF(2, 3);

/** Print a page, unless it could not be kept in memory; returns the exit status. A failure to
 * write is found on stdout; on stderr it could not be reported. */
int plim_output_page(const char *who, FILE *stream, const plim_text *page);

/** Says which of a command's outputs could not be written, unless its reader left. */
void plim_output_unwritten(const char *who, const plim_launched *launched);

/** After the last byte: checks that all arrived, and says so if not; returns the exit status. */
int plim_output_finish(const char *who);

#endif
