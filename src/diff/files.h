/*
 * files.h - files of the user's that lie elsewhere on the other side: the same name in another
 * folder.
 */
#ifndef PLIMSOLL_DIFF_FILES_H
#define PLIMSOLL_DIFF_FILES_H

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

typedef struct plim_diff_file {
    const char *path;
    size_t bytes;
    uint32_t text; /* the number it goes by */
    uint8_t kind;  /* plim_diff_side_kind; of a file of both sides there is no row */
} plim_diff_file;

/*
 * Pairs files of one side alone by the longest end of their paths that is equal, the name of the
 * file at least: each is the other's best. Sorts `files`; ret_same, by text, is where a file of
 * after gets the text of that of before. n log n.
 */
void plim_diff_pair_files(plim_diff_file *files, size_t count, uint32_t *ret_same);

#endif
