/*
 * test_line.c - lines, paragraphs and tables keep to their columns.
 */
#include "harness.h"

#include "report/term/draw.h"
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
        plim_term_line line = plim_term_line_begin(&out, &narrow, 0);
        plim_term_line_add(&line, PLIM_TONE_PLAIN, "|");
        plim_term_line_add_cell(&line, PLIM_TONE_PLAIN, cells[i].text, 8, cells[i].align);
        T_EQ_U64(line.used, 9);
        plim_term_line_add(&line, PLIM_TONE_PLAIN, "|");
        T_EQ_STR(plim_text_string(&out), cells[i].expected);
        plim_text_deinit(&out);
    }
}

static void a_full_line_takes_nothing_more(void)
{
    plim_text out;
    plim_text_init(&out, NULL, BYTES_MAX);
    plim_term_line line = plim_term_line_begin(&out, &narrow, 50);
    plim_term_line_add(&line, PLIM_TONE_PLAIN, "0123456789");
    T_EQ_U64(plim_term_line_left(&line), 0);
    plim_term_line_add(&line, PLIM_TONE_PLAIN, "");
    T_FALSE(line.is_full); /* it fits exactly: nothing was cut */
    plim_term_line_add(&line, PLIM_TONE_PLAIN, "x");
    T_TRUE(line.is_full);
    plim_term_line_repeat(&line, PLIM_TONE_PLAIN, "y", 3);
    plim_term_line_end(&line);
    T_EQ_U64(out.length, 61);
    plim_text_deinit(&out);
}

static void tones_are_closed(void)
{
    plim_text out;
    plim_text_init(&out, NULL, BYTES_MAX);
    plim_term_line line = plim_term_line_begin(&out, &colored, 0);
    plim_term_line_add(&line, PLIM_TONE_BAD, "bad");
    plim_term_line_add(&line, PLIM_TONE_PLAIN, " plain");
    plim_term_line_add(&line, PLIM_TONE_BAD, "");
    plim_term_line_end(&line);
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

static const plim_column columns[] = { { "file", PLIM_ALIGN_PATH, 0, 0 },
                                       { "bytes", PLIM_ALIGN_RIGHT, 0, 0 },
                                       { "", PLIM_ALIGN_LEFT, 0, 0 } };

static void add_rows(plim_page *page, const char *file)
{
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(file));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_plain(NULL, 12345678));
    plim_page_cell_text(page, PLIM_TONE_WARN, "truncated", NULL);
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "b", NULL);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_plain(NULL, 1));
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "", NULL);
}

static plim_status draw(const plim_mem *mem, plim_text *out, plim_page *page)
{
    plim_text_init(out, mem, BYTES_MAX);
    plim_page_draw(out, &narrow, page);
    plim_page_deinit(page);
    return out->status;
}

static void tables_align(void)
{
    plim_text out;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_page_table(&page, "files", columns, T_COUNT(columns));
    add_rows(&page, "a.pickle");
    T_EQ_I64(draw(NULL, &out, &page), PLIM_OK);
    T_EQ_STR(plim_text_string(&out), "  file         bytes\n"
                                     "  a.pickle  12345678  truncated\n"
                                     "  b                1\n");
    plim_text_deinit(&out);
}

static void tables_squeeze_paths_first(void)
{
    plim_text out;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_page_table(&page, "files", columns, T_COUNT(columns));
    add_rows(&page, "/a/very/long/way/to/the/folder/of/the/run/number/rank12.pickle");
    T_EQ_I64(draw(NULL, &out, &page), PLIM_OK);
    T_EQ_STR(plim_text_string(&out),
             "  file                                       bytes\n"
             "  …folder/of/the/run/number/rank12.pickle 12345678 truncated\n"
             "  b                                              1\n");
    plim_text_deinit(&out);
}

/* What is there to be copied goes on below, broken after a comma; figures leave to make room. */
static void settings_are_never_cut(void)
{
    static const plim_column confs[] = { { "reserved", PLIM_ALIGN_RIGHT, 0, 0 },
                                         { "allocated", PLIM_ALIGN_RIGHT, 1, 0 },
                                         { "time", PLIM_ALIGN_RIGHT, 2, 30 },
                                         { "settings", PLIM_ALIGN_COPY, 0, 0 } };
    plim_text out;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_page_table(&page, "confs", confs, T_COUNT(confs));
    plim_page_cell(&page, PLIM_TONE_PLAIN, plim_bytes(NULL, 1024));
    plim_page_cell(&page, PLIM_TONE_PLAIN, plim_bytes(NULL, 1024));
    plim_page_cell(&page, PLIM_TONE_PLAIN, plim_duration(NULL, 1));
    plim_page_cell_text(&page, PLIM_TONE_PLAIN, "{}{}",
                        PLIM_FACTS(plim_apart(plim_words("garbage_collection_threshold:0.8,max_"
                                                         "split_size_mb:128,expandable:True")),
                                   plim_apart(plim_words(" (as recorded)"))));
    T_EQ_I64(draw(NULL, &out, &page), PLIM_OK);
    T_EQ_STR(plim_text_string(&out), "  reserved  settings\n"
                                     "  1.00 KiB  garbage_collection_threshold:0.8,\n"
                                     "            max_split_size_mb:128,expandable:True\n"
                                     "            (as recorded)\n");
    plim_text_deinit(&out);
}

static bool write_a_table(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_text out;
    plim_page page;
    plim_page_init(&page, mem);
    plim_page_table(&page, "files", columns, T_COUNT(columns));
    for (int i = 0; i < 20; i++) {
        add_rows(&page, "somewhere/a.pickle");
    }
    const bool ok = draw(mem, &out, &page) == PLIM_OK;
    plim_text_deinit(&out);
    return ok;
}

static void tables_survive_lack_of_memory(void)
{
    t_fail_each_allocation(write_a_table, NULL);
}

T_MAIN(T_TEST(cells_are_as_wide_as_they_should), T_TEST(a_full_line_takes_nothing_more),
       T_TEST(tones_are_closed), T_TEST(paragraphs_break_at_spaces), T_TEST(tables_align),
       T_TEST(tables_squeeze_paths_first), T_TEST(settings_are_never_cut),
       T_TEST(tables_survive_lack_of_memory))
