/*
 * rehearsal.h - a stage of its own for each case: the stand-ins open one in a process's life.
 *
 *   static void body(void) { R_EQ(cudaSetDevice(0), 0); }
 *   static void sets_a_device(void) { r_play(body); }
 *
 * The body runs in a child. There, and in what it forks, R_TRUE and R_EQ end the process; the
 * parent's test fails then. r_stage() is the case's stage, seen from outside.
 */
#ifndef PLIMSOLL_TESTS_STANDIN_REHEARSAL_H
#define PLIMSOLL_TESTS_STANDIN_REHEARSAL_H

#include "harness.h"

#include "base/units.h"
#include "stage/stage.h"

#include <sys/wait.h>
#include <unistd.h>

#define R_TRUE(condition) r_check((condition), #condition, __FILE__, __LINE__)
#define R_EQ(a, b)        r_equal((uint64_t)(a), (uint64_t)(b), #a, #b, __FILE__, __LINE__)

static inline void r_check(bool holds, const char *text, const char *file, int line)
{
    if (!holds) {
        (void)fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
        _exit(1);
    }
}

static inline void r_equal(uint64_t a, uint64_t b, const char *a_text, const char *b_text,
                           const char *file, int line)
{
    if (a != b) {
        (void)fprintf(stderr, "%s:%d: %s is %" PRIu64 ", %s is %" PRIu64 "\n", file, line, a_text,
                      a, b_text, b);
        _exit(1);
    }
}

/* A made-up GPU with round figures: two devices of 1 GiB. */
static inline plim_stage_settings r_settings(void)
{
    plim_stage_settings settings = { .capacity_bytes = 1024 * MIB,
                                     .seed = 7,
                                     .device_count = 2,
                                     .cuda_version = 13000,
                                     .cudnn_version = 90000,
                                     .nccl_version = 22800 };
    settings.gpu = (plim_gpu){ .key = "round",
                               .name = "Round GPU",
                               .memory_bytes = 1024 * MIB,
                               .driver_bytes = 40 * MIB,
                               .context_bytes = 100 * MIB,
                               .cublas_bytes = 30 * MIB,
                               .cudnn_bytes = 20 * MIB,
                               .nccl_bytes = 10 * MIB,
                               .capability_major = 9,
                               .multiprocessors = 100,
                               .threads_per_multiprocessor = 2048,
                               .blocks_per_multiprocessor = 32,
                               .shared_bytes_per_multiprocessor = 228 * 1024,
                               .shared_bytes_per_block_optin = 227 * 1024,
                               .l2_bytes = 50 << 20,
                               .bus_bits = 5120,
                               .clock_khz = 1980000,
                               .memory_clock_khz = 2619000 };
    return settings;
}

static plim_stage *r_now; /* the launcher's view of the case that runs */

static inline plim_stage *r_stage(void)
{
    return r_now;
}

static inline plim_stage_figures r_device(uint32_t device)
{
    plim_stage_figures figures;
    plim_stage_device_figures(r_now, device, &figures);
    return figures;
}

/* The function of that name as the stage knows it; false: it does not. */
static inline bool r_call(const char *name, plim_stage_call_count *ret)
{
    for (size_t i = 0; plim_stage_call_at(r_now, i, ret); i++) {
        if (strcmp(ret->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Runs the body in a child; returns its exit status. */
static inline int r_run_child(void (*body)(void))
{
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        body();
        (void)fflush(NULL);
        _exit(0);
    }
    int status = -1;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void r_play_on(const plim_stage_settings *settings, void (*body)(void))
{
    char folder[] = "/tmp/plimsoll-standin-XXXXXX";
    T_NOT_NULL(mkdtemp(folder));
    char path[sizeof(folder) + 8];
    (void)snprintf(path, sizeof(path), "%s/stage", folder);
    plim_error err = { 0 };
    T_EQ_U64(plim_stage_create(path, settings, &r_now, &err), PLIM_OK);
    (void)setenv(PLIM_STAGE_VARIABLE, path, 1);
    const int status = r_run_child(body);
    (void)unsetenv(PLIM_STAGE_VARIABLE);
    (void)unlink(path);
    (void)rmdir(folder);
    plim_stage_close(r_now);
    r_now = NULL;
    T_EQ_U64(status, 0);
}

static inline void r_play(void (*body)(void))
{
    const plim_stage_settings settings = r_settings();
    r_play_on(&settings, body);
}

#endif
