/*
 * cmd_diagnose.c - "what happened, and what helps?"
 */
#include "base/error.h"
#include "cli/command.h"
#include "cli/diagnosing.h"
#include "cli/limits.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/result.h"
#include "cli/texts.h"
#include "report/github/annotations.h"
#include "report/term/draw.h"

#include "plimsoll/gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX 16u

typedef struct diagnose_arguments {
    plim_asked asked;
    plim_diagnose_view view;
    uint64_t capacity_bytes;
    const plim_gpu *gpu; /* or NULL */
    const char *rules;   /* path, or NULL */
    double budget_s;
    plim_limits limits;
    bool is_for_github;
    char *texts[TEXTS_MAX]; /* logs and messages that belong to the recording */
    size_t text_count;
} diagnose_arguments;

/* --- arguments --- */

static void take_device(struct argp_state *state, void *arguments, char *text)
{
    plim_diagnose_view *const view = &((diagnose_arguments *)arguments)->view;
    view->device = (int32_t)plim_option_number(state, "device", text, -1, 65535);
    view->one_device = true;
}

static void take_text(struct argp_state *state, void *given, char *text)
{
    diagnose_arguments *const arguments = given;
    if (arguments->text_count == TEXTS_MAX) {
        argp_error(state, "--log and --message: at most %u at once", TEXTS_MAX);
        return;
    }
    arguments->texts[arguments->text_count++] = text;
}

static void take_gpu(struct argp_state *state, void *arguments, char *text)
{
    plim_error err = { 0 };
    if (plim_gpu_find(text, &((diagnose_arguments *)arguments)->gpu, &err) != PLIM_OK) {
        argp_error(state, "--gpu: %s", err.message);
    }
}

static void take_budget(struct argp_state *state, void *arguments, char *text)
{
    ((diagnose_arguments *)arguments)->budget_s = strcmp(text, "0") == 0 || strcmp(text, "0s") == 0
                                                      ? 0
                                                      : plim_option_seconds(state, "budget", text);
}

static void take_fail_on(struct argp_state *state, void *arguments, char *text)
{
    plim_limits_take(state, &((diagnose_arguments *)arguments)->limits, text);
}

static void take_format(struct argp_state *state, void *arguments, char *text)
{
    const bool is_for_github = strcmp(text, "github") == 0;
    if (!is_for_github && strcmp(text, "text") != 0) {
        argp_error(state, "--format takes text or github, not \"%s\"", text);
    }
    ((diagnose_arguments *)arguments)->is_for_github = is_for_github;
}

static const plim_option rows[] = {
    PLIM_FLAG("all", diagnose_arguments, view.all,
              "show every finding, what memory was made of, where it was lost, and all advice"),
    PLIM_NUMBER("top", diagnose_arguments, view.top, 1, 1000000, "show N rows of a table (12)"),
    PLIM_FLAG("full-paths", diagnose_arguments, view.full_paths,
              "do not shorten paths and C++ names"),
    PLIM_TAKEN("device", "N", take_device, "only GPU N (-1 is pinned host memory)"),
    PLIM_TAKEN("log", "LOG", take_text,
               "what the program printed: its errors belong to the recording; may be repeated"),
    PLIM_TAKEN("message", "FILE", take_text, "the same, for the text of an error alone"),
    PLIM_SIZE("capacity", diagnose_arguments, capacity_bytes,
              "memory that the program may use, 24GiB (as the recording shows)"),
    PLIM_TAKEN("gpu", "NAME", take_gpu, "memory of a GPU of that name: h100, rtx4090, a100-80gb …"),
    PLIM_TEXT("rules", "FILE", diagnose_arguments, rules,
              "your own rules of what memory is for; see docs/formats/rules.md"),
    PLIM_TAKEN("budget", "TIME", take_budget,
               "try allocator settings for 2s, 1min; 0: do not (500ms for one file)"),
    PLIM_TAKEN("fail-on", "WHAT", take_fail_on,
               "exit with 1 on verdicts (any, leak, fragmented …) or bounds "
               "(fragmentation>20%, peak>20GiB, reserved>24GiB, growth>1MiB/step), separated by "
               "commas"),
    PLIM_TAKEN("format", "FORMAT", take_format,
               "text, or github: annotations at the lines of code, for a workflow"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(rows, 0) };

static const char *const examples[] = {
    "plimsoll diagnose snapshot.pickle",
    "the verdict, its evidence, the line of code, the first fixes",
    "plimsoll diagnose --log=train.log --gpu=h100 snapshot.pickle",
    "the same, with what the program printed when it failed",
    "plimsoll diagnose rank*.pickle",
    "one verdict for the job, and which rank is the worst",
    "plimsoll diagnose --fail-on='leak,fragmentation>20%' --format=github snapshot.pickle",
    "a check for continuous integration",
    NULL,
};

static void check(struct argp_state *state, void *given)
{
    const diagnose_arguments *const arguments = given;
    if (arguments->asked.file_count == 0) {
        argp_error(state, "which file? Give a snapshot, or - for standard input");
    }
    if (arguments->gpu != NULL && arguments->gpu->memory_bytes < arguments->capacity_bytes) {
        argp_error(state, "--capacity is a part of what --gpu has, and cannot be more");
    }
    if (arguments->is_for_github && arguments->asked.as_json) {
        argp_error(state, "--format=github and --json cannot be combined");
    }
}

static const plim_usage usage = {
    .arguments = "FILE...",
    .purpose =
        "Says what happened to GPU memory, from which evidence, and what helps how much: from "
        "PyTorch's snapshots and Plimsoll's recordings, plain or compressed; - is standard "
        "input. Several files are the ranks of one job. Nothing in a file is executed.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(diagnose_arguments, asked),
    .json = "print everything as JSON, document \"diagnose/1\"",
    .examples = examples,
    .closing = "Exit status: 0 fine, 1 --fail-on found something, 2 wrong usage, 3 a file could "
               "not be read or the output not written.",
    .check = check,
};

/* --- what belongs to the recording --- */

typedef struct diagnose_aids {
    plim_texts texts;
    plim_judgement *judgements;
    size_t judgement_count;
    plim_text rules;
} diagnose_aids;

static void free_aids(diagnose_aids *aids)
{
    free(aids->judgements);
    plim_texts_deinit(&aids->texts);
    plim_text_deinit(&aids->rules);
}

/* The judgements of all messages that are of memory. */
static bool gather_judgements(const char *who, diagnose_aids *aids)
{
    size_t count = 0;
    for (size_t i = 0; i < aids->texts.count; i++) {
        count += aids->texts.items[i].message_count;
    }
    aids->judgements = calloc(count > 0 ? count : 1, sizeof *aids->judgements);
    if (aids->judgements == NULL) {
        plim_say(who, "out of host memory while listing messages");
        return false;
    }
    for (size_t i = 0; i < aids->texts.count; i++) {
        for (size_t k = 0; k < aids->texts.items[i].message_count; k++) {
            const plim_judgement *const judgement = &aids->texts.items[i].messages[k]->judgement;
            if (judgement->verdict != PLIM_VERDICT_NOT_OOM) {
                aids->judgements[aids->judgement_count++] = *judgement;
            }
        }
    }
    return true;
}

static int read_aids(const char *who, const diagnose_arguments *arguments, diagnose_aids *aids)
{
    plim_error err = { .offset = PLIM_NO_OFFSET };
    if (arguments->rules != NULL &&
        plim_reading_text(arguments->rules, &aids->rules, &err) != PLIM_OK) {
        plim_reading_failed(who, arguments->rules, &err);
        return PLIM_EXIT_FAILED;
    }
    if (arguments->text_count == 0) {
        return PLIM_EXIT_OK;
    }
    const bool is_read = plim_texts_load(who, arguments->texts, arguments->text_count,
                                         (double)arguments->capacity_bytes, &aids->texts);
    return is_read && aids->texts.failed_count == 0 && gather_judgements(who, aids)
               ? PLIM_EXIT_OK
               : PLIM_EXIT_FAILED;
}

static plim_diagnose_options options_of(const diagnose_arguments *arguments,
                                        const diagnose_aids *aids)
{
    plim_diagnose_options options = { .capacity_bytes = arguments->capacity_bytes,
                                      .judgements = aids->judgements,
                                      .judgement_count = aids->judgement_count };
    if (arguments->gpu != NULL && arguments->capacity_bytes == 0) {
        options.capacity_bytes = plim_gpu_allocator_bytes(arguments->gpu);
        options.capacity_source = "gpu";
    }
    if (arguments->rules != NULL) {
        options.rules = plim_text_string(&aids->rules);
        options.rules_bytes = aids->rules.length;
    }
    return options;
}

/* --- the files --- */

/* One file in full: its page, and what the document says of it. */
static plim_status show(const diagnose_arguments *arguments, plim_diagnosing *work, size_t index,
                        plim_page *page)
{
    plim_diagnosed file;
    plim_error *const err = &work->files[index].error;
    plim_diagnose_options options = *work->options;
    options.budget_seconds = arguments->budget_s;
    plim_status status = plim_diagnosed_load(work->paths[index], &options, &file, err);
    if (status == PLIM_OK) {
        plim_diagnose_page(page, &arguments->view, &file);
        status = plim_diagnosing_keep(work, index, &file, err);
    }
    plim_diagnosed_unload(&file);
    return status;
}

/* Ranks of a job, and the worst of them once more, with what takes time. */
static plim_status show_job(const diagnose_arguments *arguments, plim_diagnosing *work,
                            plim_page *page, plim_error *err)
{
    PLIM_TRY(plim_diagnosing_run(work, 0, err));
    PLIM_TRY(plim_diagnosing_gather(work, err));
    plim_diagnose_ranks_page(page, &arguments->view, work->ranks, work->rank_count, work->paths);
    const size_t worst = plim_diagnosed_rank_worst(work->ranks, work->rank_count);
    if (worst != SIZE_MAX) {
        const size_t index = work->ranks[worst].file;
        work->files[index].status = show(arguments, work, index, page);
    }
    return PLIM_OK;
}

static plim_status diagnose_all(const diagnose_arguments *arguments, plim_diagnosing *work,
                                plim_page *page, plim_error *err)
{
    PLIM_TRY(plim_diagnosing_init(work, err));
    if (work->count > 1) {
        PLIM_TRY(show_job(arguments, work, page, err));
    } else {
        work->files[0].status = show(arguments, work, 0, page);
    }
    return plim_diagnosing_gather(work, err);
}

/* --- results --- */

/* Returns PLIM_EXIT_USAGE where a user's rules are wrong, which every file would repeat. */
static int say_failures(const char *who, const diagnose_arguments *arguments,
                        const plim_diagnosing *work)
{
    int status = PLIM_EXIT_OK;
    for (size_t i = 0; work->files != NULL && i < work->count; i++) {
        const plim_diagnosed_file *const file = &work->files[i];
        if (file->status == PLIM_INVALID_ARGUMENT && arguments->rules != NULL) {
            plim_say(who, "--rules %s, line %" PRIu64 ": %s", arguments->rules, file->error.offset,
                     file->error.message);
            return PLIM_EXIT_USAGE;
        }
        if (file->status != PLIM_OK) {
            plim_reading_failed(who, work->paths[i], &file->error);
            status = PLIM_EXIT_FAILED;
        }
    }
    return status;
}

static int print_annotations(const char *who, const plim_diagnosing *work)
{
    for (size_t i = 0; i < work->count; i++) {
        const plim_text *const text = &work->files[i].annotations;
        fwrite(plim_text_string(text), 1, text->length, stdout);
    }
    return plim_output_finish(who);
}

/* Prints what there is. Frees the page.
 *
 * err   what became of diagnosing all
 * said  files that failed were named: no more is said then of what failed for that reason */
static int print(const char *who, const diagnose_arguments *arguments, const plim_diagnosing *work,
                 plim_page *page, const plim_error *err, bool said)
{
    plim_result result;
    if (err->status != PLIM_OK) {
        plim_page_deinit(page);
        if (!said) {
            plim_say(who, "%s", err->message);
        }
        return PLIM_EXIT_FAILED;
    }
    const int annotated = arguments->is_for_github ? print_annotations(who, work) : PLIM_EXIT_OK;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    result.has_page = !said || work->count > 1;
    result.prints_page = result.prints_page && !arguments->is_for_github;
    if (result.has_document) {
        const plim_diagnosed_job job = { work->files, work->count, work->ranks, work->rank_count };
        result.err.status = plim_diagnose_json_write(result.sink, &job, page, &result.err);
        result.is_said = said;
    }
    const int status = plim_result_end(&result, page);
    return annotated != PLIM_EXIT_OK ? annotated : status;
}

static int diagnose(const char *who, const diagnose_arguments *arguments, const diagnose_aids *aids)
{
    const plim_diagnose_options options = options_of(arguments, aids);
    plim_diagnosing work = { .paths = arguments->asked.files,
                             .count = arguments->asked.file_count,
                             .options = &options,
                             .wants_document = plim_result_wants_document(&arguments->asked),
                             .is_for_github = arguments->is_for_github };
    plim_page page;
    plim_page_init(&page, NULL);
    plim_error err = { .offset = PLIM_NO_OFFSET };
    err.status = diagnose_all(arguments, &work, &page, &err);
    const int read = say_failures(who, arguments, &work);
    int status = print(who, arguments, &work, &page, &err, read != PLIM_EXIT_OK);
    const bool is_exceeded =
        plim_limits_exceeded(who, &arguments->limits, work.ranks, work.rank_count, work.paths);
    if (status == PLIM_EXIT_OK) {
        status = read != PLIM_EXIT_OK ? read : is_exceeded ? PLIM_EXIT_FOUND : PLIM_EXIT_OK;
    }
    plim_diagnosing_deinit(&work);
    return status;
}

int plim_cmd_diagnose(int argc, char **argv)
{
    diagnose_arguments arguments = { .budget_s = PLIM_DIAGNOSE_BUDGET_S };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    diagnose_aids aids = { 0 };
    status = read_aids(argv[0], &arguments, &aids);
    if (status == PLIM_EXIT_OK) {
        status = diagnose(argv[0], &arguments, &aids);
    }
    free_aids(&aids);
    return status;
}
