/*
 * plimsoll/live.h - the figures that processes publish while they run, and dumps on request.
 *
 * A process under `plimsoll run` keeps a page of 4096 bytes in memory (docs/formats/live-page.md).
 * What is read here is a copy of one update, whole by its sequence and its checksum; a page is as
 * untrusted as any file, and no page can make a reader wait for long.
 */
#ifndef PLIMSOLL_LIVE_H
#define PLIMSOLL_LIVE_H

#include "plimsoll/mem.h"
#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

enum {
    PLIM_LIVE_DEVICES_MAX = 16,
    PLIM_LIVE_NAME_BYTES = 64,
    PLIM_LIVE_FOLDER_BYTES = 1016,
    PLIM_LIVE_PATH_BYTES = 4096,
};

/* Counts and bytes are PyTorch's own, since the start or the program's last reset. */
typedef struct plim_live_device {
    int32_t device;
    char name[48];
    uint64_t total_bytes;
    uint64_t allocated_bytes;
    uint64_t reserved_bytes;
    uint64_t active_bytes;
    uint64_t inactive_split_bytes;
    uint64_t peak_allocated_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t retry_count;
    uint64_t oom_count;
    uint64_t step_bytes; /* allocated at the end of the last step */
    bool grows;          /* surely: */
    double growth_bytes_per_step;
    uint64_t growth_since_step;
    uint64_t full_at_step; /* 0: not known */
} plim_live_device;

/* One update of one process. */
typedef struct plim_live_page {
    char path[PLIM_LIVE_PATH_BYTES]; /* of the page */
    uint64_t updated_ns;             /* of the monotonic clock */
    uint64_t start;                  /* of the process, in ticks since the machine's */
    uint64_t namespace_id;           /* in which its number is one */
    int32_t pid;
    int32_t rank;          /* -1: none */
    bool is_dumping;       /* as was requested here */
    bool handles_sigusr1;  /* the recorder does, by a dump */
    uint64_t step_count;   /* optimizer steps that are done */
    uint64_t limit_bytes;  /* of each device; 0: all */
    uint32_t period_ms;    /* to the next update, as planned */
    uint32_t device_count; /* of `devices` */
    uint32_t devices_left_out;
    uint32_t dump_count;
    char last_dump[PLIM_LIVE_NAME_BYTES]; /* "003-request" */
    char plimsoll[32];                    /* versions */
    char torch[32];
    char folder[PLIM_LIVE_FOLDER_BYTES]; /* the process' own, in that of the run; "": not known */
    uint64_t request;                    /* the last that was made */
    uint64_t answered;                   /* the last that was carried out */
    plim_live_device devices[PLIM_LIVE_DEVICES_MAX];
} plim_live_page;

/* Pages, by the process' number. */
typedef struct plim_live_list {
    plim_live_page *items;
    size_t count;
    size_t capacity;
    const plim_mem *mem;
} plim_live_list;

/**
 * Read a page.
 *
 * errors   PLIM_IO; PLIM_CORRUPT: it is no page, or its update does not settle within a tenth of
 *          a second; PLIM_UNSUPPORTED: of another version
 * threads  any
 */
PLIM_API PLIM_MUST_USE plim_status plim_live_read(const char *path, plim_live_page *ret,
                                                  plim_error *err);

/**
 * Read the pages of all living processes of this user. What is no page is passed over.
 *
 * mem     NULL is the heap
 * ret     the caller's, to be freed by plim_live_list_deinit()
 * errors  PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_live_list_read(const plim_mem *mem, plim_live_list *ret,
                                                       plim_error *err);
PLIM_API void plim_live_list_deinit(plim_live_list *list);

/** Seconds since the update; 0 where clocks disagree. */
PLIM_API double plim_live_age_seconds(const plim_live_page *live);

/** True if `pid` is the process of the page or one that it descends from. */
PLIM_API bool plim_live_is_of(const plim_live_page *live, int32_t pid);

/**
 * Find out why a process has no page.
 *
 * returns  always a failure, which says so in a line: there is no such process, it is another
 *          user's, does not run under Plimsoll, has not used CUDA yet, or publishes nothing
 */
PLIM_API plim_status plim_live_why_absent(int32_t pid, plim_error *err);

/* A request for a dump, and what came of it. */
typedef struct plim_live_dump {
    plim_live_page live; /* the page: when the dump was requested, then as it is last read */
    uint64_t number;
    bool is_done;      /* answered: */
    bool has_failed;   /* no dump came of it: the process' warnings say why */
    bool is_gone;      /* the process ended before it answered */
    bool was_taken_up; /* it was seen at work */
    double seconds;    /* from request to answer, or until now */
    uint64_t began_ns;
} plim_live_dump;

/**
 * Request a dump.
 *
 * dump    its `live` has been read; all else is set
 * errors  PLIM_IO
 */
PLIM_API PLIM_MUST_USE plim_status plim_live_dump_request(plim_live_dump *dump, plim_error *err);
/** Look again; returns true if there is nothing more to wait for. */
PLIM_API bool plim_live_dump_look(plim_live_dump *dump);
/** Take a request back that has not been taken up. */
PLIM_API void plim_live_dump_withdraw(const plim_live_dump *dump);

PLIM_END_DECLS

#endif
