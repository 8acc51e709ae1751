/*
 * export.h - what was written, and what opens it.
 */
#ifndef PLIMSOLL_REPORT_MODEL_EXPORT_H
#define PLIMSOLL_REPORT_MODEL_EXPORT_H

#include "report/model/page.h"

#include "plimsoll/export.h"

typedef struct plim_exported {
    const char *source; /* the file that was read */
    const char *path;   /* the one that was written; "-": standard output */
    plim_export_what what;
    const plim_export_result *result;
} plim_exported;

void plim_export_page(plim_page *page, const plim_exported *exported);

#endif
