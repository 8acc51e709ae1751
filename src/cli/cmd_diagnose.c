/*
 * cmd_diagnose.c - "what happened, and what helps?"
 */
#include "base/error.h"
#include "cli/command.h"
#include "cli/diagnosing.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "report/term/draw.h"

#include <stdio.h>

typedef struct diagnose_arguments {
    plim_asked asked;
    plim_diagnose_view view;
    uint64_t capacity_bytes;
} diagnose_arguments;

static void take_device(struct argp_state *state, void *arguments, char *text)
{
    plim_diagnose_view *const view = &((diagnose_arguments *)arguments)->view;
    view->device = (int32_t)plim_option_number(state, "device", text, -1, 65535);
    view->one_device = true;
}

static const plim_option rows[] = {
    PLIM_FLAG("all", diagnose_arguments, view.all, "show all, not the first screen alone"),
    PLIM_FLAG("full-paths", diagnose_arguments, view.full_paths, "do not shorten paths"),
    PLIM_TAKEN("device", "N", take_device, "only GPU N (-1 is pinned host memory)"),
    PLIM_NUMBER("top", diagnose_arguments, view.top, 1, 1000000, "show N rows of a table (12)"),
    PLIM_SIZE("capacity", diagnose_arguments, capacity_bytes, "memory of the device"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(rows, 0) };

static const char *const examples[] = {
    "plimsoll diagnose snapshot.pickle",
    "the verdict, the evidence, the first fixes",
    NULL,
};

static void check(struct argp_state *state, void *arguments)
{
    if (((const diagnose_arguments *)arguments)->asked.file_count == 0) {
        argp_error(state, "which file? Give a snapshot, or - for standard input");
    }
}

static const plim_usage usage = {
    .arguments = "FILE...",
    .purpose = "Says what happened to GPU memory, from which evidence, and what helps how much.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(diagnose_arguments, asked),
    .json = "print everything as JSON, document \"diagnose/1\"",
    .examples = examples,
    .closing = "Exit status: 0 fine, 2 wrong usage, 3 a file could not be read or the output not "
               "written.",
    .check = check,
};

/* --- one file --- */

static plim_status load(const char *path, const plim_diagnose_options *options, plim_diagnosed *ret,
                        plim_error *err)
{
    *ret = (plim_diagnosed){ .path = path };
    PLIM_TRY(plim_reading_history(path, &ret->history, err));
    return plim_diagnose(ret->history, options, &ret->diagnosis, err);
}

static void unload(plim_diagnosed *file)
{
    plim_diagnosis_destroy(file->diagnosis);
    plim_history_destroy(file->history);
    *file = (plim_diagnosed){ 0 };
}

/* --- all --- */

/* One file in full: its page, and what the document says of it. */
static plim_status show(const diagnose_arguments *arguments, const plim_diagnose_options *options,
                        plim_diagnosing *work, size_t index, plim_page *page)
{
    plim_diagnosed file;
    plim_error *const err = &work->files[index].error;
    plim_status status = load(work->paths[index], options, &file, err);
    if (status == PLIM_OK) {
        plim_diagnose_page(page, &arguments->view, &file);
        status = plim_diagnosing_keep(work, index, &file, err);
    }
    unload(&file);
    return status;
}

/* Ranks of a job, and the worst of them once more, with what takes time. */
static plim_status show_job(const diagnose_arguments *arguments,
                            const plim_diagnose_options *options, plim_diagnosing *work,
                            plim_page *page, plim_error *err)
{
    PLIM_TRY(plim_diagnosing_run(work, 0, err));
    PLIM_TRY(plim_diagnosing_gather(work, err));
    plim_diagnose_ranks_page(page, &arguments->view, work->ranks, work->rank_count, work->paths);
    const size_t worst = plim_diagnosed_rank_worst(work->ranks, work->rank_count);
    if (worst != SIZE_MAX) {
        const size_t index = work->ranks[worst].file;
        work->files[index].status = show(arguments, options, work, index, page);
    }
    return PLIM_OK;
}

static plim_status diagnose_all(const diagnose_arguments *arguments, plim_diagnosing *work,
                                plim_page *page, plim_error *err)
{
    const plim_diagnose_options options = { .capacity_bytes = arguments->capacity_bytes };
    work->options = &options;
    PLIM_TRY(plim_diagnosing_init(work, err));
    if (work->count > 1) {
        PLIM_TRY(show_job(arguments, &options, work, page, err));
    } else {
        work->files[0].status = show(arguments, &options, work, 0, page);
    }
    PLIM_TRY(plim_diagnosing_gather(work, err));
    return arguments->asked.as_json
               ? plim_diagnose_json_write(plim_sink_to_file(stdout), work->files, work->count,
                                          work->ranks, work->rank_count, page, err)
               : PLIM_OK;
}

static void say_failures(const char *who, const plim_diagnosing *work)
{
    for (size_t i = 0; work->files != NULL && i < work->count; i++) {
        if (work->files[i].status != PLIM_OK) {
            plim_reading_failed(who, work->paths[i], &work->files[i].error);
        }
    }
}

int plim_cmd_diagnose(int argc, char **argv)
{
    const char *who = argv[0];
    diagnose_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    plim_diagnosing work = { .paths = arguments.asked.files,
                             .count = arguments.asked.file_count,
                             .as_json = arguments.asked.as_json };
    plim_page page;
    plim_page_init(&page, NULL);
    plim_error err = { .offset = PLIM_NO_OFFSET };
    const plim_status written = diagnose_all(&arguments, &work, &page, &err);
    say_failures(who, &work);
    status = plim_output_result(who, stdout, &arguments.asked, &page, written, &err);
    if (status == PLIM_EXIT_OK && work.failed_count > 0) {
        status = PLIM_EXIT_FAILED;
    }
    plim_diagnosing_deinit(&work);
    return status;
}
