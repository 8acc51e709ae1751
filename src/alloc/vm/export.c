/*
 * export.c - handles of expandable segments, for other processes (shareIpcHandle).
 */
#include "alloc/core/world.h"
#include "base/assert.h"
#include "base/error.h"

#include <string.h>
#include <unistd.h>

#define FD_BYTES     4
#define FABRIC_BYTES 64

static size_t entry_bytes(plim_share share)
{
    return share == PLIM_SHARE_FD ? FD_BYTES : FABRIC_BYTES;
}

static plim_status describe(const plim_heap *heap, const plim_heap_block *block,
                            plim_export *ret_export, plim_error *err)
{
    const plim_segment_record *segment = block->segment;
    const plim_share share = heap->allocator->expandable_share;
    if (segment->expandable == NULL) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "this block is plain memory and has no handles; set "
                         "expandable_segments:True");
    }
    if (share == PLIM_SHARE_NONE) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "handles cannot leave the process; make the allocator with "
                         "expandable_share");
    }
    const uint64_t handle_bytes = segment->expandable->handle_bytes;
    const uint64_t first = (block->addr - segment->addr) / handle_bytes;
    const uint64_t last = (block->addr + block->bytes - 1 - segment->addr) / handle_bytes;
    *ret_export = (plim_export){ .addr = segment->addr + first * handle_bytes,
                                 .handle_bytes = handle_bytes,
                                 .handle_count = last - first + 1,
                                 .share = share };
    return PLIM_OK;
}

/* Closes what was exported before a failure. */
static void take_back(const plim_export *what, const unsigned char *data, uint64_t count)
{
    for (uint64_t i = 0; what->share == PLIM_SHARE_FD && i < count; i++) {
        int fd = -1;
        memcpy(&fd, data + i * FD_BYTES, sizeof fd);
        (void)close(fd);
    }
}

static plim_status export_all(const plim_heap *heap, const plim_heap_block *block,
                              const plim_export *what, unsigned char *data, plim_error *err)
{
    const plim_segment_record *segment = block->segment;
    PLIM_ASSERT(what->handle_bytes > 0);
    const uint64_t first = (what->addr - segment->addr) / what->handle_bytes;
    for (uint64_t i = 0; i < what->handle_count; i++) {
        const plim_status status = heap->device.ops->handle_export(
            heap->device.self, segment->expandable->handles[first + i], what->share,
            data + i * entry_bytes(what->share), err);
        if (status != PLIM_OK) {
            take_back(what, data, i);
            return status;
        }
    }
    return PLIM_OK;
}

plim_status plim_export_block(plim_allocator *allocator, plim_addr addr, void *data, size_t bytes,
                              plim_export *ret_export, plim_error *err)
{
    plim_heap_block *block = NULL;
    plim_heap *heap = plim_stop_world_of(allocator, addr, &block);
    if (heap == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "invalid device pointer: it is not a live block");
    }
    PLIM_WORLD_HELD(heap);
    plim_export what = { 0 };
    PLIM_TRY(describe(heap, block, &what, err));
    if (data != NULL) {
        if (what.handle_count * entry_bytes(what.share) > bytes) {
            return plim_fail(err, PLIM_LIMIT, "no room for %zu handles", (size_t)what.handle_count);
        }
        PLIM_TRY(export_all(heap, block, &what, data, err));
    }
    *ret_export = what;
    return PLIM_OK;
}
