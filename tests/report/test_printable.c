/*
 * test_printable.c - nothing dangerous passes, whatever bytes come in.
 */
#include "harness.h"

#include "report/term/printable.h"

#define FFFD "\xef\xbf\xbd"

static void clean(const char *data, size_t bytes, bool utf8, char *out)
{
    for (size_t i = 0; i < bytes;) {
        plim_printable one;
        const size_t taken = plim_printable_next(data + i, bytes - i, utf8, &one);
        T_TRUE(taken >= 1);
        T_TRUE(taken <= bytes - i);
        memcpy(out, one.bytes, one.byte_count);
        out += one.byte_count;
        i += taken;
    }
    *out = '\0';
}

static const struct {
    const char *name;
    const char *in;
    const char *utf8;
    const char *ascii;
    uint32_t columns; /* in UTF-8 */
} cases[] = {
    { "plain text stays", "model.py:42", "model.py:42", "model.py:42", 11 },
    { "accents stay where they may", "caf\xc3\xa9", "caf\xc3\xa9", "caf?", 4 },
    { "an escape sequence loses its escape", "\033[31mred", FFFD "[31mred", "?[31mred", 8 },
    { "no newlines, tabs, bells", "a\nb\tc\a", "a" FFFD "b" FFFD "c" FFFD, "a?b?c?", 6 },
    { "no delete", "a\x7f", "a" FFFD, "a?", 2 },
    { "no C1 controls in UTF-8",
      "a\xc2\x9b"
      "31m",
      "a" FFFD "31m", "a?31m", 5 },
    { "no raw C1 bytes",
      "a\x9b"
      "31m",
      "a" FFFD "31m", "a?31m", 5 },
    { "nothing turns the direction",
      "a\xe2\x80\xae"
      "b\xe2\x80\xac",
      "a" FFFD "b" FFFD, "a?b?", 4 },
    { "nothing is invisible",
      "a\xe2\x80\x8b"
      "b\xef\xbb\xbf",
      "a" FFFD "b" FFFD, "a?b?", 4 },
    { "overlong forms are bytes", "\xc0\xaf", FFFD FFFD, "??", 2 },
    { "surrogates are bytes", "\xed\xa0\x80", FFFD FFFD FFFD, "???", 3 },
    { "beyond Unicode are bytes", "\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD, "????", 4 },
    { "a cut character is one mark", "\xe6\x97", FFFD, "?", 1 },
    { "wide characters count twice", "\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac", "??",
      4 },
    { "combining ones not at all", "e\xcc\x81", "e\xcc\x81", "e?", 1 },
};

static void strips_what_could_harm(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        char out[128];
        T_CASE("%s", cases[i].name);
        clean(cases[i].in, strlen(cases[i].in), true, out);
        T_EQ_STR(out, cases[i].utf8);
        clean(cases[i].in, strlen(cases[i].in), false, out);
        T_EQ_STR(out, cases[i].ascii);
        T_EQ_U64(plim_printable_columns(cases[i].in, strlen(cases[i].in), true), cases[i].columns);
    }
}

static void zero_bytes_are_replaced(void)
{
    char out[16];
    clean("a\0b", 3, true, out);
    T_EQ_STR(out, "a" FFFD "b");
}

/* Cleaning twice changes nothing, and no control byte survives. */
static void random_bytes_come_out_clean(void)
{
    for (int round = 0; round < 2000; round++) {
        char in[64];
        char once[256];
        char twice[1024];
        for (size_t i = 0; i < sizeof in; i++) {
            in[i] = (char)t_random_between(0, 255);
        }
        clean(in, sizeof in, round % 2 == 0, once);
        clean(once, strlen(once), round % 2 == 0, twice);
        T_EQ_STR(once, twice);
        for (const char *c = once; *c != '\0'; c++) {
            T_TRUE((unsigned char)*c >= 0x20);
            T_TRUE(*c != 0x7f);
        }
    }
}

T_MAIN(T_TEST(strips_what_could_harm), T_TEST(zero_bytes_are_replaced),
       T_TEST(random_bytes_come_out_clean))
