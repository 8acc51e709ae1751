/*
 * inspect_chart.c - memory over time: what was allocated, and what was reserved above it.
 */
#include "base/size.h"
#include "report/counted.h"
#include "report/inspect_page.h"
#include "report/line.h"
#include "report/sparkline.h"

#include <stdio.h>
#include <string.h>

#define CHART_ROWS   4u
#define AXIS_COLUMNS 10u /* "1023 MiB" and what is around it */

static void write_legend(const plim_page *page, const plim_device_inspection *device)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, "Over time");
    plim_line_add(&line, PLIM_TONE_PLAIN, "  ");
    plim_line_add(&line, PLIM_TONE_IN_USE, glyphs->levels[8]);
    plim_line_add(&line, PLIM_TONE_FAINT, " allocated  ");
    plim_line_add(&line, PLIM_TONE_UNUSED, glyphs->shade);
    plim_line_add(&line, PLIM_TONE_FAINT, " reserved, not in use");
    if (device->peak.event >= 0) {
        plim_line_format(&line, PLIM_TONE_HEADING, "  %s", glyphs->marker);
        plim_line_add(&line, PLIM_TONE_FAINT, " peak");
    }
    if (device->oom_count > 0) {
        plim_line_add(&line, PLIM_TONE_BAD, "  x");
        plim_line_add(&line, PLIM_TONE_FAINT, " out of memory");
    }
    plim_line_end(&line);
}

static void write_axis(const plim_page *page, const plim_device_inspection *device)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    char label[80];
    snprintf(label, sizeof label, " %s", plim_counted(device->events, "event").text);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add_cell(&line, PLIM_TONE_FAINT, "0", AXIS_COLUMNS - 1, PLIM_ALIGN_RIGHT);
    plim_line_to(&line, AXIS_COLUMNS);
    plim_line_add(&line, PLIM_TONE_FAINT, glyphs->corner);
    const uint32_t left = plim_line_left(&line);
    const uint32_t label_columns = (uint32_t)strlen(label);
    plim_line_repeat(&line, PLIM_TONE_FAINT, glyphs->rule,
                     left > label_columns ? left - label_columns : 0);
    plim_line_add(&line, PLIM_TONE_FAINT, label);
    plim_line_end(&line);
}

typedef struct chart_marks {
    bool is_oom[PLIM_SPARK_COLUMNS_MAX];
    uint32_t peak; /* column, or PLIM_NONE */
} chart_marks;

static void place_marks(const plim_device_inspection *device, const plim_spark *spark,
                        chart_marks *marks)
{
    *marks = (chart_marks){ .peak = PLIM_NONE };
    for (size_t i = 0; i < device->oom_count; i++) {
        marks->is_oom[plim_spark_column(spark, device->timeline, device->timeline_count,
                                        device->ooms[i].event)] = true;
    }
    if (device->peak.event >= 0) {
        marks->peak = plim_spark_column(spark, device->timeline, device->timeline_count,
                                        (uint64_t)device->peak.event);
    }
}

/* One line below the axis: where the peak was, and where requests failed. */
static void write_marks(const plim_page *page, const plim_device_inspection *device,
                        const plim_spark *spark)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    const uint32_t base = AXIS_COLUMNS + 1;
    chart_marks marks;
    place_marks(device, spark, &marks);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    for (uint32_t x = 0; x < spark->columns; x++) {
        if (marks.is_oom[x] || x == marks.peak) {
            plim_line_to(&line, base + x);
            plim_line_add(&line, marks.is_oom[x] ? PLIM_TONE_BAD : PLIM_TONE_HEADING,
                          marks.is_oom[x] ? "x" : glyphs->marker);
        }
    }
    plim_line_end(&line);
}

void plim_page_chart(const plim_page *page, const plim_device_inspection *device)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    plim_spark spark;
    plim_spark_fill(&spark, device->timeline, device->timeline_count,
                    plim_style_width(page->style) - AXIS_COLUMNS - 1);
    if (device->events < 2 || spark.columns == 0 || spark.bytes_max == 0) {
        return;
    }
    write_legend(page, device);
    for (uint32_t row = CHART_ROWS; row > 0; row--) {
        plim_line line = plim_line_begin(page->out, page->style, 0);
        const bool is_top = row == CHART_ROWS;
        plim_line_add_cell(&line, PLIM_TONE_FAINT,
                           is_top ? plim_format_bytes(spark.bytes_max).text : "", AXIS_COLUMNS - 1,
                           PLIM_ALIGN_RIGHT);
        plim_line_to(&line, AXIS_COLUMNS);
        plim_line_add(&line, PLIM_TONE_FAINT, glyphs->axis);
        plim_spark_add_row(&line, &spark, row - 1, CHART_ROWS);
        plim_line_end(&line);
    }
    write_axis(page, device);
    write_marks(page, device, &spark);
}
