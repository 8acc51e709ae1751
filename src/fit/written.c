/*
 * written.c - the answer as changes of the program: the question for changes.c.
 */
#include "base/error.h"
#include "fit/changes.h"
#include "fit/search.h"
#include "launch/path.h"
#include "rehearse/folder.h"
#include "rehearse/program.h"

#include <string.h>

#define REPORTS_MAX 64

/* The texts of the agents' reports, each with a zero after it. */
static size_t list_reports(const plim_fit_known *known, const char **ret)
{
    size_t count = 0;
    for (size_t at = 0; at < known->documents_bytes && count < REPORTS_MAX;) {
        ret[count++] = known->documents + at;
        at += strlen(known->documents + at) + 1;
    }
    return count;
}

static bool find_python(const plim_fit_search *search, char *path, size_t bytes)
{
    char program[PLIM_PATH_BYTES];
    const char *const *const argv = search->runner->argv;
    return plim_path_find(argv[0], true, program, sizeof(program)) &&
           plim_program_python(program, argv + 1, path, bytes);
}

plim_status plim_fit_write_changes(plim_fit_search *search, size_t trial, plim_fitted *ret,
                                   plim_error *err)
{
    const plim_rehearse_options *const options = &search->options->rehearse;
    const plim_fit_trial *const one = &search->trials[trial];
    const char *reports[REPORTS_MAX];
    const char *texts[PLIM_FIT_USES_MAX];
    char python[PLIM_PATH_BYTES];
    char home[PLIM_PATH_BYTES];
    const bool has_python = options->python != NULL || find_python(search, python, sizeof(python));
    if (one->use_count == 0 || !has_python ||
        plim_home_find(options->home, home, sizeof(home), NULL) != PLIM_OK) {
        return PLIM_OK;
    }
    for (size_t i = 0; i < one->use_count; i++) {
        texts[i] = one->uses[i].text;
    }
    const plim_fit_change_question question = {
        .python = options->python != NULL ? options->python : python,
        .home = home,
        .argv = search->runner->argv,
        .techniques = texts,
        .technique_count = one->use_count,
        .reports = reports,
        .report_count = list_reports(&search->known[trial], reports),
        .since = (int64_t)search->known[trial].began,
    };
    plim_fit_changes changes = { 0 };
    const plim_status status = plim_fit_changes_make(&question, search->arena, &changes, err);
    if (status == PLIM_OK) {
        ret->changes = changes.items;
        ret->change_count = changes.count;
        ret->diff = changes.diff;
    }
    return status == PLIM_OUT_OF_HOST_MEMORY ? status : PLIM_OK;
}
