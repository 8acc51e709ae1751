/*
 * scratch.h - a folder of a test's own, and files in it.
 */
#ifndef PLIMSOLL_TESTS_RUN_SCRATCH_H
#define PLIMSOLL_TESTS_RUN_SCRATCH_H

#include "harness.h"

#include "rehearse/folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[PLIM_PATH_BYTES];

static inline void scratch_begin(void)
{
    static const char *const inside[] = { NULL };
    T_EQ_I64(plim_folder_make(scratch, sizeof scratch, inside, NULL), PLIM_OK);
}

static inline void scratch_end(void)
{
    plim_folder_remove(scratch);
    scratch[0] = '\0';
}

/* "<scratch>/<name>", until the next call but three. */
static inline const char *scratch_path(const char *name)
{
    static char paths[4][PLIM_PATH_BYTES];
    static unsigned next;
    char *const path = paths[next++ % 4];
    T_EQ_I64(plim_folder_join(path, PLIM_PATH_BYTES, scratch, name, NULL), PLIM_OK);
    return path;
}

static inline bool scratch_has(const char *name)
{
    return access(scratch_path(name), F_OK) == 0;
}

static inline void scratch_folder(const char *name)
{
    T_EQ_I64(mkdir(scratch_path(name), 0700), 0);
}

static inline void scratch_file(const char *name, const char *text)
{
    FILE *const file = fopen(scratch_path(name), "we");
    T_NOT_NULL(file);
    T_TRUE(fputs(text, file) >= 0);
    T_EQ_I64(fclose(file), 0);
}

#endif
