/*
 * streams.c - memory that a second stream uses: what plim_record_stream() defers, and until when.
 *
 *     cc streams.c $(pkg-config --cflags --libs plimsoll) && ./a.out
 *
 * The device is simulated and its streams finish when the program says so, which makes visible
 * what on a GPU depends on timing.
 */
#include <plimsoll/allocator.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMPUTE = 1, COPY = 2 }; /* streams: on a GPU, the handles of cudaStreamCreate() */

static plim_error err;

static void must(plim_status status)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "streams: %s\n", err.message);
        exit(3);
    }
}

/* 4 MiB for work on a stream; says where, counted from `base`. */
static plim_addr take(plim_allocator *allocator, plim_stream stream, plim_addr base)
{
    plim_addr addr = 0;
    must(plim_malloc(allocator, 0, 4 << 20, stream, &addr, &err));
    printf("  stream %" PRIu64 " gets offset %" PRIu64 " MiB\n", stream,
           base == 0 ? 0 : (addr - base) >> 20);
    return addr;
}

static void show(plim_allocator *allocator)
{
    plim_device_stats stats;
    must(plim_allocator_stats(allocator, 0, &stats, &err));
    const plim_stat *allocated = &stats.families[PLIM_STAT_ALLOCATED_BYTES][PLIM_SLOT_ALL];
    const plim_stat *active = &stats.families[PLIM_STAT_ACTIVE_BYTES][PLIM_SLOT_ALL];
    printf("  allocated %" PRId64 " MiB, active %" PRId64 " MiB\n", allocated->current >> 20,
           active->current >> 20);
}

static void run(plim_allocator *allocator, const plim_device *device)
{
    puts("Freed memory goes back to its stream at once: later work there runs after earlier work.");
    const plim_addr first = take(allocator, COMPUTE, 0);
    must(plim_free(allocator, first, &err));
    (void)take(allocator, COMPUTE, first);

    puts("The copy stream reads it too. The free waits for what was put on that stream so far.");
    must(plim_record_stream(allocator, first, COPY, &err));
    must(plim_free(allocator, first, &err));
    show(allocator);
    const plim_addr second = take(allocator, COMPUTE, first);

    puts("The copy stream has finished; the next request notices, and the memory is free again.");
    plim_sim_complete(device, COPY);
    const plim_addr third = take(allocator, COMPUTE, first);
    show(allocator);
    must(plim_free(allocator, second, &err));
    must(plim_free(allocator, third, &err));
}

int main(void)
{
    const plim_sim_options sim = { .total_bytes = (uint64_t)1 << 30, .has_manual_fences = true };
    const plim_settings settings = plim_settings_default();
    plim_device device = { 0 };
    plim_allocator *allocator = NULL;
    must(plim_sim_create(&sim, &device, &err));
    const plim_allocator_options options = { .devices = &device,
                                             .device_count = 1,
                                             .settings = &settings };
    must(plim_allocator_create(&options, &allocator, &err));
    run(allocator, &device);
    plim_allocator_destroy(allocator);
    plim_device_destroy(&device);
    return 0;
}
