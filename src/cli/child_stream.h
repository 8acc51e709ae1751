/*
 * child_stream.h - one way out of the command: a pipe or pseudo-terminal that ends in our own
 * stdout or stderr.
 *
 *   command ──► [ given | source ] ──► bytes ──► output
 *
 * Never blocks: neither end can keep the other stream, or a signal, waiting. No more is read
 * before what was read is written, so a slow reader slows the command down as if we were not
 * there, and one that left is gone for the command too.
 */
#ifndef PLIMSOLL_CLI_CHILD_STREAM_H
#define PLIMSOLL_CLI_CHILD_STREAM_H

#include "base/memory.h"

#include "plimsoll/status.h"

#include <poll.h>

#define PLIM_CHILD_STREAM_BYTES ((size_t)64 << 10) /* as much as a pipe holds, pipe(7) */
#define PLIM_CHILD_STREAM_FDS   2u                 /* that a stream waits for */

typedef struct plim_child_stream {
    int target;       /* STDOUT_FILENO or STDERR_FILENO: what it is to the command and to us */
    bool is_both;     /* the command's stderr too, since ours is the same file */
    bool is_terminal; /* a pseudo-terminal, not a pipe */
    int given;        /* the command's end; -1 once it is given */
    int source;       /* our end; -1 once the stream has ended */
    int output;       /* target, or our own opening of the same file */
    bool is_own;      /* output is our own: it may be set not to block */
    bool is_file;     /* output is a file on disk: always takes what it is given */
    char *bytes;
    size_t begin;    /* of what is read and not yet written, */
    size_t end;      /* to here */
    bool is_dry;     /* the last try to read found nothing more */
    int write_errno; /* why writing ended, 0 if it did not */
    const plim_mem *mem;
} plim_child_stream;

/* What came in with one read; valid until the next move of the stream. */
typedef struct plim_child_piece {
    const char *data;
    size_t bytes; /* 0: nothing, for now or for ever */
} plim_child_piece;

/**
 * Open what the command needs for our stdout and stderr: one stream if both are the same file,
 * so that the order between them is kept; none for a descriptor that is closed.
 *
 * ret, ret_count  up to two streams
 * errors          PLIM_IO, PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_child_streams_open(const plim_mem *mem, plim_child_stream *ret,
                                                  size_t *ret_count, plim_error *err);

/** In the new process: put the given ends in place. errno tells why not. */
bool plim_child_stream_take(const plim_child_stream *stream);
/** In ours, after that. */
void plim_child_stream_let_go(plim_child_stream *stream);

/** Make the window as large as the real one; whether that changed anything. */
bool plim_child_stream_resize(plim_child_stream *stream);

/** What to poll for. Nothing, when the stream is over. */
void plim_child_stream_prepare(const plim_child_stream *stream, struct pollfd *fds);
/**
 * Write and read what can be at once.
 *
 * fds   as poll() left them
 * is_eager  try to read even if poll() saw nothing
 */
plim_child_piece plim_child_stream_move(plim_child_stream *stream, const struct pollfd *fds,
                                        bool is_eager);

/** Read no more. What was read can still be written. */
void plim_child_stream_end(plim_child_stream *stream);
bool plim_child_stream_is_over(const plim_child_stream *stream);
void plim_child_stream_close(plim_child_stream *stream);

#endif
