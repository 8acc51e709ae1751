/*
 * input.c - sources, the first look at them, and the window that moves over their bytes.
 *
 *   plain memory        the window is the memory itself
 *   plain file          read() -> buffer
 *   compressed file     read() -> raw -> codec -> buffer
 *   compressed memory             raw -> codec -> buffer      (raw is the memory)
 */
#include "base/input.h"

#include "base/assert.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 256 KiB stays in a core's second-level cache and makes system calls cheap:
 * docs/design/input.md. */
#define WINDOW_BYTES ((size_t)256 << 10)
#define NAME_BYTES   160

struct plim_input {
    const plim_mem *mem;
    const plim_codec *const *codecs; /* the caller's */
    bool may_be_empty;
    plim_error failure; /* status PLIM_OK until a call failed; then each call repeats it */

    int fd; /* -1: memory */
    bool owns_fd;
    bool source_ended;
    uint64_t total_bytes;

    const plim_codec *codec; /* NULL: plain */
    void *codec_ctx;
    const uint8_t *raw; /* compressed bytes that wait for the codec */
    size_t raw_length;
    uint64_t raw_offset;
    uint8_t *raw_buffer; /* WINDOW_BYTES; NULL when plain or memory */

    const uint8_t *window; /* in buffer, or the caller's memory */
    size_t window_length;
    uint64_t window_offset;
    bool ended; /* nothing follows after the window */
    uint8_t *buffer;
    size_t buffer_bytes;

    char name[NAME_BYTES];
};

static void set_name(plim_input *input, const char *path)
{
    const size_t length = strlen(path);
    if (length < NAME_BYTES) {
        memcpy(input->name, path, length + 1);
        return;
    }
    /* The end of a long path says more than its beginning. */
    const char *tail = path + length - (NAME_BYTES - 4);
    while (((unsigned char)*tail & 0xc0) == 0x80) { /* not from within a UTF-8 character */
        tail++;
    }
    snprintf(input->name, NAME_BYTES, "...%s", tail);
}

/* --- where bytes come from --- */

static plim_status fail_system(const plim_input *input, const char *doing, int code,
                               plim_error *err)
{
    plim_fail_errno(err, code, "cannot %s \"%s\"", doing, input->name);
    const char *advice = NULL;
    switch (code) {
    case ENOENT:
        advice = "check the path; - is standard input";
        break;
    case EACCES:
        advice = "ask its owner for leave to read it";
        break;
    case EISDIR:
        advice = "name a file in it";
        break;
    case ENXIO:
        advice = "if it is a socket, pipe its bytes to standard input";
        break;
    default:
        break;
    }
    if (err != NULL && advice != NULL) {
        const size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used, "; %s", advice);
    }
    return PLIM_IO;
}

/* Up to `bytes` bytes, at least one unless the source ends. */
static plim_status read_some(plim_input *input, uint8_t *data, size_t bytes, size_t *ret_length,
                             plim_error *err)
{
    for (;;) {
        const ssize_t got = read(input->fd, data, bytes);
        if (got >= 0) {
            input->source_ended = got == 0;
            *ret_length = (size_t)got;
            return PLIM_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            /* The caller's pipe does not block; wait for it. */
            struct pollfd wait = { .fd = input->fd, .events = POLLIN };
            (void)poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return fail_system(input, "read", errno, err);
        }
    }
}

static plim_status open_file(plim_input *input, const char *path, plim_error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    set_name(input, is_stdin ? "standard input" : path);
    do {
        input->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    } while (input->fd < 0 && errno == EINTR);
    if (input->fd < 0) {
        return fail_system(input, "open", errno, err);
    }
    input->owns_fd = !is_stdin;
    struct stat facts;
    if (fstat(input->fd, &facts) != 0) {
        return fail_system(input, "read", errno, err);
    }
    if (S_ISDIR(facts.st_mode)) {
        return fail_system(input, "read", EISDIR, err);
    }
    if (S_ISREG(facts.st_mode)) {
        /* Standard input may stand in the middle of a file. */
        const off_t place = lseek(input->fd, 0, SEEK_CUR);
        if (place >= 0 && place < facts.st_size) {
            input->total_bytes = (uint64_t)(facts.st_size - place);
        }
        /* Doubles the kernel's read-ahead; a refusal costs nothing. */
        (void)posix_fadvise(input->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return PLIM_OK;
}

/* --- the window --- */

static size_t room_behind_window(const plim_input *input)
{
    return input->buffer_bytes - (size_t)(input->window - input->buffer) - input->window_length;
}

/*
 * Makes room after the window, a quarter of the buffer at least. Moving what is left to the front
 * is only done when that gains half the buffer, so a byte is moved about once however a caller
 * asks; else the buffer doubles, which it can only when more than half of it has really arrived.
 */
static plim_status make_room(plim_input *input, plim_error *err)
{
    if (input->window_length == 0) {
        input->window = input->buffer;
    }
    if (room_behind_window(input) >= input->buffer_bytes / 4) {
        return PLIM_OK;
    }
    const size_t before = (size_t)(input->window - input->buffer);
    if (input->window_length <= input->buffer_bytes / 2) {
        memmove(input->buffer, input->buffer + before, input->window_length);
        input->window = input->buffer;
        return PLIM_OK;
    }
    if (input->buffer_bytes > SIZE_MAX / 2) {
        return plim_fail_memory(err, "reading");
    }
    uint8_t *grown =
        plim_mem_resize(input->mem, input->buffer, input->buffer_bytes, input->buffer_bytes * 2, 1);
    if (grown == NULL) {
        return plim_fail_memory(err, "reading");
    }
    input->buffer = grown;
    input->buffer_bytes *= 2;
    input->window = grown + before;
    return PLIM_OK;
}

/* One piece of plain bytes into [data, data + room). */
static plim_status fill_plain(plim_input *input, uint8_t *data, size_t room, size_t *ret_length,
                              plim_error *err)
{
    PLIM_TRY(read_some(input, data, room, ret_length, err));
    input->ended = input->source_ended;
    return PLIM_OK;
}

/* One piece of decompressed bytes; none is possible before the end, too. */
static plim_status fill_decoded(plim_input *input, uint8_t *data, size_t room, size_t *ret_length,
                                plim_error *err)
{
    if (input->raw_length == 0 && !input->source_ended) {
        PLIM_TRY(read_some(input, input->raw_buffer, WINDOW_BYTES, &input->raw_length, err));
        input->raw = input->raw_buffer;
    }
    plim_codec_io io = {
        .in = input->raw,
        .in_length = input->raw_length,
        .in_offset = input->raw_offset,
        .in_ended = input->source_ended,
        .out = data,
        .out_length = room,
        .name = input->name,
    };
    const plim_status status = input->codec->decode(input->codec_ctx, &io, err);
    input->raw = io.in;
    input->raw_length = io.in_length;
    input->raw_offset = io.in_offset;
    input->ended = io.done;
    *ret_length = room - io.out_length;
    return status;
}

/* One more piece after the window. What arrived before an error stays. */
static plim_status fill(plim_input *input, plim_error *err)
{
    PLIM_TRY(make_room(input, err));
    const size_t room = room_behind_window(input);
    uint8_t *data = input->buffer + input->buffer_bytes - room;
    size_t length = 0;
    const plim_status status = input->codec == NULL ? fill_plain(input, data, room, &length, err)
                                                    : fill_decoded(input, data, room, &length, err);
    PLIM_ASSERT(length <= room);
    input->window_length += length;
    return status;
}

plim_status plim_input_refill(plim_input *input, size_t consumed, size_t wanted, plim_window *ret,
                              plim_error *err)
{
    PLIM_ASSERT(consumed <= input->window_length);

    if (consumed > 0) { /* the window of an empty input is NULL */
        input->window += consumed;
        input->window_length -= consumed;
        input->window_offset += consumed;
    }
    while (input->window_length < wanted && !input->ended) {
        if (input->failure.status == PLIM_OK && fill(input, &input->failure) == PLIM_OK) {
            continue;
        }
        if (input->window_length >= wanted) {
            break; /* the piece that failed brought enough; the failure is for the next call */
        }
        if (err != NULL) {
            *err = input->failure;
        }
        return input->failure.status;
    }
    *ret = (plim_window){ .data = input->window, .length = input->window_length };
    return PLIM_OK;
}

/* --- opening --- */

#define MAGIC_BYTES 10 /* that forms are recognised by */

static bool begins_with(const uint8_t *data, size_t length, const char *magic, size_t bytes)
{
    return length >= bytes && memcmp(data, magic, bytes) == 0;
}

static bool is_gzip(const uint8_t *data, size_t length)
{
    return begins_with(data, length, "\x1f\x8b", 2);
}

/* Parallel writers put a skippable frame, with sizes for parallel readers, in front. */
static bool is_zstd(const uint8_t *data, size_t length)
{
    return begins_with(data, length, "\x28\xb5\x2f\xfd", 4) ||
           (length >= 4 && (data[0] & 0xf0) == 0x50 && memcmp(data + 1, "\x2a\x4d\x18", 3) == 0);
}

static bool is_xz(const uint8_t *data, size_t length)
{
    return begins_with(data, length, "\xfd\x37zXZ\0", 6);
}

/* A block follows, or the end. */
static bool is_bzip2(const uint8_t *data, size_t length)
{
    return begins_with(data, length, "BZh", 3) && length >= 10 &&
           (memcmp(data + 4, "1AY&SY", 6) == 0 || memcmp(data + 4, "\x17rE8P\x90", 6) == 0);
}

/* A byte order mark, or two characters of ASCII: no pickle and no JSON of bytes begins so. */
static bool is_utf16(const uint8_t *data, size_t length)
{
    if (begins_with(data, length, "\xff\xfe", 2) || begins_with(data, length, "\xfe\xff", 2)) {
        return true;
    }
    const size_t high = length > 0 && data[0] == 0 ? 0 : 1; /* byte of the first unit */
    return length >= 4 && data[high] == 0 && data[high + 2] == 0 && data[1 - high] >= '\t' &&
           data[1 - high] < 0x7f && data[3 - high] >= '\t' && data[3 - high] < 0x7f;
}

/* Forms of an input other than plain bytes. */
static const struct {
    const char *name;
    bool (*is)(const uint8_t *data, size_t length);
    const char *command; /* that makes it plain */
} forms[] = {
    { "gzip", is_gzip, "gzip -dc" },
    { "zstd", is_zstd, "zstd -dc" },
    { "xz", is_xz, "xz -dc" },
    { "bzip2", is_bzip2, "bzip2 -dc" },
    { "UTF-16", is_utf16, "iconv -f UTF-16 -t UTF-8" },
};

/* NULL for plain bytes. PLIM_UNSUPPORTED: the caller has no codec for what they are in. */
static plim_status find_codec(const plim_input *input, const plim_window *window,
                              const plim_codec **ret_codec, plim_error *err)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (!forms[i].is(window->data, window->length)) {
            continue;
        }
        const plim_codec *const *codec = input->codecs;
        for (; codec != NULL && *codec != NULL; codec++) {
            if (strcmp((*codec)->name, forms[i].name) == 0) {
                *ret_codec = *codec;
                return PLIM_OK;
            }
        }
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "\"%s\" is %s, which is not decoded here; make it plain with %s",
                         input->name, forms[i].name, forms[i].command);
    }
    *ret_codec = NULL;
    return PLIM_OK;
}

/* Closed by the caller whatever follows; NULL when there is no memory. */
static plim_input *create(const plim_input_options *options)
{
    const plim_mem *const mem = plim_mem_or_heap(options != NULL ? options->mem : NULL);
    plim_input *const input = plim_mem_alloc_zeroed(mem, 1, sizeof *input);
    if (input != NULL) {
        input->mem = mem;
        input->codecs = options != NULL ? options->codecs : NULL;
        input->may_be_empty = options != NULL && options->may_be_empty;
        input->fd = -1;
    }
    return input;
}

/* A window buffer, empty. */
static plim_status take_buffer(plim_input *input, plim_error *err)
{
    input->buffer = plim_mem_alloc(input->mem, WINDOW_BYTES, 1);
    if (input->buffer == NULL) {
        return plim_fail_memory(err, "opening an input");
    }
    input->buffer_bytes = WINDOW_BYTES;
    input->window = input->buffer;
    input->window_length = 0;
    return PLIM_OK;
}

/* The bytes we looked at turn out to be compressed: the codec gets them, and a new window. */
static plim_status start_codec(plim_input *input, const plim_codec *codec, plim_error *err)
{
    PLIM_TRY(codec->open(codec, input->mem, &input->codec_ctx, err));
    input->codec = codec;
    input->raw_buffer = input->buffer;
    input->raw = input->window;
    input->raw_length = input->window_length;
    input->buffer = NULL;
    input->buffer_bytes = 0;
    input->ended = false;
    return take_buffer(input, err);
}

/* Look at the first bytes; with a failure the input can only be closed. */
static plim_status start(plim_input *input, plim_error *err)
{
    plim_window window;
    const plim_codec *codec = NULL;
    PLIM_TRY(plim_input_refill(input, 0, MAGIC_BYTES, &window, err));
    PLIM_TRY(find_codec(input, &window, &codec, err));
    if (codec != NULL) {
        PLIM_TRY(start_codec(input, codec, err));
        PLIM_TRY(plim_input_refill(input, 0, 1, &window, err));
    }
    if (window.length == 0 && !input->may_be_empty) {
        return plim_fail_at(err, PLIM_CORRUPT, 0, "\"%s\" is empty%s", input->name,
                            codec != NULL ? " once decompressed" : "");
    }
    return PLIM_OK;
}

/* Hands the input out, or closes it. */
static plim_status finish(plim_input *input, plim_status status, plim_input **ret)
{
    if (status == PLIM_OK) {
        *ret = input;
    } else {
        plim_input_close(input);
    }
    return status;
}

plim_status plim_input_open(const char *path, const plim_input_options *options, plim_input **ret,
                            plim_error *err)
{
    PLIM_ASSERT(path != NULL);

    plim_input *const input = create(options);
    if (input == NULL) {
        return plim_fail_memory(err, "opening an input");
    }
    plim_status status = open_file(input, path, err);
    if (status == PLIM_OK) {
        status = take_buffer(input, err);
    }
    if (status == PLIM_OK) {
        status = start(input, err);
    }
    return finish(input, status, ret);
}

plim_status plim_input_open_memory(const void *data, size_t bytes,
                                   const plim_input_options *options, plim_input **ret,
                                   plim_error *err)
{
    PLIM_ASSERT(data != NULL || bytes == 0);

    plim_input *const input = create(options);
    if (input == NULL) {
        return plim_fail_memory(err, "opening an input");
    }
    set_name(input, "memory");
    input->source_ended = true;
    input->total_bytes = bytes;
    input->window = data;
    input->window_length = bytes;
    input->ended = true;
    return finish(input, start(input, err), ret);
}

/* --- facts, and the end --- */

const char *plim_input_compression(const plim_input *input)
{
    return input->codec != NULL ? input->codec->name : NULL;
}

uint64_t plim_input_offset(const plim_input *input)
{
    return input->window_offset;
}

uint64_t plim_input_total_bytes(const plim_input *input)
{
    return input->total_bytes;
}

uint64_t plim_input_done_bytes(const plim_input *input)
{
    return input->codec != NULL ? input->raw_offset : input->window_offset;
}

void plim_input_close(plim_input *input)
{
    if (input == NULL) {
        return;
    }
    if (input->codec_ctx != NULL) {
        input->codec->close(input->codec_ctx);
    }
    if (input->owns_fd) {
        close(input->fd);
    }
    plim_mem_free(input->mem, input->buffer, input->buffer_bytes, 1);
    plim_mem_free(input->mem, input->raw_buffer, WINDOW_BYTES, 1);
    plim_mem_free(input->mem, input, 1, sizeof *input);
}
