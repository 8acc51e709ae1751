/*
 * record_history.c - who allocated what: a history with C stacks, as a snapshot and as a recording.
 *
 *     cc -g record_history.c $(pkg-config --cflags --libs plimsoll) && ./a.out run
 *     plimsoll inspect run.pickle run.plim
 *
 * run.pickle is what PyTorch's own viewers open too. run.plim was written while the program ran:
 * it has every event, and most of it is there even if the program is killed.
 */
#include <plimsoll/allocator.h>
#include <plimsoll/inspect.h>
#include <plimsoll/recorder.h>
#include <plimsoll/snapshot.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LAYERS 4
#define STEPS  3

static plim_error err;
static plim_allocator *allocator;

static void must(plim_status status)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "record_history: %s\n", err.message);
        exit(3);
    }
}

/* --- a program that is recorded --- */

static plim_addr new_activation(uint64_t bytes)
{
    plim_addr addr = 0;
    must(plim_malloc(allocator, 0, bytes, 0, &addr, &err));
    return addr;
}

static void forward(plim_addr activations[LAYERS])
{
    for (uint64_t layer = 0; layer < LAYERS; layer++) {
        activations[layer] = new_activation((6 + layer) << 20);
    }
}

static void backward(const plim_addr activations[LAYERS])
{
    for (int layer = LAYERS; layer > 0; layer--) {
        const plim_addr gradient = new_activation(2 << 20);
        must(plim_free(allocator, activations[layer - 1], &err));
        must(plim_free(allocator, gradient, &err));
    }
}

static void train(plim_recorder *recorder)
{
    const plim_addr weights = new_activation(24 << 20);
    for (int step = 0; step < STEPS; step++) {
        plim_addr activations[LAYERS];
        must(plim_recorder_annotate(recorder, 0, "step", true, &err));
        forward(activations);
        backward(activations);
        must(plim_recorder_annotate(recorder, 0, "step", false, &err));
    }
    must(plim_free(allocator, weights, &err));
}

/* --- recording it --- */

static void save_snapshot(const char *path)
{
    plim_history *history = NULL;
    must(plim_allocator_snapshot(allocator, NULL, true, &history, &err));
    must(plim_snapshot_save(history, path, NULL, &err));
    plim_history_destroy(history);
    printf("%s: open it with plimsoll inspect, or with PyTorch's viewer\n", path);
}

/* Reads the recording back, as any other history. */
static void look_at(const char *path)
{
    plim_history *history = NULL;
    plim_inspection *inspection = NULL;
    must(plim_recording_load(path, NULL, &history, &err));
    must(plim_inspect(history, NULL, &inspection, &err));
    const plim_device_inspection *device = plim_inspection_device(inspection, 0);
    printf("%s: %" PRIu64 " MiB in %" PRIu64 " allocations at the peak\n", path,
           device->peak.requested_bytes >> 20, device->peak.live_count);
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
}

static void record(const char *snapshot_path, const char *recording_path)
{
    plim_recorder *recorder = NULL;
    plim_history *before = NULL;
    const plim_record_options options = {
        .is_enabled = true, .stacks = PLIM_STACKS_ALL, .max_events = 100000, .has_c_frames = true
    };
    must(plim_record_history(allocator, &options, &err));
    must(plim_recorder_start(recording_path, NULL, &recorder, &err));
    must(plim_allocator_snapshot(allocator, NULL, false, &before, &err));
    must(plim_recorder_state(recorder, before, &err));
    plim_history_destroy(before);
    const plim_event_sink sink = plim_recorder_sink(recorder);
    must(plim_add_event_sink(allocator, &sink, &err));

    train(recorder);

    plim_remove_event_sink(allocator, sink.ctx);
    const plim_recorder_counts counts = plim_recorder_count(recorder);
    printf("%" PRIu64 " events recorded, %" PRIu64 " dropped\n", counts.events, counts.dropped);
    must(plim_recorder_stop(recorder, &err));
    save_snapshot(snapshot_path);
    look_at(recording_path);
}

int main(int argc, char **argv)
{
    char paths[2][4096];
    if (argc != 2) {
        fprintf(stderr, "usage: record_history NAME (writes NAME.pickle and NAME.plim)\n");
        return 2;
    }
    (void)snprintf(paths[0], sizeof paths[0], "%s.pickle", argv[1]);
    (void)snprintf(paths[1], sizeof paths[1], "%s.plim", argv[1]);
    const plim_host_options host = { .total_bytes = (uint64_t)1 << 30 };
    const plim_settings settings = plim_settings_default();
    plim_device device = { 0 };
    must(plim_host_create(&host, &device, &err));
    const plim_allocator_options of_allocator = { .devices = &device,
                                                  .device_count = 1,
                                                  .settings = &settings };
    must(plim_allocator_create(&of_allocator, &allocator, &err));
    record(paths[0], paths[1]);
    plim_allocator_destroy(allocator);
    plim_device_destroy(&device);
    return 0;
}
