/*
 * releases.h - memory that went back to the driver: who gave it back, and what that says of the
 * device.
 *
 *   segment_free  free_requested             the program did: empty_cache
 *   segment_free  segment_alloc  alloc       the program, or the allocator, whose request the
 *                                            driver refused at first
 *   segment_free  oom                        the allocator, in vain
 *
 * In the second case stacks decide, where they were recorded: what the allocator gives back for a
 * request has the stack of that request. Else the size of the device does: had the driver had
 * room for the request, it would not have refused. The size itself is known from an oom event;
 * without one it lies between the most that was ever held and the least that was ever refused,
 * and is not below that of any device PyTorch is used on.
 */
#ifndef PLIMSOLL_REPLAY_PROGRAM_RELEASES_H
#define PLIMSOLL_REPLAY_PROGRAM_RELEASES_H

#include "replay/program/program.h"

typedef enum plim_giver {
    PLIM_BY_EITHER, /* unknown */
    PLIM_BY_PROGRAM,
    PLIM_BY_ALLOCATOR,
} plim_giver;

typedef struct plim_release {
    uint32_t event; /* the first of it */
    plim_giver by;
} plim_release;

typedef PLIM_VEC(plim_release) plim_release_list;

/*
 * Finds the releases, in order, and whose they were. Fills in what the
 * program's facts say of capacity, peaks and ooms, and the caveats about them; facts.conf,
 * from_event and to_event are there already.
 *
 * reserved_bytes   at from_event
 */
plim_status plim_releases_find(plim_program *program, uint64_t reserved_bytes,
                               plim_release_list *ret_releases, plim_error *err);

#endif
