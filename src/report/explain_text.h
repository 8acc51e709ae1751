/*
 * explain_text.h - the page of an explained text: the answer first, then what to do.
 */
#ifndef PLIMSOLL_REPORT_EXPLAIN_TEXT_H
#define PLIMSOLL_REPORT_EXPLAIN_TEXT_H

#include "report/explain_page.h"

#define PLIM_EXPLAIN_TEXT_BYTES_MAX ((size_t)64 << 20)

/** What a text has messages or series for: else there is no page, and nothing is written. */
bool plim_explain_text_has_page(const plim_explain_view *view, const plim_explained *file);

/**
 * Write the page of a text.
 *
 * out  takes it; ask plim_text_status() afterwards
 */
void plim_explain_text_write(plim_text *out, const plim_style *style, const plim_explain_view *view,
                             const plim_explained *file);

#endif
