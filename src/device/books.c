/*
 * books.c - the rules of books.h, in one place.
 *
 * A handle is the index of its slot plus one, and above it how often the slot was used before.
 */
#include "device/books.h"

#include "base/assert.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

#define HANDLE_INDEX_MASK UINT64_C(0xffffffff)

void plim_books_init(plim_books *books, const plim_mem *mem, const char *name)
{
    *books = (plim_books){ .mem = mem, .name = name, .free_physical = PLIM_MAP_ABSENT };
    plim_map_init(&books->mappings, mem);
}

static void range_deinit(plim_virtual_range *range)
{
    plim_space_deinit(&range->unmapped);
    plim_space_deinit(&range->closed);
}

void plim_books_deinit(plim_books *books)
{
    for (size_t i = 0; i < books->ranges.count; i++) {
        range_deinit(&books->ranges.items[i]);
    }
    PLIM_VEC_FREE(books->mem, &books->ranges);
    PLIM_VEC_FREE(books->mem, &books->physicals);
    plim_map_deinit(&books->mappings);
}

/* --- capacity --- */

uint64_t plim_books_free_bytes(const plim_books *books)
{
    const uint64_t held = books->used_bytes + books->taken_bytes;
    return held < books->total_bytes ? books->total_bytes - held : 0;
}

plim_status plim_books_has_room(const plim_books *books, uint64_t bytes, plim_error *err)
{
    const uint64_t free_bytes = plim_books_free_bytes(books);
    if (bytes <= free_bytes) {
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                     "%s: %" PRIu64 " bytes requested, %" PRIu64 " of %" PRIu64 " are free",
                     books->name, bytes, free_bytes, books->total_bytes);
}

bool plim_books_whole(const plim_books *books, uint64_t bytes, uint64_t *ret_bytes)
{
    const uint64_t granularity = books->granularity_bytes;
    if (bytes > UINT64_MAX - (granularity - 1)) {
        return false;
    }
    *ret_bytes = (bytes + granularity - 1) / granularity * granularity;
    return true;
}

plim_status plim_books_check_size(const plim_books *books, const char *what, uint64_t bytes,
                                  plim_error *err)
{
    if (bytes > 0 && bytes % books->granularity_bytes == 0) {
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "%s: %s of %" PRIu64 " bytes, which must be a multiple of %" PRIu64,
                     books->name, what, bytes, books->granularity_bytes);
}

/* --- handles --- */

static plim_status new_physical(plim_books *books, uint64_t *ret_index, plim_error *err)
{
    if (books->free_physical != PLIM_MAP_ABSENT) {
        *ret_index = books->free_physical;
        books->free_physical = books->physicals.items[*ret_index].tag;
        return PLIM_OK;
    }
    if (books->physicals.count >= HANDLE_INDEX_MASK - 1 ||
        !PLIM_VEC_PUSH(books->mem, &books->physicals, (plim_physical){ 0 })) {
        return plim_fail_memory(err, "creating a handle");
    }
    *ret_index = books->physicals.count - 1;
    return PLIM_OK;
}

plim_status plim_books_create(plim_books *books, uint64_t bytes, plim_handle *ret_handle,
                              plim_error *err)
{
    uint64_t index = 0;
    PLIM_TRY(plim_books_check_size(books, "create", bytes, err));
    PLIM_TRY(plim_books_has_room(books, bytes, err));
    PLIM_TRY(new_physical(books, &index, err));
    plim_physical *const physical = &books->physicals.items[index];
    physical->bytes = bytes;
    physical->tag = 0;
    physical->references = 1;
    physical->is_released = false;
    books->taken_bytes += bytes;
    *ret_handle = (uint64_t)physical->generation << 32 | (index + 1);
    return PLIM_OK;
}

plim_physical *plim_books_physical(const plim_books *books, plim_handle handle)
{
    const uint64_t index = (handle & HANDLE_INDEX_MASK) - 1;
    if (index >= books->physicals.count) {
        return NULL;
    }
    plim_physical *const physical = &books->physicals.items[index];
    return physical->references > 0 && physical->generation == handle >> 32 ? physical : NULL;
}

static void drop_reference(plim_books *books, plim_physical *physical, plim_physical *ret_gone)
{
    *ret_gone = (plim_physical){ 0 };
    physical->references--;
    if (physical->references == 0) {
        *ret_gone = *physical;
        PLIM_ASSERT(books->taken_bytes >= physical->bytes);
        books->taken_bytes -= physical->bytes;
        physical->bytes = 0;
        physical->generation++;
        physical->tag = books->free_physical;
        books->free_physical = (uint64_t)(physical - books->physicals.items);
    }
}

plim_status plim_books_release(plim_books *books, plim_handle handle, plim_physical *ret_gone,
                               plim_error *err)
{
    plim_physical *const physical = plim_books_physical(books, handle);
    if (physical == NULL || physical->is_released) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%s: release of the unknown handle %" PRIu64,
                         books->name, handle);
    }
    physical->is_released = true;
    drop_reference(books, physical, ret_gone);
    return PLIM_OK;
}

/* --- ranges --- */

/* The number of ranges that start at or below `addr`. */
static size_t count_up_to(const plim_books *books, plim_addr addr)
{
    size_t low = 0;
    size_t high = books->ranges.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (books->ranges.items[middle].base <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The range an address lies in, or NULL. */
static plim_virtual_range *range_of(const plim_books *books, plim_addr addr)
{
    const size_t after = count_up_to(books, addr);
    if (after == 0) {
        return NULL;
    }
    plim_virtual_range *const range = &books->ranges.items[after - 1];
    return addr - range->base < range->bytes ? range : NULL;
}

bool plim_books_has_range(const plim_books *books, plim_addr addr, uint64_t bytes)
{
    const size_t after = count_up_to(books, addr + bytes - 1);
    if (after == 0) {
        return false;
    }
    const plim_virtual_range *const range = &books->ranges.items[after - 1];
    return range->base > addr || addr - range->base < range->bytes;
}

bool plim_books_add_range(plim_books *books, plim_addr base, uint64_t bytes)
{
    plim_virtual_range range = { .base = base, .bytes = bytes };
    plim_space_init(&range.unmapped, books->mem);
    plim_space_init(&range.closed, books->mem);
    if (!plim_space_add_window(&range.unmapped, base, bytes) ||
        !plim_space_add_window(&range.closed, base, bytes) ||
        !PLIM_VEC_PUSH(books->mem, &books->ranges, range)) {
        range_deinit(&range);
        return false;
    }
    plim_virtual_range *const items = books->ranges.items;
    books->ranges.count--; /* its place is not the end */
    const size_t place = count_up_to(books, base);
    memmove(items + place + 1, items + place, (books->ranges.count - place) * sizeof *items);
    items[place] = range;
    books->ranges.count++;
    return true;
}

plim_status plim_books_check_free_range(const plim_books *books, plim_addr base, uint64_t bytes,
                                        plim_error *err)
{
    const plim_virtual_range *const range = range_of(books, base);
    if (range == NULL || range->base != base || range->bytes != bytes) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "%s: no range of %" PRIu64 " bytes is reserved at 0x%" PRIx64, books->name,
                         bytes, base);
    }
    if (!plim_space_is_free(&range->unmapped, base, bytes)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "%s: the range at 0x%" PRIx64 " has memory mapped in it", books->name,
                         base);
    }
    return PLIM_OK;
}

void plim_books_remove_range(plim_books *books, plim_addr base)
{
    plim_virtual_range *const range = range_of(books, base);
    PLIM_ASSERT(range != NULL);
    PLIM_ASSERT(range->base == base);
    range_deinit(range);
    const size_t after = (size_t)(range - books->ranges.items) + 1;
    memmove(range, range + 1, (books->ranges.count - after) * sizeof *range);
    books->ranges.count--;
}

/* --- mappings --- */

plim_status plim_books_map(plim_books *books, plim_addr addr, uint64_t bytes, plim_handle handle,
                           plim_error *err)
{
    plim_virtual_range *const range = range_of(books, addr);
    plim_physical *const physical = plim_books_physical(books, handle);
    const char *wrong = NULL;
    if (physical == NULL || physical->is_released) {
        wrong = "the handle is unknown";
    } else if (physical->bytes != bytes) {
        wrong = "the handle is of another size";
    } else if (range == NULL || bytes > range->base + range->bytes - addr) {
        wrong = "the addresses are not of one range";
    } else if (addr % books->granularity_bytes != 0) {
        wrong = "the address is no multiple of the granularity";
    } else if (!plim_space_is_free(&range->unmapped, addr, bytes)) {
        wrong = "something is mapped there";
    }
    if (wrong != NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "%s: map of handle %" PRIu64 " to %" PRIu64 " bytes at 0x%" PRIx64 ": %s",
                         books->name, handle, bytes, addr, wrong);
    }
    PLIM_ASSERT(physical != NULL);
    PLIM_ASSERT(range != NULL);
    if (!plim_space_prepare(&range->unmapped) ||
        !plim_map_put(&books->mappings, addr, (uint64_t)(physical - books->physicals.items) * 2)) {
        return plim_fail_memory(err, "mapping a handle");
    }
    const bool taken = plim_space_take(&range->unmapped, addr, bytes);
    PLIM_ASSERT(taken);
    physical->references++;
    return PLIM_OK;
}

/* The memory mapped at `addr`, from its first byte on, or NULL. */
static plim_physical *mapped_at(const plim_books *books, plim_addr addr)
{
    const uint64_t value = plim_map_get(&books->mappings, addr);
    return value == PLIM_MAP_ABSENT ? NULL : &books->physicals.items[value / 2];
}

plim_status plim_books_check_mapped(const plim_books *books, const char *what, plim_addr addr,
                                    uint64_t bytes, plim_error *err)
{
    uint64_t done = 0;
    while (done < bytes) {
        const plim_physical *const physical = mapped_at(books, addr + done);
        if (physical == NULL) {
            break;
        }
        done += physical->bytes;
    }
    if (bytes > 0 && done == bytes) { /* and not beyond */
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "%s: %s of %" PRIu64 " bytes at 0x%" PRIx64
                     ", which are not what was mapped there",
                     books->name, what, bytes, addr);
}

uint64_t plim_books_unmap(plim_books *books, plim_addr addr, plim_physical *ret_gone)
{
    const uint64_t value = plim_map_take(&books->mappings, addr);
    PLIM_ASSERT(value != PLIM_MAP_ABSENT);
    plim_virtual_range *const range = range_of(books, addr);
    PLIM_ASSERT(range != NULL);
    plim_physical *const physical = &books->physicals.items[value / 2];
    const uint64_t bytes = physical->bytes;
    plim_space_give(&range->unmapped, addr, bytes);
    if (value % 2 != 0) {
        plim_space_give(&range->closed, addr, bytes);
    }
    drop_reference(books, physical, ret_gone);
    return bytes;
}

plim_status plim_books_open(plim_books *books, plim_addr addr, uint64_t bytes, plim_error *err)
{
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t value = plim_map_get(&books->mappings, addr + done);
        PLIM_ASSERT(value != PLIM_MAP_ABSENT);
        plim_virtual_range *const range = range_of(books, addr + done);
        PLIM_ASSERT(range != NULL);
        const uint64_t mapped_bytes = books->physicals.items[value / 2].bytes;
        if (value % 2 == 0) {
            if (!plim_space_prepare(&range->closed) ||
                !plim_map_put(&books->mappings, addr + done, value + 1)) {
                return plim_fail_memory(err, "giving access");
            }
            const bool taken = plim_space_take(&range->closed, addr + done, mapped_bytes);
            PLIM_ASSERT(taken);
        }
        done += mapped_bytes;
    }
    return PLIM_OK;
}

bool plim_books_is_open(const plim_books *books, plim_addr addr, uint64_t bytes)
{
    const plim_virtual_range *const range = range_of(books, addr);
    return range != NULL && bytes <= range->base + range->bytes - addr &&
           !plim_space_has_free(&range->closed, addr, bytes);
}
