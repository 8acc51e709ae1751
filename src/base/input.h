/*
 * input.h - bytes coming in: a file, a pipe or memory, plain or compressed, through one window.
 *
 *   [ consumed ......... | window, readable now | not read yet ........... ]
 *                        ^ plim_input_offset()
 *
 * gzip, zstd, xz, bzip2 and UTF-16 are recognised by their first bytes and decoded on the way, by
 * the codecs that the caller gives. Only the window is kept: it starts at 256 KiB and grows only
 * when a caller wants more and the bytes have arrived, so a length that a file claims costs
 * nothing. Files are read, not mapped (docs/design/input.md has the figures): a file that shrinks
 * meanwhile is a short input and no signal. Memory is not copied.
 *
 * One thread at a time. Messages name the input, so callers need not.
 */
#ifndef PLIMSOLL_BASE_INPUT_H
#define PLIMSOLL_BASE_INPUT_H

#include "base/codec.h"
#include "base/memory.h"

#include "plimsoll/status.h"

typedef struct plim_input plim_input;

typedef struct plim_window {
    const uint8_t *data;
    size_t length;
} plim_window;

typedef struct plim_input_options {
    const plim_mem *mem; /* borrowed until plim_input_close(); NULL is the heap. zstd uses
                          * its own heap: its hooks are not part of its stable interface */
    const plim_codec *const *codecs; /* NULL after the last; NULL: plain bytes alone are read */
    bool may_be_empty;               /* an empty file is an empty window, not an error */
} plim_input_options;

/**
 * Open a file and look at its first bytes.
 *
 * path     a file, a named pipe, or "-" for standard input
 * options  may be NULL
 * errors   PLIM_IO (with errno), PLIM_CORRUPT (empty, or compressed data that is damaged at once),
 *          PLIM_UNSUPPORTED (compressed, without a codec for it), PLIM_LIMIT (zstd with a window
 *          above 128 MiB), PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_input_open(const char *path, const plim_input_options *options,
                                          plim_input **ret, plim_error *err);

/** The same for memory, which is borrowed until plim_input_close(). */
PLIM_MUST_USE plim_status plim_input_open_memory(const void *data, size_t bytes,
                                                 const plim_input_options *options,
                                                 plim_input **ret, plim_error *err);

/**
 * Drop `consumed` bytes from the front of the window, then have `wanted` bytes in it.
 *
 * consumed  at most the window's length; 0 on the first call
 * wanted    any number: the window is shorter only when the input ends
 * ret       the new window, longer than wanted where that costs nothing; the data of earlier
 *           windows is gone
 * errors    PLIM_IO, PLIM_CORRUPT (damaged or cut-off compressed data; err->offset counts the
 *           bytes of the compressed file), PLIM_LIMIT, PLIM_OUT_OF_HOST_MEMORY. A call that
 *           can be met from the bytes before the damage is. After an error, each call that
 *           wants more repeats it
 */
PLIM_MUST_USE plim_status plim_input_refill(plim_input *input, size_t consumed, size_t wanted,
                                            plim_window *ret, plim_error *err);

/** "gzip", "zstd", "xz", "bzip2", "UTF-16", or NULL for plain bytes. */
const char *plim_input_compression(const plim_input *input);
/** The place of the window's first byte, in decompressed bytes. */
uint64_t plim_input_offset(const plim_input *input);
/** Bytes of the file on disk, or of the memory; 0 when unknown (pipes). */
uint64_t plim_input_total_bytes(const plim_input *input);
/** How many of those have been read, for progress: at most total_bytes if the file stands still. */
uint64_t plim_input_done_bytes(const plim_input *input);

/** NULL is allowed. Standard input stays open. */
void plim_input_close(plim_input *input);

#endif
