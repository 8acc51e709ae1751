/*
 * judge.h - from figures to a verdict: a pure function, its sums kept to be told.
 */
#ifndef PLIMSOLL_VERDICT_JUDGE_H
#define PLIMSOLL_VERDICT_JUDGE_H

#include "verdict/case.h"

/* Which rule decided; the words follow it. */
typedef enum plim_reason {
    PLIM_REASON_TOPIC,        /* the topic alone */
    PLIM_REASON_NO_FIGURES,   /* too few figures */
    PLIM_REASON_FREE_ENOUGH,  /* more was free than asked for: contradictory */
    PLIM_REASON_OVER_LIMIT,   /* held and request pass a limit below the device */
    PLIM_REASON_OVER_DEVICE,  /* the request exceeds the device */
    PLIM_REASON_OVER_ANY,     /* the request exceeds every device there is */
    PLIM_REASON_SPILLED,      /* more allocated than the device has */
    PLIM_REASON_GAP,          /* held but unused covers the request */
    PLIM_REASON_GAP_AND_FREE, /* only together with what is free */
    PLIM_REASON_HOLDS_LITTLE, /* this process holds a few per cent, others nearly all */
    PLIM_REASON_ELSEWHERE,    /* more is held elsewhere than here */
    PLIM_REASON_FULL,         /* all of it is in use, and it does not fit */
    PLIM_REASON_FULL_NEARLY,  /* a piece of what is unused would do, but it hardly matters */
    PLIM_REASON_NEAR_MISS,    /* a share wanted at start that is missed by a little */
    PLIM_REASON_DRIVER_POOL,  /* live and request fit; the driver's pool or others hold the rest */
} plim_reason;

typedef struct plim_judgement {
    plim_verdict verdict;
    plim_verdict alternatives[PLIM_VERDICT_COUNT];
    size_t alternative_count;
    double confidence; /* 0 … 1 */
    plim_reason reason;
    /* The sums it rests on; PLIM_BYTES_UNKNOWN where they could not be made. */
    uint64_t held_bytes;      /* by this allocator, live and cached */
    uint64_t gap_bytes;       /* held and not live */
    uint64_t elsewhere_bytes; /* on the device, by nobody in sight of this allocator */
    uint64_t outside_bytes;   /* in this very process, beside the allocator (contexts, libraries) */
    uint64_t short_bytes;     /* what was missing, all free space taken together */
    size_t this_process;      /* index of the process that is this one, or SIZE_MAX */
} plim_judgement;

plim_judgement plim_judge(const plim_oom_case *oom);

#endif
