/*
 * largest.c - see largest.h.
 */
#include "rehearse/largest.h"

#include "base/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACE        "{}"
#define LEAP_MOST    16u /* times the last number that fits: how far a prediction is followed */
#define LEAP_UNSURE  2u
#define NEAR_DIVISOR 16u /* numbers nearer to each other than this part show no slope */
#define OVER_DIVISOR 8u  /* a step that is to find a number which does not fit */
#define NUMBER_BYTES 32u

/* ---- numbers --------------------------------------------------------------------------------- */

/* The largest number that a straight line through what is known leaves room for. */
static uint64_t predict(const plim_largest *self)
{
    if (self->bytes_per_value == 0 || self->low_bytes >= self->capacity_bytes) {
        return self->low * LEAP_UNSURE;
    }
    const uint64_t more = (self->capacity_bytes - self->low_bytes) / self->bytes_per_value;
    const uint64_t most = self->low * (LEAP_MOST - 1);
    return self->low + (more < most ? more : most);
}

/* Predictions and halves take turns: the first are quick, the second never fail to end. */
uint64_t plim_largest_next(plim_largest *self)
{
    const size_t turn = self->turn++;
    if (self->low == 0) {
        const uint64_t first = self->first > 0 ? self->first : 1;
        return self->high == 0 ? first : (self->high + 1) / 2;
    }
    uint64_t value = predict(self);
    if (turn % 2 == 1) {
        const uint64_t over = self->low + self->low / OVER_DIVISOR;
        value = self->high > 0 ? self->low + (self->high - self->low) / 2 : plim_max(value, over);
    }
    const uint64_t most = self->high > 0 ? self->high - 1 : PLIM_REHEARSE_VALUE_MAX;
    value = value > self->low ? value : self->low + 1;
    return value < most ? value : most;
}

size_t plim_largest_next_pair(plim_largest *self, uint64_t ret[2])
{
    const uint64_t low = self->low;
    const bool is_first = self->first > low && (self->high == 0 || self->first < self->high);
    const bool has_slope = self->bytes_per_value > 0 && !is_first;
    uint64_t value = is_first ? self->first : plim_largest_next(self);
    uint64_t second = value + 1;                              /* proves the first one the largest */
    const bool is_near = value - low <= value / NEAR_DIVISOR; /* a line from afar rarely hits it */
    if (!has_slope && self->high == 0) {
        value = is_first || low == 0 ? value : low * LEAP_UNSURE * LEAP_UNSURE;
        second = value * LEAP_UNSURE;
    } else if (self->high == 0 && (self->turn % 2 == 0 || !is_near)) {
        second = value + value / OVER_DIVISOR + 1;
    } else if (!is_first && self->high > low + 3 && (self->turn % 2 == 0 || second >= self->high)) {
        value = low + (self->high - low) / 3;
        second = self->high - (self->high - low) / 3;
    }
    ret[0] = value < PLIM_REHEARSE_VALUE_MAX ? value : PLIM_REHEARSE_VALUE_MAX;
    ret[1] = second;
    const bool is_useless = self->high > 0 && second >= self->high;
    return second <= value || is_useless || second > PLIM_REHEARSE_VALUE_MAX ? 1 : 2;
}

void plim_largest_learn(plim_largest *self, uint64_t value, uint64_t device_bytes, bool fits)
{
    if (!fits) {
        self->high = self->high == 0 || value < self->high ? value : self->high;
        return;
    }
    if (value <= self->low) {
        return;
    }
    if (value >= self->high) { /* a smaller one that did not fit proves nothing then */
        self->high = 0;
    }
    const bool is_far = value - self->low >= value / NEAR_DIVISOR;
    if (self->low > 0 && device_bytes > self->low_bytes && is_far) {
        self->bytes_per_value = (device_bytes - self->low_bytes) / (value - self->low);
    }
    self->low = value;
    self->low_bytes = device_bytes;
}

bool plim_largest_is_found(const plim_largest *self)
{
    return self->high > 0 && self->high <= self->low + 1;
}

bool plim_largest_is_unbounded(const plim_largest *self)
{
    return self->high == 0 && self->low >= PLIM_REHEARSE_VALUE_MAX;
}

/* ---- commands -------------------------------------------------------------------------------- */

bool plim_rehearse_has_place(const char *const *argv)
{
    for (; *argv != NULL; argv++) {
        if (strstr(*argv, PLACE) != NULL) {
            return true;
        }
    }
    return false;
}

/* A word with the number in every place. */
static const char *fill_word(plim_arena *arena, const char *word, const char *number)
{
    const size_t number_length = strlen(number);
    size_t places = 0;
    for (const char *at = strstr(word, PLACE); at != NULL; at = strstr(at + 2, PLACE)) {
        places++;
    }
    char *filled = plim_arena_alloc(arena, strlen(word) + places * number_length + 1);
    if (filled == NULL) {
        return NULL;
    }
    char *end = filled;
    for (const char *at = word; *at != '\0';) {
        const bool is_place = strncmp(at, PLACE, 2) == 0;
        const size_t length = is_place ? number_length : 1;
        memcpy(end, is_place ? number : at, length);
        end += length;
        at += is_place ? 2 : 1;
    }
    *end = '\0';
    return filled;
}

const char **plim_command_with(plim_arena *arena, const char *const *argv, uint64_t value)
{
    char number[NUMBER_BYTES];
    (void)snprintf(number, sizeof(number), "%" PRIu64, value);
    size_t count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    const char **filled = plim_arena_alloc(arena, (count + 1) * sizeof(*filled));
    for (size_t i = 0; filled != NULL && i < count; i++) {
        filled[i] = fill_word(arena, argv[i], number);
        if (filled[i] == NULL) {
            return NULL;
        }
    }
    if (filled != NULL) {
        filled[count] = NULL;
    }
    return filled;
}
