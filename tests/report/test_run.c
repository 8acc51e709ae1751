/*
 * test_run.c - the page of a run, for each way in which it may end, against approved copies.
 */
#include "golden.h"
#include "harness.h"
#include "report/json/documents.h"

#include "base/units.h"
#include "plimsoll/load.h"

#define LEAK "tests/data/rehearsals/bug-outputs-kept-oom.pickle.zst"
#define ERROR                                                                                     \
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total " \
    "capacity of 1024.00 MiB of which 12.00 MiB is free. Including non-PyTorch memory, this "     \
    "process has 1012.00 MiB memory in use. Of the allocated memory 411.03 MiB is allocated by "  \
    "PyTorch, and 2.97 MiB is reserved by PyTorch but unallocated.\n"
#define HOLDERS                                                                                    \
    "{\"schema\": \"holders/1\", \"moment\": \"failure\", \"is_complete\": true, \"devices\": "    \
    "[{\"device\": 0, \"live_bytes\": 431000000, \"held_bytes\": 410000000, \"graph_bytes\": 0, "  \
    "\"engine_bytes\": 0}], \"holders\": [{\"id\": 0, \"kind\": \"local\", \"text\": \"list "      \
    "`predictions` in main (outputs_kept.py:20)\", \"device\": 0, \"tensors\": 86, \"bytes\": "    \
    "360710144, \"blocks\": []}, {\"id\": 1, \"kind\": \"parameters\", \"text\": \"parameters of " \
    "Perceptron `model` in main (outputs_kept.py:14)\", \"device\": 0, \"tensors\": 6, "           \
    "\"bytes\": 29388800, \"blocks\": []}, {\"id\": 2, \"kind\": \"local\", \"text\": \"Tensor "   \
    "`features` in main (outputs_kept.py:19)\", \"device\": 0, \"tensors\": 1, \"bytes\": "        \
    "1000, \"blocks\": []}], \"garbage\": {\"bytes\": 20971520, \"tensors\": 5, \"objects\": 40, " \
    "\"text\": null}}"

static const plim_style style = { .utf8 = true, .width = 96 };

/* A run with all that may be known of it; each test takes away. */
typedef struct run_sample {
    const char *argv[4];
    plim_run_choice choice;
    plim_ran_dump dump;
    plim_ran_device device;
    plim_ran_growth growth;
    plim_rehearsed_oom_place place;
    plim_ran_process processes[2];
    plim_explanation *explanation;
    plim_holders *holders;
    plim_diagnosed diagnosed;
    plim_run_found found;
    plim_ran ran;
} run_sample;

static void fill_processes(run_sample *made)
{
    made->device = (plim_ran_device){ .device = 0,
                                      .name = "NVIDIA H100 80GB HBM3",
                                      .total_bytes = GIB,
                                      .allocated_bytes = 411 * MIB,
                                      .reserved_bytes = 414 * MIB };
    for (size_t i = 0; i < 2; i++) {
        made->processes[i] = (plim_ran_process){ .pid = 4711 + (int64_t)i,
                                                 .rank = i,
                                                 .world_size = 1,
                                                 .ended = "oom",
                                                 .record = "ring",
                                                 .steps = 37,
                                                 .devices = &made->device,
                                                 .device_count = 1,
                                                 .dumps = &made->dump,
                                                 .dump_count = 1 };
    }
}

static void begin(run_sample *made)
{
    *made = (run_sample){ .argv = { "python", "outputs_kept.py", NULL } };
    made->dump = (plim_ran_dump){ .name = "001-oom",
                                  .number = 1,
                                  .reason = "oom",
                                  .step = 37,
                                  .where = "/home/user/rehearse/bugs/small.py:47 forward",
                                  .ends_program = true,
                                  .snapshot_path = "/runs/my run/4711/001-oom.pickle" };
    fill_processes(made);
    const plim_explain_options how = { .without_series = true };
    T_EQ_U64(plim_explain_text(ERROR, strlen(ERROR), &how, &made->explanation, NULL), PLIM_OK);
    T_EQ_U64(plim_holders_read_text(HOLDERS, strlen(HOLDERS), NULL, &made->holders, NULL), PLIM_OK);
    made->ran = (plim_ran){ .argv = made->argv,
                            .exit_status = 1,
                            .folder = "/runs/my run",
                            .choice = &made->choice,
                            .processes = made->processes,
                            .process_count = 1,
                            .main_process = &made->processes[0],
                            .main_dump = &made->dump,
                            .main_snapshot = &made->dump,
                            .died_of_memory = true,
                            .message = plim_explanation_main(made->explanation) };
}

/* The snapshot's diagnosis, with the judgement of the error's text. */
static void diagnose(run_sample *made)
{
    const plim_diagnose_options options = { .judgements = &made->ran.message->judgement,
                                            .judgement_count = 1 };
    made->diagnosed.path = made->dump.snapshot_path;
    T_EQ_U64(plim_history_load(LEAK, NULL, &made->diagnosed.history, NULL), PLIM_OK);
    T_EQ_U64(plim_diagnose(made->diagnosed.history, &options, &made->diagnosed.diagnosis, NULL),
             PLIM_OK);
    made->found.diagnosed = &made->diagnosed;
}

static void end(run_sample *made)
{
    plim_diagnosis_destroy(made->diagnosed.diagnosis);
    plim_history_destroy(made->diagnosed.history);
    plim_holders_destroy(made->holders);
    plim_explanation_destroy(made->explanation);
}

static void check_page(const char *name, run_sample *made)
{
    plim_page page;
    const plim_run_view view = { 0 };
    T_TRUE(plim_run_has_page(&made->ran));
    plim_page_init(&page, NULL);
    plim_run_page(&page, &view, &made->ran, &made->found);
    T_EQ_U64(plim_page_status(&page, NULL), PLIM_OK);
    golden_check_page(name, &page, &style);
}

/* Nothing answers for it. */
static void take_dump(run_sample *made)
{
    made->ran.main_process = NULL;
    made->ran.main_dump = NULL;
    made->ran.main_snapshot = NULL;
    made->ran.message = NULL;
    made->ran.died_of_memory = false;
    made->processes[0].dump_count = 0;
    made->processes[0].ended = "running";
}

static void a_leak_has_its_verdict_its_holders_and_its_fixes(void)
{
    run_sample made;
    begin(&made);
    diagnose(&made);
    made.found.holders = made.holders;
    check_page("run-page-leak.txt", &made);
    end(&made);
}

static void without_a_snapshot_the_error_answers(void)
{
    run_sample made;
    begin(&made);
    made.dump.snapshot_path = NULL;
    made.dump.why_no_snapshot = "the history is off";
    made.ran.main_snapshot = NULL;
    check_page("run-page-text.txt", &made);
    end(&made);
}

static void of_ranks_the_first_is_named(void)
{
    run_sample made;
    begin(&made);
    diagnose(&made);
    made.ran.process_count = 2;
    made.processes[0].world_size = 2;
    made.choice.limit_bytes = GIB;
    check_page("run-page-ranks.txt", &made);
    end(&made);
}

static void one_that_is_stopped_says_by_what(void)
{
    run_sample made;
    begin(&made);
    diagnose(&made);
    made.dump.reason = "stop";
    made.dump.ends_program = false;
    made.processes[0].stopped_on = "leak";
    made.ran.died_of_memory = false;
    made.ran.message = NULL;
    check_page("run-page-stopped.txt", &made);
    end(&made);
}

static void killed_for_host_memory_it_has_the_last_state(void)
{
    run_sample made;
    begin(&made);
    take_dump(&made);
    made.ran.launched = (plim_launched){ .was_killed = true,
                                         .was_oom_killed = true,
                                         .kill_scope = PLIM_LAUNCH_KILLS_CGROUP,
                                         .died_of_memory = true };
    made.ran.died_of_memory = true;
    check_page("run-page-oom-killed.txt", &made);
    made.ran.launched =
        (plim_launched){ .was_killed = true, .kill_scope = PLIM_LAUNCH_KILLS_MACHINE };
    made.ran.died_of_memory = false;
    check_page("run-page-killed.txt", &made);
    made.place = (plim_rehearsed_oom_place){ .where = "/home/me/train.py:55 main", .count = 3 };
    made.processes[0].oom_count = 3;
    made.processes[0].ooms = &made.place;
    made.processes[0].oom_place_count = 1;
    check_page("run-page-killed-after-failures.txt", &made);
    end(&made);
}

static void a_worker_killed_before_any_use_of_the_gpu_is_said(void)
{
    run_sample made;
    begin(&made);
    take_dump(&made);
    made.ran.process_count = 0;
    made.ran.launched = (plim_launched){ .was_oom_killed = true,
                                         .kill_scope = PLIM_LAUNCH_KILLS_CGROUP,
                                         .died_of_memory = true };
    made.ran.died_of_memory = true;
    check_page("run-page-worker-killed.txt", &made);
    end(&made);
}

static void caught_failures_before_another_error_are_a_line(void)
{
    run_sample made;
    begin(&made);
    take_dump(&made);
    made.place = (plim_rehearsed_oom_place){ .where = "/home/me/train.py:55 main", .count = 3 };
    made.processes[0].oom_count = 3;
    made.processes[0].ooms = &made.place;
    made.processes[0].oom_place_count = 1;
    check_page("run-page-caught.txt", &made);
    made.ran.exit_status = 0; /* it went on, and ended well */
    T_FALSE(plim_run_has_page(&made.ran));
    end(&made);
}

static void a_thread_that_ended_by_it_is_a_line(void)
{
    run_sample made;
    begin(&made);
    take_dump(&made);
    made.dump.ends_program = false;
    made.processes[0].dump_count = 1;
    made.processes[0].ended = "exit";
    made.ran.exit_status = 0;
    check_page("run-page-thread.txt", &made);
    made.dump.snapshot_path = NULL; /* it was caught */
    T_FALSE(plim_run_has_page(&made.ran));
    end(&made);
}

static void growth_that_did_not_kill_is_a_line(void)
{
    run_sample made;
    begin(&made);
    take_dump(&made);
    made.growth = (plim_ran_growth){ .bytes_per_step = 13002342.4,
                                     .since_step = 40,
                                     .where = "/home/me/train.py:88 train",
                                     .full_at_step = 3100 };
    made.processes[0].growth = &made.growth;
    made.processes[0].growth_count = 1;
    made.ran.exit_status = 0;
    check_page("run-page-growth.txt", &made);
    end(&made);
}

static void a_healthy_run_and_another_failure_have_no_page(void)
{
    run_sample made;
    begin(&made);
    take_dump(&made);
    T_FALSE(plim_run_has_page(&made.ran));
    made.ran.exit_status = 0;
    T_FALSE(plim_run_has_page(&made.ran));
    made.ran.process_count = 0; /* no process used CUDA */
    made.ran.launched = (plim_launched){ .was_killed = true };
    T_FALSE(plim_run_has_page(&made.ran));
    end(&made);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    run_sample *const made = ctx;
    const plim_run_view view = { .all = true };
    plim_page page;
    plim_page_init(&page, mem);
    made->diagnosed.sentences = NULL;
    plim_run_page(&page, &view, &made->ran, &made->found);
    const bool is_whole = plim_page_status(&page, NULL) == PLIM_OK;
    plim_page_deinit(&page);
    return is_whole;
}

static void each_lack_of_memory_is_an_error(void)
{
    run_sample made;
    begin(&made);
    diagnose(&made);
    made.found.holders = made.holders;
    t_fail_each_allocation(attempt, &made);
    end(&made);
}

T_MAIN(T_TEST(a_leak_has_its_verdict_its_holders_and_its_fixes),
       T_TEST(without_a_snapshot_the_error_answers), T_TEST(of_ranks_the_first_is_named),
       T_TEST(one_that_is_stopped_says_by_what),
       T_TEST(killed_for_host_memory_it_has_the_last_state),
       T_TEST(a_worker_killed_before_any_use_of_the_gpu_is_said),
       T_TEST(caught_failures_before_another_error_are_a_line),
       T_TEST(a_thread_that_ended_by_it_is_a_line), T_TEST(growth_that_did_not_kill_is_a_line),
       T_TEST(a_healthy_run_and_another_failure_have_no_page),
       T_TEST(each_lack_of_memory_is_an_error))
