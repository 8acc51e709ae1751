/*
 * test_recorded.c - settings as files have them: what is taken over, and what is a default.
 */
#include "harness.h"

#include "settings/recorded.h"

/* One line, "name=value …"; settings of a table are "table/name=value". */
static void add_line(plim_recorded_settings *recorded, const char *line)
{
    char copy[512];
    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *at = strtok(copy, " "); at != NULL; at = strtok(NULL, " ")) {
        char *const value = strchr(at, '=');
        T_NOT_NULL(value);
        *value = '\0';
        char *const slash = strchr(at, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
        plim_recorded_setting_add(recorded, slash != NULL ? at : "", slash != NULL ? slash + 1 : at,
                                  value + 1);
    }
}

static void values_go_over_what_the_string_said(void)
{
    static const struct {
        const char *string;
        const char *rows;
        const char *settings;
    } cases[] = {
        { "", "", "" },
        { "max_split_size_mb:64", "max_split_size=-1", "" },
        { "max_split_size_mb:64", "max_split_size=134217728", "max_split_size_mb:128" },
        { "max_split_size_mb:64", "max_split_size=5", "max_split_size_mb:64" },
        { "", "max_split_size_mb=64", "max_split_size_mb:64" },
        { "", "max_split_size=134217728 max_split_size_mb=64", "max_split_size_mb:128" },
        { "", "max_split_size=134217728 max_split_size=67108864", "max_split_size_mb:64" },
        { "", "large_segment_size=-1", "" },
        { "", "max_split_size_mb=25 large_segment_size_mb=30", "large_segment_size_mb:30" },
        { "max_non_split_rounding_mb:50", "large_segment_size=31457280",
          "max_non_split_rounding_mb:50,large_segment_size_mb:30" },
        { "garbage_collection_threshold:0.5", "garbage_collection_threshold=0", "" },
        { "garbage_collection_threshold:0.5", "garbage_collection_threshold=1",
          "garbage_collection_threshold:0.5" },
        { "per_process_memory_fraction:0.5", "per_process_memory_fraction=1", "" },
        { "expandable_segments:True", "expandable_segments=False", "" },
        { "expandable_segments:True", "expandable_segments=0", "expandable_segments:True" },
        { "", "pinned_num_register_threads=8", "pinned_num_register_threads:8" },
        { "", "pinned_num_register_threads=3", "" },
        { "", "roundup_power2_divisions=4", "roundup_power2_divisions:4" },
        { "roundup_power2_divisions:8", "roundup_power2_divisions/1=4",
          "roundup_power2_divisions:[1:4]" },
        { "roundup_power2_divisions:8", "roundup_power2_divisions/3=4 other/1=4",
          "roundup_power2_divisions:8" },
        { "roundup_power2_divisions:8", "roundup_power2_divisions/1=3",
          "roundup_power2_divisions:8" },
        { "", "unknown=5 =7 trace_alloc_max_entries=100", "" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("'%s' and '%s'", cases[i].string, cases[i].rows);
        plim_settings settings = plim_settings_default();
        T_EQ_U64(plim_settings_parse(cases[i].string, &settings, NULL), PLIM_OK);
        plim_recorded_settings recorded = { .conf = "" };
        add_line(&recorded, cases[i].rows);
        plim_recorded_settings_apply(&recorded, &settings);
        char text[PLIM_SETTINGS_TEXT_BYTES];
        (void)plim_settings_format(&settings, text, sizeof text);
        T_EQ_STR(text, cases[i].settings);
    }
}

static void the_string_is_under_the_name_of_any_variable(void)
{
    static const char *const names[] = { "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF",
                                         "PYTORCH_HIP_ALLOC_CONF" };
    for (size_t i = 0; i < T_COUNT(names); i++) {
        plim_recorded_settings recorded = { .conf = "" };
        plim_recorded_setting_add(&recorded, "", names[i], "expandable_segments:True");
        T_EQ_STR(recorded.conf, "expandable_segments:True");
        char endless[2 * sizeof recorded.conf];
        memset(endless, 'x', sizeof endless);
        endless[sizeof endless - 1] = '\0';
        plim_recorded_setting_add(&recorded, "", names[i], endless);
        T_EQ_STR(recorded.conf, "expandable_segments:True");
    }
}

static void defaults_are_those_of_the_table(void)
{
    static const struct {
        const char *name;
        const char *value;
        bool is_default;
    } cases[] = {
        { "max_split_size", "-1", true },
        { "max_split_size", "67108864", false },
        { "expandable_segments", "False", true },
        { "expandable_segments", "True", false },
        { "garbage_collection_threshold", "0", true },
        { "garbage_collection_threshold", "0.8", false },
        { "pinned_num_register_threads", "1", true },
        { "pinned_num_register_threads", "8", false },
        { "per_process_memory_fraction", "1", true },
        { "per_process_memory_fraction", "0.5", false },
        { "large_segment_size", "20971520", true },
        { "large_segment_size_mb", "20", true },
        { "large_segment_size_mb", "30", false },
        { "max_non_split_rounding_size", "20971520", true },
        { "max_non_split_rounding_mb", "20", true },
        { "PYTORCH_CUDA_ALLOC_CONF", "", true },
        { "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", false },
        { "of_a_release_to_come", "0", true },
        { "of_a_release_to_come", "-1", true },
        { "of_a_release_to_come", "False", true },
        { "of_a_release_to_come", "1", false },
        { "of_a_release_to_come", "nan", false },
        { "256", "8", false },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s %s", cases[i].name, cases[i].value);
        T_EQ_U64(plim_recorded_setting_is_default(cases[i].name, cases[i].value),
                 cases[i].is_default);
    }
}

T_MAIN(T_TEST(values_go_over_what_the_string_said),
       T_TEST(the_string_is_under_the_name_of_any_variable),
       T_TEST(defaults_are_those_of_the_table))
