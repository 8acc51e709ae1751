/*
 * cmd_enable.c - "record every program of this environment": the recorder without a launcher.
 */
#include "cli/command.h"
#include "cli/enabling.h"

static const plim_option options[] = {
    PLIM_FLAG("status", plim_enable_asked, wants_status,
              "say whether it is enabled; change nothing"),
};
static const plim_option_group groups[] = {
    { .rows = plim_enabling_options, .count = PLIM_ENABLING_OPTION_COUNT, .offset = 0 },
    PLIM_OPTION_GROUP(options, 0),
};

static const char *const examples[] = {
    "plimsoll enable",
    "the environment that is active",
    "plimsoll enable --python=ComfyUI/venv/bin/python",
    "another one, by its Python",
    "plimsoll enable --status",
    "whether it is, and by which file",
    NULL,
};

static const plim_usage usage = {
    .arguments = "",
    .purpose =
        "Arms the recorder of \"plimsoll run\" for a Python environment: each of its programs "
        "that uses PyTorch is recorded without a launcher, and \"import plimsoll\" works in "
        "its notebooks. Writes one file into the environment's folder of packages, says which, "
        "and changes nothing else; \"plimsoll disable\" removes it.",
    .groups = groups,
    .group_count = 2,
    .asked = offsetof(plim_enable_asked, asked),
    .json = "print what was done as JSON, document \"enable/1\"",
    .examples = examples,
    .closing = "Exit status: 0 fine, 2 wrong usage, 3 the file may not or cannot be written: the "
               "message says why.",
    .check = plim_enabling_check,
};

int plim_cmd_enable(int argc, char **argv)
{
    const char *const who = argv[0];
    plim_enable_asked arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    return plim_enabling_run(who, arguments.wants_status ? PLIM_ENABLE_STATUS : PLIM_ENABLE_ON,
                             &arguments);
}
