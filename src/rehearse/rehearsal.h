/*
 * rehearsal.h - the state of a rehearsal, for the files of this room.
 *
 *   rehearsal.c     prepare, finish, destroy: the order of things
 *   home.c          where our own files are: the stand-ins and the agent
 *   program.c       which Python a program will run in
 *   discovery.c     what that Python has: versions of PyTorch, objects that want CUDA
 *   environment.c   the environment that leads the program to the stand-ins
 *   triton.c        what torch.compile needs besides
 *   folder.c        the folder of the run, and how it goes away again
 *   outcome.c       what was left on the stage and by the agents
 *   process_file.c  what one agent wrote
 *   json_read.c     reading it
 *   run.c           all of that in one call, and the verdict
 *   record.c        snapshots as files of the caller's choice
 *   search.c        many rehearsals of one command
 */
#ifndef PLIMSOLL_REHEARSE_REHEARSAL_H
#define PLIMSOLL_REHEARSE_REHEARSAL_H

#include "base/arena.h"
#include "plimsoll/rehearse.h"
#include "rehearse/folder.h"
#include "stage/stage.h"

/* Names in the folder of a run; environment variables pass them to the agent and the stand-ins. */
#define PLIM_RUN_STAGE   "stage"
#define PLIM_RUN_LIB     "lib"
#define PLIM_RUN_RESULTS "results"

struct plim_rehearsal {
    plim_arena arena; /* of all that lives as long as the rehearsal */
    char home[PLIM_PATH_BYTES];
    char folder[PLIM_PATH_BYTES];
    plim_stage *stage;
    char **argv;
    char **environment;
    plim_rehearsal_outcome outcome;
};

/* The GPU that options name, and the memory of each device. */
PLIM_MUST_USE plim_status plim_rehearse_gpu(const plim_rehearse_options *options,
                                            const plim_gpu **ret, uint64_t *ret_capacity_bytes,
                                            plim_error *err);

#endif
