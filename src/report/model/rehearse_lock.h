/*
 * rehearse_lock.h - the page of a rehearsal that is held to a lock, or makes one.
 */
#ifndef PLIMSOLL_REPORT_MODEL_REHEARSE_LOCK_H
#define PLIMSOLL_REPORT_MODEL_REHEARSE_LOCK_H

#include "base/text.h"
#include "report/model/page.h"

#include "plimsoll/lock.h"
#include "plimsoll/upgrade.h"

/* A rehearsal that was held to an entry of a lock. */
typedef struct plim_rehearse_check {
    const char *path; /* of the lock */
    const plim_lock_entry *locked;
    const plim_lock_entry *now;
    const plim_lock_comparison *comparison;
    plim_upgrade_limit limit;
} plim_rehearse_check;

/**
 * The answer, each figure that changed, and the lines that grew.
 *
 * ret_annotation  NULL, or where a line for GitHub goes at the code that grew most; of a rehearsal
 *                 that holds nothing
 */
void plim_rehearse_check_page(plim_page *page, const plim_rehearse_check *check,
                              plim_text *ret_annotation);
/** One line: which peaks are kept where. */
void plim_rehearse_locked_page(plim_page *page, const char *path, const plim_lock_entry *entry);

#endif
