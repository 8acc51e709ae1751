/*
 * xz.c - xz streams into plain bytes (by liblzma).
 */
#include "base/error.h"
#include "base/units.h"
#include "codec/codecs.h"

#if PLIM_HAS_XZ

#include <lzma.h>

/* xz -9 needs 65 MiB; a file that wants more is refused, so that no file can take the memory. */
#define MEMORY_MAX (128 * MIB)

typedef struct xz {
    plim_member member;
    lzma_stream stream;
    lzma_allocator allocator;
} xz;

static void *take_piece(void *ctx, size_t count, size_t item_bytes)
{
    return plim_member_alloc(ctx, count, item_bytes);
}

static void give_piece(void *ctx, void *piece)
{
    plim_member_free(ctx, piece);
}

static plim_member_step xz_step(plim_member *member, plim_codec_io *io)
{
    xz *const self = (xz *)member;
    self->stream.next_in = io->in;
    self->stream.avail_in = io->in_length;
    self->stream.next_out = io->out;
    self->stream.avail_out = io->out_length;
    const lzma_ret result = lzma_code(&self->stream, LZMA_RUN);
    plim_member_move(io, self->stream.avail_in, self->stream.avail_out);
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

static bool xz_begin(plim_member *member)
{
    xz *const self = (xz *)member;
    return lzma_stream_decoder(&self->stream, MEMORY_MAX, 0) == LZMA_OK;
}

static const plim_member_kind kind = { "xz", "\xfd", true, xz_step, xz_begin };

static plim_status xz_open(const plim_mem *mem, void **ret_ctx, plim_error *err)
{
    xz *const self = plim_mem_alloc_zeroed(mem, 1, sizeof *self);
    if (self == NULL) {
        return plim_fail_memory(err, "preparing to decompress");
    }
    union { /* liblzma's opaque pointer is not const; the hooks above only read through it */
        const plim_mem *mem;
        void *opaque;
    } hook = { .mem = mem };
    self->member = (plim_member){ .kind = &kind, .mem = mem };
    self->allocator = (lzma_allocator){ take_piece, give_piece, hook.opaque };
    self->stream = (lzma_stream)LZMA_STREAM_INIT;
    self->stream.allocator = &self->allocator;
    *ret_ctx = self;
    return PLIM_OK;
}

static void xz_close(void *ctx)
{
    xz *const self = ctx;
    lzma_end(&self->stream);
    plim_mem_free(self->member.mem, self, 1, sizeof *self);
}

const plim_codec plim_codec_xz = { "xz", xz_open, plim_member_decode, xz_close };

#endif
