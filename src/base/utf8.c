/*
 * utf8.c - see utf8.h.
 */
#include "base/utf8.h"

#include "base/assert.h"

plim_utf8 plim_utf8_next(const char *data, size_t left)
{
    PLIM_ASSERT_DEBUG(left > 0);
    const unsigned char *p = (const unsigned char *)data;
    const unsigned char first = p[0];
    if (first < 0x80) {
        return (plim_utf8){ first, 1 };
    }
    /* Unicode 15, table 3-7, row by row: the bounds of the second byte depend on the first. */
    size_t length = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (first >= 0xc2 && first <= 0xdf) {
        length = 2;
    } else if (first >= 0xe0 && first <= 0xef) {
        length = 3;
        low = first == 0xe0 ? 0xa0 : low;   /* shorter forms exist below */
        high = first == 0xed ? 0x9f : high; /* surrogates are above */
    } else if (first >= 0xf0 && first <= 0xf4) {
        length = 4;
        low = first == 0xf0 ? 0x90 : low;
        high = first == 0xf4 ? 0x8f : high; /* the last character is U+10FFFF */
    } else {
        return (plim_utf8){ PLIM_UTF8_INVALID, 1 };
    }
    uint32_t code = first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (i == left || p[i] < low || p[i] > high) {
            return (plim_utf8){ PLIM_UTF8_INVALID, i };
        }
        code = code << 6 | (p[i] & 0x3fu);
        low = 0x80;
        high = 0xbf;
    }
    return (plim_utf8){ code, length };
}
