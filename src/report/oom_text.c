/*
 * oom_text.c - adding up the free space that a failing request found, and saying what follows.
 */
#include "report/oom_text.h"

#include "base/size.h"

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
