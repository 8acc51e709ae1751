/*
 * test_words.c - a command line in one string becomes the words a shell would make of it.
 */
#include "harness.h"

#include "cli/words.h"

#include <stdio.h>
#include <string.h>

static void words_are_split_as_a_shell_would(void)
{
    static const struct {
        const char *line;
        const char *joined; /* with | between; NULL: not to be split */
    } rows[] = {
        { "", "" },
        { "  a  bc\td ", "a|bc|d" },
        { "python train.py --batch {}", "python|train.py|--batch|{}" },
        { "'a b' \"c d\"e f\\ g", "a b|c de|f g" },
        { "\"a \\\"b\\\" \\x\" '\\'", "a \"b\" \\x|\\" },
        { "'' \"\"", "|" },
        { "$HOME *", "$HOME|*" },
        { "'open", NULL },
        { "a \"open", NULL },
        { "end\\", "end\\" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].line);
        char **words = plim_words_split(rows[i].line);
        T_EQ_I64(words == NULL, rows[i].joined == NULL);
        char joined[128] = "";
        for (char **word = words; word != NULL && *word != NULL; word++) {
            const size_t length = strlen(joined);
            (void)snprintf(joined + length, sizeof(joined) - length, "%s%s",
                           word != words ? "|" : "", *word);
        }
        T_TRUE(words == NULL || strcmp(joined, rows[i].joined) == 0);
        plim_words_free(words);
    }
}

static void values_are_lists_and_ranges(void)
{
    static const struct {
        const char *text;
        size_t count; /* 0: not to be understood */
        uint64_t last;
    } rows[] = {
        { "7", 1, 7 },          { "1,2,4", 3, 4 },    { "1..8", 8, 8 },
        { "8..64+8", 8, 64 },   { "1..64*2", 7, 64 }, { "3..10*2", 2, 6 },
        { "1..2,9", 3, 9 },     { "", 0, 0 },         { "0", 0, 0 },
        { "1,", 0, 0 },         { "8..1", 0, 0 },     { "1..8*1", 0, 0 },
        { "1..8+0", 0, 0 },     { "-3", 0, 0 },       { "1..", 0, 0 },
        { "2000000000", 0, 0 }, { "1..257", 0, 0 },   { "1..1000000000*2", 30, 536870912 },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].text);
        uint64_t values[PLIM_REHEARSE_TRIES_MAX];
        size_t count = 0;
        T_EQ_I64(plim_values_parse(rows[i].text, values, &count), rows[i].count > 0);
        if (rows[i].count > 0) {
            T_EQ_U64(count, rows[i].count);
            T_EQ_U64(values[count - 1], rows[i].last);
        }
    }
}

T_MAIN(T_TEST(words_are_split_as_a_shell_would), T_TEST(values_are_lists_and_ranges))
