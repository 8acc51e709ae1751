/*
 * running.h - a program under the recorder.
 *
 *   running_program.c   from its start to what is said after it: plimsoll run, plimsoll fit --apply
 *   running.c           what the account of a run shows: its last recording diagnosed, the objects
 *                       that held memory, and settings that would have saved it
 */
#ifndef PLIMSOLL_CLI_RUNNING_H
#define PLIMSOLL_CLI_RUNNING_H

#include "cli/replaying.h"
#include "report/model/run.h"

/* Zeroed: nothing was found. */
typedef struct plim_ran_account {
    plim_run_found found; /* what the page takes; points to the rest */
    plim_diagnosed diagnosed;
    plim_holders *holders;
    char *files[1];
    plim_replay_arguments arguments;
    plim_replaying replaying;
    plim_tuning *tuning;
} plim_ran_account;

/**
 * Read and diagnose what lies in the run's folder. A part that cannot be had is left out: where it
 * should not be, a line on stderr says why.
 *
 * ran  borrowed until plim_ran_account_end(); plim_run_has_account() is true of it
 */
void plim_ran_account_find(const char *who, const plim_ran *ran, plim_ran_account *ret);
/** A zeroed one is allowed. */
void plim_ran_account_end(plim_ran_account *self);

/* A program that is to be run. */
typedef struct plim_running_wanted {
    const plim_asked *asked; /* of the page and the document of the run */
    plim_run_view view;
    const plim_run_choice *how;
    bool has_document; /* on standard output: the program's own goes to standard error */
} plim_running_wanted;

/** Run it; returns the exit status, which is the program's own unless --stop-on ended it. */
int plim_running_program(const char *who, char *const *argv, const plim_running_wanted *wanted);

#endif
