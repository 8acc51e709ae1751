/*
 * rehearse_search.c - many rehearsals of one command. See rehearse_search.h.
 */
#include "cli/rehearse_search.h"

#include "base/size.h"
#include "cli/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE       "{}"
#define LEAP_MOST   16u /* times the last value that fits: how far a prediction is followed */
#define LEAP_UNSURE 2u

/* ---- the command of a value ------------------------------------------------------------------ */

bool plim_search_has_place(const char *const *argv)
{
    for (; *argv != NULL; argv++) {
        if (strstr(*argv, PLACE) != NULL) {
            return true;
        }
    }
    return false;
}

/* A word with the number in every place; the caller frees it. */
static char *fill_word(const char *word, const char *number)
{
    size_t places = 0;
    for (const char *at = strstr(word, PLACE); at != NULL; at = strstr(at + 2, PLACE)) {
        places++;
    }
    char *filled = malloc(strlen(word) + places * strlen(number) + 1);
    if (filled == NULL) {
        return NULL;
    }
    char *end = filled;
    for (const char *at = word; *at != '\0';) {
        const bool is_place = strncmp(at, PLACE, 2) == 0;
        const size_t length = is_place ? strlen(number) : 1;
        memcpy(end, is_place ? number : at, length);
        end += length;
        at += is_place ? 2 : 1;
    }
    *end = '\0';
    return filled;
}

static void free_command(char **argv)
{
    for (char **word = argv; word != NULL && *word != NULL; word++) {
        free(*word);
    }
    free((void *)argv);
}

/* The command with the value in it. NULL: no memory. */
static char **fill_command(const char *const *argv, uint64_t value)
{
    char number[32];
    (void)snprintf(number, sizeof(number), "%" PRIu64, value);
    size_t count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    char **filled = calloc(count + 1, sizeof(*filled));
    for (size_t i = 0; filled != NULL && i < count; i++) {
        filled[i] = fill_word(argv[i], number);
        if (filled[i] == NULL) {
            free_command(filled);
            filled = NULL;
        }
    }
    return filled;
}

/* ---- one try --------------------------------------------------------------------------------- */

static void keep(plim_search *search, const plim_rehearse_try *one)
{
    size_t at = search->count;
    while (at > 0 && search->tries[at - 1].value > one->value) {
        search->tries[at] = search->tries[at - 1];
        at--;
    }
    search->tries[at] = *one;
    search->count++;
    if (one->verdict == PLIM_REHEARSED_FITS && one->value > search->best) {
        search->best = one->value;
    }
}

static void say_try(const char *who, const plim_rehearse_try *one)
{
    plim_say(who, "%" PRIu64 ": %s, %s of the device, %.1f s", one->value,
             one->verdict == PLIM_REHEARSED_FITS ? "fits" : "out of memory",
             plim_format_bytes(one->peak.device_bytes).text, one->seconds);
}

/* Why more tries make no sense. */
static void say_stop(const char *who, uint64_t value, const plim_rehearsed *rehearsed)
{
    const plim_rehearsal_outcome *outcome = rehearsed->outcome;
    for (size_t i = 0; i < outcome->call_count; i++) {
        const plim_rehearsed_call *call = &outcome->calls[i];
        if (strcmp(call->kind, "unknown") == 0 || strcmp(call->kind, "refused") == 0) {
            plim_say(who, "stopped at %" PRIu64 ": it called %s, which is not stood in for", value,
                     call->name);
            return;
        }
    }
    plim_say(who, "stopped at %" PRIu64 ": it fails of something else than memory", value);
}

/* False: it could not be rehearsed, and more tries would not change that. */
static bool try_value(const plim_rehearsing *how, const char *const *argv, uint64_t value,
                      plim_search *search, plim_rehearse_try *ret)
{
    char **command = fill_command(argv, value);
    if (command == NULL || search->count == PLIM_SEARCH_TRIES_MAX) {
        free_command(command);
        plim_say(how->who, "too many tries for the memory there is");
        return false;
    }
    plim_rehearsing_result result;
    bool is_good = plim_rehearsing_run(how, (const char *const *)command, &result);
    if (is_good) {
        *ret = (plim_rehearse_try){
            .value = value,
            .verdict = plim_rehearsed_judge(&result.rehearsed),
            .peak = plim_rehearsed_find_peak(result.rehearsed.outcome),
            .seconds = result.seconds,
        };
        is_good =
            ret->verdict == PLIM_REHEARSED_FITS || ret->verdict == PLIM_REHEARSED_OUT_OF_MEMORY;
        if (is_good) {
            say_try(how->who, ret);
        } else {
            say_stop(how->who, value, &result.rehearsed);
        }
        keep(search, ret);
        search->gpu = *result.rehearsed.outcome->gpu;
        search->device_count = result.rehearsed.outcome->device_count;
        search->capacity_bytes = result.rehearsed.outcome->capacity_bytes;
    }
    plim_rehearsing_deinit(&result);
    free_command(command);
    return is_good;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* What is known so far: low fits (0: nothing tried), high does not (0: unknown). */
typedef struct bounds {
    uint64_t low;
    uint64_t high;
    uint64_t low_bytes;
    uint64_t bytes_per_value; /* by the last two that fit; 0: unknown */
    uint64_t capacity_bytes;
} bounds;

/* The largest value that a straight line through what is known leaves room for. */
static uint64_t predict(const bounds *known)
{
    if (known->bytes_per_value == 0 || known->low_bytes >= known->capacity_bytes) {
        return known->low * LEAP_UNSURE;
    }
    const uint64_t more = (known->capacity_bytes - known->low_bytes) / known->bytes_per_value;
    const uint64_t most = known->low * (LEAP_MOST - 1);
    return known->low + (more < most ? more : most);
}

/* Predictions and halves take turns: the first are quick, the second never fail to end. */
static uint64_t next_value(const bounds *known, size_t turn)
{
    if (known->low == 0) {
        return 1;
    }
    uint64_t value = predict(known);
    if (known->high > 0 && turn % 2 == 1) {
        value = known->low + (known->high - known->low) / 2;
    }
    const uint64_t most = known->high > 0 ? known->high - 1 : PLIM_VALUE_MAX;
    value = value > known->low ? value : known->low + 1;
    return value < most ? value : most;
}

static void learn(bounds *known, const plim_rehearse_try *one)
{
    if (one->verdict != PLIM_REHEARSED_FITS) {
        known->high = one->value;
        return;
    }
    if (known->low > 0 && one->peak.device_bytes > known->low_bytes) {
        known->bytes_per_value =
            (one->peak.device_bytes - known->low_bytes) / (one->value - known->low);
    }
    known->low = one->value;
    known->low_bytes = one->peak.device_bytes;
}

bool plim_search_largest(const plim_rehearsing *how, const char *const *argv, plim_search *ret)
{
    *ret = (plim_search){ 0 };
    bounds known = { 0 };
    for (size_t turn = 0; known.high == 0 || known.high > known.low + 1; turn++) {
        if (known.low >= PLIM_VALUE_MAX) {
            plim_say(how->who, "even %" PRIu64 " fits: does memory depend on {}?", known.low);
            return true;
        }
        plim_rehearse_try one;
        if (!try_value(how, argv, next_value(&known, turn), ret, &one)) {
            return false;
        }
        known.capacity_bytes = ret->capacity_bytes;
        learn(&known, &one);
    }
    return true;
}

bool plim_search_sweep(const plim_rehearsing *how, const char *const *argv, const uint64_t *values,
                       size_t count, plim_search *ret)
{
    *ret = (plim_search){ 0 };
    for (size_t i = 0; i < count; i++) {
        plim_rehearse_try one;
        if (!try_value(how, argv, values[i], ret, &one)) {
            return false;
        }
    }
    return true;
}
