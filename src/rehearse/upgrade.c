/*
 * upgrade.c - environments that differ from a program's own, and the figure by which two rehearsals
 * are compared. See plimsoll/upgrade.h.
 *
 * All that has to do with packages is done by agent/environments.py, run with the program's own
 * Python: it knows where that finds packages, and pip is one of them.
 */
#include "rehearse/upgrade.h"

#include "base/error.h"
#include "base/numbers.h"
#include "launch/path.h"
#include "rehearse/ask.h"
#include "rehearse/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- asking ---------------------------------------------------------------------------------- */

plim_status plim_own_python_find(const char *const *argv, const plim_environment_options *options,
                                 plim_own_python *ret, plim_error *err)
{
    char program[PLIM_PATH_BYTES];
    PLIM_TRY(plim_home_find(options->home, ret->home, sizeof(ret->home), err));
    if (options->python != NULL) {
        return plim_path_find(options->python, true, ret->path, sizeof(ret->path))
                   ? PLIM_OK
                   : plim_fail(err, PLIM_INVALID_ARGUMENT, "cannot find the Python \"%s\"",
                               options->python);
    }
    if (argv[0] == NULL || !plim_path_find(argv[0], true, program, sizeof(program))) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "cannot find the program \"%s\"",
                         argv[0] != NULL ? argv[0] : "");
    }
    return plim_program_python(program, argv + 1, ret->path, sizeof(ret->path))
               ? PLIM_OK
               : plim_fail(err, PLIM_INVALID_ARGUMENT,
                           "which Python is the program's? None was found (--python)");
}

static plim_status status_of_kind(const char *kind)
{
    if (kind != NULL && strcmp(kind, "usage") == 0) {
        return PLIM_INVALID_ARGUMENT;
    }
    return kind != NULL && strcmp(kind, "unreachable") == 0 ? PLIM_IO : PLIM_UNSUPPORTED;
}

plim_status plim_environments_ask(const plim_own_python *own, const char *const *words,
                                  yajl_val *ret, plim_error *err)
{
    yajl_val answer = NULL;
    const plim_python_question question = { .python = own->path,
                                            .home = own->home,
                                            .script = PLIM_HOME_ENVIRONMENTS,
                                            .words = words,
                                            .doing = "make an environment" };
    PLIM_TRY(plim_python_ask(&question, &answer, err));
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    plim_json_copier copier = { .arena = &arena };
    const char *error = plim_json_get_string(answer, "error", &copier);
    plim_status status = PLIM_OK;
    if (copier.is_out_of_memory) {
        status = plim_fail_memory(err, "making an environment");
    } else if (error != NULL) {
        const char *kind = plim_json_get_string(answer, "kind", &copier);
        status = plim_fail(err, status_of_kind(kind), "%s", error);
    }
    plim_arena_deinit(&arena);
    if (status == PLIM_OK) {
        *ret = answer;
    } else {
        yajl_tree_free(answer);
    }
    return status;
}

/* ---- opening one ----------------------------------------------------------------------------- */

typedef struct opened {
    plim_environment shown; /* first: the caller's pointer is to it */
    plim_arena arena;
} opened;

/* A name in PATH that is a Python's, or anything with a slash in it: no requirement has one. */
static bool is_path(const char *other)
{
    return strchr(other, '/') != NULL || strncmp(other, "python", 6) == 0 ||
           strncmp(other, "pypy", 4) == 0;
}

/* Absolute, as the program may change its folder; links are not followed, since they are what makes
 * a Python one of an environment. */
static plim_status find_other(const char *other, char *path, size_t path_bytes, plim_error *err)
{
    char found[PLIM_PATH_BYTES];
    char folder[PLIM_PATH_BYTES];
    if (!plim_path_find(other, true, found, sizeof(found))) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "cannot find the Python \"%s\"", other);
    }
    if (found[0] == '/') {
        return plim_folder_join(path, path_bytes, "", found + 1, err);
    }
    if (getcwd(folder, sizeof(folder)) == NULL) {
        return plim_fail_errno(err, errno, "%s: cannot be found from here", other);
    }
    return plim_folder_join(path, path_bytes, folder, found, err);
}

static plim_status find_cache(const plim_environment_options *options, char *path,
                              size_t path_bytes, plim_error *err)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (options->folder != NULL) {
        return plim_folder_join(path, path_bytes, options->folder, ".", err);
    }
    if (cache != NULL && cache[0] == '/') {
        return plim_folder_join(path, path_bytes, cache, "plimsoll/environments", err);
    }
    if (home == NULL || home[0] != '/') {
        return plim_fail(err, PLIM_IO,
                         "no place for environments: HOME and XDG_CACHE_HOME are "
                         "not set");
    }
    return plim_folder_join(path, path_bytes, home, ".cache/plimsoll/environments", err);
}

static plim_status keep_changes(opened *self, yajl_val answer, plim_json_copier *copier,
                                plim_error *err)
{
    yajl_val list = plim_json_get(answer, "changes");
    const size_t count = plim_json_length(list);
    plim_package_change *changes = plim_arena_alloc(&self->arena, (count + 1) * sizeof(*changes));
    if (changes == NULL) {
        return plim_fail_memory(err, "opening an environment");
    }
    for (size_t i = 0; i < count; i++) {
        yajl_val one = plim_json_item(list, i);
        changes[i] = (plim_package_change){
            .name = plim_json_get_string(one, "name", copier),
            .own_version = plim_json_get_string(one, "own", copier),
            .other_version = plim_json_get_string(one, "other", copier),
        };
        if (changes[i].name == NULL && !copier->is_out_of_memory) {
            return plim_fail(err, PLIM_CORRUPT, "a package without a name");
        }
    }
    self->shown.changes = changes;
    self->shown.change_count = count;
    return PLIM_OK;
}

static plim_status keep_answer(opened *self, const char *own_python, yajl_val answer,
                               plim_error *err)
{
    plim_json_copier copier = { .arena = &self->arena };
    plim_environment *const shown = &self->shown;
    PLIM_TRY(keep_changes(self, answer, &copier, err));
    shown->python = plim_json_get_string(answer, "python", &copier);
    shown->own_python = plim_arena_copy(&self->arena, own_python, strlen(own_python));
    shown->is_older = YAJL_IS_TRUE(plim_json_get(answer, "is_older"));
    if (!plim_json_get_strings(answer, "warnings", &copier, &shown->warnings,
                               &shown->warning_count) ||
        copier.is_out_of_memory || shown->own_python == NULL) {
        return plim_fail_memory(err, "opening an environment");
    }
    return shown->python != NULL ? PLIM_OK
                                 : plim_fail(err, PLIM_CORRUPT, "an environment without a Python");
}

static plim_status open_in(opened *self, const char *const *argv, const char *other,
                           const plim_environment_options *options, plim_error *err)
{
    plim_own_python own;
    char place[PLIM_PATH_BYTES];
    PLIM_TRY(plim_own_python_find(argv, options, &own, err));
    const char *const of_path[] = { "python", place, NULL };
    const char *const of_requirement[] = { "make", place,
                                           options->is_offline ? "offline" : "online", other,
                                           NULL };
    const bool has_path = is_path(other);
    PLIM_TRY(has_path ? find_other(other, place, sizeof(place), err)
                      : find_cache(options, place, sizeof(place), err));
    yajl_val answer = NULL;
    PLIM_TRY(plim_environments_ask(&own, has_path ? of_path : of_requirement, &answer, err));
    const plim_status status = keep_answer(self, own.path, answer, err);
    yajl_tree_free(answer);
    return status;
}

plim_status plim_environment_open(const char *const *argv, const char *other,
                                  const plim_environment_options *options, plim_environment **ret,
                                  plim_error *err)
{
    static const plim_environment_options defaults;
    options = options != NULL ? options : &defaults;
    const plim_mem *mem = plim_mem_or_heap(options->mem);
    opened *self = plim_mem_alloc_zeroed(mem, 1, sizeof(*self));
    if (self == NULL) {
        return plim_fail_memory(err, "opening an environment");
    }
    plim_arena_init(&self->arena, mem);
    const plim_status status = open_in(self, argv, other, options, err);
    if (status != PLIM_OK) {
        plim_environment_close(&self->shown);
        return status;
    }
    *ret = &self->shown;
    return PLIM_OK;
}

void plim_environment_close(plim_environment *environment)
{
    opened *self = (opened *)(void *)environment;
    if (self == NULL) {
        return;
    }
    const plim_mem *mem = self->arena.mem;
    plim_arena_deinit(&self->arena);
    plim_mem_free(mem, self, 1, sizeof(*self));
}

/* ---- what is compared ------------------------------------------------------------------------ */

uint64_t plim_upgrade_peak(const plim_rehearsed *rehearsed)
{
    const plim_rehearsed_need *need = rehearsed->need;
    const bool has_need = rehearsed->ran_out && need != NULL && need->why_unknown == NULL;
    const plim_rehearsed_peak peak =
        has_need ? need->peak : plim_rehearsed_find_peak(rehearsed->outcome);
    return rehearsed->outcome->process_count > 0 ? peak.allocated_bytes : peak.device_bytes;
}

bool plim_upgrade_grew(const plim_rehearsed *before, const plim_rehearsed *after,
                       const plim_upgrade_limit *limit)
{
    if (after->ran_out && !before->ran_out) {
        return true;
    }
    const uint64_t peak = plim_upgrade_peak(before);
    const uint64_t growth = plim_minus(plim_upgrade_peak(after), peak);
    return growth > limit->bytes && (double)growth > (double)peak * limit->share;
}

const char *plim_release_state_name(plim_release_state state)
{
    static const char *const names[] = {
#define STATE_NAME(code, name) [code] = name,
        PLIM_RELEASE_STATE_LIST(STATE_NAME)
#undef STATE_NAME
    };
    return names[state];
}
