/*
 * program.c - where our own files are, and which Python a program will run in. See program.h.
 */
#include "rehearse/program.h"

#include "base/error.h"
#include "launch/path.h"
#include "rehearse/folder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
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

/* The stand-ins beside a file of ours; false without them. */
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
    static const char anchor; /* dladdr() takes pointers to objects, and a function is not one */
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

static bool is_python(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

/* The interpreter after "#!" in the first line; false without one. */
static bool read_interpreter(const char *path, char *line, size_t line_bytes)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    const bool is_script =
        fgets(line, (int)line_bytes, file) != NULL && strncmp(line, "#!", 2) == 0;
    (void)fclose(file);
    line[is_script ? strcspn(line, "\r\n") : 0] = '\0';
    return is_script;
}

/* "#!/venv/bin/python -u" and "#!/usr/bin/env -S python3 -u". */
static bool python_of_script(const char *program, char *path, size_t path_bytes)
{
    char line[PLIM_PATH_BYTES] = "";
    if (!read_interpreter(program, line, sizeof(line))) {
        return false;
    }
    char *rest = NULL;
    for (char *word = strtok_r(line + 2, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        if (is_python(word)) {
            return plim_path_find(word, true, path, path_bytes);
        }
    }
    return false;
}

static bool python_of(const char *program, char *path, size_t path_bytes)
{
    if (is_python(program)) {
        return (size_t)snprintf(path, path_bytes, "%s", program) < path_bytes;
    }
    return python_of_script(program, path, path_bytes);
}

/* Of a program that starts another: "timeout 600 python train.py", "env -u X torchrun train.py". */
static bool python_of_words(const char *const *words, char *path, size_t path_bytes)
{
    char program[PLIM_PATH_BYTES];
    for (; *words != NULL; words++) {
        if (plim_path_find(*words, true, program, sizeof(program)) &&
            python_of(program, path, path_bytes)) {
            return true;
        }
    }
    return false;
}

bool plim_program_python(const char *program, const char *const *words, char *path,
                         size_t path_bytes)
{
    return python_of(program, path, path_bytes) || python_of_words(words, path, path_bytes) ||
           plim_path_find("python3", true, path, path_bytes) ||
           plim_path_find("python", true, path, path_bytes);
}

/* ---- in another Python ----------------------------------------------------------------------- */

/* "<folder of python>/<name of script>", if that can be run. */
static bool find_own_script(const char *python, const char *script, char *path, size_t path_bytes)
{
    char folder[PLIM_PATH_BYTES];
    const char *slash = strrchr(script, '/');
    (void)snprintf(folder, sizeof(folder), "%s", python);
    cut_name(folder);
    return plim_folder_join(path, path_bytes, folder, slash != NULL ? slash + 1 : script, NULL) ==
               PLIM_OK &&
           access(path, X_OK) == 0;
}

/* The words that take the place of one: none if it is neither a Python nor a script of one. */
static size_t replace_word(plim_arena *arena, const char *word, const char *python,
                           const char **ret_words)
{
    char program[PLIM_PATH_BYTES];
    char found[PLIM_PATH_BYTES];
    if (!plim_path_find(word, true, program, sizeof(program)) ||
        !python_of(program, found, sizeof(found))) {
        return 0;
    }
    ret_words[0] = python;
    if (is_python(program)) {
        return 1;
    }
    if (find_own_script(python, program, found, sizeof(found))) {
        ret_words[0] = plim_arena_copy(arena, found, strlen(found));
        return 1;
    }
    ret_words[1] = plim_arena_copy(arena, program, strlen(program));
    return 2;
}

plim_status plim_program_in_python(plim_arena *arena, const char *const *argv, const char *python,
                                   const char *const **ret, plim_error *err)
{
    size_t count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    const char **words = plim_arena_alloc(arena, (count + 2) * sizeof(*words));
    if (words == NULL) {
        return plim_fail_memory(err, "preparing a command for another Python");
    }
    size_t filled = 0;
    bool is_replaced = false;
    for (size_t i = 0; i < count; i++) {
        const char *other[2] = { argv[i], argv[i] };
        const size_t replaced = is_replaced ? 0 : replace_word(arena, argv[i], python, other);
        if (other[0] == NULL || other[1] == NULL) {
            return plim_fail_memory(err, "preparing a command for another Python");
        }
        is_replaced = is_replaced || replaced > 0;
        words[filled++] = other[0];
        if (replaced == 2) {
            words[filled++] = other[1];
        }
    }
    words[filled] = NULL;
    *ret = words;
    return PLIM_OK;
}
