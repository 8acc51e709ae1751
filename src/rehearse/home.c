/*
 * home.c - where our own files are. See home.h.
 */
#include "rehearse/home.h"

#include "base/error.h"
#include "rehearse/folder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_standins(const char *folder)
{
    char path[PLIM_PATH_BYTES];
    return plim_folder_join(path, sizeof(path), folder, PLIM_HOME_STANDIN, NULL) == PLIM_OK &&
           access(path, R_OK) == 0;
}

static void cut_name(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
}

/* The stand-ins beside a file of ours; false: there are none. */
static bool find_beside(const char *file, char *path, size_t path_bytes)
{
    static const char *const places[] = {
        "rehearse",
        "../rehearse",              /* a build tree: from the command, and from a test */
        "../lib/plimsoll/rehearse", /* installed: from bin */
        "plimsoll/rehearse",
        "../plimsoll/rehearse", /* from lib, and from lib/x86_64-linux-gnu */
    };
    char folder[PLIM_PATH_BYTES];
    if (realpath(file, folder) == NULL) {
        return false;
    }
    cut_name(folder);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (plim_folder_join(path, path_bytes, folder, places[i], NULL) == PLIM_OK &&
            has_standins(path)) {
            return true;
        }
    }
    return false;
}

/* The shared library that this code is in, or the program where it is linked statically. */
static const char *find_own_object(void)
{
    static const char anchor; /* dladdr() takes pointers to objects, and functions are none */
    Dl_info about = { 0 };
    return dladdr(&anchor, &about) != 0 ? about.dli_fname : NULL;
}

plim_status plim_home_find(const char *given, char *path, size_t path_bytes, plim_error *err)
{
    if (given != NULL) {
        char absolute[PLIM_PATH_BYTES];
        if (realpath(given, absolute) == NULL || !has_standins(absolute)) {
            return plim_fail(err, PLIM_IO, "%s: has no " PLIM_HOME_STANDIN, given);
        }
        return plim_folder_join(path, path_bytes, absolute, ".", err);
    }
    const char *own = find_own_object();
    if ((own != NULL && find_beside(own, path, path_bytes)) ||
        find_beside("/proc/self/exe", path, path_bytes)) {
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_IO,
                     "no stand-ins for CUDA beside %s: build the target \"standin\", or install "
                     "Plimsoll",
                     own != NULL ? own : "this program");
}
