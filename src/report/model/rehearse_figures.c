/*
 * rehearse_figures.c - peaks, of processes and of devices. See rehearse_parts.h.
 */
#include "report/model/rehearse_parts.h"

#include <math.h>
#include <string.h>

#define RANKS_SHOWN 8u
#define BAR_INDENT  26u /* where bars begin */

double plim_rehearsed_share(const plim_rehearsal_outcome *outcome, uint64_t bytes)
{
    const uint64_t capacity = outcome->capacity_bytes;
    return capacity > 0 ? (double)bytes / (double)capacity : (double)NAN;
}

const char *plim_rehearsed_moment(plim_page *page, uint64_t step, const char *phase)
{
    return plim_page_text(page, "step {}{}{}",
                          PLIM_FACTS(plim_plain(NULL, step),
                                     plim_words(phase[0] != '\0' ? ", " : ""), plim_words(phase)));
}

void plim_rehearsed_figures(plim_page *page, const char *id)
{
    static const plim_column columns[] = {
        { "what", PLIM_ALIGN_LEFT, 0, 10 }, { "bytes", PLIM_ALIGN_RIGHT, 0, 10 },
        { "bar", PLIM_ALIGN_BAR, 0, 24 },   { "share", PLIM_ALIGN_RIGHT, 0, 6 },
        { "note", PLIM_ALIGN_REST, 0, 0 },
    };
    plim_page_table(page, id, columns, sizeof columns / sizeof columns[0])->table.hides_titles =
        true;
}

void plim_rehearsed_figure(const plim_rehearsing_page *self, const char *label, uint64_t bytes,
                           const char *note)
{
    plim_page *page = self->page;
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(label));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, bytes));
    plim_page_cell_bar(page, PLIM_TONE_IN_USE, bytes, self->outcome->capacity_bytes);
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_percent(NULL, plim_rehearsed_share(self->outcome, bytes)));
    plim_page_cell(page, PLIM_TONE_FAINT, plim_words(note));
}

/* What NVML's first query counts as used: the driver's own memory too. */
static void add_driver(const plim_rehearsing_page *self, const plim_rehearsed_gpu *gpu)
{
    const uint64_t driver_bytes = self->outcome->gpu->driver_bytes;
    if (driver_bytes == 0) {
        return;
    }
    plim_item *item = plim_page_below(
        self->page, PLIM_TONE_FAINT, "nvidia-smi before 510: {}, with the driver's own {}",
        PLIM_FACTS(plim_bytes("nvml_bytes", gpu->peak_bytes + driver_bytes),
                   plim_bytes("driver_bytes", driver_bytes)));
    item->indent = BAR_INDENT;
    item->layout = PLIM_LAYOUT_WRAP;
}

static void add_gpu(const plim_rehearsing_page *self, const char *label, uint32_t device)
{
    const plim_rehearsed_gpu *gpu = &self->outcome->gpus[device];
    const char *libraries = "";
    if (gpu->libraries_bytes > 0) {
        libraries = plim_page_text(self->page, ", libraries {}",
                                   PLIM_FACTS(plim_bytes(NULL, gpu->libraries_bytes)));
    }
    plim_rehearsed_figure(self, label, gpu->peak_bytes,
                          plim_page_text(self->page, "{} to {}",
                                         PLIM_FACTS(plim_bytes(NULL, gpu->peak.low_bytes),
                                                    plim_bytes(NULL, gpu->peak.high_bytes))));
    plim_item *item = plim_page_below(
        self->page, PLIM_TONE_FAINT, "requested by the program {}, context {}{}",
        PLIM_FACTS(plim_bytes("program_bytes", gpu->program_bytes),
                   plim_bytes("context_bytes", gpu->context_bytes), plim_words(libraries)));
    item->indent = BAR_INDENT;
    item->layout = PLIM_LAYOUT_WRAP;
    add_driver(self, gpu);
}

static bool is_like(const plim_rehearsed_gpu *a, const plim_rehearsed_gpu *b)
{
    return a->peak_bytes == b->peak_bytes && a->program_bytes == b->program_bytes &&
           a->context_bytes == b->context_bytes && a->libraries_bytes == b->libraries_bytes &&
           a->doubt == b->doubt && memcmp(&a->peak, &b->peak, sizeof(a->peak)) == 0;
}

static bool are_alike(const plim_rehearsal_outcome *outcome)
{
    for (uint32_t i = 1; i < outcome->device_count; i++) {
        if (!is_like(&outcome->gpus[i], &outcome->gpus[0])) {
            return false;
        }
    }
    return outcome->device_count > 1;
}

static void say_gpus(const plim_rehearsing_page *self)
{
    const uint32_t count = self->outcome->device_count;
    plim_page_heading(self->page, "Device use", NULL);
    plim_rehearsed_figures(self->page, "device_use");
    if (are_alike(self->outcome)) {
        add_gpu(self, "each GPU", 0);
        return;
    }
    for (uint32_t i = 0; i < count && i < RANKS_SHOWN; i++) {
        add_gpu(self, plim_page_text(self->page, "GPU {}", PLIM_FACTS(plim_plain(NULL, i))), i);
    }
    if (count > RANKS_SHOWN) {
        plim_page_note(
            self->page, "more", PLIM_TONE_FAINT, "and {} more; {} at most",
            PLIM_FACTS(plim_count("devices_left_out", count - RANKS_SHOWN),
                       plim_bytes("peak_device_bytes",
                                  plim_rehearsed_find_peak(self->outcome).device_bytes)));
    }
}

/* One process: its devices in full. */
static void say_process(const plim_rehearsing_page *self, const plim_rehearsed_process *process)
{
    plim_page *page = self->page;
    for (size_t i = 0; i < process->device_count; i++) {
        const plim_rehearsed_device *device = &process->devices[i];
        const char *retries = "";
        if (device->alloc_retries > 0) {
            retries =
                plim_page_text(page, "cache given back {}",
                               PLIM_FACTS(plim_count_of(NULL, device->alloc_retries, "time")));
        }
        if (self->outcome->device_count > 1) {
            plim_page_heading(page, "Peaks of GPU {}",
                              PLIM_FACTS(plim_plain("device", device->device)));
        } else {
            plim_page_heading(page, "Peaks", NULL);
        }
        plim_rehearsed_figures(page, "peaks");
        plim_rehearsed_figure(self, "allocated", device->peak_allocated_bytes,
                              plim_rehearsed_moment(page, device->peak_step, device->peak_phase));
        plim_rehearsed_figure(self, "reserved", device->peak_reserved_bytes, retries);
        if (device->device < self->outcome->device_count) {
            add_gpu(self, "device use", device->device);
        }
    }
}

static void add_rank(plim_page *page, const plim_rehearsed_process *process,
                     const plim_rehearsed_device *device)
{
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_plain("rank", process->rank));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_plain("device", device->device));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, device->peak_allocated_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, device->peak_reserved_bytes));
    plim_page_cell(page, PLIM_TONE_FAINT,
                   plim_words(plim_rehearsed_moment(page, device->peak_step, device->peak_phase)));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_plain("steps", process->steps));
    plim_page_cell(page, PLIM_TONE_FAINT, plim_words(process->ended));
}

/* Many: a row each. */
static void say_ranks(const plim_rehearsing_page *self)
{
    static const plim_column columns[] = {
        { "rank", PLIM_ALIGN_RIGHT, 0, 0 },      { "GPU", PLIM_ALIGN_RIGHT, 0, 0 },
        { "allocated", PLIM_ALIGN_RIGHT, 0, 0 }, { "reserved", PLIM_ALIGN_RIGHT, 0, 0 },
        { "peak in", PLIM_ALIGN_LEFT, 0, 0 },    { "steps", PLIM_ALIGN_RIGHT, 0, 0 },
        { "ended", PLIM_ALIGN_LEFT, 0, 0 },
    };
    plim_page_heading(self->page, "Peaks by process", NULL);
    plim_page_table(self->page, "processes", columns, sizeof columns / sizeof columns[0]);
    size_t rows = 0;
    for (size_t i = 0; i < self->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &self->outcome->processes[i];
        for (size_t j = 0; j < process->device_count; j++, rows++) {
            if (rows < RANKS_SHOWN) {
                add_rank(self->page, process, &process->devices[j]);
            }
        }
    }
    if (rows > RANKS_SHOWN) {
        plim_page_note(
            self->page, "more", PLIM_TONE_FAINT, "and {} more; {} allocated at most",
            PLIM_FACTS(plim_count("rows_left_out", rows - RANKS_SHOWN),
                       plim_bytes("peak_allocated_bytes",
                                  plim_rehearsed_find_peak(self->outcome).allocated_bytes)));
    }
    say_gpus(self);
}

void plim_rehearsed_say_figures(const plim_rehearsing_page *self)
{
    if (self->outcome->process_count == 1 && self->outcome->processes[0].device_count > 0) {
        say_process(self, &self->outcome->processes[0]);
    } else if (self->outcome->process_count > 1) {
        say_ranks(self);
    } else {
        say_gpus(self);
    }
}
