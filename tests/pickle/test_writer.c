/*
 * test_writer.c - values to bytes: the bytes CPython writes, and what is refused.
 *
 * test_against_python.py compares thousands of values with CPython itself; here are the rules in
 * the small, the real files we have, and failure.
 */
#include "harness.h"

#include "codec/codec.h"
#include "pickle/reading.h"
#include "pickle/writer.h"

#include <dirent.h>

#define BYTES(literal)   (literal), sizeof(literal) - 1
#define PICKLE_BYTES_MAX ((size_t)1 << 30)

/* What pickle.dumps(value, 4) gives; each reads and is written as itself. */
static const struct {
    const char *name;
    const char *data;
    size_t length;
} pickles[] = {
    { "None, a frame too short for a header", BYTES("\x80\x04N.") },
    { "True", BYTES("\x80\x04\x88.") },
    { "255", BYTES("\x80\x04K\xff.") },
    { "256", BYTES("\x80\x04\x95\x04\0\0\0\0\0\0\0M\0\x01.") },
    { "65536", BYTES("\x80\x04\x95\x06\0\0\0\0\0\0\0J\0\0\x01\0.") },
    { "-1", BYTES("\x80\x04\x95\x06\0\0\0\0\0\0\0J\xff\xff\xff\xff.") },
    { "2^31", BYTES("\x80\x04\x95\x08\0\0\0\0\0\0\0\x8a\x05\0\0\0\x80\0.") },
    { "-2^31 - 1", BYTES("\x80\x04\x95\x08\0\0\0\0\0\0\0\x8a\x05\xff\xff\xff\x7f\xff.") },
    { "-2^39", BYTES("\x80\x04\x95\x08\0\0\0\0\0\0\0\x8a\x05\0\0\0\0\x80.") },
    { "2^64", BYTES("\x80\x04\x95\x0c\0\0\0\0\0\0\0\x8a\x09\0\0\0\0\0\0\0\0\x01.") },
    { "1.5", BYTES("\x80\x04\x95\x0a\0\0\0\0\0\0\0G?\xf8\0\0\0\0\0\0.") },
    { "an empty string", BYTES("\x80\x04\x95\x04\0\0\0\0\0\0\0\x8c\0\x94.") },
    { "bytes", BYTES("\x80\x04\x95\x06\0\0\0\0\0\0\0C\x02hi\x94.") },
    { "an empty tuple", BYTES("\x80\x04).") },
    { "an empty list", BYTES("\x80\x04]\x94.") },
    { "an empty set", BYTES("\x80\x04\x8f\x94.") },
    { "an empty frozenset", BYTES("\x80\x04\x95\x04\0\0\0\0\0\0\0(\x91\x94.") },
    { "a list of one", BYTES("\x80\x04\x95\x05\0\0\0\0\0\0\0]\x94Na.") },
    { "a dict of one", BYTES("\x80\x04\x95\x06\0\0\0\0\0\0\0}\x94NNs.") },
    { "a set of one", BYTES("\x80\x04\x95\x06\0\0\0\0\0\0\0\x8f\x94(N\x90.") },
    { "tuples of one to four",
      BYTES("\x80\x04\x95\x18\0\0\0\0\0\0\0]\x94(N\x85\x94NN\x86\x94NNN\x87\x94(NNNNt\x94"
            "e.") },
    { "a list twice", BYTES("\x80\x04\x95\x09\0\0\0\0\0\0\0]\x94(]\x94h\x01"
                            "e.") },
    { "a list in itself", BYTES("\x80\x04\x95\x06\0\0\0\0\0\0\0]\x94h\0"
                                "a.") },
    { "a tuple in its own list", BYTES("\x80\x04\x95\x0b\0\0\0\0\0\0\0]\x94h\0\x85\x94"
                                       "a0h\x01.") },
};

static plim_text write_back(plim_value value, const plim_pickle_write_options *options,
                            plim_status expected)
{
    plim_text pickle;
    plim_error err = { .status = PLIM_OK };
    plim_text_init(&pickle, NULL, PICKLE_BYTES_MAX);
    const plim_status status = plim_pickle_write(value, options, plim_sink_to_text(&pickle), &err);
    T_EQ_STR(plim_status_name(status), plim_status_name(expected));
    T_EQ_I64(err.status, status);
    return pickle;
}

static void what_python_wrote_is_written_the_same(void)
{
    for (size_t i = 0; i < T_COUNT(pickles); i++) {
        T_CASE("%s", pickles[i].name);
        pickle_reading reading;
        read_pickle(pickles[i].data, pickles[i].length, NULL, NULL, &reading);
        T_EQ_STR(reading.err.message, "");
        plim_text pickle = write_back(reading.value, NULL, PLIM_OK);
        T_EQ_U64(pickle.length, pickles[i].length);
        T_EQ_MEM(plim_text_string(&pickle), pickles[i].data, pickle.length);
        plim_text_deinit(&pickle);
        reading_free(&reading);
    }
}

static const struct {
    const char *name;
    const char *data;
    size_t length;
    plim_status status;
    plim_status status_for_viewer;
} limits[] = {
    { "plain data", BYTES("]."), PLIM_OK, PLIM_OK },
    { "bytes", BYTES("C\0."), PLIM_OK, PLIM_UNSUPPORTED },
    { "a set", BYTES("\x8f."), PLIM_OK, PLIM_UNSUPPORTED },
    { "a frozenset inside",
      BYTES("](\x91"
            "a."),
      PLIM_OK, PLIM_UNSUPPORTED },
    { "a tuple in its own list", BYTES("]q\0h\0\x85q\1a0h\1."), PLIM_OK, PLIM_UNSUPPORTED },
    { "a list in itself",
      BYTES("]q\0h\0"
            "a."),
      PLIM_OK, PLIM_OK },
    { "a bytearray", BYTES("\x96\0\0\0\0\0\0\0\0."), PLIM_UNSUPPORTED, PLIM_UNSUPPORTED },
};

static void what_cannot_be_written_is_refused(void)
{
    const plim_pickle_write_options for_viewer = { .viewer_safe = true };
    for (size_t i = 0; i < T_COUNT(limits); i++) {
        T_CASE("%s", limits[i].name);
        pickle_reading reading;
        read_pickle(limits[i].data, limits[i].length, NULL, NULL, &reading);
        T_EQ_U64(reading.status, PLIM_OK);
        plim_text plain = write_back(reading.value, NULL, limits[i].status);
        plim_text safe = write_back(reading.value, &for_viewer, limits[i].status_for_viewer);
        plim_text_deinit(&plain);
        plim_text_deinit(&safe);
        reading_free(&reading);
    }
    plim_text none = write_back(PLIM_VALUE_ABSENT, NULL, PLIM_INVALID_ARGUMENT);
    plim_text row = write_back(plim_value_row(1, 2), NULL, PLIM_UNSUPPORTED);
    plim_text_deinit(&none);
    plim_text_deinit(&row);
}

static void integers_above_255_bytes_are_not_for_the_viewer(void)
{
    const plim_pickle_write_options for_viewer = { .viewer_safe = true };
    const uint8_t bytes[256] = { [254] = 1, [255] = 1 };
    plim_builder builder;
    plim_value short_enough = PLIM_VALUE_ABSENT;
    plim_value longer = PLIM_VALUE_ABSENT;
    plim_builder_init(&builder, NULL, NULL);
    T_TRUE(plim_make_long(&builder, bytes, 255, &short_enough));
    T_TRUE(plim_make_long(&builder, bytes, 256, &longer));
    plim_text first = write_back(short_enough, &for_viewer, PLIM_OK);
    plim_text second = write_back(longer, &for_viewer, PLIM_UNSUPPORTED);
    plim_text third = write_back(longer, NULL, PLIM_OK);
    plim_text_deinit(&first);
    plim_text_deinit(&second);
    plim_text_deinit(&third);
    plim_builder_deinit(&builder);
}

static void nesting_costs_no_stack_and_ends_at_the_limit(void)
{
    for (int is_too_deep = 0; is_too_deep < 2; is_too_deep++) {
        plim_builder builder;
        plim_builder_init(&builder, NULL, NULL);
        plim_value value = PLIM_VALUE_NONE;
        for (uint32_t i = 0; i < PLIM_PICKLE_WRITE_DEPTH_MAX + (uint32_t)is_too_deep; i++) {
            plim_value outer = PLIM_VALUE_ABSENT;
            T_TRUE(plim_make_container(&builder, PLIM_KIND_TUPLE, &outer));
            T_EQ_U64(plim_container_extend(&builder, outer, &value, 1, NULL), PLIM_OK);
            value = outer;
        }
        plim_text pickle = write_back(value, NULL, is_too_deep ? PLIM_LIMIT : PLIM_OK);
        plim_text_deinit(&pickle);
        plim_builder_deinit(&builder);
    }
}

typedef struct narrow_sink {
    size_t room;
    int calls_after_failure;
    bool failed;
} narrow_sink;

static bool write_narrow(void *ctx, const void *data, size_t bytes)
{
    narrow_sink *narrow = ctx;
    (void)data;
    narrow->calls_after_failure += narrow->failed;
    narrow->failed = bytes > narrow->room;
    narrow->room -= narrow->failed ? 0 : bytes;
    return !narrow->failed;
}

static void a_sink_that_refuses_is_not_asked_again(void)
{
    for (size_t room = 0; room < 14; room++) {
        narrow_sink narrow = { .room = room };
        pickle_reading reading;
        plim_error err;
        read_pickle(pickles[4].data, pickles[4].length, NULL, NULL, &reading);
        const plim_sink sink = { .write = write_narrow, .ctx = &narrow };
        T_EQ_U64(plim_pickle_write(reading.value, NULL, sink, &err), PLIM_IO);
        T_EQ_I64(narrow.calls_after_failure, 0);
        reading_free(&reading);
    }
}

/* A pickle with something of everything: several frames, batches, long strings, a long memo. */
static plim_value make_rich(plim_builder *builder)
{
    static const char filler[70000] = { 'x' };
    plim_value root = PLIM_VALUE_ABSENT;
    T_TRUE(plim_make_container(builder, PLIM_KIND_LIST, &root));
    for (uint32_t i = 0; i < 2001; i++) {
        plim_value pair[2];
        plim_value dict = PLIM_VALUE_ABSENT;
        const size_t length = i % 700 == 0 ? sizeof filler : i % 90;
        T_TRUE(plim_make_string(builder, filler, length, &pair[0]));
        T_TRUE(plim_make_int(builder, (int64_t)i * i * i, &pair[1]));
        T_TRUE(plim_make_container(builder, i % 2 == 0 ? PLIM_KIND_DICT : PLIM_KIND_TUPLE, &dict));
        T_EQ_U64(plim_container_extend(builder, dict, pair, 2, NULL), PLIM_OK);
        T_EQ_U64(plim_container_extend(builder, root, &dict, 1, NULL), PLIM_OK);
    }
    return root;
}

static bool write_or_fail(const plim_mem *mem, void *ctx)
{
    const plim_pickle_write_options options = { .mem = mem };
    plim_text pickle;
    plim_text_init(&pickle, NULL, PICKLE_BYTES_MAX);
    const plim_status status =
        plim_pickle_write(*(const plim_value *)ctx, &options, plim_sink_to_text(&pickle), NULL);
    plim_text_deinit(&pickle);
    if (status != PLIM_OK && status != PLIM_OUT_OF_HOST_MEMORY) {
        fail_msg("without memory the answer is %s", plim_status_name(status));
    }
    return status == PLIM_OK;
}

static void running_out_of_memory_anywhere_leaks_nothing(void)
{
    plim_builder builder;
    plim_builder_init(&builder, NULL, NULL);
    plim_value rich = make_rich(&builder);
    t_fail_each_allocation(write_or_fail, &rich);
    plim_builder_deinit(&builder);
}

/* --- real files --- */

/* All of a file, decompressed. */
static plim_text load(const char *path)
{
    plim_text bytes;
    plim_input *input = NULL;
    plim_window window = { 0 };
    plim_text_init(&bytes, NULL, PICKLE_BYTES_MAX);
    T_EQ_U64(plim_input_open(path, &(plim_input_options){ .codecs = plim_codecs }, &input, NULL),
             PLIM_OK);
    do {
        T_EQ_U64(plim_input_refill(input, window.length, 1, &window, NULL), PLIM_OK);
        plim_text_append(&bytes, window.data, window.length);
    } while (window.length > 0);
    plim_input_close(input);
    T_EQ_U64(plim_text_status(&bytes, "reading a file", NULL), PLIM_OK);
    return bytes;
}

static bool is_pickle_of_protocol_4(const plim_text *bytes)
{
    return bytes->length > 2 && memcmp(bytes->data, "\x80\x04", 2) == 0;
}

/* False for pickles of other protocols, which are not written as they were. */
static bool check_file(const char *path)
{
    T_CASE("%.150s", path);
    plim_text bytes = load(path);
    const bool is_ours = is_pickle_of_protocol_4(&bytes);
    if (is_ours) {
        pickle_reading reading;
        read_pickle(bytes.data, bytes.length, NULL, NULL, &reading);
        T_EQ_STR(reading.err.message, "");
        const plim_pickle_write_options for_viewer = { .viewer_safe = true };
        plim_text pickle = write_back(reading.value, &for_viewer, PLIM_OK);
        T_EQ_U64(pickle.length, bytes.length);
        T_EQ_MEM(pickle.data, bytes.data, bytes.length);
        plim_text_deinit(&pickle);
        reading_free(&reading);
    }
    plim_text_deinit(&bytes);
    return is_ours;
}

/* The number of files that were compared. */
static int check_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int entry_count = scandir(folder, &entries, NULL, alphasort);
    int count = 0;
    T_TRUE(entry_count >= 0);
    for (int i = 0; i < entry_count; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (strstr(entries[i]->d_name, ".pickle") != NULL) {
            count += check_file(path);
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}

static void our_recordings_are_written_the_same(void)
{
    T_TRUE(check_folder("tests/data/recordings") >= 12);
}

static void snapshots_of_others_are_written_the_same(void)
{
    const char *folder = t_snapshot_dir();
    if (folder == NULL) {
        T_SKIP("PLIM_SNAPSHOT_DIR names no folder of snapshots");
    }
    (void)check_folder(folder);
}

T_MAIN(T_TEST(what_python_wrote_is_written_the_same), T_TEST(what_cannot_be_written_is_refused),
       T_TEST(integers_above_255_bytes_are_not_for_the_viewer),
       T_TEST(nesting_costs_no_stack_and_ends_at_the_limit),
       T_TEST(a_sink_that_refuses_is_not_asked_again),
       T_TEST(running_out_of_memory_anywhere_leaks_nothing),
       T_TEST(our_recordings_are_written_the_same),
       T_TEST(snapshots_of_others_are_written_the_same))
