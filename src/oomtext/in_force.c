/*
 * in_force.c - the text on both sides of a mark.
 */
#include "oomtext/in_force.h"

#include "base/ascii.h"
#include "oomtext/scan.h"

#include <string.h>

#define HINT_BYTES 64u /* before a mark, where a hint would say "try setting" */

static bool contains(const char *text, size_t bytes, const char *part, size_t part_bytes)
{
    for (size_t i = 0; i + part_bytes <= bytes; i++) {
        if (memcmp(text + i, part, part_bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* True if the text before a mark, on its line, gives advice: "try setting …", "consider …". */
static bool is_hint(const char *text, size_t begin)
{
    char before[HINT_BYTES];
    char phrase[PLIM_PHRASE_TEXT_BYTES];
    char folded[PLIM_PHRASE_TEXT_BYTES];
    size_t from = begin;
    while (from > 0 && begin - from < HINT_BYTES && text[from - 1] != '\n') {
        from--;
    }
    const size_t count = plim_scan_fold(text + from, begin - from, before);
    const char *const *const rows = plim_message_tables()->words[PLIM_WORDS_HINTS];
    for (size_t r = 0; rows[r] != NULL; r++) {
        for (const char *list = rows[r]; plim_phrase_next(&list, phrase, sizeof phrase);) {
            const size_t length = plim_scan_fold(phrase, strlen(phrase), folded);
            if (contains(before, count, folded, length)) {
                return true;
            }
        }
    }
    return false;
}

bool plim_in_force_holds(const plim_text_mark *mark, const char *text, size_t bytes, size_t begin,
                         size_t end)
{
    const char next = end < bytes ? text[end] : '\n';
    const char digit = end + 1 < bytes ? text[end + 1] : '\n';
    if (strcmp(mark->follows, "end") == 0) { /* "batch_size=1", not "16" */
        if (plim_is_digit(next) || next == '.') {
            return false;
        }
    } else if (mark->follows[0] != '\0' &&
               (strchr(mark->follows, next) == NULL || !plim_is_digit(digit))) {
        return false;
    }
    if (strchr(mark->follows, ']') != NULL) { /* "engine.py:157]", a logger's place in a source */
        size_t i = end + 1;
        while (i < bytes && plim_is_digit(text[i])) {
            i++;
        }
        if (i >= bytes || text[i] != ']') {
            return false;
        }
    }
    return !is_hint(text, begin);
}
