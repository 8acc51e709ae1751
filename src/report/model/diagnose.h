/*
 * diagnose.h - what `plimsoll diagnose` has in hand, and the page it makes of it.
 */
#ifndef PLIMSOLL_REPORT_MODEL_DIAGNOSE_H
#define PLIMSOLL_REPORT_MODEL_DIAGNOSE_H

#include "report/model/page.h"

#include "plimsoll/diagnose.h"

/* One file as it was read and diagnosed, or why it was not. */
typedef struct plim_diagnosed {
    const char *path;          /* as the user named it; "-" is standard input */
    plim_history *history;     /* owned by the command; NULL: it could not be read, see error */
    plim_diagnosis *diagnosis; /* likewise */
    plim_error error;
    plim_error holders_error; /* why the document of holders beside it was not used, or PLIM_OK */
    /* The sentences of evidence with their figures, of all devices and findings in their order;
     * in the page. */
    const char **sentences;
} plim_diagnosed;

/* Options of the page. All zero is a valid default. */
typedef struct plim_diagnose_view {
    bool all; /* more than the first screen */
    bool full_paths;
    bool one_device; /* only this one: */
    int32_t device;
    uint32_t top; /* rows of a table; 0: a usual number */
} plim_diagnose_view;

/** A file's sentences, which lie in the page; done once. After a failure of the page they are not
 * to be read. */
void plim_diagnose_sentences(plim_page *page, plim_diagnosed *file);

/** The page of one file. file  borrowed for the call */
void plim_diagnose_page(plim_page *page, const plim_diagnose_view *view, plim_diagnosed *file);

#endif
