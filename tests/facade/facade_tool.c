/*
 * facade_tool.c - writes facades by hand, and the stage to go with them.
 *
 *   facade_tool FOLDER STANDIN OBJECT...
 *   facade_tool --stage GPU FOLDER STANDIN OBJECT...
 *
 * FOLDER is made when it is not there. Prints lines for a shell to evaluate: LD_PRELOAD, and with
 * --stage PLIMSOLL_STAGE, a fresh file FOLDER/stage for one such GPU with all its memory.
 */
#include "facade/facade.h"
#include "plimsoll/gpu.h"
#include "stage/stage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const plim_error *err)
{
    (void)fprintf(stderr, "facade_tool: %s\n", err->message);
    return 3;
}

/* "13" of "libcudart.so.13" as 1000 * 13, or what is given when there is none. */
static uint32_t major_of(const plim_wants *wants, const char *start, uint32_t unit, uint32_t other)
{
    for (size_t i = 0; i < plim_wants_count(wants); i++) {
        const char *const soname = plim_wants_soname(wants, i);
        if (strncmp(soname, start, strlen(start)) == 0) {
            return (uint32_t)strtoul(soname + strlen(start), NULL, 10) * unit;
        }
    }
    return other;
}

static int make_stage(const plim_wants *wants, const char *gpu_name, const char *folder)
{
    plim_error err;
    const plim_gpu *gpu = NULL;
    if (plim_gpu_find(gpu_name, &gpu, &err) != PLIM_OK) {
        return fail(&err);
    }
    const plim_stage_settings settings = {
        .gpu = *gpu,
        .capacity_bytes = gpu->memory_bytes,
        .device_count = 1,
        .cuda_version = major_of(wants, "libcudart.so.", 1000, 13000),
        .cudnn_version = major_of(wants, "libcudnn.so.", 10000, 90000) + 1900,
        .nccl_version = 22809,
    };
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/stage", folder);
    (void)unlink(path);
    plim_stage *stage = NULL;
    if (plim_stage_create(path, &settings, &stage, &err) != PLIM_OK) {
        return fail(&err);
    }
    plim_stage_close(stage);
    (void)printf("export PLIMSOLL_STAGE='%s'\n", path);
    return 0;
}

int main(int argc, char **argv)
{
    const char *gpu_name = NULL;
    if (argc > 2 && strcmp(argv[1], "--stage") == 0) {
        gpu_name = argv[2];
        argc -= 2;
        argv += 2;
    }
    if (argc < 4) {
        (void)fprintf(stderr, "usage: facade_tool [--stage GPU] FOLDER STANDIN OBJECT...\n");
        return 2;
    }
    const char *const folder = argv[1];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        perror(folder);
        return 3;
    }
    char *const absolute = realpath(folder, NULL);
    plim_error err;
    plim_wants *wants = NULL;
    plim_status status = plim_wants_collect((const char *const *)argv + 3, (size_t)argc - 3,
                                            argv[2], NULL, &wants, &err);
    if (status == PLIM_OK) {
        status = plim_facades_write(wants, folder, &err);
    }
    int result = status == PLIM_OK && absolute != NULL ? 0 : fail(&err);
    if (result == 0) {
        (void)printf("export LD_PRELOAD='");
        for (size_t i = 0; i < plim_wants_count(wants); i++) {
            (void)printf("%s%s/%s", i == 0 ? "" : ":", absolute, plim_wants_soname(wants, i));
        }
        (void)printf("'\n");
        result = gpu_name == NULL ? 0 : make_stage(wants, gpu_name, absolute);
    }
    plim_wants_destroy(wants);
    free(absolute);
    return result;
}
