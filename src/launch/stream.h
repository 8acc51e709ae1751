/*
 * stream.h - one way out of the command: a pipe or pseudo-terminal whose bytes go to one of the
 * caller's descriptors.
 *
 *   command ──► [ given | source ] ──► bytes ──► output
 *
 * Never blocks: neither end can keep the other stream, or a signal, waiting. Nothing is read
 * before what was read is written, so a slow reader slows the command down as it would directly,
 * and a reader that left is gone for the command too.
 */
#ifndef PLIMSOLL_LAUNCH_STREAM_H
#define PLIMSOLL_LAUNCH_STREAM_H

#include "base/memory.h"

#include "plimsoll/launch.h"

#include <poll.h>

#define PLIM_LAUNCH_STREAM_BYTES ((size_t)64 << 10) /* as much as a pipe holds, pipe(7) */
#define PLIM_LAUNCH_STREAM_FDS   2u                 /* that a stream waits for */

typedef struct plim_launch_stream {
    int target;       /* STDOUT_FILENO or STDERR_FILENO of the command */
    int original;     /* the caller's descriptor; -1: bytes are dropped once they were read */
    bool is_both;     /* the command's stderr too, since both go to one file */
    bool is_terminal; /* a pseudo-terminal, not a pipe */
    int given;        /* the command's end; -1 once it is given */
    int source;       /* our end; -1 once the stream has ended */
    int output;       /* original, or our own opening of the same file */
    bool is_own;      /* output is our own: it may be set not to block */
    bool is_file;     /* output is a file on disk: always takes what it is given */
    char *bytes;
    size_t begin;    /* of what is read and not yet written, */
    size_t end;      /* to here */
    bool is_dry;     /* the last try to read found nothing more */
    int write_errno; /* why writing ended, 0 if it did not */
    const plim_mem *mem;
} plim_launch_stream;

/* The bytes of one read; valid until the next move of the stream. */
typedef struct plim_launch_piece {
    const char *data;
    size_t bytes; /* 0: nothing, for now or for ever */
} plim_launch_piece;

/**
 * Open the streams for the command's stdout and stderr: one if both go to the same file, so that
 * the order between them is kept.
 *
 * outputs         as in plim_launch_options; without it, a closed 1 or 2 has no stream
 * ret, ret_count  up to PLIM_LAUNCH_STREAMS
 * errors          PLIM_IO, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_launch_streams_open(const plim_mem *mem, const int *outputs,
                                                   plim_launch_stream *ret, size_t *ret_count,
                                                   plim_error *err);

/** In the new process: put the given ends in place; errno on failure. */
bool plim_launch_stream_take(const plim_launch_stream *stream);
/** In ours, after that. */
void plim_launch_stream_let_go(plim_launch_stream *stream);

/** Make the window as large as the real one; true if that changed it. */
bool plim_launch_stream_resize(plim_launch_stream *stream);

/** The descriptors to poll; none when the stream is over. */
void plim_launch_stream_prepare(const plim_launch_stream *stream, struct pollfd *fds);
/**
 * Write and read what can be at once.
 *
 * fds   as poll() left them
 * is_eager  try to read even if poll() saw nothing
 */
plim_launch_piece plim_launch_stream_move(plim_launch_stream *stream, const struct pollfd *fds,
                                          bool is_eager);

/** Read no more. What was read can still be written. */
void plim_launch_stream_end(plim_launch_stream *stream);
bool plim_launch_stream_is_over(const plim_launch_stream *stream);
void plim_launch_stream_close(plim_launch_stream *stream);

#endif
