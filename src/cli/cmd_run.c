/*
 * cmd_run.c - "when it dies, it has said why": a program under the recorder.
 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/running.h"
#include "cli/simulating.h"
#include "cli/techniques.h"

#include "plimsoll/run.h"

#include <string.h>

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
        plim_simulated_check(state, standins);
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

int plim_cmd_run(int argc, char **argv)
{
    run_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    const plim_running_wanted wanted = { .asked = &arguments.asked,
                                         .view = arguments.view,
                                         .how = &arguments.how,
                                         .has_document = arguments.asked.as_json };
    return plim_running_program(argv[0], arguments.asked.command, &wanted);
}
