/*
 * heading.c - putting names together.
 */
#include "series/heading.h"

#include "base/utf8.h"

#include <string.h>

static void add_char(plim_series_heading *heading, char c)
{
    const uint32_t length = heading->name_length;
    const bool is_quote = c == '"' || c == '\'' || c == '`';
    const bool is_needless = c == ' ' && (length == 0 || heading->name[length - 1] == ' ');
    if (!is_quote && !is_needless && length < PLIM_SERIES_NAME_MAX) {
        heading->name[heading->name_length++] = c;
    }
}

void plim_series_name_add(plim_series_heading *heading, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        add_char(heading, plim_is_blank(text[i]) ? ' ' : text[i]);
    }
}

void plim_series_name_add_who(plim_series_heading *heading, bool is_first, const char *word,
                              size_t word_length, const char *number, size_t number_length)
{
    plim_series_name_add(heading, is_first ? " [" : ", ", 2);
    for (size_t i = 0; i < word_length; i++) {
        add_char(heading, plim_is_blank(word[i]) ? ' ' : plim_lower(word[i]));
    }
    add_char(heading, ' ');
    plim_series_name_add(heading, number, number_length);
}

void plim_series_name_drop_verbs(plim_series_heading *heading)
{
    static const char *const verbs[] = { " was", " is", " are", " of", " at", " to", " in" };
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const size_t length = strlen(verbs[i]);
        if (heading->name_length > length &&
            memcmp(heading->name + heading->name_length - length, verbs[i], length) == 0) {
            heading->name_length -= (uint32_t)length;
        }
    }
}

void plim_series_name_mend(plim_series_heading *heading)
{
    for (uint32_t at = 0; at < heading->name_length;) {
        if ((unsigned char)heading->name[at] < 0x80) {
            at++;
            continue;
        }
        const plim_utf8 one = plim_utf8_next(heading->name + at, heading->name_length - at);
        if (one.code == PLIM_UTF8_INVALID) {
            heading->name[at++] = '?';
        } else {
            at += (uint32_t)one.bytes;
        }
    }
}
