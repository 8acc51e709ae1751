/*
 * folder.c - the folder of a run. See folder.h.
 */
#include "rehearse/folder.h"

#include "base/error.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER_ONLY   0700
#define OPEN_FOLDERS 8 /* at once, while removing */

plim_status plim_folder_join(char *path, size_t path_bytes, const char *folder, const char *name,
                             plim_error *err)
{
    const int length = snprintf(path, path_bytes, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= path_bytes) {
        return plim_fail(err, PLIM_LIMIT, "%s/%s: the path is too long", folder, name);
    }
    return PLIM_OK;
}

static plim_status make_inside(const char *folder, const char *name, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(path, sizeof(path), folder, name, err));
    if (mkdir(path, OWNER_ONLY) != 0) {
        return plim_fail_errno(err, errno, "%s: cannot be made", path);
    }
    return PLIM_OK;
}

plim_status plim_folder_make(char *path, size_t path_bytes, const char *const *inside,
                             plim_error *err)
{
    const char *base = getenv("TMPDIR");
    /* LD_PRELOAD takes no path with blanks or colons in it (ld.so(8)). */
    base = base != NULL && base[0] == '/' && strpbrk(base, " :") == NULL ? base : "/tmp";
    PLIM_TRY(plim_folder_join(path, path_bytes, base, "plimsoll-rehearsal-XXXXXX", err));
    if (mkdtemp(path) == NULL) {
        const plim_status status =
            plim_fail_errno(err, errno, "%s: cannot make a folder for the rehearsal", base);
        path[0] = '\0';
        return status;
    }
    for (size_t i = 0; inside[i] != NULL; i++) {
        PLIM_TRY(make_inside(path, inside[i], err));
    }
    return PLIM_OK;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    (void)remove(path);
    return 0; /* go on: what is left over lies in a folder for temporary files */
}

void plim_folder_remove(const char *path)
{
    if (path[0] != '\0') {
        (void)nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
}
