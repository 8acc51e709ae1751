/*
 * test_input.c - the same bytes, whichever way they come in, and clear words when they do not.
 */
#include "harness.h"

#include "base/input.h"
#include "base/units.h"
#include "codec/codec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static const plim_input_options with_codecs = { .codecs = plim_codecs };
#define HOW(heap) (&(plim_input_options){ .mem = (heap), .codecs = plim_codecs })

/* --- bytes to read --- */

typedef struct bytes {
    uint8_t *data;
    size_t length;
} bytes;

static bytes bytes_of(size_t length)
{
    bytes result = { .data = malloc(length + 1), .length = length };
    T_NOT_NULL(result.data);
    return result;
}

/* Compresses to about three quarters: letters. */
static bytes random_letters(size_t length)
{
    bytes result = bytes_of(length);
    for (size_t i = 0; i < length; i++) {
        result.data[i] = (uint8_t)t_random_between('A', 'Z' + 32);
    }
    return result;
}

static bytes gzipped(bytes plain)
{
    z_stream z = { 0 };
    T_EQ_I64(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    bytes result = bytes_of(deflateBound(&z, plain.length) + 64);
    z.next_in = plain.data;
    z.avail_in = (uInt)plain.length;
    z.next_out = result.data;
    z.avail_out = (uInt)result.length;
    T_EQ_I64(deflate(&z, Z_FINISH), Z_STREAM_END);
    result.length = z.total_out;
    deflateEnd(&z);
    return result;
}

static bytes zstandard(bytes plain)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    bytes result = bytes_of(ZSTD_compressBound(plain.length));
    result.length = ZSTD_compress2(context, result.data, result.length, plain.data, plain.length);
    T_FALSE(ZSTD_isError(result.length));
    ZSTD_freeCCtx(context);
    return result;
}

/* a, then b; both are freed. */
static bytes joined(bytes a, bytes b)
{
    bytes result = bytes_of(a.length + b.length);
    memcpy(result.data, a.data, a.length);
    memcpy(result.data + a.length, b.data, b.length);
    free(a.data);
    free(b.data);
    return result;
}

static bytes literal(const char *data, size_t length)
{
    bytes result = bytes_of(length);
    memcpy(result.data, data, length);
    return result;
}

static bytes zeros(size_t length)
{
    bytes result = bytes_of(length);
    memset(result.data, 0, length);
    return result;
}

/* --- ways in --- */

typedef enum way { FROM_MEMORY, FROM_FILE, FROM_PIPE, FROM_SLOW_PIPE, FROM_STDIN, WAY_COUNT } way;

static const char *const way_names[] = { "memory", "file", "pipe", "slow pipe", "stdin" };

/* An input that is open, and what has to be undone. */
typedef struct opened {
    plim_input *input;
    char path[64];
    pid_t writer;
    int pipe_fd;
    int old_stdin;
} opened;

static void write_all(int fd, const uint8_t *data, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(fd, data, length);
        if (written <= 0) {
            return;
        }
        data += written;
        length -= (size_t)written;
    }
}

static void write_file(char path[64], bytes content)
{
    snprintf(path, 64, "/tmp/plimsoll-test-XXXXXX");
    const int fd = mkstemp(path);
    T_TRUE(fd >= 0);
    write_all(fd, content.data, content.length);
    close(fd);
}

/* A pipe that another process feeds; slow ones begin with a few bytes at a time. */
static void open_pipe(opened *self, bytes content, bool is_slow)
{
    int ends[2];
    T_EQ_I64(pipe(ends), 0);
    self->writer = fork();
    if (self->writer == 0) {
        signal(SIGPIPE, SIG_IGN);
        close(ends[0]);
        size_t at = 0;
        for (int i = 0; is_slow && i < 20 && at < content.length; i++) {
            const size_t piece = content.length - at < 3 ? content.length - at : (size_t)(i % 3);
            write_all(ends[1], content.data + at, piece);
            at += piece;
            nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
        }
        write_all(ends[1], content.data + at, content.length - at);
        _exit(0);
    }
    close(ends[1]);
    self->pipe_fd = ends[0];
    snprintf(self->path, sizeof self->path, "/dev/fd/%d", ends[0]);
}

static void take_stdin(opened *self, const char *path)
{
    self->old_stdin = dup(STDIN_FILENO);
    const int fd = open(path, O_RDONLY);
    T_TRUE(fd >= 0);
    T_TRUE(dup2(fd, STDIN_FILENO) >= 0);
    close(fd);
}

static plim_status open_way(opened *self, way how, bytes content, const plim_mem *mem,
                            plim_error *err)
{
    *self = (opened){ .pipe_fd = -1, .old_stdin = -1 };
    switch (how) {
    case FROM_MEMORY:
        return plim_input_open_memory(content.data, content.length, HOW(mem), &self->input, err);
    case FROM_FILE:
        write_file(self->path, content);
        return plim_input_open(self->path, HOW(mem), &self->input, err);
    case FROM_PIPE:
    case FROM_SLOW_PIPE:
        open_pipe(self, content, how == FROM_SLOW_PIPE);
        return plim_input_open(self->path, HOW(mem), &self->input, err);
    case FROM_STDIN:
        write_file(self->path, content);
        take_stdin(self, self->path);
        return plim_input_open("-", HOW(mem), &self->input, err);
    case WAY_COUNT:
    default:
        fail();
        return PLIM_IO;
    }
}

static void close_way(opened *self)
{
    plim_input_close(self->input);
    if (self->pipe_fd >= 0) {
        close(self->pipe_fd);
        waitpid(self->writer, NULL, 0);
    } else if (self->path[0] != '\0') {
        unlink(self->path);
    }
    if (self->old_stdin >= 0) {
        dup2(self->old_stdin, STDIN_FILENO);
        close(self->old_stdin);
    }
}

/* --- reading --- */

/* Reads all of it in random steps and compares every window with what it should be. */
static void expect_content(plim_input *input, bytes plain, size_t wanted_max)
{
    size_t at = 0;
    size_t consumed = 0;
    for (;;) {
        const size_t wanted = (size_t)t_random_between(1, wanted_max);
        plim_window window = { 0 };
        plim_error err;
        const plim_status status = plim_input_refill(input, consumed, wanted, &window, &err);
        if (status != PLIM_OK) {
            fail_msg("%s", err.message);
        }
        at += consumed;
        T_EQ_U64(plim_input_offset(input), at);
        T_TRUE(window.length <= plain.length - at);
        T_TRUE(window.length >= wanted || window.length == plain.length - at);
        if (window.length > 0 && memcmp(window.data, plain.data + at, window.length) != 0) {
            fail_msg("other bytes at %zu", at);
        }
        if (window.length == 0) {
            break;
        }
        consumed = (size_t)t_random_between(0, window.length);
    }
    T_EQ_U64(at, plain.length);
}

typedef enum form {
    PLAIN,
    GZIP,
    GZIP_MEMBERS,
    GZIP_PADDED,
    ZSTD,
    ZSTD_FRAMES,
    ZSTD_SKIPPABLE,
    UTF16_LITTLE,
    UTF16_BIG,
    FORM_COUNT
} form;

static const char *const form_names[] = { "plain",          "gzip",   "gzip members",
                                          "gzip padded",    "zstd",   "zstd frames",
                                          "zstd skippable", "little", "big" };
static const char *const compressions[] = { "none", "gzip", "gzip",   "gzip",  "zstd",
                                            "zstd", "zstd", "UTF-16", "UTF-16" };

/* ASCII in UTF-16, after a byte order mark. */
static bytes in_utf16(bytes plain, bool is_big_endian)
{
    bytes result = bytes_of(2 * plain.length + 2);
    result.data[is_big_endian ? 0 : 1] = 0xfe;
    result.data[is_big_endian ? 1 : 0] = 0xff;
    for (size_t i = 0; i < plain.length; i++) {
        result.data[2 * i + (is_big_endian ? 3 : 2)] = plain.data[i];
        result.data[2 * i + (is_big_endian ? 2 : 3)] = 0;
    }
    return result;
}

/* `plain` as a file would hold it. */
static bytes in_form(form what, bytes plain)
{
    const bytes first = { .data = plain.data, .length = plain.length / 3 };
    const bytes second = { .data = plain.data + first.length,
                           .length = plain.length - first.length };
    const bytes nothing = { .data = plain.data, .length = 0 };
    switch (what) {
    case GZIP:
        return gzipped(plain);
    case GZIP_MEMBERS:
        return joined(gzipped(first), joined(gzipped(nothing), gzipped(second)));
    case GZIP_PADDED:
        return joined(gzipped(plain), zeros(1000));
    case ZSTD:
        return zstandard(plain);
    case ZSTD_FRAMES:
        return joined(zstandard(first), zstandard(second));
    case ZSTD_SKIPPABLE:
        return joined(literal("\x51\x2a\x4d\x18\x03\0\0\0abc", 11), zstandard(plain));
    case UTF16_LITTLE:
    case UTF16_BIG:
        return in_utf16(plain, what == UTF16_BIG);
    case PLAIN:
    case FORM_COUNT:
    default:
        return literal((const char *)plain.data, plain.length);
    }
}

/* One file, one way in: `content` holds `plain`. */
static void expect_plain(way how, form what, bytes content, bytes plain, size_t wanted_max)
{
    T_CASE("%zu bytes, %s, %s", plain.length, form_names[what], way_names[how]);
    t_mem heap;
    t_mem_init(&heap);
    opened o;
    plim_error err;
    if (open_way(&o, how, content, &heap.mem, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    const char *compression = plim_input_compression(o.input);
    T_EQ_STR(compression != NULL ? compression : "none", compressions[what]);
    const bool is_sized = how != FROM_PIPE && how != FROM_SLOW_PIPE;
    T_EQ_U64(plim_input_total_bytes(o.input), is_sized ? content.length : 0);
    expect_content(o.input, plain, wanted_max);
    T_EQ_U64(plim_input_done_bytes(o.input), content.length);
    close_way(&o);
    T_EQ_U64(heap.live_bytes, 0);
}

static void the_same_bytes_come_in_every_way(void)
{
    static const struct {
        size_t length;
        size_t wanted_max;
    } cases[] = { { 1, 3 }, { 3, 10 }, { 5000, 100 }, { 700000, 300000 }, { 1500000, 1000000 } };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        const bytes plain = random_letters(cases[i].length);
        for (unsigned what = 0; what < FORM_COUNT; what++) {
            const bytes content = in_form((form)what, plain);
            for (unsigned how = 0; how < WAY_COUNT; how++) {
                expect_plain((way)how, (form)what, content, plain, cases[i].wanted_max);
            }
            free(content.data);
        }
        free(plain.data);
    }
}

/* --- refusals --- */

/* What becomes of `content`: its status, with the error, and how many bytes came before it. */
static plim_status read_all(const plim_mem *mem, bytes content, size_t *ret_length, plim_error *err)
{
    *ret_length = 0;
    plim_input *input = NULL;
    plim_status status =
        plim_input_open_memory(content.data, content.length, HOW(mem), &input, err);
    size_t consumed = 0;
    while (status == PLIM_OK) {
        plim_window window = { 0 };
        status = plim_input_refill(input, consumed, 1, &window, err);
        if (status == PLIM_OK && window.length == 0) {
            break;
        }
        consumed = window.length;
        *ret_length += status == PLIM_OK ? consumed : 0;
    }
    if (status != PLIM_OK && input != NULL) { /* and it stays that way */
        plim_window window = { 0 };
        T_EQ_U64(plim_input_refill(input, 0, 1, &window, NULL), status);
    }
    plim_input_close(input);
    return status;
}

static void what_is_not_a_readable_file_is_told_with_advice(void)
{
    char empty[64];
    char deaf[64];
    write_file(empty, (bytes){ 0 });
    write_file(deaf, (bytes){ .data = (uint8_t[]){ 'x' }, .length = 1 });
    chmod(deaf, 0);
    const struct {
        const char *path;
        plim_status status;
        int64_t native;
        const char *words;
    } cases[] = {
        { "/nonexistent/x.pickle", PLIM_IO, ENOENT,
          "cannot open \"/nonexistent/x.pickle\": No such file or directory; check the path; - is "
          "standard input" },
        { "/tmp", PLIM_IO, EISDIR, "cannot read \"/tmp\": Is a directory; name a file in it" },
        { "", PLIM_IO, ENOENT, "cannot open \"\": No such file" },
        { "/dev/null", PLIM_CORRUPT, 0, "\"/dev/null\" is empty" },
        { empty, PLIM_CORRUPT, 0, "is empty" },
        { deaf, PLIM_IO, EACCES, "Permission denied; ask its owner for leave to read it" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        if (cases[i].native == EACCES && geteuid() == 0) {
            continue; /* root is denied nothing */
        }
        T_CASE("%s", cases[i].path);
        t_mem heap;
        t_mem_init(&heap);
        plim_input *input = NULL;
        plim_error err;
        T_EQ_U64(plim_input_open(cases[i].path, HOW(&heap.mem), &input, &err), cases[i].status);
        T_NULL(input);
        T_EQ_I64(err.native, cases[i].native);
        T_NOT_NULL(strstr(err.message, cases[i].words));
        T_EQ_U64(plim_input_open(cases[i].path, HOW(&heap.mem), &input, NULL), cases[i].status);
        T_EQ_U64(heap.live_bytes, 0);
    }
    plim_input *input = NULL;
    plim_window window = { 0 };
    T_EQ_U64(plim_input_open(empty, &(plim_input_options){ .may_be_empty = true }, &input, NULL),
             PLIM_OK);
    T_EQ_U64(plim_input_refill(input, 0, 1, &window, NULL), PLIM_OK);
    T_EQ_U64(window.length, 0);
    plim_input_close(input);
    unlink(empty);
    unlink(deaf);
}

static void a_long_path_is_named_by_its_end(void)
{
    char path[1200];
    memset(path, 'd', sizeof path);
    for (size_t i = 0; i < sizeof path; i += 100) {
        path[i] = '/';
    }
    snprintf(path + 1100, 100, "/file.pickle");
    plim_input *input = NULL;
    plim_error err;
    T_EQ_U64(plim_input_open(path, &with_codecs, &input, &err), PLIM_IO);
    T_NOT_NULL(strstr(err.message, "cannot open \"..."));
    T_NOT_NULL(strstr(err.message, "/file.pickle\": No such file or directory"));
}

typedef struct damage {
    const char *name;
    bytes content; /* freed when it has been tried */
    size_t keep;   /* cut to so many bytes, 0: all */
    size_t spoil;  /* this byte, 0: none */
    plim_status status;
    uint64_t offset_min;
    uint64_t offset_max;
    size_t delivered; /* at least */
    const char *words;
} damage;

static void expect_damage(const damage *d)
{
    T_CASE("%s", d->name);
    bytes content = d->content;
    if (d->keep > 0) {
        content.length = d->keep;
    }
    if (d->spoil > 0) {
        content.data[d->spoil] ^= 0x55;
    }
    t_mem heap;
    t_mem_init(&heap);
    size_t delivered = 0;
    plim_error err;
    T_EQ_U64(read_all(&heap.mem, content, &delivered, &err), d->status);
    T_TRUE(err.offset >= d->offset_min);
    T_TRUE(err.offset <= d->offset_max);
    T_TRUE(delivered >= d->delivered);
    if (strstr(err.message, d->words) == NULL) {
        fail_msg("%s", err.message);
    }
    T_EQ_U64(heap.live_bytes, 0);
    free(content.data);
}

static bytes copy_of(bytes original)
{
    return literal((const char *)original.data, original.length);
}

static void damaged_data_is_told_with_its_place(void)
{
    const bytes plain = random_letters(300000);
    const bytes none = zeros(0);
    const bytes gzip = gzipped(plain);
    const bytes zstd = zstandard(plain);
    const damage cases[] = {
        { "no bytes", copy_of(none), 0, 0, PLIM_CORRUPT, 0, 0, 0, "\"memory\" is empty" },
        { "gzip of nothing", gzipped(none), 0, 0, PLIM_CORRUPT, 0, 0, 0,
          "is empty once decompressed" },
        { "zstd of nothing", zstandard(none), 0, 0, PLIM_CORRUPT, 0, 0, 0,
          "is empty once decompressed" },
        { "gzip, its header cut", copy_of(gzip), 5, 0, PLIM_CORRUPT, 5, 5, 0, "is cut off" },
        { "gzip, its middle cut", copy_of(gzip), gzip.length / 2, 0, PLIM_CORRUPT, gzip.length / 2,
          gzip.length / 2, 100000, "is cut off" },
        { "gzip, its checksum cut", copy_of(gzip), gzip.length - 6, 0, PLIM_CORRUPT,
          gzip.length - 6, gzip.length - 6, 300000, "is cut off" },
        { "gzip, a bad checksum", copy_of(gzip), 0, gzip.length - 7, PLIM_CORRUPT, gzip.length - 8,
          gzip.length, 300000, "incorrect data check" },
        { "gzip, an unknown method", copy_of(gzip), 0, 2, PLIM_CORRUPT, 0, 4, 0,
          "unknown compression method" },
        { "gzip, then text", joined(gzipped(plain), literal("\0\0\0oops", 7)), 0, 0, PLIM_CORRUPT,
          gzip.length + 3, gzip.length + 3, 262144, "something that is not gzip after" },
        { "zstd, its header cut", copy_of(zstd), 6, 0, PLIM_CORRUPT, 0, 6, 0, "is cut off" },
        { "zstd, its middle cut", copy_of(zstd), zstd.length / 2, 0, PLIM_CORRUPT, zstd.length / 2,
          zstd.length / 2, 100000, "is cut off" },
        { "zstd, a bad checksum", copy_of(zstd), 0, zstd.length - 2, PLIM_CORRUPT, zstd.length - 8,
          zstd.length, 262144, "checksum" },
        { "zstd, then text", joined(zstandard(plain), literal("oops, text", 10)), 0, 0,
          PLIM_CORRUPT, zstd.length, zstd.length, 262144, "something that is not zstd after" },
        { "zstd, a window of 256 MiB", literal("\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9), 0, 0,
          PLIM_LIMIT, 0, 9, 0, "window above 128 MiB; pipe it through zstd -dc --long=31" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        expect_damage(&cases[i]);
    }
    free(plain.data);
    free(none.data);
    free(gzip.data);
    free(zstd.data);
}

static void no_cut_and_no_flipped_bit_goes_unnoticed(void)
{
    const bytes plain = random_letters(600);
    for (int which = 0; which < 2; which++) {
        const bytes content = which == 0 ? gzipped(plain) : zstandard(plain);
        for (size_t i = 4; i < content.length; i++) {
            T_CASE("%s cut to %zu", which == 0 ? "gzip" : "zstd", i);
            size_t delivered = 0;
            plim_error err;
            const bytes cut = { .data = content.data, .length = i };
            T_EQ_U64(read_all(NULL, cut, &delivered, &err), PLIM_CORRUPT);
            T_CASE("%s flipped at %zu", which == 0 ? "gzip" : "zstd", i);
            content.data[i] ^= 4;
            const plim_status status = read_all(NULL, content, &delivered, &err);
            T_TRUE(status != PLIM_OK || delivered == plain.length); /* or a bit nobody needs */
            content.data[i] ^= 4;
        }
        free(content.data);
    }
    free(plain.data);
}

/* --- memory and time --- */

static void what_a_caller_wants_costs_nothing_until_it_arrives(void)
{
    const bytes plain = random_letters(1000);
    for (unsigned how = FROM_FILE; how < WAY_COUNT; how++) {
        T_CASE("%s", way_names[how]);
        t_mem heap;
        t_mem_init(&heap);
        opened o;
        T_EQ_U64(open_way(&o, (way)how, plain, &heap.mem, NULL), PLIM_OK);
        plim_window window;
        T_EQ_U64(plim_input_refill(o.input, 0, SIZE_MAX, &window, NULL), PLIM_OK);
        T_EQ_U64(window.length, 1000);
        T_TRUE(heap.peak_bytes < 300 * KIB);
        close_way(&o);
    }
    free(plain.data);
}

static void a_wide_window_is_at_most_four_times_what_arrived(void)
{
    const bytes plain = random_letters(3 * MIB);
    t_mem heap;
    t_mem_init(&heap);
    opened o;
    T_EQ_U64(open_way(&o, FROM_PIPE, plain, &heap.mem, NULL), PLIM_OK);
    plim_window window;
    T_EQ_U64(plim_input_refill(o.input, 0, 2 * MIB, &window, NULL), PLIM_OK);
    T_TRUE(window.length >= 2 * MIB);
    T_EQ_MEM(window.data, plain.data, window.length);
    T_TRUE(heap.live_bytes <= 4 * MIB + 300 * KIB);
    close_way(&o);
    free(plain.data);
}

static void memory_is_not_copied(void)
{
    const bytes plain = random_letters(100000);
    t_mem heap;
    t_mem_init(&heap);
    plim_input *input = NULL;
    T_EQ_U64(plim_input_open_memory(plain.data, plain.length, HOW(&heap.mem), &input, NULL),
             PLIM_OK);
    plim_window window;
    T_EQ_U64(plim_input_refill(input, 0, 1, &window, NULL), PLIM_OK);
    T_TRUE(window.data == plain.data);
    T_EQ_U64(window.length, plain.length);
    T_TRUE(heap.peak_bytes < KIB);
    plim_input_close(input);
    plim_input_close(NULL);
    free(plain.data);
}

static void a_bomb_streams_through(void)
{
    const bytes plain = zeros(64 * MIB);
    for (int which = 0; which < 2; which++) {
        T_CASE("%s", which == 0 ? "gzip" : "zstd");
        const bytes content = which == 0 ? gzipped(plain) : zstandard(plain);
        t_mem heap;
        t_mem_init(&heap);
        size_t length = 0;
        T_EQ_U64(read_all(&heap.mem, content, &length, NULL), PLIM_OK);
        T_EQ_U64(length, plain.length);
        T_TRUE(heap.peak_bytes < 600 * KIB);
        free(content.data);
    }
    free(plain.data);
}

static void a_file_that_shrinks_just_ends(void)
{
    const bytes plain = random_letters(2 * MIB);
    opened o;
    T_EQ_U64(open_way(&o, FROM_FILE, plain, NULL, NULL), PLIM_OK);
    T_EQ_I64(truncate(o.path, 10), 0);
    size_t length = 0;
    plim_window window = { 0 };
    do {
        T_EQ_U64(plim_input_refill(o.input, window.length, 1, &window, NULL), PLIM_OK);
        length += window.length;
    } while (window.length > 0);
    T_TRUE(length < plain.length);
    close_way(&o);
    free(plain.data);
}

static void standard_input_may_stand_in_the_middle_and_stays_open(void)
{
    opened o = { .pipe_fd = -1, .old_stdin = -1 };
    write_file(o.path, (bytes){ .data = (uint8_t[]){ "headtail" }, .length = 8 });
    take_stdin(&o, o.path);
    T_EQ_I64(lseek(STDIN_FILENO, 4, SEEK_SET), 4);
    T_EQ_U64(plim_input_open("-", &with_codecs, &o.input, NULL), PLIM_OK);
    T_EQ_U64(plim_input_total_bytes(o.input), 4);
    expect_content(o.input, (bytes){ .data = (uint8_t[]){ "tail" }, .length = 4 }, 3);
    plim_input_close(o.input);
    o.input = NULL;
    T_TRUE(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    close_way(&o);
}

static void a_pipe_that_does_not_block_is_waited_for(void)
{
    const bytes plain = random_letters(200000);
    opened o = { .pipe_fd = -1, .old_stdin = -1 };
    open_pipe(&o, plain, true);
    o.old_stdin = dup(STDIN_FILENO);
    T_TRUE(dup2(o.pipe_fd, STDIN_FILENO) >= 0);
    T_EQ_I64(fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK), 0);
    T_EQ_U64(plim_input_open("-", &with_codecs, &o.input, NULL), PLIM_OK);
    expect_content(o.input, plain, 5000);
    close_way(&o);
    free(plain.data);
}

typedef struct attempt {
    way how;
    bytes content;
    bytes plain;
} attempt;

static bool read_with(const plim_mem *mem, void *ctx)
{
    const attempt *a = ctx;
    opened o;
    plim_error err = { 0 };
    plim_status status = open_way(&o, a->how, a->content, mem, &err);
    size_t consumed = 0;
    size_t at = 0;
    for (size_t wanted = 1; status == PLIM_OK; wanted *= 3) { /* makes the window grow, too */
        plim_window window = { 0 };
        status = plim_input_refill(o.input, consumed, wanted, &window, &err);
        if (status == PLIM_OK) {
            T_EQ_MEM(window.data, a->plain.data + at, window.length);
            consumed = 1;
            at++;
            if (at + window.length > a->plain.length) {
                break;
            }
        }
    }
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_TRUE(status == PLIM_OK || strncmp(err.message, "out of host memory while ", 25) == 0);
    close_way(&o);
    return status == PLIM_OK;
}

static void without_memory_it_says_so_and_loses_nothing(void)
{
    const bytes plain = random_letters(1 * MIB);
    for (unsigned what = 0; what < FORM_COUNT; what++) {
        const bytes content = in_form((form)what, plain);
        for (unsigned how = FROM_MEMORY; how <= FROM_FILE; how++) {
            T_CASE("%s, %s", form_names[what], way_names[how]);
            attempt a = { .how = (way)how, .content = content, .plain = plain };
            t_fail_each_allocation(read_with, &a);
        }
        free(content.data);
    }
    free(plain.data);
}

T_MAIN(T_TEST(the_same_bytes_come_in_every_way),
       T_TEST(what_is_not_a_readable_file_is_told_with_advice),
       T_TEST(a_long_path_is_named_by_its_end), T_TEST(damaged_data_is_told_with_its_place),
       T_TEST(no_cut_and_no_flipped_bit_goes_unnoticed),
       T_TEST(what_a_caller_wants_costs_nothing_until_it_arrives),
       T_TEST(a_wide_window_is_at_most_four_times_what_arrived), T_TEST(memory_is_not_copied),
       T_TEST(a_bomb_streams_through), T_TEST(a_file_that_shrinks_just_ends),
       T_TEST(standard_input_may_stand_in_the_middle_and_stays_open),
       T_TEST(a_pipe_that_does_not_block_is_waited_for),
       T_TEST(without_memory_it_says_so_and_loses_nothing))
