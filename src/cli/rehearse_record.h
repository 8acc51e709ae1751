/*
 * rehearse_record.h - --record: what processes left, as files of the user's choice.
 */
#ifndef PLIMSOLL_CLI_REHEARSE_RECORD_H
#define PLIMSOLL_CLI_REHEARSE_RECORD_H

#include "cli/rehearsing.h"

/* Whether a path ends in something that can be written: .pickle or .plim. */
bool plim_rehearse_record_is_known(const char *path);

/*
 * Writes a file for each process that has a snapshot: "out.pickle" for the first,
 * "out.rank1.pickle" for rank 1 and so on. Adds their names to the result.
 *
 * returns  false when one could not be written, which is said
 */
bool plim_rehearse_record(const char *who, const char *path, plim_rehearsing_result *result);

/* Frees the names. */
void plim_rehearse_record_forget(plim_rehearsing_result *result);

#endif
