/*
 * plain.c - colours and wide blanks out of the text of a log, and its lines counted.
 */
#include "base/plain.h"

#include "base/ascii.h"

#include <string.h>

size_t plim_plain_escape_bytes(const char *text, size_t bytes)
{
    size_t i = 1;
    if (bytes < 2 || (unsigned char)text[i] < 0x20) {
        return 1;
    }
    if (text[i] == '[') { /* CSI: parameters, then a letter */
        for (i = 2; i < bytes && i < 32 && (unsigned char)text[i] >= 0x20; i++) {
            if ((unsigned char)text[i] >= 0x40 && (unsigned char)text[i] <= 0x7e) {
                return i + 1;
            }
        }
        return 2;
    }
    if (text[i] == ']') { /* OSC: up to BEL or ESC \ */
        for (i = 2; i + 1 < PLIM_PLAIN_MARK_BYTES_MAX && i < bytes && text[i] != '\n'; i++) {
            if (text[i] == '\a') {
                return i + 1;
            }
            if (text[i] == '\x1b') {
                return i + 1 < bytes && text[i + 1] == '\\' ? i + 2 : i;
            }
        }
        return 2;
    }
    return 2;
}

size_t plim_plain_written_escape_bytes(const char *text, size_t bytes)
{
    static const char *const spellings[] = { "u001b[", "x1b[", "033[", "e[" };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const size_t length = strlen(spellings[i]);
        if (bytes > length && memcmp(text, spellings[i], length) == 0) {
            size_t end = length;
            while (end < bytes && end < 32 && (plim_is_digit(text[end]) || text[end] == ';')) {
                end++;
            }
            return end < bytes && plim_is_letter(text[end]) ? end + 1 : 0;
        }
    }
    return 0;
}

size_t plim_plain_wide_blank_bytes(const unsigned char *text, size_t bytes)
{
    if (bytes >= 2 && text[0] == 0xc2 && text[1] == 0xa0) {
        return 2;
    }
    if (bytes >= 3 && text[0] == 0xe2 && text[1] == 0x80 && text[2] >= 0x80 && text[2] <= 0x8f) {
        return 3;
    }
    if (bytes >= 3 && text[0] == 0xe3 && text[1] == 0x80 && text[2] == 0x80) {
        return 3;
    }
    return 0;
}

/* Bytes of a colour that was printed as text, with its backslashes; 0 for anything else. */
static size_t written_mark_bytes(const char *text, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && i < 4 && text[i] == '\\') {
        i++;
    }
    const size_t length = plim_plain_written_escape_bytes(text + i, bytes - i);
    return length > 0 ? i + length : 0;
}

static size_t wide_mark_bytes(const char *text, size_t bytes)
{
    return plim_plain_wide_blank_bytes((const unsigned char *)text, bytes);
}

typedef size_t mark_function(const char *text, size_t bytes);

/* All marks that begin with one byte. */
static void blank_some(char *text, size_t bytes, size_t limit, char first, mark_function *mark)
{
    size_t i = 0;
    while (i < limit) {
        const char *const found = memchr(text + i, first, limit - i);
        if (found == NULL) {
            return;
        }
        i = (size_t)(found - text);
        const size_t length = mark(found, bytes - i);
        memset(text + i, ' ', length);
        i += length > 0 ? length : 1;
    }
}

void plim_plain_blank(char *text, size_t bytes, size_t limit)
{
    blank_some(text, bytes, limit, '\x1b', plim_plain_escape_bytes);
    blank_some(text, bytes, limit, '\\', written_mark_bytes);
    blank_some(text, bytes, limit, '\xc2', wide_mark_bytes);
    blank_some(text, bytes, limit, '\xe2', wide_mark_bytes);
    blank_some(text, bytes, limit, '\xe3', wide_mark_bytes);
}

/* Sums of bytes in blocks of 255 are what compilers make vectors of. */
size_t plim_plain_line_count(const char *text, size_t bytes)
{
    size_t lines = 0;
    for (size_t i = 0; i < bytes;) {
        const size_t end = bytes - i < 255 ? bytes : i + 255;
        uint8_t some = 0;
        for (; i < end; i++) {
            some = (uint8_t)(some + (text[i] == '\n'));
        }
        lines += some;
    }
    return lines;
}
