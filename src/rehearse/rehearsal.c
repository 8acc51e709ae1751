/*
 * rehearsal.c - prepare, finish, destroy: the order of things. See plimsoll/rehearse.h.
 */
#include "rehearse/rehearsal.h"

#include "base/error.h"
#include "base/numbers.h"
#include "facade/facade.h"
#include "launch/path.h"
#include "rehearse/discovery.h"
#include "rehearse/folder.h"
#include "rehearse/program.h"

#include "plimsoll/settings.h"

#include <string.h>
#include <unistd.h>

#define GPU_DEFAULT "h100"

/* Versions where the program's packages name none: PyTorch 2.11.0's. */
#define CUDA_VERSION_DEFAULT  13000
#define CUDNN_VERSION_DEFAULT 91900
#define NCCL_VERSION_DEFAULT  22809

static plim_status check_options(const plim_rehearse_options *options, plim_error *err)
{
    if (options->device_count > PLIM_STAGE_DEVICES_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%u devices: at most %d can be had",
                         options->device_count, PLIM_STAGE_DEVICES_MAX);
    }
    if (options->rank > 0 && options->rank >= options->world_size) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "rank %u of %u: ranks count from 0 to the world size less one",
                         options->rank, options->world_size);
    }
    if (!(options->margin_share >= 0 && options->margin_share <= 1)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "a margin is 0 to 1 of the capacity, not %g",
                         options->margin_share);
    }
    if (options->settings != NULL) {
        plim_settings settings = plim_settings_default();
        return plim_settings_parse(options->settings, &settings, err);
    }
    return PLIM_OK;
}

static plim_status copy_argv(plim_rehearsal *rehearsal, const char *const *argv,
                             const char *program, plim_error *err)
{
    size_t count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    char **copy = plim_arena_alloc(&rehearsal->arena, (count + 1) * sizeof(*copy));
    for (size_t i = 0; copy != NULL && i < count; i++) {
        const char *word = i == 0 ? program : argv[i];
        copy[i] = plim_arena_copy(&rehearsal->arena, word, strlen(word));
        if (copy[i] == NULL) {
            copy = NULL;
        }
    }
    if (copy == NULL) {
        return plim_fail_memory(err, "preparing a rehearsal");
    }
    copy[count] = NULL;
    rehearsal->argv = copy;
    return PLIM_OK;
}

plim_status plim_rehearse_gpu(const plim_rehearse_options *options, const plim_gpu **ret,
                              uint64_t *ret_capacity_bytes, plim_error *err)
{
    const plim_gpu *gpu = NULL;
    PLIM_TRY(plim_gpu_find(options->gpu != NULL ? options->gpu : GPU_DEFAULT, &gpu, err));
    *ret = gpu;
    *ret_capacity_bytes = options->capacity_bytes > 0 ? options->capacity_bytes : gpu->memory_bytes;
    return PLIM_OK;
}

static plim_status make_stage(plim_rehearsal *rehearsal, const plim_rehearse_options *options,
                              const plim_discovery *found, plim_error *err)
{
    const plim_gpu *gpu = NULL;
    uint64_t capacity_bytes = 0;
    PLIM_TRY(plim_rehearse_gpu(options, &gpu, &capacity_bytes, err));
    rehearsal->margin_bytes =
        plim_max(options->margin_bytes, (uint64_t)(options->margin_share * (double)capacity_bytes));
    const plim_stage_settings settings = {
        .gpu = *gpu,
        .capacity_bytes = capacity_bytes,
        .seed = options->seed,
        .device_count = options->device_count > 0 ? options->device_count : 1,
        .cuda_version = found->cuda_version > 0 ? found->cuda_version : CUDA_VERSION_DEFAULT,
        .cudnn_version = found->cudnn_version > 0 ? found->cudnn_version : CUDNN_VERSION_DEFAULT,
        .nccl_version = found->nccl_version > 0 ? found->nccl_version : NCCL_VERSION_DEFAULT,
        .gives_values = options->gives_values,
        .ends_late = options->ends_late,
        .prints_calls = options->prints_calls,
    };
    char path[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(path, sizeof(path), rehearsal->folder, PLIM_RUN_STAGE, err));
    return plim_stage_create(path, &settings, &rehearsal->stage, err);
}

static plim_status keep_techniques(plim_rehearsal *rehearsal, const char *techniques,
                                   plim_error *err)
{
    if (techniques == NULL || techniques[0] == '\0') {
        return PLIM_OK;
    }
    rehearsal->techniques = plim_arena_copy(&rehearsal->arena, techniques, strlen(techniques));
    return rehearsal->techniques != NULL ? PLIM_OK : plim_fail_memory(err, "preparing a rehearsal");
}

/* The program itself may want CUDA too, and so may what its Python has. */
static plim_status collect_wants(const plim_rehearsal *rehearsal, const char *program,
                                 const plim_discovery *found, plim_wants **ret, plim_error *err)
{
    char standin[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(standin, sizeof(standin), rehearsal->home, PLIM_HOME_STANDIN, err));
    const size_t bytes = (found->object_count + 1) * sizeof(const char *);
    const char **paths = plim_mem_alloc(rehearsal->arena.mem, 1, bytes);
    if (paths == NULL) {
        return plim_fail_memory(err, "listing what wants CUDA");
    }
    for (size_t i = 0; i < found->object_count; i++) {
        paths[i] = found->objects[i];
    }
    paths[found->object_count] = program;
    const plim_status status =
        plim_wants_collect(paths, found->object_count + 1, standin, rehearsal->arena.mem, ret, err);
    plim_mem_free(rehearsal->arena.mem, paths, 1, bytes);
    return status;
}

static plim_status write_facades(const plim_rehearsal *rehearsal, const plim_wants *wants,
                                 plim_error *err)
{
    char folder[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(folder, sizeof(folder), rehearsal->folder, PLIM_RUN_LIB, err));
    return plim_facades_write(wants, folder, err);
}

static plim_status refuse_without_cuda(const char *program, const char *python,
                                       const plim_discovery *found, plim_error *err)
{
    if (found->torch != NULL) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "PyTorch %s of %s is not built for CUDA: rehearse with the package that "
                         "will run on the GPU",
                         found->torch, python);
    }
    return plim_fail(err, PLIM_UNSUPPORTED,
                     "%s has no PyTorch, and %s wants no CUDA: which Python is the program's? "
                     "(--python)",
                     python[0] != '\0' ? python : "this machine", program);
}

static plim_status refuse_program(const char *name, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    const size_t length = strlen(name);
    const bool is_script = length > 3 && strcmp(name + length - 3, ".py") == 0;
    if (is_script && access(name, F_OK) == 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%s: %s; run it with Python: -- python %s",
                         name, strchr(name, '/') != NULL ? "not executable" : "not in PATH", name);
    }
    return plim_path_find(name, false, path, sizeof(path))
               ? plim_fail(err, PLIM_INVALID_ARGUMENT, "%s: not executable (chmod +x)", path)
               : plim_fail(err, PLIM_INVALID_ARGUMENT, "cannot find the program \"%s\"", name);
}

/* From the program's name to its environment. */
static plim_status prepare(plim_rehearsal *rehearsal, const char *const *argv,
                           const plim_rehearse_options *options, plim_error *err)
{
    char program[PLIM_PATH_BYTES];
    char python[PLIM_PATH_BYTES] = "";
    PLIM_TRY(check_options(options, err));
    if (options->in_python != NULL) {
        PLIM_TRY(plim_program_in_python(&rehearsal->arena, argv, options->in_python, &argv, err));
    }
    if (argv[0] == NULL || !plim_path_find(argv[0], true, program, sizeof(program))) {
        return refuse_program(argv[0] != NULL ? argv[0] : "", err);
    }
    PLIM_TRY(copy_argv(rehearsal, argv, program, err));
    PLIM_TRY(plim_home_find(options->home, rehearsal->home, sizeof(rehearsal->home), err));
    const char *given = options->in_python != NULL ? options->in_python : options->python;
    if (given != NULL && !plim_path_find(given, true, python, sizeof(python))) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "cannot find the Python \"%s\"", given);
    }
    plim_discovery found = { 0 };
    if (python[0] != '\0' || plim_program_python(program, argv + 1, python, sizeof(python))) {
        PLIM_TRY(plim_discover(python, rehearsal->home, &rehearsal->arena, &found, err));
    }
    static const char *const inside[] = { PLIM_RUN_LIB, PLIM_RUN_RESULTS, PLIM_RUN_LINK,
                                          PLIM_RUN_WITH, NULL };
    PLIM_TRY(plim_folder_make(rehearsal->folder, sizeof(rehearsal->folder), inside, err));
    PLIM_TRY(make_stage(rehearsal, options, &found, err));
    PLIM_TRY(keep_techniques(rehearsal, options->techniques, err));

    plim_wants *wants = NULL;
    PLIM_TRY(collect_wants(rehearsal, program, &found, &wants, err));
    plim_status status = plim_wants_count(wants) == 0
                             ? refuse_without_cuda(program, python, &found, err)
                             : write_facades(rehearsal, wants, err);
    if (status == PLIM_OK) {
        status = plim_environment_make(rehearsal, options, wants, err);
    }
    plim_wants_destroy(wants);
    return status;
}

plim_status plim_rehearsal_prepare(const char *const *argv, const plim_rehearse_options *options,
                                   plim_rehearsal **ret, plim_error *err)
{
    static const plim_rehearse_options defaults;
    options = options != NULL ? options : &defaults;
    const plim_mem *mem = plim_mem_or_heap(options->mem);
    plim_rehearsal *rehearsal = plim_mem_alloc_zeroed(mem, 1, sizeof(*rehearsal));
    if (rehearsal == NULL) {
        return plim_fail_memory(err, "preparing a rehearsal");
    }
    plim_arena_init(&rehearsal->arena, mem);
    const plim_status status = prepare(rehearsal, argv, options, err);
    if (status != PLIM_OK) {
        plim_rehearsal_destroy(rehearsal);
        return status;
    }
    *ret = rehearsal;
    return PLIM_OK;
}

char *const *plim_rehearsal_argv(const plim_rehearsal *rehearsal)
{
    return rehearsal->argv;
}

char *const *plim_rehearsal_environment(const plim_rehearsal *rehearsal)
{
    return rehearsal->environment;
}

plim_status plim_rehearsal_finish(plim_rehearsal *rehearsal, const plim_rehearsal_outcome **ret,
                                  plim_error *err)
{
    PLIM_TRY(plim_outcome_gather(rehearsal, err));
    *ret = &rehearsal->outcome;
    return PLIM_OK;
}

void plim_rehearsal_destroy(plim_rehearsal *rehearsal)
{
    if (rehearsal == NULL) {
        return;
    }
    const plim_mem *mem = rehearsal->arena.mem;
    plim_stage_close(rehearsal->stage);
    plim_folder_remove(rehearsal->folder);
    plim_arena_deinit(&rehearsal->arena);
    plim_mem_free(mem, rehearsal, 1, sizeof(*rehearsal));
}
