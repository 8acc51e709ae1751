/*
 * test_run.c - whole runs from C: what a program gets, what is refused, and no leak when an
 * allocation fails.
 */
#include "run/scratch.h"

#include "plimsoll/run.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

/* Set by CMake: T_HOME, folder of the agent. */

/* Writes what a recorder of a process would, and fails as PyTorch does. */
static const char dying[] =
    "mkdir \"$PLIMSOLL_RUN/$$\" && echo '{\"schema\": \"run-process/1\", \"ended\": \"oom\"}'"
    " > \"$PLIMSOLL_RUN/$$/process.json\" && echo '{\"schema\": \"run-dump/1\", \"reason\": "
    "\"oom\","
    " \"ends_program\": true, \"error\": \"CUDA out of memory. Tried to allocate 2.00 GiB.\"}'"
    " > \"$PLIMSOLL_RUN/$$/001-oom.json\"; exit 3";

static const int nowhere[PLIM_LAUNCH_STREAMS] = { -1, -1 };
static const plim_launch_options unheard = { .outputs = nowhere };

static void set_up(void)
{
    signal(SIGPIPE, SIG_IGN);
    scratch_begin();
    T_EQ_I64(setenv("XDG_STATE_HOME", scratch, 1), 0);
}

static plim_ran run_shell(const char *code, plim_run_choice *choice)
{
    static const char *argv[] = { "sh", "-c", NULL, NULL };
    plim_ran ran;
    plim_error err = { 0 };
    argv[2] = code;
    choice->home = T_HOME;
    T_EQ_I64(plim_run_launch(argv, choice, &unheard, &ran, &err), PLIM_OK);
    return ran;
}

static void a_run_is_gathered(void)
{
    set_up();
    plim_run_choice choice = { .record = PLIM_RUN_RECORD_ALL };
    plim_ran ran = run_shell(dying, &choice);
    T_EQ_I64(ran.exit_status, 3);
    T_EQ_U64(ran.process_count, 1);
    T_TRUE(ran.died_of_memory);
    T_EQ_STR(ran.main_dump->name, "001-oom");
    T_EQ_STR(ran.message->framework, "pytorch");
    T_TRUE(access(ran.folder, F_OK) == 0);
    T_EQ_U64(ran.warning_count, 0);
    plim_ran_deinit(&ran);
    scratch_end();
}

static void variables_of_a_run_around_it_do_not_count(void)
{
    set_up();
    T_EQ_I64(setenv("PLIMSOLL_LIMIT", "1", 1), 0);
    T_EQ_I64(setenv("PLIMSOLL_STOP_ON", "leak", 1), 0);
    T_EQ_I64(setenv("PLIMSOLL_QUIET", "1", 1), 0);
    plim_run_choice choice = { .events = 7, .dumps_kept = 3 };
    plim_ran ran = run_shell("test -z \"$PLIMSOLL_LIMIT$PLIMSOLL_STOP_ON$PLIMSOLL_QUIET\" &&"
                             " test $PLIMSOLL_EVENTS = 7 && test $PLIMSOLL_DUMPS = 3 &&"
                             " test $PLIMSOLL_RECORD = ring",
                             &choice);
    T_EQ_I64(ran.exit_status, 0);
    T_NULL(ran.folder); /* no process used CUDA */
    plim_ran_deinit(&ran);
    T_EQ_I64(unsetenv("PLIMSOLL_LIMIT"), 0);
    T_EQ_I64(unsetenv("PLIMSOLL_STOP_ON"), 0);
    T_EQ_I64(unsetenv("PLIMSOLL_QUIET"), 0);
    scratch_end();
}

static void without_an_agent_it_runs_unrecorded(void)
{
    static const char *const argv[] = { "sh", "-c", "test -z \"$PLIMSOLL_RUN\"", NULL };
    set_up();
    const plim_run_choice choice = { .home = scratch };
    plim_ran ran;
    T_EQ_I64(plim_run_launch(argv, &choice, &unheard, &ran, NULL), PLIM_OK);
    T_EQ_I64(ran.exit_status, 0);
    T_EQ_U64(ran.warning_count, 1);
    T_NOT_NULL(strstr(ran.warnings[0], "the program was not recorded: "));
    plim_ran_deinit(&ran);
    scratch_end();
}

static void what_cannot_be_started_leaves_no_folder(void)
{
    static const char *const argv[] = { "/not/there", NULL };
    set_up();
    const plim_run_choice choice = { .home = T_HOME };
    plim_ran ran;
    T_EQ_I64(plim_run_launch(argv, &choice, &unheard, &ran, NULL), PLIM_INVALID_ARGUMENT);
    T_EQ_I64(ran.exit_status, PLIM_LAUNCH_NOT_FOUND);
    plim_ran_deinit(&ran);
    T_EQ_I64(rmdir(scratch_path("plimsoll/runs")), 0); /* it is empty */
    scratch_end();
}

static void conditions_are_checked(void)
{
    static const char *const good[] = { "leak", "reserved>95%", "reserved>0.5%,leak",
                                        "reserved>100%" };
    static const char *const bad[] = { "",
                                       ",",
                                       "leak,",
                                       "leaks",
                                       "reserved",
                                       "reserved>%",
                                       "reserved>95",
                                       "reserved>0%",
                                       "reserved>101%",
                                       "reserved> 5%",
                                       "reserved>nan%",
                                       "reserved>-1%",
                                       "reserved>95%%",
                                       "reserved>95% ,leak" };
    for (size_t i = 0; i < T_COUNT(good); i++) {
        T_EQ_I64(plim_run_check_stop(good[i], NULL), PLIM_OK);
    }
    for (size_t i = 0; i < T_COUNT(bad); i++) {
        plim_error err = { 0 };
        T_CASE("%s", bad[i]);
        T_EQ_I64(plim_run_check_stop(bad[i], &err), PLIM_INVALID_ARGUMENT);
        T_NOT_NULL(strstr(err.message, "neither leak nor reserved>95%"));
    }
    static const char *const argv[] = { "true", NULL };
    const plim_run_choice choice = { .stop_on = "leaks" };
    plim_ran ran;
    T_EQ_I64(plim_run_launch(argv, &choice, &unheard, &ran, NULL), PLIM_INVALID_ARGUMENT);
    plim_ran_deinit(&ran);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    static const char *const argv[] = { "sh", "-c", dying, NULL };
    const plim_run_choice choice = { .mem = mem, .home = T_HOME };
    plim_ran ran;
    plim_error err = { 0 };
    (void)ctx;
    const plim_status status = plim_run_launch(argv, &choice, &unheard, &ran, &err);
    /* Reading the program's output may fail alone, and what could not be recorded is said. */
    const bool is_whole = status == PLIM_OK && ran.launched.explanation != NULL &&
                          ran.warning_count == 0 && ran.main_dump != NULL;
    T_TRUE(status == PLIM_OK || err.message[0] != '\0');
    plim_ran_deinit(&ran);
    return is_whole;
}

static void every_failing_allocation_is_seen(void)
{
    set_up();
    t_fail_each_allocation(attempt, NULL);
    scratch_end();
}

T_MAIN(T_TEST(a_run_is_gathered), T_TEST(variables_of_a_run_around_it_do_not_count),
       T_TEST(without_an_agent_it_runs_unrecorded), T_TEST(what_cannot_be_started_leaves_no_folder),
       T_TEST(conditions_are_checked), T_TEST(every_failing_allocation_is_seen))
