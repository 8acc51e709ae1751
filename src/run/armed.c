/*
 * armed.c - the environment that arms the recorder. See run.h and docs/formats/run-folder.md.
 */
#include "base/error.h"
#include "launch/variables.h"
#include "rehearse/program.h"
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *plim_run_record_name(plim_run_record record)
{
    static const char *const names[] = {
        [PLIM_RUN_RECORD_RING] = "ring",
        [PLIM_RUN_RECORD_OFF] = "off",
        [PLIM_RUN_RECORD_ALL] = "all",
    };
    return names[record];
}

static const char *number(plim_run *run, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    const char *const copy = plim_arena_copy(&run->arena, text, strlen(text));
    run->is_out_of_memory = run->is_out_of_memory || copy == NULL;
    return copy;
}

/* Where processes say what became of techniques; NULL: none were chosen, or there is no folder. */
static const char *folder_of_techniques(plim_run *run, const plim_run_choice *choice)
{
    char path[PLIM_PATH_BYTES];
    if (choice->techniques == NULL || run->folder[0] == '\0' ||
        plim_folder_join(path, sizeof(path), run->folder, PLIM_RUN_WITH, NULL) != PLIM_OK) {
        return NULL;
    }
    const char *const copy = plim_arena_copy(&run->arena, path, strlen(path));
    run->is_out_of_memory = run->is_out_of_memory || copy == NULL;
    return copy;
}

plim_status plim_run_variables(plim_run *run, const plim_run_choice *choice,
                               plim_rehearse_variable ret[PLIM_RUN_VARIABLES_MAX], plim_error *err)
{
    const uint64_t events = choice->events > 0 ? choice->events : PLIM_RUN_EVENTS_DEFAULT;
    const uint32_t dumps = choice->dumps_kept > 0 ? choice->dumps_kept : PLIM_RUN_DUMPS_DEFAULT;
    const bool is_armed = run->folder[0] != '\0';
    const char *const with = folder_of_techniques(run, choice);
    /* NULL takes away what a run around this one has set. */
    plim_rehearse_variable all[] = {
        { "PLIMSOLL_RUN", run->folder },
        { "PLIMSOLL_RECORD", plim_run_record_name(choice->record) },
        { "PLIMSOLL_EVENTS", number(run, events) },
        { "PLIMSOLL_DUMPS", number(run, dumps) },
        { "PLIMSOLL_LIMIT", choice->limit_bytes > 0 ? number(run, choice->limit_bytes) : NULL },
        { "PLIMSOLL_STOP_ON", choice->stop_on },
        { "PLIMSOLL_QUIET", choice->is_quiet ? "1" : NULL },
        { PLIM_WITH_VARIABLE, with != NULL ? choice->techniques : NULL },
        { PLIM_WITH_FOLDER_VARIABLE, with },
        { NULL, NULL },
    };
    for (size_t i = 0; !is_armed && all[i].name != NULL; i++) {
        all[i].value = NULL;
    }
    _Static_assert(sizeof(all) / sizeof(all[0]) <= PLIM_RUN_VARIABLES_MAX, "all are given");
    memcpy(ret, all, sizeof(all));
    return run->is_out_of_memory ? plim_fail_memory(err, "arming the recorder") : PLIM_OK;
}

plim_status plim_run_arm(plim_run *run, const plim_run_choice *choice, plim_error *err)
{
    char home[PLIM_PATH_BYTES];
    plim_rehearse_variable armed[PLIM_RUN_VARIABLES_MAX];
    PLIM_TRY(plim_home_find(choice->home, home, sizeof(home), err));
    PLIM_TRY(plim_run_variables(run, choice, armed, err));
    plim_variables all;
    plim_variables_begin(&all, &run->arena);
    for (size_t i = 0; armed[i].name != NULL; i++) {
        plim_variables_put(&all, armed[i].name, armed[i].value);
    }
    plim_text agent;
    plim_text_init(&agent, run->arena.mem, PLIM_VARIABLE_BYTES_MAX);
    plim_text_append_format(&agent, "%s/" PLIM_HOME_AGENT, home);
    plim_variables_put_before(&all, "PYTHONPATH", &agent);
    plim_text_deinit(&agent);
    return plim_variables_finish(&all, &run->environment, err);
}
