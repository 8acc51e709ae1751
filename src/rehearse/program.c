/*
 * program.c - which Python a program will run in. See program.h.
 */
#include "rehearse/program.h"

#include "rehearse/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin" /* as execvp() has it without a PATH */

static bool is_executable(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

static bool put(char *path, size_t path_bytes, const char *folder, size_t folder_length,
                const char *name)
{
    const int length = snprintf(path, path_bytes, "%.*s%s%s", (int)folder_length, folder,
                                folder_length > 0 ? "/" : "", name);
    return length > 0 && (size_t)length < path_bytes;
}

bool plim_program_find(const char *name, char *path, size_t path_bytes)
{
    if (strchr(name, '/') != NULL) {
        return put(path, path_bytes, "", 0, name) && is_executable(path);
    }
    const char *folders = getenv("PATH");
    folders = folders != NULL ? folders : DEFAULT_PATH;
    for (;;) {
        const size_t length = strcspn(folders, ":");
        const bool is_here = length == 0; /* an empty one is the current folder */
        if (put(path, path_bytes, is_here ? "." : folders, is_here ? 1 : length, name) &&
            is_executable(path)) {
            return true;
        }
        if (folders[length] == '\0') {
            return false;
        }
        folders += length + 1;
    }
}

static bool is_python(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

/* What stands behind "#!" in the first line; false if nothing does. */
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
            return plim_program_find(word, path, path_bytes);
        }
    }
    return false;
}

bool plim_program_python(const char *program, char *path, size_t path_bytes)
{
    if (is_python(program)) {
        return put(path, path_bytes, "", 0, program);
    }
    return python_of_script(program, path, path_bytes) ||
           plim_program_find("python3", path, path_bytes) ||
           plim_program_find("python", path, path_bytes);
}
