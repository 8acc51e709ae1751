/*
 * frames.c - holding a frame against the table. See frames.h.
 *
 * Paths are compared without regard to case and with '\' as '/', because one recording in ten
 * comes from Windows, where both vary. A path is read as if a '/' stood before it, so that a
 * relative one meets the same patterns.
 */
#include "stacks/frames.h"

#include "base/ascii.h"
#include "base/assert.h"
#include "stacks/table.h"

#include <pthread.h>
#include <string.h>

#define PATH_BYTES 4096 /* of what is longer the end is read */

static plim_frame_table table; /* constant once read */
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void read_table(void)
{
    plim_error err = { 0 };
    if (plim_frame_table_read(plim_frames_lines, &table, &err) != PLIM_OK) {
        plim_assert_failed(err.message, __FILE__, __LINE__); /* built wrong: tests/stacks */
    }
}

/*
 * True if the pattern meets the text from here on, and ends where it does. A '*' that met too
 * little is widened by one; only the last one met needs to be, so nothing is tried twice.
 */
static bool meets_from(const plim_frame_pattern *pattern, const char *text, char stop)
{
    const char *at = pattern->text;
    const char *star = NULL;    /* after the last '*' */
    const char *star_at = NULL; /* where what follows it was last tried */
    while (*at != '\0' || (pattern->ends && *text != '\0')) {
        if (*at == '*') {
            star = ++at;
            star_at = text;
        } else if (*at != '\0' && *at == *text) {
            at++;
            text++;
        } else if (star != NULL && *star_at != '\0' && *star_at != stop) {
            at = star;
            text = ++star_at;
        } else {
            return false;
        }
    }
    return true;
}

/* `stop`: what a '*' does not meet, or 0. */
static bool meets(const plim_frame_pattern *pattern, const char *text, size_t bytes, char stop)
{
    if (pattern->begins) {
        return meets_from(pattern, text, stop);
    }
    if (!pattern->has_star) {
        return pattern->ends ? bytes >= pattern->bytes &&
                                   strcmp(text + bytes - pattern->bytes, pattern->text) == 0
                             : strstr(text, pattern->text) != NULL;
    }
    for (; *text != '\0'; text++) {
        if (*text == *pattern->text && meets_from(pattern, text, stop)) {
            return true;
        }
    }
    return false;
}

/* A path as it is compared; returns its length. */
static size_t read_path(const char *file, char path[PATH_BYTES])
{
    size_t bytes = strlen(file);
    path[0] = '/';
    if (bytes > PATH_BYTES - 2) {
        file += bytes - (PATH_BYTES - 2);
        bytes = PATH_BYTES - 2;
        path[0] = ' '; /* no pattern's beginning */
    }
    for (size_t i = 0; i < bytes; i++) {
        path[i + 1] = file[i] == '\\' ? '/' : plim_lower(file[i]);
    }
    path[bytes + 1] = '\0';
    return bytes + 1;
}

/* A frame as rows are held against it. */
typedef struct frame_words {
    char path[PATH_BYTES];
    size_t path_bytes;
    const char *function;
    size_t function_bytes;
} frame_words;

static void read_words(const char *file, const char *function, frame_words *words)
{
    words->path_bytes = read_path(file, words->path);
    words->function = function;
    words->function_bytes = strlen(function);
    (void)pthread_once(&table_once, read_table);
}

/* Any function, which most rows have, costs nothing. */
static bool meets_function(const plim_frame_row *row, const char *function, size_t bytes)
{
    return row->function.bytes == 0 || meets(&row->function, function, bytes, '\0');
}

static bool meets_words(const plim_frame_row *row, const frame_words *words)
{
    return meets_function(row, words->function, words->function_bytes) &&
           (row->file.bytes == 0 || meets(&row->file, words->path, words->path_bytes, '/'));
}

plim_frame_owner plim_frame_owner_of(const char *file, const char *function, uint32_t line)
{
    frame_words words;
    read_words(file, function, &words);
    for (size_t i = 0; i < table.counts[PLIM_CLASS_OWNER]; i++) {
        const plim_frame_row *const row = &table.rows[PLIM_CLASS_OWNER][i];
        if ((!row->without_line || line == 0) && meets_words(row, &words)) {
            return (plim_frame_owner)row->class;
        }
    }
    return PLIM_FRAME_USER;
}

plim_frame_role plim_frame_role_of(const char *file, const char *function, plim_frame_owner owner)
{
    frame_words words;
    read_words(file, function, &words);
    for (size_t i = 0; i < table.counts[PLIM_CLASS_ROLE]; i++) {
        const plim_frame_row *const row = &table.rows[PLIM_CLASS_ROLE][i];
        const bool is_of_native = row->class == PLIM_ROLE_ENGINE;
        if (is_of_native == (owner == PLIM_FRAME_NATIVE) && meets_words(row, &words)) {
            return (plim_frame_role)row->class;
        }
    }
    return PLIM_ROLE_NONE;
}

plim_frame_technique plim_frame_technique_of(const char *file, const char *function)
{
    frame_words words;
    read_words(file, function, &words);
    for (size_t i = 0; i < table.counts[PLIM_CLASS_TECHNIQUE]; i++) {
        const plim_frame_row *const row = &table.rows[PLIM_CLASS_TECHNIQUE][i];
        if (meets_words(row, &words)) {
            return (plim_frame_technique)row->class;
        }
    }
    return PLIM_TECHNIQUE_NONE;
}

plim_frame_label plim_frame_label_of(const char *function)
{
    const size_t bytes = strlen(function);
    (void)pthread_once(&table_once, read_table);
    for (size_t i = 0; i < table.counts[PLIM_CLASS_LABEL]; i++) {
        const plim_frame_row *const row = &table.rows[PLIM_CLASS_LABEL][i];
        if (meets_function(row, function, bytes)) {
            return (plim_frame_label)row->class;
        }
    }
    return PLIM_LABEL_OTHER;
}

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

/* After `folder`, where the path goes through it here; a '*' at its end meets the rest of a name.
 * Else NULL. */
static const char *after_folder(const char *path, const char *folder)
{
    for (; *folder != '\0' && *folder != '*'; folder++, path++) {
        if (is_separator(*folder) ? !is_separator(*path) : plim_lower(*path) != *folder) {
            return NULL;
        }
    }
    if (*folder == '*') {
        path += strcspn(path, "/\\");
        return *path != '\0' ? path + 1 : NULL;
    }
    return path;
}

const char *plim_frame_installed_path(const char *file)
{
    static const struct {
        const char *folder;
        size_t kept; /* bytes of its end that belong to the path */
    } places[] = {
        { "/site-packages/", 0 }, { "/dist-packages/", 0 }, { "/pytorch/torch/", 6 },
        { "/lib/python3*", 0 },   { "/lib64/python3*", 0 }, { "conda3/lib/", 0 },
    };
    const char *found = NULL;
    for (; *file != '\0'; file++) {
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            const char *const after = after_folder(file, places[i].folder);
            if (after != NULL) {
                found = after - places[i].kept;
            }
        }
    }
    return found;
}

const char *plim_frame_package(const char *installed_path, size_t *ret_bytes)
{
    size_t bytes = strcspn(installed_path, "/\\");
    if (installed_path[bytes] == '\0' && bytes > 3 &&
        strcmp(installed_path + bytes - 3, ".py") == 0) {
        bytes -= 3;
    }
    *ret_bytes = bytes;
    return installed_path;
}

bool plim_frame_is_init(const char *function)
{
    return strcmp(function, "__init__") == 0;
}
