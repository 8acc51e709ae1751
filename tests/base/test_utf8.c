/*
 * test_utf8.c - characters, and what is none, against an encoder and Unicode's own examples.
 */
#include "base/utf8.h"
#include "harness.h"

static size_t encode(uint32_t code, char to[4])
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    const size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = bytes - 1; i > 0; i--, code >>= 6) {
        to[i] = (char)(0x80 | (code & 0x3f));
    }
    to[0] = (char)((0xf00u >> bytes & 0xf0) | code);
    return bytes;
}

static void every_code_point_is_read_back_but_surrogates(void)
{
    for (uint32_t code = 0; code < 0x110000; code++) {
        char text[4];
        const size_t bytes = encode(code, text);
        const plim_utf8 read = plim_utf8_next(text, bytes);
        const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
        T_CASE("U+%04x", code);
        T_EQ_U64(read.code, is_surrogate ? PLIM_UTF8_INVALID : code);
        T_EQ_U64(read.bytes, is_surrogate ? 1 : bytes);
    }
}

static void invalid_pieces_end_where_no_character_goes_on(void)
{
    static const struct {
        const char *name;
        const char *text;
        size_t bytes; /* of the first piece */
    } cases[] = {
        { "a lone continuation", "\x80", 1 },
        { "an overlong form of two bytes", "\xc0\xaf", 1 },
        { "an overlong form of three bytes", "\xe0\x80\xbf", 1 },
        { "an overlong form of four bytes", "\xf0\x81\x82\x41", 1 },
        { "a surrogate", "\xed\xa0\x80", 1 },
        { "beyond U+10FFFF", "\xf4\x91\x92\x93", 1 },
        { "a byte that never occurs", "\xff", 1 },
        { "two bytes of three, then a letter",
          "\xe2\x80"
          "A",
          2 },
        { "three bytes of four, then another lead", "\xf0\x91\x92\xf1", 3 },
        { "a character cut by the end", "\xf1\xbf", 2 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        const plim_utf8 read = plim_utf8_next(cases[i].text, strlen(cases[i].text));
        T_EQ_U64(read.code, PLIM_UTF8_INVALID);
        T_EQ_U64(read.bytes, cases[i].bytes);
    }
}

T_MAIN(T_TEST(every_code_point_is_read_back_but_surrogates),
       T_TEST(invalid_pieces_end_where_no_character_goes_on))
