/*
 * test_index.c - finding segments and blocks by address, against going through all of them.
 */
#include "alloc/core/heap.h"
#include "base/units.h"
#include "harness.h"

#define SEGMENTS 200
#define TOP      ((uint64_t)1 << PLIM_ADDRESS_BITS)

static plim_segment_record segments[SEGMENTS];
static bool is_in[SEGMENTS];

static plim_segment_record *find_segment(plim_addr addr)
{
    for (size_t i = 0; i < SEGMENTS; i++) {
        if (is_in[i] && addr - segments[i].addr < segments[i].bytes) {
            return &segments[i];
        }
    }
    return NULL;
}

/* --- the directory --- */

static void expect_around(const plim_directory *directory, const plim_segment_record *segment)
{
    const plim_addr end = segment->addr + segment->bytes;
    const plim_addr looked[] = { segment->addr - 1, segment->addr, end - 1, end,
                                 segment->addr + t_random_between(0, segment->bytes - 1) };
    for (size_t i = 0; i < T_COUNT(looked); i++) {
        T_TRUE(plim_directory_find(directory, looked[i]) == find_segment(looked[i]));
    }
}

static void place(size_t i, uint64_t unit, uint64_t most)
{
    plim_addr addr = 0;
    uint64_t bytes = 0;
    bool is_free = false;
    while (!is_free) {
        addr = unit * t_random_between(1, 4 * SEGMENTS * most);
        bytes = unit * t_random_between(1, most);
        is_free = true;
        for (size_t k = 0; k < SEGMENTS; k++) {
            const plim_segment_record *other = &segments[k];
            is_free = is_free && !(is_in[k] && addr < other->addr + other->bytes &&
                                   other->addr < addr + bytes);
        }
    }
    segments[i].addr = addr;
    segments[i].bytes = bytes;
}

/* Segments come and go; whether one can be added may fail for want of memory. */
static void play(uint64_t unit, uint64_t most, uint64_t fail_every)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_directory directory;
    T_TRUE(plim_directory_init(&directory, &heap.mem));
    memset(is_in, 0, sizeof is_in);
    for (int round = 0; round < 6000; round++) {
        const size_t i = (size_t)t_random_between(0, SEGMENTS - 1);
        if (is_in[i]) {
            plim_directory_remove(&directory, segments[i].addr, segments[i].bytes, &segments[i]);
            is_in[i] = false;
        } else {
            place(i, unit, most);
            if (fail_every > 0 && t_random_between(1, fail_every) == 1) {
                heap.fail_at = heap.call_count + t_random_between(1, 4);
            }
            const uint64_t calls = heap.call_count;
            is_in[i] =
                plim_directory_add(&directory, segments[i].addr, segments[i].bytes, &segments[i]);
            T_TRUE(is_in[i] || (heap.fail_at > calls && heap.fail_at <= heap.call_count));
        }
        expect_around(&directory, &segments[i]);
        const size_t other = (size_t)t_random_between(0, SEGMENTS - 1);
        if (is_in[other]) {
            expect_around(&directory, &segments[other]);
        }
    }
    plim_directory_deinit(&directory);
    T_EQ_U64(heap.live_bytes, 0);
}

static void finds_segments_of_whole_pages(void)
{
    play(2 * MIB, 10, 0);
    play(2 * MIB, 2000, 0);
}

static void finds_segments_that_share_pages(void)
{
    play(64 * KIB, 20, 0);
    play(512, 5000, 0);
}

static void finds_segments_after_failures(void)
{
    play(64 * KIB, 64, 3);
    play(2 * MIB, 1024, 3);
}

static void finds_huge_ranges(void)
{
    play(GIB / 2, 3000, 0);
}

static void refuses_what_is_beyond_its_addresses(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_directory directory;
    plim_segment_record last = { .addr = TOP - 2 * MIB, .bytes = 2 * MIB };
    T_TRUE(plim_directory_init(&directory, &heap.mem));
    T_TRUE(plim_directory_add(&directory, last.addr, last.bytes, &last));
    T_TRUE(plim_directory_find(&directory, TOP - 1) == &last);
    T_NULL(plim_directory_find(&directory, TOP));
    T_NULL(plim_directory_find(&directory, UINT64_MAX));
    T_FALSE(plim_directory_add(&directory, TOP, 2 * MIB, &last));
    T_FALSE(plim_directory_add(&directory, TOP - MIB, 2 * MIB, &last));
    T_FALSE(plim_directory_add(&directory, 0, 0, &last));
    T_FALSE(plim_directory_add(&directory, 4096, UINT64_MAX, &last));
    plim_directory_deinit(&directory);
    T_EQ_U64(heap.live_bytes, 0);
}

/* Readers take no lock, so pages that were replaced stay: there must not be many. */
static void a_segment_that_comes_and_goes_takes_no_more(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_directory directory;
    plim_segment_record staying = { .addr = 4 * MIB, .bytes = 64 * KIB };
    plim_segment_record going = { .addr = 5 * MIB, .bytes = 4 * MIB + 64 * KIB };
    T_TRUE(plim_directory_init(&directory, &heap.mem));
    T_TRUE(plim_directory_add(&directory, staying.addr, staying.bytes, &staying));
    T_TRUE(plim_directory_add(&directory, going.addr, going.bytes, &going));
    const uint64_t bytes = directory.bytes;
    for (int i = 0; i < 1000; i++) {
        plim_directory_remove(&directory, going.addr, going.bytes, &going);
        T_NULL(plim_directory_find(&directory, going.addr));
        T_TRUE(plim_directory_add(&directory, going.addr, going.bytes, &going));
        T_TRUE(plim_directory_find(&directory, going.addr) == &going);
        T_TRUE(plim_directory_find(&directory, staying.addr) == &staying);
    }
    T_EQ_U64(directory.bytes, bytes);
    plim_directory_deinit(&directory);
    T_EQ_U64(heap.live_bytes, 0);
}

/* --- the blocks of a segment --- */

#define GRANULES 16384 /* 8 MiB */

static plim_heap_block records[GRANULES];
static plim_heap_block *live[GRANULES]; /* by their first granule */

/* What is free now, that records may be used again for: the lowest first, or any. */
static plim_heap_block *spare_record(void)
{
    for (;;) {
        plim_heap_block *record = &records[t_random_between(0, GRANULES / 8)];
        if (record->state != PLIM_BLOCK_IS_LIVE) {
            return record;
        }
    }
}

static void drop_block(plim_page_index *pages, plim_addr base, size_t at, plim_slab *nodes)
{
    if (live[at] != NULL) {
        plim_page_index_take(pages, base, live[at], nodes);
        live[at]->state = PLIM_BLOCK_IS_SPARE;
        live[at]->addr = t_random(); /* what a line list leaves there */
        live[at] = NULL;
    }
}

static void finds_blocks(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_slab nodes;
    plim_slab_init(&nodes, &heap.mem);
    const plim_addr bases[] = { 64 * MIB, 64 * MIB + 64 * KIB, 12345 * 512 };
    for (size_t b = 0; b < T_COUNT(bases); b++) {
        plim_page_index pages;
        heap.fail_at = 0;
        T_TRUE(plim_page_index_init(&pages, &heap.mem, GRANULES * 512));
        memset(records, 0, sizeof records);
        memset(live, 0, sizeof live);
        size_t count = 0;
        for (int round = 0; round < 60000; round++) {
            const size_t spread = round % 2 == 0 ? GRANULES : 64;
            const size_t at = (size_t)t_random_between(0, spread - 1);
            if (live[at] != NULL) {
                drop_block(&pages, bases[b], at, &nodes);
                count--;
            } else if (count < GRANULES / 16) {
                plim_heap_block *record = spare_record();
                *record = (plim_heap_block){ .addr = bases[b] + at * 512,
                                             .bytes = 512,
                                             .state = PLIM_BLOCK_IS_LIVE };
                if (t_random_between(0, 9) == 0) {
                    heap.fail_at = heap.call_count + 1;
                }
                if (plim_page_index_put(&pages, bases[b], record, &nodes)) {
                    live[at] = record;
                    count++;
                } else {
                    record->state = PLIM_BLOCK_IS_SPARE;
                }
            }
            const size_t other = (size_t)t_random_between(0, GRANULES - 1);
            T_TRUE(plim_page_index_find(&pages, bases[b], bases[b] + at * 512) == live[at]);
            T_TRUE(plim_page_index_find(&pages, bases[b], bases[b] + other * 512) == live[other]);
            T_NULL(plim_page_index_find(&pages, bases[b], bases[b] + other * 512 + 256));
        }
        for (size_t at = 0; at < GRANULES; at++) {
            drop_block(&pages, bases[b], at, &nodes);
        }
        for (uint64_t page = 0; page < pages.count; page++) { /* what is empty keeps little */
            T_TRUE((pages.items != NULL ? pages.items[page] : pages.only).nodes <= 8);
        }
        plim_page_index_deinit(&pages, &heap.mem, &nodes);
    }
    plim_slab_deinit(&nodes);
    T_EQ_U64(heap.live_bytes, 0);
}

T_MAIN(T_TEST(finds_segments_of_whole_pages), T_TEST(finds_segments_that_share_pages),
       T_TEST(finds_segments_after_failures), T_TEST(finds_huge_ranges),
       T_TEST(refuses_what_is_beyond_its_addresses),
       T_TEST(a_segment_that_comes_and_goes_takes_no_more), T_TEST(finds_blocks))
