/*
 * test_line.c - lines, paragraphs and tables keep to their columns.
 */
#include "harness.h"

#include "report/table.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"
#include "report/term/printable.h"

#define BYTES_MAX ((size_t)1 << 20)

static const plim_style narrow = { .utf8 = true, .width = 60 };
static const plim_style colored = { .utf8 = true, .color = true, .width = 60 };

static const struct {
    const char *name;
    const char *text;
    plim_align align;
    const char *expected; /* in eight columns, between bars */
} cells[] = {
    { "words stand left", "abc", PLIM_ALIGN_LEFT, "|abc     |" },
    { "numbers stand right", "123", PLIM_ALIGN_RIGHT, "|     123|" },
    { "what fits exactly is whole", "12345678", PLIM_ALIGN_RIGHT, "|12345678|" },
    { "words lose their end", "123456789", PLIM_ALIGN_LEFT, "|1234567…|" },
    { "paths lose their beginning", "/a/b/c.pickle", PLIM_ALIGN_PATH, "|….pickle|" },
    { "short paths are whole", "c.pickle", PLIM_ALIGN_PATH, "|c.pickle|" },
    { "nothing is blank", "", PLIM_ALIGN_LEFT, "|        |" },
    { "a wide character is never halved", "1234567日", PLIM_ALIGN_LEFT, "|1234567…|" },
    { "escapes are seen, not obeyed", "\033[1m", PLIM_ALIGN_LEFT, "|\xef\xbf\xbd[1m    |" },
};

static void cells_are_as_wide_as_they_should(void)
{
    for (size_t i = 0; i < T_COUNT(cells); i++) {
        plim_text out;
        T_CASE("%s", cells[i].name);
        plim_text_init(&out, NULL, BYTES_MAX);
        plim_line line = plim_line_begin(&out, &narrow, 0);
        plim_line_add(&line, PLIM_TONE_PLAIN, "|");
        plim_line_add_cell(&line, PLIM_TONE_PLAIN, cells[i].text, 8, cells[i].align);
        T_EQ_U64(line.used, 9);
        plim_line_add(&line, PLIM_TONE_PLAIN, "|");
        T_EQ_STR(plim_text_string(&out), cells[i].expected);
        plim_text_deinit(&out);
    }
}

static void a_full_line_takes_nothing_more(void)
{
    plim_text out;
    plim_text_init(&out, NULL, BYTES_MAX);
    plim_line line = plim_line_begin(&out, &narrow, 50);
    plim_line_add(&line, PLIM_TONE_PLAIN, "0123456789");
    T_EQ_U64(plim_line_left(&line), 0);
    plim_line_add(&line, PLIM_TONE_PLAIN, "");
    T_FALSE(line.is_full); /* it fits exactly: nothing was cut */
    plim_line_add(&line, PLIM_TONE_PLAIN, "x");
    T_TRUE(line.is_full);
    plim_line_repeat(&line, PLIM_TONE_PLAIN, "y", 3);
    plim_line_end(&line);
    T_EQ_U64(out.length, 61);
    plim_text_deinit(&out);
}

static void tones_are_closed(void)
{
    plim_text out;
    plim_text_init(&out, NULL, BYTES_MAX);
    plim_line line = plim_line_begin(&out, &colored, 0);
    plim_line_add(&line, PLIM_TONE_BAD, "bad");
    plim_line_add(&line, PLIM_TONE_PLAIN, " plain");
    plim_line_add(&line, PLIM_TONE_BAD, "");
    plim_line_end(&line);
    T_EQ_STR(plim_text_string(&out), "\033[1;31mbad\033[0m plain\n");
    plim_text_deinit(&out);
}

static void paragraphs_break_at_spaces(void)
{
    plim_text out;
    plim_text_init(&out, NULL, BYTES_MAX);
    plim_paragraph_write(&out, &narrow, 2, PLIM_TONE_PLAIN, "!",
                         "Earlier events are lost: the recorder's buffer was full and what was "
                         "allocated before has no history here at all.");
    plim_paragraph_write(&out, &narrow, 50, PLIM_TONE_PLAIN, "", "  averyveryverylongword  x ");
    T_EQ_STR(plim_text_string(&out),
             "  ! Earlier events are lost: the recorder's buffer was full\n"
             "    and what was allocated before has no history here at\n"
             "    all.\n"
             "                                                  averyvery…\n"
             "                                                  x\n");
    plim_text_deinit(&out);
}

static const plim_table_column columns[] = { { "file", PLIM_ALIGN_PATH },
                                             { "bytes", PLIM_ALIGN_RIGHT },
                                             { "", PLIM_ALIGN_LEFT } };

static void fill(plim_table *table, const char *file)
{
    plim_table_add(table, PLIM_TONE_PLAIN, file);
    plim_table_format(table, PLIM_TONE_PLAIN, "%d", 12345678);
    plim_table_add(table, PLIM_TONE_WARN, "truncated");
    plim_table_add(table, PLIM_TONE_PLAIN, "b");
    plim_table_add(table, PLIM_TONE_PLAIN, "1");
    plim_table_add(table, PLIM_TONE_PLAIN, "");
}

static void tables_align(void)
{
    plim_text out;
    plim_table table;
    plim_text_init(&out, NULL, BYTES_MAX);
    plim_table_init(&table, NULL, columns, T_COUNT(columns));
    fill(&table, "a.pickle");
    plim_table_write(&table, &out, &narrow, 2);
    T_EQ_STR(plim_text_string(&out), "  file         bytes\n"
                                     "  a.pickle  12345678  truncated\n"
                                     "  b                1\n");
    plim_table_deinit(&table);
    plim_text_deinit(&out);
}

static void tables_squeeze_paths_first(void)
{
    plim_text out;
    plim_table table;
    plim_text_init(&out, NULL, BYTES_MAX);
    plim_table_init(&table, NULL, columns, T_COUNT(columns));
    fill(&table, "/a/very/long/way/to/the/folder/of/the/run/number/rank12.pickle");
    plim_table_write(&table, &out, &narrow, 0);
    T_EQ_STR(plim_text_string(&out),
             "file                                         bytes\n"
             "…e/folder/of/the/run/number/rank12.pickle 12345678 truncated\n"
             "b                                                1\n");
    plim_table_deinit(&table);
    plim_text_deinit(&out);
}

static bool write_a_table(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_text out;
    plim_table table;
    plim_text_init(&out, mem, BYTES_MAX);
    plim_table_init(&table, mem, columns, T_COUNT(columns));
    for (int i = 0; i < 20; i++) {
        fill(&table, "somewhere/a.pickle");
    }
    plim_table_write(&table, &out, &narrow, 0);
    const bool ok = out.status == PLIM_OK;
    plim_table_deinit(&table);
    plim_text_deinit(&out);
    return ok;
}

static void tables_survive_lack_of_memory(void)
{
    t_fail_each_allocation(write_a_table, NULL);
}

T_MAIN(T_TEST(cells_are_as_wide_as_they_should), T_TEST(a_full_line_takes_nothing_more),
       T_TEST(tones_are_closed), T_TEST(paragraphs_break_at_spaces), T_TEST(tables_align),
       T_TEST(tables_squeeze_paths_first), T_TEST(tables_survive_lack_of_memory))
