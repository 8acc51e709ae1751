/*
 * stage.h - what a rehearsal's launcher and the processes of its program share.
 *
 * A file in the rehearsal's folder that all of them map. The launcher writes the settings before
 * the program starts; processes keep the books of device memory in it, so that several can share
 * a device as on a real machine, and what is in it survives a process that is killed. All
 * functions may be called from any thread of any of the processes; none allocates memory.
 *
 *   launcher ── settings ──►┌────────┐◄── books, calls ── process (libplim_standin.so)
 *            ◄─ peaks ──────│ stage  │◄── books, calls ── process
 *                           └────────┘
 */
#ifndef PLIMSOLL_STAGE_STAGE_H
#define PLIMSOLL_STAGE_STAGE_H

#include "plimsoll/gpu.h"

#include <stdbool.h>

#define PLIM_STAGE_VARIABLE      "PLIMSOLL_STAGE" /* in the environment: the file's path */
#define PLIM_STAGE_DEVICES_MAX   64
#define PLIM_STAGE_PROCESSES_MAX 512
#define PLIM_STAGE_CALLS_MAX     4096
#define PLIM_STAGE_NAME_BYTES    96

/* Constant once the program runs. */
typedef struct plim_stage_settings {
    plim_gpu gpu;
    uint64_t capacity_bytes; /* of each device; what cudaMemGetInfo calls total */
    uint64_t seed;           /* of values */
    uint32_t device_count;   /* 1 .. PLIM_STAGE_DEVICES_MAX */
    uint32_t cuda_version;   /* 1000 * major + 10 * minor, as the program was built for */
    uint32_t cudnn_version;  /* 10000 * major + 100 * minor + patch */
    uint32_t nccl_version;   /* 10000 * major + 100 * minor + patch */
    bool gives_values;       /* copies from devices give noise, not zeros */
    bool ends_late;          /* work on streams, as far as the caching allocator can see it */
    bool prints_calls;       /* each function names itself on stderr when it is first called */
} plim_stage_settings;

/* The use that memory of a device was taken for. */
typedef enum plim_stage_use {
    PLIM_STAGE_PROGRAM,   /* what the program asked the driver for; all others are modelled: */
    PLIM_STAGE_CONTEXT,   /* what the driver takes for each process */
    PLIM_STAGE_MODULES,   /* the same for kernels, where all are loaded at once */
    PLIM_STAGE_GRAPHS,    /* the same for CUDA graphs that are instantiated */
    PLIM_STAGE_LIBRARIES, /* what cuBLAS and cuDNN take for themselves */
    PLIM_STAGE_NCCL,      /* kernels and buffers of communicators */
    PLIM_STAGE_USES
} plim_stage_use;

/* The kind of a stand-in. */
typedef enum plim_stage_call {
    PLIM_STAGE_ANSWERED, /* does and answers what the real one would */
    PLIM_STAGE_NOTHING,  /* does nothing, and that is right where nothing is computed */
    PLIM_STAGE_MODELLED, /* answers with figures of a model, see its note */
    PLIM_STAGE_DECLINED, /* says no, as the real one does on many machines; callers cope */
    PLIM_STAGE_REFUSED,  /* fails, and the rehearsal with it: known, but not stood in for */
    PLIM_STAGE_UNKNOWN,  /* fails, and the rehearsal with it */
    PLIM_STAGE_CALLS
} plim_stage_call;

typedef struct plim_stage_figures {
    uint64_t used_bytes[PLIM_STAGE_USES];
    uint64_t peak_bytes;                     /* the most that all uses took together */
    uint64_t at_peak_bytes[PLIM_STAGE_USES]; /* how it was made up */
    /* What the peak may be less and more, as plim_stage_note_range() said. 0: it is exact. */
    uint64_t modelled_below_bytes;
    uint64_t modelled_above_bytes;
    /* Freed blocks that would wait for other streams on a GPU: the peak may be more by them. */
    uint64_t wait_count;
    uint64_t waiting_bytes; /* no more than this, whenever they wait */
} plim_stage_figures;

typedef struct plim_stage_call_count {
    char name[PLIM_STAGE_NAME_BYTES]; /* "cudaMalloc" */
    char note[PLIM_STAGE_NAME_BYTES]; /* why it is refused, what is modelled; may be empty */
    plim_stage_call kind;
    uint64_t count; /* of all processes */
} plim_stage_call_count;

typedef struct plim_stage plim_stage;

/* The launcher's: makes the file, which must not exist. PLIM_IO, PLIM_OUT_OF_HOST_MEMORY,
 * PLIM_INVALID_ARGUMENT (no or too many devices). */
PLIM_MUST_USE plim_status plim_stage_create(const char *path, const plim_stage_settings *settings,
                                            plim_stage **ret, plim_error *err);
/* A process's: maps the file that is there. PLIM_IO, PLIM_CORRUPT, PLIM_UNSUPPORTED (another
 * version). */
PLIM_MUST_USE plim_status plim_stage_open(const char *path, plim_stage **ret, plim_error *err);
/* Unmaps it. The file stays. NULL is allowed. */
void plim_stage_close(plim_stage *stage);

const plim_stage_settings *plim_stage_get_settings(const plim_stage *stage);

/* ---- books: by the calling process, which has a place in them from its first take on --------- */

/*
 * Takes memory of a device if there is so much left. Processes that ended without giving theirs
 * back are found and cleared before it says no. False: nothing was taken.
 */
bool plim_stage_take(plim_stage *stage, uint32_t device, plim_stage_use use, uint64_t bytes);
void plim_stage_give(plim_stage *stage, uint32_t device, plim_stage_use use, uint64_t bytes);
/*
 * Says that what this process has taken of a device by now hangs on a figure of a model, such as a
 * workspace that the program asks a library for: it could be up to `below` bytes less, and up to
 * `above` more. Of many the largest counts, as they are needed one after the other; `above` counts
 * only as far as it would lead beyond the peak.
 */
void plim_stage_note_range(plim_stage *stage, uint32_t device, uint64_t below_bytes,
                           uint64_t above_bytes);
/*
 * Says that a block of a device that the program freed would wait for another stream on a GPU.
 *
 * at_once        how many wait by now
 * largest_bytes  no block is larger; UINT64_MAX: that is not known
 */
void plim_stage_note_wait(plim_stage *stage, uint32_t device, uint64_t at_once,
                          uint64_t largest_bytes);
/* Free bytes of a device, shared by all processes. */
uint64_t plim_stage_free_bytes(plim_stage *stage, uint32_t device);
/* Memory of the host that this process pins, or no longer does. */
void plim_stage_pin_host(plim_stage *stage, uint64_t bytes);
void plim_stage_unpin_host(plim_stage *stage, uint64_t bytes);
/* The most that all processes had pinned together. */
uint64_t plim_stage_host_peak(const plim_stage *stage);
/* All that this process has is given back, and its place. For exits and fork children. */
void plim_stage_leave(plim_stage *stage);

/* The figures of a device, of all processes together; and of one process. */
void plim_stage_device_figures(const plim_stage *stage, uint32_t device, plim_stage_figures *ret);
/* Process `index`, 0 … in the order of their coming, ended ones too; false beyond the last. */
bool plim_stage_process_figures(const plim_stage *stage, size_t index, uint32_t device,
                                int32_t *ret_pid, plim_stage_figures *ret);

/* ---- calls ----------------------------------------------------------------------------------- */

/* Adds to the count of a function; beyond PLIM_STAGE_CALLS_MAX names it is dropped. */
void plim_stage_count_call(plim_stage *stage, const char *name, plim_stage_call kind,
                           const char *note, uint64_t times);
/* The `index`-th function in the order of first calls; false beyond the last. */
bool plim_stage_call_at(const plim_stage *stage, size_t index, plim_stage_call_count *ret);

#endif
