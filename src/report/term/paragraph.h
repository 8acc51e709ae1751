/*
 * paragraph.h - words over as many lines as they need.
 */
#ifndef PLIMSOLL_REPORT_TERM_PARAGRAPH_H
#define PLIMSOLL_REPORT_TERM_PARAGRAPH_H

#include "report/term/line.h"

/**
 * Write words, wrapped.
 *
 * lead   stands before the words, which hang after it; may be ""
 * words  runs of blanks count as one; a word that is longer than a line is cut
 */
void plim_paragraph_write(plim_text *out, const plim_style *style, uint32_t indent, plim_tone tone,
                          const char *lead, const char *words);

/* The same for words in several tones. */
typedef struct plim_paragraph {
    uint32_t indent;
    plim_tone tone; /* of the lead */
    const char *lead;
    uint32_t hang; /* columns of the lead, if it has fewer */
    const plim_page_span *spans;
    size_t span_count;
} plim_paragraph;

void plim_paragraph_draw(plim_text *out, const plim_style *style, const plim_paragraph *paragraph);

/** Draw a text of a page in its layout: wrapped, or on one line. indent  where its lines begin */
void plim_text_item_draw(plim_text *out, const plim_style *style, const plim_item *item,
                         uint32_t indent);

#endif
