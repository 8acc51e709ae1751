/*
 * test_conf.c - what confs mean, where they are wrong, and those that files were recorded under.
 */
#include "harness.h"

#include "base/units.h"
#include "history/builder.h"
#include "replay/conf.h"

static plim_conf parse(const char *text)
{
    plim_conf conf;
    plim_error err = { .status = PLIM_OK };
    if (plim_conf_parse(text, &conf, &err) != PLIM_OK) {
        fail_msg("'%s': %s", text, err.message);
    }
    return conf;
}

static void confs_name_an_allocator_and_settings(void)
{
    static const struct {
        const char *given;
        plim_policy_kind policy;
        uint64_t threshold_bytes;
        const char *text;
        const char *settings; /* as formatted */
    } cases[] = {
        { "", PLIM_POLICY_TORCH, 0, "", "" },
        { " \t", PLIM_POLICY_TORCH, 0, "", "" },
        { "default", PLIM_POLICY_TORCH, 0, "", "" },
        { " def ault ", PLIM_POLICY_TORCH, 0, "", "" },
        { "torch", PLIM_POLICY_TORCH, 0, "torch", "" },
        { "naive", PLIM_POLICY_NAIVE, 0, "naive", "" },
        { "bfc,", PLIM_POLICY_BFC, 0, "bfc,", "" },
        { "arena", PLIM_POLICY_ARENA, 0, "arena", "" },
        { "async", PLIM_POLICY_ASYNC, 0, "async", "" },
        { "async,release_threshold:512MiB", PLIM_POLICY_ASYNC, 512 * MIB,
          "async,release_threshold:512MiB", "" },
        { "async, release_threshold : 1.5 GiB ,", PLIM_POLICY_ASYNC, GIB + GIB / 2,
          "async,release_threshold:1.5GiB,", "" },
        { "async,release_threshold:7B", PLIM_POLICY_ASYNC, 7, "async,release_threshold:7B", "" },
        { "async,release_threshold:0", PLIM_POLICY_ASYNC, 0, "async,release_threshold:0", "" },
        { "release_threshold:1MB,backend:cudaMallocAsync", PLIM_POLICY_ASYNC, MIB,
          "release_threshold:1MB,backend:cudaMallocAsync", "backend:cudaMallocAsync" },
        { "async,release_threshold:1G,release_threshold:2G", PLIM_POLICY_ASYNC, 2 * GIB,
          "async,release_threshold:1G,release_threshold:2G", "" },
        { "backend:cudaMallocAsync", PLIM_POLICY_ASYNC, PLIM_UNLIMITED, "backend:cudaMallocAsync",
          "backend:cudaMallocAsync" },
        { "backend:native", PLIM_POLICY_TORCH, 0, "backend:native", "" },
        { "expandable_segments:True", PLIM_POLICY_TORCH, 0, "expandable_segments:True",
          "expandable_segments:True" },
        { "torch,max_split_size_mb:64,roundup_power2_divisions:[1:4,>:8]", PLIM_POLICY_TORCH, 0,
          "torch,max_split_size_mb:64,roundup_power2_divisions:[1:4,>:8]",
          "max_split_size_mb:64,roundup_power2_divisions:[1:4,>:8]" },
        { "async,roundup_power2_divisions:[1:4,>:8],release_threshold:4MiB,"
          "garbage_collection_threshold:0.5",
          PLIM_POLICY_ASYNC, 4 * MIB,
          "async,roundup_power2_divisions:[1:4,>:8],release_threshold:4MiB,"
          "garbage_collection_threshold:0.5",
          "garbage_collection_threshold:0.5,roundup_power2_divisions:[1:4,>:8]" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("'%s'", cases[i].given);
        const plim_conf conf = parse(cases[i].given);
        char settings[1024];
        plim_settings_format(&conf.settings, settings, sizeof settings);
        T_EQ_U64(conf.policy, cases[i].policy);
        T_EQ_U64(conf.release_threshold_bytes, cases[i].threshold_bytes);
        T_EQ_STR(conf.text, cases[i].text);
        T_EQ_STR(settings, cases[i].settings);
        /* What was read reads again. */
        const plim_conf again = parse(conf.text);
        T_TRUE(plim_conf_equal(&conf, &again));
    }
}

static void settings_keep_what_is_pytorchs_of_the_text(void)
{
    const plim_conf conf = parse(" async , max_split_size_mb: 64, release_threshold:1G,"
                                 "expandable_segments:True");
    T_EQ_STR(conf.settings.text, "max_split_size_mb:64,expandable_segments:True");
}

static void what_is_wrong_is_said_with_its_place_and_changes_nothing(void)
{
    static const struct {
        const char *text;
        plim_status status;
        uint64_t offset;
        const char *says;
    } cases[] = {
        { "bcf", PLIM_CORRUPT, 0, "neither an allocator (torch, naive, bfc, async, arena)" },
        { " naiv", PLIM_CORRUPT, 1, "did you mean naive?" },
        { "BFC", PLIM_CORRUPT, 0, "did you mean bfc?" },
        { "defualt", PLIM_CORRUPT, 0, "did you mean default?" },
        { "default,bfc", PLIM_CORRUPT, 7, "leave it out" },
        { "expandable_segment", PLIM_CORRUPT, 0, "did you mean expandable_segments:" },
        { "expandable_segments", PLIM_CORRUPT, 19, "" },
        { "bfc,arena", PLIM_CORRUPT, 4, "'arena' is not a setting" },
        { "bfc,,", PLIM_CORRUPT, 4, "" },
        { ",", PLIM_CORRUPT, 0, "" },
        { "bfc, max_split_size_mb:1", PLIM_INVALID_ARGUMENT, 23, "must be >= 20" },
        { "async,release_threshold:4GiB,max_split_size_mb:1", PLIM_INVALID_ARGUMENT, 47,
          "must be >= 20" },
        { "async,release_threshold", PLIM_CORRUPT, 23, "" },
        { "async,release_threshold:", PLIM_CORRUPT, 24, "expected a size" },
        { "async,release_threshold:[1:2]", PLIM_CORRUPT, 24, "expected a size" },
        { "async,release_threshold:1 2x", PLIM_INVALID_ARGUMENT, 27, "not a size" },
        { "async,release_threshold:7", PLIM_INVALID_ARGUMENT, 24, "not a size" },
        { "async,release_threshold:many", PLIM_INVALID_ARGUMENT, 24, "not a size" },
        { "async,release_threshold:1G:2", PLIM_CORRUPT, 26, "" },
        { "async,release_treshold:1G", PLIM_CORRUPT, 6, "did you mean release_threshold?" },
        { "release_threshold", PLIM_CORRUPT, 17, "" },
        { "release_threshold:1G", PLIM_INVALID_ARGUMENT, 0, "async alone" },
        { "expandable_segments:True,release_threshold:1G", PLIM_INVALID_ARGUMENT, 25,
          "async alone" },
        { " bfc,backend:cudaMallocAsync", PLIM_INVALID_ARGUMENT, 1, "another allocator" },
        { "max_spilt_size_mb:64", PLIM_CORRUPT, 0, "did you mean max_split_size_mb?" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("'%s'", cases[i].text);
        plim_conf conf;
        memset(&conf, 0x5a, sizeof conf);
        const plim_conf before = conf;
        plim_error err = { .status = PLIM_OK };
        T_EQ_U64(plim_conf_parse(cases[i].text, &conf, &err), cases[i].status);
        T_EQ_U64(err.status, cases[i].status);
        T_EQ_U64(err.offset, cases[i].offset);
        if (strstr(err.message, cases[i].says) == NULL) {
            fail_msg("'%s' does not say '%s'", err.message, cases[i].says);
        }
        T_TRUE(strncmp(err.message, "conf: character ", 16) == 0);
        T_EQ_MEM(&conf, &before, sizeof conf);
        T_EQ_U64(plim_conf_parse(cases[i].text, &conf, NULL), cases[i].status);
    }
}

static void a_text_has_an_end(void)
{
    char text[PLIM_CONF_TEXT_BYTES + 1];
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = '\0';
    plim_conf conf;
    plim_error err = { .status = PLIM_OK };
    T_EQ_U64(plim_conf_parse(text, &conf, &err), PLIM_LIMIT);
    T_EQ_U64(err.offset, PLIM_CONF_TEXT_BYTES - 1);
    text[sizeof text - 2] = '\0';
    T_EQ_U64(plim_conf_parse(text, &conf, &err), PLIM_OK);
}

static void confs_are_equal_that_decide_alike(void)
{
    static const struct {
        const char *a;
        const char *b;
        bool equal;
    } cases[] = {
        { "", "default", true },
        { "", "torch", true },
        { "", "roundup_power2_divisions:1", true },
        { "", "release_lock_on_cudamalloc:True", true },
        { "", "pinned_use_background_threads:True", true },
        { "", "expandable_segments:False", true },
        { "max_split_size_mb:64,expandable_segments:True",
          "expandable_segments:True,max_split_size_mb:64", true },
        { "", "naive", false },
        { "async", "async,release_threshold:1B", false },
        { "", "expandable_segments:True", false },
        { "", "max_split_size_mb:64", false },
        { "", "max_non_split_rounding_mb:64", false },
        { "", "garbage_collection_threshold:0.5", false },
        { "", "roundup_power2_divisions:2", false },
        { "", "large_segment_size_mb:30", false },
        { "", "per_process_memory_fraction:0.5", false },
        { "", "throw_on_cudamalloc_oom:True", false },
        { "", "expandable_segments_reserve:0.5", false },
        { "", "expandable_segments_reserve:5G", false },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("'%s' and '%s'", cases[i].a, cases[i].b);
        const plim_conf a = parse(cases[i].a);
        const plim_conf b = parse(cases[i].b);
        T_EQ_U64(plim_conf_equal(&a, &b), cases[i].equal);
        T_EQ_U64(plim_conf_equal(&b, &a), cases[i].equal);
    }
}

/* --- of recordings --- */

static uint32_t string(plim_history *history, const char *text)
{
    uint32_t ret = 0;
    T_EQ_U64(plim_history_add_string(history, text, strlen(text), &ret, NULL), PLIM_OK);
    return ret;
}

/*
 * One line, "name=value …": numbers, with a point reals, True and False, all else text; table
 * settings are "table/name=value".
 */
static void push_settings(plim_history *history, const char *line)
{
    char copy[512];
    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *at = strtok(copy, " "); at != NULL; at = strtok(NULL, " ")) {
        char *value = strchr(at, '=');
        char *slash = strchr(at, '/');
        T_NOT_NULL(value);
        *value++ = '\0';
        plim_setting setting = { .group = PLIM_NONE };
        if (slash != NULL && slash < value) {
            *slash = '\0';
            setting.group = string(history, at);
            at = slash + 1;
        }
        setting.name = string(history, at);
        char *end = NULL;
        if (strcmp(value, "True") == 0 || strcmp(value, "False") == 0) {
            setting.kind = PLIM_SETTING_BOOLEAN;
            setting.value.boolean = value[0] == 'T';
        } else if (setting.value.integer = strtoll(value, &end, 10), end > value && *end == '\0') {
            setting.kind = PLIM_SETTING_INTEGER;
        } else if (setting.value.real = strtod(value, &end), end > value && *end == '\0') {
            setting.kind = PLIM_SETTING_REAL;
        } else {
            setting.kind = PLIM_SETTING_TEXT;
            setting.value.text = string(history, value);
        }
        T_EQ_U64(plim_history_push_setting(history, &setting, NULL), PLIM_OK);
    }
}

static plim_history *history_of(const char *settings, bool has_map_event, bool has_expandable)
{
    plim_history *history = NULL;
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    const plim_event events[] = {
        { .action = PLIM_ALLOC, .bytes = 512, .stack = PLIM_NONE },
        { .action = has_map_event ? PLIM_SEGMENT_MAP : PLIM_SEGMENT_ALLOC, .stack = PLIM_NONE },
    };
    for (size_t i = 0; i < T_COUNT(events); i++) {
        T_EQ_U64(plim_history_push_event(history, &events[i], NULL), PLIM_OK);
    }
    const plim_segment segment = {
        .addr = 2 * MIB, .bytes = 2 * MIB, .stack = PLIM_NONE, .is_expandable = has_expandable
    };
    T_EQ_U64(plim_history_push_segment(history, &segment, NULL), PLIM_OK);
    push_settings(history, settings);
    const plim_device_ranges ranges = { .events = { 0, T_COUNT(events) }, .segments = { 0, 1 } };
    T_EQ_U64(plim_history_add_device(history, &ranges, NULL), PLIM_OK);
    plim_history_seal(history);
    return history;
}

static void the_settings_of_a_recording_are_its_string_and_its_values(void)
{
    static const struct {
        const char *settings;
        bool has_map_event;
        bool has_expandable;
        bool says;
        const char *text;
    } cases[] = {
        { "", false, false, false, "" },
        { "", true, false, false, "expandable_segments:True" },
        { "", false, true, false, "expandable_segments:True" },
        { "max_split_size=-1 expandable_segments=False", true, true, true, "" },
        { "max_split_size=67108864", true, false, true,
          "max_split_size_mb:64,expandable_segments:True" },
        { "PYTORCH_CUDA_ALLOC_CONF=large_segment_size_mb:64 expandable_segments=False", false,
          false, true, "large_segment_size_mb:64" },
        { "PYTORCH_ALLOC_CONF=expandable_segments:True", false, false, true,
          "expandable_segments:True" },
        { "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False", true, true, true, "" },
        /* What was set by an earlier string is among the values only. */
        { "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64 expandable_segments=True "
          "max_split_size=67108864 garbage_collection_threshold=0.8",
          false, false, true,
          "max_split_size_mb:64,garbage_collection_threshold:0.8,expandable_segments:True" },
        /* A string that is none. */
        { "PYTORCH_CUDA_ALLOC_CONF=max_split:64 max_split_size=67108864 "
          "release_lock_on_cudamalloc=True",
          false, false, true, "max_split_size_mb:64,release_lock_on_cudamalloc:True" },
        { "roundup_power2_divisions/1=4 roundup_power2_divisions/2=4 "
          "roundup_power2_divisions/32768=0 expandable_segments=False",
          false, false, true, "roundup_power2_divisions:[2:4]" },
        { "PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:8 roundup_power2_divisions/1=0 "
          "roundup_power2_divisions/512=0 expandable_segments=False",
          false, false, true, "" },
        /* Values no parse lets through. */
        { "max_split_size=5 garbage_collection_threshold=7.5 roundup_power2_divisions/1=3 "
          "roundup_power2_divisions/2=-4 per_process_memory_fraction=-1 large_segment_size=1 "
          "max_non_split_rounding_size=-1 expandable_segments=1",
          false, false, true, "" },
        { "large_segment_size_mb=32 per_process_memory_fraction=0.5 "
          "throw_on_cudamalloc_oom=True expandable_segments=False",
          false, false, true,
          "per_process_memory_fraction:0.5,large_segment_size_mb:32,"
          "throw_on_cudamalloc_oom:True" },
        { "PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync", false, false, true,
          "backend:cudaMallocAsync" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].settings);
        plim_history *history =
            history_of(cases[i].settings, cases[i].has_map_event, cases[i].has_expandable);
        plim_conf conf;
        T_EQ_U64(plim_conf_of_history(history, plim_history_device(history, 0), &conf),
                 cases[i].says);
        T_EQ_STR(conf.text, cases[i].text);
        const plim_conf again = parse(conf.text);
        T_TRUE(plim_conf_equal(&conf, &again));
        plim_history_destroy(history);
    }
}

T_MAIN(T_TEST(confs_name_an_allocator_and_settings),
       T_TEST(settings_keep_what_is_pytorchs_of_the_text),
       T_TEST(what_is_wrong_is_said_with_its_place_and_changes_nothing), T_TEST(a_text_has_an_end),
       T_TEST(confs_are_equal_that_decide_alike),
       T_TEST(the_settings_of_a_recording_are_its_string_and_its_values))
