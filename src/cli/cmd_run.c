/*
 * cmd_run.c - "when it dies, it has said why": a program under the recorder.
 */
#include "base/size.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/result.h"
#include "cli/running.h"
#include "cli/techniques.h"
#include "report/json/documents.h"

#include "plimsoll/gpu.h"
#include "plimsoll/run.h"
#include "plimsoll/settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct run_arguments {
    plim_asked asked;
    plim_run_view view;
    plim_run_choice how;
    plim_rehearse_options standins;
    plim_text techniques; /* of --with, one a line */
} run_arguments;

/* ---- arguments ------------------------------------------------------------------------------- */

static void take_record(struct argp_state *state, void *arguments, char *text)
{
    plim_run_choice *const how = &((run_arguments *)arguments)->how;
    static const plim_run_record all[] = { PLIM_RUN_RECORD_RING, PLIM_RUN_RECORD_OFF,
                                           PLIM_RUN_RECORD_ALL };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(text, plim_run_record_name(all[i])) == 0) {
            how->record = all[i];
            return;
        }
    }
    argp_error(state, "--record takes off, ring or all, not \"%s\"", text);
}

static void take_stop_on(struct argp_state *state, void *arguments, char *text)
{
    plim_error err = { 0 };
    if (plim_run_check_stop(text, &err) != PLIM_OK) {
        argp_error(state, "--stop-on takes leak, reserved>95%% or both with a comma: %s",
                   err.message);
    }
    ((run_arguments *)arguments)->how.stop_on = text;
}

static void take_with(struct argp_state *state, void *given, char *text)
{
    run_arguments *const arguments = given;
    plim_techniques_take(state, &arguments->techniques, text, NULL);
    arguments->how.techniques = plim_text_string(&arguments->techniques);
}

static const plim_option options[] = {
    PLIM_TAKEN("record", "WORD", take_record,
               "the history that PyTorch keeps: ring, the last events; all; off (ring)"),
    PLIM_COUNT("events", run_arguments, how.events, 1, 1000000000,
               "events of the ring, for each GPU (100,000)"),
    PLIM_SIZE("limit", run_arguments, how.limit_bytes,
              "memory of each GPU that a process may use, 20GiB (all)"),
    PLIM_TAKEN("stop-on", "WORDS", take_stop_on,
               "stop it as soon as memory leaks, or is nearly full: leak, reserved>95%"),
    PLIM_TEXT("output", "DIR", run_arguments, how.folder,
              "folder of what is recorded (a new one below ~/.local/state/plimsoll/runs)"),
    PLIM_NUMBER("keep", run_arguments, how.runs_kept, 1, 1000000,
                "runs that are kept there; the oldest goes (10)"),
    PLIM_NUMBER("dumps", run_arguments, how.dumps_kept, 2, 1000000,
                "dumps that each process keeps (5)"),
    PLIM_FLAG("quiet", run_arguments, how.is_quiet,
              "print nothing: no line while it runs, no verdict after it"),
    PLIM_FLAG("all", run_arguments, view.all, "show every fix"),
    PLIM_TAKEN(
        "with", "TECHNIQUE", take_with,
        "switch a technique on in the unchanged program: checkpoint, accumulate=4 … (again for "
        "each)"),
    PLIM_TEXT("gpu", "NAME", run_arguments, standins.gpu,
              "run it without a GPU, over stand-ins for that one: h100, rtx4090 …"),
    PLIM_SIZE("capacity", run_arguments, standins.capacity_bytes,
              "memory of each such GPU, 24GiB (that of the GPU)"),
    PLIM_NUMBER("devices", run_arguments, standins.device_count, 1, 64, "number of such GPUs (1)"),
    PLIM_TEXT("conf", "STRING", run_arguments, standins.settings,
              "settings of the allocator there: PYTORCH_CUDA_ALLOC_CONF"),
    PLIM_TEXT("python", "PATH", run_arguments, standins.python,
              "the program's Python there (found from the program)"),
    PLIM_FLAG("no-recorder", run_arguments, how.is_unrecorded,
              "record nothing there, and keep no folder"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll run -- python train.py",
    "runs it unchanged; if it dies of memory, says why, from which line, and what helps",
    "plimsoll run --stop-on='leak,reserved>95%' -- torchrun --nproc-per-node=8 train.py",
    "stops a job whose memory grows, hours before it is full",
    "plimsoll run --limit=20GiB -- python train.py",
    "would it fit into less? It dies here, and not in production",
    "plimsoll run --gpu=rtx4090 -- python train.py",
    "the same without a GPU, over stand-ins for one",
    NULL,
};

/* Refuses as wrong usage, as plim_rehearsal_prepare() would later. */
static void check_standins(struct argp_state *state, const plim_rehearse_options *standins)
{
    plim_error err = { 0 };
    const plim_gpu *gpu = NULL;
    plim_settings settings = plim_settings_default();
    if (plim_gpu_find(standins->gpu, &gpu, &err) == PLIM_INVALID_ARGUMENT) {
        argp_error(state, "--gpu: %s (plimsoll rehearse --list-gpus lists them)", err.message);
    }
    const plim_status parsed = standins->settings != NULL
                                   ? plim_settings_parse(standins->settings, &settings, &err)
                                   : PLIM_OK;
    if (parsed != PLIM_OK && parsed != PLIM_OUT_OF_HOST_MEMORY) {
        argp_error(state, "--conf: %s", err.message);
    }
}

/* What would do nothing is refused. */
static void check_unrecorded(struct argp_state *state, const plim_run_choice *how, bool has_gpu)
{
    if (how->is_unrecorded && !has_gpu) {
        argp_error(state, "--no-recorder is of --gpu: without both nothing is left to do");
    }
    if (how->is_unrecorded && how->techniques != NULL) {
        argp_error(state, "--with reports in the folder of the run: leave out --no-recorder");
    }
    if (how->is_unrecorded &&
        (how->limit_bytes > 0 || how->stop_on != NULL || how->folder != NULL || how->events > 0 ||
         how->dumps_kept > 0 || how->runs_kept > 0 || how->record != PLIM_RUN_RECORD_RING)) {
        argp_error(state, "--no-recorder leaves --record, --events, --limit, --stop-on, --output, "
                          "--keep and --dumps without effect");
    }
}

static void check(struct argp_state *state, void *given)
{
    run_arguments *const arguments = given;
    const plim_rehearse_options *const standins = &arguments->standins;
    if (arguments->asked.file_count > 0) {
        argp_error(state, "put \"--\" before the program: -- %s", arguments->asked.files[0]);
    }
    if (arguments->asked.command == NULL || arguments->asked.command[0] == NULL) {
        argp_error(state, "which program? Give it after --");
    }
    check_unrecorded(state, &arguments->how, standins->gpu != NULL);
    if (standins->gpu != NULL) {
        check_standins(state, standins);
        arguments->how.standins = standins;
    } else if (standins->capacity_bytes > 0 || standins->device_count > 0 ||
               standins->settings != NULL || standins->python != NULL) {
        argp_error(state,
                   "--capacity, --devices, --conf and --python are of --gpu; --limit gives a "
                   "program less of this machine's own");
    }
}

static const plim_usage usage = {
    .arguments = "-- PROGRAM [ARG...]",
    .purpose =
        "Runs an unchanged PyTorch program with a recorder beside it. If memory runs out, says "
        "under the program's own output why, at which line, what holds the memory and what helps. "
        "A healthy program prints what it always does.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(run_arguments, asked),
    .json = "print the document \"run/1\"; the program's output goes to standard error",
    .examples = examples,
    .closing =
        "Exit status: the program's own; 1 if --stop-on ended it; 2 wrong usage; 3, 126 or 127 it "
        "could not be started.",
    .takes_command = true,
    .check = check,
};

/* ---- the command itself ---------------------------------------------------------------------- */

static void show(const char *who, const run_arguments *arguments, const plim_ran *ran)
{
    plim_result result;
    plim_page page;
    plim_ran_account account = { 0 };
    plim_result_begin(&result, who, stderr, &arguments->asked);
    plim_page_init(&page, NULL);
    result.has_page = plim_run_has_page(ran);
    result.prints_page = result.prints_page && !arguments->how.is_quiet;
    if (result.has_page &&
        (result.prints_page || result.has_document || arguments->asked.page != NULL)) {
        if (plim_run_has_account(ran)) {
            plim_ran_account_find(who, ran, &account);
        }
        plim_page_gap(&page); /* after the program's own output */
        plim_run_page(&page, &arguments->view, ran, &account.found);
    }
    if (result.has_document) {
        result.err.status =
            plim_run_json_write(result.sink, ran, &account.found, &page, &result.err);
    }
    (void)plim_result_end(&result, &page); /* the exit status is the program's */
    plim_ran_account_end(&account);
}

/* The first warning of a process's recorder; the others are counted, one that ranks share once. */
static const char *find_recorder_warning(const plim_ran *ran, size_t *ret_more)
{
    const char *first = NULL;
    *ret_more = 0;
    for (size_t i = 0; i < ran->process_count; i++) {
        const plim_ran_process *const process = &ran->processes[i];
        for (size_t j = 0; j < process->warning_count; j++) {
            const bool is_same = first != NULL && strcmp(first, process->warnings[j]) == 0;
            *ret_more += first != NULL && !is_same;
            first = first != NULL ? first : process->warnings[j];
        }
    }
    return first;
}

/* What could not be recorded or read, and what the program lacked: a line each. */
static void say_warnings(const char *who, const plim_ran *ran)
{
    size_t more = 0;
    const char *const recorder = find_recorder_warning(ran, &more);
    for (size_t i = 0; i < ran->warning_count; i++) {
        plim_say(who, "%s", ran->warnings[i]);
    }
    if (recorder != NULL && more > 0) {
        plim_say(who, "the recorder warns: %s (and %zu more in %s)", recorder, more,
                 ran->folder != NULL ? ran->folder : "process.json");
    } else if (recorder != NULL) {
        plim_say(who, "the recorder warns: %s", recorder);
    }
    if (ran->lacks_gpu) {
        plim_say(who, "this machine has no GPU for it: --gpu=NAME runs it over stand-ins for one");
    }
}

/* Techniques that the program ran without, or that changed nothing: a line each. */
static void say_techniques(const char *who, const plim_ran *ran)
{
    for (size_t i = 0; i < ran->technique_count; i++) {
        const plim_rehearsed_technique *const one = &ran->techniques[i];
        const bool is_refused = strcmp(one->state, "refused") == 0;
        const bool is_waiting = strcmp(one->state, "waiting") == 0;
        const char *const otherwise =
            is_waiting ? "no process of the program reported it" : "no reason was given";
        if (strcmp(one->state, "applied") != 0) {
            plim_say(who, "--with %s%s%s: %s: %s", one->name, one->value[0] != '\0' ? "=" : "",
                     one->value,
                     is_refused   ? "refused, the program ran without it"
                     : is_waiting ? "never came to it"
                                  : "no effect",
                     one->text != NULL ? one->text : otherwise);
        }
    }
}

static int run(const char *who, const run_arguments *arguments)
{
    /* With --json standard output is for the document. */
    static const int to_stderr[PLIM_LAUNCH_STREAMS] = { STDERR_FILENO, STDERR_FILENO };
    const plim_launch_options launch = { .outputs = arguments->asked.as_json ? to_stderr : NULL };
    plim_ran ran;
    plim_error err = { 0 };
    const plim_status status = plim_run_launch((const char *const *)arguments->asked.command,
                                               &arguments->how, &launch, &ran, &err);
    int answer = ran.exit_status;
    if (status != PLIM_OK) {
        plim_say(who, "%s", err.message);
    } else {
        plim_output_unwritten(who, &ran.launched);
        if (ran.main_process != NULL && strcmp(ran.main_process->ended, "stopped") == 0) {
            answer = PLIM_EXIT_FOUND; /* by --stop-on; the program may have ended with anything */
        }
        if (!arguments->how.is_quiet) {
            say_warnings(who, &ran);
            say_techniques(who, &ran);
        }
        show(who, arguments, &ran);
    }
    plim_ran_deinit(&ran);
    return answer;
}

int plim_cmd_run(int argc, char **argv)
{
    run_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    return run(argv[0], &arguments);
}
