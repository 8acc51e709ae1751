/*
 * test_flat.c - what is left of a stretch of text when its layout is left out.
 */
#include "oomtext/flattened.h"

/*
 * The flat form as a string: each character after the gap before it, "|" for a line end, "_" for
 * blanks, "~" for anything else.
 */
static void show(const plim_flat *flat, char *ret)
{
    for (size_t i = 0; i < flat->count; i++) {
        if (flat->gap[i] != 0) {
            *ret++ = (flat->gap[i] & PLIM_GAP_LINE) != 0    ? '|'
                     : (flat->gap[i] & PLIM_GAP_BLANK) != 0 ? '_'
                                                            : '~';
        }
        *ret++ = flat->full[i];
    }
    *ret = '\0';
}

typedef struct flat_case {
    const char *text;
    const char *shown;
} flat_case;

static void check(const flat_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        T_CASE("%zu: \"%s\"", i, cases[i].text);
        char shown[1024];
        plim_flat flat = t_flatten(cases[i].text);
        T_TRUE(2 * flat.count < sizeof shown);
        show(&flat, shown);
        T_EQ_STR(shown, cases[i].shown);
        plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
    }
}

static void blanks_and_line_ends_become_gaps(void)
{
    static const flat_case cases[] = {
        { "", "" },
        { "  \n\t", "" },
        { "Out of  Memory.", "|out_of_memory." },
        { "out\tof\nmemory", "|out_of|memory" },
        { "a\r\nb", "|a|b" },
        { "a \n b", "|a|b" },
        { "a\xc2\xa0"
          "b\xe3\x80\x80"
          "c\xe2\x80\x8b"
          "d",
          "|a_b_c_d" },
        { "a\x01"
          "b",
          "|a~b" },
        { "\"a\" 'b' `c`", "|a_b_c" },
    };
    check(cases, T_COUNT(cases));
}

static void colours_and_escapes_become_gaps(void)
{
    static const flat_case cases[] = {
        { "\x1b[31mout\x1b[0m of", "|out_of" },
        { "1.\x1b[1;31m57", "|1.~57" },
        { "a\x1b[Kb\x1b]0;title\x07"
          "c\x1b]8;;x\x1b\\d",
          "|a~b~c~d" },
        { "a\x1b", "|a" },
        { "a\x1b[", "|a" },
        { "a\x1b[31\nb", "|a~31|b" }, /* cut: no letter ends it */
        { "a\\nb", "|a|b" },
        { "a\\\\nb", "|a|b" },
        { "a\\tb", "|a_b" },
        { "say \\\"a\\\"", "|say_a" },
        { "\\u001b[31ma\\x1b[0m b\\033[1;2mc", "|a_b~c" },
        { "a\\", "|a" },
    };
    check(cases, T_COUNT(cases));
}

static void marks_of_quotation_are_left_out(void)
{
    static const flat_case cases[] = {
        { "> a\n> b", "|a|b" },   { "# a\n#   b", "|a|b" }, { "- **a** b", "|a_b" },
        { ">> a\n>> b", "|a|b" }, { "a > b", "|a_>_b" },
    };
    check(cases, T_COUNT(cases));
}

static void prefixes_are_kept_once(void)
{
    static const flat_case cases[] = {
        { "[rank0]: tried to allo\n[rank0]: cate 2", "|[rank0]:_tried_to_allo|cate_2" },
        { "[rank0]: a\n[rank1]: b", "|[rank0]:_a|b" },
        { "svc-1  | a\nsvc-1  | b", "|svc-1_|_a|b" },
        { "2024-05-01 10:00:01 x] a\n2024-05-01 10:00:02 x] b", "|2024-05-01_10:00:01_x]_a|b" },
        { "error: a\nerror: b", "|error:_a|error:_b" }, /* no prefix has no digit or bracket */
        { "[a] x\n[b] y", "|[a]_x|[b]_y" },
    };
    check(cases, T_COUNT(cases));
}

static void what_is_to_be_kept_is_no_prefix(void)
{
    static const char text[] = "[0] oom: a\n[1] oom: b";
    const size_t keep[] = { 4, 15 }; /* "oom" */
    char shown[64];
    plim_flat flat;
    T_TRUE(plim_flat_init(&flat, plim_mem_or_heap(NULL)));
    plim_flat_set(&flat, text, strlen(text), keep, T_COUNT(keep));
    show(&flat, shown);
    T_EQ_STR(shown, "|[0]_oom:_a|oom:_b");
    plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
}

/* Places lead back to the text, words to the characters. */
static void characters_know_their_place(void)
{
    static const char text[] = "Tried to\nallocate \x1b[31m2.00\x1b[0m MiB\r\n\r\n\"GPU 0\"";
    plim_flat flat = t_flatten(text);
    for (size_t i = 0; i < flat.count; i++) {
        const char c = text[flat.at[i]];
        size_t lines = 0;
        for (size_t k = 0; k < flat.at[i]; k++) {
            lines += text[k] == '\n';
        }
        T_EQ_U64(flat.full[i], c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        T_EQ_U64(flat.line[i], lines);
        T_TRUE(i == 0 || flat.at[i] > flat.at[i - 1]);
    }
    static const char words[] = "triedtoallocate200mibgpu0";
    T_EQ_U64(flat.word_count, strlen(words));
    T_EQ_MEM(flat.words, words, strlen(words));
    for (size_t w = 0; w < flat.word_count; w++) {
        T_EQ_U64(flat.words[w], flat.full[flat.word_at[w]]);
        T_EQ_U64(plim_flat_word_from(&flat, flat.at[flat.word_at[w]]), w);
    }
    T_EQ_U64(plim_flat_word_from(&flat, strlen(text)), flat.word_count);
    plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
}

T_MAIN(T_TEST(blanks_and_line_ends_become_gaps), T_TEST(colours_and_escapes_become_gaps),
       T_TEST(marks_of_quotation_are_left_out), T_TEST(prefixes_are_kept_once),
       T_TEST(what_is_to_be_kept_is_no_prefix), T_TEST(characters_know_their_place))
