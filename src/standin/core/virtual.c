/*
 * virtual.c - addresses and memory apart, and the mappings that join them. See memory.h.
 */
#include "base/assert.h"
#include "standin/core/calls.h"
#include "standin/core/devices.h"
#include "standin/core/memory.h"
#include "standin/core/ranges.h"
#include "standin/core/shadow.h"
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One cuMemCreate. Its handle is its index plus one, so that zero is never a handle. */
typedef struct physical {
    uint64_t bytes;
    uint64_t holder_count;  /* its maker, and who retained it */
    uint64_t mapping_count; /* with no holder and no mapping it has gone back */
    int device;
} physical;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_standin_ranges reservations;
static plim_standin_ranges mappings; /* lie inside reservations; their handle is a physical's */
static physical *physicals;
static size_t physical_count;
static size_t physical_capacity;

static _Atomic uint64_t largest[PLIM_STAGE_DEVICES_MAX];

uint64_t plim_standin_memory_largest(int device)
{
    return plim_standin_is_device(device) ? atomic_load(&largest[device]) : 0;
}

void plim_standin_memory_note_piece(int device, uint64_t bytes)
{
    uint64_t before = atomic_load(&largest[device]);
    while (before < bytes && !atomic_compare_exchange_weak(&largest[device], &before, bytes)) {
    }
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
    plim_standin_range range = { .bytes = bytes };

    (void)pthread_mutex_lock(&lock);
    const bool is_placed = plim_standin_ranges_place(
        &reservations, plim_standin_window_of_reservations(), alignment, &range);
    (void)pthread_mutex_unlock(&lock);
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

    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *found = plim_standin_ranges_find(&reservations, address);
    const plim_standin_range *mapping = plim_standin_ranges_from(&mappings, address);
    if (found != NULL && found->base == address && found->bytes == bytes &&
        (mapping == NULL || mapping->base - address >= bytes)) {
        (void)plim_standin_ranges_remove(&reservations, address, &range);
        status = PLIM_STANDIN_MEMORY_OK;
    }
    (void)pthread_mutex_unlock(&lock);
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
    if (handle == 0 || handle > physical_count) {
        return NULL;
    }
    physical *memory = &physicals[handle - 1];
    return memory->holder_count + memory->mapping_count > 0 ? memory : NULL;
}

static void give_back_unused(const physical *memory)
{
    if (memory->holder_count + memory->mapping_count == 0) {
        plim_stage_give(plim_standin_stage(), plim_standin_device_on_stage(memory->device),
                        PLIM_STAGE_PROGRAM, memory->bytes);
    }
}

plim_standin_memory_status plim_standin_memory_physical_create(int device, uint64_t bytes,
                                                               uint64_t *ret_handle)
{
    if (!plim_standin_is_device(device) || bytes == 0 || bytes % PLIM_STANDIN_PAGE_BYTES != 0) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_OUT;

    plim_standin_calls_flush_now_and_then();
    (void)pthread_mutex_lock(&lock);
    if (make_room_for_physical() &&
        plim_stage_take(plim_standin_stage(), plim_standin_device_on_stage(device),
                        PLIM_STAGE_PROGRAM, bytes)) {
        physicals[physical_count] =
            (physical){ .bytes = bytes, .holder_count = 1, .device = device };
        physical_count++; /* handles are not used again: a stale one stays stale */
        *ret_handle = physical_count;
        status = PLIM_STANDIN_MEMORY_OK;
        plim_standin_memory_note_piece(device, UINT64_MAX); /* one block may lie in all of them */
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_physical_release(uint64_t handle)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;

    (void)pthread_mutex_lock(&lock);
    physical *memory = physical_of(handle);
    if (memory != NULL && memory->holder_count > 0) {
        memory->holder_count--;
        give_back_unused(memory);
        status = PLIM_STANDIN_MEMORY_OK;
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_physical_retain(uint64_t address,
                                                               uint64_t *ret_handle)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;

    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *mapping = plim_standin_ranges_find(&mappings, address);
    if (mapping != NULL) {
        physical_of(mapping->handle)->holder_count++;
        *ret_handle = mapping->handle;
        status = PLIM_STANDIN_MEMORY_OK;
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_physical_device(uint64_t handle, int *ret_device)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;

    (void)pthread_mutex_lock(&lock);
    const physical *memory = physical_of(handle);
    if (memory != NULL) {
        *ret_device = memory->device;
        status = PLIM_STANDIN_MEMORY_OK;
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

plim_standin_memory_status plim_standin_memory_map(uint64_t address, uint64_t bytes,
                                                   uint64_t handle)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;

    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *room = plim_standin_ranges_find(&reservations, address);
    physical *memory = physical_of(handle);
    if (room != NULL && memory != NULL && memory->bytes == bytes &&
        address % PLIM_STANDIN_PAGE_BYTES == 0 && bytes <= room->base + room->bytes - address) {
        const plim_standin_range mapping = { address, bytes, handle, memory->device };
        if (plim_standin_ranges_insert(&mappings, mapping)) {
            memory->mapping_count++;
            status = PLIM_STANDIN_MEMORY_OK;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

/* Mappings, without gaps, from the address to exactly the end? The lock is held. */
static bool is_tiled(uint64_t address, uint64_t bytes)
{
    const plim_standin_range *mapping = plim_standin_ranges_find(&mappings, address);
    if (mapping == NULL || mapping->base != address) {
        return false;
    }
    uint64_t at = address;
    const plim_standin_range *end = plim_standin_ranges_end(&mappings);
    while (mapping < end && mapping->base == at && at - address < bytes) {
        at += mapping->bytes;
        mapping++;
    }
    return at - address == bytes;
}

plim_standin_memory_status plim_standin_memory_unmap(uint64_t address, uint64_t bytes)
{
    (void)pthread_mutex_lock(&lock);
    const bool is_whole = is_tiled(address, bytes);
    for (uint64_t at = address; is_whole && at - address < bytes;) {
        plim_standin_range mapping = { 0 };
        (void)plim_standin_ranges_remove(&mappings, at, &mapping);
        physical *memory = physical_of(mapping.handle);
        PLIM_ASSERT(memory != NULL); /* the mapping itself kept it */
        memory->mapping_count--;
        give_back_unused(memory);
        at += mapping.bytes;
    }
    (void)pthread_mutex_unlock(&lock);
    if (!is_whole) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    plim_standin_shadow_forget(address, bytes);
    return PLIM_STANDIN_MEMORY_OK;
}

bool plim_standin_memory_is_mapped(uint64_t address, uint64_t bytes)
{
    (void)pthread_mutex_lock(&lock);
    uint64_t at = address;
    const plim_standin_range *mapping = plim_standin_ranges_find(&mappings, at);
    while (mapping != NULL && at - address < bytes) {
        at = mapping->base + mapping->bytes;
        mapping = plim_standin_ranges_find(&mappings, at);
    }
    (void)pthread_mutex_unlock(&lock);
    return at - address >= bytes;
}

bool plim_standin_memory_find_mapping(uint64_t address, plim_standin_place *ret)
{
    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *mapping = plim_standin_ranges_find(&mappings, address);
    if (mapping != NULL) {
        *ret = (plim_standin_place){ mapping->base, mapping->bytes, mapping->device };
    }
    (void)pthread_mutex_unlock(&lock);
    return mapping != NULL;
}
