/*
 * plimsoll/launch.h - run a command as if nothing stood between, and learn whether it died of
 * memory.
 *
 *            stdin ───────────────────────────► command       inherited, never touched
 *   our stdout ◄── copied as it comes ◄── pipe or pty ◄──┤
 *   our stderr ◄── copied as it comes ◄── pipe or pty ◄──┘
 *                         └──► explainer, callback
 *
 * Bytes are passed on before they are read, and a failure to read them does not end the passing.
 * docs/design/launch.md argues for each decision.
 */
#ifndef PLIMSOLL_LAUNCH_H
#define PLIMSOLL_LAUNCH_H

#include "plimsoll/explain.h"

#include <stdbool.h>

PLIM_BEGIN_DECLS

/* The processes among which victims of the kernel's out-of-memory killer were counted. */
typedef enum plim_launch_kill_scope {
    PLIM_LAUNCH_KILLS_UNKNOWN, /* the kernel does not count */
    PLIM_LAUNCH_KILLS_MACHINE, /* all of this machine */
    PLIM_LAUNCH_KILLS_CGROUP,  /* those of the control group that the command ran in */
} plim_launch_kill_scope;

/* Exit statuses for a command that could not be run, as shells and env(1) give them. */
enum {
    PLIM_LAUNCH_FAILED = 3, /* no process, pipe or memory could be had */
    PLIM_LAUNCH_NOT_EXECUTABLE = 126,
    PLIM_LAUNCH_NOT_FOUND = 127,
    PLIM_LAUNCH_SIGNALLED = 128, /* plus the number of the signal */
};

#define PLIM_LAUNCH_STREAMS 2 /* standard output and standard error */

/* All zero is valid. */
typedef struct plim_launch_options {
    plim_explain_options explain; /* for the command's output; buffers come from its mem too */
    char *const *environment;     /* for execve(); NULL: the caller's */
    /*
     * Descriptors that take the command's standard output and standard error, -1 for nowhere;
     * NULL: 1 and 2. Two that are one file get one stream, so that the order is kept.
     */
    const int *outputs;
    /* Called with each piece that was read; NULL: not. `stream` is 0 for output, 1 for error. */
    void (*output)(void *ctx, int stream, const char *data, size_t bytes);
    void *output_ctx;
    /* It gets SIGTERM after so long, and SIGKILL soon after that; 0: it may take its time. */
    double seconds_max;
    bool has_fixed_addresses; /* without address randomisation, where the system allows it */
    bool ends_with_caller;    /* it is killed where the thread that launched it is */
} plim_launch_options;

typedef struct plim_launched {
    int exit_status; /* the command's, or 128 + signal; one of the above if it was not started */
    int signal;      /* the signal that ended it, or 0 */
    bool was_killed; /* by SIGKILL: the command, or by the status, what a shell ran for it */
    double seconds;  /* from the start of the command to its end */
    bool timed_out;  /* it was ended for seconds_max */
    /* Why writing to each output ended early (errno), or 0. EPIPE: its reader left. */
    int write_errno[PLIM_LAUNCH_STREAMS];

    plim_launch_kill_scope kill_scope;
    uint64_t kill_count; /* victims in that scope while it ran; 0 where the scope is unknown */

    /* Read from both streams; NULL: not started, or reading failed with explain_error. */
    plim_explanation *explanation;
    plim_error explain_error;

    /* It failed, and either printed a message about memory or the kernel killed for memory. */
    bool died_of_memory;
    /* Part of that: the kernel's out-of-memory killer was at work. */
    bool was_oom_killed;
    /* Killed without a message, and kill_scope is unknown: possibly for memory. */
    bool may_be_oom_killed;
} plim_launched;

/**
 * Run a command to its end, passing its output through.
 *
 * argv     the command, searched for in PATH unless it has a slash, and arguments; ends in NULL
 * options  may be NULL
 * ret      always filled; the caller's, until plim_launched_deinit()
 * errors   PLIM_INVALID_ARGUMENT: not found, or not executable; PLIM_IO; PLIM_OUT_OF_HOST_MEMORY
 * signals  INT, TERM, HUP, QUIT, USR1 and USR2 for this process are forwarded to the command. The
 *          signal mask and the action for SIGCHLD change during the call; SIGPIPE is to be ignored
 * threads  one call at a time in a process: it waits for all children
 * source   docs/design/launch.md
 */
PLIM_API PLIM_MUST_USE plim_status plim_launch(char *const *argv,
                                               const plim_launch_options *options,
                                               plim_launched *ret, plim_error *err);

/** A zeroed one is allowed. */
PLIM_API void plim_launched_deinit(plim_launched *launched);

PLIM_END_DECLS

#endif
