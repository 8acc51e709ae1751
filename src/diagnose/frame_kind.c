/*
 * frame_kind.c - a table of paths, tried from the top.
 *
 * Paths are compared without regard to case and with '\' as '/', because one recording in ten
 * comes from Windows, where both vary. A path is read as if a '/' stood before it, so that a
 * relative one matches the same patterns.
 */
#include "diagnose/frame_kind.h"

#include "base/ascii.h"

#include <string.h>

/* '*' is any run without '/'; '^' at the front and '$' at the end tie it to the path's ends. */
typedef struct rule {
    const char *pattern;
    plim_frame_kind kind;
} rule;

static const rule rules[] = {
    { "\?\?$", PLIM_FRAME_NATIVE }, /* what symbolizers write for "no idea" */
    { ".cpp$", PLIM_FRAME_NATIVE },
    { ".cxx$", PLIM_FRAME_NATIVE },
    { ".cc$", PLIM_FRAME_NATIVE },
    { ".cu$", PLIM_FRAME_NATIVE },
    { ".cuh$", PLIM_FRAME_NATIVE },
    { ".h$", PLIM_FRAME_NATIVE },
    { ".hpp$", PLIM_FRAME_NATIVE },
    { ".c$", PLIM_FRAME_NATIVE },
    { ".s$", PLIM_FRAME_NATIVE },
    { ".o$", PLIM_FRAME_NATIVE },
    { ".so$", PLIM_FRAME_NATIVE },
    { ".so.", PLIM_FRAME_NATIVE }, /* libc.so.6 */
    { "^/<frozen *", PLIM_FRAME_PYTHON },
    { "^/<eval_with_key>", PLIM_FRAME_TORCH }, /* torch.fx */
    { "/torchinductor_*/", PLIM_FRAME_TORCH }, /* its cache in the temporary folder */
    { "/site-packages/torch/", PLIM_FRAME_TORCH },
    { "/dist-packages/torch/", PLIM_FRAME_TORCH },
    { "/site-packages/", PLIM_FRAME_LIBRARY },
    { "/dist-packages/", PLIM_FRAME_LIBRARY },
    { "/pytorch/torch/", PLIM_FRAME_TORCH }, /* run from a checkout */
    { "/torch/_", PLIM_FRAME_TORCH },
    { "^/torch/", PLIM_FRAME_TORCH }, /* paths cut at the package */
    { "/lib/python3*/", PLIM_FRAME_PYTHON },
    { "/lib64/python3*/", PLIM_FRAME_PYTHON },
    { "/python3*/lib/", PLIM_FRAME_PYTHON }, /* Windows: …\Python310\lib\threading.py */
    { "conda3/lib/", PLIM_FRAME_PYTHON },    /* Windows: anaconda3\lib\… */
    { "/envs/*/lib/", PLIM_FRAME_PYTHON },   /* Windows: …\envs\name\lib\… */
};

/* The path as it is compared, with the '/' that is read before it. */
static char path_at(const char *path, size_t i)
{
    const char c = i == 0 ? '/' : path[i - 1];
    if (c == '\\') {
        return '/';
    }
    return plim_lower(c);
}

/*
 * Whether the pattern matches from `i` on. A '*' that met too little is widened by one; only the
 * last one met needs to be, so nothing is tried twice per start.
 */
static bool matches_from(const char *pattern, const char *path, size_t i)
{
    const char *star = NULL; /* behind the last '*' */
    size_t star_at = 0;      /* where what follows it was last tried */
    while (*pattern != '\0') {
        const char c = path_at(path, i);
        if (*pattern == '*') {
            star = ++pattern;
            star_at = i;
        } else if (*pattern == '$' && c == '\0') {
            return true;
        } else if (*pattern == c) {
            pattern++;
            i++;
        } else if (star != NULL && path_at(path, star_at) != '\0' &&
                   path_at(path, star_at) != '/') {
            pattern = star;
            i = ++star_at;
        } else {
            return false;
        }
    }
    return true;
}

static bool matches(const char *pattern, const char *path, size_t length)
{
    if (*pattern == '^') {
        return matches_from(pattern + 1, path, 0);
    }
    for (size_t i = 0; i <= length; i++) {
        if (path_at(path, i) == *pattern && matches_from(pattern, path, i)) {
            return true;
        }
    }
    return false;
}

/* What Python code lies in. */
static const char *const sources[] = { ".py$", ".pyi$", ".pyx$", ".ipynb$" };

/* Where C programs begin, whatever file the symbolizer names for it. */
static bool is_start_of_program(const char *name)
{
    return strcmp(name, "_start") == 0 || strncmp(name, "__libc_start", 12) == 0;
}

static bool is_absolute(const char *filename)
{
    const char drive = path_at(filename, 1);
    return path_at(filename, 1) == '/' ||
           (plim_is_lower(drive) && filename[1] == ':' && path_at(filename, 3) == '/');
}

/*
 * A frame without a line that no rule knows: symbolizers name the program or the library itself
 * where they have no line table. Names that are no paths, as "<string>", are interpreters'.
 */
static bool is_of_a_binary(const char *filename, size_t length, const char *name)
{
    if (is_start_of_program(name)) {
        return true;
    }
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (matches(sources[i], filename, length)) {
            return false;
        }
    }
    return is_absolute(filename);
}

plim_frame_kind plim_frame_kind_of(const char *filename, const char *name, uint32_t line)
{
    if (filename[0] == '\0' || (line == 0 && strstr(name, "::") != NULL)) {
        return PLIM_FRAME_NATIVE;
    }
    const size_t length = strlen(filename);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (matches(rules[i].pattern, filename, length)) {
            return rules[i].kind;
        }
    }
    return line == 0 && is_of_a_binary(filename, length, name) ? PLIM_FRAME_NATIVE
                                                               : PLIM_FRAME_USER;
}
