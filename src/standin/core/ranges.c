/* ranges.c - a sorted array: a run holds hundreds of ranges, not millions. See ranges.h. */
#include "standin/core/ranges.h"

#include <stdlib.h>
#include <string.h>

/* How many ranges start at or below `address`. */
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
