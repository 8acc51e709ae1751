/*
 * page.h - the stage's file, as it lies in memory.
 *
 * One mutex guards all but the settings. It is robust: a process that finds that its owner was
 * killed works the totals out anew, which the places of the processes give.
 */
#ifndef PLIMSOLL_STAGE_PAGE_H
#define PLIMSOLL_STAGE_PAGE_H

#include "stage/stage.h"

#include <pthread.h>
#include <sys/types.h>

#define PLIM_STAGE_MAGIC   UINT64_C(0x65676174736d6c70) /* "plmstage" */
#define PLIM_STAGE_VERSION 4
#define PLIM_STAGE_BUCKETS 8192 /* of the index of names; twice PLIM_STAGE_CALLS_MAX */
#define PLIM_STAGE_NOBODY  (-1)

typedef struct plim_stage_place {
    pid_t pid;
    bool has_ended; /* what it used is given back, its peaks stay */
    plim_stage_figures devices[PLIM_STAGE_DEVICES_MAX];
    uint64_t host_bytes; /* pinned */
} plim_stage_place;

typedef struct plim_stage_page {
    uint64_t magic;
    uint64_t version;
    plim_stage_settings settings;
    pthread_mutex_t lock;
    bool is_torn; /* its owner was killed: the totals may lack what it was about to add */
    plim_stage_figures devices[PLIM_STAGE_DEVICES_MAX]; /* all processes together */
    uint64_t host_bytes;                                /* pinned, all processes together */
    uint64_t host_peak_bytes;
    uint32_t place_count;
    plim_stage_place places[PLIM_STAGE_PROCESSES_MAX];
    uint32_t call_count;
    uint16_t call_index[PLIM_STAGE_BUCKETS]; /* 1 + index in calls; 0: empty */
    plim_stage_call_count calls[PLIM_STAGE_CALLS_MAX];
} plim_stage_page;

struct plim_stage {
    plim_stage_page *page;
    pid_t owner; /* of the place: a forked child has none yet */
    int place;   /* index in places, or PLIM_STAGE_NOBODY; guarded by the page's lock */
};

/* Never fails: see above for an owner that was killed. */
void plim_stage_lock(const plim_stage *stage);
void plim_stage_unlock(const plim_stage *stage);

#endif
