/*
 * table.c - measuring columns, then writing them.
 */
#include "report/table.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GAP        2u /* columns between columns */
#define GAP_NARROW 1u /* where the page is too narrow for more */
#define STUMP      8u /* what words keep at least */

typedef struct table_widths {
    uint32_t columns[PLIM_TABLE_COLUMNS_MAX];
    uint32_t gap;
    uint32_t total; /* gaps included */
} table_widths;

void plim_table_init(plim_table *table, const plim_mem *mem, const plim_table_column *columns,
                     uint32_t column_count)
{
    PLIM_ASSERT(column_count > 0);
    PLIM_ASSERT(column_count <= PLIM_TABLE_COLUMNS_MAX);
    *table = (plim_table){ .columns = columns, .column_count = column_count };
    plim_text_init(&table->cells, mem, PLIM_TABLE_BYTES_MAX);
}

void plim_table_deinit(plim_table *table)
{
    plim_text_deinit(&table->cells);
}

void plim_table_add(plim_table *table, plim_tone tone, const char *text)
{
    const char head = (char)('0' + (int)tone);
    plim_text_append(&table->cells, &head, 1);
    plim_text_append(&table->cells, text, strlen(text) + 1);
    table->cell_count++;
}

void plim_table_format(plim_table *table, plim_tone tone, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    plim_table_add(table, tone, written > 0 ? text : "");
}

static table_widths measure(const plim_table *table, const plim_style *style)
{
    table_widths widths = { .gap = GAP, .total = (table->column_count - 1) * GAP };
    for (uint32_t i = 0; i < table->column_count; i++) {
        widths.columns[i] = plim_style_columns(style, table->columns[i].title);
    }
    const char *cell = table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++) {
        const uint32_t width = plim_style_columns(style, cell + 1);
        uint32_t *widest = &widths.columns[i % table->column_count];
        *widest = width > *widest ? width : *widest;
        cell += strlen(cell) + 1;
    }
    for (uint32_t i = 0; i < table->column_count; i++) {
        widths.total += widths.columns[i];
    }
    return widths;
}

/* Takes what is too much from the columns of one kind, the last first, down to a stump. */
static void squeeze_columns(const plim_table *table, plim_align align, uint32_t room,
                            table_widths *widths)
{
    for (uint32_t i = table->column_count; i > 0 && widths->total > room; i--) {
        uint32_t *columns = &widths->columns[i - 1];
        if (table->columns[i - 1].align != align || *columns <= STUMP) {
            continue;
        }
        const uint32_t excess = widths->total - room;
        const uint32_t spare = *columns - STUMP;
        const uint32_t taken = excess < spare ? excess : spare;
        *columns -= taken;
        widths->total -= taken;
    }
}

static void squeeze(const plim_table *table, uint32_t room, table_widths *widths)
{
    if (widths->total > room) {
        widths->gap = GAP_NARROW;
        widths->total -= (table->column_count - 1) * (GAP - GAP_NARROW);
    }
    squeeze_columns(table, PLIM_ALIGN_PATH, room, widths);
    squeeze_columns(table, PLIM_ALIGN_LEFT, room, widths);
}

/* An empty cell writes nothing: no spaces at the end of lines. */
static void add_cell(const plim_table *table, plim_line *line, const table_widths *widths,
                     uint32_t column, plim_tone tone, const char *text)
{
    uint32_t start = line->indent;
    for (uint32_t i = 0; i < column; i++) {
        start += widths->columns[i] + widths->gap;
    }
    const plim_align align = table->columns[column].align;
    const bool is_last = column + 1 == table->column_count;
    if (text[0] == '\0') {
        return;
    }
    plim_line_to(line, start);
    if (is_last && align == PLIM_ALIGN_LEFT) {
        plim_line_add(line, tone, text);
        return;
    }
    uint32_t columns = widths->columns[column];
    if (align != PLIM_ALIGN_RIGHT && !is_last) {
        const uint32_t wanted = plim_style_columns(line->style, text);
        columns = wanted < columns ? wanted : columns;
    }
    plim_line_add_cell(line, tone, text, columns, align);
}

void plim_table_write(const plim_table *table, plim_text *out, const plim_style *style,
                      uint32_t indent)
{
    if (table->cells.status != PLIM_OK) {
        /* A table that lost cells is not written: the page fails as if it had lost them. */
        out->status = out->status != PLIM_OK ? out->status : table->cells.status;
        return;
    }
    PLIM_ASSERT(table->cell_count % table->column_count == 0);
    table_widths widths = measure(table, style);
    const uint32_t width = plim_style_width(style);
    squeeze(table, width > indent ? width - indent : 0, &widths);

    plim_line line = plim_line_begin(out, style, indent);
    for (uint32_t i = 0; i < table->column_count; i++) {
        add_cell(table, &line, &widths, i, PLIM_TONE_FAINT, table->columns[i].title);
    }
    plim_line_end(&line);
    const char *cell = table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++) {
        const uint32_t column = (uint32_t)(i % table->column_count);
        if (column == 0) {
            line = plim_line_begin(out, style, indent);
        }
        add_cell(table, &line, &widths, column, (plim_tone)(cell[0] - '0'), cell + 1);
        cell += strlen(cell) + 1;
        if (column + 1 == table->column_count) {
            plim_line_end(&line);
        }
    }
}
