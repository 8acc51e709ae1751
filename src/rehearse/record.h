/*
 * record.h - the snapshots of a rehearsal's processes as files of the caller's choice.
 */
#ifndef PLIMSOLL_REHEARSE_RECORD_H
#define PLIMSOLL_REHEARSE_RECORD_H

#include "rehearse/rehearsal.h"

/**
 * Write a file for each process that has a snapshot: "out.pickle" for the first, "out.rank1.pickle"
 * for rank 1 and so on.
 *
 * path       what plim_history_can_save() accepts
 * ret_names  the rehearsal's, in its arena
 * errors     PLIM_UNSUPPORTED: no process left a snapshot; those of plim_history_load() and
 *            plim_history_save()
 */
PLIM_MUST_USE plim_status plim_rehearsal_record(plim_rehearsal *rehearsal, const char *path,
                                                const char *const **ret_names, size_t *ret_count,
                                                plim_error *err);

#endif
