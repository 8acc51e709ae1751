/*
 * memory.c - the capacity, and who holds which part of it. See memory.h.
 *
 *   0x700000000000  reservations of all devices: 10 TiB, room for over a hundred
 *                   expandable segments, each 9/8 of the device's memory
 *   0x7a0000000000  allocations: 256 GiB for each device, so that what one device
 *                   does leaves the addresses of the others alone
 *
 * Both lie below where Linux places libraries and thread stacks of a process
 * with 47 bit addresses, and look like what the real driver hands out.
 */
#include "standin/core/memory.h"

#include "standin/core/gpu.h"
#include "standin/core/ranges.h"
#include "standin/core/trace.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define RESERVATIONS_BASE  UINT64_C(0x700000000000)
#define ALLOCATIONS_BASE   UINT64_C(0x7a0000000000)
#define RESERVATIONS_BYTES (ALLOCATIONS_BASE - RESERVATIONS_BASE)
#define DEVICE_BYTES       PLIM_STANDIN_CAPACITY_BYTES_MAX
#define ALLOCATIONS_BYTES  (DEVICE_BYTES * PLIM_STANDIN_DEVICES_MAX)

/* One cuMemCreate. Its handle is its index plus one, so that zero is never a handle. */
typedef struct physical {
    uint64_t bytes;
    uint64_t references; /* one of the creator, one of each mapping */
    int device;
    bool is_released; /* by its creator */
} physical;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t used_bytes[PLIM_STANDIN_DEVICES_MAX];
static plim_standin_ranges reservations = { RESERVATIONS_BASE, RESERVATIONS_BYTES, NULL, 0, 0 };
static plim_standin_ranges allocations[PLIM_STANDIN_DEVICES_MAX];
static plim_standin_ranges mappings; /* lie inside reservations */
static physical *physicals;
static size_t physical_count;
static size_t physical_capacity;

static void guard(uint64_t base, uint64_t bytes)
{
    void *const want = (void *)(uintptr_t)base;
    const void *const got =
        mmap(want, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != want) {
        plim_standin_trace("device addresses at %p are not guarded", want);
    }
}

static void open_windows(void)
{
    static bool is_done; /* under the lock */
    if (is_done) {
        return;
    }
    is_done = true;
    guard(RESERVATIONS_BASE, RESERVATIONS_BYTES);
    guard(ALLOCATIONS_BASE, ALLOCATIONS_BYTES);
    for (uint64_t device = 0; device < PLIM_STANDIN_DEVICES_MAX; device++) {
        allocations[device].window_base = ALLOCATIONS_BASE + device * DEVICE_BYTES;
        allocations[device].window_bytes = DEVICE_BYTES;
    }
}

/* The set an address of the allocation window belongs to, or NULL outside of it. */
static plim_standin_ranges *allocations_of(uint64_t address)
{
    const uint64_t offset = address - ALLOCATIONS_BASE;
    return offset < ALLOCATIONS_BYTES ? &allocations[offset / DEVICE_BYTES] : NULL;
}

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PLIM_STANDIN_PAGE_BYTES - 1) & ~(PLIM_STANDIN_PAGE_BYTES - 1);
}

static bool is_device(int device)
{
    return device >= 0 && device < plim_standin_device_count();
}

static bool fits(int device, uint64_t bytes)
{
    return bytes <= plim_standin_gpu_chosen()->memory_bytes - used_bytes[device];
}

void plim_standin_memory_info(int device, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes)
{
    const uint64_t total_bytes = plim_standin_gpu_chosen()->memory_bytes;
    pthread_mutex_lock(&lock);
    *ret_free_bytes = total_bytes - used_bytes[device];
    pthread_mutex_unlock(&lock);
    *ret_total_bytes = total_bytes;
}

plim_standin_memory_status plim_standin_memory_allocate(int device, uint64_t bytes,
                                                        uint64_t *ret_address)
{
    if (!is_device(device) || bytes == 0) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    if (bytes > plim_standin_gpu_chosen()->memory_bytes) {
        return PLIM_STANDIN_MEMORY_OUT; /* before rounding, which could overflow */
    }
    plim_standin_range range = { .bytes = whole_pages(bytes), .device = device };
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_OUT;

    pthread_mutex_lock(&lock);
    open_windows();
    if (fits(device, range.bytes) &&
        plim_standin_ranges_place(&allocations[device], PLIM_STANDIN_PAGE_BYTES, &range)) {
        used_bytes[device] += range.bytes;
        *ret_address = range.base;
        status = PLIM_STANDIN_MEMORY_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_release(uint64_t address)
{
    plim_standin_range range;
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;

    pthread_mutex_lock(&lock);
    plim_standin_ranges *set = allocations_of(address);
    if (set != NULL && plim_standin_ranges_remove(set, address, &range)) {
        used_bytes[range.device] -= range.bytes;
        status = PLIM_STANDIN_MEMORY_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_reserve(uint64_t bytes, uint64_t alignment,
                                                       uint64_t *ret_address)
{
    if (bytes == 0 || bytes % PLIM_STANDIN_PAGE_BYTES != 0 || (alignment & (alignment - 1)) != 0) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    if (alignment < PLIM_STANDIN_PAGE_BYTES) {
        alignment = PLIM_STANDIN_PAGE_BYTES; /* zero asks for the default */
    }
    plim_standin_range range = { .bytes = bytes, .device = -1 };

    pthread_mutex_lock(&lock);
    open_windows();
    const bool is_placed = plim_standin_ranges_place(&reservations, alignment, &range);
    pthread_mutex_unlock(&lock);
    if (!is_placed) {
        return PLIM_STANDIN_MEMORY_OUT;
    }
    *ret_address = range.base;
    return PLIM_STANDIN_MEMORY_OK;
}

plim_standin_memory_status plim_standin_memory_unreserve(uint64_t address, uint64_t bytes)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;
    plim_standin_range range;

    pthread_mutex_lock(&lock);
    const plim_standin_range *found = plim_standin_ranges_find(&reservations, address);
    if (found != NULL && found->bytes == bytes &&
        plim_standin_ranges_remove(&reservations, address, &range)) {
        status = PLIM_STANDIN_MEMORY_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static bool make_room_for_physical(void)
{
    if (physical_count < physical_capacity) {
        return true;
    }
    const size_t capacity = physical_capacity == 0 ? 64 : physical_capacity * 2;
    physical *grown = realloc(physicals, capacity * sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    physicals = grown;
    physical_capacity = capacity;
    return true;
}

/* NULL: no such handle, or all of it has gone back to the device. */
static physical *physical_of(uint64_t handle)
{
    if (handle == 0 || handle > physical_count || physicals[handle - 1].references == 0) {
        return NULL;
    }
    return &physicals[handle - 1];
}

static void drop_reference(physical *memory)
{
    memory->references--;
    if (memory->references == 0) {
        used_bytes[memory->device] -= memory->bytes;
    }
}

plim_standin_memory_status plim_standin_memory_physical_create(int device, uint64_t bytes,
                                                               uint64_t *ret_handle)
{
    if (!is_device(device) || bytes == 0 || bytes % PLIM_STANDIN_PAGE_BYTES != 0) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_OUT;

    pthread_mutex_lock(&lock);
    if (fits(device, bytes) && make_room_for_physical()) {
        physicals[physical_count] = (physical){ .bytes = bytes, .references = 1, .device = device };
        physical_count++; /* handles are not used again: a stale one stays stale */
        used_bytes[device] += bytes;
        *ret_handle = physical_count;
        status = PLIM_STANDIN_MEMORY_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_physical_release(uint64_t handle)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;

    pthread_mutex_lock(&lock);
    physical *memory = physical_of(handle);
    if (memory != NULL && !memory->is_released) {
        memory->is_released = true;
        drop_reference(memory);
        status = PLIM_STANDIN_MEMORY_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_map(uint64_t address, uint64_t bytes,
                                                   uint64_t handle)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;

    pthread_mutex_lock(&lock);
    const plim_standin_range *room = plim_standin_ranges_find(&reservations, address);
    physical *memory = physical_of(handle);
    if (room != NULL && memory != NULL && memory->bytes == bytes &&
        bytes <= room->base + room->bytes - address) {
        const plim_standin_range mapping = { address, bytes, handle, memory->device };
        if (plim_standin_ranges_insert(&mappings, mapping)) {
            memory->references++;
            status = PLIM_STANDIN_MEMORY_OK;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_unmap(uint64_t address, uint64_t bytes)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_OK;
    const uint64_t end = address + bytes;
    uint64_t at = address;

    pthread_mutex_lock(&lock);
    while (at < end) {
        const plim_standin_range *found = plim_standin_ranges_find(&mappings, at);
        plim_standin_range mapping;
        if (found == NULL || found->bytes > end - at ||
            !plim_standin_ranges_remove(&mappings, at, &mapping)) {
            status = PLIM_STANDIN_MEMORY_INVALID;
            break;
        }
        physical *memory = physical_of(mapping.handle);
        assert(memory != NULL); /* the mapping itself is a reference */
        drop_reference(memory);
        at += mapping.bytes;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

bool plim_standin_memory_find(uint64_t address, int *ret_device, uint64_t *ret_base,
                              uint64_t *ret_bytes)
{
    pthread_mutex_lock(&lock);
    const plim_standin_ranges *set = allocations_of(address);
    const plim_standin_range *range =
        plim_standin_ranges_find(set != NULL ? set : &mappings, address);
    const bool is_found = range != NULL;
    if (is_found) {
        *ret_device = range->device;
        *ret_base = range->base;
        *ret_bytes = range->bytes;
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

bool plim_standin_memory_is_device_address(uint64_t address)
{
    return address - RESERVATIONS_BASE < RESERVATIONS_BYTES + ALLOCATIONS_BYTES;
}
