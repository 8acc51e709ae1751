/*
 * test_edit_distance.c - edit distances.
 */
#include "base/edit_distance.h"

#include "harness.h"

static void counts_what_has_to_change(void)
{
    static const struct {
        const char *word;
        const char *name;
        size_t away;
    } cases[] = {
        { "", "", 0 },
        { "", "abc", 3 },
        { "abc", "", 3 },
        { "abc", "abc", 0 },
        { "ABC", "abc", 0 },
        { "abc", "abd", 1 },
        { "kitten", "sitting", 3 },
        { "4091", "4090", 1 },
        { "h1000", "h100", 1 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s, %s", cases[i].word, cases[i].name);
        T_EQ_U64(plim_edit_distance(cases[i].word, cases[i].name), cases[i].away);
    }
}

static void looks_at_the_start_of_a_long_name_only(void)
{
    char name[2 * PLIM_EDIT_DISTANCE_CHARS_MAX];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    T_EQ_U64(plim_edit_distance("", name), PLIM_EDIT_DISTANCE_CHARS_MAX);
}

T_MAIN(T_TEST(counts_what_has_to_change), T_TEST(looks_at_the_start_of_a_long_name_only))
