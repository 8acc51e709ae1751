/*
 * utf16.c - UTF-16, as PowerShell's `>` writes it, into UTF-8 (Unicode 15, section 3.9).
 *
 * The byte order is that of the mark at the front; without one, that of the first character,
 * which is ASCII then (base/input.c). Marks are dropped wherever they stand, because logs are
 * appended to logs. A unit that is half of nothing becomes U+FFFD.
 */
#include "codec/member.h"

#include <string.h>

#define BYTE_ORDER_MARK 0xfeffu
#define REPLACEMENT     0xfffdu

typedef struct utf16_context {
    plim_member member;
    bool is_started; /* the byte order is known */
    bool is_big_endian;
    bool has_byte; /* the first of a unit */
    uint8_t byte;
    uint32_t high; /* the first unit of a pair, or 0 */
    uint8_t text[8];
    size_t text_bytes; /* that wait for room */
} utf16_context;

static void put(utf16_context *self, uint32_t code)
{
    uint8_t *const to = self->text + self->text_bytes;
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        self->text_bytes += 1;
    } else if (code < 0x800) {
        to[0] = (uint8_t)(0xc0 | code >> 6);
        to[1] = (uint8_t)(0x80 | (code & 0x3f));
        self->text_bytes += 2;
    } else if (code < 0x10000) {
        to[0] = (uint8_t)(0xe0 | code >> 12);
        to[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        to[2] = (uint8_t)(0x80 | (code & 0x3f));
        self->text_bytes += 3;
    } else {
        to[0] = (uint8_t)(0xf0 | code >> 18);
        to[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
        to[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        to[3] = (uint8_t)(0x80 | (code & 0x3f));
        self->text_bytes += 4;
    }
}

/* At most two characters: the replacement of a lone first half, and the unit's own. */
static void take_unit(utf16_context *self, uint32_t unit)
{
    const uint32_t high = self->high;
    const bool is_low = unit >= 0xdc00 && unit <= 0xdfff;
    self->high = unit >= 0xd800 && unit <= 0xdbff ? unit : 0;
    if (high != 0 && !is_low) {
        put(self, REPLACEMENT);
    }
    if (is_low) {
        put(self, high != 0 ? 0x10000 + ((high & 0x3ff) << 10) + (unit & 0x3ff) : REPLACEMENT);
    } else if (self->high == 0 && unit != BYTE_ORDER_MARK) {
        put(self, unit);
    }
}

static void take_byte(utf16_context *self, uint8_t byte)
{
    if (!self->has_byte) {
        self->byte = byte;
        self->has_byte = true;
        return;
    }
    self->has_byte = false;
    if (!self->is_started) {
        self->is_started = true;
        self->is_big_endian = self->byte == 0 || (self->byte == 0xfe && byte == 0xff);
    }
    take_unit(self, self->is_big_endian ? (uint32_t)self->byte << 8 | byte
                                        : (uint32_t)byte << 8 | self->byte);
}

static void drain(utf16_context *self, plim_codec_io *io)
{
    const size_t bytes = self->text_bytes < io->out_length ? self->text_bytes : io->out_length;
    memcpy(io->out, self->text, bytes);
    io->out += bytes;
    io->out_length -= bytes;
    self->text_bytes -= bytes;
    memmove(self->text, self->text + bytes, self->text_bytes);
}

static plim_status utf16_decode(void *ctx, plim_codec_io *io, plim_error *err)
{
    (void)err;
    utf16_context *const self = ctx;
    for (;;) {
        drain(self, io);
        if (self->text_bytes > 0) {
            return PLIM_OK;
        }
        if (io->in_length > 0) {
            take_byte(self, *io->in++);
            io->in_length--;
            io->in_offset++;
        } else if (io->in_ended && (self->has_byte || self->high != 0)) {
            self->has_byte = false;
            self->high = 0;
            put(self, REPLACEMENT);
        } else {
            io->done = io->in_ended;
            return PLIM_OK;
        }
    }
}

static const plim_member_kind kind = { .bytes = sizeof(utf16_context) };
const plim_codec plim_codec_utf16 = { "UTF-16", plim_member_open, utf16_decode, plim_member_close,
                                      &kind };
