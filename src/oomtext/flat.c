/*
 * flat.c - leaving out what logs put between the characters of a message.
 */
#include "oomtext/flat.h"

#include "base/assert.h"
#include "base/plain.h"

#include <string.h>

#define PREFIX_BYTES_MAX 160u /* of what stands before each line of a log */

bool plim_flat_init(plim_flat *flat, const plim_mem *mem)
{
    const size_t n = PLIM_FLAT_BYTES_MAX;
    *flat = (plim_flat){
        .full = plim_mem_alloc(mem, n, sizeof *flat->full),
        .gap = plim_mem_alloc(mem, n, sizeof *flat->gap),
        .line = plim_mem_alloc(mem, n, sizeof *flat->line),
        .at = plim_mem_alloc(mem, n, sizeof *flat->at),
        .read = plim_mem_alloc(mem, n, sizeof *flat->read),
        .words = plim_mem_alloc(mem, n, sizeof *flat->words),
        .word_at = plim_mem_alloc(mem, n, sizeof *flat->word_at),
    };
    if (flat->full != NULL && flat->gap != NULL && flat->line != NULL && flat->at != NULL &&
        flat->read != NULL && flat->words != NULL && flat->word_at != NULL) {
        return true;
    }
    plim_flat_deinit(flat, mem);
    return false;
}

void plim_flat_deinit(plim_flat *flat, const plim_mem *mem)
{
    const size_t n = PLIM_FLAT_BYTES_MAX;
    plim_mem_free(mem, flat->full, n, sizeof *flat->full);
    plim_mem_free(mem, flat->gap, n, sizeof *flat->gap);
    plim_mem_free(mem, flat->line, n, sizeof *flat->line);
    plim_mem_free(mem, flat->at, n, sizeof *flat->at);
    plim_mem_free(mem, flat->read, n, sizeof *flat->read);
    plim_mem_free(mem, flat->words, n, sizeof *flat->words);
    plim_mem_free(mem, flat->word_at, n, sizeof *flat->word_at);
    *flat = (plim_flat){ 0 };
}

/* How far two texts agree, taking any run of digits for any other. */
static size_t alike_bytes(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    size_t i = 0;
    size_t j = 0;
    while (i < a_bytes && j < b_bytes) {
        if (plim_is_digit(a[i]) && plim_is_digit(b[j])) {
            while (i < a_bytes && plim_is_digit(a[i])) {
                i++;
            }
            while (j < b_bytes && plim_is_digit(b[j])) {
                j++;
            }
        } else if (a[i] == b[j]) {
            i++;
            j++;
        } else {
            break;
        }
    }
    return j;
}

/* A clock: "2024-05-01T10:00:00.123Z". */
static bool ends_in_clock(const char *line, size_t bytes)
{
    size_t colons = 0;
    size_t i = bytes;
    while (i > 0 && (plim_is_digit(line[i - 1]) || strchr(":.,-+TZ", line[i - 1]) != NULL)) {
        colons += line[--i] == ':';
    }
    return colons >= 2;
}

/* "ERROR:root:", as Python's logging begins lines: where it ends, or 0. */
static size_t level_bytes(const char *line, size_t bytes)
{
    static const char *const levels[] = { "DEBUG:", "INFO:", "WARNING:", "ERROR:", "CRITICAL:" };
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const size_t length = strlen(levels[i]);
        const char *const name_end = bytes > length && memcmp(line, levels[i], length) == 0
                                         ? memchr(line + length, ':', bytes - length)
                                         : NULL;
        if (name_end != NULL) {
            return (size_t)(name_end - line) + 1;
        }
    }
    return 0;
}

/* What ends a prefix: "[rank0]: ", "service-1  | ", "> ", "main:12 - ". */
static bool ends_prefix(const char *line, size_t bytes)
{
    size_t i = bytes;
    while (i > 0 && (line[i - 1] == ' ' || line[i - 1] == '\t')) {
        i--;
    }
    if (i < bytes && ends_in_clock(line, i)) {
        return true;
    }
    if (i > 0 && line[i - 1] == ')' && memchr(line, '(', i) == NULL) {
        return false; /* "32212254720) / total" */
    }
    const bool is_dash = i > 1 && i < bytes && line[i - 1] == '-' && line[i - 2] == ' ';
    return is_dash || (i > 0 && i < bytes && strchr(":])|>#", line[i - 1]) != NULL);
}

/*
 * The part of `line` that repeats the beginning of the line before: a rank, a time, a service.
 * It has a digit or a bracket in it, as prefixes do and sentences do not.
 */
static size_t prefix_bytes(const char *last, size_t last_bytes, const char *line, size_t bytes)
{
    const size_t a = last_bytes < PREFIX_BYTES_MAX ? last_bytes : PREFIX_BYTES_MAX;
    const size_t b = bytes < PREFIX_BYTES_MAX ? bytes : PREFIX_BYTES_MAX;
    size_t alike = alike_bytes(last, a, line, b);
    const size_t level = level_bytes(line, alike);
    if (level > 0) {
        return level;
    }
    while (alike > 0 && !ends_prefix(line, alike)) {
        alike--;
    }
    for (size_t i = 0; i < alike; i++) {
        if (plim_is_digit(line[i]) || strchr("[](){}|#>", line[i]) != NULL) {
            return alike;
        }
    }
    return 0;
}

/* A backslash and what follows: "\n", "\\n", "\"", "\u001b[0m"; sets the gap it stands for. */
static size_t backslash_bytes(const char *text, size_t bytes, uint8_t *gap)
{
    size_t i = 0;
    while (i < bytes && text[i] == '\\') {
        i++;
    }
    *gap |= PLIM_GAP_OTHER;
    if (i < bytes && (text[i] == 'n' || text[i] == 'r')) {
        *gap |= PLIM_GAP_LINE;
        return i + 1;
    }
    if (i < bytes && text[i] == 't') {
        *gap |= PLIM_GAP_BLANK;
        return i + 1;
    }
    return i + plim_plain_written_escape_bytes(text + i, bytes - i);
}

/* What is left out at this place: how many bytes, and the gap they leave. 0: a character. */
static size_t skipped_bytes(const char *text, size_t bytes, uint8_t *gap)
{
    const unsigned char c = (unsigned char)text[0];
    if (c == ' ' || c == '\t') {
        *gap |= PLIM_GAP_BLANK;
        return 1;
    }
    if (c == '\n' || c == '\r') {
        *gap |= PLIM_GAP_LINE;
        return 1;
    }
    if (c == 0x1b) {
        *gap |= PLIM_GAP_OTHER;
        return plim_plain_escape_bytes(text, bytes);
    }
    if (c == '\\') {
        return backslash_bytes(text, bytes, gap);
    }
    if (c == '"' || c == '\'' || c == '`' || c == '*' || c < 0x20 || c == 0x7f) {
        *gap |= PLIM_GAP_OTHER;
        return 1;
    }
    const size_t wide = plim_plain_wide_blank_bytes((const unsigned char *)text, bytes);
    if (wide > 0) {
        *gap |= PLIM_GAP_BLANK;
    }
    return wide;
}

static bool is_quote_mark(char c)
{
    return c == '#' || c == '>' || c == '|' || c == '*' || c == '-' || c == '_';
}

static void put(plim_flat *flat, char c, uint8_t gap, uint16_t line, uint32_t at)
{
    const char lower = plim_lower(c);
    const size_t i = flat->count++;
    flat->full[i] = lower;
    flat->gap[i] = gap;
    flat->line[i] = line;
    flat->at[i] = at;
    flat->read[i] = i == 0 ? 0 : flat->read[i - 1] + 1u + (gap != 0);
    if (plim_is_word_char(lower)) {
        flat->words[flat->word_count] = lower;
        flat->word_at[flat->word_count++] = (uint32_t)i;
    }
}

/* How far a line may lose its head: up to its end, or to a phrase that must stay. */
static size_t head_limit(const plim_flat *flat, size_t line, const size_t *keep, size_t keep_count)
{
    size_t limit = flat->text_bytes;
    const char *end = memchr(flat->text + line, '\n', flat->text_bytes - line);
    if (end != NULL) {
        limit = (size_t)(end - flat->text);
    }
    for (size_t low = 0, high = keep_count; low < high;) { /* the first one on this line */
        const size_t middle = low + (high - low) / 2;
        if (keep[middle] < line) {
            low = middle + 1;
        } else {
            high = middle;
            limit = keep[middle] < limit ? keep[middle] : limit;
        }
    }
    return limit;
}

/* At the beginning of a line: after the prefix it shares with the last, and marks of quotation. */
static size_t skip_line_head(const plim_flat *flat, size_t line, size_t last, size_t limit)
{
    const char *text = flat->text;
    size_t i = line;
    if (line > last) {
        i += prefix_bytes(text + last, line - last, text + line, limit - line);
    }
    while (i < limit && (is_quote_mark(text[i]) || text[i] == ' ' || text[i] == '\t')) {
        const char next = i + 1 < limit ? text[i + 1] : '\n';
        if ((text[i] == '-' || text[i] == '_') && (plim_is_digit(next) || plim_is_lower(next))) {
            break; /* "exit code" and "-9" on two lines, "GPU_0" and "_bfc", "total" and "-vm" */
        }
        i++;
    }
    if (limit - i > 2 && text[i] == '/' && text[i + 1] == '/') {
        i += 2; /* a comment in a program */
    }
    return i;
}

void plim_flat_set(plim_flat *flat, const char *text, size_t bytes, const size_t *keep,
                   size_t keep_count)
{
    PLIM_ASSERT(bytes <= PLIM_FLAT_BYTES_MAX);
    flat->text = text;
    flat->text_bytes = bytes;
    flat->count = 0;
    flat->word_count = 0;
    uint16_t line = 0;
    uint8_t gap = PLIM_GAP_LINE;
    size_t last_begin = 0; /* of the line before this one */
    size_t line_begin = 0;
    size_t i = skip_line_head(flat, 0, 0, head_limit(flat, 0, keep, keep_count));
    while (i < bytes) {
        uint8_t left_out = 0;
        const size_t skipped = skipped_bytes(text + i, bytes - i, &left_out);
        gap |= left_out;
        if (skipped == 0) {
            put(flat, text[i], gap, line, (uint32_t)i);
            gap = 0;
            i++;
            continue;
        }
        const bool ends_line = text[i] == '\n' || text[i] == '\r';
        i += skipped;
        if (ends_line) {
            line = (uint16_t)(line + (text[i - 1] == '\n'));
            last_begin = line_begin;
            line_begin = i;
            i = skip_line_head(flat, i, last_begin, head_limit(flat, i, keep, keep_count));
        }
    }
}

size_t plim_flat_word_from(const plim_flat *flat, size_t offset)
{
    size_t low = 0;
    size_t high = flat->word_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (flat->at[flat->word_at[middle]] < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t read_of(const plim_flat *flat, size_t w)
{
    if (w < flat->word_count) {
        return flat->read[flat->word_at[w]];
    }
    return flat->count > 0 ? flat->read[flat->count - 1] + 1u : 0;
}

/* The first word with at least so much before it. */
static size_t word_at_read(const plim_flat *flat, uint64_t read)
{
    size_t low = 0;
    size_t high = flat->word_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (read_of(flat, middle) < read) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t plim_flat_distance(const plim_flat *flat, size_t a, size_t b)
{
    return read_of(flat, b) - read_of(flat, a);
}

size_t plim_flat_word_before(const plim_flat *flat, size_t w, size_t distance)
{
    const uint32_t read = read_of(flat, w);
    return read > distance ? word_at_read(flat, read - distance) : 0;
}

size_t plim_flat_word_after(const plim_flat *flat, size_t w, size_t distance)
{
    return word_at_read(flat, (uint64_t)read_of(flat, w) + distance);
}
