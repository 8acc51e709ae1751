/*
 * run.h - the state of a run, for the files of this room.
 *
 *   run.c        launch and read: the order of things
 *   place.c      the folder of a run among others, and which of those goes
 *   armed.c      the environment that arms the recorder
 *   run_file.c   run.json
 *   gather.c     processes and dumps of a folder
 *   answer.c     those that answer for the run
 *   documents.c  process.json and the documents of dumps
 *   unseen.c     why the recorder did not see a failure
 */
#ifndef PLIMSOLL_RUN_RUN_H
#define PLIMSOLL_RUN_RUN_H

#include "base/arena.h"
#include "base/vec.h"
#include "plimsoll/run.h"
#include "rehearse/folder.h"
#include "json/document.h"

#define PLIM_RUN_FILE "run.json"

struct plim_run {
    plim_arena arena; /* of all that lives as long as the run */
    char folder[PLIM_PATH_BYTES];
    bool is_own_folder;       /* it was not chosen */
    int lock;                 /* held while it runs; -1: none */
    plim_rehearsal *standins; /* NULL: this machine's own GPU */
    char **environment;
    plim_explanation *of_dump; /* of the main dump's text */
    PLIM_VEC(const char *) warnings;
    PLIM_VEC(plim_ran_process) processes;
    bool is_out_of_memory;
};

/* A sentence for plim_ran.warnings; it is copied. */
void plim_run_warn(plim_run *run, const char *text);

/* ---- place.c --------------------------------------------------------------------------------- */

/*
 * Makes the folder of the run, for this user alone, and locks it. Where none was chosen it is
 * "<state>/plimsoll/runs/<date>-<time>-<program>-<pid>", and the oldest of those beyond
 * choice->runs_kept are removed, but none that is locked or has a process that lives.
 *
 * errors  PLIM_IO: it cannot be made, or choice->folder has files of something else
 */
PLIM_MUST_USE plim_status plim_run_place(plim_run *run, const char *const *argv,
                                         const plim_run_choice *choice, plim_error *err);
/* Ends the lock. */
void plim_run_leave(plim_run *run);
/* Nothing was run: a folder that was not chosen goes, and run->folder is empty. */
void plim_run_give_up_place(plim_run *run);
/* "train" of "python -u train.py --batch 8": the name of the folder, at most `bytes` with its zero.
 */
void plim_run_name(const char *const *argv, char *name, size_t bytes);

/* ---- armed.c --------------------------------------------------------------------------------- */

#define PLIM_RUN_VARIABLES_MAX 12

/* Variables that arm the recorder, but for PYTHONPATH; ends in a NULL name. Without a folder it is
 * not armed.
 */
PLIM_MUST_USE plim_status plim_run_variables(plim_run *run, const plim_run_choice *choice,
                                             plim_rehearse_variable ret[PLIM_RUN_VARIABLES_MAX],
                                             plim_error *err);
/* Fills run->environment for this machine's own GPU. */
PLIM_MUST_USE plim_status plim_run_arm(plim_run *run, const plim_run_choice *choice,
                                       plim_error *err);

/* ---- run_file.c ------------------------------------------------------------------------------ */

/* Seconds since 1970. */
double plim_run_clock(void);
/* Writes run.json; launched  NULL: the program is about to start. */
PLIM_MUST_USE plim_status plim_run_file_write(const plim_run *run, const char *const *argv,
                                              const plim_run_choice *choice, double started,
                                              const plim_launched *launched, plim_error *err);

/* ---- gather.c, answer.c, documents.c --------------------------------------------------------- */

/* Fills run->processes; what cannot be read is a warning. PLIM_OUT_OF_HOST_MEMORY. */
PLIM_MUST_USE plim_status plim_run_gather(plim_run *run, plim_error *err);
/* Fills main_process, main_dump and main_snapshot, from ret's processes and exit status. */
void plim_run_choose_main(plim_ran *ret);
/* True if the message that the program printed is of a failure that it caught, and it ended by
 * something else. */
bool plim_run_was_caught(const plim_ran *ran, const plim_oom_message *message);

/* The document of a process, read. PLIM_UNSUPPORTED: not of schema run-process/1;
 * PLIM_OUT_OF_HOST_MEMORY. */
PLIM_MUST_USE plim_status plim_run_process_take(yajl_val root, const char *path, plim_arena *arena,
                                                plim_ran_process *ret, plim_error *err);
/* The same of its file. PLIM_CORRUPT, PLIM_IO, PLIM_LIMIT. */
PLIM_MUST_USE plim_status plim_run_process_read(const char *path, plim_arena *arena,
                                                plim_ran_process *ret, plim_error *err);
/* The document `name` of a folder, read; files that it names have a path if they are there. Errors:
 * as above. */
PLIM_MUST_USE plim_status plim_run_dump_take(yajl_val root, const char *folder, const char *name,
                                             plim_arena *arena, plim_ran_dump *ret,
                                             plim_error *err);
PLIM_MUST_USE plim_status plim_run_dump_read(const char *folder, const char *name,
                                             plim_arena *arena, plim_ran_dump *ret,
                                             plim_error *err);

/* ---- unseen.c -------------------------------------------------------------------------------- */

/* For plim_ran.why_unseen; a constant. */
const char *plim_run_why_unseen(const plim_ran *ran);
/* True if the end of the program's output says that there is no GPU. */
bool plim_run_lacks_gpu(const char *output, size_t bytes);

#endif
