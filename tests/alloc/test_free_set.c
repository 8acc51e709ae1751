/*
 * test_free_set.c - the sorted set of free blocks against a plain sorted array.
 */
#include "alloc/core/free_set.h"
#include "harness.h"

#define BLOCKS 1500
#define ROUNDS 100000

/* --- the second opinion --- */

static plim_heap_block blocks[BLOCKS];
static bool is_in[BLOCKS];
static plim_heap_block *sorted[BLOCKS];
static size_t sorted_count;

static bool goes_before(const plim_heap_block *a, uint64_t bytes, plim_addr addr, bool by_address)
{
    if (by_address || a->bytes == bytes) {
        return a->addr < addr;
    }
    return a->bytes < bytes;
}

static size_t place_of(uint64_t bytes, plim_addr addr, bool by_address)
{
    size_t at = 0;
    while (at < sorted_count && goes_before(sorted[at], bytes, addr, by_address)) {
        at++;
    }
    return at;
}

static void put_sorted(plim_heap_block *block, bool by_address)
{
    const size_t at = place_of(block->bytes, block->addr, by_address);
    memmove(&sorted[at + 1], &sorted[at], (sorted_count - at) * sizeof(plim_heap_block *));
    sorted[at] = block;
    sorted_count++;
}

static void take_sorted(const plim_heap_block *block, bool by_address)
{
    const size_t at = place_of(block->bytes, block->addr, by_address);
    T_TRUE(sorted[at] == block);
    sorted_count--;
    memmove(&sorted[at], &sorted[at + 1], (sorted_count - at) * sizeof(plim_heap_block *));
}

/* --- comparing --- */

static void expect_same_order(const plim_free_set *set)
{
    T_TRUE(plim_free_set_is_sound(set));
    T_EQ_U64(set->count, sorted_count);
    plim_free_cursor cursor = plim_free_set_begin(set);
    for (size_t i = 0; i < sorted_count; i++) {
        T_TRUE(plim_free_cursor_block(cursor) == sorted[i]);
        cursor = plim_free_cursor_next(cursor);
    }
    T_NULL(plim_free_cursor_block(cursor));
    cursor = plim_free_set_last(set);
    for (size_t i = sorted_count; i > 0; i--) {
        T_TRUE(plim_free_cursor_block(cursor) == sorted[i - 1]);
        cursor = plim_free_cursor_previous(cursor);
    }
    T_NULL(plim_free_cursor_block(cursor));
}

static void expect_same_search(const plim_free_set *set)
{
    const plim_heap_block *like = &blocks[t_random_between(0, BLOCKS - 1)];
    const uint64_t bytes = like->bytes + t_random_between(0, 2) - 1;
    const plim_addr addr = t_random_between(0, 1) == 0 ? 0 : like->addr + t_random_between(0, 1);
    const size_t at = place_of(bytes, addr, set->is_by_address);
    const plim_free_cursor cursor =
        plim_free_set_at_least(set, set->is_by_address ? 0 : bytes, addr);
    T_TRUE(plim_free_cursor_block(cursor) == (at < sorted_count ? sorted[at] : NULL));
}

/* --- playing --- */

static void number_blocks(uint64_t sizes)
{
    sorted_count = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        is_in[i] = false;
        blocks[i] = (plim_heap_block){ .addr = (plim_addr)(i + 1) * 512,
                                       .bytes = 512 * t_random_between(1, sizes) };
    }
}

static void toggle(plim_free_set *set, size_t i)
{
    plim_heap_block *block = &blocks[i];
    if (!is_in[i]) {
        plim_free_set_put(set, block);
        put_sorted(block, set->is_by_address);
    } else if (set->waiting == NULL && t_random_between(0, 1) == 0) {
        plim_free_set_take_at(
            set, plim_free_set_at_least(set, set->is_by_address ? 0 : block->bytes, block->addr));
        take_sorted(block, set->is_by_address);
    } else {
        plim_free_set_take(set, block);
        take_sorted(block, set->is_by_address);
    }
    is_in[i] = !is_in[i];
}

/* Sets grow and shrink in turn; `most` bounds them. */
static void play(bool by_address, uint64_t sizes, size_t most, uint64_t fail_every)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_free_set set;
    plim_free_set_init(&set, &heap.mem, by_address);
    number_blocks(sizes);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        if (fail_every > 0 && t_random_between(1, fail_every) == 1) {
            heap.fail_at = heap.call_count + t_random_between(1, 3);
        }
        const bool is_growing = round / (3 * most) % 2 == 0;
        const size_t i = (size_t)t_random_between(0, most - 1);
        if (is_in[i] != is_growing || t_random_between(0, 3) == 0) {
            toggle(&set, i);
        }
        if (set.waiting == NULL || (t_random_between(0, 3) == 0 && plim_free_set_settle(&set))) {
            expect_same_search(&set);
        }
        if (round % 1024 == 0) {
            while (!plim_free_set_settle(&set)) {
            }
            expect_same_order(&set);
        }
    }
    plim_free_set_deinit(&set);
    T_EQ_U64(heap.live_bytes, 0);
}

/* --- tests --- */

static void keeps_order(void)
{
    play(false, 1000, BLOCKS, 0);
    play(false, 1000, 50, 0);
}

static void keeps_order_of_equal_sizes(void)
{
    play(false, 1, BLOCKS, 0);
    play(false, 3, 500, 0);
}

static void keeps_order_by_address(void)
{
    play(true, 100, BLOCKS, 0);
}

static void keeps_blocks_while_there_is_no_memory(void)
{
    play(false, 20, BLOCKS, 10);
    play(true, 20, 1000, 5);
}

static void an_empty_set_has_nothing(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_free_set set;
    plim_free_set_init(&set, &heap.mem, false);
    T_NULL(plim_free_cursor_block(plim_free_set_begin(&set)));
    T_NULL(plim_free_cursor_block(plim_free_set_last(&set)));
    T_NULL(plim_free_cursor_block(plim_free_set_at_least(&set, 0, 0)));
    T_TRUE(plim_free_set_settle(&set));
    T_TRUE(plim_free_set_is_sound(&set));
    T_EQ_U64(heap.call_count, 0);
    plim_free_set_deinit(&set);
}

T_MAIN(T_TEST(keeps_order), T_TEST(keeps_order_of_equal_sizes), T_TEST(keeps_order_by_address),
       T_TEST(keeps_blocks_while_there_is_no_memory), T_TEST(an_empty_set_has_nothing))
