/*
 * draw.c - the items of a page, one below the other.
 */
#include "report/term/draw.h"

#include "report/term/chart.h"
#include "report/term/device_bar.h"
#include "report/term/paragraph.h"
#include "report/term/table.h"

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
