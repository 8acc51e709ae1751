/*
 * test_rounding.c - bytes requested, bytes of the block, bytes of the segment.
 */
#include "harness.h"

#include "base/units.h"
#include "settings/rounding.h"

static plim_settings with_divisions(uint64_t divisions)
{
    plim_settings settings = plim_settings_default();
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        settings.roundup_power2_divisions[i] = divisions;
    }
    return settings;
}

static void sizes_are_multiples_of_512(void)
{
    const plim_settings settings = plim_settings_default();
    static const struct {
        uint64_t bytes;
        uint64_t rounded;
        uint64_t segment;
    } cases[] = {
        { 1, 512, 2 * MIB },
        { 511, 512, 2 * MIB },
        { 512, 512, 2 * MIB },
        { 513, 1024, 2 * MIB },
        { MIB - 1, MIB, 2 * MIB },
        { MIB, MIB, 2 * MIB },
        { MIB + 1, MIB + 512, 20 * MIB },
        { 19 * MIB / 2, 19 * MIB / 2, 20 * MIB },
        { 10 * MIB - 513, 10 * MIB - 512, 20 * MIB },
        { 10 * MIB - 1, 10 * MIB, 10 * MIB }, /* rounded first */
        { 10 * MIB, 10 * MIB, 10 * MIB },
        { 11 * MIB, 11 * MIB, 12 * MIB },
        { 39 * MIB / 2, 39 * MIB / 2, 20 * MIB },
        { 20 * MIB + 1, 20 * MIB + 512, 22 * MIB },
        { PLIM_REQUEST_BYTES_END - 1, PLIM_REQUEST_BYTES_END, PLIM_REQUEST_BYTES_END },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%" PRIu64, cases[i].bytes);
        T_EQ_U64(plim_round_size(&settings, cases[i].bytes), cases[i].rounded);
        T_EQ_U64(plim_round_plain(cases[i].bytes), cases[i].rounded);
        T_EQ_U64(plim_segment_size(&settings, cases[i].rounded), cases[i].segment);
    }
}

static void large_segments_have_the_size_that_is_set(void)
{
    plim_settings settings = plim_settings_default();
    settings.large_segment_bytes = 64 * MIB;
    T_EQ_U64(plim_segment_size(&settings, MIB), 2 * MIB);
    T_EQ_U64(plim_segment_size(&settings, MIB + 512), 64 * MIB);
    T_EQ_U64(plim_segment_size(&settings, 10 * MIB - 512), 64 * MIB);
    T_EQ_U64(plim_segment_size(&settings, 10 * MIB), 10 * MIB);
}

static void divisions_round_between_powers_of_two(void)
{
    static const struct {
        uint64_t bytes;
        uint64_t divisions;
        uint64_t rounded;
    } cases[] = {
        { 1200, 4, 1536 }, /* 512 * 4 and below: plain */
        { 2048, 4, 2048 },
        { 2049, 4, 2560 },
        { 3000, 4, 3072 },
        { 5000000, 4, 5242880 },
        { 1048577, 2, 1572864 },
        { 1048577, 1, 1049088 },
        { 1048577, 0, 1049088 },
        { 1048576, 4, 1048576 },
        { 100, 8, 512 },
        { 4096, 8, 4096 },
        { 4097, 8, 4608 },
        { 100 * GIB + 1, 4, 112 * GIB },
        { 1000, (uint64_t)1 << 54, 1024 },           /* 2^63 bytes and below: plain */
        { 5000, (uint64_t)1 << 54, 5120 },           /* likewise */
        { 5000, (uint64_t)1 << 55, 8192 },           /* 512 * 2^55 is 0: powers of two */
        { 3 * MIB, (uint64_t)1 << 63, 4 * MIB },     /* likewise */
        { 3 * MIB / 2, (uint64_t)1 << 60, 2 * MIB }, /* likewise */
        { 100, (uint64_t)1 << 55, 512 },
        { TIB + 1, (uint64_t)1 << 20, TIB + MIB },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%" PRIu64 " in %" PRIu64 " divisions", cases[i].bytes, cases[i].divisions);
        const plim_settings settings = with_divisions(cases[i].divisions);
        T_EQ_U64(plim_round_size(&settings, cases[i].bytes), cases[i].rounded);
    }
}

static void each_interval_has_its_own_divisions(void)
{
    static const struct {
        uint64_t bytes;
        uint32_t interval;
    } cases[] = {
        { 1, 0 },
        { 512, 0 },
        { MIB - 1, 0 },
        { MIB, 0 },
        { 2 * MIB - 1, 0 },
        { 2 * MIB, 1 },
        { 4 * MIB - 1, 1 },
        { 4 * MIB, 2 },
        { 256 * MIB, 8 },
        { 512 * MIB - 1, 8 },
        { 32 * GIB - 1, 14 },
        { 32 * GIB, 15 },
        { 64 * GIB, 15 },
        { 64 * TIB, 15 },
        { PLIM_REQUEST_BYTES_END - 1, 15 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%" PRIu64, cases[i].bytes);
        T_EQ_U64(plim_roundup_interval(cases[i].bytes), cases[i].interval);
    }
    plim_settings settings = plim_settings_default();
    settings.roundup_power2_divisions[8] = 2;
    T_EQ_U64(plim_round_size(&settings, 256 * MIB + 1), 384 * MIB);
    T_EQ_U64(plim_round_size(&settings, 512 * MIB + 1), 512 * MIB + 512);
    T_EQ_U64(plim_round_size(&settings, 256 * MIB - 511), 256 * MIB);
}

static void it_is_known_whether_any_division_matters(void)
{
    plim_settings settings = with_divisions(0);
    T_FALSE(plim_rounding_of(&settings).has_divisions);
    settings = with_divisions(1);
    T_FALSE(plim_rounding_of(&settings).has_divisions);
    settings.roundup_power2_divisions[15] = 2;
    T_TRUE(plim_rounding_of(&settings).has_divisions);
    settings = with_divisions((uint64_t)1 << 63);
    T_TRUE(plim_rounding_of(&settings).has_divisions);
}

/* The product of 512 and 2^55 divisions wraps around, here as in PyTorch. */
static void files_may_claim_any_size(void)
{
    static const struct {
        uint64_t divisions, bytes, rounded;
    } cases[] = {
        { 0, 0, 512 },
        { 0, 1, 512 },
        { 0, 512, 512 },
        { 0, 513, 1024 },
        { 0, MIB + 1, MIB + 512 },
        { 0, UINT64_MAX, UINT64_MAX },
        { 0, UINT64_MAX - 511, UINT64_MAX - 511 },
        { 1, 5000, 5120 },
        { 4, 0, 512 },
        { 4, 100, 512 },
        { 4, 1200, 1536 }, /* at most 512 * 4: the plain rule */
        { 4, 2049, 2560 },
        { 4, 3000, 3072 },
        { 4, 5000000, 5242880 },
        { 2, MIB + 1, 3 * MIB / 2 },
        { 2, MIB, MIB },
        { 4, UINT64_MAX, UINT64_MAX },
        { (uint64_t)1 << 54, 5000, 5120 }, /* never more than 512 * divisions */
        { (uint64_t)1 << 55, 5000, 8192 },
        { (uint64_t)1 << 63, 5000, 8192 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%" PRIu64 " with %" PRIu64, cases[i].bytes, cases[i].divisions);
        const plim_settings settings = with_divisions(cases[i].divisions);
        const plim_rounding rounding = plim_rounding_of(&settings);
        T_EQ_U64(plim_round(&rounding, cases[i].bytes), cases[i].rounded);
        if (cases[i].bytes > 0 && cases[i].bytes < PLIM_REQUEST_BYTES_END) {
            T_EQ_U64(plim_round_size(&settings, cases[i].bytes), cases[i].rounded);
        }
    }
}

/* The next of the sizes that the definition allows, found by walking over them. */
static uint64_t naive_round(uint64_t bytes, uint64_t divisions)
{
    if (divisions <= 1 || bytes <= 512 * divisions) {
        return (bytes + 511) / 512 * 512;
    }
    uint64_t power = 512;
    while (power * 2 <= bytes) {
        power *= 2;
    }
    uint64_t size = power;
    while (size < bytes) {
        size += power / divisions;
    }
    return size;
}

static void rounding_agrees_with_walking_over_all_sizes(void)
{
    for (int i = 0; i < 100000; i++) {
        const uint64_t divisions = (uint64_t)1 << t_random_between(0, 6);
        const uint64_t bytes = t_random_bytes(1, PLIM_REQUEST_BYTES_END - 1);
        const plim_settings settings = with_divisions(divisions);
        T_CASE("%" PRIu64 " in %" PRIu64 " divisions", bytes, divisions);
        const uint64_t rounded = plim_round_size(&settings, bytes);
        T_EQ_U64(rounded, naive_round(bytes, divisions));
        if (rounded < PLIM_REQUEST_BYTES_END) {
            T_EQ_U64(plim_round_size(&settings, rounded), rounded); /* what is rounded stays */
        }
        T_TRUE(plim_segment_size(&settings, rounded) >= rounded);
    }
}

static void any_size_has_an_answer(void)
{
    const plim_settings settings = with_divisions(4);
    T_EQ_U64(plim_round_size(&settings, 0), 512);
    T_EQ_U64(plim_round_size(&settings, PLIM_REQUEST_BYTES_END), PLIM_REQUEST_BYTES_END);
    T_EQ_U64(plim_round_size(&settings, UINT64_MAX), UINT64_MAX);
    T_EQ_U64(plim_segment_size(&settings, 0), 2 * MIB);
    T_EQ_U64(plim_segment_size(&settings, UINT64_MAX), UINT64_MAX);
    T_EQ_U64(plim_round_size(NULL, 1000), 1024);
    T_EQ_U64(plim_segment_size(NULL, 2 * MIB), 20 * MIB);
}

T_MAIN(T_TEST(sizes_are_multiples_of_512), T_TEST(large_segments_have_the_size_that_is_set),
       T_TEST(divisions_round_between_powers_of_two), T_TEST(each_interval_has_its_own_divisions),
       T_TEST(it_is_known_whether_any_division_matters), T_TEST(files_may_claim_any_size),
       T_TEST(rounding_agrees_with_walking_over_all_sizes), T_TEST(any_size_has_an_answer))
