/*
 * save_file.h - a file that appears under its name when it is whole, or not at all.
 *
 * It is written under another name in the same folder and renamed at the end; what stood there
 * before stays until then, and keeps its permissions. Through a symbolic link, what it points to
 * is replaced. What is no regular file (a pipe, "-" for standard output) is written as it is.
 */
#ifndef PLIMSOLL_BASE_SAVE_FILE_H
#define PLIMSOLL_BASE_SAVE_FILE_H

#include "base/sink.h"

typedef struct plim_save_file {
    const char *path; /* as the caller names it, for messages */
    plim_text target; /* without links; and the name until it is whole; empty without one */
    plim_text temporary;
    int fd;
    int failure; /* errno of the first write that failed, or 0 */
} plim_save_file;

/* `path` is borrowed. After a failure there is nothing to close. */
plim_status plim_save_file_open(plim_save_file *file, const char *path, const plim_mem *mem,
                                plim_error *err);
plim_sink plim_save_file_sink(plim_save_file *file);
/* The name under which it stands until it is whole, for who writes it by name; NULL: it has none,
 * as it is no regular file. */
const char *plim_save_file_name(const plim_save_file *file);
/* Its bytes so far; 0 where it is no regular file. */
uint64_t plim_save_file_bytes(const plim_save_file *file);
/* True if a regular file stands under the name. */
bool plim_save_file_exists(const char *path);

/*
 * Closes the file. `status` is what became of writing it: only if that is PLIM_OK the file gets
 * its name, else it is removed. Returns what became of all; a write that failed is explained.
 */
plim_status plim_save_file_close(plim_save_file *file, plim_status status, plim_error *err);

#endif
