/*
 * cmd_replay.c - "what if the allocator had been set otherwise?"
 */
#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/replaying.h"
#include "cli/result.h"
#include "report/json/documents.h"

#include "plimsoll/load.h"

#include <stdlib.h>
#include <string.h>

typedef struct replay_arguments {
    plim_replay_arguments common;
    const char *predicted_path; /* FILE.plim or FILE.pickle, or NULL */
    bool shows_fidelity_whole;
    bool is_quick; /* does not search for what each conf needs */
    bool fails_on_oom;
    bool fails_on_difference;
} replay_arguments;

/* ---- arguments ------------------------------------------------------------------------------- */

static void take_output(struct argp_state *state, void *arguments, char *text)
{
    if (!plim_history_can_save(text)) {
        argp_error(state, "--output takes FILE.plim or FILE.pickle, not \"%s\"", text);
    }
    ((replay_arguments *)arguments)->predicted_path = text;
}

static void take_fail_on(struct argp_state *state, void *given, char *text)
{
    replay_arguments *const arguments = given;
    if (strcmp(text, "oom") == 0) {
        arguments->fails_on_oom = true;
    } else if (strcmp(text, "difference") == 0) {
        arguments->fails_on_difference = true;
    } else {
        argp_error(state, "--fail-on takes oom or difference, not \"%s\"", text);
    }
}

static const plim_option conf[] = {
    PLIM_TAKEN(
        "conf", "STRING", plim_replay_take_conf,
        "also run under these settings, as in PYTORCH_CUDA_ALLOC_CONF, or a sketch of another "
        "allocator: naive, bfc, async, arena; may be repeated"),
};
static const plim_option options[] = {
    PLIM_FLAG("verify", replay_arguments, shows_fidelity_whole,
              "print in full how recording and replay differ"),
    PLIM_FLAG("quick", replay_arguments, is_quick,
              "do not search for the smallest capacity each needs"),
    { .name = "output",
      .argument = "FILE",
      .purpose = "write the predicted history: FILE.plim, or FILE.pickle as PyTorch does",
      .kind = PLIM_OPTION_TAKEN,
      .take = take_output,
      .letter = 'o' },
    PLIM_TAKEN("fail-on", "WHAT", take_fail_on,
               "exit with 1 if memory runs out under a --conf (oom), or if recording and replay "
               "differ (difference)"),
};
static const plim_option_group groups[] = {
    PLIM_OPTION_GROUP(conf, offsetof(replay_arguments, common)),
    PLIM_OPTION_GROUP(plim_replay_option_rows, offsetof(replay_arguments, common)),
    PLIM_OPTION_GROUP(options, 0),
};

static const char *const examples[] = {
    "plimsoll replay --conf=expandable_segments:True snapshot.pickle",
    "whether that setting would have saved the run, and what it would have reserved",
    "plimsoll replay --gpu=rtx4090 --scale=activations=2 snapshot.pickle",
    "the same run with twice the activations, on another GPU",
    "plimsoll replay --conf=max_split_size_mb:128 -o predicted.pickle snapshot.pickle",
    "the history as it would have been, for plimsoll inspect and for PyTorch's viewer",
    NULL,
};

static void check(struct argp_state *state, void *given)
{
    const replay_arguments *const arguments = given;
    if (arguments->predicted_path != NULL && arguments->common.conf_count > 1) {
        argp_error(state, "--output writes the history of one --conf: give only one");
    }
    plim_replay_arguments_check(state, &arguments->common);
}

static const plim_usage usage = {
    .arguments = "FILE",
    .purpose = "Runs a recording's requests again, through the allocator on a simulated GPU, and "
               "shows the effect of other settings. First it replays the recording under its "
               "own settings and says how well that agrees.",
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .asked = offsetof(replay_arguments, common.asked),
    .json = "print everything as JSON, document \"replay/1\"",
    .examples = examples,
    .closing = PLIM_REPLAY_CLOSING,
    .check = check,
};

/* ---- running --------------------------------------------------------------------------------- */

/* The recorded settings, and each that was requested. */
typedef struct runs {
    plim_tuning *tuning;
    plim_replay_row *rows;
    size_t count;
} runs;

static void runs_deinit(runs *self)
{
    free(self->rows);
    plim_tuning_destroy(self->tuning);
}

static plim_status compare(const plim_replaying *replaying, bool is_quick, runs *self,
                           plim_error *err)
{
    plim_progress_bar bar;
    plim_output_progress(&bar, "replaying", "runs");
    const plim_tune_options how = {
        .capacity_bytes = replaying->input.capacity_bytes,
        .total_bytes = plim_replaying_total_bytes(replaying),
        .confs = replaying->arguments->confs,
        .conf_count = replaying->arguments->conf_count,
        .costs = &replaying->arguments->costs,
        .progress = plim_progress_bar_update,
        .progress_ctx = &bar,
    };
    const plim_status status =
        plim_replay_compare(replaying->replay, &how, is_quick, &self->tuning, err);
    plim_progress_bar_finish(&bar);
    PLIM_TRY(status);
    self->rows = calloc(self->tuning->row_count, sizeof *self->rows);
    if (self->rows == NULL) {
        return plim_fail_memory(err, "listing settings");
    }
    for (; self->count < self->tuning->row_count; self->count++) {
        const plim_tune_row *found = &self->tuning->rows[self->count];
        plim_replay_row *row = &self->rows[self->count];
        *row = plim_tune_row_of(self->tuning, self->count);
        row->result = found->results == NULL
                          ? NULL
                          : plim_replay_worst(found->results, replaying->input.device_count);
        row->is_winner = false;
    }
    return PLIM_OK;
}

/* ---- what comes of it ------------------------------------------------------------------------ */

static plim_status save_predicted(const plim_replaying *replaying, const runs *self,
                                  const char *path, plim_error *err)
{
    plim_progress_bar bar;
    plim_output_progress(&bar, "predicting", "events");
    const plim_run_options how = plim_replaying_run_options(replaying, &bar);
    plim_history *history = NULL;
    plim_status status = plim_replay_predict(replaying->replay, self->rows[self->count - 1].conf,
                                             &how, &history, err);
    plim_progress_bar_finish(&bar);
    if (status == PLIM_OK) {
        status = plim_history_save(history, path, err);
    }
    plim_history_destroy(history);
    return status;
}

static int print(const replay_arguments *arguments, const plim_replaying *replaying,
                 const runs *self)
{
    const plim_replay_view view = {
        .shows_fidelity_whole = arguments->shows_fidelity_whole,
        .predicted_path = arguments->predicted_path,
    };
    const plim_replay_rows rows = { .items = self->rows,
                                    .count = self->count,
                                    .asked = self->count > 1 ? 1 : 0 };
    plim_result result;
    plim_page page;
    plim_result_begin(&result, replaying->who, stdout, &arguments->common.asked);
    plim_page_init(&page, NULL);
    plim_replay_page(&page, &view, &replaying->input, rows.items, rows.count);
    if (result.has_document) {
        result.err.status =
            plim_replay_json_write(result.sink, &replaying->input, &rows, &page, &result.err);
    }
    return plim_result_end(&result, &page);
}

/* Of those requested; of the recorded settings where nothing else was. */
static bool has_found(const replay_arguments *arguments, const plim_replaying *replaying,
                      const runs *self)
{
    bool found = false;
    const bool may_find =
        arguments->fails_on_oom && !plim_replay_is_capacity_bound(&replaying->input);
    for (size_t i = self->count > 1 ? 1 : 0; i < self->count; i++) {
        const plim_run_result *result = self->rows[i].result;
        found = found || (may_find && (result == NULL || !result->survives));
    }
    const plim_fidelity all = plim_replay_fidelity_of_all(&replaying->input);
    return found || (arguments->fails_on_difference && !plim_replay_is_exact(&all));
}

static int replay(const replay_arguments *arguments, const plim_replaying *replaying, runs *self)
{
    plim_error err = { 0 };
    plim_status status = compare(replaying, arguments->is_quick, self, &err);
    if (status == PLIM_OK && arguments->predicted_path != NULL) {
        status = save_predicted(replaying, self, arguments->predicted_path, &err);
    }
    if (status != PLIM_OK) {
        return plim_replaying_failed(replaying, &err);
    }
    const int printed = print(arguments, replaying, self);
    if (printed == PLIM_EXIT_OK && has_found(arguments, replaying, self)) {
        return PLIM_EXIT_FOUND;
    }
    return printed;
}

int plim_cmd_replay(int argc, char **argv)
{
    const char *who = argv[0];
    replay_arguments arguments = { .common = plim_replay_arguments_default() };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    plim_replaying replaying;
    runs all = { 0 };
    status = plim_replaying_begin(who, &arguments.common, &replaying);
    if (status == PLIM_EXIT_OK) {
        status = replay(&arguments, &replaying, &all);
    }
    runs_deinit(&all);
    plim_replaying_end(&replaying);
    return status;
}
