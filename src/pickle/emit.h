/*
 * emit.h - the bytes of a pickle, protocol 4, opcode by opcode.
 *
 *   PROTO 4 | FRAME n | opcodes of n bytes | FRAME m | … | STOP
 *
 * For writers that know what they have to say, such as rows that never were values. Nothing here
 * knows what was written before; the memo is counted, but which object has which number its user
 * keeps.
 *
 * Emitting returns nothing: a failure sticks, what follows does nothing, and plim_emit_value()
 * says whether it is of use to go on. The error is in the plim_error given to plim_emit_init().
 */
#ifndef PLIMSOLL_PICKLE_EMIT_H
#define PLIMSOLL_PICKLE_EMIT_H

#include "base/sink.h"
#include "pickle/opcodes.h"

#include <string.h>

#define PLIM_PICKLE_FRAME_BYTES  ((size_t)64 << 10)
#define PLIM_FRAME_HEADER_BYTES  ((size_t)9) /* FRAME and eight bytes of length */
#define PLIM_PICKLE_FRAME_FILLED (PLIM_FRAME_HEADER_BYTES + PLIM_PICKLE_FRAME_BYTES)

typedef struct plim_emitter {
    const plim_mem *mem;
    plim_sink sink;
    plim_error *err;
    uint8_t *frame;  /* the open frame, with room for its header in front */
    size_t length;   /* of that; 0: none is open */
    size_t capacity; /* of that */
    uint64_t memo_count;
    plim_status status;
} plim_emitter;

/* Nothing is allocated yet. `err` may be NULL. */
void plim_emit_init(plim_emitter *out, const plim_mem *mem, plim_sink sink, plim_error *err);
void plim_emit_deinit(plim_emitter *out);

/* For what its user cannot do: sticks like its own failures. The first one stays. */
static inline void plim_emit_fail(plim_emitter *out, plim_status status)
{
    out->status = out->status == PLIM_OK ? status : out->status;
}

/* The first bytes of a pickle, and the last. */
void plim_emit_begin(plim_emitter *out);
PLIM_MUST_USE plim_status plim_emit_end(plim_emitter *out);

/* For the functions below: sends the open frame; makes room in it; fails with PLIM_LIMIT. */
void plim_emit_close_frame(plim_emitter *out);
bool plim_emit_make_room(plim_emitter *out, size_t bytes);

/*
 * To be called before every value or every few: frames end only where a value begins. Returns
 * what became of everything so far.
 */
static inline PLIM_MUST_USE plim_status plim_emit_value(plim_emitter *out)
{
    if (out->length >= PLIM_PICKLE_FRAME_FILLED) {
        plim_emit_close_frame(out);
    }
    return out->status;
}

/* Bytes of an opcode; whole ones, for a frame can end after them. */
static inline void plim_emit_bytes(plim_emitter *out, const void *data, size_t bytes)
{
    if ((out->length > 0 && bytes <= out->capacity - out->length) ||
        plim_emit_make_room(out, bytes)) {
        memcpy(out->frame + out->length, data, bytes);
        out->length += bytes;
    }
}

static inline void plim_emit_opcode(plim_emitter *out, uint8_t code)
{
    plim_emit_bytes(out, &code, 1);
}

/* An opcode with one byte, two, or four after it. */
static inline void plim_emit_u8(plim_emitter *out, uint8_t code, uint8_t number)
{
    const uint8_t bytes[] = { code, number };
    plim_emit_bytes(out, bytes, sizeof bytes);
}

static inline void plim_emit_u16(plim_emitter *out, uint8_t code, uint16_t number)
{
    const uint8_t bytes[] = { code, (uint8_t)number, (uint8_t)(number >> 8) };
    plim_emit_bytes(out, bytes, sizeof bytes);
}

static inline void plim_emit_u32(plim_emitter *out, uint8_t code, uint32_t number)
{
    const uint8_t bytes[] = { code, (uint8_t)number, (uint8_t)(number >> 8),
                              (uint8_t)(number >> 16), (uint8_t)(number >> 24) };
    plim_emit_bytes(out, bytes, sizeof bytes);
}

/* Integers, each by its shortest opcode. */
void plim_emit_int(plim_emitter *out, int64_t integer);
void plim_emit_uint(plim_emitter *out, uint64_t integer);
void plim_emit_float(plim_emitter *out, double real);

/* A str, which has to be UTF-8; one of 64 KiB and more is sent between frames. */
void plim_emit_string(plim_emitter *out, const void *data, size_t bytes);
/* The same by these opcodes, whose length takes one byte, four, or eight. */
void plim_emit_text(plim_emitter *out, const uint8_t codes[3], const void *data, size_t bytes);

/* Gives what was written last the next number of the memo, which is returned. */
static inline uint64_t plim_emit_memoize(plim_emitter *out)
{
    plim_emit_opcode(out, PLIM_PICKLE_OP_MEMOIZE);
    return out->memo_count++;
}

/* Emits the object of this number. PLIM_LIMIT where it is above 2^32. */
void plim_emit_get(plim_emitter *out, uint64_t number);

/* The forms of containers that grow by batches of at most 1000 entries. */
typedef struct plim_emit_form {
    uint8_t empty;    /* makes one without items */
    uint8_t single;   /* adds an only entry; 0: there is no such opcode */
    uint8_t many;     /* adds what lies above the mark */
    uint8_t unit;     /* items an entry has */
    bool ends_in_gap; /* full batches alone are followed by an empty one */
} plim_emit_form;

extern const plim_emit_form plim_emit_list;
extern const plim_emit_form plim_emit_dict;

/* Emits what stands before item `next` of `count` and, with next == count, after the last. The
 * items of a dict are its keys and values in turn. */
void plim_emit_between(plim_emitter *out, const plim_emit_form *form, uint64_t next,
                       uint64_t count);

#endif
