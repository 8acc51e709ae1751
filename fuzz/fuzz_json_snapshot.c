/*
 * fuzz_json_snapshot.c - any text as a snapshot in JSON.
 *
 * fuzz_snapshot takes JSON too, but finds its way to it seldom; and text mutates differently.
 */
#include "base/assert.h"

#include "plimsoll/inspect.h"
#include "plimsoll/snapshot.h"

#define INPUT_BYTES_MAX ((size_t)64 << 10)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_history *history = NULL;
    plim_inspection *inspection = NULL;
    if (size == 0 || size > INPUT_BYTES_MAX || (data[0] != '{' && data[0] != '[')) {
        return 0;
    }
    plim_error err = { .status = PLIM_OK };
    if (plim_snapshot_parse(data, size, NULL, &history, &err) != PLIM_OK) {
        PLIM_ASSERT(history == NULL);
        PLIM_ASSERT(err.message[0] != '\0');
        return 0;
    }
    PLIM_ASSERT(plim_history_source(history).bytes == size);
    PLIM_ASSERT(plim_history_source(history).pickle_protocol == -1);
    if (plim_inspect(history, NULL, &inspection, &err) == PLIM_OK) {
        PLIM_ASSERT(plim_inspection_device_count(inspection) == plim_history_device_count(history));
    }
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
    return 0;
}
