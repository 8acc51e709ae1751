/*
 * fuzz_rmm.c - any bytes as a log of RMM, from its header to a timeline.
 */
#include "base/assert.h"
#include "base/input.h"
#include "rmm/read.h"

#include "plimsoll/timeline.h"

#define INPUT_BYTES_MAX ((size_t)64 << 10)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_input *input = NULL;
    plim_history *history = NULL;
    plim_timeline *timeline = NULL;
    plim_error err = { .status = PLIM_OK };
    if (size == 0 || size > INPUT_BYTES_MAX ||
        plim_input_open_memory(data, size, NULL, &input, &err) != PLIM_OK) {
        return 0;
    }
    const bool looks_like = plim_rmm_looks_like(data, size);
    if (plim_rmm_read(input, NULL, &history, &err) == PLIM_OK) {
        PLIM_ASSERT(looks_like || size > PLIM_RMM_HEADER_BYTES_MAX);
        PLIM_ASSERT(plim_history_source(history).bytes == size);
        if (plim_timeline_create(history, 0, NULL, &timeline, NULL) == PLIM_OK) {
            plim_live live = plim_timeline_live(timeline, PLIM_AT_START, true);
            plim_allocation allocation;
            while (plim_live_next(&live, &allocation)) {
            }
        }
    } else {
        PLIM_ASSERT(history == NULL);
        PLIM_ASSERT(err.message[0] != '\0');
    }
    plim_timeline_destroy(timeline);
    plim_history_destroy(history);
    plim_input_close(input);
    return 0;
}
