/*
 * memory.c - what cudaMalloc does, whole pages and small requests that share some; and pools.
 *
 * The driver maps memory in pages of 2 MiB, and small requests are cut from a page that is there
 * (seen through cudaMemGetInfo on GPUs since Pascal, for example in
 * github.com/cms-patatrack/pixeltrack-standalone pull request 301). From which size on a request
 * gets pages of its own is not documented; 1 MiB is what we model. All addresses are multiples of
 * 512 (github.com/cupy/cupy pull request 176).
 *
 *   allocations[device]   pages:  | large | large      | page of small ones | large |
 *   smalls[device]        pieces:                       |--|----|  |-|
 */
#include "standin/core/memory.h"

#include "base/numbers.h"
#include "standin/core/calls.h"
#include "standin/core/devices.h"
#include "standin/core/ranges.h"
#include "standin/core/shadow.h"
#include "standin/core/stage.h"

#include <pthread.h>

/* Handles of ranges of `allocations` that belong to no pool. */
#define OWNER_LARGE      UINT64_C(0)
#define OWNER_SMALL_PAGE UINT64_MAX

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_standin_ranges allocations[PLIM_STAGE_DEVICES_MAX];
static plim_standin_ranges smalls[PLIM_STAGE_DEVICES_MAX];

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

void plim_standin_memory_info(int device, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes)
{
    *ret_free_bytes =
        plim_stage_free_bytes(plim_standin_stage(), plim_standin_device_on_stage(device));
    *ret_total_bytes = plim_standin_settings()->capacity_bytes;
}

static bool take(int device, uint64_t bytes)
{
    return plim_stage_take(plim_standin_stage(), plim_standin_device_on_stage(device),
                           PLIM_STAGE_PROGRAM, bytes);
}

static void give(int device, uint64_t bytes)
{
    plim_stage_give(plim_standin_stage(), plim_standin_device_on_stage(device), PLIM_STAGE_PROGRAM,
                    bytes);
}

/* Somewhere in the device's window. The lock is held. */
static bool place(int device, uint64_t alignment, plim_standin_range *range)
{
    const plim_standin_window window = plim_standin_window_of_device(device);
    range->device = device;
    return plim_standin_ranges_place(&allocations[device], window, alignment, range);
}

static bool place_pages(int device, uint64_t owner, plim_standin_range *range)
{
    range->handle = owner;
    if (!take(device, range->bytes)) {
        return false;
    }
    if (!place(device, PLIM_STANDIN_PAGE_BYTES, range)) {
        give(device, range->bytes);
        return false;
    }
    return true;
}

/* In the first page of small ones that has room, else in a new one. */
static bool place_small(int device, plim_standin_range *piece)
{
    piece->device = device;
    const plim_standin_ranges *pages = &allocations[device];
    for (size_t i = 0; i < pages->count; i++) {
        const plim_standin_range *page = &pages->items[i];
        const plim_standin_window window = { page->base, page->bytes };
        if (page->handle == OWNER_SMALL_PAGE &&
            plim_standin_ranges_place(&smalls[device], window, PLIM_STANDIN_ALIGNMENT, piece)) {
            return true;
        }
    }
    plim_standin_range page = { .bytes = PLIM_STANDIN_PAGE_BYTES };
    if (!place_pages(device, OWNER_SMALL_PAGE, &page)) {
        return false;
    }
    piece->base = page.base;
    if (!plim_standin_ranges_insert(&smalls[device], *piece)) {
        (void)plim_standin_ranges_remove(&allocations[device], page.base, &page);
        give(device, page.bytes);
        return false;
    }
    return true;
}

plim_standin_memory_status plim_standin_memory_allocate(int device, uint64_t bytes,
                                                        uint64_t *ret_address)
{
    if (!plim_standin_is_device(device) || bytes == 0) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    if (bytes > plim_standin_settings()->capacity_bytes) {
        return PLIM_STANDIN_MEMORY_OUT; /* before rounding, which could overflow */
    }
    const bool is_small = bytes <= PLIM_STANDIN_SMALL_BYTES;
    plim_standin_range range = { .bytes = round_up(bytes, is_small ? PLIM_STANDIN_ALIGNMENT
                                                                   : PLIM_STANDIN_PAGE_BYTES) };
    plim_standin_calls_flush_now_and_then();
    (void)pthread_mutex_lock(&lock);
    const bool is_placed =
        is_small ? place_small(device, &range) : place_pages(device, OWNER_LARGE, &range);
    (void)pthread_mutex_unlock(&lock);
    if (!is_placed) {
        return PLIM_STANDIN_MEMORY_OUT;
    }
    plim_standin_memory_note_piece(device, range.bytes);
    *ret_address = range.base;
    return PLIM_STANDIN_MEMORY_OK;
}

/* ---- pools ----------------------------------------------------------------------------------- */

typedef struct pool {
    plim_standin_pool_figures figures;
    int device;
    bool is_there;
} pool;

static pool pools[PLIM_STANDIN_POOLS_MAX]; /* the first are the devices' own */
static uint64_t pool_count = PLIM_STAGE_DEVICES_MAX;

static uint64_t whole_steps(uint64_t bytes)
{
    return round_up(bytes, PLIM_STANDIN_POOL_STEP_BYTES);
}

/* The lock is held. NULL: not a pool. */
static pool *pool_of(uint64_t number)
{
    if (number == 0 || number > pool_count) {
        return NULL;
    }
    pool *found = &pools[number - 1];
    if (number <= PLIM_STAGE_DEVICES_MAX && plim_standin_is_device((int)number - 1)) {
        found->device = (int)number - 1;
        found->is_there = true; /* default pools always are */
    }
    return found->is_there ? found : NULL;
}

uint64_t plim_standin_pool_default(int device)
{
    return plim_standin_is_device(device) ? (uint64_t)device + 1 : 0;
}

uint64_t plim_standin_pool_create(int device)
{
    if (!plim_standin_is_device(device)) {
        return 0;
    }
    uint64_t number = 0;
    (void)pthread_mutex_lock(&lock);
    if (pool_count < PLIM_STANDIN_POOLS_MAX) {
        pools[pool_count] = (pool){ .device = device, .is_there = true };
        pool_count++;
        number = pool_count;
    }
    (void)pthread_mutex_unlock(&lock);
    return number;
}

/* Down to what is used, or to `keep_bytes` if that is more. */
static void trim(pool *from, uint64_t keep_bytes)
{
    plim_standin_pool_figures *figures = &from->figures;
    uint64_t keep = whole_steps(figures->used_bytes);
    if (keep_bytes > keep) {
        keep = keep_bytes < figures->reserved_bytes ? keep_bytes : figures->reserved_bytes;
        keep = whole_steps(keep);
    }
    if (keep < figures->reserved_bytes) {
        give(from->device, figures->reserved_bytes - keep);
        figures->reserved_bytes = keep;
    }
}

/* Unlocks. */
static plim_standin_memory_status leave(const pool *found)
{
    (void)pthread_mutex_unlock(&lock);
    return found != NULL ? PLIM_STANDIN_MEMORY_OK : PLIM_STANDIN_MEMORY_INVALID;
}

plim_standin_memory_status plim_standin_pool_destroy(uint64_t number)
{
    (void)pthread_mutex_lock(&lock);
    pool *found = number > PLIM_STAGE_DEVICES_MAX ? pool_of(number) : NULL;
    if (found != NULL) {
        found->is_there = false;
        found->figures.threshold_bytes = 0;
        trim(found, 0);
    }
    return leave(found);
}

/* The lock is held. */
static bool grow(pool *to, uint64_t bytes)
{
    plim_standin_pool_figures *figures = &to->figures;
    const uint64_t need = whole_steps(figures->used_bytes + bytes);
    if (need > figures->reserved_bytes) {
        if (!take(to->device, need - figures->reserved_bytes)) {
            return false;
        }
        figures->reserved_bytes = need;
        figures->reserved_bytes_peak = plim_max(figures->reserved_bytes_peak, need);
    }
    return true;
}

plim_standin_memory_status plim_standin_pool_allocate(uint64_t number, uint64_t bytes,
                                                      uint64_t *ret_address)
{
    if (bytes == 0) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    if (bytes > plim_standin_settings()->capacity_bytes) {
        return PLIM_STANDIN_MEMORY_OUT;
    }
    plim_standin_range range = { .bytes = round_up(bytes, PLIM_STANDIN_ALIGNMENT),
                                 .handle = number };
    plim_standin_calls_flush_now_and_then();
    (void)pthread_mutex_lock(&lock);
    pool *from = pool_of(number);
    const bool is_placed = from != NULL && grow(from, range.bytes) &&
                           place(from->device, PLIM_STANDIN_ALIGNMENT, &range);
    if (is_placed) {
        plim_standin_pool_figures *figures = &from->figures;
        figures->used_bytes += range.bytes;
        figures->used_bytes_peak = plim_max(figures->used_bytes_peak, figures->used_bytes);
        *ret_address = range.base;
    }
    const plim_standin_memory_status status = leave(from);
    return from != NULL && !is_placed ? PLIM_STANDIN_MEMORY_OUT : status;
}

/* The lock is held. */
static void get_back(uint64_t number, uint64_t bytes)
{
    pool *to = &pools[number - 1];
    to->figures.used_bytes -= bytes;
    trim(to, to->figures.threshold_bytes);
}

plim_standin_memory_status plim_standin_pool_trim(uint64_t number, uint64_t keep_bytes)
{
    (void)pthread_mutex_lock(&lock);
    pool *found = pool_of(number);
    if (found != NULL) {
        trim(found, keep_bytes);
    }
    return leave(found);
}

plim_standin_memory_status plim_standin_pool_figures_get(uint64_t number,
                                                         plim_standin_pool_figures *ret)
{
    (void)pthread_mutex_lock(&lock);
    const pool *found = pool_of(number);
    if (found != NULL) {
        *ret = found->figures;
    }
    return leave(found);
}

plim_standin_memory_status plim_standin_pool_set_threshold(uint64_t number, uint64_t bytes)
{
    (void)pthread_mutex_lock(&lock);
    pool *found = pool_of(number);
    if (found != NULL) {
        found->figures.threshold_bytes = bytes;
    }
    return leave(found);
}

plim_standin_memory_status plim_standin_pool_reset_peaks(uint64_t number, bool of_reserved)
{
    (void)pthread_mutex_lock(&lock);
    pool *found = pool_of(number);
    if (found != NULL && of_reserved) {
        found->figures.reserved_bytes_peak = found->figures.reserved_bytes;
    } else if (found != NULL) {
        found->figures.used_bytes_peak = found->figures.used_bytes;
    }
    return leave(found);
}

/* ---- released and found ---------------------------------------------------------------------- */

static bool is_page_empty(int device, const plim_standin_range *page)
{
    const plim_standin_range *piece = plim_standin_ranges_from(&smalls[device], page->base);
    return piece == NULL || piece->base >= page->base + page->bytes;
}

/* The piece of a shared page, and the page with the last of them. The lock is held. */
static bool release_small(int device, uint64_t address, plim_standin_range *ret_piece)
{
    if (!plim_standin_ranges_remove(&smalls[device], address, ret_piece)) {
        return false;
    }
    plim_standin_range page = *plim_standin_ranges_find(&allocations[device], address);
    if (is_page_empty(device, &page)) {
        (void)plim_standin_ranges_remove(&allocations[device], page.base, &page);
        give(device, page.bytes);
    }
    return true;
}

static bool release_large(int device, uint64_t address, plim_standin_range *ret_range)
{
    const plim_standin_range *range = plim_standin_ranges_find(&allocations[device], address);
    if (range == NULL || range->base != address || range->handle == OWNER_SMALL_PAGE) {
        return false;
    }
    (void)plim_standin_ranges_remove(&allocations[device], address, ret_range);
    if (ret_range->handle == OWNER_LARGE) {
        give(device, ret_range->bytes);
    }
    return true;
}

plim_standin_memory_status plim_standin_memory_release(uint64_t address)
{
    const int device = plim_standin_window_device(address);
    if (device < 0) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    plim_standin_range range = { 0 };
    (void)pthread_mutex_lock(&lock);
    const bool is_small = release_small(device, address, &range);
    const bool is_released = is_small || release_large(device, address, &range);
    if (is_released && !is_small && range.handle != OWNER_LARGE) {
        get_back(range.handle, range.bytes);
    }
    (void)pthread_mutex_unlock(&lock);
    if (!is_released) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    plim_standin_shadow_forget(range.base, range.bytes);
    plim_standin_calls_flush_now_and_then();
    return PLIM_STANDIN_MEMORY_OK;
}

static const plim_standin_range *find_allocation(int device, uint64_t address)
{
    const plim_standin_range *range = plim_standin_ranges_find(&allocations[device], address);
    const bool is_shared = range != NULL && range->handle == OWNER_SMALL_PAGE;
    return is_shared ? plim_standin_ranges_find(&smalls[device], address) : range;
}

bool plim_standin_memory_find(uint64_t address, plim_standin_place *ret)
{
    const int device = plim_standin_window_device(address);
    if (device < 0) {
        return plim_standin_memory_find_mapping(address, ret);
    }
    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *range = find_allocation(device, address);
    if (range != NULL) {
        *ret = (plim_standin_place){ range->base, range->bytes, device };
    }
    (void)pthread_mutex_unlock(&lock);
    return range != NULL;
}
