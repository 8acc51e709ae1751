/*
 * rehearsal.h - the state of a rehearsal, for the files of this room.
 *
 *   rehearsal.c     prepare, finish, destroy: the order of things
 *   program.c       our own files: the stand-ins and the agent; the Python of a program
 *   ask.c           a script of ours run with a Python
 *   discovery.c     what that Python has: versions of PyTorch, objects that want CUDA
 *   environment.c   the environment that leads the program to the stand-ins, and Triton's files
 *   folder.c        the folder of the run, and how it goes away again
 *   outcome.c       what was left on the stage and by the agents
 *   device_use.c    the error bar of a device's use
 *   process_file.c  what one agent wrote
 *   with_file.c     what became of techniques that were switched on, as processes report it
 *   run.c           all of that in one call, and the verdict
 *   reason.c        why there is no answer: the program failed, or used no GPU
 *   advise.c        the advice, by what is known of the program
 *   again.c         the program of a rehearsal once more, unheard
 *   need.c          what a program that ran out would need: once more, without the limit
 *   late.c          whether it fits with work that ends late: once more
 *   need_parts.c    the memory at its peak, by category
 *   tried.c         settings that are advised, each rehearsed
 *   signals.c       those that would end this process, held
 *   record.c        snapshots as files of the caller's choice
 *   search.c        many rehearsals of one command
 *   upgrade.c       environments with another release of a package
 *   bisect.c        the release with which memory grew
 */
#ifndef PLIMSOLL_REHEARSE_REHEARSAL_H
#define PLIMSOLL_REHEARSE_REHEARSAL_H

#include "base/arena.h"
#include "facade/facade.h"
#include "plimsoll/rehearse.h"
#include "rehearse/folder.h"
#include "rehearse/reason.h"
#include "stage/stage.h"

/* Names in the folder of a run; environment variables pass them to the agent and the stand-ins. */
#define PLIM_RUN_STAGE   "stage"
#define PLIM_RUN_LIB     "lib"
#define PLIM_RUN_RESULTS "results"
#define PLIM_RUN_LINK    "link" /* of libraries for Triton's linker */

struct plim_rehearsal {
    plim_arena arena; /* of all that lives as long as the rehearsal */
    char home[PLIM_PATH_BYTES];
    char folder[PLIM_PATH_BYTES];
    plim_stage *stage;
    uint64_t margin_bytes;
    const char *techniques; /* that were wanted, one a line; NULL: none */
    char **argv;
    char **environment;
    plim_rehearsal_outcome outcome;
};

/* The GPU that options name, and the memory of each device. */
PLIM_MUST_USE plim_status plim_rehearse_gpu(const plim_rehearse_options *options,
                                            const plim_gpu **ret, uint64_t *ret_capacity_bytes,
                                            plim_error *err);

/* ---- environment.c --------------------------------------------------------------------------- */

/*
 * Our own environment with what a rehearsal adds, in the rehearsal's arena; and files for Triton.
 *
 * Triton, and so torch.compile, compiles a small helper of its own against libcuda.so.1, which is
 * nowhere on a machine without a GPU. It gets a linker script of that name, and one of the name
 * that older ones ask for (-lcuda), that define nothing: the helper's symbols are found in the
 * facade, which is loaded already. Results of autotuning are kept in the run's own folder: kernels
 * that do nothing are all as fast, and a later run on a real GPU must not use them.
 */
PLIM_MUST_USE plim_status plim_environment_make(plim_rehearsal *rehearsal,
                                                const plim_rehearse_options *options,
                                                const plim_wants *wants, plim_error *err);

/* ---- run.c ----------------------------------------------------------------------------------- */

/* Runs what was prepared in ret->rehearsal, to its end. Errors: those of plim_launch(). */
PLIM_MUST_USE plim_status plim_rehearsal_launch(const plim_rehearse_options *options,
                                                const plim_launch_options *launch,
                                                plim_output_end *ret_end, plim_rehearsed *ret,
                                                plim_error *err);
/* After that: what it left. Signals are to be held. Errors: as plim_rehearse(). */
PLIM_MUST_USE plim_status plim_rehearsal_gather(const char *record_path, const plim_output_end *end,
                                                plim_rehearsed *ret, plim_error *err);

/* ---- need_parts.c ---------------------------------------------------------------------------- */

/*
 * The memory of a device at its peak in a snapshot, by category. False: it cannot be read, or its
 * peak is another than `peak_bytes`: events are missing.
 */
bool plim_need_parts(const char *snapshot, uint32_t device, uint64_t peak_bytes,
                     const plim_mem *mem, uint64_t ret_bytes[PLIM_CATEGORY_COUNT]);

/* ---- outcome.c, record.c --------------------------------------------------------------------- */

/* Fills rehearsal->outcome. PLIM_OUT_OF_HOST_MEMORY. */
PLIM_MUST_USE plim_status plim_outcome_gather(plim_rehearsal *rehearsal, plim_error *err);

/**
 * Write a file for each process that has a snapshot: "out.pickle" for the first, "out.rank1.pickle"
 * for rank 1 and so on.
 *
 * path       what plim_history_can_save() accepts
 * ret_names  the rehearsal's, in its arena
 * errors     PLIM_UNSUPPORTED: no process left a snapshot; those of plim_history_load() and
 *            plim_history_save()
 */
PLIM_MUST_USE plim_status plim_rehearsal_record(plim_rehearsal *rehearsal, const char *path,
                                                const char *const **ret_names, size_t *ret_count,
                                                plim_error *err);

#endif
