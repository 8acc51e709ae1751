/*
 * test_size.c - sizes and other numbers, as people read and write them.
 */
#include "harness.h"

#include "base/size.h"
#include "base/units.h"

#include <math.h>

#define EIB ((uint64_t)1 << 60)

static void sizes_are_read_as_people_write_them(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        { "0", 0 },
        { "512B", 512 },
        { "512b", 512 },
        { "512 B", 512 },
        { "0512B", 512 },
        { "0.0", 0 },
        { "20MiB", 20 * MIB },
        { "20MB", 20 * MIB },
        { "20mb", 20 * MIB },
        { "20 MB", 20 * MIB },
        { "20M", 20 * MIB },
        { "1.5GiB", 3 * GIB / 2 },
        { "1.5GB", 3 * GIB / 2 },
        { "1.5 gB", 3 * GIB / 2 },
        { "2G", 2 * GIB },
        { "80g", 80 * GIB },
        { "\t 7 kib ", 7 * KIB },
        { "3T", 3 * TIB },
        { "4PB", 4096 * TIB },
        { "1E", EIB },
        { "1.0B", 1 },
        { "1.000 B", 1 },
        { "0.5K", 512 },
        { "0.001K", 1 },            /* 1.024 */
        { "0.0014K", 1 },           /* 1.43 */
        { "0.0015K", 2 },           /* 1.54 */
        { "0.1G", 107374182 },      /* .4 */
        { "79.151G", 84987739111 }, /* .42: as PyTorch's messages have it */
        { "18446744073709551615B", UINT64_MAX },
        { "15.999999999999999999E", UINT64_MAX }, /* 1.15 below 2^64 */
        { "0.3333333333333333333333333333333333K", 341 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        uint64_t bytes = 99;
        plim_error err;
        T_EQ_U64(plim_size_parse(cases[i].text, &bytes, &err), PLIM_OK);
        T_EQ_U64(bytes, cases[i].bytes);
    }
}

static void what_is_no_size_is_told_at_its_character(void)
{
    static const struct {
        const char *text;
        uint64_t offset;
        const char *what;
    } cases[] = {
        { "", 0, "a digit is missing" },
        { "   ", 3, "a digit is missing" },
        { "GiB", 0, "a digit is missing" },
        { "-1", 0, "a size cannot be negative" },
        { "+1", 0, "a digit is missing" },
        { ".5G", 0, "a digit is missing" },
        { "1.", 2, "a digit is missing" },
        { "1.G", 2, "a digit is missing" },
        { "1..5G", 2, "a digit is missing" },
        { "12x", 2, "something does not belong" },
        { "12xB", 2, "something does not belong" },
        { "1,5GiB", 1, "something does not belong" },
        { "20MiBs", 5, "something does not belong" },
        { "20MiB 5", 6, "something does not belong" },
        { "20Mi", 3, "something does not belong" },
        { "20BB", 3, "something does not belong" },
        { "0x10", 1, "something does not belong" },
        { "1e6", 2, "something does not belong" }, /* e is exa */
        { "80", 2, "a unit is missing" },
        { "80 ", 3, "a unit is missing" },
        { "1.5", 3, "a unit is missing" },
        { "0.5", 3, "a unit is missing" },
        { "1.5B", 1, "bytes have no fractions" },
        { "18446744073709551616", 19, "the number is too large" },
        { "16E", 0, "it is 16 EiB or more" },
        { "15.9999999999999999999999E", 0, "it is 16 EiB or more" },
        { "18446744073709551615K", 0, "it is 16 EiB or more" },
        { "12\xc3\xa9", 2, "something does not belong" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        uint64_t bytes = 99;
        plim_error err;
        T_EQ_U64(plim_size_parse(cases[i].text, &bytes, &err), PLIM_INVALID_ARGUMENT);
        T_EQ_U64(bytes, 99);
        T_EQ_U64(err.offset, cases[i].offset);
        T_NOT_NULL(strstr(err.message, cases[i].what));
    }
    T_EQ_U64(plim_size_parse("x", &(uint64_t){ 0 }, NULL), PLIM_INVALID_ARGUMENT);
}

static void an_error_reads_as_one_line(void)
{
    uint64_t bytes = 0;
    plim_error err;
    T_EQ_U64(plim_size_parse("20 Mx", &bytes, &err), PLIM_INVALID_ARGUMENT);
    T_EQ_STR(err.message, "\"20 Mx\" is not a size: something does not belong, at character 5; "
                          "write one like 512B, 20MiB or 1.5GiB");
}

static void sizes_have_three_digits_and_a_unit(void)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        { 0, "0 B" },
        { 1, "1 B" },
        { 512, "512 B" },
        { 1023, "1023 B" },
        { 1024, "1.00 KiB" },
        { 1536, "1.50 KiB" },
        { 10234, "9.99 KiB" },
        { 10235, "10.0 KiB" }, /* 9.9951 */
        { 102348, "99.9 KiB" },
        { 102349, "100 KiB" }, /* 99.9502 */
        { 20 * MIB, "20.0 MiB" },
        { 139 * GIB, "139 GiB" },
        { 1000 * KIB, "1000 KiB" },
        { MIB - 513, "1023 KiB" }, /* 1023.499 */
        { MIB - 512, "1.00 MiB" }, /* 1023.5 would be 1024 KiB */
        { MIB - 410, "1.00 MiB" }, /* 1023.6 */
        { MIB, "1.00 MiB" },
        { GIB - 1, "1.00 GiB" },
        { TIB, "1.00 TiB" },
        { 1024 * TIB, "1.00 PiB" },
        { EIB, "1.00 EiB" },
        { UINT64_MAX, "16.0 EiB" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%" PRIu64, cases[i].bytes);
        T_EQ_STR(plim_format_bytes(cases[i].bytes).text, cases[i].text);
    }
}

/* What is printed reads back as within half of its last digit, and never as 1024 of anything. */
static void printed_sizes_read_back_closely(void)
{
    for (int i = 0; i < 100000; i++) {
        const uint64_t bytes = t_random_bytes(0, 15 * EIB);
        const plim_short_text text = plim_format_bytes(bytes);
        T_CASE("%" PRIu64 " as %s", bytes, text.text);
        uint64_t back = 0;
        T_EQ_U64(plim_size_parse(text.text, &back, NULL), PLIM_OK);
        const uint64_t difference = back > bytes ? back - bytes : bytes - back;
        T_TRUE(difference <= bytes / 199);
        T_NULL(strstr(text.text, "1024"));
    }
}

static void counts_have_commas(void)
{
    static const struct {
        uint64_t count;
        const char *text;
    } cases[] = {
        { 0, "0" },
        { 999, "999" },
        { 1000, "1,000" },
        { 12345678, "12,345,678" },
        { 100000, "100,000" },
        { UINT64_MAX, "18,446,744,073,709,551,615" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_EQ_STR(plim_format_count(cases[i].count).text, cases[i].text);
    }
}

static void shares_are_percent(void)
{
    const struct {
        double share;
        const char *text;
    } cases[] = {
        { 0, "0.0%" },        { 1, "100.0%" },       { 0.123, "12.3%" },
        { 0.00001, "<0.1%" }, { 0.99999, ">99.9%" }, { 2.5, "250.0%" },
        { -0.5, "-50.0%" },   { (double)NAN, "-" },  { (double)INFINITY, "100000000000000.0%" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%g", cases[i].share);
        T_EQ_STR(plim_format_percent(cases[i].share).text, cases[i].text);
    }
}

static void durations_are_said_in_fitting_units(void)
{
    static const struct {
        uint64_t duration_us;
        const char *text;
    } cases[] = {
        { 0, "0 us" },
        { 850, "850 us" },
        { 1000, "1.00 ms" },
        { 42000, "42.0 ms" },
        { 999499, "999 ms" },
        { 999500, "1.00 s" },
        { 1850000, "1.85 s" },
        { 59400000, "59.4 s" },
        { 59499999, "59.5 s" },
        { 59500000, "1 min 00 s" },
        { 185000000, "3 min 05 s" },
        { 3599499999, "59 min 59 s" },
        { 3599500000, "1 h 00 min" },
        { 7500000000, "2 h 05 min" },
        { 86399999999, "1 d 00 h" },
        { 273600000000, "3 d 04 h" },
        { UINT64_MAX, "213503982 d 08 h" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%" PRIu64 " us", cases[i].duration_us);
        T_EQ_STR(plim_format_duration_us(cases[i].duration_us).text, cases[i].text);
    }
}

T_MAIN(T_TEST(sizes_are_read_as_people_write_them),
       T_TEST(what_is_no_size_is_told_at_its_character), T_TEST(an_error_reads_as_one_line),
       T_TEST(sizes_have_three_digits_and_a_unit), T_TEST(printed_sizes_read_back_closely),
       T_TEST(counts_have_commas), T_TEST(shares_are_percent),
       T_TEST(durations_are_said_in_fitting_units))
