/*
 * rehearsing.h - the parts of `plimsoll rehearse`.
 *
 *   cmd_rehearse.c         the command line, and which part it leads to
 *   rehearsing_once.c      one rehearsal, its explanation and diagnosis
 *   rehearsing_search.c    many of one command: a sweep, or the largest value that fits
 *   rehearsing_upgrade.c   one program in two environments, or with many releases of a package
 */
#ifndef PLIMSOLL_CLI_REHEARSING_H
#define PLIMSOLL_CLI_REHEARSING_H

#include "base/text.h"
#include "cli/locking.h"
#include "cli/options.h"

#include "plimsoll/upgrade.h"

/* The command line. */
typedef struct plim_rehearse_asked {
    plim_asked asked;
    plim_rehearse_options how;
    plim_text techniques; /* of --with, one a line */
    bool lists_gpus;
    bool accepts_tight;
    bool accepts_at_least;
    bool all; /* of the explanation */
    bool does_not_retry;
    bool diagnoses;
    const char *find_batch; /* a command with {} in it */
    const char *sweep;      /* values */
    const char *against;    /* a Python, or requirements */
    const char *bisect;     /* a package, */
    char *bisect_from;      /* and the releases to search */
    char *bisect_to;
    bool takes_pre_releases;
    bool is_offline;
    plim_upgrade_limit limit; /* of growth, for these and the check of a lock */
    plim_locking locking;
} plim_rehearse_asked;

/* Each does all that is asked and returns the exit status. `who` is the name that messages begin
 * with. */

int plim_rehearsing_once(const char *who, const plim_rehearse_asked *arguments);
int plim_rehearsing_sweep(char *who, const plim_rehearse_asked *arguments);
int plim_rehearsing_find_batch(char *who, const plim_rehearse_asked *arguments);
int plim_rehearsing_against(const char *who, const plim_rehearse_asked *arguments);
int plim_rehearsing_bisect(char *who, const plim_rehearse_asked *arguments);

/** The exit status of a verdict; verdicts that --accept names are successes. */
int plim_rehearsing_status(const plim_rehearse_asked *arguments, plim_rehearsed_verdict verdict);

#endif
