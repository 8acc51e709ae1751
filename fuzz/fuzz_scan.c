/*
 * fuzz_scan.c - any phrases in any text: what is found is there, and everything there is found.
 *
 * The input is phrases, one a line, up to an empty line; then the text. It is repeated, so that a
 * short input fills several blocks.
 */
#include "base/assert.h"
#include "oomtext/scan.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX ((size_t)2 << 10)
#define PHRASES_MAX     ((size_t)8)
#define REPEATED_BYTES  ((size_t)20 << 10)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct phrase_list {
    char room[PHRASES_MAX][PLIM_SCAN_PHRASE_BYTES_MAX + 2];
    const char *phrases[PHRASES_MAX];
    size_t count;
} phrase_list;

/* Takes lines as phrases; returns what follows the empty line. */
static size_t take_phrases(const uint8_t *data, size_t size, phrase_list *ret)
{
    size_t at = 0;
    while (at < size && data[at] != '\n') {
        const uint8_t *const line_end = memchr(data + at, '\n', size - at);
        const size_t bytes = (line_end == NULL ? size : (size_t)(line_end - data)) - at;
        if (ret->count < PHRASES_MAX) {
            char *const phrase = ret->room[ret->count];
            const size_t taken = bytes < sizeof ret->room[0] - 1 ? bytes : sizeof ret->room[0] - 1;
            memcpy(phrase, data + at, taken);
            phrase[taken] = '\0';
            ret->phrases[ret->count++] = phrase;
        }
        at += bytes + (line_end == NULL ? 0 : 1);
    }
    return at < size ? at + 1 : size;
}

/* The number of times any of the phrases is in the folded text, wherever. */
static size_t count_all(const phrase_list *list, const char *folded, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const size_t bytes = strlen(list->phrases[i]);
        for (size_t at = 0; at + bytes <= length; at++) {
            count += memcmp(folded + at, list->phrases[i], bytes) == 0;
        }
    }
    return count;
}

static void search(plim_scan *scan, const phrase_list *list, const char *text, size_t bytes,
                   char *folded)
{
    plim_scan_hit hit;
    size_t found = 0;
    size_t last = 0;
    plim_scan_begin(scan, text, bytes);
    while (plim_scan_next(scan, &hit)) {
        PLIM_ASSERT(hit.phrase < list->count);
        PLIM_ASSERT(hit.offset >= last);
        PLIM_ASSERT(hit.end <= bytes);
        last = hit.offset;
        const char *const phrase = list->phrases[hit.phrase];
        const size_t length = plim_scan_fold(text + hit.offset, hit.end - hit.offset, folded);
        PLIM_ASSERT(length == strlen(phrase));
        PLIM_ASSERT(memcmp(folded, phrase, length) == 0);
        found++;
    }
    PLIM_ASSERT(found == count_all(list, folded, plim_scan_fold(text, bytes, folded)));
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    phrase_list list = { .count = 0 };
    plim_scan *scan = NULL;
    plim_error err;
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    const size_t begin = take_phrases(data, size, &list);
    if (plim_scan_create(list.phrases, list.count, NULL, &scan, &err) != PLIM_OK) {
        PLIM_ASSERT(err.status == PLIM_INVALID_ARGUMENT);
        return 0;
    }
    const size_t unit = size - begin;
    const size_t bytes = unit == 0 ? 0 : (REPEATED_BYTES / unit + 1) * unit;
    char *const text = malloc(bytes + 1);
    char *const folded = malloc(bytes + 1);
    if (text != NULL && folded != NULL) {
        for (size_t at = 0; at < bytes; at += unit) {
            memcpy(text + at, data + begin, unit);
        }
        search(scan, &list, text, unit, folded);
        search(scan, &list, text, bytes, folded);
    }
    free(folded);
    free(text);
    plim_scan_destroy(scan);
    return 0;
}
