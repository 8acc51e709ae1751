/*
 * cmd_diff.c - "what grew?"
 */
#include "base/error.h"
#include "cli/command.h"
#include "cli/diff_limits.h"
#include "cli/diff_pairs.h"
#include "cli/diffing.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/result.h"
#include "report/term/draw.h"

#include <stdio.h>
#include <string.h>

#define AT_BYTES 64u /* of the name of a moment */

typedef struct diff_arguments {
    plim_asked asked;
    plim_diff_view view;
    plim_diff_limits limits;
    const char *at;
    bool is_span; /* two moments were named: */
    char before_at[AT_BYTES];
    char after_at[AT_BYTES];
    plim_moment_choice before_choice;
    plim_moment_choice after_choice;
} diff_arguments;

/* --- arguments --- */

static void take_device(struct argp_state *state, void *arguments, char *text)
{
    plim_diff_view *const view = &((diff_arguments *)arguments)->view;
    view->device = (int32_t)plim_option_number(state, "device", text, -1, 65535);
    view->one_device = true;
}

static void take_category(struct argp_state *state, void *arguments, char *text)
{
    plim_diff_view *const view = &((diff_arguments *)arguments)->view;
    view->one_category = plim_category_find(text, &view->category);
    if (!view->one_category) {
        argp_error(state,
                   "--category takes parameters, gradients, optimizer_state, activations, "
                   "temporary, inputs or other, not \"%s\"",
                   text);
    }
}

static void take_fail_on(struct argp_state *state, void *arguments, char *text)
{
    plim_diff_limits_take(state, &((diff_arguments *)arguments)->limits, text);
}

/* "step:2..step:50", or one moment for both sides. */
static void take_at(struct argp_state *state, void *given, char *text)
{
    diff_arguments *const arguments = given;
    const char *const dots = strstr(text, "..");
    const char *const after = dots != NULL ? dots + 2 : text;
    const size_t length = dots != NULL ? (size_t)(dots - text) : strlen(text);
    if (length < AT_BYTES && strlen(after) < AT_BYTES) {
        snprintf(arguments->before_at, AT_BYTES, "%.*s", (int)length, text);
        snprintf(arguments->after_at, AT_BYTES, "%s", after);
    }
    if (!plim_moment_parse(arguments->before_at, &arguments->before_choice) ||
        !plim_moment_parse(arguments->after_at, &arguments->after_choice)) {
        argp_error(state,
                   "--at takes two moments, step:2..step:50, or one for both files; a moment is "
                   "peak, start, end, event:120, step:7, step:7:end, oom or oom:2, not \"%s\"",
                   text);
    }
    arguments->at = text;
    arguments->is_span = dots != NULL;
}

static const plim_option rows[] = {
    PLIM_TAKEN("at", "WHEN", take_at,
               "compare two moments, step:2..step:50; or both files at one: peak, start, end, "
               "event:120, step:7, step:7:end, oom:2"),
    PLIM_NUMBER("top", diff_arguments, view.top, 1, 1000000,
                "show the N lines that grew most (8), and half as many that shrank"),
    PLIM_TEXT("stack", "PATTERN", diff_arguments, view.stack,
              "only stacks with a frame whose function or file has PATTERN in it, as for inspect"),
    PLIM_TAKEN("category", "NAME", take_category,
               "only memory for this purpose: activations, gradients …"),
    PLIM_FLAG("full-paths", diff_arguments, view.full_paths, "do not shorten paths and C++ names"),
    PLIM_TAKEN("device", "N", take_device, "only GPU N (-1 is pinned host memory)"),
    PLIM_TAKEN("fail-on", "WHAT", take_fail_on,
               "exit with 1 where a figure grew by more: peak>+5%, end>+1GiB, reserved>+10%, "
               "growth>+1MiB/step, new>64MiB (in new code), at>+64MiB, separated by commas"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(rows, 0) };

static const char *const examples[] = {
    "plimsoll diff before.pickle after.pickle",
    "what grew, at which lines of your code, at the peak, per step and at the end",
    "plimsoll diff --at=step:2..step:50 snapshot.pickle",
    "what piles up within one run",
    "plimsoll diff runs/monday runs/tuesday",
    "two folders of ranks: which rank grew most, and where",
    "plimsoll diff --fail-on='peak>+5%,growth>+1MiB/step' main.pickle branch.pickle",
    "a check for continuous integration",
    NULL,
};

static void check(struct argp_state *state, void *given)
{
    const diff_arguments *const arguments = given;
    const size_t count = arguments->asked.file_count;
    if (count == 0 || count > 2) {
        argp_error(state, "which two? Give BEFORE and AFTER: two files, or two folders of ranks");
    }
    if (count == 1 && !arguments->is_span) {
        argp_error(state, "one file: which two moments of it? For example --at=step:2..step:50, or "
                          "give a second file");
    }
    if (count == 2 && strcmp(arguments->asked.files[0], "-") == 0 &&
        strcmp(arguments->asked.files[1], "-") == 0) {
        argp_error(state, "standard input can be one of the two, not both");
    }
}

static const plim_usage usage = {
    .arguments = "BEFORE AFTER",
    .purpose =
        "Says what grew between two recordings, between two moments of one, or between two folders "
        "of ranks: by line of code and by purpose, at the peak, at the end and per step. Code is "
        "found again where lines moved or functions were renamed. Nothing in a file is executed.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(diff_arguments, asked),
    .json = "print everything as JSON, document \"diff/1\"",
    .examples = examples,
    .closing = "Exit status: 0 fine, 1 --fail-on found something, 2 wrong usage, 3 a file could "
               "not be read, a bound could not be checked or the output not written.",
    .check = check,
};

/* --- the pairs --- */

static plim_status show_pair(const diff_arguments *arguments, plim_diffing *work, size_t index,
                             plim_page *page)
{
    plim_diff_parts parts = { 0 };
    const plim_status status = plim_diffing_show(work, index, &parts);
    if (status == PLIM_OK) {
        plim_diff_page(page, &arguments->view, &parts.diffed);
    }
    plim_diff_parts_deinit(&parts);
    return status;
}

/* All ranks, and the worst of them once more. */
static plim_status show_job(const diff_arguments *arguments, plim_diffing *work, plim_page *page,
                            plim_error *err)
{
    PLIM_TRY(plim_diffing_run(work, 0, err));
    PLIM_TRY(plim_diffing_gather(work, err));
    const plim_diff_job job = { work->pairs, work->count, work->ranks, work->rank_count };
    plim_diff_ranks_page(page, &arguments->view, &job);
    const size_t worst = plim_diffed_rank_worst(work->ranks, work->rank_count);
    if (worst != SIZE_MAX) {
        (void)show_pair(arguments, work, work->ranks[worst].pair, page);
    }
    return PLIM_OK;
}

static plim_status compare_all(const diff_arguments *arguments, const plim_diff_pairs *pairs,
                               plim_diffing *work, plim_page *page, plim_error *err)
{
    if (pairs->are_ranks) {
        PLIM_TRY(show_job(arguments, work, page, err));
    } else {
        (void)show_pair(arguments, work, 0, page);
    }
    return plim_diffing_gather(work, err);
}

/* --- results --- */

static int say_failures(const char *who, const plim_diffing *work)
{
    int status = PLIM_EXIT_OK;
    for (size_t i = 0; i < work->count; i++) {
        const plim_diffed_pair *const pair = &work->pairs[i];
        if (pair->status != PLIM_OK) {
            plim_reading_failed(who,
                                pair->failed_path != NULL ? pair->failed_path : pair->after_path,
                                &pair->error);
            status = PLIM_EXIT_FAILED;
        }
    }
    return status;
}

/* Prints what there is. Frees the page.
 *
 * err   what became of comparing all
 * read  files that failed were named: no more is said then of what failed for that reason */
static int print(const char *who, const diff_arguments *arguments, const plim_diffing *work,
                 plim_page *page, const plim_error *err, int read)
{
    plim_result result;
    if (err->status != PLIM_OK) {
        plim_page_deinit(page);
        if (read == PLIM_EXIT_OK) {
            plim_say(who, "%s", err->message);
        }
        return PLIM_EXIT_FAILED;
    }
    plim_result_begin(&result, who, stdout, &arguments->asked);
    result.has_page = read == PLIM_EXIT_OK || work->count > 1;
    if (result.has_document) {
        const plim_diff_job job = { work->pairs, work->count, work->ranks, work->rank_count };
        result.err.status = plim_diff_json_write(result.sink, &job, page, &result.err);
        result.is_said = read != PLIM_EXIT_OK;
    }
    return plim_result_end(&result, page);
}

static int compare(const char *who, const diff_arguments *arguments, const plim_diff_pairs *pairs)
{
    const bool is_at = arguments->at != NULL;
    const plim_diff_options options = {
        .before_at = is_at ? &arguments->before_choice : NULL,
        .after_at = is_at ? &arguments->after_choice : NULL,
    };
    plim_diffing work = { .pairs = pairs->items,
                          .count = pairs->count,
                          .options = &options,
                          .view = &arguments->view,
                          .before_at = is_at ? arguments->before_at : NULL,
                          .after_at = is_at ? arguments->after_at : NULL,
                          .wants_document = plim_result_wants_document(&arguments->asked) };
    plim_page page;
    plim_page_init(&page, NULL);
    plim_error err = { .offset = PLIM_NO_OFFSET };
    err.status = compare_all(arguments, pairs, &work, &page, &err);
    const int read = say_failures(who, &work);
    int status = print(who, arguments, &work, &page, &err, read);
    if (status == PLIM_EXIT_OK) {
        const plim_diff_job job = { work.pairs, work.count, work.ranks, work.rank_count };
        const int found = plim_diff_limits_check(who, &arguments->limits, &job);
        status = read != PLIM_EXIT_OK ? read : found;
    }
    plim_diffing_deinit(&work);
    return status;
}

int plim_cmd_diff(int argc, char **argv)
{
    diff_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    char *const *const files = arguments.asked.files;
    plim_diff_pairs pairs;
    plim_error err = { .offset = PLIM_NO_OFFSET };
    const plim_status found =
        plim_diff_pairs_init(&pairs, files[0], files[arguments.asked.file_count - 1], &err);
    if (found == PLIM_OK) {
        status = compare(argv[0], &arguments, &pairs);
    } else {
        plim_say(argv[0], "%s", err.message);
        status = found == PLIM_INVALID_ARGUMENT ? PLIM_EXIT_USAGE : PLIM_EXIT_FAILED;
    }
    plim_diff_pairs_deinit(&pairs);
    return status;
}
