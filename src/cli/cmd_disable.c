/*
 * cmd_disable.c - undoes `enable`.
 */
#include "cli/command.h"
#include "cli/enabling.h"

static const plim_option_group groups[] = {
    { .rows = plim_enabling_options, .count = PLIM_ENABLING_OPTION_COUNT, .offset = 0 },
};

static const char *const examples[] = {
    "plimsoll disable",
    "the environment that is active, and your own packages",
    "plimsoll disable --python=ComfyUI/venv/bin/python",
    "another one, by its Python",
    NULL,
};

static const plim_usage usage = {
    .arguments = "",
    .purpose = "Undoes \"plimsoll enable\": removes the file that it wrote into the environment's "
               "folder of packages and into your own, and says which. What was recorded stays.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(plim_enable_asked, asked),
    .json = "print what was done as JSON, document \"enable/1\"",
    .examples = examples,
    .closing = "Exit status: 0 fine, also where nothing was enabled; 2 wrong usage, 3 the file "
               "cannot be removed.",
    .check = plim_enabling_check,
};

int plim_cmd_disable(int argc, char **argv)
{
    const char *const who = argv[0];
    plim_enable_asked arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    return plim_enabling_run(who, PLIM_ENABLE_OFF, &arguments);
}
