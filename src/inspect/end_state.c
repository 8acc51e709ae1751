/*
 * end_state.c - sums over segments, each segment's blocks first.
 */
#include "inspect/end_state.h"

#include "base/error.h"
#include "base/numbers.h"
#include "base/total.h"

#include <stdlib.h>

double plim_fragmentation(uint64_t allocated_bytes, uint64_t reserved_bytes)
{
    return reserved_bytes == 0 ? 0.0 : 1.0 - (double)allocated_bytes / (double)reserved_bytes;
}

/* --- one segment into a state --- */

static void add(uint64_t *total, uint64_t bytes)
{
    *total = plim_plus(*total, bytes);
}

static void add_segment(plim_end_state *state, const plim_device_history *device,
                        const plim_segment *segment)
{
    uint64_t inactive_bytes = 0;
    bool is_used = false;
    for (uint64_t i = 0; i < segment->block_count; i++) {
        const plim_block *const block = &device->blocks[segment->block_first + i];
        if (block->state == PLIM_BLOCK_INACTIVE) {
            add(&inactive_bytes, block->bytes);
            if (block->bytes > state->largest_free_block_bytes) {
                state->largest_free_block_bytes = block->bytes;
            }
            continue;
        }
        is_used = true;
        add(&state->active_bytes, block->bytes);
        if (block->state == PLIM_BLOCK_ACTIVE_ALLOCATED) {
            add(&state->allocated_bytes, block->bytes);
            add(&state->requested_bytes, block->requested_bytes);
        } else {
            add(&state->pending_free_bytes, block->bytes);
        }
    }
    add(is_used ? &state->inactive_split_bytes : &state->releasable_bytes,
        is_used ? inactive_bytes : segment->bytes);
    add(&state->reserved_bytes, segment->bytes);
    state->segments++;
    state->blocks += segment->block_count;
}

static void finish(plim_end_state *state)
{
    state->fragmentation = plim_fragmentation(state->allocated_bytes, state->reserved_bytes);
}

plim_end_state plim_segment_state_of(const plim_device_history *device, const plim_segment *segment)
{
    plim_end_state state = { 0 };
    add_segment(&state, device, segment);
    finish(&state);
    return state;
}

/* --- what blocks contradict --- */

/* Blocks tile their segment: each begins where the one before ended, the last ends with it. */
static void check_segment(const plim_device_history *device, const plim_segment *segment,
                          uint64_t anomalies[PLIM_ANOMALY_COUNT])
{
    const plim_total segment_end = (plim_total)segment->addr + segment->bytes;
    plim_total expected = segment->addr;
    bool tiles = true;
    for (uint64_t i = 0; i < segment->block_count; i++) {
        const plim_block *const block = &device->blocks[segment->block_first + i];
        const plim_total block_end = (plim_total)block->addr + block->bytes;
        anomalies[PLIM_ANOMALY_BLOCK_SIZE] +=
            block->state != PLIM_BLOCK_INACTIVE && block->bytes < block->requested_bytes;
        anomalies[PLIM_ANOMALY_BLOCK_OVERLAP] += i > 0 && block->addr < expected;
        tiles = tiles && (block->addr == expected || (i > 0 && block->addr < expected)) &&
                block_end <= segment_end;
        expected = block_end > expected ? block_end : expected;
    }
    anomalies[PLIM_ANOMALY_BLOCK_OUTSIDE] += !tiles || expected != segment_end;
}

plim_end_state plim_end_state_of(const plim_device_history *device,
                                 uint64_t anomalies[PLIM_ANOMALY_COUNT])
{
    plim_end_state state = { 0 };
    for (uint64_t i = 0; i < device->segment_count; i++) {
        add_segment(&state, device, &device->segments[i]);
        check_segment(device, &device->segments[i], anomalies);
    }
    finish(&state);
    return state;
}

/* --- by pool --- */

/* A segment with what it is sorted by. */
typedef struct sort_row {
    uint64_t key[4]; /* stream handle, private pool, size class and kind */
    const plim_segment *segment;
} sort_row;

static int compare_keys(const sort_row *a, const sort_row *b)
{
    for (size_t i = 0; i < 4; i++) {
        if (a->key[i] != b->key[i]) {
            return a->key[i] < b->key[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_rows(const void *left, const void *right)
{
    const sort_row *const a = left;
    const sort_row *const b = right;
    const int order = compare_keys(a, b);
    return order != 0 ? order : (a->segment > b->segment) - (a->segment < b->segment);
}

static sort_row row_of(const plim_history *history, const plim_segment *segment)
{
    const uint64_t handle = plim_history_stream(history, segment->stream);
    const uint64_t kind = (uint64_t)segment->is_large << 1 | (uint64_t)segment->is_expandable;
    return (sort_row){ .key = { handle, segment->pool.a, segment->pool.b, kind },
                       .segment = segment };
}

static size_t count_pools(const sort_row *rows, uint64_t count)
{
    size_t pools = 0;
    for (uint64_t i = 0; i < count; i++) {
        pools += i == 0 || compare_keys(&rows[i - 1], &rows[i]) != 0;
    }
    return pools;
}

static void fill_pools(plim_pool_state *pools, const plim_device_history *device,
                       const sort_row *rows)
{
    plim_pool_state *pool = pools;
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *const segment = rows[i].segment;
        if (i == 0 || compare_keys(&rows[i - 1], &rows[i]) != 0) {
            pool += i > 0;
            *pool = (plim_pool_state){ .stream = rows[i].key[0],
                                       .pool = segment->pool,
                                       .is_large = segment->is_large,
                                       .is_expandable = segment->is_expandable };
        }
        add_segment(&pool->state, device, segment);
        finish(&pool->state);
    }
}

plim_status plim_pool_states_of(const plim_history *history, const plim_device_history *device,
                                plim_arena *arena, const plim_pool_state **ret_pools,
                                size_t *ret_count, plim_error *err)
{
    const uint64_t count = device->segment_count;
    if (count == 0) {
        *ret_pools = NULL;
        *ret_count = 0;
        return PLIM_OK;
    }
    sort_row *const rows = plim_mem_alloc(arena->mem, count, sizeof *rows);
    if (rows == NULL) {
        return plim_fail_memory(err, "sorting segments by pool");
    }
    for (uint64_t i = 0; i < count; i++) {
        rows[i] = row_of(history, &device->segments[i]);
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    const size_t pool_count = count_pools(rows, count);
    plim_pool_state *const pools = plim_arena_alloc(arena, pool_count * sizeof *pools);
    if (pools != NULL) {
        fill_pools(pools, device, rows);
        *ret_pools = pools;
        *ret_count = pool_count;
    }
    plim_mem_free(arena->mem, rows, count, sizeof *rows);
    return pools != NULL ? PLIM_OK : plim_fail_memory(err, "adding up pools");
}
