/*
 * query.c - rows of SQL as a table that fits its page.
 */
#include "report/model/query.h"

#include "base/decimal.h"
#include "base/fixed_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TABLE_COLUMNS_MAX 12u           /* of report/term/table.h */
#define TEXT_BYTES_MAX    ((size_t)400) /* of a cell, unless all is wanted: some lines */
#define BLOB_BYTES_MAX    ((size_t)32)  /* shown in hexadecimal */

/* --- keeping rows --- */

static bool begin(void *ctx, const char *const *names, size_t count)
{
    plim_query_answer *const answer = ctx;
    answer->column_count = count;
    answer->names = plim_page_alloc(answer->page, count + 1, sizeof *answer->names);
    for (size_t i = 0; i < count && answer->names != NULL; i++) {
        answer->names[i] = plim_page_copy(answer->page, names[i], strlen(names[i]));
    }
    return answer->page->status == PLIM_OK;
}

/* Text is cut where a character begins. */
static size_t cut(const plim_query_answer *answer, const plim_query_value *value)
{
    size_t bytes = value->bytes;
    if (value->type == PLIM_QUERY_TYPE_BLOB) {
        return bytes < BLOB_BYTES_MAX ? bytes : BLOB_BYTES_MAX;
    }
    if (answer->full || bytes <= TEXT_BYTES_MAX) {
        return bytes;
    }
    bytes = TEXT_BYTES_MAX;
    while (bytes > 0 && ((unsigned char)value->data[bytes] & 0xc0) == 0x80) {
        bytes--;
    }
    return bytes;
}

static bool keep(void *ctx, const plim_query_value *values, size_t count)
{
    plim_query_answer *const answer = ctx;
    answer->seen++;
    if (answer->rows.count >= answer->limit) {
        return true;
    }
    plim_query_value *const row = plim_page_alloc(answer->page, count, sizeof *row);
    if (row == NULL || !PLIM_VEC_PUSH(answer->page->arena.mem, &answer->rows, row)) {
        answer->page->status = PLIM_OUT_OF_HOST_MEMORY;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        row[i] = values[i];
        if (row[i].data != NULL) {
            const size_t bytes = cut(answer, &values[i]);
            row[i].data = plim_page_copy(answer->page, values[i].data, bytes);
            row[i].bytes = bytes;
        }
    }
    return answer->page->status == PLIM_OK;
}

plim_query_reader plim_query_answer_reader(plim_query_answer *answer)
{
    return (plim_query_reader){ .begin = begin, .row = keep, .ctx = answer };
}

void plim_query_answer_deinit(plim_query_answer *answer)
{
    PLIM_VEC_FREE(answer->page->arena.mem, &answer->rows);
}

/* --- showing them --- */

static void add_blob(plim_page *page, const plim_query_value *value)
{
    char text[2 * BLOB_BYTES_MAX + 4];
    plim_fixed_text out = plim_fixed_text_begin(text, sizeof text);
    plim_fixed_text_put(&out, "x'");
    for (size_t i = 0; i < value->bytes; i++) {
        plim_fixed_text_put(&out, "%02x", (unsigned char)value->data[i]);
    }
    plim_fixed_text_put(&out, "'");
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(text));
}

static void add_cell(plim_page *page, const plim_query_value *value)
{
    char number[32];
    switch (value->type) {
    case PLIM_QUERY_TYPE_INTEGER:
        snprintf(number, sizeof number, "%" PRId64, value->integer);
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(number));
        break;
    case PLIM_QUERY_TYPE_REAL:
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(plim_format_decimal(value->real).text));
        break;
    case PLIM_QUERY_TYPE_TEXT:
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words_of(value->data, value->bytes));
        break;
    case PLIM_QUERY_TYPE_BLOB:
        add_blob(page, value);
        break;
    case PLIM_QUERY_TYPE_NULL:
    case PLIM_QUERY_TYPE_COUNT:
        plim_page_cell(page, PLIM_TONE_FAINT, plim_words("NULL"));
        break;
    }
}

static bool is_number(const plim_query_value *value)
{
    return value->type == PLIM_QUERY_TYPE_INTEGER || value->type == PLIM_QUERY_TYPE_REAL;
}

/* To the right where all values are numbers. */
static plim_align align_of(const plim_query_answer *answer, size_t column)
{
    bool has_number = false;
    for (size_t i = 0; i < answer->rows.count; i++) {
        const plim_query_value *const value = &answer->rows.items[i][column];
        has_number = has_number || is_number(value);
        if (value->type != PLIM_QUERY_TYPE_NULL && !is_number(value)) {
            return PLIM_ALIGN_LEFT;
        }
    }
    return has_number ? PLIM_ALIGN_RIGHT : PLIM_ALIGN_LEFT;
}

static void add_table(plim_page *page, const plim_query_answer *answer)
{
    const size_t count = answer->column_count;
    plim_column *const columns = plim_page_alloc(page, count, sizeof *columns);
    if (columns == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        columns[i] = (plim_column){ .title = answer->names[i], .align = align_of(answer, i) };
    }
    plim_page_table(page, "rows", columns, (uint32_t)count);
    for (size_t row = 0; row < answer->rows.count; row++) {
        for (size_t i = 0; i < count; i++) {
            add_cell(page, &answer->rows.items[row][i]);
        }
    }
}

/* Rows too wide for a table: a value a line. */
static void add_records(plim_page *page, const plim_query_answer *answer)
{
    static const plim_column columns[] = { { .title = "column" }, { .title = "value" } };
    for (size_t row = 0; row < answer->rows.count; row++) {
        plim_page_table(page, "row", columns, 2)->table.hides_titles = true;
        for (size_t i = 0; i < answer->column_count; i++) {
            plim_page_cell(page, PLIM_TONE_FAINT, plim_words(answer->names[i]));
            add_cell(page, &answer->rows.items[row][i]);
        }
        plim_page_gap(page);
    }
}

void plim_query_count_page(plim_page *page, uint64_t rows)
{
    if (rows == 0) {
        plim_page_say(page, "row_count", PLIM_TONE_FAINT, "No rows.", NULL);
    } else {
        plim_page_say(page, "row_count", PLIM_TONE_FAINT, "{}",
                      PLIM_FACTS(plim_count_of("rows", rows, "row")));
    }
}

void plim_query_page(plim_page *page, const plim_query_answer *answer)
{
    const uint64_t shown = answer->rows.count;
    if (shown > 0 && answer->column_count <= TABLE_COLUMNS_MAX) {
        add_table(page, answer);
        plim_page_gap(page);
    } else if (shown > 0) {
        add_records(page, answer);
    }
    if (shown == answer->seen) {
        plim_query_count_page(page, shown);
        return;
    }
    plim_page_say(page, "rows_left_out", PLIM_TONE_WARN,
                  "{} of {} shown; --limit={} shows all, --csv and --json leave none out.",
                  PLIM_FACTS(plim_count("shown", shown), plim_count_of("rows", answer->seen, "row"),
                             plim_plain("limit", answer->seen)));
}

/* --- what can be asked --- */

static void add_columns(plim_page *page, const plim_query_table *table)
{
    static const plim_column columns[] = { { .title = "column" },
                                           { .title = "type" },
                                           { .title = "meaning", .align = PLIM_ALIGN_COPY } };
    plim_page_table(page, "columns", columns, 3);
    for (size_t i = 0; i < table->column_count; i++) {
        const plim_query_column *const column = &table->columns[i];
        plim_page_cell(page, PLIM_TONE_HEADING, plim_words(column->name));
        plim_page_cell(page, PLIM_TONE_FAINT, plim_words(plim_query_type_name(column->type)));
        plim_page_cell_text(page, PLIM_TONE_PLAIN, column->is_parameter ? "hidden: {}" : "{}",
                            PLIM_FACTS(plim_words(column->meaning)));
    }
}

static void add_one(plim_page *page, const plim_query_table *table)
{
    plim_page_say(page, "table", PLIM_TONE_PLAIN, "{}: {}.",
                  PLIM_FACTS(plim_toned(PLIM_TONE_HEADING, plim_words(table->name)),
                             plim_words(table->meaning)));
    add_columns(page, table);
    if (table->view != NULL) {
        plim_page_gap(page);
        plim_page_say(page, "view", PLIM_TONE_USER, "{}", PLIM_FACTS(plim_words(table->view)));
    }
}

static void add_list(plim_page *page, const char *title, bool are_views)
{
    plim_column *const columns = plim_page_alloc(page, 2, sizeof *columns);
    if (columns == NULL) {
        return;
    }
    columns[0] = (plim_column){ .title = title, .least = 24 };
    columns[1] = (plim_column){ .title = "rows", .align = PLIM_ALIGN_COPY };
    plim_page_table(page, are_views ? "views" : "tables", columns, 2);
    for (size_t i = 0; i < plim_query_table_count(); i++) {
        const plim_query_table *const table = plim_query_table_at(i);
        if ((table->view != NULL) == are_views) {
            plim_page_cell(page, PLIM_TONE_HEADING, plim_words(table->name));
            plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(table->meaning));
        }
    }
    plim_page_gap(page);
}

static void add_functions(plim_page *page)
{
    static const plim_column columns[] = { { .title = "function", .least = 24 },
                                           { .title = "gives", .align = PLIM_ALIGN_COPY } };
    plim_page_table(page, "functions", columns, 2);
    for (size_t i = 0; i < plim_query_function_count(); i++) {
        const plim_query_function *const function = plim_query_function_at(i);
        plim_page_cell(page, PLIM_TONE_HEADING, plim_words(function->usage));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(function->meaning));
    }
    plim_page_gap(page);
}

bool plim_query_schema_page(plim_page *page, const char *name)
{
    for (size_t i = 0; name != NULL && i < plim_query_table_count(); i++) {
        if (strcmp(plim_query_table_at(i)->name, name) == 0) {
            add_one(page, plim_query_table_at(i));
            return true;
        }
    }
    if (name != NULL) {
        return false;
    }
    add_list(page, "table", false);
    add_list(page, "view", true);
    add_functions(page);
    plim_page_say(page, "more", PLIM_TONE_FAINT,
                  "--schema=TABLE describes the columns of one, --schema --json those of all.",
                  NULL);
    return true;
}
