/*
 * harden.c - canaries, poison and checks. See harden.h.
 */
#include "alloc/harden.h"

#include "alloc/check.h"
#include "base/error.h"

#include <inttypes.h>

#define LOOK_BYTES 4096 /* read at a time */

static bool has_canaries(const plim_heap *heap)
{
    return heap->allocator->hardening >= PLIM_HARDENING_CANARIES &&
           heap->properties.is_host_readable;
}

uint64_t plim_harden_room(const plim_heap *heap, uint64_t bytes)
{
    return has_canaries(heap) ? bytes + PLIM_CANARY_ROOM_BYTES : bytes;
}

void plim_harden_given(plim_heap *heap, const plim_heap_block *block)
{
    if (has_canaries(heap)) {
        (void)heap->device.ops->fill(heap->device.self, block->addr + block->requested_bytes,
                                     PLIM_CANARY_BYTE, block->bytes - block->requested_bytes,
                                     plim_shelf_of(block)->stream, NULL);
    }
}

/* The first of some bytes that is no canary, or `count`. */
static size_t first_damaged(const unsigned char *bytes, size_t count)
{
    size_t i = 0;
    while (i < count && bytes[i] == PLIM_CANARY_BYTE) {
        i++;
    }
    return i;
}

static plim_status look(plim_heap *heap, const plim_heap_block *block, plim_error *err)
{
    const uint64_t end = block->bytes;
    for (uint64_t at = block->requested_bytes; at < end;) {
        unsigned char bytes[LOOK_BYTES];
        const size_t count = end - at < LOOK_BYTES ? (size_t)(end - at) : LOOK_BYTES;
        PLIM_TRY(heap->device.ops->read(heap->device.self, bytes, block->addr + at, count, err));
        const size_t damaged = first_damaged(bytes, count);
        if (damaged < count) {
            return plim_fail(err, PLIM_CORRUPT,
                             "the block at 0x%" PRIx64 " was written to %" PRIu64
                             " bytes behind its %" PRIu64 " requested bytes: look for an index "
                             "that runs over",
                             block->addr, at + damaged - block->requested_bytes,
                             block->requested_bytes);
        }
        at += count;
    }
    return PLIM_OK;
}

plim_status plim_harden_given_back(plim_heap *heap, const plim_heap_block *block, plim_error *err)
{
    if (!has_canaries(heap)) {
        return PLIM_OK;
    }
    const plim_status status = look(heap, block, err);
    if (heap->allocator->hardening == PLIM_HARDENING_POISON) {
        (void)heap->device.ops->fill(heap->device.self, block->addr, PLIM_POISON_BYTE, block->bytes,
                                     plim_shelf_of(block)->stream, NULL);
    }
    return status;
}

plim_status plim_harden_check(plim_heap *heap, plim_error *err)
{
    return heap->allocator->hardening == PLIM_HARDENING_NONE ? PLIM_OK : plim_heap_check(heap, err);
}
