/*
 * test_errors.c - settings strings that are no good, and what is said of them.
 */
#include "harness.h"

#include "plimsoll/settings.h"

/* Fails to parse, at `offset`, and changes nothing. */
static void expect_error(const char *text, plim_status status, uint64_t offset, const char *message)
{
    plim_settings settings = plim_settings_default();
    T_EQ_U64(plim_settings_parse("max_split_size_mb:77,expandable_segments:True", &settings, NULL),
             PLIM_OK);
    plim_settings before;
    memcpy(&before, &settings, sizeof before);
    plim_error err = { .status = PLIM_OK };
    T_EQ_U64(plim_settings_parse(text, &settings, &err), status);
    T_EQ_U64(err.status, status);
    T_EQ_U64(err.offset, offset);
    char expected[PLIM_ERROR_MESSAGE_BYTES];
    snprintf(expected, sizeof expected, "settings: character %" PRIu64 ": %s", offset + 1, message);
    T_EQ_STR(err.message, expected);
    T_EQ_MEM(&settings, &before, sizeof before);
    T_EQ_U64(plim_settings_parse(text, &settings, NULL), status);
}

static void what_breaks_the_grammar_is_told_at_its_character(void)
{
    static const struct {
        const char *text;
        uint64_t offset;
        const char *message;
    } cases[] = {
        { ",", 0, "expected a key, not ','" },
        { "max_split_size_mb:30,,", 21, "expected a key, not ','" },
        { "[backend:native]", 0, "expected a key, not '['" },
        { "max_split_size_mb", 17, "expected ':' after max_split_size_mb, not the end" },
        { "max_split_size_mb  ", 19, "expected ':' after max_split_size_mb, not the end" },
        { "max_split_size_mb,30", 17, "expected ':' after max_split_size_mb, not ','" },
        { "max_split_size_mb:", 18, "expected a value of max_split_size_mb, not the end" },
        { "max_split_size_mb:,backend:native", 18,
          "expected a value of max_split_size_mb, not ','" },
        { "max_split_size_mb:[30]", 18, "expected a value of max_split_size_mb, not '['" },
        { "max_split_size_mb:30:backend:native", 20, "expected ',' after the value, not ':'" },
        { "max_split_size_mb:30]", 20, "expected ',' after the value, not ']'" },
        { "max_split_size_mb=512", 17,
          "expected ':' after a key, not '=' as in 'max_split_size_mb=512'" },
        { "roundup_power2_divisions:[64:8]]", 31, "expected ',' after the value, not ']'" },
        { "roundup_power2_divisions:[64:8", 30,
          "expected ',' or ']' in the list of roundup_power2_divisions, not the end" },
        { "roundup_power2_divisions:[64:8:4]", 30,
          "expected ',' or ']' in the list of roundup_power2_divisions, not ':'" },
        { "roundup_power2_divisions:[64]", 28, "expected ':' after a boundary, not ']'" },
        { "roundup_power2_divisions:[>]", 27, "expected ':' after '>', not ']'" },
        { "roundup_power2_divisions:[,]", 26,
          "expected a value of roundup_power2_divisions, not ','" },
        { "expandable_segments_reserve:[1]", 28,
          "expected a value of expandable_segments_reserve, not '['" },
        { "expandable_segments_reserve_by_class:1", 37,
          "expected '[' after expandable_segments_reserve_by_class, not '1'" },
        { "expandable_segments_reserve_by_class:[,]", 38,
          "expected a class of expandable_segments_reserve_by_class, not ','" },
        { "expandable_segments_reserve_by_class:[a,b]", 39, "expected ':' after a class, not ','" },
        { "expandable_segments_reserve_by_class:[a:]", 40, "expected a class's value, not ']'" },
        { "expandable_segments_reserve_by_class:[a:1:2]", 41,
          "expected ',' after a class's value, not ':'" },
        { "expandable_segments_reserve_by_class:[a:1", 41,
          "expected ',' after a class's value, not the end" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        expect_error(cases[i].text, PLIM_CORRUPT, cases[i].offset, cases[i].message);
    }
}

static void words_that_are_no_values_are_told(void)
{
    static const struct {
        const char *text;
        uint64_t offset;
        const char *message;
    } cases[] = {
        { "expandable_segments:Yes", 20, "'Yes' is not True or False (expandable_segments)" },
        { "expandable_segments:true", 20, "'true' is not True or False (expandable_segments)" },
        { " expandable_segments : 1 ", 23, "'1' is not True or False (expandable_segments)" },
        { "release_lock_on_hipmalloc:1", 26,
          "'1' is not True or False (release_lock_on_hipmalloc)" },
        { "max_split_size_mb:junk", 18, "'junk' is not a whole number (max_split_size_mb)" },
        { "max_split_size_mb:-1", 18, "'-1' is not a whole number (max_split_size_mb)" },
        { "max_split_size_mb:0x40", 19, "'0x40' is not a whole number (max_split_size_mb)" },
        { "max_split_size_mb: 4 0 x", 23, "'40x' is not a whole number (max_split_size_mb)" },
        { "max_split_size_mb:1.5", 19, "'1.5' is not a whole number (max_split_size_mb)" },
        { "max_split_size_mb:30 expandable_segments:True", 21,
          "'30expandable_segments' is not a whole number (max_split_size_mb)" },
        { "garbage_collection_threshold:nan", 29,
          "'nan' is not a number (garbage_collection_threshold)" },
        { "garbage_collection_threshold:.", 29,
          "'.' is not a number (garbage_collection_threshold)" },
        { "garbage_collection_threshold:0.5e", 32,
          "'0.5e' is not a number (garbage_collection_threshold)" },
        { "garbage_collection_threshold:0.5%", 32,
          "'0.5%' is not a number (garbage_collection_threshold)" },
        { "garbage_collection_threshold:0x1p-1", 30,
          "'0x1p-1' is not a number (garbage_collection_threshold)" },
        { "backend:foo", 8, "'foo' is not native or cudaMallocAsync (backend)" },
        { "roundup_power2_divisions:[>64:8]", 26,
          "'>64' is not a whole number (roundup_power2_divisions)" },
        { "max_split_size_mb:1\x01\xc3\xa9", 19,
          "'1??\?' is not a whole number (max_split_size_mb)" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        expect_error(cases[i].text, PLIM_CORRUPT, cases[i].offset, cases[i].message);
    }
}

static void values_out_of_range_are_told(void)
{
    static const struct {
        const char *text;
        uint64_t offset;
        const char *message;
    } cases[] = {
        { "max_split_size_mb:19", 18, "max_split_size_mb too small, must be >= 20, not 19" },
        { "large_segment_size_mb:30,max_split_size_mb:25", 43,
          "max_split_size_mb too small, must be >= 30, not 25" },
        { "max_split_size_mb:25,large_segment_size_mb:30", 18,
          "max_split_size_mb too small, must be >= 30, not 25" },
        { "max_split_size_mb:5,max_split_size_mb:40", 18,
          "max_split_size_mb too small, must be >= 20, not 5" },
        { "max_non_split_rounding_mb:19", 26,
          "max_non_split_rounding_mb too small, must be >= 20, not 19" },
        { "large_segment_size_mb:10", 22,
          "large_segment_size_mb too small, must be >= 11, not 10" },
        { "large_segment_size_mb:5,large_segment_size_mb:30", 22,
          "large_segment_size_mb too small, must be >= 11, not 5" },
        { "max_split_size_mb:99999999999999999999", 18,
          "'99999999999999999999' is too large, must be < 2^64 (max_split_size_mb)" },
        { "garbage_collection_threshold:0", 29,
          "garbage_collection_threshold is invalid, set it in (0.0, 1.0), like 0.8; not '0'" },
        { "garbage_collection_threshold:1", 29,
          "garbage_collection_threshold is invalid, set it in (0.0, 1.0), like 0.8; not '1'" },
        { "garbage_collection_threshold:-.5", 29,
          "garbage_collection_threshold is invalid, set it in (0.0, 1.0), like 0.8; not '-.5'" },
        { "per_process_memory_fraction:1.5", 28,
          "per_process_memory_fraction is invalid, set it in [0.0, 1.0], like 0.8; not '1.5'" },
        { "per_process_memory_fraction:1e999", 28,
          "per_process_memory_fraction is invalid, set it in [0.0, 1.0], like 0.8; not '1e999'" },
        { "roundup_power2_divisions:3", 25,
          "divisions must be a power of 2, like 4, not 3 (roundup_power2_divisions)" },
        { "roundup_power2_divisions:0", 25,
          "divisions must be a power of 2, like 4, not 0 (roundup_power2_divisions)" },
        { "roundup_power2_divisions:[3:4]", 26,
          "a boundary in MB must be a power of 2, like 4, not 3 (roundup_power2_divisions)" },
        { "roundup_power2_divisions:[0:4]", 26,
          "a boundary in MB must be a power of 2, like 4, not 0 (roundup_power2_divisions)" },
        { "roundup_power2_divisions:[64:3]", 29,
          "divisions must be a power of 2 or 0 to disable rounding, like 4, not 3 "
          "(roundup_power2_divisions)" },
        { "pinned_num_register_threads:0", 28,
          "the number of threads must be a power of 2, like 4, not 0 "
          "(pinned_num_register_threads)" },
        { "pinned_num_register_threads:256", 28,
          "the number of threads must be at most 128, not 256 (pinned_num_register_threads)" },
        { "pinned_reserve_segment_size_mb:0", 31,
          "pinned_reserve_segment_size_mb too small, must be >= 1, not 0" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        expect_error(cases[i].text, PLIM_INVALID_ARGUMENT, cases[i].offset, cases[i].message);
    }
}

static void unknown_keys_are_answered_with_the_nearest(void)
{
    static const struct {
        const char *word;
        const char *nearest; /* NULL: nothing is near */
    } cases[] = {
        { "max_split_size", "max_split_size_mb" },
        { "max_split_mb", "max_split_size_mb" },
        { "expandable_segment", "expandable_segments" },
        { "EXPANDABLE_SEGMENTS", "expandable_segments" },
        { "expandable-segments", "expandable_segments" },
        { "garbage_collect_threshold", "garbage_collection_threshold" },
        { "roundup_power2_division", "roundup_power2_divisions" },
        { "pinned_use_hip_host_registers", "pinned_use_hip_host_register" },
        { "memory_fraction", NULL },
        { "x", NULL },
        { "unknown", NULL },
        { "back", NULL },
        { "backed", "backend" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].word);
        char text[64];
        char message[160];
        snprintf(text, sizeof text, "backend:native,%s:1", cases[i].word);
        snprintf(message, sizeof message, "'%s' is not a setting%s%s%s", cases[i].word,
                 cases[i].nearest == NULL ? "" : ", did you mean ",
                 cases[i].nearest == NULL ? "" : cases[i].nearest,
                 cases[i].nearest == NULL ? "" : "?");
        expect_error(text, PLIM_CORRUPT, 15, message);
    }
}

static void endless_words_are_cut_in_messages(void)
{
    char text[1000];
    memset(text, '1', sizeof text);
    text[sizeof text - 1] = '\0';
    expect_error(text, PLIM_CORRUPT, 0,
                 "'111111111111111111111111111111111111111111111111...' is not a setting");
    memcpy(text, "max_split_size_mb:", 18);
    expect_error(text, PLIM_CORRUPT, 18,
                 "'111111111111111111111111111111111111111111111111...' is too long for a value "
                 "(max_split_size_mb)");
    memcpy(text, "backend:native,expandable_segments_reserve:", 43);
    plim_settings settings = plim_settings_default();
    T_EQ_U64(plim_settings_parse(text, &settings, NULL), PLIM_OK); /* not a number: ignored */
    T_EQ_U64(settings.ignored, (uint32_t)1 << PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE);
}

T_MAIN(T_TEST(what_breaks_the_grammar_is_told_at_its_character),
       T_TEST(words_that_are_no_values_are_told), T_TEST(values_out_of_range_are_told),
       T_TEST(unknown_keys_are_answered_with_the_nearest),
       T_TEST(endless_words_are_cut_in_messages))
