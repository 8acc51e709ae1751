/*
 * fuzz_save.c - any bytes as a snapshot file: imported, saved, imported again.
 *
 * What comes back has as many of everything. Saving may make texts UTF-8 and put missing ones as
 * empty, so that things become equal that were not; of what went through that once, saving gives
 * the same bytes for ever.
 */
#include "base/assert.h"
#include "torch/save.h"

#include <string.h>

#define INPUT_BYTES_MAX  ((size_t)64 << 10)
#define OUTPUT_BYTES_MAX ((size_t)64 << 20)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every key that is known, so that nothing is left out. */
static bool save(const plim_history *history, plim_text *pickle)
{
    const plim_snapshot_save_options options = { .torch = PLIM_TORCH(2, 14) };
    plim_error err = { .status = PLIM_OK };
    plim_text_init(pickle, NULL, OUTPUT_BYTES_MAX);
    const plim_status status =
        plim_snapshot_write(history, &options, plim_sink_to_text(pickle), &err);
    /* Devices may be too many; or the pickle, of a list that the input repeats. */
    PLIM_ASSERT(status == PLIM_OK || status == PLIM_LIMIT || status == PLIM_IO);
    PLIM_ASSERT(status == PLIM_OK || err.message[0] != '\0');
    return status == PLIM_OK;
}

static plim_history *load(const plim_text *pickle)
{
    plim_history *history = NULL;
    plim_error err = { .status = PLIM_OK };
    const plim_status status =
        plim_snapshot_parse(pickle->data, pickle->length, NULL, &history, &err);
    PLIM_ASSERT(status == PLIM_OK);
    return history;
}

static bool is_known(const plim_device_history *device)
{
    return device->events.count > 0 || device->segment_count > 0;
}

/* Devices of which nothing is known may be added, between those that are. */
static void check_devices(const plim_history *before, const plim_history *after)
{
    const size_t count = plim_history_device_count(after);
    size_t next = 0;
    for (size_t i = 0; i < plim_history_device_count(before); i++) {
        const plim_device_history *a = plim_history_device(before, i);
        while (is_known(a) && next < count && !is_known(plim_history_device(after, next))) {
            next++;
        }
        if (is_known(a)) {
            PLIM_ASSERT(next < count);
            const plim_device_history *b = plim_history_device(after, next++);
            PLIM_ASSERT(a->device == b->device && a->events.count == b->events.count);
            PLIM_ASSERT(a->segment_count == b->segment_count && a->block_count == b->block_count);
        }
    }
}

/* A table with a key that events or blocks have is read as one of them: such settings are lost. */
static bool is_read_as_record(const plim_history *history, const plim_setting *setting)
{
    static const char *const keys[] = { "action", "blocks", "state", "stage", "filename" };
    const uint32_t names[] = { setting->group, setting->name };
    for (size_t i = 0; i < 2 * sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(plim_history_string(history, names[i % 2], NULL), keys[i / 2]) == 0) {
            return true;
        }
    }
    return false;
}

static void check(const plim_history *before, const plim_history *after)
{
    uint64_t annotations[2] = { 0 };
    uint64_t settings[2] = { 0 };
    check_devices(before, after);
    (void)plim_history_annotations(before, &annotations[0]);
    (void)plim_history_annotations(after, &annotations[1]);
    PLIM_ASSERT(annotations[0] == annotations[1]);
    const plim_setting *rows = plim_history_settings(before, &settings[0]);
    for (uint64_t i = 0; i < settings[0]; i++) {
        if (is_read_as_record(before, &rows[i])) {
            return;
        }
    }
    (void)plim_history_settings(after, &settings[1]);
    PLIM_ASSERT(settings[0] == settings[1]);
    PLIM_ASSERT(plim_history_anomaly_count(after, PLIM_ANOMALY_BAD_FIELD) == 0);
    PLIM_ASSERT(plim_history_anomaly_count(after, PLIM_ANOMALY_UNKNOWN_FIELD) == 0);
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_history *history = NULL;
    if (size > INPUT_BYTES_MAX ||
        plim_snapshot_parse(data, size, NULL, &history, NULL) != PLIM_OK) {
        return 0;
    }
    plim_text first;
    if (save(history, &first)) {
        plim_text second;
        plim_text third;
        plim_history *again = load(&first);
        check(history, again);
        PLIM_ASSERT(save(again, &second));
        plim_history *last = load(&second);
        check(again, last);
        PLIM_ASSERT(save(last, &third));
        PLIM_ASSERT(second.length == third.length);
        PLIM_ASSERT(memcmp(second.data, third.data, second.length) == 0);
        plim_history_destroy(last);
        plim_history_destroy(again);
        plim_text_deinit(&second);
        plim_text_deinit(&third);
    }
    plim_text_deinit(&first);
    plim_history_destroy(history);
    return 0;
}
