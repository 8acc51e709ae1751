/*
 * bzip2.c - bzip2 streams into plain bytes (by libbz2). One needs 3.7 MiB at most.
 */
#include "base/error.h"
#include "codec/codecs.h"

#if PLIM_HAS_BZIP2

#include <bzlib.h>
#include <limits.h>

typedef struct bzip2 {
    plim_member member;
    bz_stream stream;
    bool is_open;
} bzip2;

static void *take_piece(void *ctx, int count, int item_bytes)
{
    return plim_member_alloc(ctx, (size_t)count, (size_t)item_bytes);
}

static void give_piece(void *ctx, void *piece)
{
    plim_member_free(ctx, piece);
}

static unsigned clamp(size_t length)
{
    return length < UINT_MAX ? (unsigned)length : UINT_MAX;
}

static plim_member_step bzip2_step(plim_member *member, plim_codec_io *io)
{
    bzip2 *const self = (bzip2 *)member;
    union { /* libbz2's next_in is not const, and is only read */
        const uint8_t *in;
        char *next_in;
    } hook = { .in = io->in };
    const unsigned in_length = clamp(io->in_length);
    const unsigned out_length = clamp(io->out_length);
    self->stream.next_in = hook.next_in;
    self->stream.avail_in = in_length;
    self->stream.next_out = (char *)io->out;
    self->stream.avail_out = out_length;
    const int result = BZ2_bzDecompress(&self->stream);
    plim_member_move(io, io->in_length - (in_length - self->stream.avail_in),
                     io->out_length - (out_length - self->stream.avail_out));
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

static void end_stream(bzip2 *self)
{
    if (self->is_open) {
        (void)BZ2_bzDecompressEnd(&self->stream);
    }
    self->is_open = false;
}

/* libbz2 has no way to start a stream again. */
static bool bzip2_begin(plim_member *member)
{
    bzip2 *const self = (bzip2 *)member;
    union { /* the opaque pointer is not const; the hooks above only read through it */
        const plim_mem *mem;
        void *opaque;
    } hook = { .mem = member->mem };
    end_stream(self);
    self->stream =
        (bz_stream){ .bzalloc = take_piece, .bzfree = give_piece, .opaque = hook.opaque };
    self->is_open = BZ2_bzDecompressInit(&self->stream, 0, 0) == BZ_OK;
    return self->is_open;
}

static const plim_member_kind kind = { "bzip2", "B", false, bzip2_step, bzip2_begin };

static plim_status bzip2_open(const plim_mem *mem, void **ret_ctx, plim_error *err)
{
    bzip2 *const self = plim_mem_alloc_zeroed(mem, 1, sizeof *self);
    if (self == NULL) {
        return plim_fail_memory(err, "preparing to decompress");
    }
    self->member = (plim_member){ .kind = &kind, .mem = mem };
    *ret_ctx = self;
    return PLIM_OK;
}

static void bzip2_close(void *ctx)
{
    bzip2 *const self = ctx;
    end_stream(self);
    plim_mem_free(self->member.mem, self, 1, sizeof *self);
}

const plim_codec plim_codec_bzip2 = { "bzip2", bzip2_open, plim_member_decode, bzip2_close };

#endif
