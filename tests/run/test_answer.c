/*
 * test_answer.c - which process and dump answer for a run, from folders as recorders leave them.
 */
#include "run/scratch.h"

#include "run/run.h"

#include <string.h>

/* A process's folder with process.json. */
static void add_process(int pid, const char *members)
{
    char name[64];
    char text[1024];
    (void)snprintf(name, sizeof name, "%d", pid);
    scratch_folder(name);
    (void)snprintf(name, sizeof name, "%d/process.json", pid);
    (void)snprintf(text, sizeof text, "{\"schema\": \"run-process/1\", \"pid\": %d%s}", pid,
                   members);
    scratch_file(name, text);
}

static void add_dump(int pid, int number, const char *reason, double time, const char *members)
{
    char name[64];
    char text[1024];
    (void)snprintf(name, sizeof name, "%d/%03d-%s.json", pid, number, reason);
    (void)snprintf(text, sizeof text,
                   "{\"schema\": \"run-dump/1\", \"number\": %d, \"reason\": \"%s\", \"time\": %f,"
                   " \"snapshot\": \"%03d-%s.pickle\"%s}",
                   number, reason, time, number, reason, members);
    scratch_file(name, text);
}

static void add_snapshot(int pid, int number, const char *reason)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%d/%03d-%s.pickle", pid, number, reason);
    scratch_file(name, "");
}

static plim_ran read_back(void)
{
    plim_ran ran;
    plim_error err = { 0 };
    T_EQ_I64(plim_run_read(scratch, NULL, &ran, &err), PLIM_OK);
    return ran;
}

static void forget(plim_ran *ran)
{
    plim_ran_deinit(ran);
    scratch_end();
}

static void processes_come_by_rank_and_start(void)
{
    scratch_begin();
    add_process(30, ", \"rank\": 1, \"started\": 5");
    add_process(10, ", \"rank\": 0, \"started\": 9");
    add_process(20, ", \"rank\": 0, \"started\": 7");
    scratch_folder("40"); /* it has not written yet */
    scratch_folder("40x");
    scratch_file("50", "");
    plim_ran ran = read_back();
    T_EQ_U64(ran.process_count, 3);
    T_EQ_I64(ran.processes[0].pid, 20);
    T_EQ_I64(ran.processes[1].pid, 10);
    T_EQ_I64(ran.processes[2].pid, 30);
    T_EQ_U64(ran.warning_count, 0);
    T_NULL(ran.main_dump);
    T_FALSE(ran.died_of_memory);
    forget(&ran);
}

static void dumps_come_by_number_and_without_their_process_too(void)
{
    scratch_begin();
    scratch_folder("10");
    add_dump(10, 10, "exit", 5, "");
    add_dump(10, 9, "signal", 4, "");
    scratch_file("10/009-signal.holders.json", "{");
    scratch_file("10/011-oom.json.part", "{");
    scratch_file("10/notes.json", "{");
    plim_ran ran = read_back();
    T_EQ_U64(ran.process_count, 1);
    T_EQ_I64(ran.processes[0].pid, 10);
    T_EQ_STR(ran.processes[0].ended, "running");
    T_EQ_U64(ran.processes[0].dump_count, 2);
    T_EQ_STR(ran.processes[0].dumps[0].name, "009-signal");
    T_EQ_U64(ran.warning_count, 0);
    forget(&ran);
}

static void a_document_that_cannot_be_read_is_a_warning(void)
{
    scratch_begin();
    add_process(10, "");
    scratch_file("10/001-oom.json", "{\"schema\": \"run-du");
    add_dump(10, 2, "exit", 5, "");
    scratch_folder("20");
    scratch_file("20/process.json", "[]");
    plim_ran ran = read_back();
    T_EQ_U64(ran.process_count, 1);
    T_EQ_U64(ran.processes[0].dump_count, 1);
    T_EQ_U64(ran.warning_count, 2);
    forget(&ran);
}

static void the_first_failure_in_time_answers(void)
{
    scratch_begin();
    add_process(10, ", \"rank\": 0, \"ended\": \"oom\"");
    add_dump(10, 1, "oom", 200.5, ", \"ends_program\": true");
    add_process(20, ", \"rank\": 1, \"ended\": \"oom\"");
    add_dump(20, 1, "oom", 100.25, ", \"ends_program\": false");
    add_dump(20, 2, "oom", 200.25, ", \"ends_program\": true");
    add_process(30, ", \"rank\": 2, \"ended\": \"signal\"");
    add_dump(30, 1, "signal", 50, "");
    plim_ran ran = read_back();
    T_TRUE(ran.died_of_memory);
    T_EQ_I64(ran.main_process->pid, 20);
    T_EQ_STR(ran.main_dump->name, "002-oom");
    T_NULL(ran.main_snapshot); /* it is named, and not there */
    T_NULL(ran.why_unseen);
    forget(&ran);
}

static void a_later_snapshot_shows_it_too(void)
{
    scratch_begin();
    add_process(10, ", \"ended\": \"oom\"");
    add_dump(10, 1, "request", 1, "");
    add_snapshot(10, 1, "request");
    add_dump(10, 2, "oom", 2, ", \"ends_program\": true");
    add_dump(10, 3, "exit", 3, "");
    add_snapshot(10, 3, "exit");
    plim_ran ran = read_back();
    T_EQ_STR(ran.main_dump->name, "002-oom");
    T_EQ_STR(ran.main_snapshot->name, "003-exit");
    forget(&ran);
}

static void failures_that_were_caught_do_not_answer_for_a_healthy_run(void)
{
    scratch_begin();
    add_process(10, ", \"ended\": \"exit\", \"exit_status\": 0");
    add_dump(10, 1, "oom", 1, "");
    add_dump(10, 2, "exit", 2, "");
    plim_ran ran = read_back();
    T_NULL(ran.main_dump);
    T_FALSE(ran.died_of_memory);
    forget(&ran);
}

/* The process saw no status: `raise SystemExit(1)` is the program's own. */
static void the_launcher_sees_that_the_only_process_gave_up(void)
{
    for (int processes = 1; processes <= 2; processes++) {
        scratch_begin();
        add_process(10, ", \"ended\": \"exit\", \"exit_status\": 0");
        add_dump(10, 1, "oom", 1, "");
        if (processes == 2) {
            add_process(20, ", \"ended\": \"exit\", \"exit_status\": 0");
        }
        plim_ran ran = read_back();
        ran.launched.exit_status = 1;
        ran.launched.died_of_memory = true;
        plim_run_choose_main(&ran);
        T_TRUE((ran.main_dump != NULL) == (processes == 1));
        forget(&ran);
    }
}

static void the_last_caught_failure_answers_where_the_program_ended_by_it(void)
{
    scratch_begin();
    add_process(10, ", \"ended\": \"oom\"");
    add_dump(10, 1, "oom", 1, "");
    add_dump(10, 2, "oom", 2, "");
    plim_ran ran = read_back();
    T_EQ_STR(ran.main_dump->name, "002-oom");
    T_TRUE(ran.died_of_memory);
    forget(&ran);
}

static void a_stop_answers_where_nothing_failed(void)
{
    scratch_begin();
    add_process(10, ", \"ended\": \"stopped\", \"stopped_on\": \"leak\"");
    add_dump(10, 1, "stop", 1, "");
    plim_ran ran = read_back();
    T_EQ_STR(ran.main_dump->name, "001-stop");
    T_FALSE(ran.died_of_memory);
    forget(&ran);
}

static void a_process_that_ran_out_without_a_dump_is_known(void)
{
    scratch_begin();
    add_process(10, ", \"ended\": \"oom\", \"warnings\": [\"the disk is full\"]");
    plim_ran ran = read_back();
    T_NULL(ran.main_dump);
    T_TRUE(ran.died_of_memory);
    forget(&ran);
}

static void the_text_of_the_dump_is_explained_where_nothing_was_printed(void)
{
    scratch_begin();
    add_process(10, ", \"ended\": \"oom\"");
    add_dump(10, 1, "oom", 1,
             ", \"ends_program\": true, \"error\": \"CUDA out of memory. Tried to allocate 2.00"
             " GiB. GPU 0 has a total capacity of 23.52 GiB of which 1.00 GiB is free.\"");
    plim_ran ran = read_back();
    T_NOT_NULL(ran.message);
    T_EQ_STR(ran.message->framework, "pytorch");
    T_EQ_I64(ran.message->judgement.verdict, PLIM_VERDICT_EXHAUSTED);
    forget(&ran);
}

/* ---- a message of a failure that was caught -------------------------------------------------- */

static plim_oom_message message_of(uint64_t requested_bytes)
{
    plim_oom_message message = { .request = plim_failed_request_of(PLIM_TOPIC_ALLOCATION,
                                                                   PLIM_FAMILY_PYTORCH) };
    message.request.figures[PLIM_FIGURE_REQUESTED].bytes = requested_bytes;
    return message;
}

static void a_message_of_a_caught_failure_is_none_of_the_end(void)
{
    const plim_oom_message same = message_of(1000);
    const plim_oom_message other = message_of(2000);
    scratch_begin();
    add_process(10, ", \"ended\": \"error\", \"exception\": \"KeyError: 'x'\"");
    add_dump(10, 1, "oom", 1, ", \"failure\": {\"requested_bytes\": 1001}");
    plim_ran ran = read_back();
    T_TRUE(plim_run_was_caught(&ran, &same));
    T_FALSE(plim_run_was_caught(&ran, &other)); /* of a process that was not watched, say */
    forget(&ran);
}

static void a_killed_process_may_have_died_of_it(void)
{
    const plim_oom_message same = message_of(1000);
    scratch_begin();
    add_process(10, ", \"ended\": \"error\"");
    add_dump(10, 1, "oom", 1, ", \"failure\": {\"requested_bytes\": 1000}");
    add_process(20, ", \"ended\": \"running\"");
    plim_ran ran = read_back();
    T_FALSE(plim_run_was_caught(&ran, &same));
    forget(&ran);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void a_folder_that_is_not_there_is_an_error(void)
{
    plim_ran ran;
    plim_error err = { 0 };
    T_EQ_I64(plim_run_read("/not/there", NULL, &ran, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "/not/there"));
    plim_ran_deinit(&ran);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    plim_ran ran;
    (void)ctx;
    const plim_status status = plim_run_read(scratch, mem, &ran, NULL);
    if (status == PLIM_OK) {
        T_EQ_U64(ran.process_count, 2);
        T_NOT_NULL(ran.message);
    }
    plim_ran_deinit(&ran);
    return status == PLIM_OK;
}

static void every_failing_allocation_is_an_error(void)
{
    scratch_begin();
    add_process(10, ", \"ended\": \"oom\"");
    add_dump(10, 1, "oom", 1, ", \"error\": \"CUDA out of memory. Tried to allocate 2.00 GiB.\"");
    scratch_file("10/002-exit.json", "{");
    add_process(20, "");
    t_fail_each_allocation(attempt, NULL);
    scratch_end();
}

T_MAIN(T_TEST(the_launcher_sees_that_the_only_process_gave_up),
       T_TEST(processes_come_by_rank_and_start),
       T_TEST(dumps_come_by_number_and_without_their_process_too),
       T_TEST(a_document_that_cannot_be_read_is_a_warning),
       T_TEST(the_first_failure_in_time_answers), T_TEST(a_later_snapshot_shows_it_too),
       T_TEST(failures_that_were_caught_do_not_answer_for_a_healthy_run),
       T_TEST(the_last_caught_failure_answers_where_the_program_ended_by_it),
       T_TEST(a_stop_answers_where_nothing_failed),
       T_TEST(a_process_that_ran_out_without_a_dump_is_known),
       T_TEST(the_text_of_the_dump_is_explained_where_nothing_was_printed),
       T_TEST(a_message_of_a_caught_failure_is_none_of_the_end),
       T_TEST(a_killed_process_may_have_died_of_it), T_TEST(a_folder_that_is_not_there_is_an_error),
       T_TEST(every_failing_allocation_is_an_error))
