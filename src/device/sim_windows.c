/*
 * sim_windows.c - where a sim device has its addresses.
 *
 * Addresses look like a driver's and lie as those of the recorder that stands in for CUDA's
 * libraries, so that what depends on their order comes out the same:
 *
 *   0x700000000000   ranges of ordinal 0: 10 TiB, over a hundred expandable segments of an
 *                    80 GiB device. Ordinals 1 to 15 have 7 TiB each below, going down
 *   0x7a0000000000   plain memory: 256 GiB for each ordinal, going up
 *   1 << 48          for who needs more: 64 TiB of ranges for each ordinal, and
 *   1 << 52          64 TiB of plain memory. All below 2^53, exact in a double
 *
 * A piece can also be asked for at an address. It may lie in any window, across the end of one, or
 * in none: each part is taken from the space that has it, so that no two pieces ever overlap.
 */
#include "device/sim.h"

#include "base/assert.h"

#define HOME_ORDINALS_MAX 16 /* those whose ranges fit below 0x700000000000 */

#define RANGES_BASE      UINT64_C(0x700000000000)
#define RANGES_BYTES     UINT64_C(0x0a0000000000) /* of ordinal 0 */
#define RANGES_STEP      UINT64_C(0x070000000000) /* of the others: 7 TiB, a sixteenth */
#define PLAIN_BASE       UINT64_C(0x7a0000000000)
#define PLAIN_STEP       (UINT64_C(256) << 30)
#define MORE_RANGES_BASE (UINT64_C(1) << 48)
#define MORE_PLAIN_BASE  (UINT64_C(1) << 52)
#define MORE_STEP        (UINT64_C(64) << 40)
#define GUESTS_BASE      (UINT64_C(2) << 20) /* no driver gives addresses as low as these */
#define GUESTS_END       (UINT64_C(1) << 56) /* nor as high */
#define ADDRESS_BYTES    512                 /* addresses are multiples of it */

/* Addresses of one window, or of none; or a part of these. */
typedef struct stretch {
    plim_space *space;
    uint64_t base;
    uint64_t bytes;
} stretch;

#define WINDOW_COUNT 4

static void windows_of(plim_sim *sim, stretch *ret)
{
    const uint64_t i = (uint64_t)sim->core.ordinal;
    const bool has_home = i < HOME_ORDINALS_MAX;
    ret[0] = (stretch){ &sim->reserved, has_home ? RANGES_BASE - i * RANGES_STEP : 0,
                        !has_home ? 0 : (i == 0 ? RANGES_BYTES : RANGES_STEP) };
    ret[1] = (stretch){ &sim->reserved, MORE_RANGES_BASE + i * MORE_STEP, MORE_STEP };
    ret[2] = (stretch){ &sim->plain, PLAIN_BASE + i * PLAIN_STEP, PLAIN_STEP };
    ret[3] = (stretch){ &sim->plain, MORE_PLAIN_BASE + i * MORE_STEP, MORE_STEP };
}

/* The first part of [base, end): up to where a window starts or ends. */
static stretch first_of(plim_sim *sim, uint64_t base, uint64_t end)
{
    stretch windows[WINDOW_COUNT];
    windows_of(sim, windows);
    stretch first = { &sim->guests, base, end - base };
    for (int i = 0; i < WINDOW_COUNT; i++) {
        const stretch *const window = &windows[i];
        const bool is_in = base - window->base < window->bytes;
        const uint64_t until = is_in ? window->base + window->bytes : window->base;
        if (is_in) {
            first.space = window->space;
        }
        if (until > base && until - base < first.bytes) {
            first.bytes = until - base;
        }
    }
    return first;
}

bool plim_sim_add_windows(plim_sim *sim)
{
    for (uint64_t base = GUESTS_BASE; base < GUESTS_END;) {
        const stretch next = first_of(sim, base, GUESTS_END);
        if (!plim_space_add_window(next.space, next.base, next.bytes)) {
            return false;
        }
        base += next.bytes;
    }
    return true;
}

/* --- where the caller wants it --- */

static bool may_be_anyones(plim_addr addr, uint64_t bytes)
{
    return addr >= GUESTS_BASE && addr < GUESTS_END && bytes > 0 && bytes <= GUESTS_END - addr;
}

static bool is_free(plim_sim *sim, plim_addr addr, uint64_t bytes)
{
    const uint64_t end = addr + bytes;
    while (addr < end) {
        const stretch next = first_of(sim, addr, end);
        if (!plim_space_is_free(next.space, next.base, next.bytes)) {
            return false;
        }
        addr += next.bytes;
    }
    return true;
}

void plim_sim_displace(plim_sim *sim, plim_addr addr, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const stretch next = first_of(sim, addr + done, addr + bytes);
        plim_space_give(next.space, next.base, next.bytes);
        done += next.bytes;
    }
}

/* False: no host memory, and nothing is taken. */
static bool take(plim_sim *sim, plim_addr addr, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const stretch next = first_of(sim, addr + done, addr + bytes);
        if (!plim_space_prepare(next.space)) {
            plim_sim_displace(sim, addr, done);
            return false;
        }
        const bool is_taken = plim_space_take(next.space, next.base, next.bytes);
        PLIM_ASSERT(is_taken);
        done += next.bytes;
    }
    return true;
}

/* --- where the device has it --- */

/* First fit. A piece placed at a wanted address may leave a gap that begins inside a granule. */
static bool place_whole(plim_space *home, uint64_t granularity, uint64_t bytes, plim_addr *ret_addr)
{
    plim_addr addr = 0;
    if (!plim_space_place(home, bytes, &addr)) {
        return false;
    }
    uint64_t past = addr % granularity;
    if (past != 0) {
        plim_space_give(home, addr, bytes);
        if (bytes > UINT64_MAX - granularity ||
            !plim_space_place(home, bytes + granularity, &addr)) {
            return false;
        }
        plim_space_give(home, addr, bytes + granularity);
        past = addr % granularity;
        addr += past == 0 ? 0 : granularity - past;
        const bool is_taken = plim_space_take(home, addr, bytes);
        PLIM_ASSERT(is_taken);
    }
    *ret_addr = addr;
    return true;
}

plim_status plim_sim_place(plim_sim *sim, plim_space *home, plim_addr wanted, uint64_t bytes,
                           plim_addr *ret_addr)
{
    const uint64_t granularity = sim->core.books.granularity_bytes;
    const uint64_t unit = home == &sim->reserved ? granularity : ADDRESS_BYTES;
    if (may_be_anyones(wanted, bytes) && wanted % unit == 0 && is_free(sim, wanted, bytes)) {
        if (!take(sim, wanted, bytes)) {
            return PLIM_OUT_OF_HOST_MEMORY;
        }
        *ret_addr = wanted;
        return PLIM_OK;
    }
    if (!plim_space_prepare(home)) {
        return PLIM_OUT_OF_HOST_MEMORY;
    }
    return place_whole(home, granularity, bytes, ret_addr) ? PLIM_OK : PLIM_OUT_OF_DEVICE_MEMORY;
}

bool plim_sim_is_placed(plim_sim *sim, plim_addr addr, uint64_t bytes)
{
    if (!may_be_anyones(addr, bytes)) {
        return false;
    }
    for (uint64_t done = 0; done < bytes;) {
        const stretch next = first_of(sim, addr + done, addr + bytes);
        if (plim_space_has_free(next.space, next.base, next.bytes)) {
            return false;
        }
        done += next.bytes;
    }
    return true;
}
