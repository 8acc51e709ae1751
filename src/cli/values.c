/*
 * values.c - whole numbers as a user lists them. See values.h.
 */
#include "cli/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_number(const char **text, uint64_t *ret)
{
    char *end = NULL;
    errno = 0;
    *ret = isdigit((unsigned char)**text) != 0 ? strtoull(*text, &end, 10) : 0;
    if (end == NULL || errno != 0 || *ret == 0 || *ret > PLIM_REHEARSE_VALUE_MAX) {
        return false;
    }
    *text = end;
    return true;
}

/* The range after its first number: "..8", "..64+8", "..64*2". */
static bool read_range(const char **text, uint64_t from, uint64_t *values, size_t *count)
{
    uint64_t to = 0;
    uint64_t by = 1;
    char how = '+';
    *text += 2;
    if (!read_number(text, &to) || to < from) {
        return false;
    }
    if (**text == '+' || **text == '*') {
        how = **text;
        (*text)++;
        if (!read_number(text, &by) || (how == '*' && by < 2)) {
            return false;
        }
    }
    for (uint64_t value = from; value <= to; value = how == '+' ? value + by : value * by) {
        if (*count == PLIM_REHEARSE_TRIES_MAX) {
            return false;
        }
        values[(*count)++] = value;
    }
    return true;
}

bool plim_values_parse(const char *text, uint64_t *values, size_t *ret_count)
{
    *ret_count = 0;
    for (;;) {
        uint64_t value = 0;
        if (!read_number(&text, &value)) {
            return false;
        }
        if (strncmp(text, "..", 2) == 0) {
            if (!read_range(&text, value, values, ret_count)) {
                return false;
            }
        } else if (*ret_count < PLIM_REHEARSE_TRIES_MAX) {
            values[(*ret_count)++] = value;
        } else {
            return false;
        }
        if (*text != ',') {
            return *text == '\0';
        }
        text++;
    }
}
