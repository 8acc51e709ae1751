/*
 * test_arena.c - nothing moves, nothing overlaps, all goes at once.
 */
#include "harness.h"

#include "base/arena.h"

static void an_unused_arena_takes_nothing(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_arena arena;
    plim_arena_init(&arena, &heap.mem);
    T_EQ_U64(heap.call_count, 0);
    plim_arena_deinit(&arena);

    plim_arena zeroed = { 0 };
    plim_arena_deinit(&zeroed);
}

typedef struct piece {
    unsigned char *data;
    size_t bytes;
    unsigned char fill;
} piece;

static void pieces_keep_their_bytes_and_their_place(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_arena arena;
    plim_arena_init(&arena, &heap.mem);
    static piece pieces[3000];
    size_t total_bytes = 0;
    for (size_t i = 0; i < T_COUNT(pieces); i++) {
        piece *p = &pieces[i];
        p->bytes = (size_t)t_random_bytes(0, 20000);
        p->fill = (unsigned char)t_random();
        p->data = plim_arena_alloc(&arena, p->bytes);
        T_NOT_NULL(p->data);
        T_EQ_U64((uintptr_t)p->data % 8, 0);
        memset(p->data, p->fill, p->bytes);
        total_bytes += p->bytes;
    }
    for (size_t i = 0; i < T_COUNT(pieces); i++) {
        for (size_t j = 0; j < pieces[i].bytes; j++) {
            if (pieces[i].data[j] != pieces[i].fill) {
                fail_msg("byte %zu of piece %zu was overwritten", j, i);
            }
        }
    }
    T_EQ_U64(arena.used_bytes, heap.live_bytes);
    T_TRUE(arena.used_bytes >= total_bytes);
    T_TRUE(arena.used_bytes <= 2 * total_bytes + PLIM_ARENA_CHUNK_BYTES_MAX);
    plim_arena_deinit(&arena);
    T_EQ_U64(heap.live_bytes, 0);
}

static void large_pieces_get_their_own_chunk(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_arena arena;
    plim_arena_init(&arena, &heap.mem);
    const size_t bytes = 3 * PLIM_ARENA_CHUNK_BYTES_MAX + 5;
    unsigned char *data = plim_arena_alloc(&arena, bytes);
    T_NOT_NULL(data);
    memset(data, 1, bytes);
    T_TRUE(heap.live_bytes < bytes + 64);
    T_NOT_NULL(plim_arena_alloc(&arena, 8));
    T_TRUE(heap.live_bytes <= bytes + 64 + PLIM_ARENA_CHUNK_BYTES_MAX);
    plim_arena_deinit(&arena);
    T_EQ_U64(heap.live_bytes, 0);
}

static void sizes_near_the_end_of_size_t_are_refused(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_arena arena;
    plim_arena_init(&arena, &heap.mem);
    T_NOT_NULL(plim_arena_alloc(&arena, 1));
    const size_t used_bytes = arena.used_bytes;
    T_NULL(plim_arena_alloc(&arena, SIZE_MAX));
    T_NULL(plim_arena_alloc(&arena, SIZE_MAX - 7));
    T_NULL(plim_arena_alloc(&arena, SIZE_MAX / 2 + 1));
    T_NULL(plim_arena_copy(&arena, "", SIZE_MAX));
    T_EQ_U64(arena.used_bytes, used_bytes);
    plim_arena_deinit(&arena);
}

static void copies_end_in_a_zero(void)
{
    plim_arena arena;
    plim_arena_init(&arena, NULL);
    T_EQ_STR(plim_arena_copy(&arena, "abcdef", 3), "abc");
    T_EQ_STR(plim_arena_copy(&arena, NULL, 0), "");
    const char *with_zero = plim_arena_copy(&arena, "a\0b", 3);
    T_EQ_MEM(with_zero, "a\0b", 4);
    plim_arena_deinit(&arena);
}

static bool fill_an_arena(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_arena arena;
    plim_arena_init(&arena, mem);
    bool succeeded = true;
    for (size_t bytes = 1; bytes < 100000 && succeeded; bytes = bytes * 3 + 1) {
        unsigned char *data = plim_arena_alloc(&arena, bytes);
        succeeded = data != NULL;
        if (succeeded) {
            memset(data, 1, bytes);
        }
    }
    plim_arena_deinit(&arena);
    return succeeded;
}

static void without_memory_it_says_so_and_loses_nothing(void)
{
    t_fail_each_allocation(fill_an_arena, NULL);
}

static void it_goes_on_after_a_failure(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_arena arena;
    plim_arena_init(&arena, &heap.mem);
    char *first = plim_arena_copy(&arena, "first", 5);
    T_NOT_NULL(first);
    heap.fail_at = heap.call_count + 1;
    T_NULL(plim_arena_alloc(&arena, 100000));
    T_EQ_STR(first, "first");
    T_EQ_STR(plim_arena_copy(&arena, "second", 6), "second");
    T_NOT_NULL(plim_arena_alloc(&arena, 100000));
    plim_arena_deinit(&arena);
    T_EQ_U64(heap.live_bytes, 0);
}

T_MAIN(T_TEST(an_unused_arena_takes_nothing), T_TEST(pieces_keep_their_bytes_and_their_place),
       T_TEST(large_pieces_get_their_own_chunk), T_TEST(sizes_near_the_end_of_size_t_are_refused),
       T_TEST(copies_end_in_a_zero), T_TEST(without_memory_it_says_so_and_loses_nothing),
       T_TEST(it_goes_on_after_a_failure))
