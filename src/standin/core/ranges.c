/*
 * ranges.c - windows of addresses, and sorted arrays of ranges in them: a run holds hundreds of
 * ranges, not millions. See ranges.h.
 */
#include "standin/core/ranges.h"

#include "base/units.h"
#include "standin/core/devices.h"
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- windows --------------------------------------------------------------------------------- */

#define RESERVATIONS_BASE  UINT64_C(0x700000000000)
#define ALLOCATIONS_BASE   UINT64_C(0x7a0000000000)
#define ALLOCATIONS_BYTES  (4096 * GIB)
#define RESERVATIONS_BYTES (ALLOCATIONS_BASE - RESERVATIONS_BASE)
#define WIDE_BASE          UINT64_C(0x200000000000) /* below programs and their heaps */
#define WIDE_BYTES         (48 * 1024 * GIB)
#define DEVICE_BYTES_MIN   (256 * GIB)

static uint64_t allocations_base;
static uint64_t device_bytes;
static uint64_t device_count;
static pthread_once_t laid_out = PTHREAD_ONCE_INIT;

/* Twice what a device has: addresses must not run out before memory does. */
static void lay_out(void)
{
    device_count = (uint64_t)plim_standin_device_count();
    device_bytes = DEVICE_BYTES_MIN;
    while (device_bytes / 2 < plim_standin_settings()->capacity_bytes &&
           device_bytes <= WIDE_BYTES / 2) {
        device_bytes *= 2;
    }
    allocations_base = ALLOCATIONS_BASE;
    if (device_count * device_bytes > ALLOCATIONS_BYTES) {
        allocations_base = WIDE_BASE;
        while (device_count * device_bytes > WIDE_BYTES) {
            device_bytes /= 2;
        }
    }
}

static void guard(plim_standin_window window)
{
    void *const want = (void *)(uintptr_t)window.base;
    const void *const got =
        mmap(want, window.bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != want) {
        plim_standin_trace("device addresses at %p are not guarded", want);
    } else {
        (void)madvise(want, window.bytes, MADV_DONTDUMP); /* core files stay small */
    }
}

plim_standin_window plim_standin_window_of_reservations(void)
{
    static bool is_guarded;
    const plim_standin_window window = { RESERVATIONS_BASE, RESERVATIONS_BYTES };
    if (!is_guarded) {
        is_guarded = true;
        guard(window);
    }
    return window;
}

plim_standin_window plim_standin_window_of_device(int device)
{
    static bool is_guarded[PLIM_STAGE_DEVICES_MAX];
    (void)pthread_once(&laid_out, lay_out);
    const plim_standin_window window = { allocations_base + (uint64_t)device * device_bytes,
                                         device_bytes };
    if (!is_guarded[device]) {
        is_guarded[device] = true;
        guard(window);
    }
    return window;
}

int plim_standin_window_device(uint64_t address)
{
    (void)pthread_once(&laid_out, lay_out);
    const uint64_t offset = address - allocations_base;
    return offset < device_count * device_bytes ? (int)(offset / device_bytes) : -1;
}

bool plim_standin_is_device_address(uint64_t address)
{
    return address - RESERVATIONS_BASE < RESERVATIONS_BYTES ||
           plim_standin_window_device(address) >= 0;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Number of ranges that start at or below `address`. */
static size_t count_up_to(const plim_standin_ranges *set, uint64_t address)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (set->items[middle].base <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool make_room(plim_standin_ranges *set)
{
    if (set->count < set->capacity) {
        return true;
    }
    const size_t capacity = set->capacity == 0 ? 64 : set->capacity * 2;
    plim_standin_range *items = realloc(set->items, capacity * sizeof(*items));
    if (items == NULL) {
        return false;
    }
    set->items = items;
    set->capacity = capacity;
    return true;
}

bool plim_standin_ranges_insert(plim_standin_ranges *set, plim_standin_range range)
{
    const size_t at = count_up_to(set, range.base);
    if (at > 0 && set->items[at - 1].base + set->items[at - 1].bytes > range.base) {
        return false;
    }
    if (at < set->count && range.base + range.bytes > set->items[at].base) {
        return false;
    }
    if (!make_room(set)) {
        return false;
    }
    memmove(&set->items[at + 1], &set->items[at], (set->count - at) * sizeof(range));
    set->items[at] = range;
    set->count++;
    return true;
}

bool plim_standin_ranges_place(plim_standin_ranges *set, plim_standin_window window,
                               uint64_t alignment, plim_standin_range *range)
{
    const uint64_t window_end = window.base + window.bytes;
    uint64_t base = window.base;
    size_t i = count_up_to(set, window.base);
    if (i > 0 && set->items[i - 1].base == window.base) {
        i--;
    }
    for (;; i++) {
        base = (base + alignment - 1) & ~(alignment - 1);
        const bool is_last = i == set->count || set->items[i].base >= window_end;
        const uint64_t gap_end = is_last ? window_end : set->items[i].base;
        if (base <= gap_end && range->bytes <= gap_end - base) {
            range->base = base;
            return plim_standin_ranges_insert(set, *range);
        }
        if (is_last) {
            return false;
        }
        base = set->items[i].base + set->items[i].bytes;
    }
}

bool plim_standin_ranges_remove(plim_standin_ranges *set, uint64_t base,
                                plim_standin_range *ret_range)
{
    const size_t after = count_up_to(set, base);
    if (after == 0 || set->items[after - 1].base != base) {
        return false;
    }
    *ret_range = set->items[after - 1];
    memmove(&set->items[after - 1], &set->items[after], (set->count - after) * sizeof(*ret_range));
    set->count--;
    return true;
}

const plim_standin_range *plim_standin_ranges_find(const plim_standin_ranges *set, uint64_t address)
{
    const size_t after = count_up_to(set, address);
    if (after == 0) {
        return NULL;
    }
    const plim_standin_range *candidate = &set->items[after - 1];
    return address - candidate->base < candidate->bytes ? candidate : NULL;
}

const plim_standin_range *plim_standin_ranges_from(const plim_standin_ranges *set, uint64_t address)
{
    size_t at = count_up_to(set, address);
    if (at > 0 && address - set->items[at - 1].base < set->items[at - 1].bytes) {
        at--;
    }
    return at < set->count ? &set->items[at] : NULL;
}

const plim_standin_range *plim_standin_ranges_end(const plim_standin_ranges *ranges)
{
    return ranges->count > 0 ? ranges->items + ranges->count : NULL; /* NULL + 0 is undefined */
}
