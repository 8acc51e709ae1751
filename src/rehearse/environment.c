/*
 * environment.c - the environment that leads a program to the stand-ins. See rehearsal.h.
 */
#include "base/error.h"
#include "launch/variables.h"
#include "rehearse/folder.h"
#include "rehearse/program.h"
#include "rehearse/rehearsal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define RUN_TRITON_CACHE   "triton" /* in the folder of a run */
#define RUN_INDUCTOR_CACHE "inductor"

static void set_default(plim_variables *all, const char *name, const char *value)
{
    if (plim_variables_get(all, name) == NULL) {
        plim_variables_set(all, name, value);
    }
}

static void set_preload(plim_variables *all, const char *folder, const plim_wants *wants)
{
    plim_text value;
    plim_text_init(&value, NULL, PLIM_VARIABLE_BYTES_MAX);
    for (size_t i = 0; i < plim_wants_count(wants); i++) {
        plim_text_append_format(&value, "%s%s/" PLIM_RUN_LIB "/%s", i > 0 ? ":" : "", folder,
                                plim_wants_soname(wants, i));
    }
    plim_variables_put_before(all, "LD_PRELOAD", &value);
    plim_text_deinit(&value);
}

static void set_python_path(plim_variables *all, const char *home)
{
    plim_text value;
    plim_text_init(&value, NULL, PLIM_VARIABLE_BYTES_MAX);
    plim_text_append_format(&value, "%s/" PLIM_HOME_AGENT, home);
    plim_variables_put_before(all, "PYTHONPATH", &value);
    plim_text_deinit(&value);
}

/* Programs that start a Python by its name get that of the other environment. */
static void set_python(plim_variables *all, const char *python)
{
    const char *const slash = strrchr(python, '/');
    plim_text folder;
    plim_text_init(&folder, NULL, PLIM_VARIABLE_BYTES_MAX);
    plim_text_append(&folder, python, slash != NULL ? (size_t)(slash - python) : 0);
    plim_variables_put_before(all, "PATH", &folder);
    plim_text_deinit(&folder);
    plim_variables_unset(all, "VIRTUAL_ENV");
    plim_variables_unset(all, "PYTHONHOME");
}

/* Machines without a GPU, and those who would not use theirs, hide all: ours are to be seen. */
static void show_devices(plim_variables *all)
{
    const char *visible = plim_variables_get(all, "CUDA_VISIBLE_DEVICES");
    if (visible != NULL && (visible[0] == '\0' || strcmp(visible, "-1") == 0)) {
        plim_variables_unset(all, "CUDA_VISIBLE_DEVICES");
    }
}

/* A path in the folder of the run, unless the user has chosen one. */
static void set_path_default(plim_variables *all, const char *name, const char *folder,
                             const char *inside)
{
    plim_text value;
    plim_text_init(&value, NULL, PLIM_VARIABLE_BYTES_MAX);
    plim_text_append_format(&value, "%s/%s", folder, inside);
    if (plim_variables_get(all, name) == NULL) {
        plim_variables_set_text(all, name, &value);
    }
    plim_text_deinit(&value);
}

/* Techniques to switch on, and the folder of their reports. */
static void set_techniques(plim_variables *all, const plim_rehearsal *rehearsal,
                           const plim_rehearse_options *options)
{
    plim_text folder;
    if (options->techniques == NULL || options->techniques[0] == '\0') {
        plim_variables_unset(all, PLIM_WITH_VARIABLE);
        return;
    }
    plim_text_init(&folder, NULL, PLIM_VARIABLE_BYTES_MAX);
    plim_text_append_format(&folder, "%s/" PLIM_RUN_WITH, rehearsal->folder);
    plim_variables_set(all, PLIM_WITH_VARIABLE, options->techniques);
    plim_variables_set_text(all, PLIM_WITH_FOLDER_VARIABLE, &folder);
    plim_text_deinit(&folder);
}

static void set_what_the_agent_reads(plim_variables *all, const plim_rehearsal *rehearsal,
                                     const plim_rehearse_options *options)
{
    plim_variables_set(all, "PLIMSOLL_REHEARSAL", rehearsal->folder);
    if (options->steps > 0) {
        plim_variables_set_number(all, "PLIMSOLL_STEPS", options->steps);
    }
    if (options->record_path != NULL || options->keeps_snapshots) {
        plim_variables_set(all, "PLIMSOLL_HISTORY", "all");
        plim_variables_set(all, "PLIMSOLL_SNAPSHOT", "1");
    }
    if (options->counts_step > 0) {
        plim_variables_set_number(all, "PLIMSOLL_WORK", options->counts_step);
        set_default(all, "TORCH_CPP_LOG_LEVEL", "ERROR"); /* its observer announces itself */
    }
    if (options->world_size > 0) {
        plim_variables_set_number(all, "PLIMSOLL_WORLD_SIZE", options->world_size);
        plim_variables_set_number(all, "PLIMSOLL_RANK", options->rank);
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

static void change(plim_variables *all, const plim_rehearsal *rehearsal,
                   const plim_rehearse_options *options, const plim_wants *wants)
{
    plim_text stage;
    plim_text_init(&stage, NULL, PLIM_VARIABLE_BYTES_MAX);
    plim_text_append_format(&stage, "%s/" PLIM_RUN_STAGE, rehearsal->folder);
    plim_variables_set_text(all, PLIM_STAGE_VARIABLE, &stage);
    plim_text_deinit(&stage);

    set_preload(all, rehearsal->folder, wants);
    set_python_path(all, rehearsal->home);
    set_what_the_agent_reads(all, rehearsal, options);
    set_techniques(all, rehearsal, options);
    if (options->in_python != NULL) {
        set_python(all, options->in_python);
    }
    if (options->settings != NULL) {
        plim_variables_unset(all, "PYTORCH_ALLOC_CONF");
        plim_variables_unset(all, "PYTORCH_HIP_ALLOC_CONF");
        plim_variables_set(all, "PYTORCH_CUDA_ALLOC_CONF", options->settings);
    }
    show_devices(all);
    set_path_default(all, "TRITON_LIBCUDA_PATH", rehearsal->folder, PLIM_RUN_LINK);
    set_path_default(all, "TRITON_CACHE_DIR", rehearsal->folder, RUN_TRITON_CACHE);
    set_path_default(all, "TORCHINDUCTOR_CACHE_DIR", rehearsal->folder, RUN_INDUCTOR_CACHE);
    /* So that two rehearsals of one program agree: PyTorch frees some things in the order of
     * sets. */
    set_default(all, "PYTHONHASHSEED", "0");
    set_default(all, "PYTHONDONTWRITEBYTECODE", "1"); /* nothing outside the run changes */
    for (const plim_rehearse_variable *more = options->variables;
         more != NULL && more->name != NULL; more++) {
        plim_variables_put(all, more->name, more->value);
    }
}

plim_status plim_environment_make(plim_rehearsal *rehearsal, const plim_rehearse_options *options,
                                  const plim_wants *wants, plim_error *err)
{
    PLIM_TRY(write_script(rehearsal->folder, PLIM_RUN_LINK "/libcuda.so.1", err));
    PLIM_TRY(write_script(rehearsal->folder, PLIM_RUN_LINK "/libcuda.so", err));
    plim_variables all;
    plim_variables_begin(&all, &rehearsal->arena);
    change(&all, rehearsal, options, wants);
    return plim_variables_finish(&all, &rehearsal->environment, err);
}
