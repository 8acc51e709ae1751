/*
 * xz.c - xz streams into plain bytes (by liblzma).
 */
#include "codec/member.h"

#if PLIM_HAS_XZ

#include "base/units.h"

#include <lzma.h>

/* xz -9 needs 65 MiB; a file that wants more is refused, so that no file can take the memory. */
#define XZ_BYTES_MAX (128 * MIB)

typedef struct xz_context {
    plim_member member;
    lzma_stream stream;
    lzma_allocator allocator;
} xz_context;

static void *take_piece(void *opaque, size_t count, size_t item_bytes)
{
    return plim_member_alloc(opaque, count, item_bytes);
}

static void give_piece(void *opaque, void *piece)
{
    plim_member_free(opaque, piece);
}

static bool xz_begin(plim_member *member)
{
    xz_context *const self = (xz_context *)member;
    self->allocator = (lzma_allocator){ take_piece, give_piece, plim_member_opaque(member) };
    self->stream.allocator = &self->allocator;
    return lzma_stream_decoder(&self->stream, XZ_BYTES_MAX, 0) == LZMA_OK;
}

static plim_member_step xz_step(plim_member *member, plim_codec_io *io)
{
    lzma_stream *const stream = &((xz_context *)member)->stream;
    stream->next_in = io->in;
    stream->avail_in = io->in_length;
    stream->next_out = io->out;
    stream->avail_out = io->out_length;
    const lzma_ret result = lzma_code(stream, LZMA_RUN);
    plim_member_move(io, io->in_length - stream->avail_in, io->out_length - stream->avail_out);
    switch ((int)result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return PLIM_MEMBER_MORE;
    case LZMA_STREAM_END:
        return PLIM_MEMBER_END;
    case LZMA_MEM_ERROR:
        return PLIM_MEMBER_NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        member->why = "takes more than 128 MiB to decompress; pipe it through xz -dc";
        return PLIM_MEMBER_LIMIT;
    default:
        member->why = result == LZMA_OPTIONS_ERROR ? "unsupported options" : NULL;
        return PLIM_MEMBER_DAMAGED;
    }
}

static void xz_end(plim_member *member)
{
    lzma_end(&((xz_context *)member)->stream);
}

static const plim_member_kind kind = {
    sizeof(xz_context), "\xfd", true, xz_begin, xz_step, xz_end
};
const plim_codec plim_codec_xz = { "xz", plim_member_open, plim_member_decode, plim_member_close,
                                   &kind };

#endif
