/*
 * test_ring.c - the ring against PyTorch's, written down as it is described: an array, the slot
 * that is overwritten next, and a rotation.
 */
#include "harness.h"

#include "alloc/core/ring.h"

#define MODEL_MAX 5000

typedef struct model {
    uint64_t ticks[MODEL_MAX];
    size_t count;
    size_t next;
    size_t max;
} model;

static void model_push(model *m, uint64_t ticks)
{
    if (m->count < m->max) {
        m->ticks[m->count++] = ticks;
        return;
    }
    m->ticks[m->next++] = ticks;
    if (m->next == m->max) {
        m->next = 0;
    }
}

static void expect_model(const plim_ring *ring, const model *m)
{
    T_EQ_U64(ring->count, m->count);
    for (size_t i = 0; i < m->count; i++) {
        const size_t at = m->next + i < m->count ? m->next + i : m->next + i - m->count;
        T_EQ_U64(plim_ring_at(ring, i)->ticks, m->ticks[at]);
    }
}

static void push(plim_ring *ring, uint64_t number)
{
    plim_ring_push(ring, &(plim_ring_event){ .ticks = number,
                                             .addr = number << 9,
                                             .bytes = ~number,
                                             .stack = PLIM_NONE,
                                             .action = PLIM_OOM });
}

static void push_range(plim_ring *ring, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        push(ring, i);
    }
}

static void expect_order(const plim_ring *ring, const uint64_t *numbers, size_t count)
{
    T_EQ_U64(ring->count, count);
    for (size_t i = 0; i < count; i++) {
        T_EQ_U64(plim_ring_at(ring, i)->ticks, numbers[i]);
    }
}

static void a_fresh_ring_keeps_one_event(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_ring ring;
    plim_ring_init(&ring, &heap.mem);
    T_EQ_U64(ring.max_events, 1);
    T_EQ_U64(ring.count, 0);
    T_EQ_U64(ring.bytes, 0);
    push_range(&ring, 0, 10);
    expect_order(&ring, (uint64_t[]){ 9 }, 1);
    T_EQ_U64(ring.lost, 9);
    plim_ring_set_max(&ring, 0);
    T_EQ_U64(ring.max_events, 1);
    push(&ring, 10);
    expect_order(&ring, (uint64_t[]){ 10 }, 1);
    plim_ring_deinit(&ring);
    T_EQ_U64(heap.live_bytes, 0);
}

static void all_of_an_event_is_kept(void)
{
    plim_ring ring;
    plim_ring_init(&ring, NULL);
    const plim_ring_event event = { 1, 2, 3, 4, 5, 6, PLIM_USER_DEFINED };
    plim_ring_push(&ring, &event);
    const plim_ring_event *const kept = plim_ring_at(&ring, 0);
    T_EQ_U64(kept->ticks, 1);
    T_EQ_U64(kept->addr, 2);
    T_EQ_U64(kept->bytes, 3);
    T_EQ_U64(kept->stream, 4);
    T_EQ_U64(kept->stack, 5);
    T_EQ_U64(kept->pool, 6);
    T_EQ_U64(kept->action, PLIM_USER_DEFINED);
    plim_ring_deinit(&ring);
}

static void lowering_the_limit_recycles_only_the_slots_below_it(void)
{
    plim_ring ring;
    plim_ring_init(&ring, NULL);
    plim_ring_set_max(&ring, 8);
    push_range(&ring, 0, 6);
    plim_ring_set_max(&ring, 2);
    expect_order(&ring, (uint64_t[]){ 0, 1, 2, 3, 4, 5 }, 6);
    push(&ring, 6);
    expect_order(&ring, (uint64_t[]){ 1, 2, 3, 4, 5, 6 }, 6);
    push_range(&ring, 7, 9); /* slots 1 and 0 */
    expect_order(&ring, (uint64_t[]){ 7, 2, 3, 4, 5, 8 }, 6);
    plim_ring_deinit(&ring);
}

static void raising_the_limit_after_wrapping_appends_where_pytorch_does(void)
{
    plim_ring ring;
    plim_ring_init(&ring, NULL);
    plim_ring_set_max(&ring, 4);
    push_range(&ring, 0, 6); /* slots 4 5 2 3 */
    plim_ring_set_max(&ring, 6);
    push_range(&ring, 6, 8); /* slots 4 5 2 3 6 7 */
    expect_order(&ring, (uint64_t[]){ 2, 3, 6, 7, 4, 5 }, 6);
    push(&ring, 8); /* slots 4 5 8 3 6 7 */
    expect_order(&ring, (uint64_t[]){ 3, 6, 7, 4, 5, 8 }, 6);
    plim_ring_deinit(&ring);
}

static void a_limit_below_the_next_slot_starts_again_from_zero(void)
{
    for (uint64_t lowered = 1; lowered <= 5; lowered++) {
        plim_ring ring;
        plim_ring_init(&ring, NULL);
        plim_ring_set_max(&ring, 8);
        push_range(&ring, 0, 13); /* the next slot is 5 */
        plim_ring_set_max(&ring, lowered);
        push_range(&ring, 100, 100 + 3 * lowered);
        T_EQ_U64(ring.count, 8);
        uint64_t recycled = 0;
        for (uint64_t i = 0; i < ring.count; i++) {
            recycled += plim_ring_at(&ring, i)->ticks >= 100 + 2 * lowered;
        }
        T_EQ_U64(recycled, lowered); /* the newest, and nothing outside was written */
        plim_ring_deinit(&ring);
    }
}

static void any_history_of_limits_gives_pytorchs_order(void)
{
    for (int round = 0; round < 200; round++) {
        static model m;
        m = (model){ .max = 1 };
        plim_ring ring;
        plim_ring_init(&ring, NULL);
        uint64_t number = 0;
        for (int step = 0; step < 12; step++) {
            size_t max = (size_t)t_random_bytes(1, MODEL_MAX);
            if (m.next >= max) { /* where PyTorch's is not defined */
                max = m.next + 1;
            }
            m.max = max;
            plim_ring_set_max(&ring, max);
            for (uint64_t n = t_random_bytes(0, 1500); n > 0; n--) {
                model_push(&m, number);
                push(&ring, number++);
            }
            expect_model(&ring, &m);
            T_EQ_U64(ring.lost, number - ring.count);
        }
        plim_ring_deinit(&ring);
    }
}

static void a_huge_limit_costs_nothing(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_ring ring;
    plim_ring_init(&ring, &heap.mem);
    plim_ring_set_max(&ring, INT64_MAX);
    T_EQ_U64(heap.live_bytes, 0);
    const uint64_t count = 100000;
    push_range(&ring, 0, count);
    T_EQ_U64(ring.count, count);
    T_EQ_U64(ring.lost, 0);
    for (uint64_t i = 0; i < count; i++) {
        T_EQ_U64(plim_ring_at(&ring, i)->ticks, i);
    }
    T_TRUE(ring.bytes >= count * sizeof(plim_ring_event));
    T_TRUE(ring.bytes < count * sizeof(plim_ring_event) + ((uint64_t)256 << 10));
    plim_ring_set_max(&ring, UINT64_MAX);
    push(&ring, count);
    T_EQ_U64(plim_ring_at(&ring, count)->ticks, count);
    plim_ring_deinit(&ring);
    T_EQ_U64(heap.live_bytes, 0);
}

static void clearing_forgets_and_keeps_the_limit(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_ring ring;
    plim_ring_init(&ring, &heap.mem);
    plim_ring_set_max(&ring, 3);
    push_range(&ring, 0, 5);
    plim_ring_clear(&ring);
    T_EQ_U64(ring.count, 0);
    T_EQ_U64(ring.lost, 0);
    T_EQ_U64(ring.bytes, 0);
    T_EQ_U64(heap.live_bytes, 0);
    T_EQ_U64(ring.max_events, 3);
    push_range(&ring, 5, 9);
    expect_order(&ring, (uint64_t[]){ 6, 7, 8 }, 3);
    plim_ring_deinit(&ring);
    plim_ring_deinit(&ring); /* twice does no harm */
    T_EQ_U64(heap.live_bytes, 0);
}

static bool push_many(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_ring ring;
    plim_ring_init(&ring, mem);
    plim_ring_set_max(&ring, INT64_MAX);
    const uint64_t count = 20000;
    push_range(&ring, 0, count);
    T_EQ_U64(ring.count + ring.lost, count);
    for (uint64_t i = 1; i < ring.count; i++) { /* those that are left out leave no gap */
        T_TRUE(plim_ring_at(&ring, i - 1)->ticks < plim_ring_at(&ring, i)->ticks);
    }
    const bool complete = ring.lost == 0;
    plim_ring_deinit(&ring);
    return complete;
}

static void without_memory_events_are_dropped_and_counted(void)
{
    t_fail_each_allocation(push_many, NULL);
}

T_MAIN(T_TEST(a_fresh_ring_keeps_one_event), T_TEST(all_of_an_event_is_kept),
       T_TEST(lowering_the_limit_recycles_only_the_slots_below_it),
       T_TEST(raising_the_limit_after_wrapping_appends_where_pytorch_does),
       T_TEST(a_limit_below_the_next_slot_starts_again_from_zero),
       T_TEST(any_history_of_limits_gives_pytorchs_order), T_TEST(a_huge_limit_costs_nothing),
       T_TEST(clearing_forgets_and_keeps_the_limit),
       T_TEST(without_memory_events_are_dropped_and_counted))
