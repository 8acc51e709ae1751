/*
 * printable.c - what of a text is safe to show, and how wide it is.
 *
 * Widths are those of the terminals in use, by ranges of Unicode's East Asian Width and of its
 * combining marks, coarse on purpose: a wrong width costs alignment, never safety. The C
 * library's wcwidth() would need a locale to be set.
 */
#include "report/term/printable.h"

#include "base/assert.h"
#include "base/utf8.h"

#include <string.h>

typedef struct code_range {
    uint32_t first;
    uint32_t last;
} code_range;

/* C0, DEL, C1; marks that turn direction or join invisibly; the surrogates' and other holes. */
static const code_range forbidden[] = {
    { 0x0000, 0x001f },   { 0x007f, 0x009f },    { 0x00ad, 0x00ad }, { 0x061c, 0x061c },
    { 0x180e, 0x180e },   { 0x200b, 0x200f },    { 0x2028, 0x202e }, { 0x2060, 0x206f },
    { 0xfeff, 0xfeff },   { 0xfff0, 0xfffb },    { 0xfffe, 0xffff }, { 0xe000, 0xf8ff },
    { 0xe0000, 0xe0fff }, { 0xf0000, 0x10ffff },
};

static const code_range combining[] = {
    { 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x064b, 0x065f },
    { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1ab0, 0x1aff },
    { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};

static const code_range wide[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
    { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
    { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff },
    { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

#define IN_RANGES(code, ranges) in_ranges((code), (ranges), sizeof(ranges) / sizeof((ranges)[0]))

static bool in_ranges(uint32_t code, const code_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* Our own characters, and what ASCII has for them: a page has them in its words. */
static const struct {
    uint32_t code;
    plim_printable in_ascii;
} substitutes[] = {
    { 0x00b7, { { '-' }, 1, 1 } },      /* between facts of one line */
    { 0x00d7, { { 'x' }, 1, 1 } },      /* after a count */
    { 0x2190, { { '<', '-' }, 2, 2 } }, /* "was called from" */
};

static plim_printable substitute(uint32_t code, bool utf8)
{
    for (size_t i = 0; !utf8 && i < sizeof substitutes / sizeof substitutes[0]; i++) {
        if (code == substitutes[i].code) {
            return substitutes[i].in_ascii;
        }
    }
    /* U+FFFD, or what ASCII has in its place. */
    return utf8 ? (plim_printable){ { '\xef', '\xbf', '\xbd' }, 3, 1 }
                : (plim_printable){ { '?' }, 1, 1 };
}

static uint8_t columns_of(uint32_t code)
{
    if (code < 0x300) {
        return 1;
    }
    if (IN_RANGES(code, combining)) {
        return 0;
    }
    return IN_RANGES(code, wide) ? 2 : 1;
}

size_t plim_printable_next(const char *data, size_t bytes, bool utf8, plim_printable *ret)
{
    PLIM_ASSERT_DEBUG(bytes > 0);
    if (data[0] >= ' ' && data[0] <= '~') { /* nearly all of a page */
        *ret = (plim_printable){ { data[0] }, 1, 1 };
        return 1;
    }
    const plim_utf8 next = plim_utf8_next(data, bytes);
    const uint32_t code = next.code;
    if (code == PLIM_UTF8_INVALID || IN_RANGES(code, forbidden) || (code >= 0x80 && !utf8)) {
        *ret = substitute(code, utf8);
        return next.bytes;
    }
    ret->byte_count = (uint8_t)next.bytes;
    ret->columns = columns_of(code);
    memcpy(ret->bytes, data, next.bytes);
    return next.bytes;
}

uint32_t plim_printable_columns(const char *data, size_t bytes, bool utf8)
{
    uint32_t columns = 0;
    plim_printable one;
    for (size_t i = 0; i < bytes;) {
        i += plim_printable_next(data + i, bytes - i, utf8, &one);
        columns += one.columns;
    }
    return columns;
}
