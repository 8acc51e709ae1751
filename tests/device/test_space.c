/*
 * test_space.c - the tree of gaps against a row of flags.
 */
#include "harness.h"

#include "device/space.h"

#define CELLS 600 /* the naive space: a flag for each unit */
#define BASE  UINT64_C(0x1000)
#define UNIT  UINT64_C(0x100)

typedef struct naive {
    bool taken[CELLS];
    size_t piece_at[CELLS]; /* length of the piece that starts there */
} naive;

static uint64_t address(size_t cell)
{
    return BASE + cell * UNIT;
}

/* CELLS: nowhere. */
static size_t naive_first_fit(const naive *model, size_t length)
{
    size_t run = 0;
    for (size_t i = 0; i < CELLS; i++) {
        run = model->taken[i] ? 0 : run + 1;
        if (run == length) {
            return i + 1 - length;
        }
    }
    return CELLS;
}

static size_t naive_count(const naive *model, size_t cell, size_t length)
{
    size_t count = 0;
    for (size_t i = cell; i < cell + length && i < CELLS; i++) {
        count += model->taken[i];
    }
    return count;
}

static void naive_set(naive *model, size_t cell, size_t length, bool taken)
{
    for (size_t i = cell; i < cell + length; i++) {
        model->taken[i] = taken;
    }
    model->piece_at[cell] = taken ? length : 0;
}

static void place(plim_space *space, naive *model)
{
    const size_t length = (size_t)t_random_between(1, 20);
    const size_t wanted = naive_first_fit(model, length);
    uint64_t got = 0;
    T_TRUE(plim_space_prepare(space));
    T_TRUE(plim_space_place(space, length * UNIT, &got) == (wanted < CELLS));
    if (wanted < CELLS) {
        T_EQ_U64(got, address(wanted));
        naive_set(model, wanted, length, true);
    }
}

static void take(plim_space *space, naive *model)
{
    const size_t cell = (size_t)t_random_between(0, CELLS - 1);
    const size_t length = (size_t)t_random_between(1, 20);
    const bool is_free = cell + length <= CELLS && naive_count(model, cell, length) == 0;
    T_TRUE(plim_space_is_free(space, address(cell), length * UNIT) == is_free);
    T_TRUE(plim_space_has_free(space, address(cell), length * UNIT) ==
           (naive_count(model, cell, length) < (length < CELLS - cell ? length : CELLS - cell)));
    T_TRUE(plim_space_prepare(space));
    T_TRUE(plim_space_take(space, address(cell), length * UNIT) == is_free);
    if (is_free) {
        naive_set(model, cell, length, true);
    }
}

static void give(plim_space *space, naive *model)
{
    const size_t from = (size_t)t_random_between(0, CELLS - 1);
    for (size_t i = 0; i < CELLS; i++) {
        const size_t cell = (from + i) % CELLS;
        if (model->piece_at[cell] > 0) {
            const size_t length = model->piece_at[cell];
            plim_space_give(space, address(cell), length * UNIT);
            naive_set(model, cell, length, false);
            return;
        }
    }
}

static void gaps_agree_with_a_naive_space(void)
{
    plim_space space;
    naive model = { 0 };
    plim_space_init(&space, plim_mem_or_heap(NULL));
    T_TRUE(plim_space_add_window(&space, BASE, CELLS * UNIT));
    for (int i = 0; i < 20000; i++) {
        /* In turns it fills up and empties. */
        const uint64_t giving = (i / 500) % 2 == 0 ? 3 : 7;
        const uint64_t dice = t_random_between(0, 9);
        if (dice < giving) {
            give(&space, &model);
        } else if (dice % 2 == 0) {
            place(&space, &model);
        } else {
            take(&space, &model);
        }
        plim_space_check(&space);
    }
    plim_space_deinit(&space);
}

static void the_lowest_window_goes_first(void)
{
    plim_space space;
    uint64_t base = 0;
    plim_space_init(&space, plim_mem_or_heap(NULL));
    T_TRUE(plim_space_add_window(&space, 1 << 20, 100));
    T_TRUE(plim_space_add_window(&space, 1 << 10, 10));
    T_TRUE(plim_space_prepare(&space));
    T_TRUE(plim_space_place(&space, 11, &base));
    T_EQ_U64(base, 1 << 20);
    T_TRUE(plim_space_prepare(&space));
    T_TRUE(plim_space_place(&space, 10, &base));
    T_EQ_U64(base, 1 << 10);
    T_FALSE(plim_space_place(&space, 90, &base));
    plim_space_give(&space, 1 << 10, 10);
    plim_space_give(&space, 1 << 20, 11);
    T_EQ_U64(space.gap_count, 2);
    plim_space_check(&space);
    plim_space_deinit(&space);
}

/* Giving back needs no memory, so it cannot fail: with a heap that is empty by then. */
static void giving_back_takes_no_memory(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_space space;
    plim_space_init(&space, &heap.mem);
    T_TRUE(plim_space_add_window(&space, 0, 1 << 20));
    uint64_t bases[200];
    for (size_t i = 0; i < T_COUNT(bases); i++) {
        T_TRUE(plim_space_prepare(&space));
        T_TRUE(plim_space_place(&space, 16, &bases[i]));
    }
    const uint64_t calls = heap.call_count;
    for (size_t i = 0; i < T_COUNT(bases); i += 2) {
        plim_space_give(&space, bases[i], 16);
    }
    for (size_t i = 1; i < T_COUNT(bases); i += 2) {
        plim_space_give(&space, bases[i], 16);
    }
    T_EQ_U64(heap.call_count, calls);
    T_EQ_U64(space.gap_count, 1);
    plim_space_deinit(&space);
    T_EQ_U64(heap.live_bytes, 0);
}

T_MAIN(T_TEST(gaps_agree_with_a_naive_space), T_TEST(the_lowest_window_goes_first),
       T_TEST(giving_back_takes_no_memory))
