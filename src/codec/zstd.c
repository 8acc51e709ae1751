/*
 * zstd.c - zstd frames into plain bytes (RFC 8878, by libzstd).
 *
 * The library takes as much input as it likes; it is handed what it asks for next, which is one
 * block at a time, so that damage is placed at the block it is in and what came before is kept.
 * A frame's window is bounded by libzstd's default of 128 MiB (ZSTD_d_windowLogMax = 27).
 */
#include "base/error.h"
#include "base/numbers.h"
#include "codec/codecs.h"

#include <zstd.h>
#include <zstd_errors.h>

typedef struct zstd {
    plim_member member;
    ZSTD_DStream *stream;
    size_t start_bytes; /* what a frame's first call wants */
    size_t next_bytes;  /* what the next call wants */
} zstd;

static plim_member_step fail_step(plim_member *member, size_t result)
{
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
    member->why = ZSTD_getErrorName(result);
    if (code == ZSTD_error_memory_allocation) {
        return PLIM_MEMBER_NO_MEMORY;
    }
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
        member->why = "was compressed with a window above 128 MiB; pipe it through "
                      "zstd -dc --long=31";
        return PLIM_MEMBER_LIMIT;
    }
    return PLIM_MEMBER_DAMAGED;
}

static plim_member_step zstd_step(plim_member *member, plim_codec_io *io)
{
    zstd *const self = (zstd *)member;
    ZSTD_inBuffer in = { .src = io->in, .size = plim_min(io->in_length, self->next_bytes) };
    ZSTD_outBuffer out = { .dst = io->out, .size = io->out_length };
    const size_t result = ZSTD_decompressStream(self->stream, &out, &in);
    if (ZSTD_isError(result)) {
        return fail_step(member, result);
    }
    plim_member_move(io, io->in_length - in.pos, io->out_length - out.pos);
    self->next_bytes = result;
    return result == 0 ? PLIM_MEMBER_END : PLIM_MEMBER_MORE;
}

static bool zstd_begin(plim_member *member)
{
    zstd *const self = (zstd *)member;
    self->next_bytes = self->start_bytes;
    return true;
}

/* Of frames, and of the skippable ones in which parallel writers put sizes for parallel readers. */
#define FIRST_BYTES "\x28PQRSTUVWXYZ[\\]^_"

static const plim_member_kind kind = { "zstd", FIRST_BYTES, false, zstd_step, zstd_begin };

static plim_status zstd_open(const plim_mem *mem, void **ret_ctx, plim_error *err)
{
    zstd *const self = plim_mem_alloc_zeroed(mem, 1, sizeof *self);
    ZSTD_DStream *const stream = self == NULL ? NULL : ZSTD_createDStream();
    if (stream == NULL) {
        plim_mem_free(mem, self, 1, sizeof *self);
        return plim_fail_memory(err, "preparing to decompress");
    }
    *self = (zstd){ .member = { .kind = &kind, .mem = mem }, .stream = stream };
    self->start_bytes = ZSTD_initDStream(stream);
    *ret_ctx = self;
    return PLIM_OK;
}

static void zstd_close(void *ctx)
{
    zstd *const self = ctx;
    ZSTD_freeDStream(self->stream);
    plim_mem_free(self->member.mem, self, 1, sizeof *self);
}

const plim_codec plim_codec_zstd = { "zstd", zstd_open, plim_member_decode, zstd_close };
