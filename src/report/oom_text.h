/*
 * oom_text.h - why a request failed, as far as its numbers tell.
 *
 * When PyTorch records an out-of-memory event it has already given every wholly free segment back
 * to the driver and tried again. What is still reserved and not active at that moment is free
 * space it could neither use for this request nor return, so plain sums separate the cases.
 */
#ifndef PLIMSOLL_REPORT_OOM_TEXT_H
#define PLIMSOLL_REPORT_OOM_TEXT_H

#include "plimsoll/inspect.h"

typedef enum plim_oom_kind {
    PLIM_OOM_UNCLEAR,    /* the driver's free bytes are not known */
    PLIM_OOM_FRAGMENTED, /* free space inside segments was enough, but not in one usable piece */
    PLIM_OOM_STRANDED,   /* … was enough only together with what the driver had left */
    PLIM_OOM_GENUINE,    /* all free space together was too little */
    PLIM_OOM_REFUSED,    /* the driver had enough for the request itself, yet it failed */
} plim_oom_kind;

typedef struct plim_oom_sums {
    plim_oom_kind kind;
    uint64_t unused_bytes;  /* reserved and not active */
    uint64_t missing_bytes; /* GENUINE: what all free space together lacks */
} plim_oom_sums;

plim_oom_sums plim_oom_add_up(const plim_oom_moment *oom);

/** One sentence for a kind, as printf format-free text with its numbers, into `buffer`. */
const char *plim_oom_sentence(const plim_oom_moment *oom, char *buffer, size_t buffer_bytes);

#endif
