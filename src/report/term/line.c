/*
 * line.c - cleaning, colouring and cutting text as it is added to a line.
 */
#include "report/term/line.h"

#include "report/term/printable.h"

#include <string.h>

plim_term_line plim_term_line_begin(plim_text *out, const plim_style *style, uint32_t indent)
{
    plim_term_line line = {
        .out = out, .style = style, .indent = indent, .limit = plim_style_width(style)
    };
    plim_term_line_to(&line, indent);
    return line;
}

uint32_t plim_style_columns(const plim_style *style, const char *text)
{
    return plim_printable_columns(text, strlen(text), style->utf8);
}

uint32_t plim_span_columns(const plim_style *style, const plim_page_span *span)
{
    return plim_printable_columns(span->data, span->length, style->utf8);
}

uint32_t plim_term_line_left(const plim_term_line *line)
{
    return line->is_full ? 0 : line->limit - line->used;
}

/* As much of the text as `columns` hold; its columns. */
static uint32_t add_clean(plim_term_line *line, const char *data, size_t bytes, uint32_t columns)
{
    uint32_t used = 0;
    for (size_t i = 0; i < bytes;) {
        plim_printable one;
        i += plim_printable_next(data + i, bytes - i, line->style->utf8, &one);
        if (used + one.columns > columns) {
            break;
        }
        plim_text_append(line->out, one.bytes, one.byte_count);
        used += one.columns;
    }
    return used;
}

/* Text in at most `columns` columns, with an ellipsis where it is cut; whether it was. */
static bool add_cut(plim_term_line *line, plim_tone tone, const char *data, size_t bytes,
                    uint32_t columns)
{
    const bool fits = plim_printable_columns(data, bytes, line->style->utf8) <= columns;
    if (bytes == 0 || columns == 0) {
        return !fits;
    }
    plim_text_append_string(line->out, plim_style_on(line->style, tone));
    line->used += add_clean(line, data, bytes, fits ? columns : columns - 1);
    if (!fits) {
        plim_text_append_string(line->out, plim_style_glyphs(line->style)->ellipsis);
        line->used++;
    }
    plim_text_append_string(line->out, plim_style_off(line->style, tone));
    return !fits;
}

void plim_term_line_add_bytes(plim_term_line *line, plim_tone tone, const char *data, size_t bytes)
{
    if (!line->is_full) {
        line->is_full = add_cut(line, tone, data, bytes, line->limit - line->used);
    }
}

void plim_term_line_add(plim_term_line *line, plim_tone tone, const char *text)
{
    plim_term_line_add_bytes(line, tone, text, strlen(text));
}

/* The end of a text that fits `columns`, and the ellipsis before it takes one. */
static plim_page_span tail_of(const plim_term_line *line, const plim_page_span *span,
                              uint32_t columns)
{
    plim_page_span tail = *span;
    uint32_t excess = plim_span_columns(line->style, span) - columns + 1;
    while (tail.length > 0 && excess > 0) {
        plim_printable one;
        const size_t bytes = plim_printable_next(tail.data, tail.length, line->style->utf8, &one);
        tail.data += bytes;
        tail.length -= bytes;
        excess -= one.columns < excess ? one.columns : excess;
    }
    return tail;
}

void plim_term_line_add_span(plim_term_line *line, const plim_page_span *span, uint32_t columns,
                             plim_align align)
{
    const uint32_t left = plim_term_line_left(line);
    const uint32_t room = columns < left ? columns : left;
    const uint32_t wanted = plim_span_columns(line->style, span);
    const uint32_t end = line->used + room;
    plim_page_span shown = *span;
    if (align == PLIM_ALIGN_RIGHT && wanted < room) {
        plim_term_line_to(line, line->used + room - wanted);
    }
    if (align == PLIM_ALIGN_PATH && wanted > room && room > 0) {
        shown = tail_of(line, span, room);
        plim_term_line_repeat(line, span->tone, plim_style_glyphs(line->style)->ellipsis, 1);
    }
    (void)add_cut(line, span->tone, shown.data, shown.length, end - line->used);
    plim_term_line_to(line, end);
}

void plim_term_line_add_cell(plim_term_line *line, plim_tone tone, const char *text,
                             uint32_t columns, plim_align align)
{
    const plim_page_span span = { .tone = tone, .data = text, .length = strlen(text) };
    plim_term_line_add_span(line, &span, columns, align);
}

void plim_term_line_repeat(plim_term_line *line, plim_tone tone, const char *glyph, uint32_t count)
{
    const uint32_t left = plim_term_line_left(line);
    const uint32_t times = count < left ? count : left;
    if (times == 0) {
        return;
    }
    plim_text_append_string(line->out, plim_style_on(line->style, tone));
    for (uint32_t i = 0; i < times; i++) {
        plim_text_append_string(line->out, glyph);
    }
    plim_text_append_string(line->out, plim_style_off(line->style, tone));
    line->used += times;
}

void plim_term_line_to(plim_term_line *line, uint32_t column)
{
    if (column > line->used) {
        plim_term_line_repeat(line, PLIM_TONE_PLAIN, " ", column - line->used);
    }
}

void plim_term_line_end(plim_term_line *line)
{
    plim_text_append_string(line->out, "\n");
    line->is_full = true;
}
