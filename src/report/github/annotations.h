/*
 * annotations.h - findings as annotations of GitHub's: a line each of what a job prints, which
 * stands at the line of code in the change under review.
 *
 *   ::warning file=train.py,line=42,title=plimsoll%3A leak.loss_kept::a loss is kept, …
 *
 * The format: docs.github.com, "Workflow commands for GitHub Actions", "Setting an error message".
 */
#ifndef PLIMSOLL_REPORT_GITHUB_ANNOTATIONS_H
#define PLIMSOLL_REPORT_GITHUB_ANNOTATIONS_H

#include "base/text.h"
#include "report/model/diagnose.h"

/**
 * The annotations of a file that has been diagnosed: of each finding that decides or is a warning.
 *
 * file      its sentences are made if they are missing
 * ret_text  the caller's
 * errors    PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_diagnose_annotate(plim_diagnosed *file, plim_text *ret_text,
                                                 plim_error *err);

/**
 * One annotation, of anything.
 *
 * frame  its place, or PLIM_NONE
 * level  "notice", "warning" or "error"
 */
void plim_annotation_add(plim_text *out, const plim_history *history, uint32_t frame,
                         const char *level, const char *title, const char *words);

#endif
