/*
 * test_vec.c - vectors keep what was pushed, in order.
 */
#include "harness.h"

#include "base/vec.h"

typedef PLIM_VEC(uint64_t) numbers;

static void pushed_values_stay_in_order(void)
{
    t_mem heap;
    t_mem_init(&heap);
    numbers vec = { 0 };
    for (uint64_t i = 0; i < 10000; i++) {
        T_TRUE(PLIM_VEC_PUSH(&heap.mem, &vec, i * i));
        T_EQ_U64(vec.count, i + 1);
        T_TRUE(vec.count <= vec.capacity);
    }
    for (uint64_t i = 0; i < 10000; i++) {
        T_EQ_U64(vec.items[i], i * i);
    }
    T_TRUE(heap.live_bytes < 10000 * 8 * 8 / 5); /* growth by half wastes a third at most */
    PLIM_VEC_FREE(&heap.mem, &vec);
    T_NULL(vec.items);
    T_EQ_U64(vec.count, 0);
    T_EQ_U64(vec.capacity, 0);
    T_EQ_U64(heap.live_bytes, 0);
}

static void room_is_only_taken_when_there_is_none(void)
{
    t_mem heap;
    t_mem_init(&heap);
    numbers vec = { 0 };
    T_TRUE(plim_vec_room(&heap.mem, &vec.items, &vec.capacity, 0, sizeof *vec.items));
    const uint64_t call_count = heap.call_count;
    T_TRUE(
        plim_vec_room(&heap.mem, &vec.items, &vec.capacity, vec.capacity - 1, sizeof *vec.items));
    T_EQ_U64(heap.call_count, call_count);
    T_TRUE(plim_vec_room(&heap.mem, &vec.items, &vec.capacity, vec.capacity, sizeof *vec.items));
    T_EQ_U64(heap.call_count, call_count + 1);
    PLIM_VEC_FREE(&heap.mem, &vec);
}

static void room_for_many_items_is_taken_at_once(void)
{
    t_mem heap;
    t_mem_init(&heap);
    numbers vec = { 0 };
    T_TRUE(plim_vec_room(&heap.mem, &vec.items, &vec.capacity, 999, sizeof *vec.items));
    T_TRUE(vec.capacity >= 1000);
    T_EQ_U64(heap.call_count, 1);
    PLIM_VEC_FREE(&heap.mem, &vec);
}

static void freeing_an_empty_vector_is_fine(void)
{
    t_mem heap;
    t_mem_init(&heap);
    numbers vec = { 0 };
    PLIM_VEC_FREE(&heap.mem, &vec);
    T_EQ_U64(heap.live_bytes, 0);
}

static bool push_some(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    numbers vec = { 0 };
    bool succeeded = true;
    for (uint64_t i = 0; i < 500 && succeeded; i++) {
        succeeded = PLIM_VEC_PUSH(mem, &vec, i);
    }
    for (uint64_t i = 0; i < vec.count; i++) { /* what was pushed before the failure is there */
        T_EQ_U64(vec.items[i], i);
    }
    PLIM_VEC_FREE(mem, &vec);
    return succeeded;
}

static void without_memory_nothing_changes(void)
{
    t_fail_each_allocation(push_some, NULL);
}

T_MAIN(T_TEST(pushed_values_stay_in_order), T_TEST(room_is_only_taken_when_there_is_none),
       T_TEST(room_for_many_items_is_taken_at_once), T_TEST(freeing_an_empty_vector_is_fine),
       T_TEST(without_memory_nothing_changes))
