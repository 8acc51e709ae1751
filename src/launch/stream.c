/*
 * stream.c - opening a way out of the command, and moving bytes along it.
 *
 * The caller's descriptors may be shared with other processes, so they cannot be set not to block:
 * that flag belongs to the open file. Pipes and terminals are opened once more through
 * /proc/self/fd, and that opening is ours alone. Where it cannot be had (no /proc, a terminal of
 * another mount namespace, a socket), writes are so small that one which poll() allows does not
 * block.
 */
#include "launch/stream.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/* --- opening --- */

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* If 0, 1 or 2 was closed, a new descriptor would get that number and its meaning. */
static bool move_up(int *fd)
{
    if (*fd > STDERR_FILENO) {
        return true;
    }
    const int up = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (up < 0) {
        return false;
    }
    close(*fd);
    *fd = up;
    return true;
}

static bool set_not_to_block(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* Both ends above the standard ones, ours not blocking; errno on failure. */
static bool settle(plim_launch_stream *stream)
{
    if (move_up(&stream->source) && move_up(&stream->given) && set_not_to_block(stream->source)) {
        return true;
    }
    const int code = errno;
    close_fd(&stream->source);
    close_fd(&stream->given);
    errno = code;
    return false;
}

static bool open_pipe(plim_launch_stream *stream)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    stream->source = ends[0];
    stream->given = ends[1];
    return settle(stream);
}

/*
 * The terminal's own modes, but no processing of output: the real terminal does that, once. Input
 * modes mean nothing here, since nothing is ever typed into this one.
 */
static bool copy_modes(int from, int terminal)
{
    struct termios modes;
    if (tcgetattr(from, &modes) != 0 && tcgetattr(terminal, &modes) != 0) {
        return false;
    }
    modes.c_oflag &= ~(tcflag_t)OPOST;
    return tcsetattr(terminal, TCSANOW, &modes) == 0;
}

static bool open_terminal(plim_launch_stream *stream)
{
    char name[128];
    stream->source = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (stream->source < 0) {
        return false;
    }
    if (grantpt(stream->source) == 0 && unlockpt(stream->source) == 0 &&
        ptsname_r(stream->source, name, sizeof name) == 0) {
        stream->given = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    if (stream->given < 0 || !copy_modes(stream->original, stream->given)) {
        close_fd(&stream->given);
        close_fd(&stream->source);
        return false;
    }
    stream->is_terminal = settle(stream);
    return stream->is_terminal;
}

static void open_output(plim_launch_stream *stream, const struct stat *about)
{
    const bool is_terminal = isatty(stream->original) == 1;
    stream->output = stream->original;
    stream->is_file = !is_terminal && !S_ISFIFO(about->st_mode) && !S_ISSOCK(about->st_mode);
    if (is_terminal || S_ISFIFO(about->st_mode)) {
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", stream->original);
        int own = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (own >= 0 && move_up(&own)) {
            stream->output = own;
            stream->is_own = true;
        } else {
            close_fd(&own);
        }
    }
}

static plim_status open_stream(plim_launch_stream *stream, const struct stat *about,
                               plim_error *err)
{
    /* Without pseudo-terminals (a container without /dev/pts) a pipe has to do. */
    const bool is_open =
        (isatty(stream->original) == 1 && open_terminal(stream)) || open_pipe(stream);
    if (!is_open) {
        return plim_fail_errno(err, errno, "cannot open a pipe for the command's output");
    }
    stream->bytes = plim_mem_alloc(stream->mem, PLIM_LAUNCH_STREAM_BYTES, 1);
    if (stream->bytes == NULL) {
        plim_launch_stream_close(stream);
        return plim_fail_memory(err, "opening the command's streams");
    }
    if (stream->original >= 0) {
        open_output(stream, about);
    }
    if (stream->is_terminal) {
        plim_launch_stream_resize(stream);
    }
    return PLIM_OK;
}

plim_status plim_launch_streams_open(const plim_mem *mem, const int *outputs,
                                     plim_launch_stream *ret, size_t *ret_count, plim_error *err)
{
    struct stat about[PLIM_LAUNCH_STREAMS] = { 0 };
    size_t count = 0;
    for (int i = 0; i < PLIM_LAUNCH_STREAMS; i++) {
        int original = outputs != NULL ? outputs[i] : STDOUT_FILENO + i;
        if (original < 0 || fstat(original, &about[count]) != 0) {
            if (outputs == NULL) {
                continue; /* closed, and so it will be for the command */
            }
            original = -1;
            about[count] = (struct stat){ 0 };
        }
        if (count == 1 && about[0].st_dev == about[1].st_dev &&
            about[0].st_ino == about[1].st_ino) {
            ret[0].is_both = true;
            break;
        }
        ret[count] = (plim_launch_stream){ .target = STDOUT_FILENO + i,
                                           .original = original,
                                           .given = -1,
                                           .source = -1,
                                           .output = -1,
                                           .mem = plim_mem_or_heap(mem) };
        const plim_status status = open_stream(&ret[count], &about[count], err);
        if (status != PLIM_OK) {
            if (count > 0) {
                plim_launch_stream_close(&ret[0]);
            }
            return status;
        }
        count++;
    }
    *ret_count = count;
    return PLIM_OK;
}

bool plim_launch_stream_take(const plim_launch_stream *stream)
{
    return dup2(stream->given, stream->target) >= 0 &&
           (!stream->is_both || dup2(stream->given, STDERR_FILENO) >= 0);
}

void plim_launch_stream_let_go(plim_launch_stream *stream)
{
    close_fd(&stream->given);
}

bool plim_launch_stream_resize(plim_launch_stream *stream)
{
    struct winsize real;
    struct winsize shown;
    if (!stream->is_terminal || stream->source < 0 ||
        ioctl(stream->original, TIOCGWINSZ, &real) != 0 ||
        ioctl(stream->source, TIOCGWINSZ, &shown) != 0 || memcmp(&real, &shown, sizeof real) == 0) {
        return false;
    }
    return ioctl(stream->source, TIOCSWINSZ, &real) == 0;
}

/* --- moving --- */

void plim_launch_stream_prepare(const plim_launch_stream *stream, struct pollfd *fds)
{
    const bool has_bytes = stream->begin < stream->end;
    const bool is_over = plim_launch_stream_is_over(stream);
    /* An end that left shows in every poll(), requested or not: so it must be left out. */
    fds[0] = (struct pollfd){ .fd = has_bytes ? -1 : stream->source, .events = POLLIN };
    fds[1] =
        (struct pollfd){ .fd = is_over ? -1 : stream->output, .events = has_bytes ? POLLOUT : 0 };
}

/* The output's reader left, or the disk is full: the command is to find no reader either. */
static void stop_writing(plim_launch_stream *stream, int code)
{
    stream->write_errno = code;
    stream->begin = stream->end;
    close_fd(&stream->source);
}

static void write_some(plim_launch_stream *stream)
{
    while (stream->begin < stream->end) {
        const size_t left = stream->end - stream->begin;
        const size_t most = stream->is_own || stream->is_file ? left : PIPE_BUF;
        const ssize_t written =
            write(stream->output, stream->bytes + stream->begin, left < most ? left : most);
        if (written > 0) {
            stream->begin += (size_t)written;
            if (most < left) {
                return; /* poll() has to allow the next */
            }
        } else if (written == 0 || errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            stop_writing(stream, errno);
        }
    }
}

/* A pseudo-terminal ends with EIO when the last process that had it open is gone. */
static plim_launch_piece read_some(plim_launch_stream *stream)
{
    ssize_t got = 0;
    do {
        got = read(stream->source, stream->bytes, PLIM_LAUNCH_STREAM_BYTES);
    } while (got < 0 && errno == EINTR);
    stream->is_dry = got <= 0;
    if (got > 0) {
        stream->begin = 0;
        stream->end = (size_t)got;
        return (plim_launch_piece){ .data = stream->bytes, .bytes = (size_t)got };
    }
    if (got == 0 || errno != EAGAIN) {
        close_fd(&stream->source);
    }
    return (plim_launch_piece){ 0 };
}

plim_launch_piece plim_launch_stream_move(plim_launch_stream *stream, const struct pollfd *fds,
                                          bool is_eager)
{
    plim_launch_piece piece = { 0 };
    if (stream->begin < stream->end) {
        if (fds[1].revents != 0) {
            write_some(stream);
        }
        return piece;
    }
    if (fds[1].revents != 0) { /* an error, as POLLOUT was not requested: its reader left */
        stop_writing(stream, EPIPE);
    }
    if (stream->source >= 0 && (fds[0].revents != 0 || is_eager)) {
        piece = read_some(stream);
        if (stream->output < 0) {
            stream->begin = stream->end;
        } else if (piece.bytes > 0 && (stream->is_own || stream->is_file)) {
            write_some(stream); /* the others wait until poll() allows it */
        }
    }
    return piece;
}

void plim_launch_stream_end(plim_launch_stream *stream)
{
    close_fd(&stream->source);
}

bool plim_launch_stream_is_over(const plim_launch_stream *stream)
{
    return stream->source < 0 && stream->begin == stream->end;
}

void plim_launch_stream_close(plim_launch_stream *stream)
{
    close_fd(&stream->given);
    close_fd(&stream->source);
    if (stream->is_own) {
        close_fd(&stream->output);
        stream->is_own = false;
    }
    if (stream->bytes != NULL) {
        plim_mem_free(stream->mem, stream->bytes, PLIM_LAUNCH_STREAM_BYTES, 1);
        stream->bytes = NULL;
    }
    stream->begin = 0;
    stream->end = 0;
}
