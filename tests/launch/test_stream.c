/*
 * test_stream.c - opening and moving, where the whole command cannot be made to fail.
 */
#include "launch/stream.h"

#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* Our stdout and stderr, replaced by two pipes of which the test holds the reading ends. */
typedef struct outside {
    int saved[2];
    int readers[2];
} outside;

static void begin_outside(outside *out)
{
    for (int i = 0; i < 2; i++) {
        int ends[2];
        fflush(i == 0 ? stdout : stderr);
        out->saved[i] = fcntl(1 + i, F_DUPFD_CLOEXEC, 100);
        T_EQ_I64(pipe2(ends, O_CLOEXEC), 0);
        out->readers[i] = fcntl(ends[0], F_DUPFD_CLOEXEC, 100);
        T_TRUE(out->saved[i] >= 100 && out->readers[i] >= 100);
        T_EQ_I64(dup2(ends[1], 1 + i), 1 + i);
        close(ends[0]);
        close(ends[1]);
    }
}

static void end_outside(outside *out)
{
    for (int i = 0; i < 2; i++) {
        dup2(out->saved[i], 1 + i);
        close(out->saved[i]);
        close(out->readers[i]);
    }
}

static size_t count_open(void)
{
    size_t count = 0;
    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static bool open_both(const plim_mem *mem, void *ctx)
{
    plim_launch_stream streams[2];
    size_t count = 99;
    plim_error err = { 0 };
    const plim_status status = plim_launch_streams_open(mem, NULL, streams, &count, &err);
    *(plim_status *)ctx = status;
    if (status != PLIM_OK) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        plim_launch_stream_close(&streams[i]);
    }
    return count == 2;
}

static void opening_fails_cleanly_without_memory(void)
{
    outside out;
    begin_outside(&out);
    const size_t before = count_open();
    plim_status status = PLIM_OK;
    t_fail_each_allocation(open_both, &status);
    const size_t after = count_open();
    end_outside(&out);
    T_EQ_U64(before, after);
}

static void opening_fails_cleanly_without_descriptors(void)
{
    struct rlimit limit;
    T_EQ_I64(getrlimit(RLIMIT_NOFILE, &limit), 0);
    outside out;
    begin_outside(&out);
    const size_t before = count_open();
    bool is_told = true;
    bool has_failed = false;
    bool has_succeeded = false;
    for (rlim_t most = 3; most < 32; most++) {
        const struct rlimit tight = { .rlim_cur = most, .rlim_max = limit.rlim_max };
        plim_status status = PLIM_OK;
        (void)setrlimit(RLIMIT_NOFILE, &tight);
        const bool is_open = open_both(NULL, &status);
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        is_told = is_told && (is_open || status == PLIM_IO);
        has_failed = has_failed || !is_open;
        has_succeeded = is_open;
    }
    const size_t after = count_open();
    end_outside(&out);
    T_TRUE(is_told && has_failed && has_succeeded);
    T_EQ_U64(before, after);
}

/* One turn of the loop that launch.c has; false when the stream is over. */
static bool turn(plim_launch_stream *stream, size_t *moved)
{
    struct pollfd fds[PLIM_LAUNCH_STREAM_FDS];
    if (plim_launch_stream_is_over(stream)) {
        return false;
    }
    plim_launch_stream_prepare(stream, fds);
    if (poll(fds, PLIM_LAUNCH_STREAM_FDS, 0) > 0) {
        *moved += plim_launch_stream_move(stream, fds, false).bytes;
    }
    return true;
}

static bool put_all(int fd, const char *bytes, size_t count)
{
    return write(fd, bytes, count) == (ssize_t)count;
}

static void a_full_reader_never_blocks_us(void)
{
    outside out;
    signal(SIGPIPE, SIG_IGN); /* as the command does */
    begin_outside(&out);
    plim_launch_stream streams[2];
    size_t count = 0;
    plim_error err = { 0 };
    const plim_status status = plim_launch_streams_open(NULL, NULL, streams, &count, &err);
    bool is_right = status == PLIM_OK && count == 2;
    static char bytes[60000];
    size_t moved = 0;
    for (int i = 0; is_right && i < 3; i++) { /* the pipe outside takes one of them */
        is_right = put_all(streams[0].given, bytes, i < 2 ? sizeof bytes : 1) &&
                   turn(&streams[0], &moved) && turn(&streams[0], &moved);
    }
    is_right = is_right && moved == 2 * sizeof bytes && streams[0].begin < streams[0].end;

    /* The reader goes: what waits is dropped, and our reading end with it. */
    close(out.readers[0]);
    out.readers[0] = -1;
    is_right = is_right && turn(&streams[0], &moved) && !turn(&streams[0], &moved);
    const int code = streams[0].write_errno;
    for (size_t i = 0; i < count; i++) {
        plim_launch_stream_close(&streams[i]);
    }
    end_outside(&out);
    T_TRUE(is_right);
    T_EQ_I64(code, EPIPE);
}

T_MAIN(T_TEST(opening_fails_cleanly_without_memory),
       T_TEST(opening_fails_cleanly_without_descriptors), T_TEST(a_full_reader_never_blocks_us))
