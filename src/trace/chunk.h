/*
 * chunk.h - chunks: written whole, with a number and checksums; found again in a damaged file.
 */
#ifndef PLIMSOLL_TRACE_CHUNK_H
#define PLIMSOLL_TRACE_CHUNK_H

#include "base/memory.h"
#include "plimsoll/status.h"
#include "trace/format.h"

#include <stdatomic.h>

/* --- writing --- */

/* A file that chunks are appended to. After the first failure nothing more is written. */
typedef struct plim_chunk_file {
    const plim_mem *mem;
    int fd;
    int level;       /* of zstd; 0: none */
    void *packer;    /* zstd's context; NULL at level 0 */
    uint8_t *packed; /* room for what zstd makes of a chunk */
    size_t packed_bytes;
    uint64_t chunks;
    _Atomic uint64_t written_bytes;
    plim_error error; /* the first failure */
} plim_chunk_file;

/* Creates or truncates `path` and writes the file header. */
plim_status plim_chunk_file_open(plim_chunk_file *file, const char *path, uint32_t level,
                                 const plim_mem *mem, plim_error *err);
/* Closes the file; a zeroed one with fd -1 is allowed. */
void plim_chunk_file_close(plim_chunk_file *file);

/*
 * Writes a chunk.
 *
 * chunk    room for the chunk header, then the payload
 * payload  its bytes, at most PLIM_CHUNK_PAYLOAD_MAX
 * plain    so many bytes at the front of the payload stay uncompressed
 */
plim_status plim_chunk_write(plim_chunk_file *file, plim_chunk_kind kind, uint8_t *chunk,
                             size_t payload, uint8_t plain);

/* --- reading --- */

typedef struct plim_chunk {
    uint16_t kind;
    bool is_zstd;
    uint8_t plain;
    uint64_t number;
    const uint8_t *stored;
    uint32_t stored_bytes;
    uint32_t raw_bytes;
} plim_chunk;

typedef enum plim_chunk_find {
    PLIM_CHUNK_FIND_NONE,    /* no header, or the file ends within the chunk */
    PLIM_CHUNK_FIND_DAMAGED, /* the header is right, what it is about is not */
    PLIM_CHUNK_FIND_WHOLE,
} plim_chunk_find;

/* Reads the chunk at `at`. *ret_chunk is filled unless it is nothing: a damaged one can be passed
 * over, so that no byte is summed up twice. */
plim_chunk_find plim_chunk_read(const uint8_t *at, const uint8_t *end, plim_chunk *ret_chunk);
/* The first place from `at` on where a chunk header stands whose checksum is right, or `end`. */
const uint8_t *plim_chunk_seek(const uint8_t *at, const uint8_t *end);

/* A place for what was compressed; zeroed to begin with. */
typedef struct plim_unpacked {
    uint8_t *data;
    size_t capacity;
} plim_unpacked;

/*
 * The payload of a chunk, decompressed into `room` where it has to be.
 *
 * errors   PLIM_OUT_OF_HOST_MEMORY, PLIM_CORRUPT, PLIM_UNSUPPORTED (libzstd is not installed)
 */
plim_status plim_chunk_unpack(const plim_chunk *chunk, const plim_mem *mem, plim_unpacked *room,
                              plim_trace_bytes *ret_payload);

#endif
