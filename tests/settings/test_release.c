/*
 * test_release.c - which release of PyTorch knows a line, and which one wrote a file.
 */
#include "harness.h"

#include "plimsoll/release.h"
#include "settings/table.h"

static void lines_need_the_release_that_knows_all_of_them(void)
{
    static const struct {
        const char *conf;
        uint32_t release;
    } cases[] = {
        { "", 0 },
        { "max_split_size_mb:64", PLIM_TORCH(1, 10) },
        { "max_split_size_mb:64,roundup_power2_divisions:4", PLIM_TORCH(1, 12) },
        { "expandable_segments:True", PLIM_TORCH(2, 1) },
        { "max_split_size_mb:64,max_non_split_rounding_mb:30", PLIM_TORCH(2, 6) },
        { "garbage_collection_threshold:0.8,per_process_memory_fraction:0.9", PLIM_TORCH(2, 10) },
        { "large_segment_size_mb:32,expandable_segments:True", PLIM_TORCH(2, 11) },
        { "throw_on_cudamalloc_oom:False", PLIM_TORCH(2, 12) },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].conf);
        plim_settings settings = plim_settings_default();
        T_EQ_U64(plim_settings_parse(cases[i].conf, &settings, NULL), PLIM_OK);
        T_EQ_U64(plim_settings_since(&settings), cases[i].release);
    }
}

static void files_are_from_the_newest_release_that_writes_such(void)
{
    static const struct {
        const char *generation;
        uint32_t release;
    } cases[] = {
        { "", UINT32_MAX },
        { "Plimsoll 0.1.0", UINT32_MAX },
        { "PyTorch 1.x", PLIM_TORCH(1, 99) },
        { "PyTorch 2.0", PLIM_TORCH(2, 0) },
        { "PyTorch 2.5 to 2.7", PLIM_TORCH(2, 7) },
        { "PyTorch 2.11.0", PLIM_TORCH(2, 11) },
        { "PyTorch 2.10 or 2.11", PLIM_TORCH(2, 11) },
        { "PyTorch 2.12 or newer", UINT32_MAX },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].generation);
        T_EQ_U64(plim_release_of(cases[i].generation), cases[i].release);
    }
}

T_MAIN(T_TEST(lines_need_the_release_that_knows_all_of_them),
       T_TEST(files_are_from_the_newest_release_that_writes_such))
