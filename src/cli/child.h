/*
 * child.h - another command, run as if we were not there, and what its output says of memory.
 *
 *            stdin ───────────────────────────► command       inherited, never touched
 *   our stdout ◄── copied as it comes ◄── pipe or pty ◄──┤
 *   our stderr ◄── copied as it comes ◄── pipe or pty ◄──┘
 *                         └──► explainer
 *
 * Bytes are passed on before they are looked at, and whatever becomes of the looking, the passing
 * goes on. docs/design/child.md argues for all of this.
 */
#ifndef PLIMSOLL_CLI_CHILD_H
#define PLIMSOLL_CLI_CHILD_H

#include "plimsoll/explain.h"

/* Whose victims of the kernel's out-of-memory killer were counted while the command ran. */
typedef enum plim_child_kill_scope {
    PLIM_CHILD_KILLS_UNKNOWN, /* the kernel does not say */
    PLIM_CHILD_KILLS_SYSTEM,  /* any on this machine */
    PLIM_CHILD_KILLS_CGROUP,  /* those of the control group that the command ran in */
} plim_child_kill_scope;

/* Statuses of a command that could not be run, the same that shells and env(1) give. */
enum {
    PLIM_CHILD_NOT_EXECUTABLE = 126,
    PLIM_CHILD_NOT_FOUND = 127,
    PLIM_CHILD_SIGNALLED = 128, /* and the number of the signal */
};

typedef struct plim_child_result {
    bool was_started;
    int exit_status; /* for our own exit: the command's, or 128 + signal; else 126, 127 or 3 */
    int signal;      /* that ended it, 0 if none did */
    bool was_killed; /* by SIGKILL, itself or, by the status, what a shell ran for it */

    plim_child_kill_scope kill_scope;
    uint64_t kill_count; /* victims in that scope while it ran; 0 where the scope is unknown */

    /*
     * What was read from both streams. NULL when not started, or when memory for reading ran
     * out: then explain_error tells, and all output was passed on nevertheless.
     */
    plim_explanation *explanation;
    plim_error explain_error;

    /* It failed, and either a message about memory was read or the kernel killed for memory. */
    bool died_of_memory;
    /* Part of that: the kernel's out-of-memory killer was at work. */
    bool was_oom_killed;
    /* Killed, no message, and kill_scope is unknown: it may have been memory, nobody can tell. */
    bool may_be_oom_killed;
} plim_child_result;

/* What to run. */
typedef struct plim_child_command {
    char *const *argv;        /* ends in NULL and has at least the command; searched for in PATH */
    char *const *environment; /* NULL: ours */
} plim_child_command;

/**
 * Run a command to its end, passing its output through.
 *
 * who      heads the one line on stderr that tells why it could not be run
 * options  as for plim_explainer_create(), NULL is all zero; buffers come from its mem too
 * ret      always filled
 * signals  those for us (INT, TERM, HUP, QUIT, USR1, USR2) reach the command. Not reentrant:
 *          changes the signal mask, and brings it back
 */
void plim_child_run(const char *who, const plim_child_command *command,
                    const plim_explain_options *options, plim_child_result *ret);

/** A zeroed one is allowed. */
void plim_child_result_deinit(plim_child_result *result);

#endif
