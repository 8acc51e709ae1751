/*
 * plimsoll/verdict.h - why memory ran out, judged from figures, and what helps.
 *
 * The figures may come from an error text (explain.h) or from a history: the judgement is the
 * same pure function. Thresholds are named in src/verdict and argued in docs/design/verdict.md.
 */
#ifndef PLIMSOLL_VERDICT_H
#define PLIMSOLL_VERDICT_H

#include "plimsoll/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

#define PLIM_VERDICT_LIST(X)                                                                     \
    X(PLIM_VERDICT_UNKNOWN, "unknown")       /* too few figures, or they contradict the error */ \
    X(PLIM_VERDICT_EXHAUSTED, "exhausted")   /* live data and the request do not fit */          \
    X(PLIM_VERDICT_FRAGMENTED, "fragmented") /* held but unused would do, in one piece */        \
    X(PLIM_VERDICT_OTHER_PROCESS, "other_process") /* others hold the device */                  \
    X(PLIM_VERDICT_CAPPED, "capped")               /* a limit somebody set, not the device */    \
    X(PLIM_VERDICT_OVERSIZED, "oversized")         /* the one request exceeds the device */      \
    X(PLIM_VERDICT_HOST, "host")                   /* CPU memory, pinned memory, /dev/shm */     \
    X(PLIM_VERDICT_NOT_OOM, "not_oom")             /* another error that speaks of memory */

typedef enum plim_verdict {
#define PLIM_VERDICT_ENUM(code, name) code,
    PLIM_VERDICT_LIST(PLIM_VERDICT_ENUM)
#undef PLIM_VERDICT_ENUM
        PLIM_VERDICT_COUNT
} plim_verdict;

/** "exhausted", …; a constant string, never NULL. */
PLIM_API const char *plim_verdict_name(plim_verdict verdict);

/* A figure that nobody gave. */
#define PLIM_BYTES_UNKNOWN UINT64_MAX

/* What a message may say; the names are those of the JSON document explain/1. */
#define PLIM_FIGURE_LIST(X)                                                                        \
    X(PLIM_FIGURE_REQUESTED, "requested_bytes") /* of the request that failed, as printed */       \
    X(PLIM_FIGURE_TOTAL, "total_bytes")         /* of the device */                                \
    X(PLIM_FIGURE_FREE, "free_bytes")           /* as the driver sees it; in a pool's dump,        \
                                                   what is left of the pool's limit */             \
    X(PLIM_FIGURE_ALLOCATED, "allocated_bytes") /* live in this allocator */                       \
    X(PLIM_FIGURE_RESERVED, "reserved_bytes")   /* all this allocator holds */                     \
    X(PLIM_FIGURE_RESERVED_UNALLOCATED, "reserved_unallocated_bytes") /* held, not live */         \
    X(PLIM_FIGURE_PROCESS, "process_bytes")                           /* "this process has" */     \
    X(PLIM_FIGURE_OTHER_PROCESSES, "other_processes_bytes") /* the sum of "Process N has": one of  \
                                                               them may be this very process */    \
    X(PLIM_FIGURE_LIMIT, "limit_bytes")                     /* a bound other than the device */    \
    X(PLIM_FIGURE_PRIVATE_POOLS, "private_pools_bytes")     /* part of allocated, as printed */    \
    X(PLIM_FIGURE_OTHER_ALLOCATIONS, "other_allocations_bytes") /* Metal, outside the allocator */ \
    X(PLIM_FIGURE_REQUESTED_FROM_SHAPE, "requested_from_shape_bytes") /* shape x size of type */   \
    X(PLIM_FIGURE_SHARED_REQUIRED, "shared_required_bytes") /* of a kernel, in no memory above */  \
    X(PLIM_FIGURE_SHARED_LIMIT, "shared_limit_bytes")

typedef enum plim_figure_id {
#define PLIM_FIGURE_ENUM(code, name) code,
    PLIM_FIGURE_LIST(PLIM_FIGURE_ENUM)
#undef PLIM_FIGURE_ENUM
        PLIM_FIGURE_COUNT
} plim_figure_id;

/** "requested_bytes", …; a constant string, never NULL. */
PLIM_API const char *plim_figure_name(plim_figure_id id);

typedef struct plim_figure {
    uint64_t bytes;       /* to the nearest byte, or PLIM_BYTES_UNKNOWN */
    uint64_t slack_bytes; /* half a unit of the last printed digit: the truth is that near */
    uint64_t offset;      /* where it stands in the input, */
    uint32_t length;      /* and how many bytes of it */
} plim_figure;

/* "Process 1234 has 5.00 GiB memory in use." */
typedef struct plim_process_figure {
    uint64_t pid;
    uint64_t bytes;
    bool is_this; /* judged to be the process that failed, seen from outside its container */
} plim_process_figure;

#define PLIM_DEVICE_UNKNOWN (-1)

/* One thing to do. Strings live as long as what they were returned with. */
typedef struct plim_advice {
    const char *id;      /* stable: "expandable-segments" */
    const char *text;    /* one or two sentences */
    const char *command; /* the exact line to run or change, or NULL where there is none */
    const char *source;  /* where the claim comes from */
} plim_advice;

PLIM_END_DECLS

#endif
