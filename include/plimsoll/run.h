/*
 * plimsoll/run.h - run a PyTorch program under the recorder, on this machine's own GPU or over the
 * stand-ins, and gather the account that its processes left.
 *
 *   plim_run() ──► a folder for the run ──► the program, with the agent in its environment
 *                        │                        │
 *                        └── process.json, dumps ◄┘ ──► plim_ran
 *
 * The program is the user's own, unchanged, and so are its output, its signals and its exit status.
 * The folder stays; docs/formats/run-folder.md describes it, docs/commands/run.md the command.
 */
#ifndef PLIMSOLL_RUN_H
#define PLIMSOLL_RUN_H

#include "plimsoll/launch.h"
#include "plimsoll/rehearse.h"

#include <stdbool.h>

PLIM_BEGIN_DECLS

/* The history that PyTorch records in each process. */
typedef enum plim_run_record {
    PLIM_RUN_RECORD_RING, /* the last events */
    PLIM_RUN_RECORD_OFF,
    PLIM_RUN_RECORD_ALL,
} plim_run_record;

#define PLIM_RUN_EVENTS_DEFAULT 100000
#define PLIM_RUN_DUMPS_DEFAULT  5
#define PLIM_RUN_KEPT_DEFAULT   10

/* All zero is valid. */
typedef struct plim_run_choice {
    const plim_mem *mem;
    plim_run_record record;
    uint64_t events;        /* of the ring; 0: PLIM_RUN_EVENTS_DEFAULT */
    uint64_t limit_bytes;   /* of each device, for each process; 0: all of it */
    const char *stop_on;    /* conditions that plim_run_check_stop() knows; NULL: none */
    const char *folder;     /* of this run; NULL: a new one beside those of earlier runs */
    uint32_t runs_kept;     /* beside it, this one included; 0: PLIM_RUN_KEPT_DEFAULT */
    uint32_t dumps_kept;    /* of each process; 0: PLIM_RUN_DUMPS_DEFAULT */
    bool is_quiet;          /* the recorder prints no line while the program runs */
    bool is_unrecorded;     /* no recorder and no folder: of `standins` alone */
    const char *techniques; /* to switch on, one a line, as plim_technique_find() takes them */
    const char *home;       /* folder of the agent; NULL: beside the library */
    /* Run it over the stand-ins; NULL: on this machine's own GPU. `mem`, `home` and `variables` are
     * replaced. */
    const plim_rehearse_options *standins;
} plim_run_choice;

/** PLIM_INVALID_ARGUMENT: not "leak", "reserved>95%", or both with a comma. */
PLIM_API PLIM_MUST_USE plim_status plim_run_check_stop(const char *conditions, plim_error *err);

/* ---- what became of it ----------------------------------------------------------------------- */

/* A process that used a device, as the driver lists it. */
typedef struct plim_ran_user {
    int64_t pid;
    const char *name; /* NULL: not known */
    uint64_t bytes;
} plim_ran_user;

/* A device as one process saw it. A figure that is not known is 0, a text NULL. */
typedef struct plim_ran_device {
    uint32_t device;
    const char *name;
    uint64_t total_bytes;
    bool has_free; /* else free_bytes has no meaning */
    uint64_t free_bytes;
    uint64_t allocated_bytes;
    uint64_t reserved_bytes;
    uint64_t active_bytes;
    uint64_t inactive_split_bytes;
    uint64_t peak_allocated_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t retries;
    uint64_t ooms;
    bool has_users; /* else the driver does not list them */
    const plim_ran_user *users;
    size_t user_count;
} plim_ran_device;

#define PLIM_RAN_GENERATIONS 3

/* Python's collector of cycles, generation by generation. */
typedef struct plim_ran_collector {
    bool is_known; /* else the rest has no meaning */
    bool is_enabled;
    uint64_t thresholds[PLIM_RAN_GENERATIONS];
    uint64_t counts[PLIM_RAN_GENERATIONS]; /* towards them */
    uint64_t collections[PLIM_RAN_GENERATIONS];
    uint64_t frozen; /* objects that it passes over: gc.freeze() */
} plim_ran_collector;

/* A document run-dump/1. */
typedef struct plim_ran_dump {
    const char *name; /* "001-oom" */
    uint64_t number;
    const char *reason; /* "oom", "exit", "signal", "request", "stop" */
    double time;        /* seconds since 1970 */
    double seconds;     /* that it took */
    uint64_t step;
    const char *error; /* text of the exception, or NULL */
    const char *where; /* "train.py:55 main", or NULL */
    const char *const *stack;
    size_t stack_count;
    bool ends_program; /* false: it was caught, or nothing failed */
    bool has_failure;
    plim_failed_request failure; /* for plim_judge() */
    const char *snapshot_path;   /* NULL: none, and: */
    const char *why_no_snapshot; /* NULL: not known */
    const char *why_no_history;  /* of a snapshot without one */
    const char *holders_path;
    const char *why_no_holders;
    const char *settings; /* in effect */
    plim_ran_collector collector;
    uint64_t host_resident_bytes;  /* of the process, */
    uint64_t host_available_bytes; /* and left on the machine; 0: not known */
    const plim_ran_device *devices;
    size_t device_count;
} plim_ran_dump;

/* A line where memory grows with every step. */
typedef struct plim_ran_growth {
    uint32_t device;
    double bytes_per_step;
    uint64_t since_step;
    const char *where;     /* NULL: not known */
    uint64_t full_at_step; /* 0: not known */
} plim_ran_growth;

/* A document run-process/1, and the dumps beside it. */
typedef struct plim_ran_process {
    int64_t pid;
    int64_t parent_pid;
    uint64_t rank;
    uint64_t local_rank;
    uint64_t world_size; /* at least 1 */
    const char *const *argv;
    size_t argv_count;
    const char *python;
    const char *torch;
    const char *cuda;
    const char *driver;
    double started; /* seconds since 1970; 0: not known */
    double written;
    const char
        *ended; /* "running" (or it was killed), "exit", "oom", "error", "signal", "stopped" */
    bool has_exit_status;
    int64_t exit_status;
    const char *exception;
    const char *stopped_on;
    const char *record;
    uint64_t events;
    bool history_is_programs; /* it records by itself */
    uint64_t limit_bytes;     /* 0: none */
    const char *settings_requested;
    const char *settings; /* in effect */
    uint64_t steps;
    const plim_ran_device *devices;
    size_t device_count;
    uint64_t oom_count; /* caught ones too */
    const plim_rehearsed_oom_place *ooms;
    size_t oom_place_count;
    const plim_ran_growth *growth;
    size_t growth_count;
    double agent_seconds;
    const char *const *warnings;
    size_t warning_count;
    const plim_ran_dump *dumps; /* by number */
    size_t dump_count;
} plim_ran_process;

typedef struct plim_run plim_run;

typedef struct plim_ran {
    const char *const *argv; /* borrowed from the caller */
    int exit_status;         /* the program's, or 128 + signal; why it was not started */
    double started;          /* seconds since 1970 */
    const char *folder; /* absolute; NULL: nothing was recorded, by no fault or with a warning */
    const plim_run_choice *choice; /* borrowed */
    /* Switched on from outside, all processes together: as of a rehearsal. */
    const plim_rehearsed_technique *techniques;
    size_t technique_count;
    const plim_ran_process *processes; /* those that used CUDA, by rank and start */
    size_t process_count;
    /* The process and the dump that answer for the run: the first failure that ended a process;
     * NULL: none did. */
    const plim_ran_process *main_process;
    const plim_ran_dump *main_dump;
    /* The dump of that process whose snapshot shows it: main_dump, or a later one; NULL: none. */
    const plim_ran_dump *main_snapshot;
    bool died_of_memory; /* by that dump, or by the launcher's judgement */
    const plim_oom_message
        *message;           /* about memory, of the program's output or that dump; or NULL */
    const char *why_unseen; /* a clause: why no dump answers, where it died of memory; or NULL */
    bool lacks_gpu;         /* it failed, and printed that this machine has no GPU */
    const char *const *warnings; /* sentences: documents that could not be read */
    size_t warning_count;
    plim_launched launched;
    plim_run *run; /* owns the rest */
} plim_ran;

/**
 * Run a program to its end, and gather its account.
 *
 * argv    its name, searched for in PATH, and arguments; ends in NULL; borrowed until
 *         plim_ran_deinit()
 * choice  may be NULL; borrowed likewise
 * launch  where its output goes; NULL: to the caller's. Its environment is replaced
 * ret     always filled; the caller's, until plim_ran_deinit()
 * errors  those of plim_launch() and, over the stand-ins, of plim_rehearsal_prepare();
 *         PLIM_INVALID_ARGUMENT: choice->stop_on; PLIM_IO: choice->folder cannot be made, or is of
 *         something else. What the recorder could not do is a warning
 * signals see plim_launch()
 * threads one call at a time in a process
 */
PLIM_API PLIM_MUST_USE plim_status plim_run_launch(const char *const *argv,
                                                   const plim_run_choice *choice,
                                                   const plim_launch_options *launch, plim_ran *ret,
                                                   plim_error *err);

/**
 * The account that lies in the folder of a run: what plim_run_launch() fills in, but for
 * `launched`.
 *
 * errors  PLIM_IO: there is no such folder; PLIM_OUT_OF_HOST_MEMORY. Files that cannot be read are
 *         warnings
 */
PLIM_API PLIM_MUST_USE plim_status plim_run_read(const char *folder, const plim_mem *mem,
                                                 plim_ran *ret, plim_error *err);

/** A zeroed one is allowed. The folder stays. */
PLIM_API void plim_ran_deinit(plim_ran *ran);

/** "ring", "off", "all"; a constant. */
PLIM_API const char *plim_run_record_name(plim_run_record record);

PLIM_END_DECLS

#endif
