/*
 * cmd_inspect.c - "where did the memory go?"
 */
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/output.h"
#include "report/json/inspect_json.h"
#include "report/term/draw.h"

#include <argp.h>
#include <stdio.h>

typedef struct inspect_arguments {
    plim_inspect_view view;
    plim_color_choice color;
    uint32_t width;
    bool as_json;
    bool wants_help;
    bool wants_usage;
    char **paths;
    size_t path_count;
} inspect_arguments;

enum {
    OPTION_JSON = PLIM_OPTION_FIRST,
    OPTION_TOP,
    OPTION_DEVICE,
    OPTION_FRAMES,
    OPTION_ALL_FRAMES,
    OPTION_FULL_PATHS,
    OPTION_COLOR,
    OPTION_WIDTH,
};

static const struct argp_option options[] = {
    { "top", OPTION_TOP, "N", 0, "show the N largest groups of memory (8)", 0 },
    { "frames", OPTION_FRAMES, "N", 0,
      "show each stack apart, N frames of it around the innermost of your own code", 0 },
    { "all-frames", OPTION_ALL_FRAMES, NULL, 0, "show each stack apart and whole", 0 },
    { "full-paths", OPTION_FULL_PATHS, NULL, 0, "do not shorten paths and C++ names", 0 },
    { "device", OPTION_DEVICE, "N", 0, "only GPU N (-1 is pinned host memory)", 0 },
    { "json", OPTION_JSON, NULL, 0, "print everything as JSON, document \"inspect/1\"", 0 },
    { "color", OPTION_COLOR, "WHEN", 0,
      "auto (on terminals, unless NO_COLOR is set), always, never", 0 },
    { "width", OPTION_WIDTH, "N", 0, "columns to fill (the terminal's, at most 100; else 96)", 0 },
    { "help", PLIM_OPTION_HELP, NULL, 0, "print this", 0 },
    { "usage", PLIM_OPTION_USAGE, NULL, OPTION_HIDDEN, "print one line", 0 },
    { 0 },
};

static const char *const examples[] = {
    "plimsoll inspect snapshot.pickle",
    "the peak, what held it by line of your code, and why requests failed",
    "plimsoll inspect rank*.pickle",
    "one row for each rank, and how uneven they are",
    "plimsoll inspect --json snapshot.pickle | jq '.files[].devices[].peak.requested_bytes'",
    "a figure for a script",
    NULL,
};

static const plim_help inspect_help = {
    .arguments = "FILE...",
    .purpose =
        "Tells where GPU memory went, from snapshots that PyTorch's "
        "torch.cuda.memory._dump_snapshot() wrote (pickle or JSON) and from recordings of "
        "Plimsoll's own (.plim), plain, gzip or zstd; - is standard input. Nothing in a file is "
        "executed.",
    .options = options,
    .examples = examples,
    .closing = "Exit status: 0 fine, 2 wrong usage, 3 a file could not be read or the output not "
               "be written.",
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    inspect_arguments *arguments = state->input;
    switch (key) {
    case OPTION_TOP:
        arguments->view.top = (uint32_t)plim_argument_number(state, "top", text, 1, 1000000);
        break;
    case OPTION_FRAMES:
        arguments->view.frames = (uint32_t)plim_argument_number(state, "frames", text, 1, 1000000);
        break;
    case OPTION_ALL_FRAMES:
        arguments->view.frames = PLIM_INSPECT_FRAMES_ALL;
        break;
    case OPTION_FULL_PATHS:
        arguments->view.full_paths = true;
        break;
    case OPTION_DEVICE:
        arguments->view.device = (int32_t)plim_argument_number(state, "device", text, -1, 65535);
        arguments->view.one_device = true;
        break;
    case OPTION_JSON:
        arguments->as_json = true;
        break;
    case OPTION_COLOR:
        arguments->color = plim_argument_color(state, text);
        break;
    case OPTION_WIDTH:
        arguments->width = plim_argument_width(state, text);
        break;
    case PLIM_OPTION_HELP:
        arguments->wants_help = true;
        break;
    case PLIM_OPTION_USAGE:
        arguments->wants_usage = true;
        break;
    case ARGP_KEY_ARGS: /* argp has moved all files behind the options */
        arguments->paths = state->argv + state->next;
        arguments->path_count = (size_t)(state->argc - state->next);
        state->next = state->argc;
        break;
    case ARGP_KEY_NO_ARGS:
        if (!arguments->wants_help && !arguments->wants_usage) {
            argp_error(state, "which file? Give a snapshot, or - for standard input");
        }
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp inspect_argp = { .options = options, .parser = parse_option };

static int print(const char *who, const inspect_arguments *arguments, const plim_files *files)
{
    int status = PLIM_EXIT_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_inspect_page(&page, &arguments->view, files->items, files->count);
    if (arguments->as_json) {
        plim_error err = { 0 };
        const plim_status written =
            plim_inspect_json_write(NULL, plim_sink_to_file(stdout), &arguments->view, files->items,
                                    files->count, &page, &err);
        status = plim_output_document(who, written, &err);
    } else if (files->failed_count < files->count) {
        const plim_style style = plim_output_style(arguments->color, arguments->width);
        status = plim_output_draw(who, stdout, &style, &page);
    }
    plim_page_deinit(&page);
    return status;
}

int plim_cmd_inspect(int argc, char **argv)
{
    const char *who = argv[0];
    inspect_arguments arguments = { 0 };
    if (argp_parse(&inspect_argp, argc, argv, ARGP_NO_HELP, NULL, &arguments) != 0) {
        plim_say(who, "out of host memory while reading the arguments"); /* all else has exited */
        return PLIM_EXIT_FAILED;
    }
    if (arguments.wants_help || arguments.wants_usage) {
        return arguments.wants_help ? plim_help_print(who, &inspect_help)
                                    : plim_help_print_usage(who, &inspect_help);
    }
    plim_files files;
    if (!plim_files_load(who, arguments.paths, arguments.path_count, &files)) {
        return PLIM_EXIT_FAILED;
    }
    int status = print(who, &arguments, &files);
    if (status == PLIM_EXIT_OK && files.failed_count > 0) {
        status = PLIM_EXIT_FAILED;
    }
    plim_files_deinit(&files);
    return status;
}
