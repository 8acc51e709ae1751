/*
 * lock.h - the inside of a lock.
 *
 *   lock.c          entries, their names, and comparing two
 *   lock_read.c     a file or a text to entries
 *   lock_write.c    entries to a file
 *   lock_entry.c    a rehearsal to an entry
 *   lock_groups.c   a history's peak to groups, and groups to a history
 */
#ifndef PLIMSOLL_REHEARSE_LOCK_H
#define PLIMSOLL_REHEARSE_LOCK_H

#include "base/arena.h"
#include "base/vec.h"

#include "plimsoll/lock.h"

#define PLIM_LOCK_SCHEMA      "lock/1"
#define PLIM_LOCK_GROUPS_MAX  32u /* of a peak; the rest is one group without frames */
#define PLIM_LOCK_FRAMES_MAX  16u /* of a group */
#define PLIM_LOCK_ENTRIES_MAX 10000u
#define PLIM_LOCK_PHASES_MAX  64u /* of a peak */

struct plim_lock {
    const plim_mem *mem;
    plim_arena arena;                          /* of its own entries */
    PLIM_VEC(const plim_lock_entry *) entries; /* by name */
};

/* By rank, then device: the order of an entry's peaks. */
static inline int plim_lock_peak_order(const plim_lock_peak *a, const plim_lock_peak *b)
{
    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1)
                              : (a->device > b->device) - (a->device < b->device);
}

/* The groups at the highest moment of a device of a snapshot; none where the file has no such
 * device. They live in the arena. Errors: those of plim_history_load(), plim_inspect(). */
plim_status plim_lock_groups_of(const char *snapshot, uint32_t device, plim_arena *arena,
                                const plim_mem *mem, plim_lock_peak *peak, plim_error *err);

#endif
