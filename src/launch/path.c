/*
 * path.c - searching PATH for a command. See path.h.
 */
#include "launch/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin" /* as execvp() has it without a PATH */

static bool is_match(const char *path, bool must_run)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           (!must_run || access(path, X_OK) == 0);
}

bool plim_path_find(const char *name, bool must_run, char *path, size_t path_bytes)
{
    if (strchr(name, '/') != NULL) {
        const int length = snprintf(path, path_bytes, "%s", name);
        return (size_t)length < path_bytes && is_match(path, must_run);
    }
    const char *folders = getenv("PATH");
    folders = folders != NULL ? folders : DEFAULT_PATH;
    for (;;) {
        const size_t folder = strcspn(folders, ":");
        /* An empty folder is the current one. */
        const int length = snprintf(path, path_bytes, "%.*s/%s", folder > 0 ? (int)folder : 1,
                                    folder > 0 ? folders : ".", name);
        if (length > 0 && (size_t)length < path_bytes && is_match(path, must_run)) {
            return true;
        }
        if (folders[folder] == '\0') {
            return false;
        }
        folders += folder + 1;
    }
}
