/*
 * rows.c - writing and reading one row; both change the state in the same way.
 */
#include "trace/rows.h"

#include "base/assert.h"
#include "base/block_bytes.h"

#define CODE_MASK 0x0fu
#define HAS_LANE  0x10u
#define HAS_STACK 0x20u
#define HAS_BLOCK 0x40u
#define IS_FINE   0x80u

#define GRAIN_SHIFT 9 /* blocks begin at multiples of 512 */

void plim_rows_begin(plim_row_state *state)
{
    state->lane_count = 0;
    state->lane = 0;
    state->time_ns = 0;
    state->last.action = (plim_action)PLIM_ROW_LOST;
}

static bool is_action(unsigned code)
{
    return code < PLIM_ACTION_KNOWN_COUNT;
}

/* The usual block of a request. */
static uint64_t expected_block(plim_action action, uint64_t bytes)
{
    return action > PLIM_FREE_COMPLETED ? 0 : plim_round_recorded(bytes);
}

/* Division of a two's complement difference by 512. */
static uint64_t in_grains(uint64_t difference)
{
    const uint64_t sign = UINT64_C(0) - (difference >> 63);
    return difference >> GRAIN_SHIFT | sign << (64 - GRAIN_SHIFT);
}

/* --- writing --- */

static bool is_lane_of(const plim_row_lane *lane, const plim_event *row)
{
    return lane->stream == row->stream && plim_pool_ids_equal(lane->pool, row->pool) &&
           lane->is_small == row->is_small;
}

static uint32_t find_lane(const plim_row_state *state, const plim_event *row)
{
    for (uint32_t i = 0; i < state->lane_count; i++) {
        if (is_lane_of(&state->lanes[i], row)) {
            return i;
        }
    }
    return state->lane_count;
}

static uint8_t *define_lane(plim_row_state *state, const plim_event *row, uint8_t *to)
{
    plim_row_lane *const lane = &state->lanes[state->lane_count++];
    *lane = (plim_row_lane){
        .stream = row->stream, .pool = row->pool, .is_small = row->is_small, .stack = PLIM_NONE
    };
    to = plim_put_varint(to, row->stream);
    to = plim_put_varint(to, row->pool.a);
    to = plim_put_varint(to, row->pool.b);
    *to++ = row->is_small;
    return to;
}

static uint8_t *put_time(plim_row_state *state, int64_t time, uint8_t *to)
{
    const uint64_t time_ns = time < 0 ? 0 : (uint64_t)time; /* files have none before 1970 */
    to = plim_put_varint(to, plim_zigzag(time_ns - state->time_ns));
    state->time_ns = time_ns;
    return to;
}

static bool completes_last(const plim_event *last, const plim_event *row)
{
    return row->action == PLIM_FREE_COMPLETED && last->action == PLIM_FREE_REQUESTED &&
           last->addr == row->addr && last->bytes == row->bytes &&
           last->block_bytes == row->block_bytes && last->stack == row->stack &&
           last->stream == row->stream && plim_pool_ids_equal(last->pool, row->pool) &&
           last->is_small == row->is_small;
}

static uint8_t *put_action(plim_row_state *state, const plim_event *row, uint8_t *to)
{
    uint8_t *const head = to++;
    unsigned flags = row->action;
    uint32_t index = state->lane;
    if (index >= state->lane_count || !is_lane_of(&state->lanes[index], row)) {
        index = find_lane(state, row);
        if (index == PLIM_LANES_MAX) {
            return NULL;
        }
        flags |= HAS_LANE;
        to = plim_put_varint(to, index);
        if (index == state->lane_count) {
            to = define_lane(state, row, to);
        }
        state->lane = index;
    }
    plim_row_lane *const lane = &state->lanes[index];
    const uint64_t difference = row->addr - lane->addr;
    const bool is_fine = difference % (1u << GRAIN_SHIFT) != 0;
    flags |= is_fine ? IS_FINE : 0;
    to = plim_put_varint(to, plim_zigzag(is_fine ? difference : in_grains(difference)));
    to = plim_put_varint(to, row->bytes);
    if (row->block_bytes != expected_block(row->action, row->bytes)) {
        flags |= HAS_BLOCK;
        to = plim_put_varint(to, row->block_bytes);
    }
    if (row->stack != lane->stack) {
        flags |= HAS_STACK;
        to = plim_put_varint(to, row->stack == PLIM_NONE ? 0 : (uint64_t)row->stack + 1);
    }
    lane->addr = row->addr;
    lane->stack = row->stack;
    *head = (uint8_t)flags;
    return put_time(state, row->time_ns, to);
}

uint8_t *plim_row_put(plim_row_state *state, const plim_event *row, uint8_t *to)
{
    if (completes_last(&state->last, row)) {
        state->last.action = (plim_action)PLIM_ROW_FREED;
        *to++ = PLIM_ROW_FREED;
        return put_time(state, row->time_ns, to);
    }
    if (is_action(row->action)) {
        to = put_action(state, row, to);
        if (to != NULL) {
            state->last = *row;
        }
        return to;
    }
    state->last.action = row->action;
    *to++ = (uint8_t)row->action;
    to = plim_put_varint(to, row->bytes);
    if ((unsigned)row->action == PLIM_ROW_ANNOTATION) {
        *to++ = row->addr != 0;
        to = put_time(state, row->time_ns, to);
    }
    return to;
}

/* --- reading --- */

static bool fail(plim_trace_bytes *bytes)
{
    bytes->at = NULL;
    return false;
}

static bool get_lane(plim_row_state *state, plim_trace_bytes *bytes)
{
    const uint64_t index = plim_get_varint(bytes);
    if (index >= PLIM_LANES_MAX || index > state->lane_count) {
        return fail(bytes);
    }
    if (index == state->lane_count) {
        plim_row_lane *const lane = &state->lanes[index];
        *lane = (plim_row_lane){ .stack = PLIM_NONE };
        lane->stream = plim_get_varint(bytes);
        lane->pool.a = plim_get_varint(bytes);
        lane->pool.b = plim_get_varint(bytes);
        lane->is_small = plim_get_varint(bytes) != 0;
        state->lane_count++;
    }
    state->lane = (uint32_t)index;
    return true;
}

static bool get_stack(plim_row_lane *lane, plim_trace_bytes *bytes)
{
    const uint64_t stack = plim_get_varint(bytes);
    if (stack > PLIM_NONE) {
        return fail(bytes);
    }
    lane->stack = stack == 0 ? PLIM_NONE : (uint32_t)(stack - 1);
    return true;
}

static void get_time(plim_row_state *state, plim_trace_bytes *bytes, plim_event *row)
{
    state->time_ns += plim_unzigzag(plim_get_varint(bytes));
    row->time_ns = state->time_ns == 0 || state->time_ns > INT64_MAX ? PLIM_TIME_UNKNOWN
                                                                     : (int64_t)state->time_ns;
}

static bool get_action(plim_row_state *state, plim_trace_bytes *bytes, unsigned head,
                       plim_event *row)
{
    if ((head & HAS_LANE) != 0 && !get_lane(state, bytes)) {
        return false;
    }
    if (state->lane >= state->lane_count) {
        return fail(bytes);
    }
    plim_row_lane *const lane = &state->lanes[state->lane];
    const uint64_t difference = plim_unzigzag(plim_get_varint(bytes));
    lane->addr += (head & IS_FINE) != 0 ? difference : difference << GRAIN_SHIFT;
    row->addr = lane->addr;
    row->bytes = plim_get_varint(bytes);
    row->block_bytes =
        (head & HAS_BLOCK) != 0 ? plim_get_varint(bytes) : expected_block(row->action, row->bytes);
    if ((head & HAS_STACK) != 0 && !get_stack(lane, bytes)) {
        return false;
    }
    row->stack = lane->stack;
    row->stream = lane->stream;
    row->pool = lane->pool;
    row->is_small = lane->is_small;
    get_time(state, bytes, row);
    state->last = *row;
    return bytes->at != NULL;
}

bool plim_row_get(plim_row_state *state, plim_trace_bytes *bytes, plim_event *ret_row)
{
    if (plim_bytes_left(bytes) == 0) {
        return false;
    }
    const unsigned head = *bytes->at++;
    const unsigned code = head & CODE_MASK;
    plim_event row = { .action = (plim_action)code,
                       .time_ns = PLIM_TIME_UNKNOWN,
                       .stack = PLIM_NONE,
                       .note = PLIM_NONE };
    bool is_read = true;
    if (is_action(code)) {
        is_read = get_action(state, bytes, head, &row);
    } else if (code == PLIM_ROW_FREED) {
        if (state->last.action != PLIM_FREE_REQUESTED) {
            return fail(bytes);
        }
        row = state->last;
        row.action = PLIM_FREE_COMPLETED;
        state->last.action = (plim_action)PLIM_ROW_FREED;
        get_time(state, bytes, &row);
    } else if (code == PLIM_ROW_ANNOTATION || code == PLIM_ROW_LOST) {
        state->last.action = (plim_action)code;
        row.bytes = plim_get_varint(bytes);
        if (code == PLIM_ROW_ANNOTATION) {
            row.addr = plim_get_varint(bytes) != 0;
            get_time(state, bytes, &row);
        }
    } else {
        return fail(bytes);
    }
    if (!is_read || bytes->at == NULL) {
        return fail(bytes);
    }
    *ret_row = row;
    return true;
}
