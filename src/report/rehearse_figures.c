/*
 * rehearse_figures.c - peaks, of processes and of devices. See rehearse_parts.h.
 */
#include "report/rehearse_parts.h"

#include "report/counted.h"
#include "report/table.h"
#include "report/term/bars.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NARROW_COLUMNS    80u
#define BAR_COLUMNS       24u
#define BAR_COLUMNS_LEAST 8u
#define RANKS_SHOWN       8u
#define LABEL_COLUMNS     12u
#define FIGURE_COLUMNS    10u
#define PERCENT_COLUMNS   8u

void plim_rehearse_blank(const plim_rehearse_page *page)
{
    plim_text_append_char(page->out, '\n');
}

void plim_rehearse_heading(const plim_rehearse_page *page, const char *words)
{
    plim_rehearse_blank(page);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, words);
    plim_line_end(&line);
}

plim_short_text plim_rehearse_share(const plim_rehearse_page *page, uint64_t bytes)
{
    const uint64_t capacity = page->outcome->capacity_bytes;
    return plim_format_percent(capacity > 0 ? (double)bytes / (double)capacity : (double)NAN);
}

plim_rehearse_name plim_rehearse_moment(uint64_t step, const char *phase)
{
    plim_rehearse_name name;
    (void)snprintf(name.text, sizeof(name.text), "step %" PRIu64 "%s%s", step,
                   phase[0] != '\0' ? ", " : "", phase);
    return name;
}

/* On a narrow page bars make room for what stands behind them. */
static uint32_t bar_columns(const plim_rehearse_page *page)
{
    const uint32_t width = plim_style_width(page->style);
    return width < NARROW_COLUMNS ? BAR_COLUMNS_LEAST : BAR_COLUMNS;
}

void plim_rehearse_figure(const plim_rehearse_page *page, const char *label, uint64_t bytes,
                          const char *note)
{
    plim_line line = plim_line_begin(page->out, page->style, 2);
    plim_line_add_cell(&line, PLIM_TONE_PLAIN, label, LABEL_COLUMNS, PLIM_ALIGN_LEFT);
    plim_line_add_cell(&line, PLIM_TONE_PLAIN, plim_format_bytes(bytes).text, FIGURE_COLUMNS,
                       PLIM_ALIGN_RIGHT);
    plim_line_add(&line, PLIM_TONE_PLAIN, "  ");
    plim_bar_add(&line, PLIM_BAR_SOLID, bytes, page->outcome->capacity_bytes, bar_columns(page));
    plim_line_add_cell(&line, PLIM_TONE_PLAIN, plim_rehearse_share(page, bytes).text,
                       PERCENT_COLUMNS, PLIM_ALIGN_RIGHT);
    if (note[0] != '\0') {
        plim_line_format(&line, PLIM_TONE_FAINT, "  %s", note);
    }
    plim_line_end(&line);
}

static void write_device(const plim_rehearse_page *page, const plim_rehearsed_device *device)
{
    plim_rehearse_figure(page, "allocated", device->peak_allocated_bytes,
                         plim_rehearse_moment(device->peak_step, device->peak_phase).text);
    char retries[96] = "";
    if (device->alloc_retries > 0) {
        (void)snprintf(retries, sizeof(retries), "cache given back %s",
                       plim_counted(device->alloc_retries, "time").text);
    }
    plim_rehearse_figure(page, "reserved", device->peak_reserved_bytes, retries);
}

static void write_gpu(const plim_rehearse_page *page, const char *label, uint32_t device)
{
    const plim_rehearsed_gpu *gpu = &page->outcome->gpus[device];
    plim_rehearse_figure(page, label, gpu->peak_bytes, "");
    char libraries[64] = "";
    if (gpu->libraries_bytes > 0) {
        (void)snprintf(libraries, sizeof(libraries), ", libraries %s",
                       plim_format_bytes(gpu->libraries_bytes).text);
    }
    plim_paragraph_format(page->out, page->style, 2 + LABEL_COLUMNS + FIGURE_COLUMNS + 2,
                          PLIM_TONE_FAINT, "asked for by the program %s, context %s%s",
                          plim_format_bytes(gpu->program_bytes).text,
                          plim_format_bytes(gpu->context_bytes).text, libraries);
}

static bool are_alike(const plim_rehearsal_outcome *outcome)
{
    for (uint32_t i = 1; i < outcome->device_count; i++) {
        if (memcmp(&outcome->gpus[i], &outcome->gpus[0], sizeof(outcome->gpus[0])) != 0) {
            return false;
        }
    }
    return outcome->device_count > 1;
}

static void write_gpus(const plim_rehearse_page *page)
{
    plim_rehearse_heading(page, "Device use");
    if (are_alike(page->outcome)) {
        write_gpu(page, "each GPU", 0);
        return;
    }
    for (uint32_t i = 0; i < page->outcome->device_count && i < RANKS_SHOWN; i++) {
        char label[32];
        (void)snprintf(label, sizeof(label), "GPU %" PRIu32, i);
        write_gpu(page, label, i);
    }
    if (page->outcome->device_count > RANKS_SHOWN) {
        plim_paragraph_format(
            page->out, page->style, 2, PLIM_TONE_FAINT, "and %s more; %s at most",
            plim_format_count(page->outcome->device_count - RANKS_SHOWN).text,
            plim_format_bytes(plim_rehearsed_find_peak(page->outcome).device_bytes).text);
    }
}

/* One process: its devices in full. */
static void write_process(const plim_rehearse_page *page, const plim_rehearsed_process *process)
{
    for (size_t i = 0; i < process->device_count; i++) {
        const plim_rehearsed_device *device = &process->devices[i];
        char title[64];
        (void)snprintf(title, sizeof(title), "Peaks of GPU %" PRIu32, device->device);
        plim_rehearse_heading(page, page->outcome->device_count > 1 ? title : "Peaks");
        write_device(page, device);
        if (device->device < page->outcome->device_count) {
            write_gpu(page, "device use", device->device);
        }
    }
}

static void add_rank(plim_table *table, const plim_rehearsed_process *process,
                     const plim_rehearsed_device *device)
{
    plim_table_format(table, PLIM_TONE_PLAIN, "%" PRIu64, process->rank);
    plim_table_format(table, PLIM_TONE_PLAIN, "%" PRIu32, device->device);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(device->peak_allocated_bytes).text);
    plim_table_add(table, PLIM_TONE_PLAIN, plim_format_bytes(device->peak_reserved_bytes).text);
    plim_table_add(table, PLIM_TONE_FAINT,
                   plim_rehearse_moment(device->peak_step, device->peak_phase).text);
    plim_table_format(table, PLIM_TONE_PLAIN, "%" PRIu64, process->steps);
    plim_table_add(table, PLIM_TONE_FAINT, process->ended);
}

/* Many: a row each. */
static void write_ranks(const plim_rehearse_page *page)
{
    static const plim_table_column columns[] = {
        { "rank", PLIM_ALIGN_RIGHT },      { "GPU", PLIM_ALIGN_RIGHT },
        { "allocated", PLIM_ALIGN_RIGHT }, { "reserved", PLIM_ALIGN_RIGHT },
        { "peak in", PLIM_ALIGN_LEFT },    { "steps", PLIM_ALIGN_RIGHT },
        { "ended", PLIM_ALIGN_LEFT },
    };
    plim_rehearse_heading(page, "Peaks by process");
    plim_table table;
    plim_table_init(&table, page->out->mem, columns, sizeof(columns) / sizeof(columns[0]));
    size_t rows = 0;
    for (size_t i = 0; i < page->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &page->outcome->processes[i];
        for (size_t j = 0; j < process->device_count; j++, rows++) {
            if (rows < RANKS_SHOWN) {
                add_rank(&table, process, &process->devices[j]);
            }
        }
    }
    plim_table_write(&table, page->out, page->style, 2);
    plim_table_deinit(&table);
    if (rows > RANKS_SHOWN) {
        plim_paragraph_format(
            page->out, page->style, 2, PLIM_TONE_FAINT, "and %s more; %s allocated at most",
            plim_format_count(rows - RANKS_SHOWN).text,
            plim_format_bytes(plim_rehearsed_find_peak(page->outcome).allocated_bytes).text);
    }
    write_gpus(page);
}

void plim_rehearse_figures_write(const plim_rehearse_page *page)
{
    if (page->outcome->process_count == 1) {
        write_process(page, &page->outcome->processes[0]);
    } else if (page->outcome->process_count > 1) {
        write_ranks(page);
    } else {
        write_gpus(page);
    }
}
