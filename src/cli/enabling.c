/*
 * enabling.c - `enable` and `disable`, as far as they are the same. See enabling.h.
 */
#include "cli/enabling.h"

#include "cli/command.h"
#include "cli/output.h"
#include "cli/result.h"
#include "report/json/documents.h"
#include "report/model/enable.h"

#include <stdio.h>

const plim_option plim_enabling_options[] = {
    PLIM_TEXT("python", "PATH", plim_enable_asked, python,
              "the Python of the environment (python3, or python, in PATH)"),
    PLIM_FLAG("user", plim_enable_asked, for_user,
              "the folder of your own packages in place of the environment's"),
};
_Static_assert(sizeof plim_enabling_options / sizeof plim_enabling_options[0] ==
                   PLIM_ENABLING_OPTION_COUNT,
               "the count in enabling.h");

void plim_enabling_check(struct argp_state *state, void *arguments)
{
    const plim_enable_asked *const self = arguments;
    if (self->asked.file_count > 0) {
        argp_error(state, "which environment is said by --python=PATH, not by \"%s\"",
                   self->asked.files[0]);
    }
}

static int print(const char *who, plim_enable_action action, const plim_enable_asked *arguments,
                 const plim_enabled *enabled)
{
    plim_result result;
    plim_page page;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    plim_page_init(&page, NULL);
    plim_enable_page(&page, action, enabled);
    if (result.has_document) {
        result.err.status = plim_enable_json_write(result.sink, enabled, &page, &result.err);
    }
    const int status = plim_result_end(&result, &page);
    return status == PLIM_EXIT_OK && enabled->refused != NULL ? PLIM_EXIT_FAILED : status;
}

int plim_enabling_run(const char *who, plim_enable_action action,
                      const plim_enable_asked *arguments)
{
    const plim_enable_choice choice = { .python = arguments->python,
                                        .for_user = arguments->for_user };
    plim_enabled enabled;
    plim_error err = { 0 };
    const plim_status status = plim_enable(action, &choice, &enabled, &err);
    int code = PLIM_EXIT_FAILED;
    if (status == PLIM_OK) {
        code = print(who, action, arguments, &enabled);
    } else {
        plim_say(who, "%s", err.message);
        code = status == PLIM_INVALID_ARGUMENT ? PLIM_EXIT_USAGE : PLIM_EXIT_FAILED;
    }
    plim_enabled_deinit(&enabled);
    return code;
}
