/*
 * table.c - measuring columns, then writing them.
 */
#include "report/term/table.h"

#include "base/assert.h"
#include "report/term/bars.h"
#include "report/term/paragraph.h"

#include <string.h>

#define GAP         2u  /* columns between columns */
#define GAP_NARROW  1u  /* where the page is too narrow for more */
#define STUMP       8u  /* what words keep at least */
#define COPY_GOOD   33u /* "garbage_collection_threshold:0.8," */
#define COPY_LEAST  26u /* "+ empty_cache() at 123,456" */
#define COPY_STUMP  12u
#define LEAVES_MOST 2u

/* A table while it is drawn. */
typedef struct table_drawing {
    plim_text *out;
    const plim_style *style;
    const plim_table_item *table;
    uint32_t indent;
    uint32_t columns[PLIM_TABLE_COLUMNS_MAX];
    bool is_shown[PLIM_TABLE_COLUMNS_MAX];
    uint32_t gap;
    uint32_t total; /* gaps included */
} table_drawing;

static bool is_last(const table_drawing *draw, uint32_t column)
{
    return column + 1 == draw->table->column_count;
}

static bool ends_in_copy(const table_drawing *draw)
{
    return draw->table->columns[draw->table->column_count - 1].align == PLIM_ALIGN_COPY;
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* Narrow pages have shorter bars: what they belong to matters more. */
static uint32_t bar_columns(const plim_style *style, uint32_t most)
{
    const uint32_t width = plim_style_width(style);
    return width >= 90 ? most : width >= 75 ? most * 3 / 4 : (most + 2) / 3;
}

static uint32_t cell_columns(const table_drawing *draw, const plim_cell *cell)
{
    uint32_t columns = 0;
    for (size_t i = 0; i < cell->phrase.span_count; i++) {
        columns += plim_span_columns(draw->style, &cell->phrase.spans[i]);
    }
    return columns;
}

static uint32_t find_widest(const table_drawing *draw, uint32_t column)
{
    const plim_column *of = &draw->table->columns[column];
    const char *title = draw->table->hides_titles ? "" : of->title;
    const uint32_t title_columns = plim_style_columns(draw->style, title);
    uint32_t widest = title_columns > of->least ? title_columns : of->least;
    if (of->align == PLIM_ALIGN_BAR || of->align == PLIM_ALIGN_REST) {
        return of->align == PLIM_ALIGN_BAR ? bar_columns(draw->style, of->least) : 0;
    }
    for (const plim_row *row = draw->table->rows; row != NULL; row = row->next) {
        const uint32_t columns = cell_columns(draw, &row->cells[column]);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

/* All columns but those that leave at this narrowness. */
static void measure(table_drawing *draw, uint32_t narrowness)
{
    draw->gap = GAP;
    draw->total = 0;
    for (uint32_t i = 0; i < draw->table->column_count; i++) {
        const uint8_t leaves = draw->table->columns[i].leaves;
        draw->is_shown[i] = leaves == 0 || leaves > narrowness;
        draw->columns[i] = find_widest(draw, i);
        draw->total += draw->is_shown[i] ? draw->columns[i] + (is_last(draw, i) ? 0 : GAP) : 0;
    }
}

static void narrow_gaps(table_drawing *draw)
{
    draw->gap = GAP_NARROW;
    for (uint32_t i = 0; i + 1 < draw->table->column_count; i++) {
        draw->total -= draw->is_shown[i] ? GAP - GAP_NARROW : 0;
    }
}

/* Takes what is too much from the columns of one kind, the last first, down to a stump. */
static void squeeze_columns(table_drawing *draw, plim_align align, uint32_t room)
{
    for (uint32_t i = draw->table->column_count; i > 0 && draw->total > room; i--) {
        uint32_t *columns = &draw->columns[i - 1];
        if (draw->table->columns[i - 1].align != align || *columns <= STUMP ||
            !draw->is_shown[i - 1]) {
            continue;
        }
        const uint32_t excess = draw->total - room;
        const uint32_t spare = *columns - STUMP;
        const uint32_t taken = excess < spare ? excess : spare;
        *columns -= taken;
        draw->total -= taken;
    }
}

static void cap_words(table_drawing *draw, uint32_t most)
{
    for (uint32_t i = 0; i < draw->table->column_count; i++) {
        if (draw->table->columns[i].align == PLIM_ALIGN_LEFT && draw->columns[i] > most) {
            draw->total -= draw->columns[i] - most;
            draw->columns[i] = most;
        }
    }
}

/* Commands to copy get the rest of the width; if that is too little, columns of figures go. */
static void fit_copy(table_drawing *draw, uint32_t room)
{
    uint32_t *copy = &draw->columns[draw->table->column_count - 1];
    for (uint32_t narrowness = 0; narrowness <= LEAVES_MOST; narrowness++) {
        measure(draw, narrowness);
        const uint32_t figures = draw->total - *copy;
        const uint32_t wanted = *copy;
        *copy = room > figures ? room - figures : 0;
        if (*copy < COPY_GOOD && *copy < wanted) {
            draw->total = figures;
            narrow_gaps(draw);
            *copy = room > draw->total + COPY_STUMP ? room - draw->total : COPY_STUMP;
        }
        if (*copy >= COPY_LEAST || *copy >= wanted) {
            break;
        }
    }
}

static void fit(table_drawing *draw)
{
    const uint32_t width = plim_style_width(draw->style);
    const uint32_t room = width > draw->indent ? width - draw->indent : 0;
    if (ends_in_copy(draw)) {
        fit_copy(draw, room);
        return;
    }
    measure(draw, 0);
    if (draw->table->columns[draw->table->column_count - 1].align == PLIM_ALIGN_REST) {
        cap_words(draw, width / 3); /* the rest is what the table is about */
    }
    if (draw->total > room) {
        narrow_gaps(draw);
    }
    squeeze_columns(draw, PLIM_ALIGN_PATH, room);
    squeeze_columns(draw, PLIM_ALIGN_LEFT, room);
}

static uint32_t find_start(const table_drawing *draw, uint32_t column)
{
    uint32_t start = draw->indent;
    for (uint32_t i = 0; i < column; i++) {
        start += draw->is_shown[i] ? draw->columns[i] + draw->gap : 0;
    }
    return start;
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* The last place after one of the marks, not too far from the end; 0: not found. */
static size_t break_after(const char *words, size_t most, const char *marks)
{
    for (size_t i = most; i > most / 4; i--) {
        if (strchr(marks, words[i - 1]) != NULL) {
            return i;
        }
    }
    return 0;
}

/* The bytes of the words that go on a line: up to a comma, if one is near enough. */
static size_t piece_bytes(const char *words, size_t length, size_t most)
{
    if (length <= most) {
        return length;
    }
    size_t bytes = break_after(words, most, ",");
    bytes = bytes > 0 ? bytes : break_after(words, most, "_:");
    return bytes > 0 ? bytes : most;
}

/* Words to copy: each span whole on the line where there is room, else below, in pieces. */
static void add_copy(const table_drawing *draw, plim_term_line *line, const plim_cell *cell)
{
    const uint32_t start = find_start(draw, draw->table->column_count - 1);
    const uint32_t room = draw->columns[draw->table->column_count - 1];
    for (size_t i = 0; i < cell->phrase.span_count; i++) {
        const plim_page_span *span = &cell->phrase.spans[i];
        const char *words = span->data;
        size_t left = span->length;
        const uint32_t used = line->used - start;
        if (i > 0 && used + left > room) {
            plim_term_line_end(line);
            *line = plim_term_line_begin(draw->out, draw->style, start);
            const bool is_blank = left > 0 && *words == ' ';
            words += is_blank ? 1 : 0;
            left -= is_blank ? 1 : 0;
        }
        while (left > 0) {
            const size_t bytes = piece_bytes(words, left, room);
            plim_term_line_add_bytes(line, span->tone, words, bytes);
            words += bytes;
            left -= bytes;
            if (left > 0) {
                plim_term_line_end(line);
                *line = plim_term_line_begin(draw->out, draw->style, start);
            }
        }
    }
}

static void add_spans(const table_drawing *draw, plim_term_line *line, const plim_cell *cell,
                      uint32_t columns, plim_align align)
{
    const uint32_t room = plim_term_line_left(line);
    columns = columns < room ? columns : room;
    const uint32_t end = line->used + columns;
    const uint32_t wanted = cell_columns(draw, cell);
    if (align == PLIM_ALIGN_RIGHT && wanted < columns) {
        plim_term_line_to(line, end - wanted);
    }
    for (size_t i = 0; i < cell->phrase.span_count; i++) {
        const plim_page_span *span = &cell->phrase.spans[i];
        const uint32_t left = end > line->used ? end - line->used : 0;
        const uint32_t own = plim_span_columns(draw->style, span);
        plim_term_line_add_span(line, span, own < left ? own : left, align);
    }
}

/* An empty cell writes nothing: no spaces at the end of lines. */
static void add_cell(const table_drawing *draw, plim_term_line *line, uint32_t column,
                     const plim_cell *cell)
{
    const plim_align align = draw->table->columns[column].align;
    if (!draw->is_shown[column] || (cell->phrase.span_count == 0 && align != PLIM_ALIGN_BAR)) {
        return;
    }
    plim_term_line_to(line, find_start(draw, column));
    if (align == PLIM_ALIGN_BAR) {
        plim_bar_add(line, cell->tone == PLIM_TONE_UNUSED ? PLIM_TERM_SHADE : PLIM_TERM_SOLID,
                     cell->bar_bytes, cell->bar_total_bytes, draw->columns[column]);
    } else if (align == PLIM_ALIGN_COPY) {
        add_copy(draw, line, cell);
    } else if (is_last(draw, column) && align != PLIM_ALIGN_RIGHT && align != PLIM_ALIGN_PATH) {
        for (size_t i = 0; i < cell->phrase.span_count; i++) {
            const plim_page_span *span = &cell->phrase.spans[i];
            plim_term_line_add_bytes(line, span->tone, span->data, span->length);
        }
    } else {
        add_spans(draw, line, cell, draw->columns[column], align);
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void draw_titles(const table_drawing *draw)
{
    if (draw->table->hides_titles) {
        return;
    }
    plim_term_line line = plim_term_line_begin(draw->out, draw->style, draw->indent);
    for (uint32_t i = 0; i < draw->table->column_count; i++) {
        const char *title = draw->table->columns[i].title;
        plim_page_span span = { .tone = PLIM_TONE_FAINT, .data = title, .length = strlen(title) };
        const plim_cell cell = { .phrase = { .spans = &span, .span_count = *title != '\0' } };
        add_cell(draw, &line, i, &cell);
    }
    plim_term_line_end(&line);
}

static void draw_row(const table_drawing *draw, const plim_row *row)
{
    plim_term_line line = plim_term_line_begin(draw->out, draw->style, draw->indent);
    for (uint32_t i = 0; i < draw->table->column_count; i++) {
        add_cell(draw, &line, i, &row->cells[i]);
    }
    plim_term_line_end(&line);
    for (const plim_item *item = row->below; item != NULL; item = item->next) {
        const bool is_at_last = item->indent == PLIM_INDENT_LAST;
        plim_text_item_draw(draw->out, draw->style, item,
                            is_at_last ? find_start(draw, draw->table->column_count - 1)
                                       : item->indent);
    }
}

void plim_table_draw(plim_text *out, const plim_style *style, const plim_item *item)
{
    table_drawing draw = {
        .out = out, .style = style, .table = &item->table, .indent = item->indent
    };
    PLIM_ASSERT(item->table.column_count > 0);
    PLIM_ASSERT(item->table.column_count <= PLIM_TABLE_COLUMNS_MAX);
    fit(&draw);
    draw_titles(&draw);
    for (const plim_row *row = item->table.rows; row != NULL; row = row->next) {
        draw_row(&draw, row);
    }
}
