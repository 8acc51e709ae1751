/*
 * cmd_tune.c - "which settings would have saved it?"
 */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/replaying.h"
#include "cli/result.h"
#include "report/json/documents.h"

#include <string.h>

#define THREADS_MAX 1024

typedef struct tune_arguments {
    plim_replay_arguments common;
    plim_tune_view view;
    uint32_t threads; /* 0: all cores */
    bool only_given;
    bool has_all_policies;
    bool fails_on_unsaved;
} tune_arguments;

/* ---- arguments ------------------------------------------------------------------------------- */

static void take_budget(struct argp_state *state, void *arguments, char *text)
{
    ((tune_arguments *)arguments)->view.budget_s = plim_option_seconds(state, "budget", text);
}

static void take_fail_on(struct argp_state *state, void *arguments, char *text)
{
    if (strcmp(text, "unsaved") != 0) {
        argp_error(state, "--fail-on takes unsaved, not \"%s\"", text);
    }
    ((tune_arguments *)arguments)->fails_on_unsaved = true;
}

static const plim_option conf[] = {
    PLIM_TAKEN("conf", "STRING", plim_replay_take_conf,
               "also try these settings, as in PYTORCH_CUDA_ALLOC_CONF; may be repeated"),
};
static const plim_option candidates[] = {
    PLIM_FLAG("only", tune_arguments, only_given, "try only the settings of --conf"),
    PLIM_FLAG("policies", tune_arguments, has_all_policies,
              "also compare sketches of other allocators: naive, bfc, async, arena"),
};
static const plim_option options[] = {
    PLIM_TAKEN("budget", "TIME", take_budget, "end the search after 30s, 5min, 1h (when done)"),
    PLIM_NUMBER("threads", tune_arguments, threads, 1, THREADS_MAX,
                "replay on N cores at once (all)"),
    PLIM_NUMBER("top", tune_arguments, view.top, 1, 1000000, "show the N best (12)"),
    PLIM_TAKEN("fail-on", "WHAT", take_fail_on,
               "exit with 1 if no setting survives at the capacity (unsaved)"),
};
static const plim_option_group groups[] = {
    PLIM_OPTION_GROUP(conf, offsetof(tune_arguments, common)),
    PLIM_OPTION_GROUP(candidates, 0),
    PLIM_OPTION_GROUP(plim_replay_option_rows, offsetof(tune_arguments, common)),
    PLIM_OPTION_GROUP(options, 0),
};

static const char *const examples[] = {
    "plimsoll tune snapshot.pickle",
    "the settings under which the run would have survived, as a line to paste",
    "plimsoll tune --gpu=rtx4090 --budget=30s snapshot.pickle",
    "the same on another GPU, with what half a minute finds",
    "plimsoll tune --json snapshot.pickle | jq -r .best",
    "the best setting, for a script",
    NULL,
};

static void check(struct argp_state *state, void *given)
{
    const tune_arguments *const arguments = given;
    if (arguments->only_given && arguments->common.conf_count == 0) {
        argp_error(state, "--only needs a --conf to try");
    }
    plim_replay_arguments_check(state, &arguments->common);
}

static const plim_usage usage = {
    .arguments = "FILE",
    .purpose = "Searches the allocator's settings for those under which a recorded run needs the "
               "least memory: each is replayed on a simulated GPU, at the capacity that the run "
               "had and at the smallest that it survives with.",
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .asked = offsetof(tune_arguments, common.asked),
    .json = "print everything as JSON, document \"tune/1\"",
    .examples = examples,
    .closing = PLIM_REPLAY_CLOSING,
    .check = check,
};

/* ---- the search ------------------------------------------------------------------------------ */

static plim_status search(const tune_arguments *arguments, const plim_replaying *replaying,
                          plim_tuning **ret, plim_error *err)
{
    plim_progress_bar bar;
    plim_output_progress(&bar, "tuning", "runs");
    const plim_tune_options how = {
        .capacity_bytes = replaying->input.capacity_bytes,
        .is_capacity_bound = plim_replay_is_capacity_bound(&replaying->input),
        .total_bytes = plim_replaying_total_bytes(replaying),
        .confs = arguments->common.confs,
        .conf_count = arguments->common.conf_count,
        .only_given = arguments->only_given,
        .has_all_policies = arguments->has_all_policies,
        .threads = arguments->threads,
        .budget_s = arguments->view.budget_s,
        .costs = &arguments->common.costs,
        .progress = plim_progress_bar_update,
        .progress_ctx = &bar,
    };
    const plim_status status = plim_replay_tune(replaying->replay, &how, ret, err);
    plim_progress_bar_finish(&bar);
    return status;
}

static int print(const tune_arguments *arguments, const plim_replaying *replaying,
                 const plim_tuning *tuning)
{
    plim_result result;
    plim_page page;
    plim_result_begin(&result, replaying->who, stdout, &arguments->common.asked);
    plim_page_init(&page, NULL);
    plim_tune_page(&page, &arguments->view, &replaying->input, tuning);
    if (result.has_document) {
        result.err.status =
            plim_tune_json_write(result.sink, &replaying->input, tuning, &page, &result.err);
    }
    return plim_result_end(&result, &page);
}

static int tune(const tune_arguments *arguments, const plim_replaying *replaying)
{
    plim_tuning *tuning = NULL;
    plim_error err = { 0 };
    if (search(arguments, replaying, &tuning, &err) != PLIM_OK) {
        return plim_replaying_failed(replaying, &err);
    }
    int status = print(arguments, replaying, tuning);
    const bool is_unsaved = !tuning->rows[tuning->best].result.survives &&
                            !plim_replay_is_capacity_bound(&replaying->input);
    if (status == PLIM_EXIT_OK && arguments->fails_on_unsaved && is_unsaved) {
        status = PLIM_EXIT_FOUND;
    }
    plim_tuning_destroy(tuning);
    return status;
}

int plim_cmd_tune(int argc, char **argv)
{
    const char *who = argv[0];
    tune_arguments arguments = { .common = plim_replay_arguments_default() };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    plim_replaying replaying;
    status = plim_replaying_begin(who, &arguments.common, &replaying);
    if (status == PLIM_EXIT_OK) {
        status = tune(&arguments, &replaying);
    }
    plim_replaying_end(&replaying);
    return status;
}
