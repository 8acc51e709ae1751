/*
 * memory.c - what stood when the recording ended: segments, blocks, pools.
 */
#include "query/columns.h"
#include "query/values.h"

#include "base/error.h"
#include "inspect/end_state.h"

/* --- segments --- */

#define SEGMENT_COLUMNS(X)                                                                         \
    X(DEVICE, "device", INTEGER, "PyTorch's index; -1 is pinned host memory")                      \
    X(SEGMENT, "segment", INTEGER, "its number on the device, by address")                         \
    X(ADDR, "addr", INTEGER, "address(addr) shows it")                                             \
    X(BYTES, "bytes", INTEGER, "obtained from the driver")                                         \
    X(CLASS, "size_class", TEXT, "small serves requests up to 1 MiB, large the rest")              \
    X(EXPANDABLE, "is_expandable", INTEGER, "1: a mapped run of a virtual range")                  \
    X(POOL, "pool", TEXT, "0:0 is the default pool; others are private")                           \
    X(STREAM, "stream", INTEGER, "handle; 0 is the default stream")                                \
    X(STACK, "stack", INTEGER, "of the request that made it, or NULL")                             \
    X(BLOCKS, "blocks", INTEGER, "that it is split into")                                          \
    X(REQUESTED, "requested_bytes", INTEGER, "in allocated blocks, as the program requested them") \
    X(ALLOCATED, "allocated_bytes", INTEGER, "blocks that the program holds")                      \
    X(PENDING, "pending_bytes", INTEGER, "blocks freed, waiting for a stream")                     \
    X(FREE, "free_bytes", INTEGER, "the rest")                                                     \
    X(LARGEST_FREE, "largest_free_bytes", INTEGER, "its largest free block")                       \
    X(FRAGMENTATION, "fragmentation", REAL, "1 - allocated_bytes/bytes")

enum { SEGMENT_COLUMNS(PLIM_COLUMN_ENUM) SEGMENT_COLUMN_COUNT };

static const plim_query_column segment_columns[] = { SEGMENT_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_segments(const plim_query *query, size_t part)
{
    return query->devices[part].history->segment_count;
}

static const plim_end_state *state_of(plim_relation_cursor *cursor)
{
    if (cursor->summed_row != cursor->row + 1) {
        const plim_device_history *const device = plim_cursor_device(cursor)->history;
        cursor->sums = plim_segment_state_of(device, &device->segments[cursor->row]);
        cursor->summed_row = cursor->row + 1;
    }
    return &cursor->sums;
}

/* Columns that segments and pools share. */
static void put_state(sqlite3_context *out, const plim_end_state *state, int column)
{
    switch (column) {
    case BLOCKS:
        plim_put_u64(out, state->blocks);
        break;
    case REQUESTED:
        plim_put_u64(out, state->requested_bytes);
        break;
    case ALLOCATED:
        plim_put_u64(out, state->allocated_bytes);
        break;
    case PENDING:
        plim_put_u64(out, state->pending_free_bytes);
        break;
    case FREE: /* what blocks contradict is counted in anomalies */
        plim_put_u64(out, state->reserved_bytes > state->active_bytes
                              ? state->reserved_bytes - state->active_bytes
                              : 0);
        break;
    case LARGEST_FREE:
        plim_put_u64(out, state->largest_free_block_bytes);
        break;
    default:
        sqlite3_result_double(out, state->fragmentation);
        break;
    }
}

static void put_segment(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_device_history *const device = plim_cursor_device(cursor)->history;
    const plim_segment *const segment = &device->segments[cursor->row];
    switch (column) {
    case DEVICE:
        plim_put_i64(out, device->device);
        break;
    case SEGMENT:
        plim_put_u64(out, cursor->row);
        break;
    case ADDR:
        plim_put_addr(out, segment->addr);
        break;
    case BYTES:
        plim_put_u64(out, segment->bytes);
        break;
    case CLASS:
        plim_put_word(out, segment->is_large ? "large" : "small");
        break;
    case EXPANDABLE:
        plim_put_bool(out, segment->is_expandable);
        break;
    case POOL:
        plim_put_pool(out, segment->pool);
        break;
    case STREAM:
        plim_put_addr(out, plim_history_stream(cursor->query->history, segment->stream));
        break;
    case STACK:
        plim_put_index(out, segment->stack);
        break;
    default:
        put_state(out, state_of(cursor), column);
        break;
    }
}

const plim_relation plim_relation_segments = {
    .schema = { .name = "segments",
                .meaning = "memory from the driver when the recording ended",
                PLIM_COLUMNS(segment_columns) },
    .is_by_device = true,
    .device = DEVICE,
    .number = SEGMENT,
    .parameter = PLIM_NO_COLUMN,
    .keys = { PLIM_NO_KEY },
    .estimate = count_segments,
    .rows = count_segments,
    .column = put_segment,
};

/* --- blocks --- */

#define BLOCK_COLUMNS(X)                                                                         \
    X(B_DEVICE, "device", INTEGER, "PyTorch's index; -1 is pinned host memory")                  \
    X(B_BLOCK, "block", INTEGER, "its number on the device, by segment, then address")           \
    X(B_SEGMENT, "segment", INTEGER, "the segment that it is a piece of")                        \
    X(B_ADDR, "addr", INTEGER, "address(addr) shows it")                                         \
    X(B_BYTES, "bytes", INTEGER, "of the block")                                                 \
    X(B_REQUESTED, "requested_bytes", INTEGER, "as the program requested; NULL of a free block") \
    X(B_STATE, "state", TEXT, "inactive (free), active_allocated, active_pending_free")          \
    X(B_STACK, "stack", INTEGER, "of its allocation, or NULL")

enum { BLOCK_COLUMNS(PLIM_COLUMN_ENUM) BLOCK_COLUMN_COUNT };

static const plim_query_column block_columns[] = { BLOCK_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_blocks(const plim_query *query, size_t part)
{
    return query->devices[part].history->block_count;
}

/* Rows stand by segment already. */
static plim_status blocks_by_key(plim_relation_cursor *cursor, int column, sqlite3_value *value,
                                 plim_error *err)
{
    (void)column;
    (void)err;
    const plim_device_history *const device = plim_cursor_device(cursor)->history;
    if (value == NULL || sqlite3_value_type(value) != SQLITE_INTEGER) {
        return PLIM_OK;
    }
    const int64_t wanted = sqlite3_value_int64(value);
    const bool is_there = wanted >= 0 && (uint64_t)wanted < device->segment_count;
    cursor->position = is_there ? device->segments[wanted].block_first : 0;
    cursor->position_end = is_there ? cursor->position + device->segments[wanted].block_count : 0;
    return PLIM_OK;
}

/* The segment of a block: the last whose blocks begin at or before it. */
static uint64_t segment_of(const plim_device_history *device, uint64_t block)
{
    uint64_t low = 0;
    uint64_t high = device->segment_count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(device->segments[middle].block_first <= block ? &low : &high) = middle;
    }
    return low;
}

static void put_block(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    static const char *const states[] = { [PLIM_BLOCK_INACTIVE] = "inactive",
                                          [PLIM_BLOCK_ACTIVE_ALLOCATED] = "active_allocated",
                                          [PLIM_BLOCK_ACTIVE_PENDING_FREE] =
                                              "active_pending_free" };
    const plim_device_history *const device = plim_cursor_device(cursor)->history;
    const plim_block *const block = &device->blocks[cursor->row];
    switch (column) {
    case B_DEVICE:
        plim_put_i64(out, device->device);
        break;
    case B_BLOCK:
        plim_put_u64(out, cursor->row);
        break;
    case B_SEGMENT:
        plim_put_u64(out, segment_of(device, cursor->row));
        break;
    case B_ADDR:
        plim_put_addr(out, block->addr);
        break;
    case B_BYTES:
        plim_put_u64(out, block->bytes);
        break;
    case B_REQUESTED:
        plim_put_known(out, block->state != PLIM_BLOCK_INACTIVE, block->requested_bytes);
        break;
    case B_STATE:
        plim_put_word(out, states[block->state]);
        break;
    default:
        plim_put_index(out, block->stack);
        break;
    }
}

const plim_relation plim_relation_blocks = {
    .schema = { .name = "blocks",
                .meaning = "the pieces of these segments",
                PLIM_COLUMNS(block_columns) },
    .is_by_device = true,
    .device = B_DEVICE,
    .number = B_BLOCK,
    .parameter = PLIM_NO_COLUMN,
    .keys = { { .column = B_SEGMENT, .is_grouped = true, .is_sorted = true, .values = 50 },
              PLIM_NO_KEY },
    .estimate = count_blocks,
    .rows = count_blocks,
    .by_key = blocks_by_key,
    .column = put_block,
};

/* --- pools --- */

#define POOL_COLUMNS(X)                                                                   \
    X(P_DEVICE, "device", INTEGER, "PyTorch's index; -1 is pinned host memory")           \
    X(P_NUMBER, "number", INTEGER, "by stream, pool, size class")                         \
    X(P_STREAM, "stream", INTEGER, "handle; 0 is the default stream")                     \
    X(P_POOL, "pool", TEXT, "0:0 is the default pool; others are private")                \
    X(P_CLASS, "size_class", TEXT, "small serves requests up to 1 MiB, large the rest")   \
    X(P_EXPANDABLE, "is_expandable", INTEGER, "1: of expandable segments")                \
    X(P_SEGMENTS, "segments", INTEGER, "that it has")                                     \
    X(P_RESERVED, "reserved_bytes", INTEGER, "these segments")                            \
    X(P_SPLIT, "inactive_split_bytes", INTEGER, "free, in segments that are partly used") \
    X(P_BLOCKS, "blocks", INTEGER, "of these segments")                                   \
    X(P_REQUESTED, "requested_bytes", INTEGER,                                            \
      "in allocated blocks, as the program requested them")                               \
    X(P_ALLOCATED, "allocated_bytes", INTEGER, "blocks that the program holds")           \
    X(P_PENDING, "pending_bytes", INTEGER, "blocks freed, waiting for a stream")          \
    X(P_FREE, "free_bytes", INTEGER, "the rest")                                          \
    X(P_LARGEST_FREE, "largest_free_bytes", INTEGER, "its largest free block")            \
    X(P_FRAGMENTATION, "fragmentation", REAL, "1 - allocated_bytes/reserved_bytes")

enum { POOL_COLUMNS(PLIM_COLUMN_ENUM) POOL_COLUMN_COUNT };

static const plim_query_column pool_columns[] = { POOL_COLUMNS(PLIM_COLUMN_ROW) };

static plim_status prepare_pools(plim_query *query, size_t part, plim_error *err)
{
    (void)part;
    return plim_query_need_inspection(query, err);
}

static uint64_t count_pools(const plim_query *query, size_t part)
{
    const plim_device_inspection *const device = plim_query_inspected(query, part);
    return device != NULL ? device->pool_count : 0;
}

/* A pool has at most as many segments as the device. */
static void put_pool(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_pool_state *const pool =
        &plim_query_inspected(cursor->query, cursor->part)->pools[cursor->row];
    switch (column) {
    case P_DEVICE:
        plim_put_i64(out, plim_cursor_device(cursor)->history->device);
        break;
    case P_NUMBER:
        plim_put_u64(out, cursor->row);
        break;
    case P_STREAM:
        plim_put_addr(out, pool->stream);
        break;
    case P_POOL:
        plim_put_pool(out, pool->pool);
        break;
    case P_CLASS:
        plim_put_word(out, pool->is_large ? "large" : "small");
        break;
    case P_EXPANDABLE:
        plim_put_bool(out, pool->is_expandable);
        break;
    case P_SEGMENTS:
        plim_put_u64(out, pool->state.segments);
        break;
    case P_RESERVED:
        plim_put_u64(out, pool->state.reserved_bytes);
        break;
    case P_SPLIT:
        plim_put_u64(out, pool->state.inactive_split_bytes);
        break;
    default: /* in the order of a segment's */
        put_state(out, &pool->state, column - P_BLOCKS + BLOCKS);
        break;
    }
}

const plim_relation plim_relation_pools = {
    .schema = { .name = "pools",
                .meaning = "these segments by stream, private pool and size class",
                PLIM_COLUMNS(pool_columns) },
    .is_by_device = true,
    .device = P_DEVICE,
    .number = P_NUMBER,
    .parameter = PLIM_NO_COLUMN,
    .keys = { PLIM_NO_KEY },
    .estimate = count_segments,
    .prepare = prepare_pools,
    .rows = count_pools,
    .column = put_pool,
};
