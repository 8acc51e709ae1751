/*
 * draw.c - the items of a page, one below the other.
 */
#include "report/term/draw.h"

#include "report/term/chart.h"
#include "report/term/device_bar.h"
#include "report/term/paragraph.h"
#include "report/term/table.h"

#define COPY_COLUMNS 4096u /* what is there to be copied is neither cut nor wrapped */

/* The spans of a text on one line, as its layout has it. */
static void draw_line(plim_text *out, const plim_style *style, const plim_item *item,
                      uint32_t indent)
{
    plim_term_line line = plim_term_line_begin(out, style, indent);
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

void plim_page_draw(plim_text *out, const plim_style *style, const plim_page *page)
{
    for (const plim_item *item = page->first; item != NULL; item = item->next) {
        if (item->after_gap) {
            plim_text_append_char(out, '\n');
        }
        switch (item->kind) {
        case PLIM_ITEM_TEXT:
            plim_text_item_draw(out, style, item, item->indent);
            break;
        case PLIM_ITEM_TABLE:
            plim_table_draw(out, style, item);
            break;
        case PLIM_ITEM_CHART:
            plim_chart_draw(out, style, &item->chart);
            break;
        case PLIM_ITEM_BAR:
            plim_device_bar_draw(out, style, item->bar);
            break;
        }
    }
    if (page->status != PLIM_OK && out->status == PLIM_OK) {
        out->status = page->status; /* what was drawn is not all of it */
    }
}
