/*
 * test_summary.c - the table of memory_summary(), to the character.
 *
 * What is expected was laid out and worked out by hand from the rules of
 * docs/reference/caching-allocator.md, 7; thousands of random tables were compared with PyTorch's
 * own function when this was written.
 */
#include "harness.h"

#include "alloc/core/ledger.h"

static char text[PLIM_SUMMARY_BYTES];

static const char *summary_of(const plim_device_stats *stats, int32_t device, bool is_abbreviated)
{
    const size_t length = plim_memory_summary(stats, device, is_abbreviated, text, sizeof text);
    T_EQ_U64(length, strlen(text));
    return text;
}

/* The line with this beginning, and the cells after it. */
static void expect_line(const plim_device_stats *stats, const char *line)
{
    T_CASE("%.100s", line);
    if (strstr(summary_of(stats, 0, false), line) == NULL) {
        fail_msg("no line \"%s\" in\n%s", line, text);
    }
}

#define RULE "|---------------------------------------------------------------------------|\n"
#define BAR  "|===========================================================================|\n"
#define HEAD "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"

static void nothing_yet_abbreviated(void)
{
    const plim_device_stats stats = { 0 };
    T_EQ_STR(
        summary_of(&stats, 0, true), BAR
        "|                  PyTorch CUDA memory summary, device ID 0                 |\n" RULE
        "|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |\n" BAR HEAD
            RULE
        "| Allocated memory      |      0 B   |      0 B   |      0 B   |      0 B   |\n" RULE
        "| Active memory         |      0 B   |      0 B   |      0 B   |      0 B   |\n" RULE
        "| Requested memory      |      0 B   |      0 B   |      0 B   |      0 B   |\n" RULE
        "| GPU reserved memory   |      0 B   |      0 B   |      0 B   |      0 B   |\n" RULE
        "| Non-releasable memory |      0 B   |      0 B   |      0 B   |      0 B   |\n" RULE
        "| Allocations           |       0    |       0    |       0    |       0    |\n" RULE
        "| Active allocs         |       0    |       0    |       0    |       0    |\n" RULE
        "| GPU reserved segments |       0    |       0    |       0    |       0    |\n" RULE
        "| Non-releasable allocs |       0    |       0    |       0    |       0    |\n" RULE
        "| Oversize allocations  |       0    |       0    |       0    |       0    |\n" RULE
        "| Oversize GPU segments |       0    |       0    |       0    |       0    |\n" BAR);
}

/* Two live requests in a large segment; in a small one, one that was freed and waits for a stream.
 */
static void some_work_in_full(void)
{
    plim_device_stats stats = { .num_ooms = 3, .num_alloc_retries = 12 };
    plim_stats_increase(&stats, PLIM_STAT_SEGMENT, false, 1);
    plim_stats_increase(&stats, PLIM_STAT_RESERVED_BYTES, false, 20971520);
    plim_stats_increase(&stats, PLIM_STAT_SEGMENT, true, 1);
    plim_stats_increase(&stats, PLIM_STAT_RESERVED_BYTES, true, 2097152);
    for (int i = 0; i < 2; i++) {
        plim_stats_increase(&stats, PLIM_STAT_ALLOCATION, false, 1);
        plim_stats_increase(&stats, PLIM_STAT_ALLOCATED_BYTES, false, 2097152);
        plim_stats_increase(&stats, PLIM_STAT_ACTIVE, false, 1);
        plim_stats_increase(&stats, PLIM_STAT_ACTIVE_BYTES, false, 2097152);
        plim_stats_increase(&stats, PLIM_STAT_REQUESTED_BYTES, false, 2097000);
    }
    plim_stats_increase(&stats, PLIM_STAT_ALLOCATION, true, 1);
    plim_stats_increase(&stats, PLIM_STAT_ALLOCATED_BYTES, true, 1024);
    plim_stats_increase(&stats, PLIM_STAT_ACTIVE, true, 1);
    plim_stats_increase(&stats, PLIM_STAT_ACTIVE_BYTES, true, 1024);
    plim_stats_increase(&stats, PLIM_STAT_REQUESTED_BYTES, true, 600);
    plim_stats_decrease(&stats, PLIM_STAT_ALLOCATION, true, 1);
    plim_stats_decrease(&stats, PLIM_STAT_ALLOCATED_BYTES, true, 1024);
    plim_stats_increase(&stats, PLIM_STAT_INACTIVE_SPLIT, false, 1);
    plim_stats_increase(&stats, PLIM_STAT_INACTIVE_SPLIT_BYTES, false, 16777216);
    plim_stat_increase(&stats.oversize_allocations, 750000);
    plim_stat_increase(&stats.oversize_segments, 749999);
    T_EQ_STR(
        summary_of(&stats, 1, false), BAR
        "|                  PyTorch CUDA memory summary, device ID 1                 |\n" RULE
        "|            CUDA OOMs: 3            |        cudaMalloc retries: 12        |\n" BAR HEAD
            RULE "| Allocated memory      |   4096 KiB |   4097 KiB |   4097 KiB |   1024 B   |\n"
        "|       from large pool |   4096 KiB |   4096 KiB |   4096 KiB |      0 B   |\n"
        "|       from small pool |      0 KiB |      1 KiB |      1 KiB |   1024 B   |\n" RULE
        "| Active memory         |   4097 KiB |   4097 KiB |   4097 KiB |      0 B   |\n"
        "|       from large pool |   4096 KiB |   4096 KiB |   4096 KiB |      0 B   |\n"
        "|       from small pool |      1 KiB |      1 KiB |      1 KiB |      0 B   |\n" RULE
        "| Requested memory      |   4096 KiB |   4096 KiB |   4096 KiB |      0 B   |\n"
        "|       from large pool |   4095 KiB |   4095 KiB |   4095 KiB |      0 B   |\n"
        "|       from small pool |      0 KiB |      0 KiB |      0 KiB |      0 B   |\n" RULE
        "| GPU reserved memory   |  22528 KiB |  22528 KiB |  22528 KiB |      0 B   |\n"
        "|       from large pool |  20480 KiB |  20480 KiB |  20480 KiB |      0 B   |\n"
        "|       from small pool |   2048 KiB |   2048 KiB |   2048 KiB |      0 B   |\n" RULE
        "| Non-releasable memory |  16384 KiB |  16384 KiB |  16384 KiB |      0 B   |\n"
        "|       from large pool |  16384 KiB |  16384 KiB |  16384 KiB |      0 B   |\n"
        "|       from small pool |      0 KiB |      0 KiB |      0 KiB |      0 B   |\n" RULE
        "| Allocations           |       2    |       3    |       3    |       1    |\n"
        "|       from large pool |       2    |       2    |       2    |       0    |\n"
        "|       from small pool |       0    |       1    |       1    |       1    |\n" RULE
        "| Active allocs         |       3    |       3    |       3    |       0    |\n"
        "|       from large pool |       2    |       2    |       2    |       0    |\n"
        "|       from small pool |       1    |       1    |       1    |       0    |\n" RULE
        "| GPU reserved segments |       2    |       2    |       2    |       0    |\n"
        "|       from large pool |       1    |       1    |       1    |       0    |\n"
        "|       from small pool |       1    |       1    |       1    |       0    |\n" RULE
        "| Non-releasable allocs |       1    |       1    |       1    |       0    |\n"
        "|       from large pool |       1    |       1    |       1    |       0    |\n"
        "|       from small pool |       0    |       0    |       0    |       0    |\n" RULE
        "| Oversize allocations  |     750 K  |     750 K  |     750 K  |       0    |\n" RULE
        "| Oversize GPU segments |  749999    |  749999    |  749999    |       0    |\n" BAR);
}

/* --- units --- */

static void sizes_change_unit_at_768_of_them(void)
{
    static const struct {
        int64_t bytes;
        const char *line;
    } rows[] = {
        { 786431, "| Allocated memory      | 786431 B   |" },
        { 786432, "| Allocated memory      |    768 KiB |" },
        { 805306367, "| Allocated memory      | 786431 KiB |" },
        { 805306368, "| Allocated memory      |    768 MiB |" },
        { INT64_C(768) << 30, "| Allocated memory      |    768 GiB |" },
        { (INT64_C(768) << 30) - 1, "| Allocated memory      | 786431 MiB |" },
        { INT64_C(768) << 40, "| Allocated memory      |    768 TiB |" },
        { INT64_C(768) << 50, "| Allocated memory      |    768 PiB |" },
        /* Here a double is coarser than a byte: the unit says PiB, the number is rounded down. */
        { (INT64_C(768) << 50) - 1, "| Allocated memory      |    767 PiB |" },
        { (INT64_C(768) << 50) - 1024, "| Allocated memory      | 786431 TiB |" },
        { INT64_MAX, "| Allocated memory      |   8191 PiB |" },
        { -1, "| Allocated memory      |     -1 B   |" },
        { INT64_MIN, "| Allocated memory      | -9223372036854775808 B   |" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_device_stats stats = { 0 };
        stats.families[PLIM_STAT_ALLOCATED_BYTES][PLIM_SLOT_ALL].current = rows[i].bytes;
        expect_line(&stats, rows[i].line);
    }
}

static void counts_change_unit_at_750_thousand(void)
{
    static const struct {
        int64_t count;
        const char *line;
    } rows[] = {
        { 749999, "| Allocations           |  749999    |" },
        { 750000, "| Allocations           |     750 K  |" },
        { 749999999, "| Allocations           |  749999 K  |" },
        { 750000000, "| Allocations           |     750 M  |" },
        { INT64_C(12345678901234), "| Allocations           | 12345678 M  |" },
        { -750000, "| Allocations           | -750000    |" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_device_stats stats = { 0 };
        stats.families[PLIM_STAT_ALLOCATION][PLIM_SLOT_ALL].current = rows[i].count;
        expect_line(&stats, rows[i].line);
    }
}

static void parts_have_the_unit_of_the_total_in_their_column(void)
{
    plim_device_stats stats = { 0 };
    plim_stat *const slots = stats.families[PLIM_STAT_ACTIVE_BYTES];
    slots[PLIM_SLOT_ALL] = (plim_stat){ 1 << 30, 1000, 1 << 20, 0 };
    slots[PLIM_SLOT_SMALL] = (plim_stat){ -1, 1 << 21, 1023, -5 };
    expect_line(&stats,
                "| Active memory         |   1024 MiB |   1000 B   |   1024 KiB |      0 B   |"
                "\n|       from large pool |      0 MiB |      0 B   |      0 KiB |      0 B   |"
                "\n|       from small pool |     -1 MiB | 2097152 B   |      0 KiB |     -5 B   |");
}

static void devices_and_counters_of_any_width(void)
{
    plim_device_stats stats = { .num_ooms = 1234567890123456, .num_alloc_retries = -123456789 };
    T_NOT_NULL(strstr(summary_of(&stats, INT32_MIN, true),
                      "device ID -2147483648       |\n" RULE
                      "|            CUDA OOMs: 1234567890123456 |        cudaMalloc retries: "
                      "-123456789  |\n"));
}

/* --- room --- */

static void the_widest_table_fits(void)
{
    plim_device_stats stats;
    int64_t *const numbers = (int64_t *)&stats;
    for (size_t i = 0; i < sizeof stats / sizeof *numbers; i++) {
        numbers[i] = INT64_MIN;
    }
    const size_t length = plim_memory_summary(&stats, INT32_MIN, false, text, sizeof text);
    T_TRUE(length < PLIM_SUMMARY_BYTES);
    T_EQ_U64(length, strlen(text));
}

static void a_small_room_is_never_left(void)
{
    const plim_device_stats stats = { 0 };
    char whole[PLIM_SUMMARY_BYTES];
    const size_t length = plim_memory_summary(&stats, 0, false, whole, sizeof whole);
    T_EQ_U64(plim_memory_summary(&stats, 0, false, NULL, 0), length);
    for (size_t bytes = 1; bytes <= length + 1; bytes++) {
        char *const exact = malloc(bytes);
        T_NOT_NULL(exact);
        T_EQ_U64(plim_memory_summary(&stats, 0, false, exact, bytes), length);
        T_EQ_U64(strlen(exact), bytes - 1);
        T_EQ_MEM(exact, whole, bytes - 1);
        free(exact);
    }
}

T_MAIN(T_TEST(nothing_yet_abbreviated), T_TEST(some_work_in_full),
       T_TEST(sizes_change_unit_at_768_of_them), T_TEST(counts_change_unit_at_750_thousand),
       T_TEST(parts_have_the_unit_of_the_total_in_their_column),
       T_TEST(devices_and_counters_of_any_width), T_TEST(the_widest_table_fits),
       T_TEST(a_small_room_is_never_left))
