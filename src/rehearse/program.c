/*
 * program.c - which Python a program will run in. See program.h.
 */
#include "rehearse/program.h"

#include "launch/path.h"
#include "rehearse/folder.h"

#include <stdio.h>
#include <string.h>

static bool is_python(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

/* The interpreter after "#!" in the first line; false if there is none. */
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

bool plim_program_python(const char *program, char *path, size_t path_bytes)
{
    if (is_python(program)) {
        return (size_t)snprintf(path, path_bytes, "%s", program) < path_bytes;
    }
    return python_of_script(program, path, path_bytes) ||
           plim_path_find("python3", true, path, path_bytes) ||
           plim_path_find("python", true, path, path_bytes);
}
