/*
 * section.c - headings of indented reports.
 */
#include "series/section.h"

#include <string.h>

#define TAB_BLANKS 8u
#define WORDS_MAX  4u
/* Above the numbers of tables. */
#define ID_BIT 0x80000000u

static bool is_blank_or_sign(char c)
{
    return c == ' ' || c == ':' || c == '#' || c == '\t';
}

/* "GPU: 0", "GPU 00000000:01:00.0": a word that says whose, and one more with a digit. */
static bool read_owner(const char *line, plim_series_span all, plim_series_section *ret)
{
    plim_series_span word = { .at = all.at, .end = all.at };
    while (word.end < all.end && plim_is_letter(line[word.end])) {
        word.end++;
    }
    uint32_t at = word.end;
    while (at < all.end && is_blank_or_sign(line[at])) {
        at++;
    }
    bool has_digit = false;
    for (uint32_t i = at; i < all.end; i++) {
        has_digit = has_digit || plim_is_digit(line[i]);
        if (line[i] == ' ' || line[i] == '\t') {
            return false;
        }
    }
    const plim_series_words words = plim_series_words_of(line, word);
    ret->word_length = word.end - all.at;
    ret->number_at = at - all.at;
    return has_digit && at > word.end && (words.any & PLIM_WORD_IDENTITY) != 0;
}

/* "FB Memory Usage", "MEM_USAGE:" */
static bool read_topic(const char *line, plim_series_span all, plim_series_section *ret)
{
    const plim_series_words words = plim_series_words_of(line, all);
    for (uint32_t at = all.at + 1; at < all.end; at++) {
        const bool is_number = plim_is_digit(line[at]) && !plim_is_name(line[at - 1]);
        if (is_number || (strchr("=|,;(){}[]<>", line[at]) != NULL) ||
            (line[at] == ':' && at + 1 < all.end)) {
            return false;
        }
    }
    ret->says = words.any;
    return (words.any & PLIM_WORD_MEMORY) != 0 && words.count <= WORDS_MAX &&
           (plim_is_name(line[all.end - 1]) || line[all.end - 1] == ':');
}

void plim_series_sections_look(plim_series_sections *sections, const char *line, size_t length)
{
    plim_series_section found = { 0 };
    uint32_t at = 0;
    for (; at < length && (line[at] == ' ' || line[at] == '\t'); at++) {
        found.indent += line[at] == '\t' ? TAB_BLANKS : 1;
    }
    if (at == length || !plim_is_letter(line[at])) {
        return;
    }
    while (sections->count > 0 && sections->items[sections->count - 1].indent >= found.indent) {
        sections->count--;
    }
    const plim_series_span all =
        plim_series_span_trim(line, (plim_series_span){ at, (uint32_t)length });
    found.length = all.end - all.at;
    if (found.length >= PLIM_SERIES_SECTION_BYTES_MAX ||
        sections->count == PLIM_SERIES_SECTIONS_MAX) {
        return;
    }
    if (!read_owner(line, all, &found)) {
        found.word_length = 0;
        found.number_at = 0;
        if (!read_topic(line, all, &found)) {
            return;
        }
        found.length -= line[all.end - 1] == ':' ? 1 : 0;
    }
    memcpy(found.text, line + all.at, found.length);
    sections->items[sections->count++] = found;
}

const plim_series_section *plim_series_sections_find(const plim_series_sections *sections,
                                                     bool is_owner)
{
    for (uint32_t i = sections->count; i-- > 0;) {
        if ((sections->items[i].number_at > 0) == is_owner) {
            return &sections->items[i];
        }
    }
    return NULL;
}

uint32_t plim_series_sections_id(const plim_series_sections *sections)
{
    uint32_t id = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < sections->count; i++) {
        for (uint32_t k = 0; k < sections->items[i].length; k++) {
            id = (id ^ (unsigned char)sections->items[i].text[k]) * 16777619u;
        }
    }
    return sections->count == 0 ? 0 : id | ID_BIT;
}
