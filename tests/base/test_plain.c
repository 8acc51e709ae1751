/*
 * test_plain.c - colours and wide blanks become blanks, byte for byte.
 */
#include "harness.h"

#include "base/plain.h"

typedef struct plain_case {
    const char *text;
    const char *shown;
} plain_case;

static void marks_become_blanks_byte_for_byte(void)
{
    static const plain_case cases[] = {
        { "a\x1b[31mb", "a     b" },
        { "a\xc2\xa0"
          "b\xe3\x80\x80"
          "c\xe2\x80\x8b"
          "d",
          "a  b   c   d" },
        { "a\\u001b[0mb", "a         b" },
        { "a\\\\u001b[0mb", "a          b" },
        { "\\n \\ \xc2\xb5 \xe2\x82\xac \xe3\x81\x82",
          "\\n \\ \xc2\xb5 \xe2\x82\xac \xe3\x81\x82" },
        { "a\x1b\nb", "a \nb" },
        { "a\x1b[3\nb", "a  3\nb" },
        { "", "" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%zu: \"%s\"", i, cases[i].text);
        char text[64];
        const size_t length = strlen(cases[i].text);
        memcpy(text, cases[i].text, length + 1);
        plim_plain_blank(text, length, length);
        T_EQ_STR(text, cases[i].shown);
    }
}

static void marks_after_the_limit_wait(void)
{
    char text[] = "\x1b[0m \x1b[0m";
    plim_plain_blank(text, strlen(text), 5);
    T_EQ_STR(text, "     \x1b[0m");
    plim_plain_blank(text, strlen(text), 6); /* begins before it: all of it goes */
    T_EQ_STR(text, "         ");
}

/* Line ends are never blanked, and a mark is as long however much follows. */
static void any_marks_keep_line_ends(void)
{
    static const char letters[] = "\x1b[]m3;\n\\\x07u001bxe0\xc2\xa0\xe2\x80\x8b\xe3 ";
    char text[200];
    char blanked[200];
    for (size_t round = 0; round < 20000; round++) {
        const size_t length = (size_t)t_random_between(0, sizeof text);
        const size_t limit = (size_t)t_random_between(0, length);
        for (size_t i = 0; i < length; i++) {
            text[i] = letters[t_random_between(0, sizeof letters - 2)];
        }
        memcpy(blanked, text, length);
        plim_plain_blank(blanked, length, limit);
        for (size_t i = 0; i < length; i++) {
            T_TRUE(blanked[i] == text[i] || blanked[i] == ' ');
            T_TRUE((blanked[i] == '\n') == (text[i] == '\n'));
        }
    }
}

T_MAIN(T_TEST(marks_become_blanks_byte_for_byte), T_TEST(marks_after_the_limit_wait),
       T_TEST(any_marks_keep_line_ends))
