/*
 * fuzz_profiler.c - any bytes as an export of PyTorch's profiler: traces and memory timelines.
 */
#include "base/assert.h"
#include "base/input.h"
#include "profiler/read.h"

#include "plimsoll/timeline.h"

#define INPUT_BYTES_MAX ((size_t)64 << 10)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const plim_history *history, size_t device)
{
    plim_timeline *timeline = NULL;
    if (plim_timeline_create(history, device, NULL, &timeline, NULL) == PLIM_OK) {
        plim_live live = plim_timeline_live(timeline, PLIM_AT_START, true);
        plim_allocation allocation;
        while (plim_live_next(&live, &allocation)) {
            (void)plim_history_stack(history, allocation.stack);
        }
    }
    plim_timeline_destroy(timeline);
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_input *input = NULL;
    plim_history *history = NULL;
    plim_error err = { .status = PLIM_OK };
    if (size == 0 || size > INPUT_BYTES_MAX ||
        plim_input_open_memory(data, size, NULL, &input, &err) != PLIM_OK) {
        return 0;
    }
    const bool looks_like = plim_profiler_looks_like(data, size);
    if (plim_profiler_read(input, NULL, &history, &err) == PLIM_OK) {
        PLIM_ASSERT(looks_like);
        PLIM_ASSERT(plim_history_source(history).bytes == size);
        for (size_t i = 0; i < plim_history_device_count(history); i++) {
            walk(history, i);
        }
    } else {
        PLIM_ASSERT(history == NULL);
        PLIM_ASSERT(err.message[0] != '\0');
    }
    plim_history_destroy(history);
    plim_input_close(input);
    return 0;
}
