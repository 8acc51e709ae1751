/*
 * clusters.h - which groups that grow are one leak: those that grow in the same steps.
 *
 *   a kept loss      group A   x . . x . . x      one leak: A and B
 *                    group B   x . . x . . x
 *   kept outputs     group C   x x x x x x x      another
 */
#ifndef PLIMSOLL_DIAGNOSE_LEAKS_CLUSTERS_H
#define PLIMSOLL_DIAGNOSE_LEAKS_CLUSTERS_H

#include "diagnose/leaks/growth.h"

/* A group that grows without end. */
typedef struct plim_grower {
    uint32_t group;
    uint32_t first_step; /* as its floors show it */
    bool by_count; /* its allocations stay; else one takes the place of the last, and is larger */
    bool is_saw;
    bool is_rest; /* one of many that rise too rarely to be judged alone */
    uint32_t cluster;
    bool is_innocent;  /* lookalikes.h */
    plim_rises rises;  /* by step of birth, in bytes; none: as what stays was born */
    uint64_t bytes;    /* of all rises */
    size_t kept_first; /* in kept */
    size_t kept_count;
} plim_grower;

typedef PLIM_VEC(plim_grower) plim_growers;

/* An allocation that stays. */
typedef struct plim_kept {
    uint32_t event;
    uint32_t step;
} plim_kept;

typedef struct plim_cluster {
    plim_rises rises;
    uint32_t grower_count;
    bool by_count; /* of any */
    bool is_saw;
    bool is_rest;
} plim_cluster;

typedef struct plim_clusters {
    const plim_mem *mem;
    plim_kept *kept; /* grower by grower, each in order of birth */
    size_t kept_count;
    PLIM_VEC(plim_cluster) list;
} plim_clusters;

/* Clusters the growers that are leaks, and fills in their kept allocations and rises. n log n in
 * what stays, and linear in events. Errors: PLIM_OUT_OF_HOST_MEMORY; plim_clusters_deinit() is
 * allowed after. */
plim_status plim_clusters_init(plim_clusters *clusters, const plim_levels *levels,
                               plim_growers *growers, plim_error *err);
/* Zeroed ones are allowed. */
void plim_clusters_deinit(plim_clusters *clusters);

#endif
