/*
 * rehearse.h - the pages of `plimsoll rehearse`.
 *
 *   rehearse.c          what was run, the answer, and the order of the rest; the table of a search
 *   rehearse_need.c     what a program that ran out would need
 *   rehearse_figures.c  peaks, of processes and of devices
 *   rehearse_phases.c   peaks by phase and by step
 *   rehearse_ends.c     how it ended without an answer; failures that it survived; a search's end
 *   rehearse_upgrade.c  one program in two environments: see rehearse_upgrade.h
 *   rehearse_limitations.c   values that were read, what is modelled, what was called
 */
#ifndef PLIMSOLL_REPORT_MODEL_REHEARSE_H
#define PLIMSOLL_REPORT_MODEL_REHEARSE_H

#include "report/model/page.h"

#include "plimsoll/rehearse.h"

/**
 * The page of a rehearsal: whether it fits, what it takes, when, and how sure that is.
 *
 * lists_calls  every function that was called, and what it is
 */
void plim_rehearse_page(plim_page *page, const plim_rehearsed *rehearsed, bool lists_calls);
/** Its first lines: the program, PyTorch and the GPU. */
void plim_rehearse_page_command(plim_page *page, const plim_rehearsed *rehearsed);
/** A verdict as words: "out of memory". */
const char *plim_rehearsed_verdict_text(plim_rehearsed_verdict verdict);
/** The page of a search or a sweep. */
void plim_rehearse_tries_page(plim_page *page, const plim_rehearse_tries *tries);

#endif
