/*
 * test_allocation.c - a rehearsal whose nth allocation fails says so, leaks nothing and leaves no
 * folder; nor does one that fails because of its surroundings.
 *
 * The program is never run: its place is taken by a result that we write ourselves.
 */
#include "harness.h"

#include "plimsoll/rehearse.h"
#include "rehearse/folder.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Told by CMake: T_HOME, folder of the stand-ins; T_PROGRAM, an ELF file that wants CUDA. */

/* What Python would say of itself, from a shell that takes no time to start. */
static const char python_script[] =
    "#!/bin/sh\n"
    "echo '{\"torch\": \"2.11.0\", \"cuda\": \"13.0\", \"cudnn\": \"9.19.0\","
    " \"nccl\": \"2.28.9\", \"objects\": [\"" T_PROGRAM "\", \"/nowhere/at/all.so\"]}'\n";

static const char result[] =
    "{\"version\": 1, \"pid\": 42, \"rank\": 1, \"world_size\": 2, \"torch\": \"2.11.0\","
    " \"ended\": \"error\", \"exception\": \"ValueError: no\", \"steps\": 2, \"conf\": \"a:b\","
    " \"snapshot\": \"42.json\", \"devices\": [{\"device\": 0, \"peak_phase\": \"backward\","
    "   \"phases\": [{\"phase\": \"forward\"}], \"steps\": [{\"step\": 1}]}],"
    " \"ooms\": [{\"phase\": \"forward\", \"text\": \"out\", \"stack\": [\"a.py:1 f\", \"b\"]}],"
    " \"value_reads\": [{\"where\": \"a.py:9\", \"what\": \"item\", \"stack\": [\"c\"]}],"
    " \"warnings\": [\"one\", \"two\"]}";

static char base[PLIM_PATH_BYTES];    /* TMPDIR while a test runs */
static char python[PLIM_PATH_BYTES];  /* the script */
static char outside[PLIM_PATH_BYTES]; /* where both are */

static void write_file(const char *folder, const char *name, const char *text, mode_t mode)
{
    char path[PLIM_PATH_BYTES];
    T_EQ_I64(plim_folder_join(path, sizeof(path), folder, name, NULL), PLIM_OK);
    FILE *file = fopen(path, "we");
    T_NOT_NULL(file);
    T_TRUE(fputs(text, file) >= 0);
    T_EQ_I64(fclose(file), 0);
    T_EQ_I64(chmod(path, mode), 0);
}

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    T_NOT_NULL(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count - 2; /* itself, and what it is in */
}

static void set_up(const char *script)
{
    static const char *const inside[] = { "tmp", NULL };
    T_EQ_I64(unsetenv("TMPDIR"), 0);
    T_EQ_I64(plim_folder_make(outside, sizeof(outside), inside, NULL), PLIM_OK);
    T_EQ_I64(plim_folder_join(base, sizeof(base), outside, "tmp", NULL), PLIM_OK);
    T_EQ_I64(plim_folder_join(python, sizeof(python), outside, "python", NULL), PLIM_OK);
    write_file(outside, "python", script, 0700);
    T_EQ_I64(setenv("TMPDIR", base, 1), 0);
}

static void tear_down(void)
{
    T_EQ_U64(count_entries(base), 0);
    T_EQ_I64(unsetenv("TMPDIR"), 0);
    plim_folder_remove(outside);
}

static const char *find_variable(const plim_rehearsal *rehearsal, const char *name)
{
    const size_t length = strlen(name);
    const char *found = NULL;
    for (char *const *one = plim_rehearsal_environment(rehearsal); *one != NULL; one++) {
        if (strncmp(*one, name, length) == 0 && (*one)[length] == '=') {
            T_NULL(found); /* once */
            found = *one + length + 1;
        }
    }
    return found;
}

static void leave_results(const plim_rehearsal *rehearsal)
{
    char folder[PLIM_PATH_BYTES];
    const char *run = find_variable(rehearsal, "PLIMSOLL_REHEARSAL");
    T_NOT_NULL(run);
    T_EQ_I64(plim_folder_join(folder, sizeof(folder), run, "results", NULL), PLIM_OK);
    write_file(folder, "42.json", result, 0600);
    write_file(folder, "43.json", "{ broken", 0600);
    write_file(folder, "notes.txt", "of no interest", 0600);
}

static void check_outcome(const plim_rehearsal_outcome *outcome)
{
    T_EQ_U64(outcome->process_count, 1);
    T_EQ_U64(outcome->warning_count, 1); /* of the broken one */
    T_EQ_U64(outcome->device_count, 2);
    T_EQ_STR(outcome->gpu->key, "rtx4090");
    const plim_rehearsed_process *process = outcome->processes;
    T_EQ_STR(process->exception, "ValueError: no");
    T_EQ_STR(process->settings, "a:b");
    T_NOT_NULL(process->snapshot_path);
    T_EQ_STR(process->devices[0].peak_phase, "backward");
    T_EQ_STR(process->devices[0].phases[0].name, "forward");
    T_EQ_STR(process->ooms[0].text, "out");
    T_EQ_U64(process->ooms[0].stack_count, 2);
    T_EQ_STR(process->reads[0].what, "item");
    T_EQ_U64(process->warning_count, 2);
}

static const char *const argv[] = { T_PROGRAM, "alloc", "1", NULL };

static plim_rehearse_options make_options(const plim_mem *mem)
{
    return (plim_rehearse_options){
        .mem = mem,
        .gpu = "rtx4090",
        .device_count = 2,
        .steps = 3,
        .settings = "expandable_segments:True",
        .python = python,
        .home = T_HOME,
        .world_size = 2,
        .rank = 1,
    };
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    const plim_rehearse_options options = make_options(mem);
    plim_rehearsal *rehearsal = NULL;
    const plim_rehearsal_outcome *outcome = NULL;
    plim_error err = { 0 };
    plim_status status = plim_rehearsal_prepare(argv, &options, &rehearsal, &err);
    if (status == PLIM_OK) {
        T_EQ_STR(plim_rehearsal_argv(rehearsal)[0], T_PROGRAM);
        T_EQ_STR(plim_rehearsal_argv(rehearsal)[2], "1");
        T_NULL(plim_rehearsal_argv(rehearsal)[3]);
        T_NOT_NULL(find_variable(rehearsal, "LD_PRELOAD"));
        leave_results(rehearsal);
        status = plim_rehearsal_finish(rehearsal, &outcome, &err);
    } else {
        T_NULL(rehearsal);
    }
    if (status == PLIM_OK) {
        check_outcome(outcome);
    } else if (status != PLIM_OUT_OF_HOST_MEMORY || strstr(err.message, "out of host") == NULL) {
        fail_msg("lack of memory is told as \"%s\"", err.message);
    }
    plim_rehearsal_destroy(rehearsal);
    T_EQ_U64(count_entries(base), 0);
    return status == PLIM_OK;
}

static void nothing_leaks_when_memory_runs_out(void)
{
    set_up(python_script);
    t_fail_each_allocation(attempt, NULL);
    tear_down();
}

/* ---- other failures leave as little ---------------------------------------------------------- */

static void what_fails_is_said_and_leaves_nothing(void)
{
    static const struct {
        const char *script; /* of Python */
        const char *words;  /* in the error */
        plim_status status;
    } rows[] = {
        { "#!/bin/sh\nexit 3\n", "ended with 3", PLIM_IO },
        { "#!/bin/sh\nkill -9 $$\n", "ended with 137", PLIM_IO },
        { "#!/nowhere/sh\n", "cannot be run", PLIM_IO },
        { "#!/bin/sh\necho nonsense\n", "no JSON", PLIM_CORRUPT },
        { "#!/bin/sh\n", "no JSON", PLIM_CORRUPT },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].script);
        set_up(rows[i].script);
        const plim_rehearse_options options = make_options(NULL);
        plim_rehearsal *rehearsal = NULL;
        plim_error err = { 0 };
        T_EQ_I64(plim_rehearsal_prepare(argv, &options, &rehearsal, &err), rows[i].status);
        T_NULL(rehearsal);
        if (strstr(err.message, rows[i].words) == NULL || strchr(err.message, '\n') != NULL) {
            fail_msg("the error is \"%s\"", err.message);
        }
        tear_down();
    }
}

static void options_that_cannot_be_are_refused(void)
{
    set_up(python_script);
    const plim_rehearse_options good = make_options(NULL);
    plim_rehearse_options rows[] = { good, good, good, good, good, good, good };
    static const char *const words[] = { "nosuchgpu",       "devices",       "rank 2 of 2", "oops",
                                         "/nowhere/python", "/nowhere/home", "rank 1 of 0" };
    rows[0].gpu = "nosuchgpu";
    rows[1].device_count = 1000;
    rows[2].rank = 2;
    rows[3].settings = "max_split_size_mb:oops";
    rows[4].python = "/nowhere/python";
    rows[5].home = "/nowhere/home";
    rows[6].world_size = 0;
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", words[i]);
        plim_rehearsal *rehearsal = NULL;
        plim_error err = { 0 };
        const plim_status status = plim_rehearsal_prepare(argv, &rows[i], &rehearsal, &err);
        T_TRUE(status == PLIM_INVALID_ARGUMENT || status == PLIM_IO || status == PLIM_CORRUPT);
        T_NULL(rehearsal);
        if (strstr(err.message, words[i]) == NULL) {
            fail_msg("the error is \"%s\"", err.message);
        }
    }
    static const char *const nothing[] = { NULL };
    plim_rehearsal *rehearsal = NULL;
    T_EQ_I64(plim_rehearsal_prepare(nothing, &good, &rehearsal, NULL), PLIM_INVALID_ARGUMENT);
    T_NULL(rehearsal);
    plim_rehearsal_destroy(NULL);
    tear_down();
}

/* The program may tidy up more than it should. */
static void a_program_that_removes_our_folder_costs_only_results(void)
{
    set_up(python_script);
    const plim_rehearse_options options = make_options(NULL);
    plim_rehearsal *rehearsal = NULL;
    const plim_rehearsal_outcome *outcome = NULL;
    T_EQ_I64(plim_rehearsal_prepare(argv, &options, &rehearsal, NULL), PLIM_OK);
    plim_folder_remove(find_variable(rehearsal, "PLIMSOLL_REHEARSAL"));
    T_EQ_I64(plim_rehearsal_finish(rehearsal, &outcome, NULL), PLIM_OK);
    T_EQ_U64(outcome->process_count, 0);
    T_EQ_U64(outcome->device_count, 2);
    plim_rehearsal_destroy(rehearsal);
    tear_down();
}

T_MAIN(T_TEST(nothing_leaks_when_memory_runs_out), T_TEST(what_fails_is_said_and_leaves_nothing),
       T_TEST(options_that_cannot_be_are_refused),
       T_TEST(a_program_that_removes_our_folder_costs_only_results))
