/*
 * cmd_inspect.c - "where did the memory go?"
 */
#include "cli/command.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/result.h"
#include "report/json/documents.h"
#include "report/term/draw.h"

#include <stdio.h>

typedef struct inspect_arguments {
    plim_asked asked;
    plim_inspect_view view;
    plim_moment_choice at; /* where view.at is not NULL */
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

static void take_at(struct argp_state *state, void *arguments, char *text)
{
    inspect_arguments *const all = arguments;
    if (!plim_moment_parse(text, &all->at)) {
        argp_error(
            state,
            "--at: \"%s\" is no moment; say peak, start, end, event:120, step:7 (its highest "
            "moment), step:7:end, oom or oom:2",
            text);
    }
    all->view.at = text;
}

static const plim_option options[] = {
    PLIM_TAKEN("at", "MOMENT", take_at,
               "show this moment: peak, start, end, event:120, step:7 (its highest moment), "
               "step:7:end, oom:0 (when the first request failed)"),
    PLIM_FLAG("categories", inspect_arguments, view.categories,
              "show what the memory was for: parameters, gradients, activations, ..."),
    PLIM_FLAG("never-freed", inspect_arguments, view.never_freed,
              "list by stack what was allocated within the recording and never freed"),
    PLIM_TEXT("stack", "PATTERN", inspect_arguments, view.stack_pattern,
              "only stacks with a frame whose function or file has PATTERN in it, or as a whole "
              "where it has * or ?; \"gpt.py:50\" names a line"),
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
    "plimsoll inspect --never-freed --stack 'models/*.py' snapshot.pickle",
    "what your models allocated and never freed",
    "plimsoll inspect --at step:7:end --categories snapshot.pickle",
    "what was left after step 7, and what it is for",
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
               "written, or no device has the moment of --at.",
    .check = check,
};

static int print(const char *who, const inspect_arguments *arguments, const plim_files *files)
{
    plim_result result;
    plim_page page;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    result.has_page = files->failed_count < files->count; /* else why each failed was said */
    plim_page_init(&page, NULL);
    plim_inspect_page(&page, &arguments->view, files->items, files->count);
    if (result.has_document) {
        result.err.status = plim_inspect_json_write(result.sink, &arguments->view, files->items,
                                                    files->count, &page, &result.err);
    }
    return plim_result_end(&result, &page);
}

/* True if a device that is shown has the moment of --at, or there is no --at; else why not is
 * said. */
static bool has_moment(const char *who, const plim_inspect_view *view, const plim_files *files)
{
    const char *because = NULL;
    for (size_t i = 0; i < files->count; i++) {
        for (size_t k = 0; k < files->items[i].device_count; k++) {
            const plim_device_inspection *const device = files->items[i].devices[k];
            if (device->has_chosen && plim_inspect_shows(view, device)) {
                return true;
            }
            because = device->no_chosen_because != NULL ? device->no_chosen_because : because;
        }
    }
    if (view->at != NULL && because != NULL) {
        plim_say(who, "--at %s: %s", view->at, because);
    }
    return view->at == NULL || because == NULL;
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
    const plim_inspect_options chosen = {
        .at = arguments.view.at != NULL ? &arguments.at : NULL,
        .stack_pattern = arguments.view.stack_pattern,
        .with_categories = arguments.view.categories || plim_result_wants_document(&arguments.asked)
    };
    if (!plim_files_load(who, arguments.asked.files, arguments.asked.file_count, &chosen, &files)) {
        return PLIM_EXIT_FAILED;
    }
    status = print(who, &arguments, &files);
    if (!has_moment(who, &arguments.view, &files)) {
        status = PLIM_EXIT_FAILED;
    }
    if (status == PLIM_EXIT_OK && files.failed_count > 0) {
        status = PLIM_EXIT_FAILED;
    }
    plim_files_deinit(&files);
    return status;
}
