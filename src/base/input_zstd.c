/*
 * input_zstd.c - zstd frames, one behind the other, into plain bytes (RFC 8878, by libzstd).
 *
 * The library takes as much input as it likes; we hand it what it asks for next, which is one
 * block at a time, so that damage is placed at the block it is in and what came before is kept.
 * A frame's window is bounded by libzstd's default of 128 MiB (ZSTD_d_windowLogMax = 27).
 */
#include "base/input_codec.h"

#include "base/error.h"

#include <inttypes.h>
#include <zstd.h>
#include <zstd_errors.h>

typedef struct zstd {
    const plim_mem *mem;
    ZSTD_DStream *stream;
    size_t start_bytes; /* what a frame's first call wants */
    size_t next_bytes;  /* what the next call wants */
    bool between;       /* frames: the last one is complete, the next has not begun */
} zstd;

static bool zstd_recognise(const uint8_t *data, size_t length)
{
    if (length < 4) {
        return false;
    }
    const uint32_t magic = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                           (uint32_t)data[3] << 24;
    /* Parallel writers put a skippable frame, with sizes for parallel readers, in front. */
    return magic == ZSTD_MAGICNUMBER ||
           (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static plim_status zstd_open(const plim_mem *mem, void **ret_ctx, plim_error *err)
{
    zstd *self = plim_mem_alloc_zeroed(mem, 1, sizeof *self);
    ZSTD_DStream *stream = self == NULL ? NULL : ZSTD_createDStream();
    if (stream == NULL) {
        plim_mem_free(mem, self, 1, sizeof *self);
        return plim_fail_memory(err, "preparing to decompress zstd");
    }
    *self = (zstd){ .mem = mem, .stream = stream, .between = true };
    self->start_bytes = ZSTD_initDStream(stream);
    self->next_bytes = self->start_bytes;
    *ret_ctx = self;
    return PLIM_OK;
}

static void zstd_close(void *ctx)
{
    zstd *self = ctx;
    ZSTD_freeDStream(self->stream);
    plim_mem_free(self->mem, self, 1, sizeof *self);
}

static plim_status fail_step(const plim_codec_io *io, size_t result, bool between, plim_error *err)
{
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
    if (code == ZSTD_error_memory_allocation) {
        return plim_fail_memory(err, "decompressing zstd");
    }
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
        return plim_fail_at(err, PLIM_LIMIT, io->in_offset,
                            "\"%s\" was compressed with a window above 128 MiB; pipe it through "
                            "zstd -dc --long=31",
                            io->name);
    }
    if (code == ZSTD_error_prefix_unknown && between) {
        return plim_fail_at(err, PLIM_CORRUPT, io->in_offset,
                            "\"%s\" has something that is not zstd behind its zstd data, at byte "
                            "%" PRIu64 " of the compressed file",
                            io->name, io->in_offset);
    }
    return plim_fail_at(err, PLIM_CORRUPT, io->in_offset,
                        "\"%s\" is damaged behind byte %" PRIu64
                        " of the compressed file (zstd: %s); get it again",
                        io->name, io->in_offset, ZSTD_getErrorName(result));
}

static plim_status zstd_decode(void *ctx, plim_codec_io *io, plim_error *err)
{
    zstd *self = ctx;
    for (;;) {
        if (self->between && io->in_length == 0) {
            io->done = io->in_ended;
            return PLIM_OK;
        }
        if (io->out_length == 0) {
            return PLIM_OK;
        }
        const size_t length = io->in_length < self->next_bytes ? io->in_length : self->next_bytes;
        ZSTD_inBuffer in = { .src = io->in, .size = length };
        ZSTD_outBuffer out = { .dst = io->out, .size = io->out_length };
        const size_t result = ZSTD_decompressStream(self->stream, &out, &in);
        if (ZSTD_isError(result)) {
            return fail_step(io, result, self->between, err);
        }
        io->in += in.pos;
        io->in_length -= in.pos;
        io->in_offset += in.pos;
        io->out += out.pos;
        io->out_length -= out.pos;
        self->between = result == 0;
        self->next_bytes = result == 0 ? self->start_bytes : result;
        if (!self->between && in.pos == 0 && out.pos == 0) {
            if (!io->in_ended) {
                return PLIM_OK;
            }
            return plim_fail_at(err, PLIM_CORRUPT, io->in_offset,
                                "\"%s\" is cut off: its zstd data ends in the middle, at byte "
                                "%" PRIu64 "; get it again",
                                io->name, io->in_offset);
        }
    }
}

const plim_codec plim_codec_zstd = {
    .name = "zstd",
    .recognise = zstd_recognise,
    .open = zstd_open,
    .decode = zstd_decode,
    .close = zstd_close,
};
