/*
 * words.c - what the words of a label say together.
 */
#include "series/words.h"

#include <string.h>

#define LETTERS_MAX (PLIM_SERIES_WORD_BYTES - 1)

/* Eight letters as a number that orders like them: compilers make one load of it. */
static inline uint64_t in_order(const char *at)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof number; i++) {
        number = number << 8 | (unsigned char)at[i];
    }
    return number;
}

/* `word` has zeros up to PLIM_SERIES_WORD_BYTES, as the table's words have. */
static uint32_t look_up(const char *word)
{
    const uint64_t head = in_order(word);
    const uint64_t tail = in_order(word + sizeof head);
    const plim_series_vocabulary *const all = plim_series_vocabulary_shared();
    const plim_series_word *const words = all->words;
    const size_t letter = (unsigned char)word[0] & 127u;
    size_t low = all->words_from[letter];
    size_t high = all->words_from[letter + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const uint64_t its_head = in_order(words[middle].text);
        const uint64_t its_tail = in_order(words[middle].text + sizeof head);
        if (head == its_head && tail == its_tail) {
            return words[middle].says;
        }
        if (head < its_head || (head == its_head && tail < its_tail)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return 0;
}

/* Words run together: gpumem, maxmem, memused, memalloc. */
static uint32_t look_up_compound(const char *word, size_t length)
{
    if (length > 3 && strncmp(word, "mem", 3) == 0) {
        char tail[LETTERS_MAX + 1] = { 0 };
        memcpy(tail, word + 3, length - 3);
        const uint32_t rest = look_up(tail);
        return (rest & (PLIM_WORD_HOLD | PLIM_WORD_AMOUNT)) != 0 ? PLIM_WORD_MEMORY | rest : 0;
    }
    if (length > 3 && strcmp(word + length - 3, "mem") == 0) {
        char head[LETTERS_MAX + 1] = { 0 };
        memcpy(head, word, length - 3);
        const uint32_t rest = look_up(head) & ~(uint32_t)PLIM_WORD_IDENTITY;
        return rest != 0 ? PLIM_WORD_MEMORY | rest : 0;
    }
    return 0;
}

/* "memory" in Chinese (of a device, of a host), which is written without blanks. */
static uint32_t look_up_foreign(const char *line, plim_series_span word)
{
    static const char device[] = "\xe6\x98\xbe\xe5\xad\x98";
    static const char host[] = "\xe5\x86\x85\xe5\xad\x98";
    const size_t length = sizeof device - 1;
    for (size_t at = word.at; at + length <= word.end; at++) {
        if (memcmp(line + at, device, length) == 0) {
            return PLIM_WORD_MEMORY;
        }
        if (memcmp(line + at, host, length) == 0) {
            return PLIM_WORD_MEMORY | PLIM_WORD_HOST;
        }
    }
    return 0;
}

static const char *step_name(const char *word, uint32_t sets)
{
    if ((sets & PLIM_WORD_EPOCH) != 0) {
        return "epoch";
    }
    switch (word[0]) {
    case 'b':
        return "batch";
    case 'i':
        return "iteration";
    case 'u':
        return "update";
    default:
        return "step";
    }
}

static void add_word(plim_series_words *all, const char *line, plim_series_span word)
{
    const size_t length = word.end - word.at;
    char lower[LETTERS_MAX + 1] = { 0 };
    uint32_t sets = 0;
    if ((unsigned char)line[word.at] >= 0x80) {
        sets = look_up_foreign(line, word);
    } else if (length <= LETTERS_MAX) {
        for (size_t i = 0; i < length; i++) {
            lower[i] = plim_lower(line[word.at + i]);
        }
        sets = look_up(lower);
        sets = sets == 0 ? look_up_compound(lower, length) : sets;
    }
    all->count++;
    all->any |= sets;
    const char before = word.at == 0 ? ' ' : line[word.at - 1];
    const int8_t log2 = plim_series_unit_of(line + word.at, length);
    /* A letter alone is a unit in (G) and [M], not in words. */
    if (log2 >= 0 && (length > 1 || before == '(' || before == '[')) {
        all->unit = (plim_series_unit){ .log2 = log2, .text = word };
        return; /* not the last word: what is "used (MB)" is used */
    }
    all->last = sets;
    if (strcmp(lower, "maxrss") == 0 && all->unit.log2 == PLIM_UNIT_NONE) {
        all->unit.log2 = 10; /* getrusage() on Linux counts KiB */
    }
    if ((sets & (PLIM_WORD_STEP | PLIM_WORD_EPOCH)) != 0) {
        all->step_name = step_name(lower, sets);
    }
}

/* True if a word ends before `at`: memUsed, GPUMem. */
static bool is_hump(const char *line, plim_series_span text, size_t at)
{
    if (!plim_is_upper(line[at])) {
        return false;
    }
    const bool after_small = !plim_is_upper(line[at - 1]);
    const bool before_small =
        at + 1 < text.end && plim_is_alphabetic(line[at + 1]) && !plim_is_upper(line[at + 1]);
    /* "MiB" and "GiB" are one word. */
    return after_small ? !(line[at] == 'B' && line[at - 1] == 'i') : before_small;
}

plim_series_words plim_series_words_of(const char *line, plim_series_span text)
{
    plim_series_words all = { .unit = { .log2 = PLIM_UNIT_NONE } };
    uint32_t at = text.at;
    while (at < text.end) {
        if (!plim_is_alphabetic(line[at])) {
            at++;
            continue;
        }
        plim_series_span word = { .at = at };
        const bool is_foreign = (unsigned char)line[at] >= 0x80;
        do {
            at++;
        } while (at < text.end && plim_is_alphabetic(line[at]) &&
                 ((unsigned char)line[at] >= 0x80) == is_foreign && !is_hump(line, text, at));
        word.end = at;
        add_word(&all, line, word);
    }
    return all;
}

bool plim_series_is_host(uint32_t any)
{
    return (any & PLIM_WORD_HOST) != 0 &&
           (any & PLIM_WORD_ACCELERATOR) == 0; /* a GPU's RAM is its own */
}

bool plim_series_is_total(uint32_t any)
{
    const uint32_t others = PLIM_WORD_USED | PLIM_WORD_PEAK | PLIM_WORD_FREE;
    return (any & PLIM_WORD_TOTAL) != 0 && (any & others) == 0;
}

plim_series_kind plim_series_kind_of(uint32_t any)
{
    const bool is_peak = (any & PLIM_WORD_PEAK) != 0;
    if ((any & PLIM_WORD_FREE) != 0) {
        return PLIM_SERIES_FREE;
    }
    if (plim_series_is_host(any)) {
        return PLIM_SERIES_HOST;
    }
    if (plim_series_is_total(any)) {
        return PLIM_SERIES_TOTAL;
    }
    if ((any & PLIM_WORD_RESERVED) != 0) {
        return is_peak ? PLIM_SERIES_PEAK_RESERVED : PLIM_SERIES_RESERVED;
    }
    return is_peak ? PLIM_SERIES_PEAK : PLIM_SERIES_USED;
}

/* --- failures --- */

static bool is_folded_at(const char *line, size_t length, const char *phrase)
{
    for (size_t i = 0; phrase[i] != '\0'; i++) {
        if (i == length || plim_lower(line[i]) != phrase[i]) {
            return false;
        }
    }
    return true;
}

bool plim_series_says_out_of_memory(const char *line, size_t length)
{
    static const char *const phrases[] = { "out of memory", "outofmemory", "to allocate",
                                           "out_of_memory", "cannot allocate" };
    for (size_t at = 0; at < length; at++) {
        const char c = plim_lower(line[at]);
        if (c != 'o' && c != 't' && c != 'c') {
            continue;
        }
        for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
            if (is_folded_at(line + at, length - at, phrases[i])) {
                return true;
            }
        }
    }
    return false;
}
