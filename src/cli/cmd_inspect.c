/*
 * cmd_inspect.c - "where did the memory go?"
 */
#include "cli/command.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/output.h"
#include "report/json/documents.h"
#include "report/term/draw.h"

#include <stdio.h>

typedef struct inspect_arguments {
    plim_asked asked;
    plim_inspect_view view;
} inspect_arguments;

static void take_device(struct argp_state *state, void *arguments, char *text)
{
    plim_inspect_view *const view = &((inspect_arguments *)arguments)->view;
    view->device = (int32_t)plim_option_number(state, "device", text, -1, 65535);
    view->one_device = true;
}

static void take_all_frames(struct argp_state *state, void *arguments, char *text)
{
    (void)state;
    (void)text;
    ((inspect_arguments *)arguments)->view.frames = PLIM_INSPECT_FRAMES_ALL;
}

static const plim_option options[] = {
    PLIM_NUMBER("top", inspect_arguments, view.top, 1, 1000000,
                "show the N largest groups of memory (8)"),
    PLIM_NUMBER("frames", inspect_arguments, view.frames, 1, 1000000,
                "show each stack separately, with N frames around the innermost of your own code"),
    PLIM_TAKEN("all-frames", NULL, take_all_frames, "show each stack separately and in full"),
    PLIM_FLAG("full-paths", inspect_arguments, view.full_paths,
              "do not shorten paths and C++ names"),
    PLIM_TAKEN("device", "N", take_device, "only GPU N (-1 is pinned host memory)"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll inspect snapshot.pickle",
    "the peak, what held it by line of your code, and why requests failed",
    "plimsoll inspect rank*.pickle",
    "one row for each rank, and how uneven they are",
    "plimsoll inspect --json snapshot.pickle | jq '.files[].devices[].peak.requested_bytes'",
    "a figure for a script",
    NULL,
};

static void check(struct argp_state *state, void *arguments)
{
    if (((const inspect_arguments *)arguments)->asked.file_count == 0) {
        argp_error(state, "which file? Give a snapshot, or - for standard input");
    }
}

static const plim_usage usage = {
    .arguments = "FILE...",
    .purpose =
        "Shows where GPU memory went, from PyTorch's snapshots "
        "(torch.cuda.memory._dump_snapshot(), pickle or JSON) and Plimsoll's recordings (.plim), "
        "plain or compressed; - is standard input. Nothing in a file is executed.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(inspect_arguments, asked),
    .json = "print everything as JSON, document \"inspect/1\"",
    .examples = examples,
    .closing = "Exit status: 0 fine, 2 wrong usage, 3 a file could not be read or the output not "
               "written.",
    .check = check,
};

static int print(const char *who, const inspect_arguments *arguments, const plim_files *files)
{
    if (!arguments->asked.as_json && files->failed_count == files->count) {
        return PLIM_EXIT_OK; /* why each failed was said */
    }
    plim_error err = { 0 };
    plim_status written = PLIM_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_inspect_page(&page, &arguments->view, files->items, files->count);
    if (arguments->asked.as_json) {
        written = plim_inspect_json_write(plim_sink_to_file(stdout), &arguments->view, files->items,
                                          files->count, &page, &err);
    }
    return plim_output_result(who, stdout, &arguments->asked, &page, written, &err);
}

int plim_cmd_inspect(int argc, char **argv)
{
    const char *who = argv[0];
    inspect_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    plim_files files;
    if (!plim_files_load(who, arguments.asked.files, arguments.asked.file_count, &files)) {
        return PLIM_EXIT_FAILED;
    }
    status = print(who, &arguments, &files);
    if (status == PLIM_EXIT_OK && files.failed_count > 0) {
        status = PLIM_EXIT_FAILED;
    }
    plim_files_deinit(&files);
    return status;
}
