/*
 * zstd.c - zstd frames into plain bytes (RFC 8878, by libzstd).
 *
 * The library takes as much input as it likes; it is handed what it asks for next, which is one
 * block at a time, so that damage is placed at the block it is in and what came before is kept.
 * A frame's window is bounded by libzstd's default of 128 MiB (ZSTD_d_windowLogMax = 27).
 */
#include "base/numbers.h"
#include "codec/member.h"

#include <zstd.h>
#include <zstd_errors.h>

typedef struct zstd_context {
    plim_member member;
    ZSTD_DStream *stream;
    size_t next_bytes; /* what the next call wants */
} zstd_context;

static bool zstd_begin(plim_member *member)
{
    zstd_context *const self = (zstd_context *)member;
    self->stream = self->stream != NULL ? self->stream : ZSTD_createDStream();
    self->next_bytes = self->stream != NULL ? ZSTD_initDStream(self->stream) : 0;
    return self->stream != NULL;
}

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
    zstd_context *const self = (zstd_context *)member;
    ZSTD_inBuffer in = { .src = io->in, .size = plim_min(io->in_length, self->next_bytes) };
    ZSTD_outBuffer out = { .dst = io->out, .size = io->out_length };
    const size_t result = ZSTD_decompressStream(self->stream, &out, &in);
    if (ZSTD_isError(result)) {
        return fail_step(member, result);
    }
    plim_member_move(io, in.pos, out.pos);
    self->next_bytes = result;
    return result == 0 ? PLIM_MEMBER_END : PLIM_MEMBER_MORE;
}

static void zstd_end(plim_member *member)
{
    (void)ZSTD_freeDStream(((zstd_context *)member)->stream);
}

/* Of frames, and of the skippable ones in which parallel writers put sizes for parallel readers. */
#define FIRST_BYTES "\x28PQRSTUVWXYZ[\\]^_"

static const plim_member_kind kind = { sizeof(zstd_context), FIRST_BYTES, false,
                                       zstd_begin,           zstd_step,   zstd_end };
const plim_codec plim_codec_zstd = { "zstd", plim_member_open, plim_member_decode,
                                     plim_member_close, &kind };
