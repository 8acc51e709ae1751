/*
 * plimsoll.c - our allocator as one side of alloc_fastpath: the public interface of the shared
 * library over the device that has addresses only. Settings come from the environment.
 */
#include "plimsoll/allocator.h"
#include "plimsoll/recorder.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE_BYTES ((uint64_t)256 << 30)

static plim_allocator *side;
static plim_device side_device;
static plim_recorder *side_recorder;
static uint64_t heard; /* events, by the listener */

static void check(plim_status status, const plim_error *err)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "alloc_fastpath: %s\n", err->message);
        exit(1);
    }
}

static inline uint64_t side_malloc(uint64_t bytes, uint64_t stream)
{
    plim_addr addr = 0;
    if (plim_malloc(side, 0, bytes, stream, &addr, NULL) != PLIM_OK) {
        abort();
    }
    return addr;
}

static inline void side_free(uint64_t addr)
{
    if (plim_free(side, addr, NULL) != PLIM_OK) {
        abort();
    }
}

static void side_open(void)
{
    plim_error err;
    const plim_sim_options sim = { .total_bytes = DEVICE_BYTES };
    check(plim_sim_create(&sim, &side_device, &err), &err);
    const plim_allocator_options options = { .devices = &side_device, .device_count = 1 };
    check(plim_allocator_create(&options, &side, &err), &err);
}

static void side_history(uint64_t events, bool has_stacks)
{
    plim_error err;
    const plim_record_options options = {
        .is_enabled = true,
        .stacks = has_stacks ? PLIM_STACKS_ALL : PLIM_STACKS_NEVER,
        .has_c_frames = has_stacks,
        .max_events = events,
    };
    check(plim_record_history(side, &options, &err), &err);
}

static void count_event(void *ctx, const plim_event *event)
{
    (void)event;
    ++*(uint64_t *)ctx;
}

static void side_listen(void)
{
    plim_error err;
    const plim_event_sink sink = { .event = count_event, .ctx = &heard };
    check(plim_add_event_sink(side, &sink, &err), &err);
}

static void side_record(const char *path)
{
    plim_error err;
    const plim_recorder_options options = { 0 };
    check(plim_recorder_start(path, &options, &side_recorder, &err), &err);
    const plim_event_sink sink = plim_recorder_sink(side_recorder);
    check(plim_add_event_sink(side, &sink, &err), &err);
}

static void side_settle(void)
{
    plim_error err;
    if (side_recorder != NULL) {
        check(plim_recorder_flush(side_recorder, &err), &err);
    }
}

static uint64_t side_driver_calls(void)
{
    static const plim_device_call calls[] = { PLIM_CALL_MEMORY_ALLOC, PLIM_CALL_MEMORY_FREE,
                                              PLIM_CALL_HANDLE_CREATE, PLIM_CALL_MAP,
                                              PLIM_CALL_UNMAP };
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        sum += plim_sim_calls(&side_device, calls[i]);
    }
    return sum;
}

static void side_report(void)
{
    plim_metadata bytes;
    plim_allocator_metadata(side, &bytes);
    printf(",\"heard\":%" PRIu64 ",\"metadata\":{\"blocks\":%" PRIu64 ",\"block_bytes\":%" PRIu64
           ",\"index_bytes\":%" PRIu64 ",\"free_set_bytes\":%" PRIu64 ",\"segment_bytes\":%" PRIu64
           ",\"history_bytes\":%" PRIu64 ",\"total_bytes\":%" PRIu64 "}",
           heard, bytes.blocks, bytes.block_bytes, bytes.index_bytes, bytes.free_set_bytes,
           bytes.segment_bytes, bytes.history_bytes, bytes.total_bytes);
    if (side_recorder != NULL) {
        const plim_recorder_counts counts = plim_recorder_count(side_recorder);
        printf(",\"recorder\":{\"events\":%" PRIu64 ",\"dropped\":%" PRIu64
               ",\"written_bytes\":%" PRIu64 "}",
               counts.events, counts.dropped, counts.written_bytes);
    }
}

static void side_close(void)
{
    plim_error err;
    if (side_recorder != NULL) {
        plim_remove_event_sink(side, plim_recorder_sink(side_recorder).ctx);
        check(plim_recorder_stop(side_recorder, &err), &err);
    }
    plim_allocator_destroy(side);
    plim_device_destroy(&side_device);
}

#include "measures.h"

int main(int argc, char **argv)
{
    return measures_main(argc, argv);
}
