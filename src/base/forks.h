/*
 * forks.h - locks that are held across fork(), so that a child finds what they guard whole.
 *
 * A child has the calling thread alone: a lock that another thread held stays locked there for
 * ever. So the forking thread takes all locks first, in the order in which others take them, which
 * the ranks are; after the fork parent and child let go, the last first.
 */
#ifndef PLIMSOLL_BASE_FORKS_H
#define PLIMSOLL_BASE_FORKS_H

#include <stdbool.h>

/* A lock of a later rank is never held by a thread that takes one of an earlier. */
typedef enum plim_fork_rank {
    PLIM_FORK_ALLOCATORS, /* emit events to recorders under their locks */
    PLIM_FORK_RECORDERS,
    PLIM_FORK_RANK_COUNT
} plim_fork_rank;

typedef struct plim_fork_calls {
    void (*before)(void);
    void (*after)(void);          /* in the parent */
    void (*after_in_child)(void); /* instead of the former */
} plim_fork_calls;

/* From now on for every fork; once for each rank. False: the system has no memory for it. */
bool plim_forks_add(plim_fork_rank rank, const plim_fork_calls *calls);

#endif
