/*
 * core_recording.c - a recorded program that embeds libplimsoll-core alone.
 *
 *     cc core_recording.c $(pkg-config --cflags --libs plimsoll-core) && ./a.out run.plim
 *     plimsoll inspect run.plim
 *
 * The library needs the C library and nothing else. It uses libdw (names of stack frames) and
 * libzstd (compressed recordings) where the machine has them.
 */
#include <plimsoll/allocator.h>
#include <plimsoll/recorder.h>

#include <inttypes.h>
#include <stdio.h>

static plim_status record(plim_allocator *allocator, const char *path, plim_error *err)
{
    const plim_recorder_options options = { .compression = 3 };
    const plim_record_options with_stacks = {
        .is_enabled = true, .stacks = PLIM_STACKS_ALL, .max_events = 1000, .has_c_frames = true
    };
    plim_recorder *recorder = NULL;
    if (plim_record_history(allocator, &with_stacks, err) != PLIM_OK ||
        plim_recorder_start(path, &options, &recorder, err) != PLIM_OK) {
        return err->status;
    }
    const plim_event_sink sink = plim_recorder_sink(recorder);
    plim_status status = plim_add_event_sink(allocator, &sink, err);
    for (uint64_t i = 0; i < 1000 && status == PLIM_OK; i++) {
        plim_addr addr = 0;
        status = plim_malloc(allocator, 0, (1 + i % 7) << 20, 0, &addr, err);
        status = status == PLIM_OK ? plim_free(allocator, addr, err) : status;
    }
    plim_remove_event_sink(allocator, sink.ctx);
    const plim_status stopped = plim_recorder_stop(recorder, status == PLIM_OK ? err : NULL);
    return status == PLIM_OK ? stopped : status;
}

static plim_status run(plim_device *device, plim_allocator **allocator, const char *path,
                       plim_error *err)
{
    const plim_host_options host = { .total_bytes = (uint64_t)1 << 30 };
    const plim_allocator_options options = { .devices = device, .device_count = 1 };
    plim_history *history = NULL;
    if (plim_host_create(&host, device, err) != PLIM_OK ||
        plim_allocator_create(&options, allocator, err) != PLIM_OK ||
        record(*allocator, path, err) != PLIM_OK ||
        plim_recording_load(path, NULL, &history, err) != PLIM_OK) {
        return err->status;
    }
    printf("%s: %" PRIu64 " events\n", path, plim_history_device(history, 0)->events.count);
    plim_history_destroy(history);
    return PLIM_OK;
}

int main(int argc, char **argv)
{
    plim_device device = { 0 };
    plim_allocator *allocator = NULL;
    plim_error err = { 0 };
    if (argc != 2) {
        fprintf(stderr, "usage: core_recording FILE.plim\n");
        return 2;
    }
    const plim_status status = run(&device, &allocator, argv[1], &err);
    if (status != PLIM_OK) {
        fprintf(stderr, "core_recording: %s\n", err.message);
    }
    plim_allocator_destroy(allocator);
    plim_device_destroy(&device);
    return status == PLIM_OK ? 0 : 3;
}
