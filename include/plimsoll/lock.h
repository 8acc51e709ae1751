/*
 * plimsoll/lock.h - the peaks of programs, kept in a file and held to.
 *
 *   a rehearsal ──► plim_lock_of() ──► an entry ──► put into a lock ──► written, committed
 *   a later one ──► plim_lock_of() ──► an entry ──► compared with the lock's, and both as histories
 *
 * A lock has an entry for each command on each GPU. Beside the peaks it keeps the lines that held
 * the memory, so that a later comparison can name the line that grew. docs/formats/lock.md.
 */
#ifndef PLIMSOLL_LOCK_H
#define PLIMSOLL_LOCK_H

#include "plimsoll/history.h"
#include "plimsoll/rehearse.h"
#include "plimsoll/upgrade.h"

PLIM_BEGIN_DECLS

/* The memory of one piece of the program's code at the peak. */
typedef struct plim_lock_group {
    uint64_t bytes;            /* requested */
    uint64_t count;            /* allocations */
    const char *const *frames; /* of the user's code, innermost first: "train.py:50 in forward" */
    size_t frame_count;        /* 0: no stack, or all the code that has no line of its own here */
} plim_lock_group;

typedef struct plim_lock_phase {
    const char *name; /* "setup", "forward", … */
    uint64_t allocated_bytes;
} plim_lock_phase;

/* Peaks of one device in one process. */
typedef struct plim_lock_peak {
    uint64_t rank;
    uint32_t device;
    uint64_t allocated_bytes;
    uint64_t reserved_bytes;
    const plim_lock_phase *phases;
    size_t phase_count;
    const plim_lock_group *groups; /* largest first */
    size_t group_count;
} plim_lock_peak;

typedef struct plim_lock_entry {
    /* These name it: */
    const char *command; /* without the folder of its program */
    const char *gpu;
    uint64_t device_count;
    uint64_t capacity_bytes; /* of each device */
    uint64_t steps;          /* of --steps; 0: all */
    uint64_t world_size;     /* 0: not given */
    uint64_t rank;
    const char *settings; /* of --conf; "": not given */
    /* These it holds: */
    const char *torch;           /* PyTorch's version, as information */
    uint64_t device_use_bytes;   /* of the fullest device */
    const plim_lock_peak *peaks; /* by rank, then device */
    size_t peak_count;
} plim_lock_entry;

typedef struct plim_lock plim_lock;

/** A lock without entries. ret  the caller's, until plim_lock_destroy() */
PLIM_API PLIM_MUST_USE plim_status plim_lock_create(const plim_mem *mem, plim_lock **ret,
                                                    plim_error *err);
/** NULL is allowed. */
PLIM_API void plim_lock_destroy(plim_lock *lock);

/**
 * Read a file.
 *
 * errors  PLIM_IO; PLIM_CORRUPT: no JSON, or not of "lock/1", the message names the member;
 *         PLIM_LIMIT; PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_lock_read(const char *path, const plim_mem *mem,
                                                  plim_lock **ret, plim_error *err);
/** The same of a text, zero-terminated; `name` is for messages. */
PLIM_API PLIM_MUST_USE plim_status plim_lock_read_text(const char *name, const char *text,
                                                       const plim_mem *mem, plim_lock **ret,
                                                       plim_error *err);
/** Write it, sorted, under its name once it is whole. errors  PLIM_IO, PLIM_OUT_OF_HOST_MEMORY */
PLIM_API PLIM_MUST_USE plim_status plim_lock_write(const plim_lock *lock, const char *path,
                                                   plim_error *err);

/**
 * A lock with one entry: what a rehearsal used.
 *
 * options  of the rehearsal, with keeps_snapshots: else the entry has no groups
 * errors   PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT, those of plim_history_load()
 */
PLIM_API PLIM_MUST_USE plim_status plim_lock_of(const plim_rehearsed *rehearsed,
                                                const plim_rehearse_options *options,
                                                const plim_mem *mem, plim_lock **ret,
                                                plim_error *err);

PLIM_API size_t plim_lock_count(const plim_lock *lock);
PLIM_API const plim_lock_entry *plim_lock_at(const plim_lock *lock, size_t index);
/** The entry of the same command, GPU and options; NULL: it is not there. */
PLIM_API const plim_lock_entry *plim_lock_find(const plim_lock *lock, const plim_lock_entry *like);
/** Put an entry in, in the place of the one of its name. entry  borrowed until `lock` is destroyed
 */
PLIM_API PLIM_MUST_USE plim_status plim_lock_put(plim_lock *lock, const plim_lock_entry *entry,
                                                 plim_error *err);

/* --- comparing --- */

#define PLIM_LOCK_BYTES_LEAST (UINT64_C(1) << 20) /* less is no difference, whatever the limit */

typedef enum plim_lock_figure_kind {
    PLIM_LOCK_ALLOCATED,
    PLIM_LOCK_RESERVED,
    PLIM_LOCK_PHASE, /* allocated in a phase */
    PLIM_LOCK_DEVICE_USE,
} plim_lock_figure_kind;

/* One figure of an entry, then and now. */
typedef struct plim_lock_figure {
    plim_lock_figure_kind kind;
    const char *phase; /* of a phase; else NULL */
    uint64_t rank;
    uint32_t device;
    uint64_t locked_bytes; /* 0: the lock has no such figure */
    uint64_t now_bytes;    /* 0: it is no more */
    bool is_exceeded;      /* by more than the limit */
    bool is_lower;         /* likewise below */
} plim_lock_figure;

typedef struct plim_lock_comparison {
    const plim_mem *mem;
    plim_lock_figure *figures;
    size_t figure_count;
    size_t figure_room;
    bool is_exceeded; /* any of them */
    bool is_lower;
} plim_lock_comparison;

/**
 * Hold one entry to another.
 *
 * limit   of growth, in bytes or as a share of each locked figure
 * ret        the caller's, until plim_lock_comparison_deinit(); points into both entries
 * errors     PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_API PLIM_MUST_USE plim_status plim_lock_compare(const plim_lock_entry *locked,
                                                     const plim_lock_entry *now,
                                                     const plim_upgrade_limit *limit,
                                                     const plim_mem *mem, plim_lock_comparison *ret,
                                                     plim_error *err);
/** A zeroed one is allowed. */
PLIM_API void plim_lock_comparison_deinit(plim_lock_comparison *comparison);

/** The peak of a rank and device, or NULL. */
PLIM_API const plim_lock_peak *plim_lock_peak_of(const plim_lock_entry *entry, uint64_t rank,
                                                 uint32_t device);
/**
 * The groups of a peak as a history that plim_diff() takes: one allocation each, live at the end.
 *
 * peak    NULL: a history without events
 * errors  PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT
 */
PLIM_API PLIM_MUST_USE plim_status plim_lock_history(const plim_lock_peak *peak,
                                                     const plim_mem *mem, plim_history **ret,
                                                     plim_error *err);

PLIM_END_DECLS

#endif
