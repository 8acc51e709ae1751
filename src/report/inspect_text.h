/*
 * inspect_text.h - the terminal page of one inspected file.
 */
#ifndef PLIMSOLL_REPORT_INSPECT_TEXT_H
#define PLIMSOLL_REPORT_INSPECT_TEXT_H

#include "report/inspect_page.h"

/* A page has one screen or a few; with all frames of all stacks it may have many. */
#define PLIM_INSPECT_TEXT_BYTES_MAX ((size_t)1 << 30)

/**
 * Write the page of a file that could be read.
 *
 * mem      for scratch; NULL is the heap
 * out      appended to; whether all went well is its status (base/text.h)
 */
void plim_inspect_text_write(const plim_mem *mem, plim_text *out, const plim_style *style,
                             const plim_inspect_view *view, const plim_inspect_file *file);

#endif
