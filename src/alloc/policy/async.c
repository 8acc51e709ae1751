/*
 * async.c - a stream-ordered pool, as cudaMallocAsync draws from. See
 * docs/design/policies.md for what is modelled and what is not.
 *
 *   stream 1   | range: small |  | range: large |      best fit in the stream's own, at once
 *   stream 2   | range: small |  | range: large |      then in another's, if that is idle
 *                   └── pages of 2 MiB ──┘             then free pages of anywhere are mapped
 *                                                      where they are needed; then new ones
 */
#include "alloc/core/free.h"
#include "alloc/core/place.h"
#include "alloc/policy/policies.h"
#include "alloc/vm/expandable.h"
#include "alloc/vm/release.h"
#include "base/error.h"
#include "device/books.h"
#include "settings/rounding.h"

/* The known progress of a stream. Asking takes an event: it is recorded when a request first wants
 * what the stream freed, and what was freed before is done when it has happened. */
typedef struct mark {
    plim_stream stream;
    bool is_waiting; /* for the fence */
    plim_fence fence;
    uint64_t frees;         /* on the stream, so far */
    uint64_t frees_waiting; /* … when the fence was recorded */
    uint64_t frees_done;    /* … that are known to be done */
} mark;

typedef struct async_pool {
    PLIM_VEC(mark) marks;
    plim_pages pages;
} async_pool;

static plim_status init(plim_heap *heap, plim_error *err)
{
    async_pool *state = plim_mem_alloc_zeroed(heap->allocator->mem, 1, sizeof *state);
    if (state == NULL) {
        return plim_fail_memory(err, "making an allocator");
    }
    plim_pages_init(&state->pages, heap, PLIM_DEVICE_GRANULARITY_BYTES);
    heap->policy_state = state;
    return PLIM_OK;
}

static void deinit(plim_heap *heap)
{
    async_pool *state = heap->policy_state;
    if (state == NULL) {
        return;
    }
    for (size_t i = 0; i < state->marks.count; i++) {
        if (state->marks.items[i].is_waiting) {
            plim_fence_put(heap, state->marks.items[i].fence);
        }
    }
    plim_pages_deinit(&state->pages, heap);
    PLIM_VEC_FREE(heap->allocator->mem, &state->marks);
    plim_mem_free(heap->allocator->mem, state, 1, sizeof *state);
}

/* NULL: no host memory. What was freed by a stream that has no mark yet is not known to be done. */
static mark *mark_of(plim_heap *heap, plim_stream stream)
{
    async_pool *state = heap->policy_state;
    for (size_t i = 0; i < state->marks.count; i++) {
        if (state->marks.items[i].stream == stream) {
            return &state->marks.items[i];
        }
    }
    const mark new_mark = { .stream = stream, .frees = 1 };
    return PLIM_VEC_PUSH(heap->allocator->mem, &state->marks, new_mark)
               ? &state->marks.items[state->marks.count - 1]
               : NULL;
}

static plim_status begin_waiting(plim_heap *heap, mark *of, plim_error *err)
{
    const plim_device *device = &heap->device;
    PLIM_TRY(plim_fence_get(heap, &of->fence, err));
    const plim_status status = device->ops->fence_record(device->self, of->fence, of->stream, err);
    if (status != PLIM_OK) {
        plim_fence_put(heap, of->fence);
        return status;
    }
    of->is_waiting = true;
    of->frees_waiting = of->frees;
    return PLIM_OK;
}

/* True if the fence has happened; then nothing is waited for. */
static plim_status look(plim_heap *heap, mark *of, plim_error *err)
{
    bool is_complete = false;
    PLIM_TRY(heap->device.ops->fence_query(heap->device.self, of->fence, &is_complete, err));
    if (is_complete) {
        of->is_waiting = false;
        of->frees_done = of->frees_waiting;
        plim_fence_put(heap, of->fence);
    }
    return PLIM_OK;
}

/* True if all that a stream freed is done, as far as is known without waiting. */
static plim_status is_done(plim_heap *heap, plim_stream stream, bool *ret_is_done, plim_error *err)
{
    *ret_is_done = false;
    if (heap->routings.count > 0) { /* nothing is asked during a capture */
        return PLIM_OK;
    }
    mark *of = mark_of(heap, stream);
    if (of == NULL) {
        return plim_fail_memory(err, "asking a stream");
    }
    if (of->is_waiting) {
        PLIM_TRY(look(heap, of, err));
    }
    if (!of->is_waiting && of->frees_done != of->frees) {
        PLIM_TRY(begin_waiting(heap, of, err));
        PLIM_TRY(look(heap, of, err));
    }
    *ret_is_done = of->frees_done == of->frees;
    return PLIM_OK;
}

/* --- the stream's own --- */

static plim_status prepare(plim_request *request, plim_error *err)
{
    request->rounded_bytes = plim_policy_round(request, PLIM_BLOCK_BYTES_MIN);
    request->segment_bytes = (request->rounded_bytes + PLIM_DEVICE_GRANULARITY_BYTES - 1) &
                             ~(PLIM_DEVICE_GRANULARITY_BYTES - 1);
    request->is_expandable = true;
    return plim_policy_use_shelf(request, request->rounded_bytes <= PLIM_SMALL_BYTES_MAX,
                                 request->stream, err);
}

static uint64_t split_of(uint64_t block_bytes, uint64_t wanted)
{
    return block_bytes > wanted ? wanted : 0;
}

static plim_free_cursor fit(const plim_shelf *shelf, uint64_t rounded_bytes,
                            uint64_t *ret_split_bytes)
{
    const plim_free_cursor cursor = plim_free_set_at_least(&shelf->blocks, rounded_bytes, 0);
    if (cursor.leaf != NULL) {
        *ret_split_bytes = split_of(cursor.leaf->entries[cursor.index].bytes, rounded_bytes);
    }
    return cursor;
}

static plim_heap_block *find(const plim_request *request)
{
    return plim_policy_best_fit(request->shelf, request->rounded_bytes);
}

static uint64_t split(const plim_request *request, const plim_heap_block *block)
{
    return split_of(block->bytes, request->rounded_bytes);
}

/* --- other streams' --- */

/* The first stream's block that fits and may be had; *ret_block stays as it is where none does.
 */
static plim_status borrow(const plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    const plim_pool *pool = request->shelf->pool;
    for (size_t i = 0; i < pool->shelves.count; i++) {
        plim_shelf *shelf = pool->shelves.items[i];
        if (shelf == request->shelf) {
            continue;
        }
        if (!plim_free_set_settle(&shelf->blocks)) {
            return plim_fail_memory(err, "looking for a free block");
        }
        if (plim_free_set_at_least(&shelf->blocks, request->rounded_bytes, 0).leaf == NULL) {
            continue;
        }
        bool is_open = false;
        PLIM_TRY(is_done(request->heap, shelf->stream, &is_open, err));
        if (is_open) {
            *ret_block = plim_policy_best_fit(shelf, request->rounded_bytes);
            return PLIM_OK;
        }
    }
    return PLIM_OK;
}

/* --- pages --- */

/* The place where memory is about to be mapped: blocks there and beside stay as they are. */
typedef struct room {
    const plim_segment_record *segment;
    plim_addr from;
    plim_addr to;
    uint64_t missing; /* pages */
} room;

static room room_at(const plim_heap_block *block, uint64_t bytes)
{
    room found = { .segment = block->segment, .from = block->addr, .to = block->addr };
    for (uint64_t left = bytes; left > 0; block = block->next) {
        const uint64_t used = left < block->bytes ? left : block->bytes;
        found.missing += block->is_mapped ? 0
                                          : (used + PLIM_DEVICE_GRANULARITY_BYTES - 1) /
                                                PLIM_DEVICE_GRANULARITY_BYTES;
        left -= used;
        found.to = block->addr + block->bytes;
    }
    return found;
}

static bool is_in_room(const room *where, const plim_heap_block *block)
{
    return where != NULL && block->segment == where->segment && block->addr <= where->to &&
           block->addr + block->bytes >= where->from;
}

/* The aim of a search for free pages, and the blocks it may touch. */
typedef struct page_search {
    uint64_t wanted;   /* pages */
    const room *where; /* they are for, or NULL */
    plim_pages *kept;  /* where they are kept for it; NULL: they go back to the driver */
    uint32_t stack;
} page_search;

static plim_heap_block *block_before(const plim_free_set *set, uint64_t bytes, plim_addr addr)
{
    const plim_free_cursor at = plim_free_set_at_least(set, bytes, addr);
    return plim_free_cursor_block(at.leaf != NULL ? plim_free_cursor_previous(at)
                                                  : plim_free_set_last(set));
}

/* Unmaps free pages of a shelf, those of the largest blocks first. */
static plim_status take_from(plim_shelf *shelf, page_search *todo, plim_error *err)
{
    const plim_free_set *set = &shelf->blocks;
    plim_heap_block *block = plim_free_cursor_block(plim_free_set_last(set));
    while (block != NULL && block->bytes >= PLIM_DEVICE_GRANULARITY_BYTES && todo->wanted > 0) {
        const uint64_t bytes = block->bytes;
        const plim_addr addr = block->addr;
        const uint64_t pages =
            plim_block_is_expandable(block) && !is_in_room(todo->where, block)
                ? plim_expandable_releasable(block) / PLIM_DEVICE_GRANULARITY_BYTES
                : 0;
        if (pages > 0) {
            const uint64_t count = pages < todo->wanted ? pages : todo->wanted;
            PLIM_TRY(plim_expandable_take(block, count, todo->kept, todo->stack, err));
            todo->wanted -= count;
        }
        block = block_before(set, bytes, addr);
    }
    return PLIM_OK;
}

static bool has_page(const plim_shelf *shelf)
{
    const plim_heap_block *last = plim_free_cursor_block(plim_free_set_last(&shelf->blocks));
    return last != NULL && last->bytes >= PLIM_DEVICE_GRANULARITY_BYTES;
}

/* The same for all shelves of a size class whose stream is done with them. Unmapping what a stream
 * may still use would be an error, so the request's own stream is waited for. */
static plim_status take_from_pool(plim_heap *heap, const plim_pool *pool, const plim_stream *own,
                                  page_search *todo, plim_error *err)
{
    for (size_t i = 0; i < pool->shelves.count && todo->wanted > 0; i++) {
        plim_shelf *shelf = pool->shelves.items[i];
        if (!plim_free_set_settle(&shelf->blocks)) {
            return plim_fail_memory(err, "looking for free pages");
        }
        if (!has_page(shelf)) {
            continue;
        }
        bool is_open = own != NULL && shelf->stream == *own;
        if (is_open) {
            PLIM_TRY(heap->device.ops->stream_synchronize(heap->device.self, *own, err));
        } else {
            PLIM_TRY(is_done(heap, shelf->stream, &is_open, err));
        }
        if (is_open) {
            PLIM_TRY(take_from(shelf, todo, err));
        }
    }
    return PLIM_OK;
}

static plim_status take_pages(plim_heap *heap, const plim_stream *own, page_search *todo,
                              plim_error *err)
{
    PLIM_TRY(take_from_pool(heap, &heap->large, own, todo, err));
    return take_from_pool(heap, &heap->small, own, todo, err);
}

/* Memory in one piece: from free pages that lie elsewhere, and new ones for the rest. */
static plim_attempt grow(const plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = request->heap;
    if (request->rounded_bytes > heap->properties.total_bytes) { /* no range is so long */
        return PLIM_ATTEMPT_NO_MEMORY;
    }
    plim_heap_block *start = NULL;
    plim_attempt attempt =
        plim_expandable_room(request->shelf, request->rounded_bytes, &start, err);
    if (attempt != PLIM_ATTEMPT_DONE) {
        return attempt;
    }
    const room where = room_at(start, request->rounded_bytes);
    async_pool *state = heap->policy_state;
    page_search todo = {
        .wanted = where.missing, .where = &where, .kept = &state->pages, .stack = request->stack
    };
    if (where.missing > heap->properties.total_bytes / PLIM_DEVICE_GRANULARITY_BYTES) {
        return PLIM_ATTEMPT_NO_MEMORY;
    }
    if (!plim_pages_room(&state->pages, heap->allocator->mem, where.missing)) {
        (void)plim_fail_memory(err, "moving pages");
        return PLIM_ATTEMPT_FAILED;
    }
    if (take_pages(heap, &request->stream, &todo, err) != PLIM_OK) {
        attempt = PLIM_ATTEMPT_FAILED;
    } else if (!plim_policy_may_take(heap, where.missing * PLIM_DEVICE_GRANULARITY_BYTES)) {
        attempt = PLIM_ATTEMPT_NO_MEMORY;
    } else {
        attempt =
            plim_expandable_fill(start, request->rounded_bytes, request->stack, ret_block, err);
    }
    plim_pages_drop(&state->pages, heap);
    return attempt;
}

static plim_attempt obtain(plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = request->heap;
    plim_heap_block *block = NULL;
    if (borrow(request, &block, err) != PLIM_OK) {
        return PLIM_ATTEMPT_FAILED;
    }
    if (block != NULL) {
        *ret_block = block;
        return PLIM_ATTEMPT_DONE;
    }
    const plim_attempt attempt = grow(request, ret_block, err);
    if (attempt != PLIM_ATTEMPT_NO_MEMORY || heap->routings.count > 0) {
        return attempt;
    }
    /* Everything is waited for and every free page trimmed; then there may be a place, or the
     * driver has what is missing. */
    heap->stats.num_alloc_retries++;
    if (plim_release_cached(heap, (plim_pool_id){ 0, 0 }, request->stack, err) != PLIM_OK ||
        borrow(request, &block, err) != PLIM_OK) {
        return PLIM_ATTEMPT_FAILED;
    }
    *ret_block = block != NULL ? block : find(request);
    return *ret_block != NULL ? PLIM_ATTEMPT_DONE : grow(request, ret_block, err);
}

/* --- afterwards --- */

/* A block borrowed from another stream's range is free there when this stream is done with it. */
static plim_status freed(plim_heap *heap, plim_heap_block *block, plim_stream home, plim_error *err)
{
    const plim_stream stream = plim_shelf_of(block)->stream;
    if (home != stream) {
        return plim_use_add_home(heap, block, home, err);
    }
    mark *of = mark_of(heap, stream);
    if (of == NULL) { /* freeing must not fail for that; a new mark will know nothing */
        return PLIM_OK;
    }
    of->frees++;
    return PLIM_OK;
}

static void lane_freed(const plim_lane *lane, uint64_t count)
{
    mark *of = mark_of(lane->heap, lane->stream);
    if (of != NULL) {
        of->frees += count;
    }
}

/* Free memory of the pool above its threshold goes back. */
static plim_status synchronized(plim_heap *heap, plim_error *err)
{
    uint64_t held = heap->reserved_bytes;
    for (size_t i = 0; i < heap->private_pools.count; i++) {
        held -= (uint64_t)heap->private_pools.items[i]->reserved[PLIM_SLOT_ALL].current;
    }
    const uint64_t kept = heap->allocator->release_threshold_bytes;
    if (held <= kept || heap->routings.count > 0) {
        return PLIM_OK;
    }
    page_search todo = { .wanted = (held - kept + PLIM_DEVICE_GRANULARITY_BYTES - 1) /
                                   PLIM_DEVICE_GRANULARITY_BYTES,
                         .stack = PLIM_NONE };
    return take_pages(heap, NULL, &todo, err);
}

const plim_policy plim_policy_async = {
    .prepare = prepare,
    .find = find,
    .obtain = obtain,
    .split = split,
    .freed = freed,
    .synchronized = synchronized,
    .init = init,
    .deinit = deinit,
    .fit = fit,
    .unit_bytes = PLIM_BLOCK_BYTES_MIN,
    .small_bytes_max = PLIM_SMALL_BYTES_MAX,
    .lane_freed = lane_freed,
};
