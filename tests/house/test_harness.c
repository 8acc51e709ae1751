/*
 * test_harness.c - the harness itself: its heap fails when told to, and counts what lives.
 */
#include "harness.h"

static bool two_pieces(const plim_mem *mem, void *ctx)
{
    uint64_t *const attempts = ctx;
    *attempts += 1;
    char *first = mem->resize(mem->ctx, NULL, 0, 10);
    if (first == NULL) {
        return false;
    }
    memcpy(first, "something", 10);
    char *const grown = mem->resize(mem->ctx, first, 10, 1000);
    const bool done = grown != NULL;
    if (done) {
        T_EQ_STR(grown, "something");
        first = grown;
    }
    mem->resize(mem->ctx, first, done ? 1000 : 10, 0);
    return done;
}

static void every_allocation_fails_once(void)
{
    uint64_t attempts = 0;
    t_fail_each_allocation(two_pieces, &attempts);
    T_EQ_U64(attempts, 3);
}

static void what_is_alive_is_counted(void)
{
    t_mem heap;
    t_mem_init(&heap);
    void *piece = heap.mem.resize(heap.mem.ctx, NULL, 0, 100);
    T_NOT_NULL(piece);
    T_EQ_U64(heap.live_bytes, 100);
    piece = heap.mem.resize(heap.mem.ctx, piece, 100, 30);
    T_NOT_NULL(piece);
    T_EQ_U64(heap.live_bytes, 30);
    T_NULL(heap.mem.resize(heap.mem.ctx, piece, 30, 0));
    T_EQ_U64(heap.live_bytes, 0);
    T_EQ_U64(heap.peak_bytes, 100);
    T_EQ_U64(heap.call_count, 2);
}

static void random_numbers_stay_in_range_and_repeat(void)
{
    const uint64_t first = t_random();
    for (int i = 0; i < 10000; i++) {
        T_CASE("draw %d", i);
        const uint64_t bytes = t_random_bytes(512, 1 << 20);
        T_TRUE(bytes >= 512 && bytes <= 1 << 20);
        const uint64_t die = t_random_between(1, 6);
        T_TRUE(die >= 1 && die <= 6);
    }
    t_now.random = t_now.seed;
    T_EQ_U64(t_random(), first);
}

T_MAIN(T_TEST(every_allocation_fails_once), T_TEST(what_is_alive_is_counted),
       T_TEST(random_numbers_stay_in_range_and_repeat))
