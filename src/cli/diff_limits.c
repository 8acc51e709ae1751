/*
 * diff_limits.c - see diff_limits.h.
 */
#include "cli/diff_limits.h"

#include "base/numbers.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* In percent: a program that takes a hundred times what it took is no typing mistake. */
#define SHARE_MOST 10000.0

/* --- the text --- */

static const struct {
    plim_diff_figure_id figure;
    const char *example;
} bounded[] = {
    { PLIM_DIFF_FIGURE_AT, "at>+5% or at>+64MiB" },
    { PLIM_DIFF_FIGURE_PEAK, "peak>+5% or peak>+1GiB" },
    { PLIM_DIFF_FIGURE_END, "end>+5% or end>+1GiB" },
    { PLIM_DIFF_FIGURE_RESERVED, "reserved>+5% or reserved>+1GiB" },
    { PLIM_DIFF_FIGURE_STEP, "growth>+1MiB/step" },
    { PLIM_DIFF_FIGURE_NEW, "new>64MiB" },
};

static void refuse(struct argp_state *state, const char *word)
{
    argp_error(state,
               "--fail-on takes bounds such as peak>+5%%, peak>+1GiB, end>+1GiB, reserved>+10%%, "
               "growth>+1MiB/step, new>64MiB, at>+64MiB, separated by commas, not \"%s\"",
               word);
}

/* The text after the ">": "+5%", "+1GiB"; of new code "64MiB". */
static bool read_value(char *value, plim_diff_limit *ret)
{
    const bool is_new = ret->figure == PLIM_DIFF_FIGURE_NEW;
    const bool is_growth = ret->figure == PLIM_DIFF_FIGURE_STEP;
    if ((*value == '+') == is_new) {
        return false;
    }
    value += !is_new;
    ret->is_share = !is_new && !is_growth && plim_bound_share(value, SHARE_MOST, &ret->value);
    return ret->is_share || plim_bound_size(value, is_growth, &ret->value);
}

static void take_word(struct argp_state *state, void *given, char *word)
{
    plim_diff_limits *const limits = given;
    plim_diff_limit limit = { .figure = PLIM_DIFF_FIGURE_COUNT };
    const char *example = NULL;
    char original[PLIM_BOUND_BYTES];
    snprintf(original, sizeof original, "%s", word);
    char *const sign = strchr(word, '>');
    if (sign != NULL) {
        *sign = '\0';
    }
    for (size_t i = 0; sign != NULL && i < sizeof bounded / sizeof bounded[0]; i++) {
        if (strcmp(word, plim_diff_figure_name(bounded[i].figure)) == 0) {
            limit.figure = bounded[i].figure;
            example = bounded[i].example;
        }
    }
    if (example == NULL) {
        refuse(state, original);
    } else if (!read_value(sign + 1, &limit)) {
        argp_error(state, "--fail-on: a bound reads %s, not \"%s\"", example, original);
    } else if (limits->count == PLIM_BOUNDS_MAX) {
        argp_error(state, "--fail-on: at most %d at once", PLIM_BOUNDS_MAX);
    } else {
        limits->items[limits->count++] = limit;
    }
}

void plim_diff_limits_take(struct argp_state *state, plim_diff_limits *limits, const char *text)
{
    if (!plim_bounds_each(state, text, take_word, limits)) {
        refuse(state, text);
    }
}

/* --- what exceeds it --- */

static bool is_exceeded(const plim_diff_limit *limit, const plim_diff_figure *figure)
{
    const double most =
        limit->is_share ? limit->value * (double)figure->before_bytes : limit->value;
    return figure->after_bytes > figure->before_bytes &&
           (double)(figure->after_bytes - figure->before_bytes) > most;
}

/* "peak grew by 1.21 GiB (23.0%), more than 5%" */
static void say_excess(const char *who, const plim_diff_limit *limit, const char *name,
                       const plim_diffed_rank *rank)
{
    const plim_diff_figure *const figure = &rank->figures[limit->figure];
    const uint64_t grown = figure->after_bytes - figure->before_bytes;
    const double share =
        figure->before_bytes > 0 ? (double)grown / (double)figure->before_bytes : 0;
    char percent[48] = "";
    char bound[48];
    if (figure->before_bytes > 0) {
        snprintf(percent, sizeof percent, " (%s)", plim_format_percent(share).text);
    }
    if (limit->is_share) {
        snprintf(bound, sizeof bound, "%s", plim_format_percent(limit->value).text);
    } else {
        snprintf(bound, sizeof bound, "%s", plim_format_bytes(plim_whole(limit->value)).text);
    }
    plim_say(who, "--fail-on: %s, GPU %" PRId32 ": %s: %s more%s than before exceeds %s", name,
             rank->device, plim_diff_figure_title(limit->figure), plim_format_bytes(grown).text,
             percent, bound);
}

/* Files without a counterpart cannot be checked. */
static int say_unpaired(const char *who, const plim_diff_job *job)
{
    int status = PLIM_EXIT_OK;
    for (size_t i = 0; i < job->count; i++) {
        const plim_diffed_pair *const pair = &job->pairs[i];
        if (pair->before_path == NULL || pair->after_path == NULL) {
            plim_say(who, "--fail-on: %s has no counterpart and cannot be checked",
                     pair->before_path == NULL ? pair->after_path : pair->before_path);
            status = PLIM_EXIT_FAILED;
        }
    }
    return status;
}

/* False: a pair was not compared, and why was said. */
static bool all_compared(const plim_diff_job *job)
{
    bool is_good = true;
    for (size_t i = 0; i < job->count; i++) {
        is_good = is_good && job->pairs[i].status == PLIM_OK;
    }
    return is_good;
}

int plim_diff_limits_check(const char *who, const plim_diff_limits *limits,
                           const plim_diff_job *job)
{
    int status = limits->count > 0 ? say_unpaired(who, job) : PLIM_EXIT_OK;
    if (limits->count > 0 && job->rank_count == 0 && all_compared(job)) {
        plim_say(who, "--fail-on: no device has memory: nothing could be checked");
        status = PLIM_EXIT_FAILED;
    }
    for (size_t i = 0; i < limits->count; i++) {
        const plim_diff_limit *const limit = &limits->items[i];
        for (size_t k = 0; k < job->rank_count; k++) {
            const plim_diffed_rank *const rank = &job->ranks[k];
            const plim_diff_figure *const figure = &rank->figures[limit->figure];
            const char *const name = plim_reading_name(job->pairs[rank->pair].after_path);
            if (figure->is_known && is_exceeded(limit, figure)) {
                say_excess(who, limit, name, rank);
                status = PLIM_EXIT_FOUND;
            } else if (!figure->is_known) {
                plim_say(who, "--fail-on: %s, GPU %" PRId32 ": %s cannot be checked: %s", name,
                         rank->device, plim_diff_figure_title(limit->figure),
                         figure->unknown_because != NULL ? figure->unknown_because
                                                         : "only one side has this device");
                status = status == PLIM_EXIT_FOUND ? status : PLIM_EXIT_FAILED;
            }
        }
    }
    return status;
}
