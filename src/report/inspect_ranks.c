/*
 * inspect_ranks.c - comparing the peaks of ranks, and the page that says so.
 */
#include "report/inspect_ranks.h"

#include "base/size.h"
#include "base/vec.h"
#include "report/counted.h"
#include "report/line.h"
#include "report/rank_name.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- comparing ------------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b)
{
    const plim_rank_row *left = a;
    const plim_rank_row *right = b;
    if (left->rank != right->rank) {
        return left->rank < right->rank ? -1 : 1;
    }
    if (left->file != right->file) { /* all of one array: in the order of the command line */
        return left->file < right->file ? -1 : 1;
    }
    return left->device->device < right->device->device
               ? -1
               : left->device->device > right->device->device;
}

bool plim_ranks_init(const plim_mem *mem, const plim_inspect_view *view,
                     const plim_inspect_file *files, size_t count, plim_ranks *ret)
{
    mem = plim_mem_or_heap(mem);
    PLIM_VEC(plim_rank_row) rows = { 0 };
    for (size_t i = 0; i < count; i++) {
        uint64_t rank = i;
        (void)plim_rank_of_path(files[i].path, &rank);
        for (size_t j = 0; files[i].history != NULL && j < files[i].device_count; j++) {
            const plim_device_inspection *device = files[i].devices[j];
            if (device->device == PLIM_HOST_DEVICE || !plim_page_has_memory(device) ||
                !plim_page_shows(view, device)) {
                continue;
            }
            const plim_rank_row row = { .rank = rank, .file = &files[i], .device = device };
            if (!PLIM_VEC_PUSH(mem, &rows, row)) {
                PLIM_VEC_FREE(mem, &rows);
                return false;
            }
        }
    }
    if (rows.count > 1) {
        qsort(rows.items, rows.count, sizeof rows.items[0], compare_rows);
    }
    *ret = (plim_ranks){
        .rows = rows.items, .row_count = rows.count, .row_capacity = rows.capacity, .mem = mem
    };
    return true;
}

void plim_ranks_deinit(plim_ranks *ranks)
{
    if (ranks->rows != NULL) {
        plim_mem_free(ranks->mem, ranks->rows, ranks->row_capacity, sizeof ranks->rows[0]);
    }
    *ranks = (plim_ranks){ 0 };
}

uint64_t plim_rank_requested(const plim_rank_row *row)
{
    return row->device->events > 0 ? row->device->peak.requested_bytes
                                   : row->device->end.requested_bytes;
}

uint64_t plim_rank_reserved(const plim_rank_row *row)
{
    return row->device->events > 0 ? row->device->peak.reserved_bytes
                                   : row->device->end.reserved_bytes;
}

plim_rank_spread plim_ranks_spread(const plim_ranks *ranks,
                                   uint64_t (*bytes)(const plim_rank_row *row))
{
    plim_rank_spread spread = { .max_over_mean = 1.0 };
    if (ranks->row_count == 0) {
        return spread;
    }
    spread.min_bytes = UINT64_MAX;
    double sum = 0.0;
    for (size_t i = 0; i < ranks->row_count; i++) {
        const uint64_t value = bytes(&ranks->rows[i]);
        sum += (double)value;
        if (value > spread.max_bytes) {
            spread.max_bytes = value;
            spread.max_row = i;
        }
        if (value < spread.min_bytes) {
            spread.min_bytes = value;
            spread.min_row = i;
        }
    }
    spread.mean_bytes = sum / (double)ranks->row_count;
    spread.max_over_mean = sum > 0.0 ? (double)spread.max_bytes / spread.mean_bytes : 1.0;
    return spread;
}

/* ---- the page ------------------------------------------------------------------------------- */

static const char *doubt_of(const plim_device_inspection *device)
{
    if (device->events == 0) {
        return "no events";
    }
    return device->truncated ? "truncated" : device->late_start ? "late start" : "";
}

static void write_table(const plim_page *page, const plim_ranks *ranks)
{
    static const plim_table_column columns[] = {
        { "rank", PLIM_ALIGN_RIGHT },     { "file", PLIM_ALIGN_PATH },
        { "GPU", PLIM_ALIGN_RIGHT },      { "requested", PLIM_ALIGN_RIGHT },
        { "reserved", PLIM_ALIGN_RIGHT }, { "fragm.", PLIM_ALIGN_RIGHT },
        { "OOM", PLIM_ALIGN_RIGHT },      { "", PLIM_ALIGN_LEFT },
    };
    plim_table table;
    plim_table_init(&table, page->mem, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ranks->row_count; i++) {
        const plim_rank_row *row = &ranks->rows[i];
        const bool has_events = row->device->events > 0;
        plim_table_format(&table, PLIM_TONE_HEADING, "%" PRIu64, row->rank);
        plim_table_add(&table, PLIM_TONE_PLAIN, row->file->path);
        plim_table_format(&table, PLIM_TONE_PLAIN, "%" PRId32, row->device->device);
        plim_table_add(&table, PLIM_TONE_HEADING, plim_format_bytes(plim_rank_requested(row)).text);
        plim_table_add(&table, PLIM_TONE_PLAIN, plim_format_bytes(plim_rank_reserved(row)).text);
        const double unused =
            has_events ? row->device->peak.fragmentation : row->device->end.fragmentation;
        plim_table_add(&table, PLIM_TONE_PLAIN,
                       unused < 0.0 ? "-" : plim_format_percent(unused).text);
        plim_table_format(&table, row->device->oom_count > 0 ? PLIM_TONE_BAD : PLIM_TONE_FAINT,
                          "%zu", row->device->oom_count);
        plim_table_add(&table, PLIM_TONE_WARN, doubt_of(row->device));
    }
    plim_page_heading(page, "Ranks at their peak");
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
}

static void write_skew(const plim_page *page, const plim_ranks *ranks, const char *name,
                       plim_rank_spread spread)
{
    plim_line line = plim_line_begin(page->out, page->style, 2);
    plim_line_format(&line, PLIM_TONE_PLAIN, "%-10s", name);
    plim_line_format(&line, PLIM_TONE_HEADING, "%.2f", spread.max_over_mean);
    plim_line_add(&line, PLIM_TONE_HEADING, plim_style_glyphs(page->style)->times);
    if (spread.max_bytes == spread.min_bytes) {
        plim_line_add(&line, PLIM_TONE_PLAIN, " the mean: all equal");
    } else {
        plim_line_format(&line, PLIM_TONE_PLAIN, " the mean: rank %" PRIu64 " has %s, ",
                         ranks->rows[spread.max_row].rank,
                         plim_format_bytes(spread.max_bytes).text);
        plim_line_format(&line, PLIM_TONE_PLAIN, "rank %" PRIu64 " %s, ",
                         ranks->rows[spread.min_row].rank,
                         plim_format_bytes(spread.min_bytes).text);
        plim_line_format(&line, PLIM_TONE_PLAIN, "%s less",
                         plim_format_bytes(spread.max_bytes - spread.min_bytes).text);
    }
    plim_line_end(&line);
}

static void write_next(const plim_page *page, const plim_rank_row *largest)
{
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_FAINT, "Next: plimsoll inspect ");
    plim_line_add(&line, PLIM_TONE_FAINT, largest->file->path);
    plim_line_end(&line);
}

static void write_largest(const plim_page *page, const plim_ranks *ranks, size_t row_index)
{
    const plim_rank_row *largest = &ranks->rows[row_index];
    plim_page at_file = *page;
    at_file.file = largest->file;
    char when[64];
    snprintf(when, sizeof when, "At the peak of rank %" PRIu64, largest->rank);
    plim_page_parts(&at_file, &largest->device->peak, when);
    write_next(page, largest);
}

void plim_inspect_ranks_write(const plim_mem *mem, plim_text *out, const plim_style *style,
                              const plim_inspect_view *view, const plim_inspect_file *files,
                              size_t count)
{
    const plim_page page = {
        .mem = plim_mem_or_heap(mem), .out = out, .style = style, .view = view
    };
    plim_ranks ranks;
    if (!plim_ranks_init(mem, view, files, count, &ranks)) {
        out->status = PLIM_OUT_OF_HOST_MEMORY;
        return;
    }
    size_t read = 0;
    for (size_t i = 0; i < count; i++) {
        read += files[i].history != NULL;
    }
    plim_line line = plim_line_begin(out, style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, plim_counted(count, "file").text);
    if (read < count) {
        plim_line_format(&line, PLIM_TONE_WARN, ", %zu could not be read", count - read);
    }
    plim_line_end(&line);
    if (ranks.row_count > 0) {
        const plim_rank_spread spread = plim_ranks_spread(&ranks, plim_rank_requested);
        write_table(&page, &ranks);
        plim_page_heading(&page, "Skew");
        write_skew(&page, &ranks, "requested", spread);
        write_skew(&page, &ranks, "reserved", plim_ranks_spread(&ranks, plim_rank_reserved));
        write_largest(&page, &ranks, spread.max_row);
    } else {
        line = plim_line_begin(out, style, 0);
        plim_line_add(&line, PLIM_TONE_WARN, "Nothing is recorded in any of them.");
        plim_line_end(&line);
    }
    plim_ranks_deinit(&ranks);
}
