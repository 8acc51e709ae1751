/*
 * cmd_diagnose.c - "what happened, and what helps?"
 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "report/json/documents.h"
#include "report/term/draw.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct diagnose_arguments {
    plim_asked asked;
    plim_diagnose_view view;
    uint64_t capacity_bytes;
} diagnose_arguments;

static const plim_option options[] = {
    PLIM_FLAG("all", diagnose_arguments, view.all, "show all, not the first screen alone"),
    PLIM_FLAG("full-paths", diagnose_arguments, view.full_paths, "do not shorten paths"),
    PLIM_SIZE("capacity", diagnose_arguments, capacity_bytes, "memory of the device"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

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

static int print(const char *who, const diagnose_arguments *arguments, plim_diagnosed *files,
                 size_t count)
{
    plim_error err = { 0 };
    plim_status written = PLIM_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_diagnose_page(&page, &arguments->view, files, count);
    if (arguments->asked.as_json) {
        written = plim_diagnose_json_write(plim_sink_to_file(stdout), files, count, &page, &err);
    }
    return plim_output_result(who, stdout, &arguments->asked, &page, written, &err);
}

int plim_cmd_diagnose(int argc, char **argv)
{
    const char *who = argv[0];
    diagnose_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    const size_t count = arguments.asked.file_count;
    plim_diagnosed *const files = calloc(count, sizeof *files);
    if (files == NULL) {
        plim_say(who, "out of host memory while listing files");
        return PLIM_EXIT_FAILED;
    }
    bool has_failed = false;
    const plim_diagnose_options chosen = { .capacity_bytes = arguments.capacity_bytes };
    for (size_t i = 0; i < count; i++) {
        files[i].path = arguments.asked.files[i];
        plim_history *history = NULL;
        plim_diagnosis *diagnosis = NULL;
        if (plim_reading_history(files[i].path, &history, &files[i].error) == PLIM_OK &&
            plim_diagnose(history, &chosen, &diagnosis, &files[i].error) == PLIM_OK) {
            files[i].history = history;
            files[i].diagnosis = diagnosis;
        } else {
            plim_reading_failed(who, files[i].path, &files[i].error);
            plim_history_destroy(history);
            has_failed = true;
        }
    }
    status = print(who, &arguments, files, count);
    for (size_t i = 0; i < count; i++) {
        plim_diagnosis_destroy(files[i].diagnosis);
        plim_history_destroy(files[i].history);
    }
    free(files);
    return status == PLIM_EXIT_OK && has_failed ? PLIM_EXIT_FAILED : status;
}
