/*
 * fuzz_snapshot.c - any bytes as a snapshot file: imported, inspected, forgotten.
 */
#include "base/assert.h"

#include "plimsoll/inspect.h"
#include "plimsoll/snapshot.h"

#define INPUT_BYTES_MAX ((size_t)64 << 10)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever a file says, the figures hang together. */
static void check(const plim_history *history, const plim_inspection *inspection)
{
    const size_t count = plim_inspection_device_count(inspection);
    PLIM_ASSERT(count == plim_history_device_count(history));
    for (size_t i = 0; i < count; i++) {
        const plim_device_inspection *device = plim_inspection_device(inspection, i);
        const plim_device_history *source = plim_history_device(history, i);
        PLIM_ASSERT(device->device == source->device);
        PLIM_ASSERT(device->events == source->events.count);
        PLIM_ASSERT(device->end.segments == source->segment_count);
        PLIM_ASSERT(device->end.allocated_bytes <= device->end.active_bytes);
        PLIM_ASSERT(device->peak.event < (int64_t)device->events);
    }
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_history *history = NULL;
    plim_inspection *inspection = NULL;
    plim_error err = { .status = PLIM_OK };
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    if (plim_snapshot_parse(data, size, NULL, &history, &err) != PLIM_OK) {
        PLIM_ASSERT(history == NULL);
        PLIM_ASSERT(err.message[0] != '\0');
        return 0;
    }
    if (plim_inspect(history, NULL, &inspection, &err) == PLIM_OK) {
        check(history, inspection);
    }
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
    return 0;
}
