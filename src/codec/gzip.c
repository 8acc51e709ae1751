/*
 * gzip.c - gzip members into plain bytes (RFC 1952, by zlib).
 */
#include "base/error.h"
#include "codec/codecs.h"

#include <limits.h>
#include <zlib.h>

/* 15: the largest window there is, 32 KiB; 16 more: a gzip header, not a zlib one. */
#define WINDOW_BITS (15 + 16)

typedef struct gzip {
    plim_member member;
    z_stream z;
} gzip;

/* inflate() may look at window bytes that it has not written yet: they are zeroed. */
static voidpf take_piece(voidpf ctx, uInt count, uInt item_bytes)
{
    return plim_member_alloc(ctx, count, item_bytes);
}

static void give_piece(voidpf ctx, voidpf piece)
{
    plim_member_free(ctx, piece);
}

static uInt clamp(size_t length)
{
    return length < UINT_MAX ? (uInt)length : UINT_MAX;
}

static plim_member_step gzip_step(plim_member *member, plim_codec_io *io)
{
    gzip *const self = (gzip *)member;
    union { /* zlib's next_in is const only where ZLIB_CONST says so */
        const uint8_t *in;
        Bytef *next_in;
    } hook = { .in = io->in };
    const uInt in_length = clamp(io->in_length);
    const uInt out_length = clamp(io->out_length);
    self->z.next_in = hook.next_in;
    self->z.avail_in = in_length;
    self->z.next_out = io->out;
    self->z.avail_out = out_length;
    const int result = inflate(&self->z, Z_NO_FLUSH);
    plim_member_move(io, io->in_length - (in_length - self->z.avail_in),
                     io->out_length - (out_length - self->z.avail_out));
    member->why = self->z.msg;
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR:
        return PLIM_MEMBER_MORE;
    case Z_STREAM_END:
        return PLIM_MEMBER_END;
    case Z_MEM_ERROR:
        return PLIM_MEMBER_NO_MEMORY;
    default:
        return PLIM_MEMBER_DAMAGED;
    }
}

static bool gzip_begin(plim_member *member)
{
    return inflateReset(&((gzip *)member)->z) == Z_OK;
}

static const plim_member_kind kind = { "gzip", "\x1f", true, gzip_step, gzip_begin };

static plim_status gzip_open(const plim_mem *mem, void **ret_ctx, plim_error *err)
{
    gzip *const self = plim_mem_alloc_zeroed(mem, 1, sizeof *self);
    if (self == NULL) {
        return plim_fail_memory(err, "preparing to decompress");
    }
    self->member = (plim_member){ .kind = &kind, .mem = mem };
    union { /* zlib's opaque pointer is not const; the hooks above only read through it */
        const plim_mem *mem;
        voidpf opaque;
    } hook = { .mem = mem };
    self->z = (z_stream){ .zalloc = take_piece, .zfree = give_piece, .opaque = hook.opaque };
    if (inflateInit2(&self->z, WINDOW_BITS) != Z_OK) {
        plim_mem_free(mem, self, 1, sizeof *self);
        return plim_fail_memory(err, "preparing to decompress");
    }
    *ret_ctx = self;
    return PLIM_OK;
}

static void gzip_close(void *ctx)
{
    gzip *const self = ctx;
    inflateEnd(&self->z);
    plim_mem_free(self->member.mem, self, 1, sizeof *self);
}

const plim_codec plim_codec_gzip = { "gzip", gzip_open, plim_member_decode, gzip_close };
