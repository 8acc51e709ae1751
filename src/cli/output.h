/*
 * output.h - the two streams: results on stdout, words to the human on stderr.
 *
 * Whether results arrived is found out once, at the end; a full disk or a reader that left makes
 * the command fail like any other trouble.
 */
#ifndef PLIMSOLL_CLI_OUTPUT_H
#define PLIMSOLL_CLI_OUTPUT_H

#include "base/text.h"
#include "report/model/page.h"
#include "report/term/style.h"

#include "plimsoll/api.h"

#include <stdio.h>

#define PLIM_OUTPUT_BYTES_MAX ((size_t)1 << 30)

/** Before anything is printed: stdout gets a buffer that needs no allocation. */
void plim_output_begin(void);

/** How results may look on stdout, from the environment and what the user asked for. */
plim_style plim_output_style(plim_color_choice color, uint32_t width);

/** The same for another stream: results of a command that owns stdout go to stderr. */
plim_style plim_output_style_on(FILE *stream, plim_color_choice color, uint32_t width);

/** One line on stderr, "<who>: …". Strangers' text in it is cleaned like any other. */
void plim_say(const char *who, const char *format, ...) PLIM_PRINTF(2, 3);

/** Print a page, unless it could not be kept in memory; returns the exit status. */
int plim_output_page(const char *who, const plim_text *page);

/** The same on stderr: nobody can be told when that fails. */
int plim_output_page_on_stderr(const char *who, const plim_text *page);

/** Draw a page on a stream, stdout or stderr; returns the exit status. */
int plim_output_draw(const char *who, FILE *stream, const plim_style *style, const plim_page *page);

/** After a document was written: says what failed before its first byte; the exit status. */
int plim_output_document(const char *who, plim_status status, const plim_error *err);

/** After the last byte: whether all arrived. Says so if not; returns the exit status. */
int plim_output_finish(const char *who);

#endif
