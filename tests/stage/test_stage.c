/*
 * test_stage.c - the books of a rehearsal hold, also across processes and their sudden ends.
 */
#include "harness.h"

#include "base/units.h"
#include "stage/stage.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPACITY (100 * MIB)
#define THREADS  4
#define ROUNDS   2000

static char folder[64];
static char path[96];

static plim_stage *make_stage(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/plimsoll-test-stage-XXXXXX");
    T_TRUE(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/stage", folder);
    const plim_stage_settings settings = { .capacity_bytes = CAPACITY,
                                           .device_count = 2,
                                           .cuda_version = 13000 };
    plim_stage *stage = NULL;
    plim_error err = { 0 };
    T_EQ_I64(plim_stage_create(path, &settings, &stage, &err), PLIM_OK);
    return stage;
}

static void remove_stage(plim_stage *stage)
{
    plim_stage_close(stage);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void a_device_gives_what_it_has_and_no_more(void)
{
    plim_stage *stage = make_stage();
    T_TRUE(plim_stage_take(stage, 0, PLIM_STAGE_CONTEXT, 10 * MIB));
    T_TRUE(plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 90 * MIB));
    T_TRUE(!plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 1));
    T_TRUE(!plim_stage_take(stage, 1, PLIM_STAGE_PROGRAM, UINT64_MAX));
    T_EQ_U64(plim_stage_free_bytes(stage, 0), 0);
    T_EQ_U64(plim_stage_free_bytes(stage, 1), CAPACITY);
    plim_stage_give(stage, 0, PLIM_STAGE_PROGRAM, 40 * MIB);
    T_EQ_U64(plim_stage_free_bytes(stage, 0), 40 * MIB);

    plim_stage_figures figures;
    plim_stage_device_figures(stage, 0, &figures);
    T_EQ_U64(figures.used_bytes[PLIM_STAGE_PROGRAM], 50 * MIB);
    T_EQ_U64(figures.peak_bytes, CAPACITY);
    T_EQ_U64(figures.at_peak_bytes[PLIM_STAGE_PROGRAM], 90 * MIB);
    T_EQ_U64(figures.at_peak_bytes[PLIM_STAGE_CONTEXT], 10 * MIB);

    int32_t pid = 0;
    T_TRUE(plim_stage_process_figures(stage, 0, 0, &pid, &figures));
    T_EQ_I64(pid, getpid());
    T_EQ_U64(figures.peak_bytes, CAPACITY);
    T_TRUE(!plim_stage_process_figures(stage, 1, 0, &pid, &figures));

    plim_stage_leave(stage);
    T_EQ_U64(plim_stage_free_bytes(stage, 0), CAPACITY);
    plim_stage_device_figures(stage, 0, &figures);
    T_EQ_U64(figures.peak_bytes, CAPACITY);
    remove_stage(stage);
}

static void a_range_counts_as_far_as_it_leads_beyond_the_peak(void)
{
    plim_stage *stage = make_stage();
    plim_stage_figures figures;
    T_TRUE(plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 50 * MIB));
    plim_stage_note_range(stage, 0, 4 * MIB, 30 * MIB);
    plim_stage_note_range(stage, 0, 2 * MIB, 20 * MIB);
    plim_stage_device_figures(stage, 0, &figures);
    T_EQ_U64(figures.modelled_below_bytes, 4 * MIB);
    T_EQ_U64(figures.modelled_above_bytes, 30 * MIB);

    T_TRUE(plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 20 * MIB)); /* 80 would still be more */
    plim_stage_device_figures(stage, 0, &figures);
    T_EQ_U64(figures.modelled_above_bytes, 10 * MIB);
    T_TRUE(plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 20 * MIB));
    plim_stage_give(stage, 0, PLIM_STAGE_PROGRAM, 60 * MIB);
    plim_stage_note_range(stage, 0, 0, 60 * MIB); /* there was room for it */
    int32_t pid = 0;
    T_TRUE(plim_stage_process_figures(stage, 0, 0, &pid, &figures));
    T_EQ_U64(figures.modelled_below_bytes, 4 * MIB);
    T_EQ_U64(figures.modelled_above_bytes, 0);
    plim_stage_device_figures(stage, 1, &figures);
    T_EQ_U64(figures.modelled_above_bytes, 0);
    plim_stage_leave(stage);
    remove_stage(stage);
}

/* Runs in a child, which ends with what it returns. */
static void in_child(int (*body)(void))
{
    (void)fflush(NULL);
    const pid_t pid = fork();
    T_TRUE(pid >= 0);
    if (pid == 0) {
        _exit(body());
    }
    int status = 0;
    T_EQ_I64(waitpid(pid, &status, 0), pid);
    T_TRUE(WIFEXITED(status) || WTERMSIG(status) == SIGKILL);
    T_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
}

static int take_and_be_killed(void)
{
    plim_stage *stage = NULL;
    if (plim_stage_open(path, &stage, NULL) != PLIM_OK ||
        !plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 60 * MIB)) {
        return 1;
    }
    (void)kill(getpid(), SIGKILL);
    return 2;
}

static void what_waits_is_bounded_by_the_most_at_once(void)
{
    plim_stage *stage = make_stage();
    plim_stage_figures figures;
    T_TRUE(plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 50 * MIB));
    plim_stage_note_wait(stage, 0, 3, 4 * MIB);
    plim_stage_note_wait(stage, 0, 1, 8 * MIB);
    plim_stage_device_figures(stage, 0, &figures);
    T_EQ_U64(figures.wait_count, 2);
    T_EQ_U64(figures.waiting_bytes, 12 * MIB);
    plim_stage_note_wait(stage, 0, 2, UINT64_MAX); /* no block is larger than all there is */
    plim_stage_device_figures(stage, 0, &figures);
    T_EQ_U64(figures.waiting_bytes, 100 * MIB);
    plim_stage_note_wait(stage, 0, UINT64_MAX, UINT64_MAX);
    plim_stage_device_figures(stage, 0, &figures);
    T_EQ_U64(figures.waiting_bytes, UINT64_MAX);
    plim_stage_device_figures(stage, 1, &figures);
    T_EQ_U64(figures.wait_count, 0);
    T_EQ_U64(figures.waiting_bytes, 0);
    remove_stage(stage);
}

static void what_a_killed_process_had_is_free_again(void)
{
    plim_stage *stage = make_stage();
    in_child(take_and_be_killed);
    T_TRUE(plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 90 * MIB));
    plim_stage_figures figures;
    int32_t pid = 0;
    T_TRUE(plim_stage_process_figures(stage, 0, 0, &pid, &figures));
    T_EQ_U64(figures.peak_bytes, 60 * MIB);
    T_EQ_U64(figures.used_bytes[PLIM_STAGE_PROGRAM], 0);
    remove_stage(stage);
}

static plim_stage *inherited;

static int leave_as_a_fork(void)
{
    plim_stage_give(inherited, 0, PLIM_STAGE_PROGRAM, 10 * MIB); /* not its own */
    plim_stage_leave(inherited);
    if (!plim_stage_take(inherited, 0, PLIM_STAGE_PROGRAM, 5 * MIB)) {
        return 1;
    }
    plim_stage_leave(inherited);
    return 0;
}

static void a_fork_does_not_touch_what_its_parent_has(void)
{
    inherited = make_stage();
    T_TRUE(plim_stage_take(inherited, 0, PLIM_STAGE_PROGRAM, 50 * MIB));
    in_child(leave_as_a_fork);
    T_EQ_U64(plim_stage_free_bytes(inherited, 0), 50 * MIB);
    plim_stage_figures figures;
    plim_stage_device_figures(inherited, 0, &figures);
    T_EQ_U64(figures.peak_bytes, 55 * MIB);
    remove_stage(inherited);
}

static int take_until_killed(void)
{
    plim_stage *stage = NULL;
    if (plim_stage_open(path, &stage, NULL) != PLIM_OK) {
        return 1;
    }
    for (;;) { /* alarm() ends it, often with the lock held */
        (void)plim_stage_take(stage, 0, PLIM_STAGE_PROGRAM, 1);
        plim_stage_give(stage, 0, PLIM_STAGE_PROGRAM, 1);
    }
}

static void a_lock_outlives_its_owner(void)
{
    plim_stage *stage = make_stage();
    for (int i = 0; i < 20; i++) {
        (void)fflush(NULL);
        const pid_t pid = fork();
        if (pid == 0) {
            _exit(take_until_killed());
        }
        (void)usleep(2000);
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        T_EQ_U64(plim_stage_free_bytes(stage, 0), CAPACITY);
    }
    remove_stage(stage);
}

static void *take_and_give(void *ctx)
{
    plim_stage *stage = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        if (plim_stage_take(stage, 1, PLIM_STAGE_LIBRARIES, MIB)) {
            plim_stage_count_call(stage, i % 2 == 0 ? "cudaMalloc" : "cudaFree",
                                  PLIM_STAGE_ANSWERED, "", 1);
            plim_stage_give(stage, 1, PLIM_STAGE_LIBRARIES, MIB);
        }
    }
    return NULL;
}

static void threads_agree_on_the_books(void)
{
    plim_stage *stage = make_stage();
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_create(&threads[i], NULL, take_and_give, stage), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_join(threads[i], NULL), 0);
    }
    T_EQ_U64(plim_stage_free_bytes(stage, 1), CAPACITY);
    plim_stage_call_count first;
    plim_stage_call_count second;
    T_TRUE(plim_stage_call_at(stage, 0, &first));
    T_TRUE(plim_stage_call_at(stage, 1, &second));
    T_TRUE(!plim_stage_call_at(stage, 2, &second));
    T_EQ_U64(first.count + second.count, (uint64_t)THREADS * ROUNDS);
    T_EQ_STR(first.name, "cudaMalloc");
    remove_stage(stage);
}

static void names_beyond_the_room_are_dropped(void)
{
    plim_stage *stage = make_stage();
    plim_stage_call_count call;
    for (int i = 0; i < PLIM_STAGE_CALLS_MAX + 10; i++) {
        char name[2 * PLIM_STAGE_NAME_BYTES];
        (void)snprintf(name, sizeof(name), "cudaFunction%d%s", i, i == 7 ? folder : "");
        plim_stage_count_call(stage, name, PLIM_STAGE_NOTHING, "a note", 2);
    }
    T_TRUE(plim_stage_call_at(stage, PLIM_STAGE_CALLS_MAX - 1, &call));
    T_EQ_U64(call.count, 2);
    T_EQ_STR(call.note, "a note");
    T_TRUE(!plim_stage_call_at(stage, PLIM_STAGE_CALLS_MAX, &call));
    remove_stage(stage);
}

static void what_is_no_stage_is_refused(void)
{
    plim_stage *stage = make_stage();
    plim_stage *other = NULL;
    plim_error err = { 0 };
    const plim_stage_settings none = { .device_count = 0 };
    T_EQ_I64(plim_stage_create(path, &none, &other, &err), PLIM_INVALID_ARGUMENT);
    const plim_stage_settings one = { .device_count = 1 };
    T_EQ_I64(plim_stage_create(path, &one, &other, &err), PLIM_IO); /* it is there already */
    T_EQ_I64(plim_stage_open("/nowhere/stage", &other, &err), PLIM_IO);
    T_EQ_I64(truncate(path, 4096), 0);
    T_EQ_I64(plim_stage_open(path, &other, &err), PLIM_UNSUPPORTED);
    T_EQ_I64(truncate(path, 0), 0);
    T_EQ_I64(plim_stage_open(path, &other, &err), PLIM_CORRUPT);
    remove_stage(stage);
}

T_MAIN(T_TEST(a_device_gives_what_it_has_and_no_more),
       T_TEST(a_range_counts_as_far_as_it_leads_beyond_the_peak),
       T_TEST(what_waits_is_bounded_by_the_most_at_once),
       T_TEST(what_a_killed_process_had_is_free_again),
       T_TEST(a_fork_does_not_touch_what_its_parent_has), T_TEST(a_lock_outlives_its_owner),
       T_TEST(threads_agree_on_the_books), T_TEST(names_beyond_the_room_are_dropped),
       T_TEST(what_is_no_stage_is_refused))
