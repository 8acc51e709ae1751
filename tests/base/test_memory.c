/*
 * test_memory.c - sizes that cannot wrap, on any heap.
 */
#include "harness.h"

#include "base/memory.h"

static void products_are_checked(void)
{
    static const struct {
        const char *name;
        size_t a;
        size_t b;
        bool fits;
        size_t product;
    } cases[] = {
        { "nothing times something", 0, SIZE_MAX, true, 0 },
        { "something times nothing", SIZE_MAX, 0, true, 0 },
        { "a plain product", 6, 7, true, 42 },
        { "the largest there is", SIZE_MAX, 1, true, SIZE_MAX },
        { "one bit too much", SIZE_MAX / 2 + 1, 2, false, 0 },
        { "far too much", SIZE_MAX, SIZE_MAX, false, 0 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        size_t product = 99;
        T_TRUE(plim_checked_mul(cases[i].a, cases[i].b, &product) == cases[i].fits);
        T_EQ_U64(product, cases[i].fits ? cases[i].product : 99);
    }
}

static void no_heap_is_the_c_heap(void)
{
    const plim_mem other = plim_mem_heap;
    T_TRUE(plim_mem_or_heap(NULL) == &plim_mem_heap);
    T_TRUE(plim_mem_or_heap(&other) == &other);
}

static void the_c_heap_allocates_resizes_and_frees(void)
{
    uint32_t *items = plim_mem_alloc_zeroed(&plim_mem_heap, 4, sizeof *items);
    T_NOT_NULL(items);
    for (uint32_t i = 0; i < 4; i++) {
        T_EQ_U64(items[i], 0);
        items[i] = i;
    }
    items = plim_mem_resize(&plim_mem_heap, items, 4, 4000, sizeof *items);
    T_NOT_NULL(items);
    for (uint32_t i = 0; i < 4; i++) {
        T_EQ_U64(items[i], i);
    }
    plim_mem_free(&plim_mem_heap, items, 4000, sizeof *items);
}

static void sizes_that_wrap_never_reach_the_heap(void)
{
    t_mem heap;
    t_mem_init(&heap);
    T_NULL(plim_mem_alloc(&heap.mem, SIZE_MAX, 2));
    T_NULL(plim_mem_alloc_zeroed(&heap.mem, SIZE_MAX / 8 + 1, 8));
    T_NULL(plim_mem_resize(&heap.mem, NULL, 0, SIZE_MAX / 2, 3));
    T_NULL(plim_mem_alloc(&heap.mem, 0, 8));
    T_EQ_U64(heap.call_count, 0);
}

static void old_sizes_are_told_truthfully(void)
{
    t_mem heap; /* it checks them */
    t_mem_init(&heap);
    void *ptr = plim_mem_alloc(&heap.mem, 10, 8);
    T_NOT_NULL(ptr);
    ptr = plim_mem_resize(&heap.mem, ptr, 10, 3, 8);
    T_NOT_NULL(ptr);
    T_EQ_U64(heap.live_bytes, 24);
    plim_mem_free(&heap.mem, ptr, 3, 8);
    plim_mem_free(&heap.mem, NULL, 5, 8);
    T_EQ_U64(heap.live_bytes, 0);
}

T_MAIN(T_TEST(products_are_checked), T_TEST(no_heap_is_the_c_heap),
       T_TEST(the_c_heap_allocates_resizes_and_frees), T_TEST(sizes_that_wrap_never_reach_the_heap),
       T_TEST(old_sizes_are_told_truthfully))
