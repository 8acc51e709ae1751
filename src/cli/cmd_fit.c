/*
 * cmd_fit.c - "what must I change so that it fits, and what does it cost?"
 */
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/result.h"
#include "report/json/documents.h"

#include "plimsoll/run.h"

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
    const plim_gpu *gpu = NULL;
    plim_error err = { 0 };
    self->how.finds_gpu = strcmp(text, "any") == 0;
    if (!self->how.finds_gpu && plim_gpu_find(text, &gpu, &err) == PLIM_INVALID_ARGUMENT) {
        argp_error(state, "--gpu: %s (plimsoll rehearse --list-gpus lists them)", err.message);
    }
    self->how.rehearse.gpu = self->how.finds_gpu ? NULL : text;
}

static void take_allow(struct argp_state *state, void *arguments, char *text)
{
    if (strcmp(text, "changed") != 0) {
        argp_error(state, "--allow takes changed, not \"%s\"", text);
    }
    ((fit_arguments *)arguments)->how.allows_changed = true;
}

static void take_budget(struct argp_state *state, void *arguments, char *text)
{
    ((fit_arguments *)arguments)->how.budget_seconds = plim_option_seconds(state, "budget", text);
}

/* "checkpoint,accumulate=4": names alone or with values. */
static void take_only(struct argp_state *state, void *arguments, char *text)
{
    fit_arguments *const self = arguments;
    char *rest = NULL;
    plim_text_init(&self->only, NULL, ONLY_BYTES_MAX);
    for (const char *word = strtok_r(text, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        bool is_known = false;
        for (size_t i = 0; i < plim_technique_count(); i++) {
            const char *const name = plim_technique_at(i)->name;
            is_known = is_known || strncmp(name, word, strcspn(word, "=")) == 0;
        }
        if (!is_known) {
            argp_error(state, "--only: there is no technique \"%s\"", word);
        }
        plim_text_append_format(&self->only, "%s%s", self->only.length > 0 ? "\n" : "", word);
    }
    self->how.only = plim_text_string(&self->only);
}

/* "autocast=bf16 checkpoint": each must be of the table. */
static void take_also(struct argp_state *state, void *arguments, char *text)
{
    fit_arguments *const self = arguments;
    if (self->also.length == 0) {
        plim_text_init(&self->also, NULL, ONLY_BYTES_MAX);
    }
    const char *separator = self->also.length > 0 ? "\n" : "";
    char *rest = NULL;
    for (const char *word = strtok_r(text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        const plim_technique *row = NULL;
        plim_error err = { 0 };
        if (plim_technique_find(word, &row, &err) != PLIM_OK) {
            argp_error(state, "--also: %s", err.message);
        }
        plim_text_append_format(&self->also, "%s%s", separator, word);
        separator = " ";
    }
    self->how.also = plim_text_string(&self->also);
}

static const plim_option options[] = {
    PLIM_TAKEN("gpu", "NAME", take_gpu,
               "the GPU to fit: rtx4090, a100-80gb …; any: the smallest that is enough (h100)"),
    PLIM_SIZE("capacity", fit_arguments, how.rehearse.capacity_bytes,
              "memory of the GPU, 12GiB (that of the GPU)"),
    PLIM_SIZE("margin", fit_arguments, how.rehearse.margin_bytes, "keep so much of it free, 1GiB"),
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
    NULL,
};

static void check(struct argp_state *state, void *given)
{
    const fit_arguments *const arguments = given;
    if (arguments->asked.file_count > 0) {
        argp_error(state, "put \"--\" before the program: -- %s", arguments->asked.files[0]);
    }
    if (arguments->asked.command == NULL || arguments->asked.command[0] == NULL) {
        argp_error(state, "which program? Give it after --");
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

/* Starts the program with the stack, through run's own path; the exit status is the program's. */
static int apply(const char *who, const fit_arguments *arguments, const plim_fit_trial *stack)
{
    plim_text lines;
    plim_ran ran;
    plim_error err = { 0 };
    plim_text_init(&lines, NULL, ONLY_BYTES_MAX);
    for (size_t i = 0; i < stack->use_count; i++) {
        const char *const text = stack->uses[i].text;
        if (strcmp(stack->uses[i].technique->name, "conf") == 0) { /* PyTorch's own, not a switch */
            (void)setenv("PYTORCH_CUDA_ALLOC_CONF",
                         stack->settings != NULL ? stack->settings : plim_technique_value(text), 1);
            continue;
        }
        plim_text_append_format(&lines, "%s%s", lines.length > 0 ? "\n" : "", text);
    }
    const plim_run_choice how = { .techniques =
                                      lines.length > 0 ? plim_text_string(&lines) : NULL };
    const plim_status status =
        plim_run_launch((const char *const *)arguments->asked.command, &how, NULL, &ran, &err);
    const int answer = ran.exit_status;
    if (status != PLIM_OK) {
        plim_say(who, "%s", err.message);
    }
    plim_ran_deinit(&ran);
    plim_text_deinit(&lines);
    return answer;
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
    const int answer = fitted->cheapest != NULL ? PLIM_EXIT_OK : PLIM_EXIT_FOUND;
    return status == PLIM_EXIT_OK ? answer : status;
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
    }
    plim_fitted_deinit(&fitted);
    return status;
}
