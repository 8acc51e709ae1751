/*
 * fuzz_diagnose.c - any bytes as a history with steps and stacks that may contradict itself in
 * every way: diagnosed, shown in full, written as a document and as annotations. Nothing crashes,
 * and the verdict is that of the finding that decides.
 *
 *   byte 0       bits: a capacity, replays, findings alone
 *   then         events of 4 bytes: action and stream, place, size, stack; two numbers
 *                beyond the stacks are the beginning and the end of a step
 */
#include "base/assert.h"
#include "base/memory.h"
#include "history/builder.h"
#include "report/github/annotations.h"
#include "report/json/documents.h"

#include <string.h>

#define EVENTS_MAX   ((size_t)4000)
#define PLACE_BYTES  ((uint64_t)512 << 10)
#define PLACES_BASE  ((uint64_t)0x7f0000000000)
#define OTHER_STREAM ((plim_stream)7)
#define STACKS       ((uint32_t)8)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const places[STACKS] = {
    "forward",  "backward",         "step", "__init__", "torch::autograd::Engine", "evaluate",
    "generate", "a,b:c%\n\x1b[31m",
};

static void add_stacks(plim_history *history)
{
    for (uint32_t i = 0; i < STACKS; i++) {
        plim_frame frame = { .line = i, .fx = PLIM_NONE };
        uint32_t id = 0;
        uint32_t stack = 0;
        const char *const file = i == 2 ? "/x/torch/optim/adam.py" : "/home/u/train.py";
        PLIM_ASSERT(plim_history_add_string(history, file, strlen(file), &frame.filename, NULL) ==
                    PLIM_OK);
        PLIM_ASSERT(plim_history_add_string(history, places[i], strlen(places[i]), &frame.name,
                                            NULL) == PLIM_OK);
        PLIM_ASSERT(plim_history_add_frame(history, &frame, &id, NULL) == PLIM_OK);
        PLIM_ASSERT(plim_history_add_stack(history, &id, 1, &stack, NULL) == PLIM_OK);
    }
}

/* A span of the program's own; ends without beginnings are among them. */
static void push_step(plim_history *history, uint64_t at, bool is_start)
{
    static const char name[] = "ProfilerStep#1";
    plim_annotation step = { .time_us = (int64_t)at, .is_start = is_start };
    PLIM_ASSERT(plim_history_add_string(history, name, sizeof name - 1, &step.name, NULL) ==
                PLIM_OK);
    PLIM_ASSERT(plim_history_push_annotation(history, &step, NULL) == PLIM_OK);
}

/* Half the sizes are of the small pool; one is nonsense. */
static uint64_t size_of(uint8_t byte)
{
    return byte == 0xff ? UINT64_MAX : ((uint64_t)(byte & 0x0f) + 1) << (8 + (byte >> 4));
}

static void push_event(plim_history *history, const uint8_t *row, uint64_t at)
{
    const plim_event event = { .action = (plim_action)(row[0] % 9),
                               .stream = row[0] >> 7 == 0 ? 0 : OTHER_STREAM,
                               .addr = PLACES_BASE + row[1] * PLACE_BYTES,
                               .bytes = size_of(row[2]),
                               .time_ns = plim_time_ns((int64_t)at),
                               .stack = row[3] % 16 < STACKS ? row[3] % 16 : PLIM_NONE };
    PLIM_ASSERT(plim_history_push_event(history, &event, NULL) == PLIM_OK);
}

static plim_history *history_of(const uint8_t *data, size_t size)
{
    plim_history *history = NULL;
    uint32_t stream = 0;
    PLIM_ASSERT(plim_history_create(&plim_mem_heap, &history, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_history_add_stream(history, 0, &stream, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_history_add_stream(history, OTHER_STREAM, &stream, NULL) == PLIM_OK);
    add_stacks(history);
    plim_device_ranges ranges = { .device = 0 };
    for (size_t at = 1; at + 4 <= size && ranges.events.count < EVENTS_MAX; at += 4) {
        const uint8_t mark = data[at + 3] % 16;
        if (mark >= 14) {
            push_step(history, ranges.events.count, mark == 14);
        }
        push_event(history, &data[at], ranges.events.count);
        ranges.events.count++;
    }
    PLIM_ASSERT(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(history);
    return history;
}

static void check_device(const plim_device_diagnosis *device)
{
    PLIM_ASSERT(device->verdict < PLIM_VERDICT_COUNT);
    PLIM_ASSERT(device->confidence >= 0 && device->confidence <= 1);
    const bool is_decided = device->finding_count > 0 && device->findings[0].decides;
    PLIM_ASSERT(is_decided ? device->verdict == device->findings[0].kind
                           : device->verdict == PLIM_VERDICT_HEALTHY);
}

static void show(plim_diagnosed *file)
{
    const plim_diagnose_view view = { .all = true };
    plim_page page;
    plim_error err;
    plim_text part;
    plim_page_init(&page, NULL);
    plim_diagnose_page(&page, &view, file);
    PLIM_ASSERT(plim_page_status(&page, &err) == PLIM_OK);
    PLIM_ASSERT(plim_diagnose_json_part(file, &part, &err) == PLIM_OK);
    plim_text_deinit(&part);
    PLIM_ASSERT(plim_diagnose_annotate(file, &part, &err) == PLIM_OK);
    plim_text_deinit(&part);
    plim_page_deinit(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const plim_diagnose_options options = { .capacity_bytes = data[0] & 1 ? (uint64_t)64 << 20 : 0,
                                            .budget_seconds = data[0] & 2 ? 0.01 : 0,
                                            .findings_only = (data[0] & 4) != 0 };
    plim_diagnosed file = { .path = "fuzz", .history = history_of(data, size) };
    PLIM_ASSERT(plim_diagnose(file.history, &options, &file.diagnosis, NULL) == PLIM_OK);
    for (size_t i = 0; i < plim_diagnosis_device_count(file.diagnosis); i++) {
        check_device(plim_diagnosis_device(file.diagnosis, i));
    }
    show(&file);
    plim_diagnosis_destroy(file.diagnosis);
    plim_history_destroy(file.history);
    return 0;
}
