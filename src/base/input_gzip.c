/*
 * input_gzip.c - gzip members, one behind the other, into plain bytes (RFC 1952, by zlib).
 *
 * Behind a member there may be another one or zeros (tapes and block devices pad with them);
 * anything else is an error, because half a download appended to another looks like that.
 */
#include "base/input_codec.h"

#include "base/error.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <zlib.h>

#define MAGIC_FIRST  0x1fu
#define MAGIC_SECOND 0x8bu
/* 15: the largest window there is, 32 KiB; 16 more: a gzip header, not a zlib one. */
#define WINDOW_BITS (15 + 16)

typedef struct gzip {
    const plim_mem *mem;
    z_stream z;
    bool between; /* members: the last one is complete, the next has not begun */
} gzip;

/* zlib does not tell the size when it frees, so each piece remembers its own. */
typedef union piece_header {
    size_t bytes;
    max_align_t align;
} piece_header;

static voidpf take_piece(voidpf ctx, uInt count, uInt item_bytes)
{
    const plim_mem *mem = ctx;
    size_t bytes = 0;
    if (!plim_checked_mul(count, item_bytes, &bytes) || bytes > SIZE_MAX - sizeof(piece_header)) {
        return NULL;
    }
    bytes += sizeof(piece_header);
    /* Zeroed: inflate() is allowed to look at window bytes it has not written yet. */
    piece_header *piece = plim_mem_alloc_zeroed(mem, bytes, 1);
    if (piece == NULL) {
        return NULL;
    }
    piece->bytes = bytes;
    return piece + 1;
}

static void free_piece(voidpf ctx, voidpf ptr)
{
    if (ptr != NULL) {
        piece_header *piece = (piece_header *)ptr - 1;
        plim_mem_free(ctx, piece, piece->bytes, 1);
    }
}

static bool gzip_recognise(const uint8_t *data, size_t length)
{
    return length >= 2 && data[0] == MAGIC_FIRST && data[1] == MAGIC_SECOND;
}

static plim_status gzip_open(const plim_mem *mem, void **ret_ctx, plim_error *err)
{
    gzip *self = plim_mem_alloc_zeroed(mem, 1, sizeof *self);
    if (self == NULL) {
        return plim_fail_memory(err, "preparing to decompress gzip");
    }
    self->mem = mem;
    /* zlib's opaque pointer is not const; the hooks above only read through it. */
    union {
        const plim_mem *mem;
        voidpf opaque;
    } hook = { .mem = mem };
    self->z = (z_stream){ .zalloc = take_piece, .zfree = free_piece, .opaque = hook.opaque };
    if (inflateInit2(&self->z, WINDOW_BITS) != Z_OK) {
        plim_mem_free(mem, self, 1, sizeof *self);
        return plim_fail_memory(err, "preparing to decompress gzip");
    }
    *ret_ctx = self;
    return PLIM_OK;
}

static void gzip_close(void *ctx)
{
    gzip *self = ctx;
    inflateEnd(&self->z);
    plim_mem_free(self->mem, self, 1, sizeof *self);
}

static void take(plim_codec_io *io, size_t bytes)
{
    io->in += bytes;
    io->in_length -= bytes;
    io->in_offset += bytes;
}

/* Past the padding behind a member; then either all is done or the next member begins. */
static plim_status leave_gap(gzip *self, plim_codec_io *io, plim_error *err)
{
    while (io->in_length > 0 && *io->in == 0) {
        take(io, 1);
    }
    if (io->in_length == 0) {
        io->done = io->in_ended;
        return PLIM_OK;
    }
    if (*io->in != MAGIC_FIRST) {
        return plim_fail_at(err, PLIM_CORRUPT, io->in_offset,
                            "\"%s\" has something that is not gzip behind its gzip data, at byte "
                            "%" PRIu64 " of the compressed file",
                            io->name, io->in_offset);
    }
    inflateReset(&self->z);
    self->between = false;
    return PLIM_OK;
}

static uInt clamp(size_t length)
{
    return length < UINT_MAX ? (uInt)length : UINT_MAX;
}

/* One inflate(): moves both ends of `io`. */
static int step(gzip *self, plim_codec_io *io)
{
    const uInt in_length = clamp(io->in_length);
    const uInt out_length = clamp(io->out_length);
    union { /* zlib's next_in is const only where ZLIB_CONST says so */
        const uint8_t *in;
        Bytef *next_in;
    } hook = { .in = io->in };
    self->z.next_in = hook.next_in;
    self->z.avail_in = in_length;
    self->z.next_out = io->out;
    self->z.avail_out = out_length;

    const int result = inflate(&self->z, Z_NO_FLUSH);

    take(io, in_length - self->z.avail_in);
    io->out += out_length - self->z.avail_out;
    io->out_length -= out_length - self->z.avail_out;
    return result;
}

static plim_status gzip_decode(void *ctx, plim_codec_io *io, plim_error *err)
{
    gzip *self = ctx;
    for (;;) {
        if (self->between) {
            PLIM_TRY(leave_gap(self, io, err));
            if (self->between) {
                return PLIM_OK;
            }
        }
        if (io->out_length == 0) {
            return PLIM_OK;
        }
        const int result = step(self, io);
        if (result == Z_STREAM_END) {
            self->between = true;
            continue;
        }
        if (result == Z_MEM_ERROR) {
            return plim_fail_memory(err, "decompressing gzip");
        }
        if (result != Z_OK && result != Z_BUF_ERROR) {
            return plim_fail_at(err, PLIM_CORRUPT, io->in_offset,
                                "\"%s\" is damaged at byte %" PRIu64
                                " of the compressed file (gzip: %s); get it again",
                                io->name, io->in_offset,
                                self->z.msg != NULL ? self->z.msg : "invalid data");
        }
        if (io->in_length == 0 && io->out_length > 0) {
            if (!io->in_ended) {
                return PLIM_OK;
            }
            return plim_fail_at(err, PLIM_CORRUPT, io->in_offset,
                                "\"%s\" is cut off: its gzip data ends in the middle, at byte "
                                "%" PRIu64 "; get it again",
                                io->name, io->in_offset);
        }
    }
}

const plim_codec plim_codec_gzip = {
    .name = "gzip",
    .recognise = gzip_recognise,
    .open = gzip_open,
    .decode = gzip_decode,
    .close = gzip_close,
};
