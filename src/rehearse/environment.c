/*
 * environment.c - the environment that leads a program to the stand-ins. See rehearsal.h.
 */
#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"
#include "rehearse/folder.h"
#include "rehearse/program.h"
#include "rehearse/rehearsal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_TRITON_CACHE   "triton" /* in the folder of a run */
#define RUN_INDUCTOR_CACHE "inductor"

#define VALUE_BYTES_MAX ((size_t)1 << 20)

typedef struct variables {
    plim_arena *arena;
    PLIM_VEC(char *) list;
    bool is_out_of_memory;
} variables;

static bool is_named(const char *variable, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

static void unset(variables *all, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->list.count; i++) {
        if (!is_named(all->list.items[i], name)) {
            all->list.items[kept++] = all->list.items[i];
        }
    }
    all->list.count = kept;
}

static void set(variables *all, const char *name, const char *value)
{
    unset(all, name);
    const size_t bytes = strlen(name) + strlen(value) + 2;
    char *variable = plim_arena_alloc(all->arena, bytes);
    if (variable == NULL || !PLIM_VEC_PUSH(all->arena->mem, &all->list, variable)) {
        all->is_out_of_memory = true;
        return;
    }
    (void)snprintf(variable, bytes, "%s=%s", name, value);
}

static void set_number(variables *all, const char *name, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    set(all, name, text);
}

static void set_default(variables *all, const char *name, const char *value)
{
    if (getenv(name) == NULL) {
        set(all, name, value);
    }
}

/* A text that lost some of itself is no value. */
static void set_text(variables *all, const char *name, const plim_text *value)
{
    all->is_out_of_memory = all->is_out_of_memory || value->status != PLIM_OK;
    set(all, name, plim_text_string(value));
}

/* Ours first, then what the user has there already. */
static void put_before(variables *all, const char *name, const plim_text *ours)
{
    const char *theirs = getenv(name);
    plim_text value;
    plim_text_init(&value, NULL, VALUE_BYTES_MAX);
    plim_text_append_string(&value, plim_text_string(ours));
    if (theirs != NULL && theirs[0] != '\0') {
        plim_text_append_format(&value, ":%s", theirs);
    }
    set_text(all, name, &value);
    all->is_out_of_memory = all->is_out_of_memory || ours->status != PLIM_OK;
    plim_text_deinit(&value);
}

static void set_preload(variables *all, const char *folder, const plim_wants *wants)
{
    plim_text value;
    plim_text_init(&value, NULL, VALUE_BYTES_MAX);
    for (size_t i = 0; i < plim_wants_count(wants); i++) {
        plim_text_append_format(&value, "%s%s/" PLIM_RUN_LIB "/%s", i > 0 ? ":" : "", folder,
                                plim_wants_soname(wants, i));
    }
    put_before(all, "LD_PRELOAD", &value);
    plim_text_deinit(&value);
}

static void set_python_path(variables *all, const char *home)
{
    plim_text value;
    plim_text_init(&value, NULL, VALUE_BYTES_MAX);
    plim_text_append_format(&value, "%s/" PLIM_HOME_AGENT, home);
    put_before(all, "PYTHONPATH", &value);
    plim_text_deinit(&value);
}

/* Programs that start a Python by its name get that of the other environment. */
static void set_python(variables *all, const char *python)
{
    const char *const slash = strrchr(python, '/');
    plim_text folder;
    plim_text_init(&folder, NULL, VALUE_BYTES_MAX);
    plim_text_append(&folder, python, slash != NULL ? (size_t)(slash - python) : 0);
    put_before(all, "PATH", &folder);
    plim_text_deinit(&folder);
    unset(all, "VIRTUAL_ENV");
    unset(all, "PYTHONHOME");
}

/* Machines without a GPU, and those who would not use theirs, hide all: ours are to be seen. */
static void show_devices(variables *all)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible != NULL && (visible[0] == '\0' || strcmp(visible, "-1") == 0)) {
        unset(all, "CUDA_VISIBLE_DEVICES");
    }
}

/* A path in the folder of the run, unless the user has chosen one. */
static void set_path_default(variables *all, const char *name, const char *folder,
                             const char *inside)
{
    plim_text value;
    plim_text_init(&value, NULL, VALUE_BYTES_MAX);
    plim_text_append_format(&value, "%s/%s", folder, inside);
    if (getenv(name) == NULL) {
        set_text(all, name, &value);
    }
    plim_text_deinit(&value);
}

static void set_what_the_agent_reads(variables *all, const plim_rehearsal *rehearsal,
                                     const plim_rehearse_options *options)
{
    set(all, "PLIMSOLL_REHEARSAL", rehearsal->folder);
    if (options->steps > 0) {
        set_number(all, "PLIMSOLL_STEPS", options->steps);
    }
    if (options->record_path != NULL || options->keeps_snapshots) {
        set(all, "PLIMSOLL_HISTORY", "all");
        set(all, "PLIMSOLL_SNAPSHOT", "1");
    }
    if (options->world_size > 0) {
        set_number(all, "PLIMSOLL_WORLD_SIZE", options->world_size);
        set_number(all, "PLIMSOLL_RANK", options->rank);
    }
}

/* Linkers take a text file in the place of a library for a script (ld(1), "-l namespec"). */
static const char script[] = "/* What this would define is loaded already. */\n";

static plim_status write_script(const char *run, const char *name, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(path, sizeof(path), run, name, err));
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

static void change(variables *all, const plim_rehearsal *rehearsal,
                   const plim_rehearse_options *options, const plim_wants *wants)
{
    plim_text stage;
    plim_text_init(&stage, NULL, VALUE_BYTES_MAX);
    plim_text_append_format(&stage, "%s/" PLIM_RUN_STAGE, rehearsal->folder);
    set_text(all, PLIM_STAGE_VARIABLE, &stage);
    plim_text_deinit(&stage);

    set_preload(all, rehearsal->folder, wants);
    set_python_path(all, rehearsal->home);
    set_what_the_agent_reads(all, rehearsal, options);
    if (options->in_python != NULL) {
        set_python(all, options->in_python);
    }
    if (options->settings != NULL) {
        unset(all, "PYTORCH_ALLOC_CONF");
        unset(all, "PYTORCH_HIP_ALLOC_CONF");
        set(all, "PYTORCH_CUDA_ALLOC_CONF", options->settings);
    }
    show_devices(all);
    set_path_default(all, "TRITON_LIBCUDA_PATH", rehearsal->folder, PLIM_RUN_LINK);
    set_path_default(all, "TRITON_CACHE_DIR", rehearsal->folder, RUN_TRITON_CACHE);
    set_path_default(all, "TORCHINDUCTOR_CACHE_DIR", rehearsal->folder, RUN_INDUCTOR_CACHE);
    /* So that two rehearsals of one program agree: PyTorch frees some things in the order of
     * sets. */
    set_default(all, "PYTHONHASHSEED", "0");
    set_default(all, "PYTHONDONTWRITEBYTECODE", "1"); /* nothing outside the run changes */
}

plim_status plim_environment_make(plim_rehearsal *rehearsal, const plim_rehearse_options *options,
                                  const plim_wants *wants, plim_error *err)
{
    PLIM_TRY(write_script(rehearsal->folder, PLIM_RUN_LINK "/libcuda.so.1", err));
    PLIM_TRY(write_script(rehearsal->folder, PLIM_RUN_LINK "/libcuda.so", err));
    variables all = { .arena = &rehearsal->arena };
    for (char **variable = environ; *variable != NULL; variable++) {
        char *copy = plim_arena_copy(all.arena, *variable, strlen(*variable));
        all.is_out_of_memory =
            all.is_out_of_memory || copy == NULL || !PLIM_VEC_PUSH(all.arena->mem, &all.list, copy);
    }
    if (!all.is_out_of_memory) {
        change(&all, rehearsal, options, wants);
    }
    char **copy = plim_arena_alloc(all.arena, (all.list.count + 1) * sizeof(*copy));
    if (copy != NULL && !all.is_out_of_memory) {
        memcpy(copy, all.list.items, all.list.count * sizeof(*copy));
        copy[all.list.count] = NULL;
        rehearsal->environment = copy;
    }
    PLIM_VEC_FREE(all.arena->mem, &all.list);
    return rehearsal->environment != NULL ? PLIM_OK
                                          : plim_fail_memory(err, "making an environment");
}
