/*
 * files.h - the files a command was given, read and inspected.
 */
#ifndef PLIMSOLL_CLI_FILES_H
#define PLIMSOLL_CLI_FILES_H

#include "report/model/inspect.h"

typedef struct plim_files {
    plim_inspect_file *items;      /* as reports take them; a failed one has no history */
    struct plim_file_parts *parts; /* what they point to */
    size_t count;
    size_t failed_count;
} plim_files;

/**
 * Read and inspect files, with a progress bar; each that fails is said on stderr and stays in
 * the list.
 *
 * who      heads the messages
 * options  of each inspection; NULL: defaults
 * returns  false when not even the list found memory, which is said too
 */
bool plim_files_load(const char *who, char *const *paths, size_t count,
                     const plim_inspect_options *options, plim_files *ret);
/** A zeroed one is allowed. */
void plim_files_deinit(plim_files *files);

#endif
