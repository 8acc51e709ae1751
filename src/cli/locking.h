/*
 * locking.h - `rehearse --lock` and `--check`: peaks kept in a file, and held to.
 */
#ifndef PLIMSOLL_CLI_LOCKING_H
#define PLIMSOLL_CLI_LOCKING_H

#include "base/text.h"
#include "report/model/page.h"

#include "plimsoll/lock.h"
#include "plimsoll/upgrade.h"

#include <argp.h>

/* Options. All zero: neither. */
typedef struct plim_locking {
    const char *lock;
    const char *check;
    bool annotates; /* for GitHub */
} plim_locking;

/* A lock while its rehearsal runs. */
typedef struct plim_locking_work {
    const plim_locking *options;
    plim_upgrade_limit limit;
    plim_lock *lock; /* of the file; NULL: without both options */
    plim_lock *now;
    plim_lock_comparison comparison;
    plim_text annotation; /* to be printed beside the page */
} plim_locking_work;

/** Ends the program where the options do not go together. */
void plim_locking_check_options(struct argp_state *state, const plim_locking *locking,
                                bool is_search);

/** Read the file before anything runs. Returns the exit status; work  the caller's in any case */
int plim_locking_begin(const char *who, const plim_locking *options, plim_upgrade_limit limit,
                       plim_locking_work *work);
/**
 * Hold the rehearsal to the file, or write it there, and say so on the page.
 *
 * status   the exit status without a lock
 * returns  with it
 */
int plim_locking_end(const char *who, plim_locking_work *work, const plim_rehearsed *rehearsed,
                     const plim_rehearse_options *how, plim_page *page, int status);
/** A zeroed one is allowed. */
void plim_locking_deinit(plim_locking_work *work);

#endif
