/*
 * test_stats.c - what is counted, under which names, and what is set back.
 */
#include "harness.h"

#include "alloc/core/ledger.h"

/* The number under a name. */
static int64_t value_of(const plim_device_stats *stats, const char *name)
{
    int64_t value = 0;
    if (!plim_stats_find(stats, name, &value)) {
        fail_msg("there is no %s", name);
    }
    return value;
}

#define NUMBERS (sizeof(plim_device_stats) / sizeof(int64_t))

/* Every number is another one. */
static plim_device_stats numbered(void)
{
    plim_device_stats stats;
    int64_t *const numbers = (int64_t *)&stats;
    for (size_t i = 0; i < NUMBERS; i++) {
        numbers[i] = (int64_t)i;
    }
    return stats;
}

/* --- counting --- */

static void a_stat_remembers_its_peak_and_its_sums(void)
{
    plim_stat stat = { 0 };
    plim_stat_increase(&stat, 700);
    plim_stat_decrease(&stat, 500);
    plim_stat_increase(&stat, 100);
    T_EQ_I64(stat.current, 300);
    T_EQ_I64(stat.peak, 700);
    T_EQ_I64(stat.allocated, 800);
    T_EQ_I64(stat.freed, 500);
}

static void the_peak_is_never_below_zero(void)
{
    plim_stat stat = { 0 };
    plim_stat_decrease(&stat, 5);
    T_EQ_I64(stat.current, -5);
    T_EQ_I64(stat.peak, 0);
    T_EQ_I64(stat.freed, 5);
}

static void sums_wrap_and_nothing_breaks(void)
{
    plim_stat stat = { .allocated = INT64_MAX, .freed = INT64_MAX };
    plim_stat_increase(&stat, 1);
    plim_stat_decrease(&stat, 1);
    T_EQ_I64(stat.current, 0);
    T_EQ_I64(stat.allocated, INT64_MIN);
    T_EQ_I64(stat.freed, INT64_MIN);
}

static void a_change_counts_in_all_pools_and_in_one_class(void)
{
    plim_device_stats stats = { 0 };
    plim_stats_increase(&stats, PLIM_STAT_ACTIVE_BYTES, true, 512);
    plim_stats_increase(&stats, PLIM_STAT_ACTIVE_BYTES, false, 4096);
    plim_stats_decrease(&stats, PLIM_STAT_ACTIVE_BYTES, true, 512);
    T_EQ_I64(value_of(&stats, "active_bytes.all.current"), 4096);
    T_EQ_I64(value_of(&stats, "active_bytes.all.peak"), 4608);
    T_EQ_I64(value_of(&stats, "active_bytes.small_pool.current"), 0);
    T_EQ_I64(value_of(&stats, "active_bytes.small_pool.freed"), 512);
    T_EQ_I64(value_of(&stats, "active_bytes.large_pool.allocated"), 4096);
    T_EQ_I64(value_of(&stats, "active.all.current"), 0);
}

/* --- names --- */

static void names_are_those_of_memory_stats_in_its_order(void)
{
    /* Nine families of three slots and four fields, two oversize stats, seven counters. */
    T_EQ_U64(plim_stats_count(), 9 * 12 + 2 * 4 + 7);
    for (size_t i = 1; i < plim_stats_count(); i++) {
        T_CASE("%s", plim_stats_name(i));
        T_TRUE(strcmp(plim_stats_name(i - 1), plim_stats_name(i)) < 0);
    }
    T_NULL(plim_stats_name(plim_stats_count()));
    T_NULL(plim_stats_name(SIZE_MAX));
    T_EQ_STR(plim_stats_name(0), "active.all.allocated");
    T_EQ_STR(plim_stats_name(12), "active_bytes.all.allocated");
    T_EQ_STR(plim_stats_name(72), "max_split_size");
    T_EQ_STR(plim_stats_name(plim_stats_count() - 1), "segment.small_pool.peak");
}

static void every_family_slot_and_field_has_its_name(void)
{
#define FAMILY_NAME(code, name) name,
    static const char *const families[] = { PLIM_STAT_LIST(FAMILY_NAME) };
#undef FAMILY_NAME
    static const char *const slots[] = { "all", "small_pool", "large_pool" };
    plim_device_stats stats = { 0 };
    int64_t next = 1;
    for (size_t family = 0; family < PLIM_STAT_COUNT; family++) {
        for (size_t slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            stats.families[family][slot] = (plim_stat){ next, next + 1, next + 2, next + 3 };
            next += 4;
        }
    }
    next = 1;
    for (size_t family = 0; family < PLIM_STAT_COUNT; family++) {
        for (size_t slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            static const char *const fields[] = { "current", "peak", "allocated", "freed" };
            for (size_t field = 0; field < T_COUNT(fields); field++) {
                char name[80];
                (void)snprintf(name, sizeof name, "%s.%s.%s", families[family], slots[slot],
                               fields[field]);
                T_CASE("%s", name);
                T_EQ_I64(value_of(&stats, name), next++);
            }
        }
    }
}

static void counters_have_their_names(void)
{
    const plim_device_stats stats = {
        .oversize_allocations = { 1, 2, 3, 4 },
        .oversize_segments = { 5, 6, 7, 8 },
        .num_alloc_retries = 9,
        .num_ooms = 10,
        .num_sync_all_streams = 11,
        .num_device_alloc = 12,
        .num_device_free = 13,
        .num_oom_rejections = 14,
        .max_split_size = -1,
    };
    static const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        { "oversize_allocations.current", 1 },
        { "oversize_allocations.peak", 2 },
        { "oversize_allocations.allocated", 3 },
        { "oversize_allocations.freed", 4 },
        { "oversize_segments.current", 5 },
        { "oversize_segments.peak", 6 },
        { "oversize_segments.allocated", 7 },
        { "oversize_segments.freed", 8 },
        { "num_alloc_retries", 9 },
        { "num_ooms", 10 },
        { "num_sync_all_streams", 11 },
        { "num_device_alloc", 12 },
        { "num_device_free", 13 },
        { "num_oom_rejections", 14 },
        { "max_split_size", -1 },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].name);
        T_EQ_I64(value_of(&stats, rows[i].name), rows[i].value);
    }
}

static void every_number_has_one_name(void)
{
    const plim_device_stats stats = numbered();
    bool is_seen[NUMBERS] = { false };
    T_EQ_U64(plim_stats_count(), NUMBERS);
    for (size_t i = 0; i < plim_stats_count(); i++) {
        const int64_t value = plim_stats_value(&stats, i);
        T_CASE("%s", plim_stats_name(i));
        T_EQ_I64(value_of(&stats, plim_stats_name(i)), value);
        T_TRUE(value >= 0 && (uint64_t)value < NUMBERS);
        T_FALSE(is_seen[value]);
        is_seen[value] = true;
    }
}

static void a_name_that_is_not_there_is_not_found(void)
{
    static const char *const names[] = { "",     "active",      "active.all",
                                         "zzzz", "num_oomsies", "active.all.allocated.",
                                         "!",    "NUM_OOMS",    "segment.small_pool.peaks" };
    const plim_device_stats stats = { 0 };
    for (size_t i = 0; i < T_COUNT(names); i++) {
        int64_t value = 77;
        T_CASE("\"%s\"", names[i]);
        T_FALSE(plim_stats_find(&stats, names[i], &value));
        T_EQ_I64(value, 77);
    }
}

/* --- setting back --- */

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name);
    return length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

static void peaks_fall_to_what_is_current(void)
{
    const plim_device_stats before = numbered();
    plim_device_stats after = before;
    plim_stats_reset_peak(&after);
    for (size_t i = 0; i < plim_stats_count(); i++) {
        const char *const name = plim_stats_name(i);
        T_CASE("%s", name);
        if (ends_with(name, ".peak")) {
            /* Sorted, a peak stands two after its current: current, freed, peak. */
            T_EQ_I64(plim_stats_value(&after, i), plim_stats_value(&before, i - 2));
        } else {
            T_EQ_I64(plim_stats_value(&after, i), plim_stats_value(&before, i));
        }
    }
}

static void sums_and_counters_start_anew(void)
{
    const plim_device_stats before = numbered();
    plim_device_stats after = before;
    plim_stats_reset_accumulated(&after);
    for (size_t i = 0; i < plim_stats_count(); i++) {
        const char *const name = plim_stats_name(i);
        const bool starts = ends_with(name, ".allocated") || ends_with(name, ".freed") ||
                            strncmp(name, "num_", 4) == 0;
        T_CASE("%s", name);
        T_EQ_I64(plim_stats_value(&after, i), starts ? 0 : plim_stats_value(&before, i));
    }
}

T_MAIN(T_TEST(a_stat_remembers_its_peak_and_its_sums), T_TEST(the_peak_is_never_below_zero),
       T_TEST(sums_wrap_and_nothing_breaks), T_TEST(a_change_counts_in_all_pools_and_in_one_class),
       T_TEST(names_are_those_of_memory_stats_in_its_order),
       T_TEST(every_family_slot_and_field_has_its_name), T_TEST(counters_have_their_names),
       T_TEST(every_number_has_one_name), T_TEST(a_name_that_is_not_there_is_not_found),
       T_TEST(peaks_fall_to_what_is_current), T_TEST(sums_and_counters_start_anew))
