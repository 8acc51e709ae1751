/*
 * rows.h - the events of a device as rows of a few bytes, within one chunk.
 *
 *   head   bits 0-3  what it is: a plim_action, or one of the codes below
 *          bit 4     another lane than the row before: its number follows
 *          bit 5     another stack than the lane's last row: its id follows
 *          bit 6     the block is not the request rounded to 512: its bytes follow
 *          bit 7     the address differs from the lane's last by no multiple of 512
 *
 * A lane is a stream, a pool and whether it is the small one. A number one above the lanes so far
 * defines a lane on the spot. Nothing refers to another chunk, so that damage stays where it is.
 */
#ifndef PLIMSOLL_TRACE_ROWS_H
#define PLIMSOLL_TRACE_ROWS_H

#include "plimsoll/event.h"
#include "trace/format.h"

/* A row is a plim_event whose action is known (0 … 10), or has one of these in its place. */
#define PLIM_ROW_ANNOTATION 11 /* addr: whether it starts; bytes: string */
#define PLIM_ROW_LOST       12 /* bytes: how many events are missing here */
#define PLIM_ROW_FREED                                                      \
    13 /* free_completed of what the row before requested the free of: only \
        * stands in files */

#define PLIM_ROW_BYTES_MAX 104 /* head, lane and its definition, five numbers */
#define PLIM_LANES_MAX     64  /* of one chunk */

typedef struct plim_row_lane {
    plim_stream stream;
    plim_pool_id pool;
    bool is_small;
    plim_addr addr; /* of its last row */
    uint32_t stack; /* likewise */
} plim_row_lane;

/* State that writing and reading share: rows refer back to it. All zero to begin with. */
typedef struct plim_row_state {
    plim_row_lane lanes[PLIM_LANES_MAX];
    uint32_t lane_count;
    uint32_t lane;    /* of the last row */
    uint64_t time_ns; /* 0: the last row has none */
    plim_event last;  /* PLIM_FREE_REQUESTED: a PLIM_ROW_FREED may follow */
} plim_row_state;

void plim_rows_begin(plim_row_state *state);

/*
 * Writes a row at `to`, which has room for PLIM_ROW_BYTES_MAX; returns the place after it, or NULL
 * when the chunk can hold no more lanes: then it is to be closed first.
 */
uint8_t *plim_row_put(plim_row_state *state, const plim_event *row, uint8_t *to);

/* Reads a row, without its device; false at the end and where bytes are no row (then bytes->at is
 * NULL). */
bool plim_row_get(plim_row_state *state, plim_trace_bytes *bytes, plim_event *ret_row);

#endif
