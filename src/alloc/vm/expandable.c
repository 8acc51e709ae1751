/*
 * expandable.c - segments that grow and shrink by whole handles of physical memory (struct
 * ExpandableSegment).
 *
 *   range     |################|################|                |################|
 *   handles   |    mapped      |    mapped      |     none       |    mapped      |
 *   blocks    [ live ][ free          ][ live   ][ unmapped      ][ free          ]
 */
#include "alloc/vm/expandable.h"

#include "alloc/core/events.h"
#include "alloc/core/place.h"
#include "alloc/vm/segments.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/numbers.h"
#include "settings/rounding.h"

#include <inttypes.h>

typedef struct handle_run {
    uint64_t first;
    uint64_t end;
} handle_run;

static bool has_ops(const plim_heap *heap)
{
    return heap->device.ops->range_reserve != NULL && heap->properties.granularity_bytes > 0;
}

/* --- the range --- */

uint64_t plim_expandable_handle_bytes(const plim_shelf *shelf)
{
    if (shelf->pool->pages != NULL) {
        return shelf->pool->pages->page_bytes;
    }
    return shelf->pool->is_small ? PLIM_SMALL_SEGMENT_BYTES
                                 : shelf->heap->allocator->settings.large_segment_bytes;
}

/* The addresses that a segment reserves: 9/8 of the device, or as the settings say. */
static uint64_t reservation_bytes(const plim_heap *heap, uint64_t handle_bytes)
{
    const plim_settings *settings = &heap->allocator->settings;
    const uint64_t total = heap->properties.total_bytes;
    const uint64_t full = total + total / 8;
    uint64_t wanted = full;
    if (settings->expandable_segments_reserve_bytes > 0) {
        wanted = settings->expandable_segments_reserve_bytes;
    } else if (settings->expandable_segments_reserve_fraction > 0 &&
               settings->expandable_segments_reserve_fraction < 1.125) {
        wanted = (uint64_t)(settings->expandable_segments_reserve_fraction * (double)total);
    }
    wanted = wanted < full ? wanted : full;
    const uint64_t handles = (wanted + handle_bytes - 1) / handle_bytes;
    return (handles > 0 ? handles : 1) * handle_bytes;
}

uint64_t plim_expandable_range_bytes(const plim_shelf *shelf)
{
    return reservation_bytes(shelf->heap, plim_expandable_handle_bytes(shelf));
}

static void free_expandable(const plim_allocator *allocator, plim_expandable *expandable)
{
    plim_mem_free(allocator->mem, expandable->handles, (size_t)expandable->handle_count,
                  sizeof *expandable->handles);
    plim_mem_free(allocator->mem, expandable, 1, sizeof *expandable);
}

static plim_expandable *new_expandable(const plim_allocator *allocator, uint64_t handle_bytes,
                                       uint64_t handle_count)
{
    plim_expandable *expandable = plim_mem_alloc_zeroed(allocator->mem, 1, sizeof *expandable);
    if (expandable == NULL) {
        return NULL;
    }
    expandable->handle_bytes = handle_bytes;
    expandable->handle_count = handle_count;
    expandable->handles =
        plim_mem_alloc_zeroed(allocator->mem, (size_t)handle_count, sizeof *expandable->handles);
    if (expandable->handles == NULL) {
        plim_mem_free(allocator->mem, expandable, 1, sizeof *expandable);
        return NULL;
    }
    return expandable;
}

/* A new range, all of it one unmapped block in its set. */
static plim_attempt reserve(plim_shelf *shelf, plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = shelf->heap;
    plim_allocator *allocator = heap->allocator;
    const uint64_t handle_bytes = plim_expandable_handle_bytes(shelf);
    const uint64_t bytes = reservation_bytes(heap, handle_bytes);
    plim_addr addr = 0;
    const plim_status status =
        heap->device.ops->range_reserve(heap->device.self, bytes, &addr, err);
    if (status != PLIM_OK) {
        return PLIM_ATTEMPT_FAILED; /* of address space, even where the driver says of memory */
    }
    plim_expandable *expandable = new_expandable(allocator, handle_bytes, bytes / handle_bytes);
    plim_segment_record *segment =
        expandable != NULL ? plim_segment_add(shelf, addr, bytes, false) : NULL;
    if (segment == NULL) {
        if (expandable != NULL) {
            free_expandable(allocator, expandable);
        }
        (void)heap->device.ops->range_free(heap->device.self, addr, bytes, NULL);
        (void)plim_fail_memory(err, "adding an expandable segment");
        return PLIM_ATTEMPT_FAILED;
    }
    segment->expandable = expandable;
    shelf->had_expandable = true;
    plim_put_free(segment->head);
    *ret_block = segment->head;
    return PLIM_ATTEMPT_DONE;
}

/* --- handles --- */

static plim_addr address_of(const plim_segment_record *segment, uint64_t handle)
{
    return segment->addr + handle * segment->expandable->handle_bytes;
}

/* Forgets handles that were created but not mapped. */
static void release_created(plim_segment_record *segment, handle_run run)
{
    const plim_device *device = &plim_shelf_of_segment(segment)->heap->device;
    for (uint64_t i = run.first; i < run.end; i++) {
        (void)device->ops->handle_release(device->self, segment->expandable->handles[i], NULL);
        segment->expandable->handles[i] = 0;
    }
}

static bool is_transactional(const plim_segment_record *segment)
{
    const plim_shelf *shelf = plim_shelf_of_segment(segment);
    return shelf->heap->allocator->is_mapping_transactional || shelf->pool->pages != NULL;
}

/* A page that is on its way here, or a new handle. */
static plim_status get_handle(const plim_segment_record *segment, plim_handle *ret_handle,
                              plim_error *err)
{
    const plim_shelf *shelf = plim_shelf_of_segment(segment);
    const plim_heap *heap = shelf->heap;
    plim_pages *pages = shelf->pool->pages;
    if (pages != NULL && pages->moving.count > 0) {
        pages->moving.count--;
        *ret_handle = pages->moving.items[pages->moving.count];
        return PLIM_OK;
    }
    return heap->device.ops->handle_create(heap->device.self, segment->expandable->handle_bytes,
                                           heap->allocator->expandable_share, ret_handle, err);
}

/* True if all that a failed mapping made is taken back: mapping is transactional, or the host's
 * memory was short, of which PyTorch has no rule: its driver fails otherwise. */
static bool is_taken_back(const plim_segment_record *segment, plim_status status)
{
    return status == PLIM_OUT_OF_HOST_MEMORY || is_transactional(segment);
}

/* Out of memory leaves no handle. Other failures leave those that were created, as in PyTorch,
 * unless they are taken back. */
static plim_status create_handles(plim_segment_record *segment, handle_run run, plim_error *err)
{
    plim_expandable *expandable = segment->expandable;
    for (uint64_t i = run.first; i < run.end; i++) {
        if (expandable->handles[i] != 0) {
            return plim_fail(err, PLIM_IO,
                             "expandable segment at 0x%" PRIx64 ": a mapping failed half way "
                             "here before; make the allocator with is_mapping_transactional",
                             segment->addr);
        }
        plim_handle handle = 0;
        const plim_status status = get_handle(segment, &handle, err);
        if (status == PLIM_OUT_OF_DEVICE_MEMORY ||
            (status != PLIM_OK && is_taken_back(segment, status))) {
            release_created(segment, (handle_run){ run.first, i });
        }
        PLIM_TRY(status);
        expandable->handles[i] = handle;
    }
    return PLIM_OK;
}

static plim_status grant(const plim_segment_record *segment, handle_run run, int32_t accessor,
                         plim_error *err)
{
    const plim_heap *heap = plim_shelf_of_segment(segment)->heap;
    const uint64_t bytes = (run.end - run.first) * segment->expandable->handle_bytes;
    return heap->device.ops->set_access(heap->device.self, address_of(segment, run.first), bytes,
                                        accessor, err);
}

static int32_t ordinal_of(const plim_heap *heap, int32_t device)
{
    return heap->allocator->heaps[device].properties.ordinal;
}

static plim_status grant_all(const plim_segment_record *segment, handle_run run, plim_error *err)
{
    const plim_heap *heap = plim_shelf_of_segment(segment)->heap;
    PLIM_TRY(grant(segment, run, heap->properties.ordinal, err));
    for (size_t i = 0; i < heap->peers.count; i++) {
        PLIM_TRY(grant(segment, run, ordinal_of(heap, heap->peers.items[i]), err));
    }
    return PLIM_OK;
}

/* Unmaps handles one after the other and releases them, or moves them to `kept` (NULL: none). The
 * first error is kept; all are tried. */
static plim_status drop_handles(plim_segment_record *segment, handle_run run, plim_pages *kept,
                                plim_error *err)
{
    const plim_heap *heap = plim_shelf_of_segment(segment)->heap;
    plim_expandable *expandable = segment->expandable;
    plim_status first = PLIM_OK;
    for (uint64_t i = run.first; i < run.end; i++) {
        plim_status status =
            heap->device.ops->unmap(heap->device.self, address_of(segment, i),
                                    expandable->handle_bytes, first == PLIM_OK ? err : NULL);
        first = first == PLIM_OK ? status : first;
        if (kept != NULL && status == PLIM_OK) {
            kept->moving.items[kept->moving.count] = expandable->handles[i];
            kept->moving.count++;
            expandable->handles[i] = 0;
            continue;
        }
        status = heap->device.ops->handle_release(heap->device.self, expandable->handles[i],
                                                  first == PLIM_OK ? err : NULL);
        first = first == PLIM_OK ? status : first;
        expandable->handles[i] = 0;
    }
    return first;
}

/* Maps each handle of a run and grants access; *ret_mapped counts those that are mapped. */
static plim_status map_run(plim_segment_record *segment, handle_run run, uint64_t *ret_mapped,
                           plim_error *err)
{
    const plim_heap *heap = plim_shelf_of_segment(segment)->heap;
    const plim_expandable *expandable = segment->expandable;
    for (uint64_t i = run.first; i < run.end; i++) {
        PLIM_TRY(heap->device.ops->map(heap->device.self, address_of(segment, i),
                                       expandable->handle_bytes, expandable->handles[i], err));
        (*ret_mapped)++;
    }
    return grant_all(segment, run, err);
}

/* Maps whole handles. A failure half way leaves them half mapped, as in PyTorch
 * (its issue 188008), or is taken back and called out of memory, if mapping is transactional. */
static plim_status map_handles(plim_segment_record *segment, handle_run run, plim_error *err)
{
    PLIM_TRY(create_handles(segment, run, err));
    uint64_t mapped = 0;
    const plim_status status = map_run(segment, run, &mapped, err);
    if (status == PLIM_OK) {
        segment->expandable->mapped_bytes +=
            (run.end - run.first) * segment->expandable->handle_bytes;
        return PLIM_OK;
    }
    if (!is_taken_back(segment, status)) {
        return status == PLIM_OUT_OF_DEVICE_MEMORY ? PLIM_IO : status;
    }
    (void)drop_handles(segment, (handle_run){ run.first, run.first + mapped }, NULL, NULL);
    release_created(segment, (handle_run){ run.first + mapped, run.end });
    return status == PLIM_OUT_OF_HOST_MEMORY ? status : PLIM_OUT_OF_DEVICE_MEMORY;
}

/* --- growing --- */

/* Maps at least `bytes` from the start of an unmapped block, which becomes free and mapped, and is
 * in no set. */
static plim_attempt map_front(plim_heap_block *block, uint64_t bytes, uint32_t stack,
                              plim_error *err)
{
    plim_segment_record *segment = block->segment;
    plim_shelf *shelf = plim_shelf_of(block);
    plim_heap *heap = shelf->heap;
    const uint64_t handle_bytes = segment->expandable->handle_bytes;
    const plim_addr addr = block->addr;
    const uint64_t first = (addr - segment->addr) / handle_bytes;
    const uint64_t count = (bytes + handle_bytes - 1) / handle_bytes;
    if (!plim_slab_fill(&heap->allocator->blocks, &heap->spare, 1)) {
        (void)plim_fail_memory(err, "mapping memory");
        return PLIM_ATTEMPT_FAILED;
    }
    const plim_status status = map_handles(segment, (handle_run){ first, first + count }, err);
    if (status != PLIM_OK) {
        return status == PLIM_OUT_OF_DEVICE_MEMORY ? PLIM_ATTEMPT_NO_MEMORY : PLIM_ATTEMPT_FAILED;
    }
    const uint64_t mapped_bytes = count * handle_bytes;
    plim_take_free(block);
    block->is_mapped = true;
    if (mapped_bytes < block->bytes) {
        plim_heap_block *rest = plim_block_new(&heap->spare);
        PLIM_ASSERT(rest != NULL);
        *rest = (plim_heap_block){ .addr = addr + mapped_bytes,
                                   .bytes = block->bytes - mapped_bytes,
                                   .segment = segment,
                                   .stack = PLIM_NONE };
        plim_splice(rest, block, block->next);
        plim_put_free(rest);
        block->bytes = mapped_bytes;
    }
    plim_segment_count(shelf, (int64_t)mapped_bytes);
    heap->stats.num_device_alloc++;
    plim_emit(heap, shelf->pool,
              &(plim_event){ .action = PLIM_SEGMENT_MAP,
                             .addr = addr,
                             .bytes = mapped_bytes,
                             .stream = shelf->stream,
                             .stack = stack });
    return PLIM_ATTEMPT_DONE;
}

/* The first block of a range has the stack of what mapped it first. */
static void set_cause(plim_heap_block *block, uint32_t stack)
{
    if (block->prev == NULL && block->cause == 0) {
        plim_segment_set_cause(block, stack);
    }
}

plim_attempt plim_expandable_map_apart(plim_heap_block *block, uint64_t bytes, uint32_t stack,
                                       plim_error *err)
{
    const plim_attempt attempt = map_front(block, bytes, stack, err);
    if (attempt == PLIM_ATTEMPT_DONE) {
        plim_put_free(block);
        set_cause(block, stack);
    }
    return attempt;
}

/* The same, and it is merged with its neighbours. */
static plim_attempt map_block(plim_heap_block *block, uint64_t bytes, uint32_t stack,
                              plim_error *err)
{
    const plim_attempt attempt = map_front(block, bytes, stack, err);
    if (attempt == PLIM_ATTEMPT_DONE) {
        plim_slab_list *spare = &plim_shelf_of(block)->heap->spare;
        (void)plim_merge(block, block->prev, spare);
        (void)plim_merge(block, block->next, spare);
        plim_put_free(block);
        set_cause(block, stack);
    }
    return attempt;
}

/* True if `bytes` can be had from a run of free and unmapped blocks that starts here. */
static bool has_room(const plim_heap_block *block, uint64_t bytes)
{
    uint64_t sum = 0;
    while (sum < bytes && plim_block_is_free(block)) {
        sum += block->bytes;
        block = block->next;
    }
    return sum >= bytes;
}

/* The lowest place with room, counting a free block right before an unmapped one. NULL: none. */
static plim_heap_block *find_room(const plim_shelf *shelf, uint64_t bytes)
{
    plim_free_cursor cursor = plim_free_set_begin(&shelf->unmapped);
    for (; plim_free_cursor_block(cursor) != NULL; cursor = plim_free_cursor_next(cursor)) {
        plim_heap_block *block = plim_free_cursor_block(cursor);
        block = plim_block_is_free(block->prev) ? block->prev : block;
        if (has_room(block, bytes)) {
            return block;
        }
    }
    return NULL;
}

static plim_status cannot_map(const plim_heap *heap, plim_error *err)
{
    return plim_fail(err, PLIM_UNSUPPORTED,
                     "expandable segments: device %d cannot map memory; set "
                     "expandable_segments:False",
                     (int)heap->index);
}

plim_attempt plim_expandable_room(plim_shelf *shelf, uint64_t bytes, plim_heap_block **ret_block,
                                  plim_error *err)
{
    if (!has_ops(shelf->heap)) {
        (void)cannot_map(shelf->heap, err);
        return PLIM_ATTEMPT_FAILED;
    }
    plim_heap_block *block = find_room(shelf, bytes);
    if (block == NULL) {
        return reserve(shelf, ret_block, err);
    }
    *ret_block = block;
    return PLIM_ATTEMPT_DONE;
}

plim_attempt plim_expandable_fill(plim_heap_block *block, uint64_t bytes, uint32_t stack,
                                  plim_heap_block **ret_block, plim_error *err)
{
    plim_attempt attempt = PLIM_ATTEMPT_DONE;
    if (!block->is_mapped) {
        attempt = map_block(block, plim_min(block->bytes, bytes), stack, err);
    }
    /* free -> unmapped -> …: what is mapped next merges with what was free before it */
    while (attempt == PLIM_ATTEMPT_DONE && block->bytes < bytes) {
        plim_heap_block *next = block->next;
        PLIM_ASSERT(next != NULL);
        attempt = map_block(next, plim_min(bytes - block->bytes, next->bytes), stack, err);
        block = next;
    }
    if (attempt == PLIM_ATTEMPT_DONE) {
        plim_take_free(block);
        *ret_block = block;
    }
    return attempt;
}

plim_attempt plim_expandable_alloc(plim_shelf *shelf, uint64_t bytes, uint32_t stack,
                                   plim_heap_block **ret_block, plim_error *err)
{
    plim_heap_block *room = NULL;
    const plim_attempt attempt = plim_expandable_room(shelf, bytes, &room, err);
    return attempt == PLIM_ATTEMPT_DONE ? plim_expandable_fill(room, bytes, stack, ret_block, err)
                                        : attempt;
}

/* --- as it was recorded --- */

plim_status plim_expandable_reserve(plim_shelf *shelf, plim_segment_record **ret_segment,
                                    plim_error *err)
{
    if (!has_ops(shelf->heap)) {
        return cannot_map(shelf->heap, err);
    }
    plim_heap_block *block = NULL;
    plim_error why = { .status = PLIM_OK };
    if (reserve(shelf, &block, &why) != PLIM_ATTEMPT_DONE) {
        if (err != NULL) {
            *err = why;
        }
        return why.status == PLIM_OK ? PLIM_IO : why.status;
    }
    plim_take_free(block);
    *ret_segment = block->segment;
    return PLIM_OK;
}

plim_status plim_expandable_map(plim_segment_record *segment, plim_addr addr, uint64_t bytes,
                                plim_error *err)
{
    const uint64_t handle_bytes = segment->expandable->handle_bytes;
    const uint64_t first = (addr - segment->addr) / handle_bytes;
    PLIM_ASSERT(address_of(segment, first) == addr);
    PLIM_ASSERT(bytes % handle_bytes == 0);
    return map_handles(segment, (handle_run){ first, first + bytes / handle_bytes }, err);
}

/* --- shrinking --- */

/* The handles that lie wholly inside a block; none: first is not before end. */
static handle_run run_inside(const plim_heap_block *block)
{
    const uint64_t handle_bytes = block->segment->expandable->handle_bytes;
    const uint64_t offset = block->addr - block->segment->addr;
    return (handle_run){ (offset + handle_bytes - 1) / handle_bytes,
                         (offset + block->bytes) / handle_bytes };
}

uint64_t plim_expandable_releasable(const plim_heap_block *block)
{
    const handle_run run = run_inside(block);
    return run.end > run.first ? (run.end - run.first) * block->segment->expandable->handle_bytes
                               : 0;
}

/* Cuts a piece off a free block that is in no set; the piece goes to its set. */
static void cut(plim_heap_block *block, plim_addr addr, uint64_t bytes, bool is_before)
{
    plim_heap *heap = plim_shelf_of(block)->heap;
    plim_heap_block *piece = plim_block_new(&heap->spare);
    PLIM_ASSERT(piece != NULL);
    *piece = (plim_heap_block){ .addr = addr,
                                .bytes = bytes,
                                .segment = block->segment,
                                .stack = PLIM_NONE,
                                .is_mapped = true };
    if (is_before) {
        plim_splice(piece, block->prev, block);
    } else {
        plim_splice(piece, block, block->next);
    }
    plim_put_free(piece);
}

/* The next run of handles from `from` on; false: none. */
static bool next_run(const plim_expandable *expandable, uint64_t from, handle_run *ret_run)
{
    while (from < expandable->handle_count && expandable->handles[from] == 0) {
        from++;
    }
    ret_run->first = from;
    while (from < expandable->handle_count && expandable->handles[from] != 0) {
        from++;
    }
    ret_run->end = from;
    return ret_run->first < ret_run->end;
}

/* Frees the range, and first what a failed mapping has left in it. */
static plim_status give_range_back(plim_segment_record *segment, plim_error *err)
{
    plim_shelf *shelf = plim_shelf_of_segment(segment);
    const plim_device *device = &shelf->heap->device;
    handle_run run = { 0, 0 };
    bool is_waited_for = false;
    while (next_run(segment->expandable, run.end, &run)) {
        if (!is_waited_for) {
            (void)device->ops->stream_synchronize(device->self, shelf->stream, NULL);
            is_waited_for = true;
        }
        (void)drop_handles(segment, run, NULL, NULL);
    }
    const plim_status status =
        device->ops->range_free(device->self, segment->addr, segment->bytes, err);
    free_expandable(shelf->heap->allocator, segment->expandable);
    segment->expandable = NULL;
    return status;
}

static plim_status remove_segment(plim_segment_record *segment, plim_error *err)
{
    plim_take_free(segment->head);
    const plim_status status = give_range_back(segment, err);
    plim_segment_remove(segment);
    return status;
}

/* Unmaps a run of handles inside a free block that is in its set. */
static plim_status shrink(plim_heap_block *block, handle_run run, plim_pages *kept, uint32_t stack,
                          plim_error *err)
{
    plim_segment_record *segment = block->segment;
    plim_shelf *shelf = plim_shelf_of(block);
    plim_heap *heap = shelf->heap;
    const plim_status status = drop_handles(segment, run, kept, err);
    const plim_addr addr = address_of(segment, run.first);
    const uint64_t bytes = (run.end - run.first) * segment->expandable->handle_bytes;
    segment->expandable->mapped_bytes -= bytes;
    plim_take_free(block);
    const uint64_t before = addr - block->addr;
    const uint64_t after = block->bytes - before - bytes;
    const plim_addr start = block->addr;
    block->addr = addr;
    block->bytes = bytes;
    if (before > 0) {
        cut(block, start, before, true);
    }
    if (after > 0) {
        cut(block, addr + bytes, after, false);
    }
    block->is_mapped = false;
    (void)plim_merge(block, block->prev, &heap->spare);
    (void)plim_merge(block, block->next, &heap->spare);
    plim_put_free(block);
    if (shelf->pool->owner != NULL) {
        shelf->pool->owner->driver_allocations--;
    }
    plim_segment_count(shelf, -(int64_t)bytes);
    heap->stats.num_device_free++;
    plim_emit(heap, shelf->pool,
              &(plim_event){ .action = PLIM_SEGMENT_UNMAP,
                             .addr = addr,
                             .bytes = bytes,
                             .stream = shelf->stream,
                             .stack = stack != PLIM_NONE ? stack : plim_cause_of(block) });
    if (!plim_block_is_split(block)) {
        const plim_status removed = remove_segment(segment, status == PLIM_OK ? err : NULL);
        return status == PLIM_OK ? removed : status;
    }
    return status;
}

plim_status plim_expandable_release(plim_heap_block *block, uint32_t stack, plim_error *err)
{
    const plim_shelf *shelf = plim_shelf_of(block);
    plim_heap *heap = shelf->heap;
    const handle_run run = run_inside(block);
    if (run.first >= run.end) {
        return PLIM_OK;
    }
    if (!plim_slab_fill(&heap->allocator->blocks, &heap->spare, 2)) {
        return plim_fail_memory(err, "unmapping memory");
    }
    /* Unmapping does not wait for the work that still uses the memory. */
    PLIM_TRY(heap->device.ops->stream_synchronize(heap->device.self, shelf->stream, err));
    return shrink(block, run, NULL, stack, err);
}

plim_status plim_expandable_take(plim_heap_block *block, uint64_t count, plim_pages *kept,
                                 uint32_t stack, plim_error *err)
{
    plim_heap *heap = plim_shelf_of(block)->heap;
    handle_run run = run_inside(block);
    PLIM_ASSERT(count > 0 && run.first + count <= run.end);
    run.first = run.end - count;
    PLIM_ASSERT(kept == NULL || kept->moving.count + count <= kept->moving.capacity);
    if (!plim_slab_fill(&heap->allocator->blocks, &heap->spare, 2)) {
        return plim_fail_memory(err, "unmapping memory");
    }
    return shrink(block, run, kept, stack, err);
}

/* --- the rest --- */

plim_status plim_expandable_share(plim_segment_record *segment, int32_t peer, plim_error *err)
{
    const plim_heap *heap = plim_shelf_of_segment(segment)->heap;
    handle_run run = { 0, 0 };
    while (next_run(segment->expandable, run.end, &run)) {
        PLIM_TRY(grant(segment, run, ordinal_of(heap, peer), err));
    }
    return PLIM_OK;
}

void plim_expandable_destroy(plim_segment_record *segment)
{
    (void)give_range_back(segment, NULL);
}
