/*
 * test_vocabulary.c - vocabulary.tsv is read, and rows that are not as they should be are refused.
 */
#include "harness.h"

#include "base/error.h"
#include "series/vocabulary.h"

static void the_table_is_read(void)
{
    const plim_series_vocabulary *const all = plim_series_vocabulary_shared();
    T_TRUE(all->word_count > 100 && all->unit_count > 20 && all->key_count > 10);
    T_TRUE(all->column_count > 5);
}

typedef struct bad_row {
    const char *lines[5];
    const char *message;
} bad_row;

static void bad_rows_are_refused(void)
{
    static const bad_row rows[] = {
        { { "[words]", "word\tsays\tnote", "mem\tmemry\t" },
          "vocabulary.tsv:3: 'memry' is nothing that a word says" },
        { { "[words]", "word\tsays\tnote", "rss\tmemory\t", "mem\tmemory\t" },
          "vocabulary.tsv:4: 'mem' is not in the order of the alphabet" },
        { { "[units]", "unit\tlog2", "mib\tmany" },
          "vocabulary.tsv:3: 'many' is not a power of two such as 20, nor 'else'" },
        { { "[columns]", "column\tsays\tunit\tsource", "rss\tmemory\tkib\tps(1)" },
          "vocabulary.tsv:3: 'kib' is not one of [units] above" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_series_vocabulary all;
        plim_error err = { 0 };
        T_EQ_U64(plim_series_vocabulary_read(rows[i].lines, &all, &err), PLIM_CORRUPT);
        T_EQ_STR(err.message, rows[i].message);
    }
}

T_MAIN(T_TEST(the_table_is_read), T_TEST(bad_rows_are_refused))
