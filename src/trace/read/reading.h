/*
 * reading.h - the inside of reading a recording. Calls go down:
 *
 *   recording.c    finds the chunks, reports what is wrong with the file
 *   device.c       the events of one device, and its segments and blocks at the end
 *   names.c        strings, frames, stacks, settings: once, before any event
 *   notes.c        fields of events that rows have no place for
 *   end.c          segments and blocks at the end, where they were recorded
 *   reading.c      payloads of chunks, strings and stacks by id
 *   mirror.c       segments and blocks as events change them
 */
#ifndef PLIMSOLL_TRACE_READ_READING_H
#define PLIMSOLL_TRACE_READ_READING_H

#include "base/map.h"
#include "base/vec.h"
#include "history/builder.h"
#include "trace/chunk.h"
#include "trace/read/mirror.h"

/* A frame of the file. */
typedef struct plim_read_frame {
    uint64_t address;
    uint64_t filename; /* ids of strings */
    uint64_t name;
    uint32_t line;
    uint64_t fx;    /* what torch.fx says of it: string + 1, or 0 */
    bool is_ours;   /* a function of Plimsoll's */
    uint32_t frame; /* of the history, or PLIM_NONE while no stack has it */
} plim_read_frame;

/* A chunk that belongs to a device. */
typedef struct plim_device_chunk {
    int32_t device;
    plim_chunk_kind kind;
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

    /* From the END chunk and the rest. */
    bool has_end;
    uint64_t stacks_lost;
    uint64_t unknown_stacks;   /* events with a stack the file lacks */
    uint64_t unreadable_bytes; /* of chunks whose checksum is right and whose contents are not */
} plim_file_reading;

/* The payload of a chunk, valid until the next call; PLIM_CORRUPT gives an empty one. */
plim_status plim_file_reading_open(plim_file_reading *reading, const plim_chunk *chunk,
                                   plim_trace_bytes *ret_payload, plim_error *err);
/* Counts a chunk whose rest is malformed. */
void plim_file_reading_spoiled(plim_file_reading *reading, const plim_chunk *chunk);

/* Reads all strings, frames, stacks and settings. */
plim_status plim_file_reading_names(plim_file_reading *reading, plim_error *err);
/* The history's string for an id of the file; that of "" where the file lacks it. */
plim_status plim_file_reading_string(plim_file_reading *reading, uint64_t id, uint32_t *ret_string,
                                     plim_error *err);
/* The history's stack for an id of the file; PLIM_NONE where the file lacks it. */
uint32_t plim_file_reading_stack(plim_file_reading *reading, uint64_t id);

/* A note of some neighbouring events. */
typedef struct plim_note_run {
    uint64_t first; /* events of the device before */
    uint64_t count;
    uint32_t note;
    plim_action action; /* PLIM_USER_DEFINED: as the row says */
} plim_note_run;

typedef PLIM_VEC(plim_note_run) plim_note_runs;

/* Reads a chunk of notes; its runs follow those that are there. */
plim_status plim_file_reading_notes(plim_file_reading *reading, const plim_chunk *chunk,
                                    plim_note_runs *runs, plim_error *err);

/* Segments and blocks at the end of a device. */
typedef struct plim_recorded_end {
    PLIM_VEC(plim_segment) segments;
    PLIM_VEC(plim_block) blocks;
    uint64_t segment_count; /* that there should be */
    uint64_t capacity_events;
    plim_known overflowed;
    bool is_recorded; /* there is a chunk of it */
    bool is_wrong;    /* parts contradict each other */
} plim_recorded_end;

void plim_recorded_end_deinit(plim_recorded_end *state, const plim_mem *mem);
plim_status plim_file_reading_end(plim_file_reading *reading, const plim_chunk *chunk,
                                  plim_recorded_end *state, plim_error *err);
/* True if the file has all of it. */
bool plim_recorded_end_is_whole(const plim_recorded_end *state);
plim_status plim_recorded_end_push(const plim_recorded_end *state, plim_history *history,
                                   plim_error *err);

/* Reads the device whose chunks these are, in the order of the file. */
plim_status plim_file_reading_device(plim_file_reading *reading, const plim_device_chunk *chunks,
                                     size_t count, plim_error *err);

#endif
