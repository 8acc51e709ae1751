/*
 * snapshot_tool.c - works with an allocator for a while, then writes its snapshot and what it
 * counted, for test_snapshot.py:
 *
 *   snapshot_tool SETTINGS SEED OUT      SETTINGS as in PYTORCH_CUDA_ALLOC_CONF
 *
 * Two devices, three streams, a private pool; events complete late, so that some blocks are
 * waiting at the end. Prints the statistics of both devices as JSON.
 */
#include "plimsoll/allocator.h"
#include "plimsoll/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICES 2
#define LIVE    300
#define STEPS   6000

static plim_error err;
static uint64_t state;

static void must(plim_status status)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "%s: %s\n", plim_status_name(status), err.message);
        exit(1);
    }
}

static uint64_t below(uint64_t end)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % end;
}

static uint64_t a_size(void)
{
    return below(3) == 0 ? 1 + below(1 << 20) : 1 + below((uint64_t)40 << 20);
}

static void work(plim_allocator *allocator, const plim_device *devices)
{
    plim_addr live[LIVE] = { 0 };
    const plim_pool_id pool = plim_new_pool_id(allocator, false);
    must(plim_pool_retain(allocator, 0, pool, NULL, &err));
    for (int step = 0; step < STEPS; step++) {
        plim_addr *at = &live[below(LIVE)];
        if (step == STEPS / 3) {
            must(plim_pool_begin(allocator, 0, pool, NULL, NULL, &err));
        } else if (step == STEPS / 2) {
            must(plim_pool_end(allocator, 0, pool, &err));
        } else if (*at != 0) {
            must(plim_free(allocator, *at, &err));
            *at = 0;
        } else {
            const plim_status status =
                plim_malloc(allocator, (int32_t)below(DEVICES), a_size(), below(3), at, &err);
            must(status == PLIM_OUT_OF_DEVICE_MEMORY ? PLIM_OK : status);
        }
        if (*at != 0 && below(5) == 0) {
            must(plim_record_stream(allocator, *at, below(3), &err));
        }
        if (below(50) == 0) {
            plim_sim_complete_all(&devices[below(DEVICES)]);
        }
    }
    for (int32_t device = 0; device < DEVICES; device++) { /* something waits at the end */
        plim_addr last = 0;
        must(plim_malloc(allocator, device, 1000, 0, &last, &err));
        must(plim_record_stream(allocator, last, 1, &err));
        must(plim_free(allocator, last, &err));
    }
    must(plim_allocator_check(allocator, &err));
}

static void print_stats(plim_allocator *allocator)
{
    printf("[");
    for (int32_t device = 0; device < DEVICES; device++) {
        plim_device_stats stats;
        must(plim_allocator_stats(allocator, device, &stats, &err));
        printf("%s{", device > 0 ? ", " : "");
        for (size_t i = 0; i < plim_stats_count(); i++) {
            printf("%s\"%s\": %" PRId64, i > 0 ? ", " : "", plim_stats_name(i),
                   plim_stats_value(&stats, i));
        }
        printf("}");
    }
    printf("]\n");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: snapshot_tool SETTINGS SEED OUT\n");
        return 2;
    }
    plim_device devices[DEVICES];
    for (int32_t i = 0; i < DEVICES; i++) {
        const plim_sim_options sim = { .ordinal = i,
                                       .total_bytes = (uint64_t)3 << 30,
                                       .has_manual_fences = true };
        must(plim_sim_create(&sim, &devices[i], &err));
    }
    plim_settings settings = plim_settings_default();
    must(plim_settings_parse(argv[1], &settings, &err));
    const plim_allocator_options options = { .devices = devices,
                                             .device_count = DEVICES,
                                             .settings = &settings };
    plim_allocator *allocator = NULL;
    must(plim_allocator_create(&options, &allocator, &err));
    const plim_record_options history = {
        .is_enabled = true, .stacks = PLIM_STACKS_ALL, .has_c_frames = true, .max_events = 4000
    };
    must(plim_record_history(allocator, &history, &err));
    state = strtoull(argv[2], NULL, 10);
    work(allocator, devices);
    plim_history *snapshot = NULL;
    must(plim_allocator_snapshot(allocator, NULL, true, &snapshot, &err));
    must(plim_snapshot_save(snapshot, argv[3], NULL, &err));
    print_stats(allocator);
    plim_history_destroy(snapshot);
    plim_allocator_destroy(allocator);
    for (int32_t i = 0; i < DEVICES; i++) {
        plim_device_destroy(&devices[i]);
    }
    return 0;
}
