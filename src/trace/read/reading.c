/*
 * reading.c - chunks by their payload, strings and stacks by their ids: what all parts of reading
 * use.
 */
#include "trace/read/reading.h"

#include "base/error.h"

plim_status plim_file_reading_open(plim_file_reading *reading, const plim_chunk *chunk,
                                   plim_trace_bytes *ret_payload, plim_error *err)
{
    *ret_payload = (plim_trace_bytes){ 0 };
    const plim_status status = plim_chunk_unpack(chunk, reading->mem, &reading->room, ret_payload);
    if (status == PLIM_UNSUPPORTED) {
        return plim_fail(
            err, status,
            "the recording is compressed with zstd, and libzstd.so.1 is not installed");
    }
    return status == PLIM_OUT_OF_HOST_MEMORY ? plim_fail_memory(err, "reading a recording")
                                             : PLIM_OK;
}

void plim_file_reading_spoiled(plim_file_reading *reading, const plim_chunk *chunk)
{
    reading->unreadable_bytes += PLIM_CHUNK_HEADER_BYTES + chunk->stored_bytes;
}

plim_status plim_file_reading_string(plim_file_reading *reading, uint64_t id, uint32_t *ret_string,
                                     plim_error *err)
{
    const uint64_t string = plim_map_get(&reading->strings, id);
    if (string == PLIM_MAP_ABSENT) {
        return plim_history_add_string(reading->history, "", 0, ret_string, err);
    }
    *ret_string = (uint32_t)string;
    return PLIM_OK;
}

uint32_t plim_file_reading_stack(plim_file_reading *reading, uint64_t id)
{
    const uint64_t stack = plim_map_get(&reading->stacks, id);
    if (stack == PLIM_MAP_ABSENT) {
        reading->unknown_stacks++;
        return PLIM_NONE;
    }
    return (uint32_t)stack;
}
