/*
 * thresholds.h - the numbers a verdict turns on, each with its reason in docs/design/explain.md.
 */
#ifndef PLIMSOLL_VERDICT_THRESHOLDS_H
#define PLIMSOLL_VERDICT_THRESHOLDS_H

#include "base/units.h"

#include <stdint.h>

/* Free bytes below this share of the card are crumbs: granularity and context growth eat them. */
#define CRUMBS_SHARE 0.02
/* Unused memory below this share of what is held is not why a card is full. */
#define GAP_SHARE 0.10
/* A process that holds less than this of a card of which others hold nearly all. */
#define LITTLE_SHARE     0.10
#define NEARLY_ALL_SHARE 0.80
/* Memory elsewhere worth a word although this process holds more. */
#define NOTABLE_SHARE 0.20
/* Held and request together this near a limit have met it: limits are rounded and padded too. */
#define NEAR_LIMIT_SHARE 0.995
/* At start: missing the wanted share by less than this is a share set too high. */
#define NEAR_MISS_SHARE 0.05
/* A context and libraries: what a process holds beside its allocator, ordinarily. */
#define CONTEXT_BYTES_MAX (5 * GIB / 2)
/* No device has so much (the largest of 2026 has 0.43 TiB). */
#define ANY_DEVICE_BYTES_MAX (1024 * GIB)
/* Allocated bytes that say, without a total, that this program fills the card. */
#define LARGE_BYTES (2 * GIB)
/* A library's handle takes less, its context and workspace included: with more free, it was not
 * for want of memory. */
#define HANDLE_BYTES_MAX (GIB / 2)
/* A pool this full is full. */
#define POOL_FULL_SHARE 0.95
/* Pools sized by a person: whole MiB, far below a card. Frameworks leave odd numbers. */
#define POOL_ROUND_BYTES    MIB
#define POOL_USER_BYTES_MAX (8 * GIB)

/* Confidence. */
#define SURE   0.95 /* the figures leave no choice */
#define LIKELY 0.75 /* they point one way */
#define GUESS  0.40 /* the text says too little */

#endif
