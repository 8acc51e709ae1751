/*
 * filling.c - rows one after the other, with room in front for the headers that are known last.
 */
#include "trace/write/filling.h"

#define ROWS_CHUNK_BYTES ((size_t)128 << 10) /* rows of a chunk */
#define ROWS_BEGIN       ((size_t)PLIM_CHUNK_HEADER_BYTES + PLIM_EVENTS_HEAD_BYTES)

plim_filling *plim_filling_create(const plim_mem *mem, int32_t device)
{
    plim_filling *const filling =
        plim_mem_alloc(mem, 1, sizeof *filling + ROWS_BEGIN + ROWS_CHUNK_BYTES);
    if (filling != NULL) {
        *filling = (plim_filling){ .device = device, .used = ROWS_BEGIN };
        plim_rows_begin(&filling->state);
    }
    return filling;
}

void plim_filling_destroy(const plim_mem *mem, plim_filling *filling)
{
    if (filling != NULL) {
        plim_mem_free(mem, filling, 1, sizeof *filling + ROWS_BEGIN + ROWS_CHUNK_BYTES);
    }
}

bool plim_filling_add(plim_filling *filling, const plim_event *row)
{
    if (ROWS_BEGIN + ROWS_CHUNK_BYTES - filling->used < PLIM_ROW_BYTES_MAX) {
        return false;
    }
    const uint8_t *const end = plim_row_put(&filling->state, row, filling->chunk + filling->used);
    if (end == NULL) { /* too many lanes for one chunk */
        return false;
    }
    filling->used = (size_t)(end - filling->chunk);
    filling->rows++;
    filling->events += row->action < PLIM_ACTION_KNOWN_COUNT;
    filling->lost += (unsigned)row->action == PLIM_ROW_LOST ? row->bytes : 0;
    return true;
}

plim_status plim_filling_write(plim_filling *filling, plim_chunk_file *file)
{
    if (filling->rows == 0) {
        return PLIM_OK;
    }
    uint8_t *const head = filling->chunk + PLIM_CHUNK_HEADER_BYTES;
    plim_put_u32(head, (uint32_t)filling->device);
    plim_put_u32(head + 4, filling->events);
    plim_put_u64(head + 8, filling->first);
    plim_put_u64(head + 16, filling->lost);
    const plim_status status =
        plim_chunk_write(file, PLIM_CHUNK_EVENTS, filling->chunk,
                         filling->used - PLIM_CHUNK_HEADER_BYTES, PLIM_EVENTS_HEAD_BYTES);
    filling->first += filling->events + filling->lost;
    filling->rows = 0;
    filling->events = 0;
    filling->lost = 0;
    filling->used = ROWS_BEGIN;
    plim_rows_begin(&filling->state);
    return status;
}
