/*
 * draw.h - a page on a terminal.
 */
#ifndef PLIMSOLL_REPORT_TERM_DRAW_H
#define PLIMSOLL_REPORT_TERM_DRAW_H

#include "base/text.h"
#include "report/model/page.h"
#include "report/term/style.h"

/** Draw all of a page. out  appended to; fails if the page did */
void plim_page_draw(plim_text *out, const plim_style *style, const plim_page *page);

#endif
