/*
 * limits.c - see limits.h.
 */
#include "cli/limits.h"

#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"
#include "cli/bounds.h"
#include "cli/output.h"
#include "cli/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- the text --- */

static const struct {
    const char *name;
    plim_limit_kind kind;
    const char *example;
} figures[] = {
    { "fragmentation", PLIM_LIMIT_FRAGMENTATION, "fragmentation>20%" },
    { "peak", PLIM_LIMIT_PEAK, "peak>20GiB" },
    { "reserved", PLIM_LIMIT_RESERVED, "reserved>24GiB" },
    { "growth", PLIM_LIMIT_GROWTH, "growth>1MiB/step" },
};

static void refuse(struct argp_state *state, const char *word)
{
    argp_error(state,
               "--fail-on takes any, leak, fragmented, spike, first_step_growth, exhausted, "
               "capped, other_process, oversized, host or unknown, and bounds such as "
               "fragmentation>20%%, peak>20GiB, reserved>24GiB, growth>1MiB/step, separated by "
               "commas, not \"%s\"",
               word);
}

/* A figure and its bound; `value` is what stands after the ">". */
static bool read_bound(const char *name, char *value, plim_limit *ret, const char **ret_example)
{
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (strcmp(figures[i].name, name) == 0) {
            ret->kind = figures[i].kind;
            *ret_example = figures[i].example;
            return ret->kind == PLIM_LIMIT_FRAGMENTATION
                       ? plim_bound_share(value, 100, &ret->value)
                       : plim_bound_size(value, ret->kind == PLIM_LIMIT_GROWTH, &ret->value);
        }
    }
    return false;
}

static bool read_verdict(const char *word, plim_limit *ret)
{
    if (strcmp(word, "any") == 0) {
        ret->kind = PLIM_LIMIT_ANY;
        return true;
    }
    for (int i = 0; i < PLIM_VERDICT_COUNT; i++) {
        const bool can_fail = i != PLIM_VERDICT_HEALTHY && i != PLIM_VERDICT_NOT_OOM;
        if (can_fail && strcmp(word, plim_verdict_name((plim_verdict)i)) == 0) {
            ret->kind = PLIM_LIMIT_VERDICT;
            ret->verdict = (plim_verdict)i;
            return true;
        }
    }
    return false;
}

/* One part; it is changed. */
static void take_word(struct argp_state *state, void *given, char *word)
{
    plim_limits *const limits = given;
    plim_limit limit = { 0 };
    const char *example = NULL;
    char original[PLIM_BOUND_BYTES];
    snprintf(original, sizeof original, "%s", word);
    char *const sign = strchr(word, '>');
    if (sign != NULL) {
        *sign = '\0';
    }
    const bool is_good =
        sign != NULL ? read_bound(word, sign + 1, &limit, &example) : read_verdict(word, &limit);
    if (!is_good && example != NULL) {
        argp_error(state, "--fail-on: a bound reads %s, not \"%s\"", example, original);
    } else if (!is_good) {
        refuse(state, original);
    } else if (limits->count == PLIM_BOUNDS_MAX) {
        argp_error(state, "--fail-on: at most %d at once", PLIM_BOUNDS_MAX);
    } else {
        limits->items[limits->count++] = limit;
    }
}

void plim_limits_take(struct argp_state *state, plim_limits *limits, const char *text)
{
    if (!plim_bounds_each(state, text, take_word, limits)) {
        refuse(state, text);
    }
}

/* --- what exceeds it --- */

#define SAID_BYTES 160

/* Half a sentence about what the device has; "" where it is within the limit. */
static void find_excess(const plim_limit *limit, const plim_diagnosed_rank *rank, char *said)
{
    const plim_short_text bound = plim_format_bytes(plim_whole(limit->value));
    const plim_short_text growth = plim_format_bytes(plim_whole(rank->leak_bytes_per_step));
    said[0] = '\0';
    switch (limit->kind) {
    case PLIM_LIMIT_VERDICT:
        if ((rank->kinds & (UINT32_C(1) << limit->verdict)) != 0) {
            snprintf(said, SAID_BYTES, "%s", plim_verdict_name(limit->verdict));
        }
        return;
    case PLIM_LIMIT_ANY:
        if (rank->verdict != PLIM_VERDICT_HEALTHY) {
            snprintf(said, SAID_BYTES, "%s", plim_verdict_name(rank->verdict));
        }
        return;
    case PLIM_LIMIT_FRAGMENTATION:
        if (rank->fragmentation > limit->value) {
            snprintf(said, SAID_BYTES, "fragmentation of %.1f%% exceeds %.1f%%",
                     rank->fragmentation * 100, limit->value * 100);
        }
        return;
    case PLIM_LIMIT_PEAK:
        if ((double)rank->peak_requested_bytes > limit->value) {
            snprintf(said, SAID_BYTES, "a peak of %s requested exceeds %s",
                     plim_format_bytes(rank->peak_requested_bytes).text, bound.text);
        }
        return;
    case PLIM_LIMIT_RESERVED:
        if ((double)rank->peak_reserved_bytes > limit->value) {
            snprintf(said, SAID_BYTES, "%s reserved at the peak exceed %s",
                     plim_format_bytes(rank->peak_reserved_bytes).text, bound.text);
        }
        return;
    case PLIM_LIMIT_GROWTH:
        if (rank->leak_bytes_per_step > limit->value) {
            snprintf(said, SAID_BYTES, "growth of %s a step exceeds %s", growth.text, bound.text);
        }
        return;
    }
}

bool plim_limits_exceeded(const char *who, const plim_limits *limits,
                          const plim_diagnosed_rank *ranks, size_t count, char *const *paths)
{
    bool is_exceeded = false;
    for (size_t i = 0; i < limits->count; i++) {
        for (size_t k = 0; k < count; k++) {
            char said[SAID_BYTES];
            find_excess(&limits->items[i], &ranks[k], said);
            if (said[0] != '\0') {
                plim_say(who, "--fail-on: %s, GPU %" PRId32 ": %s",
                         plim_reading_name(paths[ranks[k].file]), ranks[k].device, said);
                is_exceeded = true;
            }
        }
    }
    return is_exceeded;
}
