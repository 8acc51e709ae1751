/*
 * bzip2.c - bzip2 streams into plain bytes (by libbz2). One needs 3.7 MiB at most.
 */
#include "codec/member.h"

#if PLIM_HAS_BZIP2

#include <bzlib.h>

typedef struct bzip2_context {
    plim_member member;
    bz_stream stream;
} bzip2_context;

static void *take_piece(void *opaque, int count, int item_bytes)
{
    return plim_member_alloc(opaque, (size_t)count, (size_t)item_bytes);
}

static void give_piece(void *opaque, void *piece)
{
    plim_member_free(opaque, piece);
}

static void bzip2_end(plim_member *member)
{
    /* Refuses a stream that was not begun. */
    (void)BZ2_bzDecompressEnd(&((bzip2_context *)member)->stream);
}

/* libbz2 has no way to start a stream again. */
static bool bzip2_begin(plim_member *member)
{
    bz_stream *const stream = &((bzip2_context *)member)->stream;
    bzip2_end(member);
    *stream = (bz_stream){ .bzalloc = take_piece,
                           .bzfree = give_piece,
                           .opaque = plim_member_opaque(member) };
    return BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK;
}

static plim_member_step bzip2_step(plim_member *member, plim_codec_io *io)
{
    bz_stream *const stream = &((bzip2_context *)member)->stream;
    const unsigned in_length = plim_member_clamp(io->in_length);
    const unsigned out_length = plim_member_clamp(io->out_length);
    stream->next_in = plim_member_input(io);
    stream->avail_in = in_length;
    stream->next_out = (char *)io->out;
    stream->avail_out = out_length;
    const int result = BZ2_bzDecompress(stream);
    plim_member_move(io, in_length - stream->avail_in, out_length - stream->avail_out);
    switch (result) {
    case BZ_OK:
        return PLIM_MEMBER_MORE;
    case BZ_STREAM_END:
        return PLIM_MEMBER_END;
    case BZ_MEM_ERROR:
        return PLIM_MEMBER_NO_MEMORY;
    default:
        return PLIM_MEMBER_DAMAGED;
    }
}

static const plim_member_kind kind = { sizeof(bzip2_context), "B",        false,
                                       bzip2_begin,           bzip2_step, bzip2_end };
const plim_codec plim_codec_bzip2 = { "bzip2", plim_member_open, plim_member_decode,
                                      plim_member_close, &kind };

#endif
