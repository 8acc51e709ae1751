/*
 * filling.h - the chunk of a device's events that is being filled with rows.
 */
#ifndef PLIMSOLL_TRACE_WRITE_FILLING_H
#define PLIMSOLL_TRACE_WRITE_FILLING_H

#include "trace/chunk.h"
#include "trace/rows.h"

typedef struct plim_filling {
    int32_t device;
    uint32_t rows;
    uint32_t events; /* rows that are events */
    uint64_t lost;
    uint64_t first; /* events, lost ones too, before this chunk */
    size_t used;
    plim_row_state state;
    uint8_t chunk[]; /* chunk header, head of the events chunk, rows */
} plim_filling;

/* NULL: no memory. */
plim_filling *plim_filling_create(const plim_mem *mem, int32_t device);
/* NULL is allowed. */
void plim_filling_destroy(const plim_mem *mem, plim_filling *filling);

/* Adds a row; false when the chunk cannot hold it: an empty one always does. */
bool plim_filling_add(plim_filling *filling, const plim_event *row);
/* Writes the chunk, if it has rows, and begins the next; what fails stays with the file. */
plim_status plim_filling_write(plim_filling *filling, plim_chunk_file *file);

#endif
