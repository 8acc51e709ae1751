/*
 * codec.h - the interface between base/input and the decoders of compressed or re-encoded bytes.
 *
 * base/input recognises forms by their first bytes and knows no decoder: callers give it those
 * they have (room codec has all). A codec turns the bytes of an input into plain ones, piece by
 * piece, and knows where its members (frames) begin and end. It never sees files.
 */
#ifndef PLIMSOLL_BASE_CODEC_H
#define PLIMSOLL_BASE_CODEC_H

#include "base/memory.h"

#include "plimsoll/status.h"

/* One call's work: both ends move forward as bytes are taken and given. */
typedef struct plim_codec_io {
    const uint8_t *in;
    size_t in_length;
    uint64_t in_offset; /* of `in` in the compressed input */
    bool in_ended;      /* nothing follows after in_length */
    uint8_t *out;
    size_t out_length;
    bool done;        /* set by the codec: the last member is complete and nothing follows */
    const char *name; /* of the input, for messages */
} plim_codec_io;

typedef struct plim_codec plim_codec;
struct plim_codec {
    const char *name; /* "gzip": that of a form in base/input.c */
    plim_status (*open)(const plim_codec *codec, const plim_mem *mem, void **ret_ctx,
                        plim_error *err);
    /*
     * Goes on until `in` is empty, `out` is full or all is done. With an error, what was decoded
     * before it is counted in `out`. An input that ends within a member is PLIM_CORRUPT.
     */
    plim_status (*decode)(void *ctx, plim_codec_io *io, plim_error *err);
    void (*close)(void *ctx);
    const void *kind; /* the codec's own */
};

#endif
