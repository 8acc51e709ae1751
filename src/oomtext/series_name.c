/*
 * series_name.c - putting names together.
 */
#include "oomtext/series_name.h"

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

/* How many bytes of a character follow its first; none is as many as 4 for what is no first. */
static uint32_t following(unsigned char first)
{
    if (first < 0x80) {
        return 0;
    }
    if (first < 0xc2) {
        return 4;
    }
    return first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 4;
}

/* The table of well-formed sequences in the Unicode standard, chapter 3, D92. */
static bool is_well_formed(const unsigned char *at, size_t left)
{
    const uint32_t more = following(at[0]);
    if (more == 4 || more >= left) {
        return false;
    }
    for (uint32_t i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    return !(at[0] == 0xe0 && at[1] < 0xa0) && !(at[0] == 0xed && at[1] > 0x9f) &&
           !(at[0] == 0xf0 && at[1] < 0x90) && !(at[0] == 0xf4 && at[1] > 0x8f);
}

void plim_series_name_mend(plim_series_heading *heading)
{
    unsigned char *const name = (unsigned char *)heading->name;
    uint32_t at = 0;
    while (at < heading->name_length) {
        if (is_well_formed(name + at, heading->name_length - at)) {
            at += following(name[at]) + 1;
        } else {
            name[at++] = '?';
        }
    }
}
