/*
 * gzip_sink.c - zlib's deflate as a sink (RFC 1952).
 */
#include "codec/gzip_sink.h"

#include "base/error.h"
#include "base/units.h"
#include "codec/member.h"

#define ZLIB_CONST /* next_in is only read through */
#include <zlib.h>

/* 15: the largest window there is, 32 KiB; 16 more: a gzip header, not a zlib one. */
#define WINDOW_BITS  (15 + 16)
#define MEMORY_LEVEL 8 /* zlib's default: 256 KiB in all */
#define OUT_BYTES    ((size_t)(64 * KIB))
#define IN_BYTES_MAX ((size_t)1 << 30) /* of a call: avail_in is an unsigned int */

struct plim_gzip_sink {
    plim_member member; /* its memory alone */
    plim_sink below;
    z_stream z;
    bool is_open;
    bool failed;
    unsigned char out[OUT_BYTES];
};

static voidpf take_piece(voidpf opaque, uInt count, uInt item_bytes)
{
    return plim_member_alloc(opaque, count, item_bytes);
}

static void give_piece(voidpf opaque, voidpf piece)
{
    plim_member_free(opaque, piece);
}

plim_status plim_gzip_sink_create(plim_sink below, const plim_mem *mem, plim_gzip_sink **ret_sink,
                                  plim_error *err)
{
    plim_gzip_sink *const gzip = plim_mem_alloc_zeroed(mem, 1, sizeof *gzip);
    if (gzip == NULL) {
        return plim_fail_memory(err, "compressing");
    }
    gzip->member.mem = mem;
    gzip->below = below;
    gzip->z.zalloc = take_piece;
    gzip->z.zfree = give_piece;
    gzip->z.opaque = plim_member_opaque(&gzip->member);
    gzip->is_open = deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS,
                                 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!gzip->is_open) {
        plim_gzip_sink_destroy(gzip);
        return plim_fail_memory(err, "compressing");
    }
    *ret_sink = gzip;
    return PLIM_OK;
}

/* Until the input is used up and, at the end, all output written. */
static void deflate_all(plim_gzip_sink *gzip, int flush)
{
    int result = Z_OK;
    do {
        gzip->z.next_out = gzip->out;
        gzip->z.avail_out = OUT_BYTES;
        result = deflate(&gzip->z, flush);
        const size_t bytes = OUT_BYTES - gzip->z.avail_out;
        if (bytes > 0 && !gzip->below.write(gzip->below.ctx, gzip->out, bytes)) {
            gzip->failed = true;
        }
    } while (!gzip->failed && gzip->z.avail_out == 0 && result != Z_STREAM_END);
}

static bool write_gzip(void *ctx, const void *data, size_t bytes)
{
    plim_gzip_sink *const gzip = ctx;
    const unsigned char *from = data;
    while (bytes > 0 && !gzip->failed) {
        const size_t piece = bytes < IN_BYTES_MAX ? bytes : IN_BYTES_MAX;
        gzip->z.next_in = from;
        gzip->z.avail_in = (uInt)piece;
        deflate_all(gzip, Z_NO_FLUSH);
        from += piece;
        bytes -= piece;
    }
    return !gzip->failed;
}

plim_sink plim_gzip_sink_of(plim_gzip_sink *gzip)
{
    return (plim_sink){ .write = write_gzip, .ctx = gzip };
}

bool plim_gzip_sink_finish(plim_gzip_sink *gzip)
{
    if (!gzip->failed) {
        gzip->z.next_in = NULL;
        gzip->z.avail_in = 0;
        deflate_all(gzip, Z_FINISH);
    }
    return !gzip->failed;
}

void plim_gzip_sink_destroy(plim_gzip_sink *gzip)
{
    if (gzip == NULL) {
        return;
    }
    if (gzip->is_open) {
        (void)deflateEnd(&gzip->z);
    }
    plim_mem_free(gzip->member.mem, gzip, 1, sizeof *gzip);
}
