/*
 * test_workers.c - rehearsals in processes of their own: two at a time, in order, ended in time,
 * and without a process or a folder that stays, whoever is killed. Programs are lines of a shell.
 */
#include "harness.h"

#include "base/clock.h"
#include "base/units.h"
#include "fit/search.h"
#include "rehearse/folder.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Set by CMake: T_HOME, folder of the stand-ins; T_PROGRAM, an ELF file that wants CUDA. */

#define PATIENCE_NS (20 * UINT64_C(1000000000))

/* In the place of Python: it has no PyTorch, and one object that wants CUDA. */
static const char python_script[] =
    "#!/bin/sh\necho '{\"torch\": null, \"cuda\": null, \"cudnn\": null, \"nccl\": null,"
    " \"objects\": [\"" T_PROGRAM "\"]}'\n";

static char outside[PLIM_PATH_BYTES];
static char python[PLIM_PATH_BYTES];
static char notes[PLIM_PATH_BYTES]; /* what programs write, "$NOTES" */

static void set_up(void)
{
    static const char *const inside[] = { "tmp", "running", NULL };
    char path[PLIM_PATH_BYTES];
    T_TRUE(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    T_EQ_I64(unsetenv("TMPDIR"), 0);
    T_EQ_I64(plim_folder_make(outside, sizeof(outside), inside, NULL), PLIM_OK);
    T_EQ_I64(plim_folder_join(path, sizeof(path), outside, "tmp", NULL), PLIM_OK);
    T_EQ_I64(setenv("TMPDIR", path, 1), 0);
    T_EQ_I64(plim_folder_join(path, sizeof(path), outside, "running", NULL), PLIM_OK);
    T_EQ_I64(setenv("RUNNING", path, 1), 0);
    T_EQ_I64(plim_folder_join(notes, sizeof(notes), outside, "notes", NULL), PLIM_OK);
    T_EQ_I64(setenv("NOTES", notes, 1), 0);
    T_EQ_I64(plim_folder_join(python, sizeof(python), outside, "python", NULL), PLIM_OK);
    FILE *const file = fopen(python, "we");
    T_NOT_NULL(file);
    T_TRUE(fputs(python_script, file) >= 0);
    T_EQ_I64(fclose(file), 0);
    T_EQ_I64(chmod(python, 0700), 0);
}

static size_t folders_left(void)
{
    size_t count = 0;
    DIR *const folder = opendir(getenv("TMPDIR"));
    T_NOT_NULL(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += entry->d_name[0] != '.';
    }
    T_EQ_I64(closedir(folder), 0);
    return count;
}

/* The numbers that programs wrote down. */
static size_t read_notes(long *numbers, size_t most)
{
    size_t count = 0;
    char line[256];
    FILE *const file = fopen(notes, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        char *end = line;
        for (char *at = line; count < most; at = end) {
            const long number = strtol(at, &end, 10);
            if (end == at) {
                break;
            }
            numbers[count++] = number;
        }
    }
    T_TRUE(file == NULL || fclose(file) == 0);
    return count;
}

static void pause_a_tick(void)
{
    const struct timespec tick = { .tv_nsec = 10000000 };
    (void)nanosleep(&tick, NULL);
}

/* Waits until no process of the notes runs and no folder is left. */
static void expect_nothing_left(size_t noted)
{
    const uint64_t until = plim_clock_now_ns(&plim_clock_system) + PATIENCE_NS;
    long pids[16];
    size_t running = 1;
    T_EQ_U64(read_notes(pids, T_COUNT(pids)), noted);
    while ((running > 0 || folders_left() > 0) && plim_clock_now_ns(&plim_clock_system) < until) {
        running = 0;
        for (size_t i = 0; i < noted; i++) {
            running += kill((pid_t)pids[i], 0) == 0;
        }
        pause_a_tick();
    }
    T_EQ_U64(running, 0);
    T_EQ_U64(folders_left(), 0);
}

static void tear_down(void)
{
    T_EQ_U64(folders_left(), 0);
    T_EQ_I64(unsetenv("TMPDIR"), 0);
    plim_folder_remove(outside);
}

static plim_status run(const char *line, const plim_fit_request *requests, size_t count,
                       plim_fit_sample *ret)
{
    const char *const argv[] = { "/bin/sh", "-c", line, NULL };
    const plim_fit_options options = { .rehearse = { .python = python, .home = T_HOME } };
    plim_fit_workers workers = { .argv = argv, .options = &options, .parallel = 2 };
    return plim_fit_workers_run(&workers, requests, count, ret, NULL);
}

static double now(void)
{
    return (double)plim_clock_now_ns(&plim_clock_system) / (double)NS_PER_S;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void samples_stand_in_the_order_of_requests(void)
{
    static plim_fit_sample samples[4];
    static const uint64_t capacities[] = { GIB, 4 * GIB, 2 * GIB, 8 * GIB };
    plim_fit_request requests[4] = { { 0 } };
    set_up();
    for (size_t i = 0; i < T_COUNT(requests); i++) {
        requests[i] = (plim_fit_request){ .techniques = "", .capacity_bytes = capacities[i] };
    }
    T_EQ_I64(run("'" T_PROGRAM "' alloc 3000", requests, 4, samples), PLIM_OK);
    for (size_t i = 0; i < T_COUNT(requests); i++) {
        T_CASE("%zu", i);
        T_TRUE(samples[i].is_done && samples[i].status == PLIM_OK);
        T_EQ_I64(samples[i].verdict,
                 capacities[i] < 3 * GIB ? PLIM_REHEARSED_OUT_OF_MEMORY : PLIM_REHEARSED_FITS);
        T_TRUE(samples[i].seconds > 0 && samples[i].began > 0);
    }
    tear_down();
}

/* Each notes how many run beside it. */
static void two_run_at_a_time(void)
{
    static plim_fit_sample samples[5];
    plim_fit_request requests[5] = { { 0 } };
    long beside[8];
    long most = 0;
    set_up();
    for (size_t i = 0; i < T_COUNT(requests); i++) {
        requests[i] = (plim_fit_request){ .techniques = "", .capacity_bytes = GIB };
    }
    T_EQ_I64(run("touch $RUNNING/$$; sleep 0.3; ls $RUNNING | wc -l >> $NOTES; sleep 0.2; "
                 "rm $RUNNING/$$",
                 requests, 5, samples),
             PLIM_OK);
    const size_t count = read_notes(beside, T_COUNT(beside));
    T_EQ_U64(count, 5);
    for (size_t i = 0; i < count; i++) {
        most = beside[i] > most ? beside[i] : most;
    }
    T_EQ_I64(most, 2);
    tear_down();
}

static void the_input_of_the_caller_is_not_read(void)
{
    static plim_fit_sample sample;
    const plim_fit_request request = { .techniques = "", .capacity_bytes = GIB };
    set_up();
    T_EQ_I64(run("wc -c >> $NOTES; exec '" T_PROGRAM "' alloc 1", &request, 1, &sample), PLIM_OK);
    long bytes = -1;
    T_EQ_U64(read_notes(&bytes, 1), 1);
    T_EQ_I64(bytes, 0);
    T_EQ_I64(sample.verdict, PLIM_REHEARSED_FITS);
    tear_down();
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void what_takes_too_long_is_ended_with_all_that_it_started(void)
{
    static const char line[] = "sleep 100 & echo $! >> $NOTES; sh -c 'trap \"\" TERM; echo $$ >> "
                               "$NOTES; sleep 101' & echo $$ >> $NOTES; sleep 102";
    static plim_fit_sample samples[2];
    set_up();
    const plim_fit_request requests[] = {
        { .techniques = "", .capacity_bytes = GIB, .seconds_max = 0.5 },
        { .techniques = "", .capacity_bytes = GIB, .seconds_max = 60, .until = now() + 0.5 },
    };
    T_EQ_I64(run(line, requests, 2, samples), PLIM_OK);
    T_TRUE(samples[0].is_done && samples[0].is_out_of_time);
    T_EQ_STR(samples[0].reason, "it took too long");
    T_TRUE(samples[1].is_done && samples[1].is_out_of_time);
    T_EQ_STR(samples[1].reason, "the budget of time ended");
    T_EQ_I64(samples[1].verdict, PLIM_REHEARSED_FAILED);
    expect_nothing_left(6);
    tear_down();
}

static void a_budget_that_has_ended_ends_it_at_once(void)
{
    static plim_fit_sample sample;
    set_up();
    const plim_fit_request request = { .techniques = "", .capacity_bytes = GIB, .until = 0.001 };
    T_EQ_I64(run("exec sleep 100", &request, 1, &sample), PLIM_OK);
    T_TRUE(sample.is_done && sample.is_out_of_time && sample.seconds < 10);
    tear_down();
}

static void a_program_ended_by_a_signal_of_its_own_failed(void)
{
    static plim_fit_sample sample;
    const plim_fit_request request = { .techniques = "", .capacity_bytes = GIB };
    set_up();
    T_EQ_I64(run("kill -TERM $$; sleep 5", &request, 1, &sample), PLIM_OK);
    T_TRUE(sample.is_done && !sample.is_interrupted);
    T_EQ_I64(sample.verdict, PLIM_REHEARSED_FAILED);
    tear_down();
}

/* Its program dies with it, and its folder is removed by the process that waits. */
static void a_worker_that_dies_is_a_sample_that_is_not_done(void)
{
    static plim_fit_sample samples[2];
    const plim_fit_request request = { .techniques = "", .capacity_bytes = GIB };
    const plim_fit_request requests[] = { request, request };
    set_up();
    T_EQ_I64(run("echo $$ >> $NOTES; kill -9 $PPID; exec sleep 100", requests, 2, samples),
             PLIM_OK);
    T_FALSE(samples[0].is_done);
    T_FALSE(samples[1].is_done);
    expect_nothing_left(2);
    tear_down();
}

/* ---- signals --------------------------------------------------------------------------------- */

/* A process that rehearses twice at a time; its programs have begun when this returns. */
static pid_t begin_to_rehearse(const char *line)
{
    const pid_t pid = fork();
    T_TRUE(pid >= 0);
    if (pid == 0) {
        static plim_fit_sample samples[4];
        const plim_fit_request request = { .techniques = "", .capacity_bytes = GIB };
        const plim_fit_request requests[] = { request, request, request, request };
        const plim_status status = run(line, requests, 4, samples);
        _exit(status == PLIM_CANCELLED ? 7 : 8);
    }
    const uint64_t until = plim_clock_now_ns(&plim_clock_system) + PATIENCE_NS;
    long pids[4];
    while (read_notes(pids, 4) < 4 && plim_clock_now_ns(&plim_clock_system) < until) {
        pause_a_tick();
    }
    return pid;
}

/* "sh" and a child of it. */
static const char sleeping[] = "sleep 100 & echo $! $$ >> $NOTES; wait";

static void a_signal_ends_all_and_leaves_nothing(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < T_COUNT(signals); i++) {
        int status = 0;
        T_CASE("signal %d", signals[i]);
        set_up();
        const pid_t pid = begin_to_rehearse(sleeping);
        T_EQ_I64(kill(pid, signals[i]), 0);
        T_EQ_I64(waitpid(pid, &status, 0), pid);
        T_TRUE(WIFEXITED(status));
        T_EQ_I64(WEXITSTATUS(status), 7);
        expect_nothing_left(4); /* of the other two requests nothing was started */
        tear_down();
    }
}

static void workers_end_with_the_process_that_waits_for_them(void)
{
    int status = 0;
    set_up();
    const pid_t pid = begin_to_rehearse(sleeping);
    T_EQ_I64(kill(pid, SIGKILL), 0);
    T_EQ_I64(waitpid(pid, &status, 0), pid);
    T_TRUE(WIFSIGNALED(status));
    expect_nothing_left(4);
    tear_down();
}

T_MAIN(T_TEST(samples_stand_in_the_order_of_requests), T_TEST(two_run_at_a_time),
       T_TEST(the_input_of_the_caller_is_not_read),
       T_TEST(what_takes_too_long_is_ended_with_all_that_it_started),
       T_TEST(a_budget_that_has_ended_ends_it_at_once),
       T_TEST(a_program_ended_by_a_signal_of_its_own_failed),
       T_TEST(a_worker_that_dies_is_a_sample_that_is_not_done),
       T_TEST(a_signal_ends_all_and_leaves_nothing),
       T_TEST(workers_end_with_the_process_that_waits_for_them))
