/*
 * emit.c - opcodes into frames, frames into a sink.
 *
 * An opcode goes to the open frame; when a frame has 64 KiB and the next value begins, it is
 * sealed with its length and sent. Strings of 64 KiB and more are sent between frames.
 */
#include "pickle/emit.h"

#include "base/error.h"

#define PROTOCOL        4
#define FRAME_BYTES_MIN 4                 /* what is shorter is left without a header */
#define FRAME_SLACK     ((size_t)4 << 10) /* what a value adds before the next begins, mostly */
#define BATCH_ENTRIES   1000

const plim_emit_form plim_emit_list = { PLIM_PICKLE_OP_EMPTY_LIST, PLIM_PICKLE_OP_APPEND,
                                        PLIM_PICKLE_OP_APPENDS, 1, false };
const plim_emit_form plim_emit_dict = { PLIM_PICKLE_OP_EMPTY_DICT, PLIM_PICKLE_OP_SETITEM,
                                        PLIM_PICKLE_OP_SETITEMS, 2, true };

void plim_emit_init(plim_emitter *out, const plim_mem *mem, plim_sink sink, plim_error *err)
{
    *out = (plim_emitter){ .mem = plim_mem_or_heap(mem), .sink = sink, .err = err };
}

void plim_emit_deinit(plim_emitter *out)
{
    plim_mem_free(out->mem, out->frame, out->capacity, 1);
    out->frame = NULL;
}

static void send(plim_emitter *out, const void *data, size_t bytes)
{
    if (out->status == PLIM_OK && !out->sink.write(out->sink.ctx, data, bytes)) {
        out->status = plim_fail(out->err, PLIM_IO, "the pickle could not be written to its end");
    }
}

static void store_le(uint8_t *to, uint64_t integer, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(integer >> 8 * i);
    }
}

bool plim_emit_make_room(plim_emitter *out, size_t bytes)
{
    if (out->status != PLIM_OK) {
        return false;
    }
    const size_t used = out->length > 0 ? out->length : PLIM_FRAME_HEADER_BYTES;
    const size_t needed = used + bytes; /* far from wrapping: strings of 64 KiB go elsewhere */
    if (needed > out->capacity) {
        size_t capacity = out->capacity + out->capacity / 2;
        capacity = capacity < PLIM_PICKLE_FRAME_FILLED + FRAME_SLACK
                       ? PLIM_PICKLE_FRAME_FILLED + FRAME_SLACK
                       : capacity;
        capacity = capacity < needed ? needed : capacity;
        uint8_t *grown = plim_mem_resize(out->mem, out->frame, out->capacity, capacity, 1);
        if (grown == NULL) {
            out->status = plim_fail_memory(out->err, "writing the pickle");
            return false;
        }
        out->frame = grown;
        out->capacity = capacity;
    }
    out->length = used;
    return true;
}

void plim_emit_close_frame(plim_emitter *out)
{
    if (out->length == 0) {
        return;
    }
    const size_t content_bytes = out->length - PLIM_FRAME_HEADER_BYTES;
    if (content_bytes < FRAME_BYTES_MIN) {
        send(out, out->frame + PLIM_FRAME_HEADER_BYTES, content_bytes);
    } else {
        out->frame[0] = PLIM_PICKLE_OP_FRAME;
        store_le(out->frame + 1, content_bytes, 8);
        send(out, out->frame, out->length);
    }
    out->length = 0;
}

void plim_emit_begin(plim_emitter *out)
{
    static const uint8_t proto[] = { PLIM_PICKLE_OP_PROTO, PROTOCOL };
    send(out, proto, sizeof proto);
}

plim_status plim_emit_end(plim_emitter *out)
{
    plim_emit_opcode(out, PLIM_PICKLE_OP_STOP);
    plim_emit_close_frame(out);
    return out->status;
}

void plim_emit_int(plim_emitter *out, int64_t integer)
{
    if (integer >= 0 && integer <= UINT8_MAX) {
        plim_emit_u8(out, PLIM_PICKLE_OP_BININT1, (uint8_t)integer);
    } else if (integer >= 0 && integer <= UINT16_MAX) {
        plim_emit_u16(out, PLIM_PICKLE_OP_BININT2, (uint16_t)integer);
    } else if (integer >= INT32_MIN && integer <= INT32_MAX) {
        plim_emit_u32(out, PLIM_PICKLE_OP_BININT, (uint32_t)integer);
    } else {
        /* As few bytes as hold it with its sign. */
        uint8_t bytes[10] = { PLIM_PICKLE_OP_LONG1, 5 };
        while (bytes[1] < 8 && (integer >> (8 * bytes[1] - 1) != integer >> 63)) {
            bytes[1]++;
        }
        store_le(bytes + 2, (uint64_t)integer, 8);
        plim_emit_bytes(out, bytes, 2u + bytes[1]);
    }
}

void plim_emit_uint(plim_emitter *out, uint64_t integer)
{
    if (integer <= INT64_MAX) {
        plim_emit_int(out, (int64_t)integer);
        return;
    }
    /* The ninth byte is the sign. */
    uint8_t bytes[11] = { PLIM_PICKLE_OP_LONG1, 9 };
    store_le(bytes + 2, integer, 8);
    plim_emit_bytes(out, bytes, sizeof bytes);
}

void plim_emit_float(plim_emitter *out, double real)
{
    uint64_t bits = 0;
    memcpy(&bits, &real, sizeof bits);
    uint8_t bytes[9] = { PLIM_PICKLE_OP_BINFLOAT };
    for (size_t i = 0; i < 8; i++) {
        bytes[1 + i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    plim_emit_bytes(out, bytes, sizeof bytes);
}

void plim_emit_text(plim_emitter *out, const uint8_t codes[3], const void *data, size_t bytes)
{
    if (bytes >= PLIM_PICKLE_FRAME_BYTES) {
        const size_t length_bytes = bytes <= UINT32_MAX ? 4 : 8;
        uint8_t header[9] = { codes[length_bytes == 4 ? 1 : 2] };
        store_le(header + 1, bytes, length_bytes);
        plim_emit_close_frame(out);
        send(out, header, 1 + length_bytes);
        send(out, data, bytes);
        return;
    }
    if (bytes > UINT8_MAX) {
        plim_emit_u32(out, codes[1], (uint32_t)bytes);
    } else {
        plim_emit_u8(out, codes[0], (uint8_t)bytes);
    }
    plim_emit_bytes(out, data, bytes);
}

void plim_emit_string(plim_emitter *out, const void *data, size_t bytes)
{
    static const uint8_t codes[] = { PLIM_PICKLE_OP_SHORT_BINUNICODE, PLIM_PICKLE_OP_BINUNICODE,
                                     PLIM_PICKLE_OP_BINUNICODE8 };
    plim_emit_text(out, codes, data, bytes);
}

void plim_emit_get(plim_emitter *out, uint64_t number)
{
    if (number <= UINT8_MAX) {
        plim_emit_u8(out, PLIM_PICKLE_OP_BINGET, (uint8_t)number);
    } else if (number <= UINT32_MAX) {
        plim_emit_u32(out, PLIM_PICKLE_OP_LONG_BINGET, (uint32_t)number);
    } else if (out->status == PLIM_OK) {
        out->status =
            plim_fail(out->err, PLIM_LIMIT, "a pickle can refer to 2^32 objects; this has more");
    }
}

void plim_emit_between(plim_emitter *out, const plim_emit_form *form, uint64_t next, uint64_t count)
{
    const bool is_end = next == count;
    if (count == 0) {
        return;
    }
    if (form->single != 0 && count == form->unit) {
        if (is_end) {
            plim_emit_opcode(out, form->single);
        }
        return;
    }
    const bool is_full = next % ((uint64_t)BATCH_ENTRIES * form->unit) == 0;
    if (next > 0 && (is_full || is_end)) {
        plim_emit_opcode(out, form->many);
    }
    if (is_full && !is_end) {
        plim_emit_opcode(out, PLIM_PICKLE_OP_MARK);
    } else if (is_full && form->ends_in_gap) {
        plim_emit_opcode(out, PLIM_PICKLE_OP_MARK);
        plim_emit_opcode(out, form->many);
    }
}
