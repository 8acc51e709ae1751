/*
 * gzip.c - gzip members into plain bytes (RFC 1952, by zlib).
 */
#include "codec/member.h"

#include <zlib.h>

/* 15: the largest window there is, 32 KiB; 16 more: a gzip header, not a zlib one. */
#define WINDOW_BITS (15 + 16)

typedef struct gzip_context {
    plim_member member;
    z_stream z;
} gzip_context;

/* inflate() may look at window bytes that it has not written yet: they are zeroed. */
static voidpf take_piece(voidpf opaque, uInt count, uInt item_bytes)
{
    return plim_member_alloc(opaque, count, item_bytes);
}

static void give_piece(voidpf opaque, voidpf piece)
{
    plim_member_free(opaque, piece);
}

static bool gzip_begin(plim_member *member)
{
    z_stream *const z = &((gzip_context *)member)->z;
    if (z->state != NULL) {
        return inflateReset(z) == Z_OK;
    }
    z->zalloc = take_piece;
    z->zfree = give_piece;
    z->opaque = plim_member_opaque(member);
    return inflateInit2(z, WINDOW_BITS) == Z_OK;
}

static plim_member_step gzip_step(plim_member *member, plim_codec_io *io)
{
    z_stream *const z = &((gzip_context *)member)->z;
    const uInt in_length = plim_member_clamp(io->in_length);
    const uInt out_length = plim_member_clamp(io->out_length);
    z->next_in = plim_member_input(io);
    z->avail_in = in_length;
    z->next_out = io->out;
    z->avail_out = out_length;
    const int result = inflate(z, Z_NO_FLUSH);
    plim_member_move(io, in_length - z->avail_in, out_length - z->avail_out);
    member->why = z->msg;
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

static void gzip_end(plim_member *member)
{
    (void)inflateEnd(&((gzip_context *)member)->z); /* refuses one that was not begun */
}

static const plim_member_kind kind = { sizeof(gzip_context), "\x1f",    true,
                                       gzip_begin,           gzip_step, gzip_end };
const plim_codec plim_codec_gzip = { "gzip", plim_member_open, plim_member_decode,
                                     plim_member_close, &kind };
