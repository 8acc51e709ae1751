/*
 * test_tsv.c - data files: every kind of column, and every malformed line refused with its number.
 */
#include "base/error.h"
#include "base/tsv.h"
#include "harness.h"

typedef struct record {
    char name[6];
    const char *text;
    uint32_t small;
    uint64_t large;
    uint32_t word;
    size_t items;
} record;

typedef struct records {
    record rows[4];
    size_t count;
} records;

static const char *const words[] = { "red", "green", NULL };

static plim_status read_items(plim_tsv *file, plim_tsv_field field)
{
    plim_tsv_field item;
    while (plim_tsv_cut(&field, ',', &item)) {
        if (item.bytes == 0) {
            return plim_tsv_fail(file, "an item is empty");
        }
        ((record *)file->row)->items++;
    }
    return PLIM_OK;
}

static plim_status add(plim_tsv *file)
{
    records *const all = file->ctx;
    if (all->count == T_COUNT(all->rows)) {
        return plim_tsv_fail(file, "more than %zu rows", T_COUNT(all->rows));
    }
    all->rows[all->count++] = *(const record *)file->row;
    return PLIM_OK;
}

static const plim_tsv_column columns[] = {
    { .name = "name", .kind = PLIM_TSV_CHARS, .offset = offsetof(record, name), .limit = 6 },
    { .name = "text",
      .kind = PLIM_TSV_TEXT,
      .may_be_empty = true,
      .offset = offsetof(record, text) },
    { .name = "small",
      .kind = PLIM_TSV_U32,
      .may_be_empty = true,
      .offset = offsetof(record, small),
      .limit = 100,
      .unit = 10 },
    { .name = "large",
      .kind = PLIM_TSV_U64,
      .offset = offsetof(record, large),
      .limit = UINT64_MAX,
      .unit = 1 },
    { .name = "word",
      .kind = PLIM_TSV_WORD,
      .may_be_empty = true,
      .offset = offsetof(record, word),
      .words = words },
    { .name = "items", .kind = PLIM_TSV_OTHER, .read = read_items },
    { .name = "source" },
};

static const plim_tsv_section one[] = { { NULL, columns, T_COUNT(columns), add } };
static const plim_tsv_section two[] = {
    { "[first]", columns, T_COUNT(columns), add },
    { "[second]", columns + 6, 1, add },
};

static plim_status read_lines(const char *const *lines, const plim_tsv_section *sections,
                              size_t section_count, records *ret, plim_error *err)
{
    static char texts[16];
    record row;
    plim_tsv file = { .name = "x.tsv",
                      .lines = lines,
                      .row = &row,
                      .row_bytes = sizeof row,
                      .texts = texts,
                      .texts_bytes = sizeof texts,
                      .ctx = ret,
                      .err = err };
    *ret = (records){ 0 };
    return plim_tsv_read(&file, sections, section_count);
}

#define HEADER "name\ttext\tsmall\tlarge\tword\titems\tsource"

static void reads_every_kind_of_column(void)
{
    static const char *const lines[] = {
        "# words",
        "",
        HEADER,
        "a\tsome text\t7\t18446744073709551615\tgreen\tx,y,z\tnote",
        "abcde\t\t\t1\t\tx\t",
        "# between",
        NULL
    };
    records all;
    plim_error err = { 0 };
    if (read_lines(lines, one, 1, &all, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    T_EQ_U64(all.count, 2);
    T_EQ_STR(all.rows[0].name, "a");
    T_EQ_STR(all.rows[0].text, "some text");
    T_EQ_U64(all.rows[0].small, 70);
    T_EQ_U64(all.rows[0].large, UINT64_MAX);
    T_EQ_U64(all.rows[0].word, 1);
    T_EQ_U64(all.rows[0].items, 3);
    T_EQ_STR(all.rows[1].name, "abcde");
    T_EQ_STR(all.rows[1].text, "");
    T_EQ_U64(all.rows[1].small, 0);
    T_EQ_U64(all.rows[1].word, 0);
    T_EQ_U64(all.rows[1].items, 1);
}

static void sections_have_their_own_columns(void)
{
    static const char *const lines[] = { "[second]",        "source",   "one",    "[first]", HEADER,
                                         "a\t\t\t1\t\tx\t", "[second]", "source", "two",     NULL };
    records all;
    T_EQ_U64(read_lines(lines, two, 2, &all, NULL), PLIM_OK);
    T_EQ_U64(all.count, 3);
    T_EQ_STR(all.rows[1].name, "a");
}

static void a_bad_line_is_refused_with_its_number(void)
{
    static const struct {
        const char *lines[8];
        const char *says;
    } cases[] = {
        { { NULL }, "x.tsv:0: the file has no rows" },
        { { HEADER }, "x.tsv:1: the file has no rows" },
        { { "", "#", "name\tsmall" }, "x.tsv:3: column 2 must be 'text'" },
        { { "name" }, "x.tsv:1: column 2 must be 'text'" },
        { { HEADER "\tmore" }, "x.tsv:1: column 'more' is unknown" },
        { { HEADER, "a\tb" }, "x.tsv:2: 2 fields, where a row has 7" },
        { { HEADER, "a\t\t1\t1\t\tx\t\t" }, "x.tsv:2: 8 fields, where a row has 7" },
        { { HEADER, "\t\t1\t1\t\tx\t" }, "x.tsv:2: name is empty" },
        { { HEADER, "abcdef\t\t1\t1\t\tx\t" }, "x.tsv:2: name has more than 5 bytes" },
        { { HEADER, "a\t0123456789abcdef\t1\t1\t\tx\t" },
          "x.tsv:2: the texts of the file have more than 16 bytes" },
        { { HEADER, "a\t0123456\t1\t1\t\tx\t", "b\t01234567\t1\t1\t\tx\t" },
          "x.tsv:3: the texts of the file have more than 16 bytes" },
        { { HEADER, "a\t\t0\t1\t\tx\t" }, "x.tsv:2: small is '0', not a number from 1 to 100" },
        { { HEADER, "a\t\t101\t1\t\tx\t" }, "x.tsv:2: small is '101', not a number from 1 to 100" },
        { { HEADER, "a\t\t1 \t1\t\tx\t" }, "x.tsv:2: small is '1 ', not a number from 1 to 100" },
        { { HEADER, "a\t\t\t18446744073709551616\t\tx\t" },
          "x.tsv:2: large is '18446744073709551616', not a number from 1 to 18446744073709551615" },
        { { HEADER, "a\t\t\t\t\tx\t" }, "x.tsv:2: large is empty" },
        { { HEADER, "a\t\t\t1\tblue\tx\t" }, "x.tsv:2: word 'blue' is unknown" },
        { { HEADER, "a\t\t\t1\tre\tx\t" }, "x.tsv:2: word 're' is unknown" },
        { { HEADER, "a\t\t\t1\t\t\t" }, "x.tsv:2: items is empty" },
        { { HEADER, "a\t\t\t1\t\tx,\t" }, "x.tsv:2: an item is empty" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        records all;
        plim_error err = { 0 };
        T_CASE("%s", cases[i].says);
        T_EQ_U64(read_lines(cases[i].lines, one, 1, &all, &err), PLIM_CORRUPT);
        T_EQ_STR(err.message, cases[i].says);
    }
}

static void rows_stand_in_a_known_section(void)
{
    static const struct {
        const char *lines[4];
        const char *says;
    } cases[] = {
        { { "source", "x" }, "x.tsv:1: a row before any section" },
        { { "[third]" }, "x.tsv:1: there is no section [third]" },
        { { "[second]", "source", "x\ty" }, "x.tsv:3: 2 fields, where a row has 1" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        records all;
        plim_error err = { 0 };
        T_CASE("%s", cases[i].says);
        T_EQ_U64(read_lines(cases[i].lines, two, 2, &all, &err), PLIM_CORRUPT);
        T_EQ_STR(err.message, cases[i].says);
    }
}

static void callers_refuse_rows_too(void)
{
#define ROW "a\t\t\t1\t\tx\t"
    static const char *const lines[] = { HEADER, ROW, ROW, ROW, ROW, "", ROW, NULL };
    records all;
    plim_error err = { 0 };
    T_EQ_U64(read_lines(lines, one, 1, &all, &err), PLIM_CORRUPT);
    T_EQ_STR(err.message, "x.tsv:7: more than 4 rows");
}

T_MAIN(T_TEST(reads_every_kind_of_column), T_TEST(sections_have_their_own_columns),
       T_TEST(a_bad_line_is_refused_with_its_number), T_TEST(rows_stand_in_a_known_section),
       T_TEST(callers_refuse_rows_too))
