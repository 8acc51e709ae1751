/*
 * cmd_fit.c - "what must I change so that it fits, and what does it cost?"
 */
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/result.h"
#include "cli/running.h"
#include "cli/simulating.h"
#include "cli/techniques.h"
#include "report/json/documents.h"

#include <stdlib.h>
#include <string.h>

#define ONLY_BYTES_MAX 4096u

typedef struct fit_arguments {
    plim_asked asked;
    plim_fit_options how;
    plim_text only;
    plim_text also;
    bool applies;
} fit_arguments;

/* ---- arguments ------------------------------------------------------------------------------- */

static void take_gpu(struct argp_state *state, void *arguments, char *text)
{
    fit_arguments *const self = arguments;
    (void)state;
    self->how.finds_gpu = strcmp(text, "any") == 0;
    self->how.rehearse.gpu = self->how.finds_gpu ? NULL : text;
}

static void take_margin(struct argp_state *state, void *arguments, char *text)
{
    plim_margin_take(state, &((fit_arguments *)arguments)->how.rehearse, text);
}

static void take_allow(struct argp_state *state, void *arguments, char *text)
{
    if (strcmp(text, "changed") != 0) {
        argp_error(state, "--allow takes changed, not \"%s\"", text);
    }
    ((fit_arguments *)arguments)->how.allows_changed = true;
}

static void take_find(struct argp_state *state, void *arguments, char *text)
{
    if (strcmp(text, "batch") != 0) {
        argp_error(state, "--find takes batch, not \"%s\"", text);
    }
    ((fit_arguments *)arguments)->how.finds_batch = true;
}

static void take_budget(struct argp_state *state, void *arguments, char *text)
{
    ((fit_arguments *)arguments)->how.budget_seconds = plim_option_seconds(state, "budget", text);
}

static void add_word(plim_text *lines, char separator, const char *word)
{
    if (lines->length == 0) {
        plim_text_init(lines, NULL, ONLY_BYTES_MAX);
    } else {
        plim_text_append_format(lines, "%c", separator);
    }
    plim_text_append(lines, word, strlen(word));
}

/* "checkpoint,accumulate=4": names alone or with values; check() looks at them. */
static void take_only(struct argp_state *state, void *arguments, char *text)
{
    fit_arguments *const self = arguments;
    char *rest = NULL;
    (void)state;
    for (const char *word = strtok_r(text, ", ", &rest); word != NULL;
         word = strtok_r(NULL, ", ", &rest)) {
        add_word(&self->only, '\n', word);
    }
    self->how.only = plim_text_string(&self->only);
}

/* "autocast=bf16 checkpoint": each must be of the table, and go with the others. */
static void take_also(struct argp_state *state, void *arguments, char *text)
{
    fit_arguments *const self = arguments;
    const size_t begin = self->also.length + (self->also.length > 0);
    char separator = '\n';
    char *rest = NULL;
    for (const char *word = strtok_r(text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        const plim_technique *row = NULL;
        plim_error err = { 0 };
        if (plim_technique_find(word, &row, &err) != PLIM_OK) {
            argp_error(state, "--also: %s", err.message);
        }
        if (separator == ' ') {
            plim_techniques_check(state, "also", plim_text_string(&self->also) + begin, word);
        }
        add_word(&self->also, separator, word);
        separator = ' ';
    }
    if (separator != ' ') {
        argp_error(state, "--also takes techniques with spaces between, not \"\"");
    }
    self->how.also = plim_text_string(&self->also);
}

static const plim_option options[] = {
    PLIM_TAKEN("gpu", "NAME", take_gpu,
               "the GPU to fit: rtx4090, a100-80gb …; any: the smallest that is enough (h100)"),
    PLIM_SIZE("capacity", fit_arguments, how.rehearse.capacity_bytes,
              "memory of the GPU, 12GiB (that of the GPU)"),
    PLIM_TAKEN("margin", "SIZE", take_margin, "keep so much of it free, 1GiB or 10% (0)"),
    PLIM_COUNT("steps", fit_arguments, how.rehearse.steps, 1, 1000000000,
               "optimizer steps of each rehearsal"),
    PLIM_TAKEN("allow", "WORD", take_allow,
               "changed: techniques that change the result are searched, too"),
    PLIM_SIZE("host-ram", fit_arguments, how.host_bytes,
              "memory of the host that may be used (this machine's)"),
    PLIM_TAKEN("budget", "TIME", take_budget, "end the search after 30s, 5min (when done)"),
    PLIM_TAKEN("only", "TECHNIQUES", take_only, "search in these alone: checkpoint,accumulate"),
    PLIM_TAKEN("also", "STACK", take_also,
               "rehearse this stack, too: 'autocast=bf16 checkpoint' (again for each)"),
    PLIM_TAKEN("find", "WORD", take_find,
               "batch: then the largest batch with that stack, of training and of evaluation"),
    PLIM_FLAG("table", fit_arguments, how.makes_table,
              "then what it needs on cards of 8, 12, 16, 24, 32, 48, 80 and 141 GB"),
    PLIM_TEXT("conf", "STRING", fit_arguments, how.rehearse.settings,
              "settings of the allocator: PYTORCH_CUDA_ALLOC_CONF"),
    PLIM_TEXT("python", "PATH", fit_arguments, how.rehearse.python,
              "the program's Python (found from the program)"),
    PLIM_FLAG("apply", fit_arguments, applies,
              "then start the program for real with the cheapest stack, as plimsoll run does"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll fit --gpu=rtx3060 -- python train.py",
    "the cheapest techniques with which it fits, and how to write them down",
    "plimsoll fit --gpu=any -- python train.py",
    "the smallest GPU that is enough",
    "plimsoll fit --find=batch --gpu=rtx4090 -- python train.py",
    "the largest batch, too",
    NULL,
};

static void check(struct argp_state *state, void *given)
{
    const fit_arguments *const arguments = given;
    plim_error err = { 0 };
    if (arguments->asked.file_count > 0) {
        argp_error(state, "put \"--\" before the program: -- %s", arguments->asked.files[0]);
    }
    if (arguments->asked.command == NULL || arguments->asked.command[0] == NULL) {
        argp_error(state, "which program? Give it after --");
    }
    if (arguments->how.finds_gpu &&
        (arguments->applies || arguments->how.rehearse.capacity_bytes > 0)) {
        argp_error(state, "--gpu=any looks for another GPU: leave out --capacity and --apply");
    }
    plim_simulated_check(state, &arguments->how.rehearse);
    if (plim_fit_check_only(&arguments->how, &err) == PLIM_INVALID_ARGUMENT) {
        argp_error(state, "--only: %s", err.message);
    }
}

static const plim_usage usage = {
    .arguments = "-- PROGRAM [ARG...]",
    .purpose = "Rehearses a PyTorch program without a GPU, and where it does not fit, with "
               "techniques switched on, alone and in stacks: prints what each saves and costs, and "
               "the cheapest stack that fits.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(fit_arguments, asked),
    .json = "print the document \"fit/1\"",
    .examples = examples,
    .closing = "Exit status: 0 a stack fits, or the program as it is; 1 nothing fits; 2 wrong "
               "usage; 3 it could not be rehearsed. With --apply, the program's own.",
    .takes_command = true,
    .check = check,
};

/* ---- the command itself ---------------------------------------------------------------------- */

static void show_progress(void *ctx, const plim_fit_trial *trial, size_t done, size_t expected)
{
    (void)trial;
    (void)plim_progress_bar_update(ctx, done, expected);
}

/* PyTorch reads one of these variables: the settings of the rehearsals are those of the run. */
static void export_settings(const char *settings)
{
    if (settings != NULL) {
        (void)unsetenv("PYTORCH_ALLOC_CONF");
        (void)unsetenv("PYTORCH_HIP_ALLOC_CONF");
        (void)setenv("PYTORCH_CUDA_ALLOC_CONF", settings, 1);
    }
}

/* Starts the program with the stack, as `plimsoll run --with` does; the exit status is the
 * program's. The page and the document are those of the search. */
static int apply(const char *who, const fit_arguments *arguments, const plim_fit_trial *stack)
{
    const plim_asked asked = { .color = arguments->asked.color, .width = arguments->asked.width };
    plim_text lines = { 0 };
    for (size_t i = 0; i < stack->use_count; i++) {
        if (strcmp(stack->uses[i].technique->name, "conf") != 0) {
            add_word(&lines, '\n', stack->uses[i].text);
        }
    }
    export_settings(stack->settings);
    const plim_run_choice how = { .techniques =
                                      lines.length > 0 ? plim_text_string(&lines) : NULL };
    const plim_running_wanted wanted = { .asked = &asked,
                                         .how = &how,
                                         .has_document = arguments->asked.as_json };
    (void)fflush(stdout); /* the page stands before what the program prints */
    const int status = plim_running_program(who, arguments->asked.command, &wanted);
    plim_text_deinit(&lines);
    return status;
}

static int status_of(const plim_fitted *fitted)
{
    return fitted->plain->answer == PLIM_FIT_UNKNOWN ? PLIM_EXIT_FAILED
           : fitted->cheapest != NULL                ? PLIM_EXIT_OK
                                                     : PLIM_EXIT_FOUND;
}

static int show(const char *who, const fit_arguments *arguments, const plim_fitted *fitted)
{
    const char *const *const argv = (const char *const *)arguments->asked.command;
    plim_result result;
    plim_page page;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    plim_page_init(&page, NULL);
    plim_fit_page(&page, argv, fitted);
    if (result.has_document) {
        result.err.status = plim_fit_json_write(result.sink, argv, fitted, &page, &result.err);
    }
    const int status = plim_result_end(&result, &page);
    return status == PLIM_EXIT_OK ? status_of(fitted) : status;
}

int plim_cmd_fit(int argc, char **argv)
{
    const char *const who = argv[0];
    fit_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    plim_progress_bar bar;
    plim_output_progress(&bar, "fitting", "rehearsals");
    arguments.how.tried = show_progress;
    arguments.how.tried_ctx = &bar;
    plim_fitted fitted = { 0 };
    plim_error err = { 0 };
    const plim_status found =
        plim_fit((const char *const *)arguments.asked.command, &arguments.how, &fitted, &err);
    plim_progress_bar_finish(&bar);
    if (found != PLIM_OK) {
        plim_say(who, "%s", err.message);
        return PLIM_EXIT_FAILED;
    }
    status = show(who, &arguments, &fitted);
    if (status == PLIM_EXIT_OK && arguments.applies) {
        status = apply(who, &arguments, fitted.cheapest);
    } else if (arguments.applies) {
        plim_say(who, "--apply: the program was not started");
    }
    plim_fitted_deinit(&fitted);
    return status;
}
