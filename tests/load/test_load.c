/*
 * test_load.c - a history from a file, whatever kind it is.
 */
#include "plimsoll/load.h"

#include "harness.h"

#include <unistd.h>
#include <zlib.h>

static bool cancel(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)ctx;
    (void)done_bytes;
    (void)total_bytes;
    return false;
}

static const struct {
    const char *path;
    const char *format;
    const char *compression;
    plim_status status;
} cases[] = {
    { "tests/data/recordings/streams.pickle", "pickle", NULL, PLIM_OK },
    { "tests/data/recordings/leak.pickle.gz", "pickle", "gzip", PLIM_OK },
    { "fuzz/corpus/recording/plain", "plim", NULL, PLIM_OK },
    { "fuzz/corpus/recording/newer", NULL, NULL, PLIM_CORRUPT },
    { "tests/data/profiles/kineto.json.gz", "kineto", "gzip", PLIM_OK },
    { "tests/data/profiles/timeline.raw.json.gz", "memory-timeline", "gzip", PLIM_OK },
    { "tests/data/profiles/rmm.csv", "rmm-csv", NULL, PLIM_OK },
    { "tests/CMakeLists.txt", NULL, NULL, PLIM_UNSUPPORTED },
    { "nowhere", NULL, NULL, PLIM_IO },
};

static void bytes_decide_what_a_file_is(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].path);
        plim_history *history = NULL;
        T_EQ_U64(plim_history_load(cases[i].path, NULL, &history, NULL), cases[i].status);
        if (history != NULL) {
            const plim_source source = plim_history_source(history);
            T_EQ_STR(source.format, cases[i].format);
            T_EQ_U64(source.compression == NULL, cases[i].compression == NULL);
            T_TRUE(plim_history_device_count(history) > 0);
            plim_history_destroy(history);
        }
    }
}

static void recordings_may_be_compressed_as_a_whole(void)
{
    static char data[1 << 16];
    char path[256];
    const char *const folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/plimsoll-%ld-load.plim.gz",
                   folder != NULL ? folder : "/tmp", (long)getpid());
    FILE *const from = fopen("fuzz/corpus/recording/zstd", "rb");
    T_NOT_NULL(from);
    const size_t bytes = fread(data, 1, sizeof data, from);
    (void)fclose(from);
    gzFile to = gzopen(path, "wb");
    T_EQ_U64(gzwrite(to, data, (unsigned)bytes), bytes);
    T_EQ_U64(gzclose(to), Z_OK);
    plim_history *history = NULL;
    T_EQ_U64(plim_history_load(path, NULL, &history, NULL), PLIM_OK);
    T_EQ_STR(plim_history_source(history).format, "plim");
    T_EQ_STR(plim_history_source(history).compression, "gzip");
    T_EQ_U64(plim_history_device_count(history), 2);
    plim_history_destroy(history);
    (void)unlink(path);
}

static void reading_can_be_stopped(void)
{
    plim_history *history = NULL;
    const plim_load_options options = { .progress = cancel };
    T_EQ_U64(plim_history_load("fuzz/corpus/recording/plain", &options, &history, NULL),
             PLIM_CANCELLED);
}

T_MAIN(T_TEST(bytes_decide_what_a_file_is), T_TEST(recordings_may_be_compressed_as_a_whole),
       T_TEST(reading_can_be_stopped))
