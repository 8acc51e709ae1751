/*
 * test_place_next.c - a sim device that is told where the next piece is to be.
 */
#include "harness.h"

#include "base/units.h"
#include "plimsoll/device.h"

#define PLAIN_BASE  UINT64_C(0x7a0000000000)
#define RANGES_BASE UINT64_C(0x700000000000)
#define ELSEWHERE   UINT64_C(0x302000000) /* in no window */
#define ROUNDS      20000
#define PIECES      200

static plim_error failure;

static plim_device create(const plim_mem *mem)
{
    plim_device device;
    const plim_sim_options options = { .mem = mem, .total_bytes = 80 * GIB };
    if (plim_sim_create(&options, &device, &failure) != PLIM_OK) {
        fail_msg("%s", failure.message);
    }
    return device;
}

static plim_addr taken_at(const plim_device *device, plim_addr wanted, uint64_t bytes)
{
    plim_addr addr = 0;
    plim_sim_place_next(device, wanted);
    T_EQ_I64(device->ops->memory_alloc(device->self, bytes, &addr, &failure), PLIM_OK);
    return addr;
}

static plim_addr reserved_at(const plim_device *device, plim_addr wanted, uint64_t bytes)
{
    plim_addr addr = 0;
    plim_sim_place_next(device, wanted);
    T_EQ_I64(device->ops->range_reserve(device->self, bytes, &addr, &failure), PLIM_OK);
    return addr;
}

static void give_back(const plim_device *device, plim_addr addr)
{
    T_EQ_I64(device->ops->memory_free(device->self, addr, &failure), PLIM_OK);
}

static bool can_be_filled(const plim_device *device, plim_addr addr, uint64_t bytes)
{
    return device->ops->fill(device->self, addr, 0, bytes, 0, NULL) == PLIM_OK;
}

static const struct {
    const char *name;
    plim_addr wanted;
    uint64_t bytes;
    bool is_range;
    plim_addr given;
} places[] = {
    { "memory in its own window", PLAIN_BASE + 6 * MIB, 4 * MIB, false, PLAIN_BASE + 6 * MIB },
    { "memory in the other window", RANGES_BASE + 4 * MIB, 2 * MIB, false, RANGES_BASE + 4 * MIB },
    { "memory across two windows", PLAIN_BASE - 2 * MIB, 4 * MIB, false, PLAIN_BASE - 2 * MIB },
    { "memory across many windows", RANGES_BASE - GIB, 2 * GIB, false, RANGES_BASE - GIB },
    { "memory in no window", ELSEWHERE, 20 * MIB, false, ELSEWHERE },
    { "memory that begins inside a granule", ELSEWHERE + 512, 1, false, ELSEWHERE + 512 },
    { "memory at the lowest address", 2 * MIB, 2 * MIB, false, 2 * MIB },
    { "memory at the highest", (UINT64_C(1) << 56) - 2 * MIB, 2 * MIB, false,
      (UINT64_C(1) << 56) - 2 * MIB },
    { "memory below the lowest", MIB, 2 * MIB, false, PLAIN_BASE },
    { "memory beyond the highest", (UINT64_C(1) << 56) - 2 * MIB, 4 * MIB, false, PLAIN_BASE },
    { "memory that would wrap", UINT64_MAX - 511, 4 * MIB, false, PLAIN_BASE },
    { "memory at no multiple of 512", ELSEWHERE + 1, 2 * MIB, false, PLAIN_BASE },
    { "a range in its own window", RANGES_BASE + 90 * GIB, 90 * GIB, true, RANGES_BASE + 90 * GIB },
    { "a range in the other window", PLAIN_BASE + 2 * MIB, 2 * MIB, true, PLAIN_BASE + 2 * MIB },
    { "a range in no window", ELSEWHERE, 90 * GIB, true, ELSEWHERE },
    { "a range where nothing can be mapped", ELSEWHERE + MIB, 2 * MIB, true, RANGES_BASE },
};

static void a_piece_goes_where_it_is_wanted(void)
{
    for (size_t i = 0; i < T_COUNT(places); i++) {
        T_CASE("%s", places[i].name);
        const plim_device device = create(NULL);
        const plim_addr wanted = places[i].wanted;
        const uint64_t bytes = places[i].bytes;
        plim_addr (*const place)(const plim_device *, plim_addr, uint64_t) =
            places[i].is_range ? reserved_at : taken_at;
        const plim_addr first = place(&device, wanted, bytes);
        T_EQ_U64(first, places[i].given);
        /* There is only one such place, and it is forgotten after one call. */
        const plim_addr second = place(&device, wanted, bytes);
        T_TRUE(second != first);
        T_TRUE(place(&device, 0, bytes) != second);
        /* It is there again once it was given back. */
        if (places[i].is_range) {
            T_EQ_I64(device.ops->range_free(device.self, first, bytes, &failure), PLIM_OK);
        } else {
            give_back(&device, first);
        }
        T_EQ_U64(place(&device, wanted, bytes), first);
        plim_device gone = device;
        plim_device_destroy(&gone);
    }
}

static void it_counts_for_one_call_however_that_ends(void)
{
    plim_device device = create(NULL);
    plim_addr addr = 0;
    plim_sim_place_next(&device, ELSEWHERE);
    T_EQ_I64(device.ops->memory_alloc(device.self, 81 * GIB, &addr, &failure),
             PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_I64(device.ops->memory_alloc(device.self, MIB, &addr, &failure), PLIM_OK);
    T_EQ_U64(addr, PLAIN_BASE);

    plim_sim_place_next(&device, ELSEWHERE);
    plim_sim_fail(&device, PLIM_CALL_RANGE_RESERVE, 1, PLIM_IO);
    T_EQ_I64(device.ops->range_reserve(device.self, 2 * MIB, &addr, &failure), PLIM_IO);
    T_EQ_I64(device.ops->memory_alloc(device.self, MIB, &addr, &failure), PLIM_OK);
    T_EQ_U64(addr, PLAIN_BASE + 2 * MIB);

    plim_sim_place_next(&device, ELSEWHERE);
    plim_sim_place_next(&device, 0);
    T_EQ_I64(device.ops->memory_alloc(device.self, MIB, &addr, &failure), PLIM_OK);
    T_EQ_U64(addr, PLAIN_BASE + 4 * MIB);
    T_EQ_U64(plim_sim_taken_bytes(&device), 6 * MIB);
    plim_device_destroy(&device);
}

/* Ranges have no contents before something is mapped, wherever they are. */
static void contents_are_checked_wherever_a_piece_is(void)
{
    plim_device device = create(NULL);
    const plim_device_ops *const ops = device.ops;
    const plim_addr across = RANGES_BASE - 2 * MIB;
    T_EQ_U64(taken_at(&device, across, 4 * MIB), across);
    T_EQ_U64(taken_at(&device, across + 4 * MIB, 2 * MIB), across + 4 * MIB);
    T_TRUE(can_be_filled(&device, across, 6 * MIB));
    T_TRUE(can_be_filled(&device, across + MIB, 4 * MIB));
    T_FALSE(can_be_filled(&device, across - 1, 2));
    T_FALSE(can_be_filled(&device, across, 6 * MIB + 1));
    T_FALSE(can_be_filled(&device, ELSEWHERE, 1));
    T_FALSE(can_be_filled(&device, 0, 1));
    T_FALSE(can_be_filled(&device, UINT64_MAX, 1));
    T_FALSE(can_be_filled(&device, across, UINT64_MAX));

    const plim_addr range = reserved_at(&device, PLAIN_BASE + 2 * MIB, 4 * MIB);
    T_EQ_U64(range, PLAIN_BASE + 2 * MIB);
    T_EQ_U64(taken_at(&device, 0, 1), PLAIN_BASE);
    T_EQ_U64(taken_at(&device, 0, 1), PLAIN_BASE + 6 * MIB);
    T_TRUE(can_be_filled(&device, PLAIN_BASE, 2 * MIB));
    T_FALSE(can_be_filled(&device, PLAIN_BASE, 2 * MIB + 1));
    T_FALSE(can_be_filled(&device, range, 1));
    T_FALSE(can_be_filled(&device, PLAIN_BASE, 8 * MIB));
    plim_handle handle = 0;
    T_EQ_I64(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handle, &failure), PLIM_OK);
    T_EQ_I64(ops->map(device.self, range, 2 * MIB, handle, &failure), PLIM_OK);
    T_FALSE(can_be_filled(&device, range, 1));
    T_EQ_I64(ops->set_access(device.self, range, 2 * MIB, 0, &failure), PLIM_OK);
    T_TRUE(can_be_filled(&device, range, 2 * MIB));
    plim_device_destroy(&device);
}

/* What the device places by itself starts at a granule, whatever was wanted before. */
static void odd_addresses_do_not_spread(void)
{
    plim_device device = create(NULL);
    T_EQ_U64(taken_at(&device, PLAIN_BASE + 512, 2 * MIB), PLAIN_BASE + 512);
    T_EQ_U64(taken_at(&device, 0, 2 * MIB), PLAIN_BASE + 4 * MIB);
    T_EQ_U64(taken_at(&device, RANGES_BASE + 512, 2 * MIB), RANGES_BASE + 512);
    T_EQ_U64(reserved_at(&device, 0, 2 * MIB), RANGES_BASE + 4 * MIB);
    give_back(&device, PLAIN_BASE + 512);
    T_EQ_U64(taken_at(&device, 0, 4 * MIB), PLAIN_BASE);
    plim_device_destroy(&device);
}

/* --- against a list of pieces --- */

typedef struct piece {
    plim_addr base;
    uint64_t bytes;
    bool is_range;
} piece;

static bool overlaps(const piece *pieces, size_t count, plim_addr base, uint64_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (base < pieces[i].base + pieces[i].bytes && pieces[i].base < base + bytes) {
            return true;
        }
    }
    return false;
}

/* Near the ends of windows, and near each other. */
static plim_addr somewhere(void)
{
    static const plim_addr centres[] = { ELSEWHERE,         RANGES_BASE,
                                         PLAIN_BASE,        PLAIN_BASE + 256 * GIB,
                                         UINT64_C(1) << 48, UINT64_C(1) << 52 };
    const plim_addr centre = centres[t_random_between(0, T_COUNT(centres) - 1)];
    const bool is_odd = t_random_between(0, 9) == 0;
    return centre - 100 * MIB + 2 * MIB * t_random_between(0, 100) + (is_odd ? 512 : 0);
}

static void no_two_pieces_ever_overlap(void)
{
    plim_device device = create(NULL);
    piece pieces[PIECES];
    size_t count = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const bool is_giving = t_random_between(0, PIECES - 1) < count;
        if (is_giving) {
            const size_t at = (size_t)t_random_between(0, count - 1);
            if (pieces[at].is_range) {
                T_EQ_I64(device.ops->range_free(device.self, pieces[at].base, pieces[at].bytes,
                                                &failure),
                         PLIM_OK);
            } else {
                give_back(&device, pieces[at].base);
            }
            pieces[at] = pieces[--count];
            continue;
        }
        const bool is_range = t_random_between(0, 1) == 0;
        const uint64_t bytes = 2 * MIB * t_random_bytes(1, 20);
        const plim_addr wanted = t_random_between(0, 3) == 0 ? 0 : somewhere();
        const bool may = wanted != 0 && (!is_range || wanted % (2 * MIB) == 0) &&
                         !overlaps(pieces, count, wanted, bytes);
        const plim_addr given =
            is_range ? reserved_at(&device, wanted, bytes) : taken_at(&device, wanted, bytes);
        T_TRUE(!may || given == wanted);
        T_TRUE(may || given % (2 * MIB) == 0);
        T_FALSE(overlaps(pieces, count, given, bytes));
        pieces[count++] = (piece){ given, bytes, is_range };
    }
    plim_device_destroy(&device);
}

/* --- without host memory --- */

static bool place_across_windows(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_device device;
    const plim_sim_options options = { .mem = mem, .total_bytes = 80 * GIB };
    plim_addr addr = 0;
    plim_addr range = 0;
    if (plim_sim_create(&options, &device, &failure) != PLIM_OK) {
        T_EQ_I64(failure.status, PLIM_OUT_OF_HOST_MEMORY);
        return false;
    }
    plim_sim_place_next(&device, RANGES_BASE - 2 * MIB);
    bool is_done = device.ops->memory_alloc(device.self, 4 * MIB, &addr, &failure) == PLIM_OK;
    plim_sim_place_next(&device, PLAIN_BASE - 2 * MIB);
    is_done =
        is_done && device.ops->range_reserve(device.self, 4 * MIB, &range, &failure) == PLIM_OK;
    if (is_done) {
        T_EQ_U64(addr, RANGES_BASE - 2 * MIB);
        T_EQ_U64(range, PLAIN_BASE - 2 * MIB);
    } else {
        T_EQ_I64(failure.status, PLIM_OUT_OF_HOST_MEMORY);
        /* Nothing is taken of what could not be taken whole. */
        plim_sim_place_next(&device, addr == 0 ? RANGES_BASE : PLAIN_BASE - 2 * MIB);
        plim_addr other = 0;
        T_EQ_I64(device.ops->memory_alloc(device.self, 2 * MIB, &other, &failure), PLIM_OK);
        T_EQ_U64(other, addr == 0 ? RANGES_BASE : PLAIN_BASE - 2 * MIB);
    }
    plim_device_destroy(&device);
    return is_done;
}

static void running_out_of_host_memory_leaves_it_whole(void)
{
    t_fail_each_allocation(place_across_windows, NULL);
}

T_MAIN(T_TEST(a_piece_goes_where_it_is_wanted), T_TEST(it_counts_for_one_call_however_that_ends),
       T_TEST(contents_are_checked_wherever_a_piece_is), T_TEST(odd_addresses_do_not_spread),
       T_TEST(no_two_pieces_ever_overlap), T_TEST(running_out_of_host_memory_leaves_it_whole))
