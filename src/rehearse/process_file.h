/*
 * process_file.h - what an agent wrote of its process. The format: docs/formats/rehearsal.md.
 */
#ifndef PLIMSOLL_REHEARSE_PROCESS_FILE_H
#define PLIMSOLL_REHEARSE_PROCESS_FILE_H

#include "base/arena.h"

#include "plimsoll/rehearse.h"

/*
 * Read results/<pid>.json.
 *
 * folder  where it and its snapshot are
 * errors  PLIM_IO, PLIM_CORRUPT, PLIM_UNSUPPORTED (another version), PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_process_file_read(const char *folder, const char *name,
                                                 plim_arena *arena, plim_rehearsed_process *ret,
                                                 plim_error *err);

#endif
