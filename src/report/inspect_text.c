/*
 * inspect_text.c - the page of a file: what it is, what it lacks, its devices, what to ask next.
 *
 * The order is that of the questions of somebody whose training just died: did it run out, how
 * much was in use and when, is it fragmentation, whose lines held it. Pools come last.
 */
#include "report/inspect_text.h"

#include "base/size.h"
#include "report/counted.h"
#include "report/line.h"
#include "report/paragraph.h"
#include "report/settings_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ANOMALIES_SHOWN 3u
#define WARNINGS_SHOWN  3u

static void write_source(const plim_page *page)
{
    const plim_source source = plim_history_source(page->file->history);
    const char *dot = plim_style_glyphs(page->style)->dot;
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add_path(&line, PLIM_TONE_HEADING,
                       strcmp(page->file->path, "-") == 0 ? "standard input" : page->file->path);
    plim_line_end(&line);

    line = plim_line_begin(page->out, page->style, 0);
    if (source.generation != NULL && source.generation[0] != '\0') {
        plim_line_format(&line, PLIM_TONE_FAINT, "%s %s ", source.generation, dot);
    }
    plim_line_add(&line, PLIM_TONE_FAINT, source.format);
    if (source.pickle_protocol >= 0) {
        plim_line_format(&line, PLIM_TONE_FAINT, " protocol %" PRId32, source.pickle_protocol);
    }
    if (source.compression != NULL) {
        plim_line_format(&line, PLIM_TONE_FAINT, " in %s", source.compression);
    }
    plim_line_format(&line, PLIM_TONE_FAINT, " %s %s", dot, plim_format_bytes(source.bytes).text);
    plim_line_end(&line);
}

static void write_settings(const plim_page *page)
{
    uint64_t count = 0;
    (void)plim_history_settings(page->file->history, &count);
    if (count == 0) {
        return; /* releases before 2.3 do not record them */
    }
    plim_text text;
    plim_text_init(&text, page->mem, PLIM_PAGE_SCRATCH_BYTES_MAX);
    plim_settings_text_add(&text, page->file->history);
    if (text.length == 0 && text.status == PLIM_OK) {
        plim_text_append_string(&text, "all at PyTorch's defaults");
    }
    if (text.status == PLIM_OUT_OF_HOST_MEMORY) {
        page->out->status = PLIM_OUT_OF_HOST_MEMORY;
    }
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_FAINT,
                         "settings:", plim_text_string(&text));
    plim_text_deinit(&text);
}

/* Times to tell of; events after a failure are no contradiction: they stand with the failure. */
static uint64_t anomaly_count(const plim_page *page, int anomaly)
{
    return anomaly == PLIM_ANOMALY_AFTER_OOM ? 0 : page->file->anomalies[anomaly];
}

/* Contradictions within the file: the most frequent ones, in words. */
static void write_anomalies(const plim_page *page)
{
    bool is_shown[PLIM_ANOMALY_COUNT] = { false };
    uint32_t kinds = 0;
    for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        kinds += anomaly_count(page, i) > 0;
    }
    for (uint32_t n = 0; n < kinds && n < ANOMALIES_SHOWN; n++) {
        int most = -1;
        for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
            if (!is_shown[i] && (most < 0 || anomaly_count(page, i) > anomaly_count(page, most))) {
                most = i;
            }
        }
        is_shown[most] = true;
        char words[256];
        snprintf(words, sizeof words, "%s: %s.",
                 plim_counted(anomaly_count(page, most), "time").text,
                 plim_anomaly_text((plim_anomaly)most));
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN,
                             plim_style_glyphs(page->style)->warning, words);
    }
    if (kinds > ANOMALIES_SHOWN) {
        plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_FAINT,
                              "(%s more: --json counts all)",
                              plim_counted(kinds - ANOMALIES_SHOWN, "kind").text);
    }
}

static void write_warnings(const plim_page *page)
{
    const size_t count = plim_history_warning_count(page->file->history);
    for (size_t i = 0; i < count && i < WARNINGS_SHOWN; i++) {
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN,
                             plim_style_glyphs(page->style)->warning,
                             plim_history_warning(page->file->history, i));
    }
    if (count > WARNINGS_SHOWN) {
        plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_FAINT,
                              "(%s more: --json lists them)",
                              plim_counted(count - WARNINGS_SHOWN, "warning").text);
    }
}

/* ---- its devices ---------------------------------------------------------------------------- */

/* "GPU 1, GPU 2: nothing recorded." Machines have eight GPUs and programs often use one. */
static void write_idle_devices(const plim_page *page)
{
    uint32_t shown = 0;
    plim_line line = { 0 };
    for (size_t i = 0; i < page->file->device_count; i++) {
        const plim_device_inspection *device = page->file->devices[i];
        if (plim_page_has_memory(device) || !plim_page_shows(page->view, device)) {
            continue;
        }
        if (shown++ == 0) {
            plim_text_append_char(page->out, '\n');
            line = plim_line_begin(page->out, page->style, 0);
        }
        char name[48];
        plim_line_format(&line, PLIM_TONE_FAINT, "%s%s", shown > 1 ? ", " : "",
                         plim_page_device_name(device->device, name, sizeof name));
    }
    if (shown > 0) {
        plim_line_add(&line, PLIM_TONE_FAINT, ": nothing recorded");
        plim_line_end(&line);
    }
}

static void write_devices(const plim_page *page)
{
    size_t shown = 0;
    for (size_t i = 0; i < page->file->device_count; i++) {
        const plim_device_inspection *device = page->file->devices[i];
        if (!plim_page_shows(page->view, device)) {
            continue;
        }
        shown++;
        if (plim_page_has_memory(device)) {
            plim_page_device(page, device);
        }
    }
    write_idle_devices(page);
    if (shown == 0 && page->view->one_device) {
        plim_text_append_char(page->out, '\n');
        plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_WARN,
                              "The file knows no device %" PRId32 ".", page->view->device);
    } else if (shown == 0) {
        plim_text_append_char(page->out, '\n');
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN, "",
                             "The file is empty: no events, no segments.");
    }
}

static void write_next(const plim_page *page)
{
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_FAINT, "Next: ");
    plim_line_add(&line, PLIM_TONE_FAINT,
                  page->view->frames == 0 ? "--all-frames shows whole stacks, " : "");
    plim_line_add(&line, PLIM_TONE_FAINT, "--top N more of them, --json everything");
    plim_line_end(&line);
}

void plim_inspect_text_write(const plim_mem *mem, plim_text *out, const plim_style *style,
                             const plim_inspect_view *view, const plim_inspect_file *file)
{
    const plim_page page = {
        .mem = plim_mem_or_heap(mem), .out = out, .style = style, .view = view, .file = file
    };
    write_source(&page);
    write_settings(&page);
    write_anomalies(&page);
    write_warnings(&page);
    write_devices(&page);
    write_next(&page);
}
