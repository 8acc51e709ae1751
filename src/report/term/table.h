/*
 * table.h - aligned columns: words to the left, numbers to the right.
 *
 * Each column is as wide as its widest cell. When the page is too narrow, columns that may leave
 * do, gaps shrink, then paths, then words; numbers stay.
 */
#ifndef PLIMSOLL_REPORT_TERM_TABLE_H
#define PLIMSOLL_REPORT_TERM_TABLE_H

#include "report/term/line.h"

#define PLIM_TABLE_COLUMNS_MAX 12u

/** Draw titles, rows, and what stands below rows. */
void plim_table_draw(plim_text *out, const plim_style *style, const plim_item *item);

#endif
