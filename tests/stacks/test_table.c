/*
 * test_table.c - the table of frames: the one that is built in reads well, a bad row is refused
 * with its line and what is wrong.
 */
#include "harness.h"
#include "stacks/table.h"

static plim_frame_table table;

static void the_table_reads_well(void)
{
    plim_error err = { 0 };
    memset(&table, 0, sizeof table);
    if (plim_frame_table_read(plim_frames_lines, &table, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    for (int kind = 0; kind < PLIM_CLASS_KINDS; kind++) {
        T_TRUE(table.counts[kind] > 0);
    }
}

#define HEADER "file\tfunction\tline\tclass"

static const struct {
    const char *lines[6];
    const char *message;
} bad[] = {
    { { NULL }, "frames.tsv:0: the file has no rows" },
    { { "# only", "", NULL }, "frames.tsv:2: the file has no rows" },
    { { "/a/\t\t\ttorch", NULL }, "frames.tsv:1: column 1 must be 'file'" },
    { { HEADER, "/a/\t\ttorch", NULL }, "frames.tsv:2: 3 fields, where a row has 4" },
    { { HEADER, "", "/a/\t\t\ttorch\t", NULL }, "frames.tsv:3: 5 fields, where a row has 4" },
    { { HEADER, "/a/", NULL }, "frames.tsv:2: 1 fields, where a row has 4" },
    { { HEADER, "/a/\t\t\tTorch", NULL }, "frames.tsv:2: there is no class 'Torch'" },
    { { HEADER, "/a/\t\t\t", NULL }, "frames.tsv:2: class is empty" },
    { { HEADER, "/A/\t\t\ttorch", NULL },
      "frames.tsv:2: a path is compared in lower case and with '/'" },
    { { HEADER, "a\\b\t\t\ttorch", NULL },
      "frames.tsv:2: a path is compared in lower case and with '/'" },
    { { HEADER, "^$\t\t\ttorch", NULL }, "frames.tsv:2: a file that may be any is an empty field" },
    { { HEADER, "$\t\t\ttorch", NULL }, "frames.tsv:2: a file that may be any is an empty field" },
    { { HEADER, "*.py$\tf\t\tbuild", NULL },
      "frames.tsv:2: a file that may be any is an empty field" },
    { { HEADER, "/a/\t*\t\tbuild", NULL },
      "frames.tsv:2: a function that may be any is an empty field" },
    { { HEADER, "/a/\t\t1\ttorch", NULL }, "frames.tsv:2: a line is 0, for an owner, or empty" },
    { { HEADER, "/a/\t\t0\tbuild", NULL }, "frames.tsv:2: a line is 0, for an owner, or empty" },
    { { HEADER, "/a/\tf\t\toperator", NULL }, "frames.tsv:2: a label goes by the function alone" },
    { { HEADER, "/a/\tf\t\tbuild", "# between", "/a/\tf\t\tdata", NULL },
      "frames.tsv:4: a row above is of the same frames" },
};

static void a_bad_row_is_refused(void)
{
    for (size_t i = 0; i < T_COUNT(bad); i++) {
        plim_error err = { 0 };
        T_CASE("%s", bad[i].message);
        memset(&table, 0, sizeof table);
        T_EQ_U64(plim_frame_table_read(bad[i].lines, &table, &err), PLIM_CORRUPT);
        T_EQ_STR(err.message, bad[i].message);
    }
}

static void kinds_and_patterns_tell_rows_apart(void)
{
    static const char *const lines[] = { HEADER,
                                         "/a/\tf\t\tbuild",
                                         "/a/\tf*\t\tdata",
                                         "/a/\t*f\t\tdata",
                                         "^/a/\tf\t\tdata",
                                         "/a/$\tf\t\tdata",
                                         "/a/\tf\t\ttorch",
                                         "/a/\tf\t0\ttorch",
                                         NULL };
    memset(&table, 0, sizeof table);
    T_EQ_U64(plim_frame_table_read(lines, &table, NULL), PLIM_OK);
    T_EQ_U64(table.counts[PLIM_CLASS_ROLE], 5);
    T_EQ_U64(table.counts[PLIM_CLASS_OWNER], 2);
}

static void a_table_may_not_outgrow_its_room(void)
{
    static char rows[PLIM_FRAME_ROWS_MAX + 1][32];
    static const char *lines[PLIM_FRAME_ROWS_MAX + 3];
    plim_error err = { 0 };
    lines[0] = HEADER;
    for (size_t i = 0; i <= PLIM_FRAME_ROWS_MAX; i++) {
        snprintf(rows[i], sizeof rows[i], "/%zu/\t\t\ttorch", i);
        lines[i + 1] = rows[i];
    }
    memset(&table, 0, sizeof table);
    T_EQ_U64(plim_frame_table_read(lines, &table, &err), PLIM_CORRUPT);
    T_EQ_STR(err.message, "frames.tsv:258: more than 256 rows of one kind");

    static char line[PLIM_FRAME_TEXT_BYTES + 16];
    memset(line, 'a', PLIM_FRAME_TEXT_BYTES);
    strcpy(line + PLIM_FRAME_TEXT_BYTES, "\t\t\ttorch");
    memset(&table, 0, sizeof table);
    T_EQ_U64(plim_frame_table_read((const char *[]){ HEADER, line, NULL }, &table, &err),
             PLIM_CORRUPT);
    T_EQ_STR(err.message, "frames.tsv:2: the texts of the file have more than 16384 bytes");
}

T_MAIN(T_TEST(the_table_reads_well), T_TEST(a_bad_row_is_refused),
       T_TEST(kinds_and_patterns_tell_rows_apart), T_TEST(a_table_may_not_outgrow_its_room))
