/*
 * paragraph.h - words that fill as many lines as they need.
 */
#ifndef PLIMSOLL_REPORT_PARAGRAPH_H
#define PLIMSOLL_REPORT_PARAGRAPH_H

#include "report/line.h"

/**
 * Write words in lines `indent` columns from the left. The first line opens with `lead` (a mark,
 * "" for none), the others are indented by as much. A word longer than a line is cut.
 */
void plim_paragraph_write(plim_text *out, const plim_style *style, uint32_t indent, plim_tone tone,
                          const char *lead, const char *words);

/** The same for what printf() makes of it, up to 1023 bytes. Without a lead. */
void plim_paragraph_format(plim_text *out, const plim_style *style, uint32_t indent, plim_tone tone,
                           const char *format, ...) PLIM_PRINTF(5, 6);

#endif
