/* ranges.c - a sorted array of ranges. See ranges.h. */
#include "ranges.h"

#include "model.h"

#include <stdlib.h>
#include <string.h>

static uint64_t end_of(const model_range *range)
{
    return range->base + range->bytes;
}

/* The index of the first range at or above an address. */
static size_t lower_bound(const model_ranges *set, uint64_t address)
{
    size_t at = 0;
    while (at < set->count && set->items[at].base < address) {
        at++;
    }
    return at;
}

static void insert_at(model_ranges *set, size_t at, model_range range)
{
    if (set->count == set->capacity) {
        set->capacity = set->capacity == 0 ? 64 : 2 * set->capacity;
        set->items = realloc(set->items, set->capacity * sizeof(*set->items));
        if (set->items == NULL) {
            abort();
        }
    }
    memmove(&set->items[at + 1], &set->items[at], (set->count - at) * sizeof(range));
    set->items[at] = range;
    set->count++;
}

bool model_ranges_insert(model_ranges *set, model_range range)
{
    const size_t at = lower_bound(set, range.base);
    if ((at > 0 && end_of(&set->items[at - 1]) > range.base) ||
        (at < set->count && end_of(&range) > set->items[at].base)) {
        return false;
    }
    insert_at(set, at, range);
    return true;
}

bool model_ranges_place(model_ranges *set, model_window window, uint64_t bytes, uint64_t *ret_base)
{
    uint64_t base = model_whole_pages(window.base);
    size_t at = 0;
    while (at < set->count && set->items[at].base - base < bytes) {
        base = model_whole_pages(end_of(&set->items[at]));
        at++;
    }
    if (base - window.base > window.bytes || window.bytes - (base - window.base) < bytes) {
        return false;
    }
    insert_at(set, at, (model_range){ .base = base, .bytes = bytes });
    *ret_base = base;
    return true;
}

bool model_ranges_remove(model_ranges *set, uint64_t base, model_range *ret)
{
    const size_t at = lower_bound(set, base);
    if (at == set->count || set->items[at].base != base) {
        return false;
    }
    *ret = set->items[at];
    set->count--;
    memmove(&set->items[at], &set->items[at + 1], (set->count - at) * sizeof(*ret));
    return true;
}
