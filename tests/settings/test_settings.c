/*
 * test_settings.c - what settings strings mean. The answers in the first tables are those of the
 * parser of PyTorch 2.11.0 itself, asked through its library.
 */
#include "harness.h"

#include "base/units.h"
#include "plimsoll/settings.h"

#include <locale.h>
#include <math.h>

/* Parses what '|' separates one after the other. */
static plim_settings parse_all(const char *texts)
{
    plim_settings settings = plim_settings_default();
    char text[2048];
    for (const char *at = texts;; at++) {
        const size_t length = strcspn(at, "|");
        memcpy(text, at, length);
        text[length] = '\0';
        plim_error err = { .status = PLIM_OK };
        if (plim_settings_parse(text, &settings, &err) != PLIM_OK) {
            fail_msg("%s", err.message);
        }
        at += length;
        if (*at == '\0') {
            return settings;
        }
    }
}

static void expect_format(const plim_settings *settings, const char *expected)
{
    char text[1024];
    const size_t length = plim_settings_format(settings, text, sizeof text);
    T_EQ_STR(text, expected);
    T_EQ_U64(length, strlen(expected));
}

static void what_is_not_named_is_reset_or_stays_as_in_torch(void)
{
    static const struct {
        const char *texts;
        const char *result;
    } cases[] = {
        { "", "" },
        { "  \t\n\v\f\r ", "" },
        { "max_split_size_mb:20", "max_split_size_mb:20" },
        { "max_split_size_mb:030", "max_split_size_mb:30" },
        { "max_split_size_mb:30,", "max_split_size_mb:30" },
        { " max_split _size_mb : 3 0 , ", "max_split_size_mb:30" },
        { "expandable_segments:Tr ue", "expandable_segments:True" },
        /* The last of equal keys wins. */
        { "max_split_size_mb:30,max_split_size_mb:40", "max_split_size_mb:40" },
        { "large_segment_size_mb:30,large_segment_size_mb:40", "large_segment_size_mb:40" },
        /* Reset by every parse. */
        { "max_split_size_mb:30|", "" },
        { "max_non_split_rounding_mb:50|", "" },
        { "garbage_collection_threshold:0.5|", "" },
        { "roundup_power2_divisions:4|", "" },
        { "max_split_size_mb:30|expandable_segments:True", "expandable_segments:True" },
        /* Kept by every parse. */
        { "expandable_segments:True|", "expandable_segments:True" },
        { "expandable_segments:True|expandable_segments:False", "" },
        { "large_segment_size_mb:30|", "large_segment_size_mb:30" },
        { "large_segment_size_mb:30|large_segment_size_mb:12", "large_segment_size_mb:12" },
        { "pinned_use_background_threads:True|", "pinned_use_background_threads:True" },
        { "release_lock_on_cudamalloc:True|", "release_lock_on_cudamalloc:True" },
        { "release_lock_on_hipmalloc:True|", "release_lock_on_cudamalloc:True" },
        { "pinned_use_cuda_host_register:True|", "pinned_use_cuda_host_register:True" },
        { "pinned_use_hip_host_register:True|", "pinned_use_cuda_host_register:True" },
        { "pinned_num_register_threads:8|", "pinned_num_register_threads:8" },
        { "pinned_reserve_segment_size_mb:5|", "pinned_reserve_segment_size_mb:5" },
        { "graph_capture_record_stream_reuse:True|", "graph_capture_record_stream_reuse:True" },
        { "per_process_memory_fraction:0.5|", "per_process_memory_fraction:0.5" },
        /* The large segment comes first wherever it stands, and is the others' lower bound. */
        { "max_split_size_mb:35,large_segment_size_mb:30",
          "max_split_size_mb:35,large_segment_size_mb:30" },
        { "large_segment_size_mb:30|max_split_size_mb:30",
          "max_split_size_mb:30,large_segment_size_mb:30" },
        { "max_split_size_mb:15,roundup_power2_divisions:[64:8],large_segment_size_mb:12",
          "max_split_size_mb:15,roundup_power2_divisions:[64:8],large_segment_size_mb:12" },
        { "max_non_split_rounding_mb:30|large_segment_size_mb:30", "large_segment_size_mb:30" },
        /* Too much is cut, so that the bytes fit. */
        { "max_split_size_mb:17592186044415", "max_split_size_mb:17592186044415" },
        { "max_split_size_mb:17592186044416", "max_split_size_mb:17592186044415" },
        { "max_split_size_mb:18446744073709551615", "max_split_size_mb:17592186044415" },
        { "large_segment_size_mb:18446744073709551615", "large_segment_size_mb:17592186044415" },
        { "garbage_collection_threshold:.5", "garbage_collection_threshold:0.5" },
        { "garbage_collection_threshold:5.e-1", "garbage_collection_threshold:0.5" },
        { "garbage_collection_threshold:+1E-5", "garbage_collection_threshold:1e-05" },
        { "garbage_collection_threshold:0.80000000000000004", "garbage_collection_threshold:0.8" },
        { "per_process_memory_fraction:0", "per_process_memory_fraction:0" },
        { "per_process_memory_fraction:1.00000000000000000001", "" },
        { "pinned_num_register_threads:128", "pinned_num_register_threads:128" },
        { "backend:native", "" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].texts);
        const plim_settings settings = parse_all(cases[i].texts);
        expect_format(&settings, cases[i].result);
    }
}

static void lists_of_divisions_are_read_as_torch_does(void)
{
    static const struct {
        const char *value;
        const char *divisions;
    } cases[] = {
        { "1", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" },
        { "2", "2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2" },
        { "[]", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" },
        { "[1:8]", "8 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" },
        { "[64:8,]", "8 8 8 8 8 8 8 0 0 0 0 0 0 0 0 0" },
        { "[ 6 4 : 8 ]", "8 8 8 8 8 8 8 0 0 0 0 0 0 0 0 0" },
        { "[64:8,256:4,>:1]", "8 8 8 8 8 8 8 0 4 1 1 1 1 1 1 1" },
        { "[64:8,256:4,1024:4,>:1]", "8 8 8 8 8 8 8 0 4 0 4 1 1 1 1 1" },
        { "[256:4,64:8]", "4 4 4 4 4 4 8 4 4 0 0 0 0 0 0 0" },
        { "[256:4,64:8,>:2]", "4 4 4 4 4 4 8 2 2 2 2 2 2 2 2 2" },
        { "[>:2]", "0 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2" },
        { "[>:2,>:4]", "0 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4" },
        { "[>:2,64:8]", "8 8 8 8 8 8 8 2 2 2 2 2 2 2 2 2" },
        { "[64:8,>:2,128:16]", "8 8 8 8 8 8 8 16 2 2 2 2 2 2 2 2" },
        { "[4:2,>:4,2:8,>:16]", "2 8 16 16 16 16 16 16 16 16 16 16 16 16 16 16" },
        { "[64:0,>:0]", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" },
        { "[1:2,4:8]", "2 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0" },
        { "[4:8,1:2]", "2 8 8 0 0 0 0 0 0 0 0 0 0 0 0 0" },
        { "[64:8,64:4]", "8 8 8 8 8 8 4 0 0 0 0 0 0 0 0 0" },
        { "[32768:8,>:2]", "8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8" },
        { "[65536:8]", "8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8" },
        { "[9223372036854775808:8]", "8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8" },
        /* Twice the key: a list leaves what it does not name. */
        { "8,roundup_power2_divisions:[64:4]", "4 4 4 4 4 4 4 8 8 8 8 8 8 8 8 8" },
        { "[64:4],roundup_power2_divisions:[128:8]", "8 8 8 8 8 8 8 8 0 0 0 0 0 0 0 0" },
        { "[64:4],roundup_power2_divisions:8", "8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].value);
        char text[128];
        snprintf(text, sizeof text, "roundup_power2_divisions:%s", cases[i].value);
        const plim_settings settings = parse_all(text);
        char divisions[512] = "";
        for (size_t k = 0; k < PLIM_ROUNDUP_INTERVALS; k++) {
            const size_t length = strlen(divisions);
            snprintf(divisions + length, sizeof divisions - length, "%s%" PRIu64, k == 0 ? "" : " ",
                     settings.roundup_power2_divisions[k]);
        }
        T_EQ_STR(divisions, cases[i].divisions);
    }
}

static void every_key_reaches_its_field(void)
{
    const plim_settings s = parse_all(
        "backend:cudaMallocAsync,max_split_size_mb:100,max_non_split_rounding_mb:50,"
        "garbage_collection_threshold:0.75,roundup_power2_divisions:[1:2,>:4],"
        "expandable_segments:True,release_lock_on_cudamalloc:True,"
        "pinned_use_cuda_host_register:True,pinned_num_register_threads:16,"
        "pinned_use_background_threads:True,pinned_reserve_segment_size_mb:7,"
        "pinned_max_round_threshold_mb:8,pinned_max_cached_size_mb:9,pinned_free_catch_all:True,"
        "graph_capture_record_stream_reuse:True,per_process_memory_fraction:0.25,"
        "large_segment_size_mb:40,throw_on_cudamalloc_oom:True,"
        "expandable_segments_reserve:0.5,expandable_segments_reserve_by_class:[a:0.5,b:2G]");
    T_EQ_U64(s.backend, PLIM_BACKEND_CUDA_MALLOC_ASYNC);
    T_EQ_U64(s.max_split_bytes, 100 * MIB);
    T_EQ_U64(s.max_non_split_rounding_bytes, 50 * MIB);
    T_TRUE(s.garbage_collection_threshold == 0.75);
    T_EQ_U64(s.roundup_power2_divisions[0], 2);
    T_EQ_U64(s.roundup_power2_divisions[15], 4);
    T_TRUE(s.expandable_segments);
    T_TRUE(s.release_lock_on_cudamalloc);
    T_TRUE(s.pinned_use_cuda_host_register);
    T_EQ_U64(s.pinned_num_register_threads, 16);
    T_TRUE(s.pinned_use_background_threads);
    T_EQ_U64(s.pinned_reserve_segment_bytes, 7 * MIB);
    T_EQ_U64(s.pinned_max_round_threshold_bytes, 8 * MIB);
    T_EQ_U64(s.pinned_max_cached_bytes, 9 * MIB);
    T_TRUE(s.pinned_free_catch_all);
    T_TRUE(s.graph_capture_record_stream_reuse);
    T_TRUE(s.per_process_memory_fraction == 0.25);
    T_EQ_U64(s.large_segment_bytes, 40 * MIB);
    T_TRUE(s.throw_on_cudamalloc_oom);
    T_TRUE(s.expandable_segments_reserve_fraction == 0.5);
    T_EQ_U64(s.given, ((uint32_t)1 << PLIM_SETTING_KEY_COUNT) - 1);
    T_EQ_U64(s.ignored, 0);
    T_EQ_U64(strncmp(s.text, "backend:cudaMallocAsync,max", 27), 0);

    const plim_settings hip = parse_all("backend:hipMallocAsync");
    T_EQ_U64(hip.backend, PLIM_BACKEND_CUDA_MALLOC_ASYNC);
    T_EQ_U64(hip.given, (uint32_t)1 << PLIM_KEY_BACKEND);
}

static void a_reserve_is_a_share_or_gibibytes_or_ignored(void)
{
    static const struct {
        const char *texts;
        double fraction;
        uint64_t bytes;
        bool ignored;
    } cases[] = {
        { "expandable_segments_reserve:0.5", 0.5, 0, false },
        { "expandable_segments_reserve:1.25", 1.25, 0, false },
        { "expandable_segments_reserve:12G", 0, 12 * GIB, false },
        { "expandable_segments_reserve:1.5g", 0, 3 * GIB / 2, false },
        { "expandable_segments_reserve:1e300G", 0, UINT64_MAX, false },
        { "expandable_segments_reserve:0.5|expandable_segments_reserve:2G", 0, 2 * GIB, false },
        { "expandable_segments_reserve:2G|expandable_segments_reserve:0.5", 0.5, 0, false },
        { "expandable_segments_reserve:2G|", 0, 2 * GIB, false },
        { "expandable_segments_reserve:0", 0, 0, true },
        { "expandable_segments_reserve:0G", 0, 0, true },
        { "expandable_segments_reserve:1e-300G", 0, 0, true },
        { "expandable_segments_reserve:-1", 0, 0, true },
        { "expandable_segments_reserve:1e999", 0, 0, true },
        { "expandable_segments_reserve:nan", 0, 0, true },
        { "expandable_segments_reserve:2GiB", 0, 0, true },
        { "expandable_segments_reserve:2M", 0, 0, true },
        { "expandable_segments_reserve:x|expandable_segments_reserve:2G", 0, 2 * GIB, false },
        { "expandable_segments_reserve:2G|expandable_segments_reserve:x", 0, 2 * GIB, true },
        { "expandable_segments_reserve:2G,expandable_segments_reserve:x", 0, 2 * GIB, true },
        { "expandable_segments_reserve:x,expandable_segments_reserve:2G", 0, 2 * GIB, false },
        { "expandable_segments_reserve:x|", 0, 0, false },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].texts);
        const plim_settings settings = parse_all(cases[i].texts);
        T_TRUE(settings.expandable_segments_reserve_fraction == cases[i].fraction);
        T_EQ_U64(settings.expandable_segments_reserve_bytes, cases[i].bytes);
        T_EQ_U64(settings.ignored,
                 (uint32_t)cases[i].ignored << PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE);
    }
    const uint32_t by_class = (uint32_t)1 << PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE_BY_CLASS;
    T_EQ_U64(parse_all("expandable_segments_reserve_by_class:[]").ignored, 0);
    T_EQ_U64(parse_all("expandable_segments_reserve_by_class:[a:1G,]").ignored, 0);
    T_EQ_U64(parse_all("expandable_segments_reserve_by_class:[a:1G,b:x,c:1]").ignored, by_class);
}

static void the_last_text_is_kept_and_cut(void)
{
    char text[3 * PLIM_SETTINGS_TEXT_BYTES];
    snprintf(text, sizeof text, "max_split_size_mb:30%*s,expandable_segments:True",
             2 * PLIM_SETTINGS_TEXT_BYTES, "");
    plim_settings settings = plim_settings_default();
    T_EQ_STR(settings.text, "");
    T_EQ_U64(plim_settings_parse(text, &settings, NULL), PLIM_OK);
    T_TRUE(settings.expandable_segments);
    T_EQ_U64(strlen(settings.text), PLIM_SETTINGS_TEXT_BYTES - 1);
    T_EQ_MEM(settings.text, text, PLIM_SETTINGS_TEXT_BYTES - 1);
    T_EQ_U64(plim_settings_parse("", &settings, NULL), PLIM_OK);
    T_EQ_STR(settings.text, "");
    T_EQ_U64(settings.given, 0);
}

static void a_string_is_cut_where_it_does_not_fit(void)
{
    const plim_settings settings = parse_all("max_split_size_mb:30");
    char text[32];
    memset(text, 'x', sizeof text);
    T_EQ_U64(plim_settings_format(&settings, text, 10), 20);
    T_EQ_STR(text, "max_split");
    T_EQ_U64(text[10], 'x');
    T_EQ_U64(plim_settings_format(&settings, text, 1), 20);
    T_EQ_STR(text, "");
    T_EQ_U64(plim_settings_format(&settings, NULL, 0), 20);
    T_EQ_U64(plim_settings_format(&settings, text, 21), 20);
    T_EQ_STR(text, "max_split_size_mb:30");
}

static void fractions_are_written_with_as_many_digits_as_they_need(void)
{
    for (int i = 0; i < 20000; i++) {
        plim_settings settings = plim_settings_default();
        settings.per_process_memory_fraction =
            ldexp((double)(t_random() >> 11), -53 - (int)t_random_between(0, 40));
        settings.expandable_segments_reserve_bytes = t_random_bytes(1, (uint64_t)1 << 53);
        char text[256];
        plim_settings_format(&settings, text, sizeof text);
        T_CASE("\"%.150s\"", text);
        const plim_settings back = parse_all(text);
        T_TRUE(back.per_process_memory_fraction == settings.per_process_memory_fraction);
        T_EQ_U64(back.expandable_segments_reserve_bytes,
                 settings.expandable_segments_reserve_bytes);
    }
    const plim_settings zero = parse_all("per_process_memory_fraction:-0.0");
    T_FALSE(signbit(zero.per_process_memory_fraction));
    expect_format(&zero, "per_process_memory_fraction:0");
}

static void values_may_have_127_characters(void)
{
    char text[256];
    snprintf(text, sizeof text, "max_split_size_mb:%0127d", 33);
    plim_settings settings = plim_settings_default();
    T_EQ_U64(plim_settings_parse(text, &settings, NULL), PLIM_OK);
    T_EQ_U64(settings.max_split_bytes, 33 * MIB);
    snprintf(text, sizeof text, "max_split_size_mb:%0128d", 33);
    T_EQ_U64(plim_settings_parse(text, &settings, NULL), PLIM_CORRUPT);
}

static void points_are_points_in_every_locale(void)
{
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL &&
        setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL) {
        T_SKIP("no locale with decimal commas is installed");
    }
    const plim_settings settings = parse_all("garbage_collection_threshold:0.8125");
    char text[64];
    plim_settings_format(&settings, text, sizeof text);
    (void)setlocale(LC_NUMERIC, "C");
    T_TRUE(settings.garbage_collection_threshold == 0.8125);
    T_EQ_STR(text, "garbage_collection_threshold:0.8125");
}

static void the_first_variable_that_is_set_is_read(void)
{
    static const char *const names[] = { "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF",
                                         "PYTORCH_CUDA_ALLOC_CONF", "PLIMSOLL_CONF" };
    for (size_t i = 0; i < T_COUNT(names); i++) {
        T_EQ_U64(unsetenv(names[i]), 0);
    }
    plim_settings settings = parse_all("expandable_segments:True");
    const char *variable = "untouched";
    T_EQ_U64(plim_settings_from_environment(&settings, &variable, NULL), PLIM_OK);
    T_NULL(variable);
    expect_format(&settings, ""); /* not over what was there */
    for (size_t i = 0; i < T_COUNT(names); i++) {
        T_CASE("%s", names[i]);
        char text[32];
        snprintf(text, sizeof text, "max_split_size_mb:%zu", 30 + i);
        T_EQ_U64(setenv(names[i], text, 1), 0);
        T_EQ_U64(plim_settings_from_environment(&settings, &variable, NULL), PLIM_OK);
        T_EQ_STR(variable, names[i]);
        T_EQ_U64(settings.max_split_bytes, (30 + i) * MIB);
    }
    T_EQ_U64(setenv("PLIMSOLL_CONF", "", 1), 0); /* empty is set */
    T_EQ_U64(plim_settings_from_environment(&settings, NULL, NULL), PLIM_OK);
    expect_format(&settings, "");

    T_EQ_U64(setenv("PLIMSOLL_CONF", "expandable_segments:1", 1), 0);
    plim_error err;
    settings = parse_all("max_split_size_mb:77");
    variable = "untouched";
    T_EQ_U64(plim_settings_from_environment(&settings, &variable, &err), PLIM_CORRUPT);
    T_EQ_STR(err.message,
             "PLIMSOLL_CONF: character 21: '1' is not True or False (expandable_segments)");
    T_EQ_STR(variable, "untouched");
    T_EQ_U64(settings.max_split_bytes, 77 * MIB);
}

static void keys_have_names(void)
{
    T_EQ_STR(plim_setting_key_name(PLIM_KEY_BACKEND), "backend");
    T_EQ_STR(plim_setting_key_name(PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE_BY_CLASS),
             "expandable_segments_reserve_by_class");
    T_TRUE(plim_setting_key_acts(PLIM_KEY_EXPANDABLE_SEGMENTS));
    T_FALSE(plim_setting_key_acts(PLIM_KEY_PINNED_FREE_CATCH_ALL));
    T_FALSE(plim_setting_key_acts(PLIM_KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE)); /* no graph nodes */
}

static void misuse_is_an_error_or_nothing(void)
{
    plim_settings settings = plim_settings_default();
    plim_error err;
    T_EQ_U64(plim_settings_parse(NULL, &settings, &err), PLIM_INVALID_ARGUMENT);
    T_EQ_STR(err.message, "settings: no string to parse");
    T_EQ_U64(plim_settings_parse("", NULL, &err), PLIM_INVALID_ARGUMENT);
    T_EQ_U64(plim_settings_from_environment(NULL, NULL, &err), PLIM_INVALID_ARGUMENT);
    char text[8] = "before";
    T_EQ_U64(plim_settings_format(NULL, text, sizeof text), 0);
    T_EQ_STR(text, "");
    settings.expandable_segments = true;
    T_EQ_U64(plim_settings_format(&settings, NULL, 100), strlen("expandable_segments:True"));
    const int keys[] = { -1, PLIM_SETTING_KEY_COUNT, 1000 };
    for (size_t i = 0; i < T_COUNT(keys); i++) {
        T_TRUE(plim_setting_key_name((plim_setting_key)keys[i]) == NULL);
        T_FALSE(plim_setting_key_acts((plim_setting_key)keys[i]));
    }
}

T_MAIN(T_TEST(what_is_not_named_is_reset_or_stays_as_in_torch),
       T_TEST(lists_of_divisions_are_read_as_torch_does), T_TEST(every_key_reaches_its_field),
       T_TEST(a_reserve_is_a_share_or_gibibytes_or_ignored), T_TEST(the_last_text_is_kept_and_cut),
       T_TEST(a_string_is_cut_where_it_does_not_fit),
       T_TEST(fractions_are_written_with_as_many_digits_as_they_need),
       T_TEST(values_may_have_127_characters), T_TEST(points_are_points_in_every_locale),
       T_TEST(the_first_variable_that_is_set_is_read), T_TEST(keys_have_names),
       T_TEST(misuse_is_an_error_or_nothing))
