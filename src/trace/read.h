/*
 * read.h - the inside of reading a recording.
 *
 *   recording.c    finds the chunks, says what is wrong with the file
 *   read_names.c   strings, frames, stacks, settings: once, before any event
 *   read_device.c  the events of one device, and what stands at their end
 */
#ifndef PLIMSOLL_TRACE_READ_H
#define PLIMSOLL_TRACE_READ_H

#include "base/map.h"
#include "base/vec.h"
#include "history/builder.h"
#include "trace/chunk.h"
#include "trace/mirror.h"

/* A frame as the file tells it. */
typedef struct plim_read_frame {
    uint64_t address;
    uint64_t filename; /* ids of strings */
    uint64_t name;
    uint32_t line;
    bool is_ours;   /* a function of Plimsoll's */
    uint32_t frame; /* of the history, or PLIM_NONE while no stack has it */
} plim_read_frame;

/* A chunk that belongs to a device: events or state. */
typedef struct plim_device_chunk {
    int32_t device;
    bool is_state;
    uint64_t chunk; /* index into the chunks */
} plim_device_chunk;

typedef struct plim_file_reading {
    const plim_mem *mem;
    plim_history *history;
    const char *compression;     /* of the whole file, a constant, or NULL */
    PLIM_VEC(plim_chunk) chunks; /* whole ones, in the order of the file */
    PLIM_VEC(plim_device_chunk) device_chunks;
    plim_unpacked room;
    plim_map strings; /* id in the file to string of the history */
    plim_map frames;  /* id in the file to row of frame_rows */
    plim_map stacks;  /* id in the file to stack of the history */
    PLIM_VEC(plim_read_frame) frame_rows;
    uint64_t segments; /* pushed so far */
    uint64_t blocks;

    /* What the end and the rest say. */
    bool has_end;
    uint64_t stacks_lost;
    uint64_t unknown_stacks;   /* events with a stack the file does not tell */
    uint64_t unreadable_bytes; /* of chunks whose checksum is right and whose contents are not */
} plim_file_reading;

/* The payload of a chunk, valid until the next call; PLIM_CORRUPT gives an empty one. */
plim_status plim_file_reading_open(plim_file_reading *reading, const plim_chunk *chunk,
                                   plim_bytes *ret_payload, plim_error *err);
/* What is left of a chunk is not what it should be. */
void plim_file_reading_spoiled(plim_file_reading *reading, const plim_chunk *chunk);

/* Reads all strings, frames, stacks and settings. */
plim_status plim_file_reading_names(plim_file_reading *reading, plim_error *err);
/* The history's string for an id of the file; that of "" where the file does not tell it. */
plim_status plim_file_reading_string(plim_file_reading *reading, uint64_t id, uint32_t *ret_string,
                                     plim_error *err);
/* The history's stack for an id of the file; PLIM_NONE where the file does not tell it. */
uint32_t plim_file_reading_stack(plim_file_reading *reading, uint64_t id);

/* Reads the device whose chunks these are, in the order of the file. */
plim_status plim_file_reading_device(plim_file_reading *reading, const plim_device_chunk *chunks,
                                     size_t count, plim_error *err);

#endif
