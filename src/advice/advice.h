/*
 * advice.h - what helps: a table of fixes, and the choice of those that apply to a case.
 *
 * Each row says when it applies; rows stand in the order in which to try them. What a text shows
 * to be in force already is not advised again.
 */
#ifndef PLIMSOLL_ADVICE_ADVICE_H
#define PLIMSOLL_ADVICE_ADVICE_H

#include "base/arena.h"
#include "verdict/request.h"

#include "plimsoll/advice.h"
#include "plimsoll/status.h"

/* The most that is shown: a longer list is not read. */
#define PLIM_ADVICE_MAX 6

/* Ids of findings, beside those of verdicts, that have advice. */
#define PLIM_FINDING_LEAK "memory.leak" /* memory grows step by step */

/**
 * The fixes for a failed request, best first: by its verdict, family, topic and figures.
 *
 * arena   strings that carry figures are made in it; the others are constants
 * ret     array in the arena; *ret_count is 0 when nothing helps
 * errors  PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_advise(const plim_failed_request *oom,
                                      const plim_judgement *judgement, plim_arena *arena,
                                      const plim_advice **ret, size_t *ret_count, plim_error *err);

/**
 * The fixes for any other finding, by its id; none for an id that has no list.
 *
 * program  a request without figures: its family, what is in force, whether it leaks
 */
PLIM_MUST_USE plim_status plim_advise_finding(const plim_finding *finding,
                                              const plim_failed_request *program, plim_arena *arena,
                                              const plim_advice **ret, size_t *ret_count,
                                              plim_error *err);

#endif
