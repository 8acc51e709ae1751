/*
 * line.h - one line of a page while it is written: it knows its columns and never passes the last.
 *
 * All that a page shows goes through here, and here alone it is cleaned (printable.h), coloured
 * and cut. What does not fit ends in an ellipsis; after that the line takes nothing more. Text
 * that could not be kept for want of memory is remembered by its plim_text.
 */
#ifndef PLIMSOLL_REPORT_TERM_LINE_H
#define PLIMSOLL_REPORT_TERM_LINE_H

#include "base/text.h"
#include "report/model/page.h"
#include "report/term/style.h"

typedef struct plim_term_line {
    plim_text *out;
    const plim_style *style;
    uint32_t indent; /* where it began */
    uint32_t used;   /* columns written, the indent too */
    uint32_t limit;  /* columns there are */
    bool is_full;    /* something was cut */
} plim_term_line;

/** Begin a line `indent` columns from the left. */
plim_term_line plim_term_line_begin(plim_text *out, const plim_style *style, uint32_t indent);

/** Add text, cut at the end of the line. The bytes may come from anywhere. */
void plim_term_line_add(plim_term_line *line, plim_tone tone, const char *text);
void plim_term_line_add_bytes(plim_term_line *line, plim_tone tone, const char *data, size_t bytes);
/** Add text in exactly `columns` columns, cut or filled with spaces. */
void plim_term_line_add_cell(plim_term_line *line, plim_tone tone, const char *text,
                             uint32_t columns, plim_align align);
void plim_term_line_add_span(plim_term_line *line, const plim_page_span *span, uint32_t columns,
                             plim_align align);
/** Add `count` times the same glyph. */
void plim_term_line_repeat(plim_term_line *line, plim_tone tone, const char *glyph, uint32_t count);
/** Fill with spaces up to `column`; nothing when the line is there already. */
void plim_term_line_to(plim_term_line *line, uint32_t column);
/** The number of columns left. */
uint32_t plim_term_line_left(const plim_term_line *line);
void plim_term_line_end(plim_term_line *line);

/** Columns that text takes in this style. */
uint32_t plim_style_columns(const plim_style *style, const char *text);
uint32_t plim_span_columns(const plim_style *style, const plim_page_span *span);

#endif
