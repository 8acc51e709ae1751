/*
 * triton.c - what Triton needs to work over the stand-ins. See triton.h.
 */
#include "rehearse/triton.h"

#include "base/error.h"
#include "rehearse/folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

/* Linkers take a text file in the place of a library for a script (ld(1), "-l namespec"). */
static const char script[] = "/* What this would define is loaded already. */\n";

plim_status plim_triton_prepare(const char *run, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(path, sizeof(path), run, PLIM_RUN_LINK "/libcuda.so.1", err));
    FILE *file = fopen(path, "wxe");
    if (file == NULL) {
        return plim_fail_errno(err, errno, "%s: cannot be written", path);
    }
    const bool is_written = fputs(script, file) >= 0;
    if (fclose(file) != 0 || !is_written) {
        return plim_fail_errno(err, errno, "%s: cannot be written", path);
    }
    return PLIM_OK;
}
