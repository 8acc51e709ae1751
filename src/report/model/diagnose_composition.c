/*
 * diagnose_composition.c - what memory was made of, by category and by the rule that decided: at
 * the peak, at each failure, and step by step.
 */
#include "report/model/diagnose_parts.h"

#include <string.h>

#define STEP_CATEGORIES 7u /* columns; the rest is one */

static double share_of(uint64_t bytes, uint64_t total)
{
    return total > 0 ? (double)bytes / (double)total : 0;
}

/* --- one moment --- */

static void say_sums(const plim_diagnose_part *self, const plim_device_composition *made)
{
    static const plim_column columns[] = {
        { "requested", PLIM_ALIGN_RIGHT, 0, 9 },   { "share", PLIM_ALIGN_RIGHT, 0, 0 },
        { "allocations", PLIM_ALIGN_RIGHT, 2, 0 }, { "category", PLIM_ALIGN_LEFT, 0, 0 },
        { "decided by", PLIM_ALIGN_LEFT, 1, 0 },
    };
    plim_page_table(self->page, "composition", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < made->sum_count; i++) {
        const plim_category_sum *const sum = &made->sums[i];
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_bytes("bytes", sum->bytes));
        plim_page_cell(self->page, PLIM_TONE_PLAIN,
                       plim_percent("share", share_of(sum->bytes, made->requested_bytes)));
        plim_page_cell(self->page, PLIM_TONE_PLAIN, plim_count("allocations", sum->count));
        plim_page_cell(self->page, PLIM_TONE_HEADING, plim_words(sum->name));
        plim_page_cell(self->page, PLIM_TONE_FAINT, plim_words(sum->rule != NULL ? sum->rule : ""));
    }
    if (made->unknown_bytes > 0) {
        plim_page_note(self->page, "unknown", PLIM_TONE_FAINT,
                       "Nothing says what {} of it ({}) are for.",
                       PLIM_FACTS(plim_bytes("unknown_bytes", made->unknown_bytes),
                                  plim_percent("unknown_share", share_of(made->unknown_bytes,
                                                                         made->requested_bytes))));
    }
}

/* The place of the peak in its step, and the next one: more than their difference no fix of the
 * burst can save. */
static void say_place(const plim_diagnose_part *self)
{
    plim_page *const page = self->page;
    const plim_peak_place *const place = &self->device->peak_place;
    const uint64_t peak = self->device->facts->peak.requested_bytes;
    if (place->step != PLIM_NO_STEP) {
        plim_page_note(
            page, "peak_place", PLIM_TONE_PLAIN, "It is in step {}, after {} of it",
            PLIM_FACTS(plim_plain("step", place->step), plim_percent("position", place->position)));
        if (place->pass != NULL) {
            plim_page_more(page, ", in {}", PLIM_FACTS(plim_words(place->pass)));
        }
        plim_page_more(page, ".", NULL);
    }
    if (place->next_peak_bytes > 0 && place->next_peak_bytes < peak) {
        plim_page_note(
            page, "next_peak", PLIM_TONE_PLAIN,
            "Without the burst that makes it the peak would be {}: to remove that burst saves at "
            "most {}.",
            PLIM_FACTS(plim_bytes("next_peak_bytes", place->next_peak_bytes),
                       plim_bytes("burst_bytes", peak - place->next_peak_bytes)));
    }
}

/* --- all steps --- */

/* Names of the columns: those of the peak, then others as they come. */
static size_t list_names(const plim_device_diagnosis *device, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i <= device->composition_step_count; i++) {
        const plim_device_composition *const made = i == 0 ? &device->peak : &device->steps[i - 1];
        for (size_t k = 0; k < made->sum_count; k++) {
            size_t at = 0;
            while (at < count && names[at] != made->sums[k].name) {
                at++;
            }
            if (at == count && count < STEP_CATEGORIES) {
                names[count++] = made->sums[k].name;
            }
        }
    }
    return count;
}

static uint64_t bytes_of(const plim_device_composition *made, const char *name)
{
    for (size_t i = 0; i < made->sum_count; i++) {
        if (made->sums[i].name == name) {
            return made->sums[i].bytes;
        }
    }
    return 0;
}

static void say_step(const plim_diagnose_part *self, const plim_device_composition *made,
                     const char *const *names, size_t count)
{
    plim_page_cell(self->page, PLIM_TONE_HEADING, plim_plain("step", made->step));
    plim_page_cell(self->page, PLIM_TONE_PLAIN,
                   plim_bytes("requested_bytes", made->requested_bytes));
    for (size_t i = 0; i < count; i++) {
        plim_page_cell(self->page, PLIM_TONE_PLAIN,
                       plim_bytes("category_bytes", bytes_of(made, names[i])));
    }
}

static void say_steps(const plim_diagnose_part *self)
{
    const plim_device_diagnosis *const device = self->device;
    const size_t count = device->composition_step_count;
    const char *names[STEP_CATEGORIES];
    if (count == 0) {
        return;
    }
    const size_t name_count = list_names(device, names);
    plim_column *const columns = plim_page_alloc(self->page, name_count + 2, sizeof *columns);
    if (columns == NULL) {
        return;
    }
    columns[0] = (plim_column){ "step", PLIM_ALIGN_RIGHT, 0, 6 };
    columns[1] = (plim_column){ "peak", PLIM_ALIGN_RIGHT, 0, 0 };
    for (size_t i = 0; i < name_count; i++) {
        const char *const title = plim_page_copy(self->page, names[i], strlen(names[i]));
        columns[i + 2] = (plim_column){ title, PLIM_ALIGN_RIGHT, (uint8_t)(name_count - i), 0 };
    }
    const size_t shown = plim_diagnose_rows(self, count);
    plim_page_heading(self->page, "At the peak of each step", NULL);
    plim_page_table(self->page, "steps", columns, (uint32_t)name_count + 2);
    for (size_t i = 0; i < shown; i++) {
        /* The first, the last, and evenly between. */
        const size_t at = shown > 1 ? i * (count - 1) / (shown - 1) : 0;
        say_step(self, &device->steps[at], names, name_count);
    }
    if (shown < device->step_count) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({} of {})",
                       PLIM_FACTS(plim_count("steps_shown", shown),
                                  plim_count_of("steps", device->step_count, "step")));
    }
}

void plim_diagnose_composition(const plim_diagnose_part *self)
{
    const plim_device_diagnosis *const device = self->device;
    if (device->peak.sum_count > 0) {
        plim_page_heading(self->page, device->has_events ? "At the peak" : "At the end", NULL);
        say_sums(self, &device->peak);
        say_place(self);
    }
    for (size_t i = 0; i < device->failure_count; i++) {
        plim_page_heading(self->page, "When a request failed (event {})",
                          PLIM_FACTS(plim_count("event", device->failures[i].event > 0
                                                             ? (uint64_t)device->failures[i].event
                                                             : 0)));
        say_sums(self, &device->failures[i]);
    }
    say_steps(self);
}
