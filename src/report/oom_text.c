/*
 * oom_text.c - adding up the free space that a failing request found, and saying what follows.
 */
#include "report/oom_text.h"

#include "base/size.h"
#include "report/inspect_page.h"
#include "report/paragraph.h"

#include <stdio.h>

plim_oom_sums plim_oom_add_up(const plim_oom_moment *oom)
{
    const plim_moment *then = &oom->moment;
    plim_oom_sums sums = { .kind = PLIM_OOM_UNCLEAR };
    if (then->reserved_bytes > then->active_bytes) {
        sums.unused_bytes = then->reserved_bytes - then->active_bytes;
    }
    if (sums.unused_bytes >= oom->requested_bytes) {
        sums.kind = PLIM_OOM_FRAGMENTED;
    } else if (oom->has_device_free && oom->device_free_bytes >= oom->requested_bytes) {
        sums.kind = PLIM_OOM_REFUSED;
    } else if (oom->has_device_free) {
        /* Below the request each, so the difference cannot wrap. */
        const uint64_t lacking = oom->requested_bytes - sums.unused_bytes;
        const bool enough = oom->device_free_bytes >= lacking;
        sums.kind = enough ? PLIM_OOM_STRANDED : PLIM_OOM_GENUINE;
        sums.missing_bytes = enough ? 0 : lacking - oom->device_free_bytes;
    }
    return sums;
}

const char *plim_oom_sentence(const plim_oom_moment *oom, char *buffer, size_t buffer_bytes)
{
    const plim_oom_sums sums = plim_oom_add_up(oom);
    const plim_short_text unused = plim_format_bytes(sums.unused_bytes);
    const plim_short_text missing = plim_format_bytes(sums.missing_bytes);
    switch (sums.kind) {
    case PLIM_OOM_FRAGMENTED:
        snprintf(buffer, buffer_bytes,
                 "Fragmentation: %s of what was reserved was not in use, enough for the request "
                 "but in no single piece that could serve it.",
                 unused.text);
        break;
    case PLIM_OOM_STRANDED:
        snprintf(buffer, buffer_bytes,
                 "Fragmentation in part: the %s not in use inside segments and what the device "
                 "had free would have been enough together, but those segments could not be "
                 "given back.",
                 unused.text);
        break;
    case PLIM_OOM_GENUINE:
        snprintf(buffer, buffer_bytes,
                 "Not fragmentation: even with the %s not in use inside segments, %s were "
                 "missing.",
                 unused.text, missing.text);
        break;
    case PLIM_OOM_REFUSED:
        snprintf(buffer, buffer_bytes,
                 "The device had as much free as was asked for. PyTorch asks the driver in larger "
                 "pieces (20 MiB for small requests), or a limit was set on this process.");
        break;
    case PLIM_OOM_UNCLEAR:
        snprintf(buffer, buffer_bytes,
                 "%s of what was reserved was not in use, less than the request; how much the "
                 "device had free was not recorded.",
                 unused.text);
        break;
    }
    return buffer;
}

void plim_page_oom(const plim_page *page, const plim_device_inspection *device,
                   const plim_oom_moment *oom)
{
    char when[64];
    char sentence[256];
    const plim_events *events = plim_page_events(page->file, device->device);
    const bool has_event = events != NULL && oom->event < events->count;
    const int64_t time_us = has_event ? events->time_us[oom->event] : oom->moment.time_us;
    plim_page_time(page->file, device->device, time_us, when, sizeof when);

    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_BAD, "Out of memory");
    plim_line_add(&line, PLIM_TONE_PLAIN, ": asked for ");
    plim_line_add(&line, PLIM_TONE_HEADING, plim_format_bytes(oom->requested_bytes).text);
    if (oom->has_device_free) {
        plim_line_add(&line, PLIM_TONE_PLAIN, ", ");
        plim_line_add(&line, PLIM_TONE_HEADING, plim_format_bytes(oom->device_free_bytes).text);
        plim_line_add(&line, PLIM_TONE_PLAIN, " were free");
    }
    plim_line_format(&line, PLIM_TONE_FAINT, " (event %s%s%s)", plim_format_count(oom->event).text,
                     when[0] != '\0' ? ", at " : "", when);
    plim_line_end(&line);
    plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_PLAIN, "",
                         plim_oom_sentence(oom, sentence, sizeof sentence));
}
