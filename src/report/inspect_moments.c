/*
 * inspect_moments.c - the moments that matter in one table: start, peak, each failure, end.
 */
#include "base/numbers.h"
#include "base/size.h"
#include "report/counted.h"
#include "report/inspect_page.h"
#include "report/table.h"

#include <stdio.h>

#define OOM_ROWS_SHOWN 8u

/* "18.6%"; nothing where contradictions make it negative. */
static plim_short_text share_text(double unused)
{
    return unused < 0.0 ? (plim_short_text){ "-" } : plim_format_percent(unused);
}

/* Two cells: what is reserved and not allocated, and its share, the fragmentation. */
static void add_unused(plim_table *table, uint64_t allocated_bytes, uint64_t reserved_bytes,
                       double fragmentation)
{
    plim_table_add(table, PLIM_TONE_PLAIN,
                   plim_format_bytes(plim_minus(reserved_bytes, allocated_bytes)).text);
    plim_table_add(table, fragmentation >= PLIM_PAGE_MUCH_UNUSED ? PLIM_TONE_WARN : PLIM_TONE_PLAIN,
                   share_text(fragmentation).text);
}

static void add_moment(plim_table *table, const plim_page *page,
                       const plim_device_inspection *device, const char *name,
                       const plim_moment *moment)
{
    char when[64];
    plim_page_time(page->file, device->device, moment->time_us, when, sizeof when);
    plim_table_add(table, PLIM_TONE_PLAIN, name);
    plim_table_add(table, PLIM_TONE_HEADING, plim_format_bytes(moment->requested_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(moment->allocated_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(moment->reserved_bytes).text);
    add_unused(table, moment->allocated_bytes, moment->reserved_bytes, moment->fragmentation);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_count(moment->live_count).text);
    if (moment->event < 0) {
        plim_table_add(table, PLIM_TONE_FAINT,
                       device->events > 0 ? "before the first event" : "as the file has it");
    } else {
        plim_table_format(table, PLIM_TONE_FAINT, "event %s%s%s",
                          plim_format_count((uint64_t)moment->event).text,
                          when[0] != '\0' ? ", " : "", when);
    }
}

static void add_start(plim_table *table, const plim_device_inspection *device)
{
    if (device->events == 0 ||
        (device->start_live_count == 0 && device->start_reserved_bytes == 0)) {
        return;
    }
    plim_table_add(table, PLIM_TONE_PLAIN, "start");
    plim_table_add(table, PLIM_TONE_HEADING, plim_format_bytes(device->start_requested_bytes).text);
    plim_table_add(table, PLIM_TONE_FAINT, "-");
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(device->start_reserved_bytes).text);
    plim_table_add(table, PLIM_TONE_FAINT, "-");
    plim_table_add(table, PLIM_TONE_FAINT, "-");
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_count(device->start_live_count).text);
    plim_table_add(table, PLIM_TONE_FAINT, "before the first event");
}

static void add_end(plim_table *table, const plim_device_inspection *device)
{
    const plim_end_state *end = &device->end;
    plim_table_add(table, PLIM_TONE_PLAIN, "end");
    plim_table_add(table, PLIM_TONE_HEADING, plim_format_bytes(end->requested_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(end->allocated_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(end->reserved_bytes).text);
    add_unused(table, end->allocated_bytes, end->reserved_bytes, end->fragmentation);
    plim_table_add(table, PLIM_TONE_FAINT, "-");
    plim_table_format(table, PLIM_TONE_FAINT, "%s, %s", plim_counted(end->segments, "segment").text,
                      plim_counted(end->blocks, "block").text);
}

void plim_page_moments(const plim_page *page, const plim_device_inspection *device)
{
    static const plim_table_column columns[] = {
        { "", PLIM_ALIGN_LEFT },           { "requested", PLIM_ALIGN_RIGHT },
        { "allocated", PLIM_ALIGN_RIGHT }, { "reserved", PLIM_ALIGN_RIGHT },
        { "unused", PLIM_ALIGN_RIGHT },    { "fragm.", PLIM_ALIGN_RIGHT },
        { "live", PLIM_ALIGN_RIGHT },      { "when", PLIM_ALIGN_LEFT },
    };
    plim_table table;
    plim_table_init(&table, page->mem, columns, sizeof columns / sizeof columns[0]);
    add_start(&table, device);
    if (device->events > 0) {
        add_moment(&table, page, device, "peak", &device->peak);
    }
    /* The last ones: the first failures are often retried, the last ended the program. */
    const size_t first =
        device->oom_count > OOM_ROWS_SHOWN ? device->oom_count - OOM_ROWS_SHOWN : 0;
    for (size_t i = first; i < device->oom_count; i++) {
        char name[40];
        snprintf(name, sizeof name, "OOM %zu", i + 1);
        add_moment(&table, page, device, device->oom_count > 1 ? name : "OOM",
                   &device->ooms[i].moment);
    }
    add_end(&table, device);
    plim_page_heading(page, "Moments");
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
}
