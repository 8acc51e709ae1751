/*
 * rehearsing_upgrade.c - one program in two environments, or with many releases of a package. See
 * rehearsing.h.
 */
#include "cli/rehearsing.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/rehearsing_diffs.h"
#include "cli/result.h"
#include "report/json/documents.h"

#include <stdio.h>

static int exit_status_of(plim_pair_answer answer)
{
    switch (answer) {
    case PLIM_PAIR_SAME:
    case PLIM_PAIR_SHRANK:
        break;
    case PLIM_PAIR_GREW:
        return PLIM_EXIT_FOUND;
    case PLIM_PAIR_FAILED:
        return PLIM_EXIT_FAILED;
    }
    return PLIM_EXIT_OK;
}

/* An unusable ENV or range is wrong usage; any other error is a failure. */
static int exit_status_of_error(plim_status status)
{
    return status == PLIM_INVALID_ARGUMENT ? PLIM_EXIT_USAGE : PLIM_EXIT_FAILED;
}

static plim_environment_options environment_options(const plim_rehearse_asked *arguments)
{
    return (plim_environment_options){
        .python = arguments->how.python,
        .is_offline = arguments->is_offline,
    };
}

/* ---- two environments ------------------------------------------------------------------------ */

static plim_status rehearse_in(const plim_rehearse_asked *arguments, const char *python,
                               plim_rehearsed *ret, plim_error *err)
{
    static const int nowhere[PLIM_LAUNCH_STREAMS] = { -1, -1 };
    const plim_launch_options launch = { .outputs = nowhere };
    plim_rehearse_options how = arguments->how;
    how.keeps_snapshots = true;
    how.in_python = python;
    PLIM_TRY(plim_rehearse((const char *const *)arguments->asked.command, &how, &launch, ret, err));
    if (ret->ran_out && !arguments->does_not_retry) {
        return plim_rehearse_need(ret, &how, err);
    }
    return PLIM_OK;
}

/* The histories of both: the evidence. Without it there are still the figures. */
static void add_diffs(const char *who, plim_page *page, plim_rehearsed_pair *pair,
                      plim_rehearsing_diffs *diffs)
{
    plim_error err = { 0 };
    const plim_status made = plim_rehearsing_diffs_make(
        pair->before, pair->after, plim_rehearsed_pair_name(page, pair, false),
        plim_rehearsed_pair_name(page, pair, true), diffs, &err);
    if (made != PLIM_OK) {
        plim_say(who, "the histories cannot be compared: %s", err.message);
        return;
    }
    pair->diffs = diffs->items;
    pair->diff_count = diffs->count;
}

static int show_pair(const char *who, const plim_rehearse_asked *arguments,
                     plim_rehearsed_pair *pair)
{
    plim_rehearsing_diffs diffs = { 0 };
    plim_result result;
    plim_page page;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    plim_page_init(&page, NULL);
    add_diffs(who, &page, pair, &diffs);
    plim_rehearse_against_page(&page, pair);
    if (result.has_document) {
        result.err.status = plim_rehearse_json_write_against(result.sink, pair, &page, &result.err);
    }
    const int status = plim_result_end(&result, &page);
    plim_rehearsing_diffs_deinit(&diffs);
    return status == PLIM_EXIT_OK ? exit_status_of(plim_rehearsed_pair_judge(pair)) : status;
}

static int compare(const char *who, const plim_rehearse_asked *arguments,
                   const plim_environment *other)
{
    plim_rehearsed own_run = { 0 };
    plim_rehearsed other_run = { 0 };
    plim_error err = { 0 };
    int status = PLIM_EXIT_FAILED;
    plim_say(who, "rehearsing it in its own environment");
    plim_status rehearsed = rehearse_in(arguments, NULL, &own_run, &err);
    if (rehearsed == PLIM_OK) {
        plim_say(who, "rehearsing it with %s", other->python);
        rehearsed = rehearse_in(arguments, other->python, &other_run, &err);
    }
    if (rehearsed == PLIM_OK) {
        plim_rehearsed_pair pair = {
            .before = other->is_older ? &other_run : &own_run,
            .after = other->is_older ? &own_run : &other_run,
            .before_environment = other->is_older ? other : NULL,
            .after_environment = other->is_older ? NULL : other,
            .limit = arguments->limit,
        };
        status = show_pair(who, arguments, &pair);
    } else {
        plim_say(who, "%s", err.message);
    }
    plim_rehearsed_deinit(&own_run);
    plim_rehearsed_deinit(&other_run);
    return status;
}

int plim_rehearsing_against(const char *who, const plim_rehearse_asked *arguments)
{
    const plim_environment_options how = environment_options(arguments);
    plim_environment *other = NULL;
    plim_error err = { 0 };
    const plim_status opened = plim_environment_open((const char *const *)arguments->asked.command,
                                                     arguments->against, &how, &other, &err);
    if (opened != PLIM_OK) {
        plim_say(who, "--against: %s", err.message);
        return exit_status_of_error(opened);
    }
    const int status = compare(who, arguments, other);
    plim_environment_close(other);
    return status;
}

/* ---- many releases --------------------------------------------------------------------------- */

static void say_try(void *who, const plim_release_try *one)
{
    if (one->state == PLIM_RELEASE_SKIPPED) {
        plim_say(who, "%s: skipped: %s", one->release, one->why);
        return;
    }
    plim_say(who, "%s: %s, %s, %.1f s", one->release, plim_release_state_name(one->state),
             plim_format_bytes(one->compared_bytes).text, one->seconds);
}

static int show_bisected(const char *who, const plim_rehearse_asked *arguments,
                         const plim_bisected *bisected)
{
    plim_rehearsing_diffs diffs = { 0 };
    plim_rehearsed_pair pair = {
        .before = &bisected->before,
        .after = &bisected->after,
        .before_environment = bisected->before_environment,
        .after_environment = bisected->after_environment,
        .limit = arguments->limit,
    };
    plim_result result;
    plim_page page;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    plim_page_init(&page, NULL);
    if (bisected->is_complete) {
        add_diffs(who, &page, &pair, &diffs);
    }
    plim_rehearse_bisect_page(&page, arguments->bisect, bisected, &pair);
    if (result.has_document) {
        result.err.status = plim_rehearse_json_write_bisect(result.sink, arguments->bisect,
                                                            bisected, &pair, &page, &result.err);
    }
    const int status = plim_result_end(&result, &page);
    plim_rehearsing_diffs_deinit(&diffs);
    return status == PLIM_EXIT_OK && bisected->grew ? PLIM_EXIT_FOUND : status;
}

int plim_rehearsing_bisect(char *who, const plim_rehearse_asked *arguments)
{
    const plim_bisect_options how = {
        .rehearse = arguments->how,
        .environment = environment_options(arguments),
        .package = arguments->bisect,
        .from = arguments->bisect_from,
        .to = arguments->bisect_to,
        .takes_pre_releases = arguments->takes_pre_releases,
        .limit = arguments->limit,
        .tried = say_try,
        .tried_ctx = who,
    };
    plim_bisected bisected;
    plim_error err = { 0 };
    const plim_status searched =
        plim_rehearse_bisect((const char *const *)arguments->asked.command, &how, &bisected, &err);
    if (searched != PLIM_OK) {
        plim_say(who, "--bisect: %s", err.message);
    }
    const int status =
        bisected.try_count > 0 ? show_bisected(who, arguments, &bisected) : PLIM_EXIT_FAILED;
    plim_bisected_deinit(&bisected);
    return searched == PLIM_OK ? status : exit_status_of_error(searched);
}
