/*
 * inspect_page.c - the facts and words that several parts of the page share.
 */
#include "report/inspect_page.h"

#include "base/size.h"
#include "report/line.h"

#include <inttypes.h>
#include <stdio.h>

const plim_events *plim_page_events(const plim_inspect_file *file, int32_t device)
{
    const size_t count = plim_history_device_count(file->history);
    for (size_t i = 0; i < count; i++) {
        const plim_device_history *one = plim_history_device(file->history, i);
        if (one->device == device) {
            return &one->events;
        }
    }
    return NULL;
}

const char *plim_page_time(const plim_inspect_file *file, int32_t device, int64_t time_us,
                           char *buffer, size_t buffer_bytes)
{
    const plim_events *events = plim_page_events(file, device);
    buffer[0] = '\0';
    if (events == NULL || events->count == 0 || time_us == PLIM_TIME_UNKNOWN ||
        events->time_us[0] == PLIM_TIME_UNKNOWN || time_us < events->time_us[0]) {
        return buffer;
    }
    const uint64_t since_us = (uint64_t)time_us - (uint64_t)events->time_us[0];
    snprintf(buffer, buffer_bytes, "%s", plim_format_duration_us(since_us).text);
    return buffer;
}

bool plim_page_shows(const plim_inspect_view *view, const plim_device_inspection *device)
{
    return !view->one_device || device->device == view->device;
}

bool plim_page_has_memory(const plim_device_inspection *device)
{
    return device->events > 0 || device->end.segments > 0;
}

const char *plim_page_device_name(int32_t device, char *buffer, size_t buffer_bytes)
{
    if (device == PLIM_HOST_DEVICE) {
        snprintf(buffer, buffer_bytes, "Pinned host memory");
    } else {
        snprintf(buffer, buffer_bytes, "GPU %" PRId32, device);
    }
    return buffer;
}

void plim_page_heading(const plim_page *page, const char *text)
{
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, text);
    plim_line_end(&line);
}
