/*
 * format.h - the numbers of a .plim file; docs/formats/plim.md explains them.
 *
 *   file   := file header, chunk…
 *   chunk  := chunk header, payload
 *
 * All numbers are little-endian. A varint is seven bits a byte, lowest first, the high bit set
 * where more follow.
 */
#ifndef PLIMSOLL_TRACE_FORMAT_H
#define PLIMSOLL_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As in PNG: a transfer that changes line ends or drops the eighth bit shows at once. */
static const uint8_t plim_file_magic[8] = { 0x89, 'P', 'L', 'I', 'M', '\r', '\n', 0x1a };
#define PLIM_FILE_HEADER_BYTES 16
#define PLIM_FORMAT_VERSION    1

#define PLIM_CHUNK_MAGIC        UINT32_C(0x4b4e4843) /* "CHNK" */
#define PLIM_CHUNK_HEADER_BYTES 32
#define PLIM_CHUNK_PAYLOAD_MAX  ((size_t)64 << 20)
#define PLIM_CHUNK_IS_ZSTD      1u
#define PLIM_CHUNK_ZSTD_GAIN_MAX \
    32 /* what is smaller is written plain: bounds what reading takes */

typedef enum plim_chunk_kind {
    PLIM_CHUNK_PROCESS = 1,
    PLIM_CHUNK_STRINGS,
    PLIM_CHUNK_FRAMES,
    PLIM_CHUNK_STACKS,
    PLIM_CHUNK_SETTINGS,
    PLIM_CHUNK_STATE,
    PLIM_CHUNK_EVENTS,
    PLIM_CHUNK_END,
    PLIM_CHUNK_END_STATE,   /* segments and blocks after the last event */
    PLIM_CHUNK_NOTES,       /* what rows have no place for */
    PLIM_CHUNK_FRAME_NOTES, /* likewise of frames */
} plim_chunk_kind;

/* The head of an events chunk, never compressed: device, events, number of the first, lost. */
#define PLIM_EVENTS_HEAD_BYTES 24

/* The fields of an event's note, as bits; their values follow in this order. */
typedef enum plim_note_field {
    PLIM_NOTE_POOL = 1,
    PLIM_NOTE_COMPILE_CONTEXT = 2,
    PLIM_NOTE_USER_METADATA = 4,
    PLIM_NOTE_FORWARD_STACK = 8,
    PLIM_NOTE_CATEGORY = 16,
    PLIM_NOTE_ACTION = 32, /* its name: the row says user_defined */
} plim_note_field;

/* Ids of stacks in the file: those of the allocator as they are, those of a history from here. */
#define PLIM_STATE_STACKS (UINT64_C(1) << 32)

#define PLIM_FRAME_IS_OURS     1u
#define PLIM_STRING_BYTES_KEPT ((size_t)64 << 10)
#define PLIM_STACK_FRAMES_MAX  ((size_t)1 << 16)

static inline void plim_put_u16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static inline void plim_put_u32(uint8_t *to, uint32_t value)
{
    plim_put_u16(to, (uint16_t)value);
    plim_put_u16(to + 2, (uint16_t)(value >> 16));
}

static inline void plim_put_u64(uint8_t *to, uint64_t value)
{
    plim_put_u32(to, (uint32_t)value);
    plim_put_u32(to + 4, (uint32_t)(value >> 32));
}

static inline uint16_t plim_get_u16(const uint8_t *from)
{
    return (uint16_t)(from[0] | (unsigned)from[1] << 8);
}

static inline uint32_t plim_get_u32(const uint8_t *from)
{
    return plim_get_u16(from) | (uint32_t)plim_get_u16(from + 2) << 16;
}

static inline uint64_t plim_get_u64(const uint8_t *from)
{
    return plim_get_u32(from) | (uint64_t)plim_get_u32(from + 4) << 32;
}

#define PLIM_VARINT_BYTES_MAX 10

/* Returns the place after it; room for PLIM_VARINT_BYTES_MAX is the caller's business. */
static inline uint8_t *plim_put_varint(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* Bytes that are read from front to back; `at` becomes NULL for good where they do not suffice. */
typedef struct plim_trace_bytes {
    const uint8_t *at;
    const uint8_t *end;
} plim_trace_bytes;

static inline size_t plim_bytes_left(const plim_trace_bytes *bytes)
{
    return bytes->at == NULL ? 0 : (size_t)(bytes->end - bytes->at);
}

/* 0 at the end: look at `at` when it matters. */
static inline uint64_t plim_get_varint(plim_trace_bytes *bytes)
{
    uint64_t value = 0;
    if (bytes->at == NULL) {
        return 0;
    }
    for (unsigned shift = 0; shift < 64 && bytes->at < bytes->end; shift += 7) {
        const uint8_t byte = *bytes->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    bytes->at = NULL;
    return 0;
}

/* Small numbers of either sign as small numbers without one. */
static inline uint64_t plim_zigzag(uint64_t value)
{
    return value << 1 ^ (UINT64_C(0) - (value >> 63));
}

static inline uint64_t plim_unzigzag(uint64_t value)
{
    return value >> 1 ^ (UINT64_C(0) - (value & 1));
}

static inline uint64_t plim_bits_of_real(double real)
{
    uint64_t bits = 0;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static inline double plim_real_of_bits(uint64_t bits)
{
    double real = 0;
    memcpy(&real, &bits, sizeof real);
    return real;
}

#endif
