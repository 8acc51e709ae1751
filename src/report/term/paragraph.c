/*
 * paragraph.c - breaking lines at spaces, as late as they allow.
 */
#include "report/term/paragraph.h"

#include "base/ascii.h"
#include "report/term/printable.h"

#include <string.h>

#define COPY_COLUMNS 4096u /* what is there to be copied is neither cut nor wrapped */

/* A place in the words: a byte of a span. */
typedef struct text_place {
    size_t span;
    size_t byte;
} text_place;

/* True if a unit of bytes begins there, and the word is no longer: "B", "MiB". */
static bool is_unit(const plim_page_span *span, size_t at)
{
    const size_t letters = at < span->length && strchr("KMGTPE", span->data[at]) != NULL ? 2 : 0;
    const size_t end = at + letters + 1;
    return end <= span->length && span->data[end - 1] == 'B' &&
           (letters == 0 || span->data[at + 1] == 'i') &&
           (end == span->length || !plim_is_letter(span->data[end]));
}

/* True if a line may end at this byte: at a blank, but not between "72.0" and "MiB". */
static bool is_blank(const plim_page_span *span, size_t at)
{
    return span->data[at] == ' ' &&
           !(at > 0 && plim_is_digit(span->data[at - 1]) && is_unit(span, at + 1));
}

/* Past all blanks, or all bytes that are not blanks. */
static text_place skip(const plim_paragraph *paragraph, text_place at, bool blanks)
{
    while (at.span < paragraph->span_count) {
        const plim_page_span *span = &paragraph->spans[at.span];
        while (at.byte < span->length && is_blank(span, at.byte) == blanks) {
            at.byte++;
        }
        if (at.byte < span->length) {
            break;
        }
        at = (text_place){ .span = at.span + 1 };
    }
    return at;
}

static bool is_end(const plim_paragraph *paragraph, text_place at)
{
    return at.span == paragraph->span_count;
}

/* Columns from one place to another, which are added where there is a line. */
static uint32_t pass(const plim_paragraph *paragraph, const plim_style *style, text_place from,
                     text_place to, plim_term_line *line)
{
    uint32_t columns = 0;
    for (size_t i = from.span; i <= to.span && i < paragraph->span_count; i++) {
        const plim_page_span *span = &paragraph->spans[i];
        const size_t first = i == from.span ? from.byte : 0;
        const size_t bytes = (i == to.span ? to.byte : span->length) - first;
        columns += plim_printable_columns(span->data + first, bytes, style->utf8);
        if (line != NULL) {
            plim_term_line_add_bytes(line, span->tone, span->data + first, bytes);
        }
    }
    return columns;
}

/* The end of the words that fit `columns`: at least one word. */
static text_place find_break(const plim_paragraph *paragraph, const plim_style *style,
                             text_place from, uint32_t columns)
{
    text_place fits = skip(paragraph, from, false);
    for (;;) {
        const text_place word = skip(paragraph, fits, true);
        const text_place next = skip(paragraph, word, false);
        if (is_end(paragraph, word) || pass(paragraph, style, from, next, NULL) > columns) {
            return fits;
        }
        fits = next;
    }
}

void plim_paragraph_draw(plim_text *out, const plim_style *style, const plim_paragraph *paragraph)
{
    const uint32_t own = plim_style_columns(style, paragraph->lead);
    const uint32_t lead_columns = own > paragraph->hang ? own : paragraph->hang;
    const uint32_t hang = paragraph->indent + (lead_columns > 0 ? lead_columns + 1 : 0);
    text_place at = skip(paragraph, (text_place){ 0 }, true);
    for (bool is_first = true; !is_end(paragraph, at); is_first = false) {
        plim_term_line line = plim_term_line_begin(out, style, is_first ? paragraph->indent : hang);
        if (is_first) {
            plim_term_line_add(&line, paragraph->tone, paragraph->lead);
            plim_term_line_to(&line, hang);
        }
        const text_place end = find_break(paragraph, style, at, plim_term_line_left(&line));
        (void)pass(paragraph, style, at, end, &line);
        plim_term_line_end(&line);
        at = skip(paragraph, end, true);
    }
}

void plim_paragraph_write(plim_text *out, const plim_style *style, uint32_t indent, plim_tone tone,
                          const char *lead, const char *words)
{
    const plim_page_span span = { .tone = tone, .data = words, .length = strlen(words) };
    const plim_paragraph paragraph = {
        .indent = indent, .tone = tone, .lead = lead, .spans = &span, .span_count = 1
    };
    plim_paragraph_draw(out, style, &paragraph);
}

/* The spans of a text on one line, as its layout has it. */
static void draw_line(plim_text *out, const plim_style *style, const plim_item *item,
                      uint32_t indent)
{
    plim_term_line line = plim_term_line_begin(out, style, indent);
    if (item->lead[0] != '\0') {
        plim_term_line_add(&line, PLIM_TONE_FAINT, item->lead);
        plim_term_line_to(&line, indent + item->hang + 1);
    }
    for (size_t i = 0; i < item->phrase.span_count; i++) {
        const plim_page_span *span = &item->phrase.spans[i];
        const uint32_t columns = plim_span_columns(style, span);
        if (item->layout == PLIM_LAYOUT_FIT && i > 0 && columns > plim_term_line_left(&line)) {
            break;
        }
        if (item->layout == PLIM_LAYOUT_PATH) {
            plim_term_line_add_span(&line, span, columns, PLIM_ALIGN_PATH);
        } else {
            plim_term_line_add_bytes(&line, span->tone, span->data, span->length);
        }
    }
    plim_term_line_end(&line);
}

void plim_text_item_draw(plim_text *out, const plim_style *style, const plim_item *item,
                         uint32_t indent)
{
    if (item->layout == PLIM_LAYOUT_WRAP) {
        const plim_paragraph paragraph = { .indent = indent,
                                           .tone = item->tone,
                                           .lead = item->lead,
                                           .hang = item->hang,
                                           .spans = item->phrase.spans,
                                           .span_count = item->phrase.span_count };
        plim_paragraph_draw(out, style, &paragraph);
        return;
    }
    plim_style wide = *style;
    wide.width = item->layout == PLIM_LAYOUT_COPY ? COPY_COLUMNS : style->width;
    draw_line(out, &wide, item, indent);
}
