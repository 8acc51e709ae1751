/*
 * capture_pool.c - a private pool, as a graph capture needs: memory that stays put for replays.
 *
 *     cc capture_pool.c $(pkg-config --cflags --libs plimsoll) && ./a.out
 *
 * A captured graph has addresses in it. While it may be replayed, nobody else may be given that
 * memory, although the program has freed it: so it comes from a pool of the graph's own.
 */
#include <plimsoll/allocator.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { OTHER = 1, CAPTURED = 7 }; /* streams */

static plim_error err;

static void must(plim_status status)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "capture_pool: %s\n", err.message);
        exit(3);
    }
}

static bool is_captured(void *ctx, plim_stream stream)
{
    (void)ctx;
    return stream == CAPTURED;
}

static plim_addr take(plim_allocator *allocator, plim_stream stream)
{
    plim_addr addr = 0;
    must(plim_malloc(allocator, 0, 12 << 20, stream, &addr, &err));
    return addr;
}

static void show(plim_allocator *allocator, plim_pool_id pool, const char *when)
{
    plim_device_stats stats;
    must(plim_allocator_stats(allocator, 0, &stats, &err));
    printf("%-42s reserved %3" PRId64 " MiB, users of the pool %" PRId64 "\n", when,
           stats.families[PLIM_STAT_RESERVED_BYTES][PLIM_SLOT_ALL].current >> 20,
           plim_pool_use_count(allocator, 0, pool));
}

static int run(plim_allocator *allocator)
{
    const plim_pool_id pool = plim_new_pool_id(allocator, true);
    must(plim_pool_begin(allocator, 0, pool, is_captured, NULL, &err));
    const plim_addr captured = take(allocator, CAPTURED);
    const plim_addr other = take(allocator, OTHER);
    bool holds = false;
    must(plim_pool_holds_exactly(allocator, 0, pool, (plim_addr_list){ &captured, 1 }, &holds,
                                 &err));
    printf("the pool holds the captured stream's block and nothing else: %s\n",
           holds ? "yes" : "no");
    must(plim_free(allocator, captured, &err));
    must(plim_pool_end(allocator, 0, pool, &err));
    show(allocator, pool, "captured; its memory is freed");

    must(plim_empty_cache(allocator, NULL, &err));
    show(allocator, pool, "emptied, but the graph may be replayed");
    const plim_addr next = take(allocator, CAPTURED);
    printf("the captured stream's next block is %s\n",
           next == captured ? "the graph's" : "somewhere else");

    must(plim_pool_release(allocator, 0, pool, &err));
    show(allocator, pool, "the graph is gone");
    must(plim_empty_cache(allocator, NULL, &err));
    show(allocator, pool, "emptied again");
    must(plim_free(allocator, other, &err));
    must(plim_free(allocator, next, &err));
    return holds && next != captured ? 0 : 1;
}

int main(void)
{
    const plim_sim_options sim = { .total_bytes = (uint64_t)1 << 30 };
    const plim_settings settings = plim_settings_default();
    plim_device device = { 0 };
    plim_allocator *allocator = NULL;
    must(plim_sim_create(&sim, &device, &err));
    const plim_allocator_options options = { .devices = &device,
                                             .device_count = 1,
                                             .settings = &settings };
    must(plim_allocator_create(&options, &allocator, &err));
    const int status = run(allocator);
    plim_allocator_destroy(allocator);
    plim_device_destroy(&device);
    return status;
}
