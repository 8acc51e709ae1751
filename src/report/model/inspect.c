/*
 * inspect.c - the page of a file: what it is, what it lacks, its devices, what to ask next.
 *
 * The order is that of the questions after a training has died: did it run out, how
 * much was in use and when, is it fragmentation, whose lines held it. Pools come last.
 */
#include "report/model/inspect.h"

#include "base/text.h"
#include "report/model/inspect_parts.h"
#include "report/model/settings_text.h"
#include "report/model/stack_text.h"

#include <string.h>

#define ANOMALIES_SHOWN 3u
#define WARNINGS_SHOWN  3u

/* ---- the file ------------------------------------------------------------------------------- */

static void say_source(const plim_inspected *self)
{
    const plim_source source = plim_history_source(self->file->history);
    const char *generation = source.generation != NULL ? source.generation : "";
    const char *protocol = "";
    if (source.pickle_protocol >= 0) {
        protocol = plim_page_text(
            self->page, " protocol {}",
            PLIM_FACTS(plim_count("pickle_protocol", (uint64_t)source.pickle_protocol)));
    }
    plim_page_file(self->page, self->file->path);
    plim_page_say(self->page, "source", PLIM_TONE_FAINT, "{}{}{}{}{}{} · {}",
                  PLIM_FACTS(plim_words(generation), plim_words(*generation != '\0' ? " · " : ""),
                             plim_words(source.format), plim_words(protocol),
                             plim_words(source.compression != NULL ? " in " : ""),
                             plim_words(source.compression != NULL ? source.compression : ""),
                             plim_bytes("file_bytes", source.bytes)));
}

static void say_settings(const plim_inspected *self)
{
    uint64_t count = 0;
    (void)plim_history_settings(self->file->history, &count);
    if (count == 0) {
        return; /* releases before 2.3 do not record them */
    }
    plim_text text;
    plim_text_init(&text, self->page->arena.mem, PLIM_SCRATCH_BYTES_MAX);
    plim_settings_text_add(&text, self->file->history);
    if (text.status == PLIM_OUT_OF_HOST_MEMORY) {
        self->page->status = PLIM_OUT_OF_HOST_MEMORY;
    }
    plim_page_say(self->page, "settings", PLIM_TONE_FAINT, "{}",
                  PLIM_FACTS(plim_words(text.length > 0 ? plim_text_string(&text)
                                                        : "all at PyTorch's defaults")))
        ->lead = "settings:";
    plim_text_deinit(&text);
}

/* Times of anomalies that are shown; events after a failure are no contradiction: they stand with
 * the failure. */
static uint64_t anomaly_count(const plim_inspected *self, int anomaly)
{
    return anomaly == PLIM_ANOMALY_AFTER_OOM ? 0 : self->file->anomalies[anomaly];
}

/* Contradictions within the file: the most frequent ones, in words. */
static void say_anomalies(const plim_inspected *self)
{
    bool is_said[PLIM_ANOMALY_COUNT] = { false };
    uint32_t kinds = 0;
    for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        kinds += anomaly_count(self, i) > 0;
    }
    for (uint32_t n = 0; n < kinds && n < ANOMALIES_SHOWN; n++) {
        int most = -1;
        for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
            if (!is_said[i] && (most < 0 || anomaly_count(self, i) > anomaly_count(self, most))) {
                most = i;
            }
        }
        is_said[most] = true;
        plim_page_warn(self->page, "anomaly", "{}: {}.",
                       PLIM_FACTS(plim_count_of(plim_anomaly_name((plim_anomaly)most),
                                                anomaly_count(self, most), "time"),
                                  plim_words(plim_anomaly_text((plim_anomaly)most))));
    }
    if (kinds > ANOMALIES_SHOWN) {
        plim_page_note(
            self->page, "more", PLIM_TONE_FAINT, "({} more: --json counts all)",
            PLIM_FACTS(plim_count_of("kinds_left_out", kinds - ANOMALIES_SHOWN, "kind")));
    }
}

static void say_warnings(const plim_inspected *self)
{
    const size_t count = plim_history_warning_count(self->file->history);
    for (size_t i = 0; i < count && i < WARNINGS_SHOWN; i++) {
        plim_page_warn(self->page, "warning", "{}",
                       PLIM_FACTS(plim_words(plim_history_warning(self->file->history, i))));
    }
    if (count > WARNINGS_SHOWN) {
        plim_page_note(
            self->page, "more", PLIM_TONE_FAINT, "({} more: --json lists them)",
            PLIM_FACTS(plim_count_of("warnings_left_out", count - WARNINGS_SHOWN, "warning")));
    }
}

/* ---- its devices ---------------------------------------------------------------------------- */

/* "GPU 1, GPU 2: nothing recorded." Machines have eight GPUs and programs often use one. */
static void say_idle_devices(const plim_inspected *self)
{
    const char *names = "";
    for (size_t i = 0; i < self->file->device_count; i++) {
        const plim_device_inspection *device = self->file->devices[i];
        if (!plim_inspect_has_memory(device) && plim_inspect_shows(self->view, device)) {
            names = plim_page_text(
                self->page, "{}{}{}",
                PLIM_FACTS(plim_words(names), plim_words(*names != '\0' ? ", " : ""),
                           plim_words(plim_device_name(self->page, device->device))));
        }
    }
    if (*names != '\0') {
        plim_page_gap(self->page);
        plim_page_say(self->page, "idle_devices", PLIM_TONE_FAINT, "{}: nothing recorded",
                      PLIM_FACTS(plim_words(names)));
    }
}

/* Devices on which memory ran out come first: the answer is there. */
static void say_devices(const plim_inspected *self)
{
    size_t shown = 0;
    for (int failed = 1; failed >= 0; failed--) {
        for (size_t i = 0; i < self->file->device_count; i++) {
            const plim_device_inspection *device = self->file->devices[i];
            if (plim_inspect_shows(self->view, device) && (device->oom_count > 0) == failed) {
                shown++;
                if (plim_inspect_has_memory(device)) {
                    plim_inspected_device(self, device);
                }
            }
        }
    }
    say_idle_devices(self);
    plim_page_gap(self->page);
    if (shown == 0 && self->view->one_device) {
        plim_page_say(self->page, "no_such_device", PLIM_TONE_WARN, "The file knows no device {}.",
                      PLIM_FACTS(plim_id("device", self->view->device)));
    } else if (shown == 0) {
        plim_page_say(self->page, "empty", PLIM_TONE_WARN,
                      "The file is empty: no events, no segments.", NULL);
    }
}

void plim_inspect_page(plim_page *page, const plim_inspect_view *view,
                       const plim_inspect_file *files, size_t count)
{
    const plim_inspected self = { .page = page, .view = view, .file = &files[0] };
    if (count > 1) {
        plim_inspected_ranks(&self, files, count);
        return;
    }
    if (files[0].history == NULL) {
        return;
    }
    say_source(&self);
    say_settings(&self);
    say_anomalies(&self);
    say_warnings(&self);
    say_devices(&self);
    plim_page_gap(page);
    plim_page_say(
        page, "next", PLIM_TONE_FAINT,
        "Next: plimsoll diagnose says what happened and what helps; {}--top N more of them, --at "
        "another moment, --json everything",
        PLIM_FACTS(plim_words(view->frames == 0 ? "--all-frames shows whole stacks, " : "")));
}
