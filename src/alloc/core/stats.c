/*
 * stats.c - the statistics by name, and setting them back.
 *
 * One table has every name, sorted as memory_stats() sorts, with the place of its number. All
 * numbers are of one type, so a place is all there is to know.
 */
#include "plimsoll/stats.h"

#include "base/assert.h"

#include <string.h>

typedef struct stat_entry {
    const char *name;
    size_t offset; /* in plim_device_stats, of an int64_t */
} stat_entry;

#define STAT_PLACE(member) offsetof(plim_device_stats, member)

#define STAT_ROWS(name, member)                          \
    { name ".allocated", STAT_PLACE(member.allocated) }, \
        { name ".current", STAT_PLACE(member.current) }, \
        { name ".freed", STAT_PLACE(member.freed) },     \
    {                                                    \
        name ".peak", STAT_PLACE(member.peak)            \
    }

#define FAMILY_ROWS(name, family)                                         \
    STAT_ROWS(name ".all", families[family][PLIM_SLOT_ALL]),              \
        STAT_ROWS(name ".large_pool", families[family][PLIM_SLOT_LARGE]), \
        STAT_ROWS(name ".small_pool", families[family][PLIM_SLOT_SMALL])

#define COUNTER_ROW(member)         \
    {                               \
#member, STAT_PLACE(member) \
    }

/* By bytes: '.' comes before '_', and '_' before letters. */
static const stat_entry entries[] = {
    FAMILY_ROWS("active", PLIM_STAT_ACTIVE),
    FAMILY_ROWS("active_bytes", PLIM_STAT_ACTIVE_BYTES),
    FAMILY_ROWS("allocated_bytes", PLIM_STAT_ALLOCATED_BYTES),
    FAMILY_ROWS("allocation", PLIM_STAT_ALLOCATION),
    FAMILY_ROWS("inactive_split", PLIM_STAT_INACTIVE_SPLIT),
    FAMILY_ROWS("inactive_split_bytes", PLIM_STAT_INACTIVE_SPLIT_BYTES),
    COUNTER_ROW(max_split_size),
    COUNTER_ROW(num_alloc_retries),
    COUNTER_ROW(num_device_alloc),
    COUNTER_ROW(num_device_free),
    COUNTER_ROW(num_oom_rejections),
    COUNTER_ROW(num_ooms),
    COUNTER_ROW(num_sync_all_streams),
    STAT_ROWS("oversize_allocations", oversize_allocations),
    STAT_ROWS("oversize_segments", oversize_segments),
    FAMILY_ROWS("requested_bytes", PLIM_STAT_REQUESTED_BYTES),
    FAMILY_ROWS("reserved_bytes", PLIM_STAT_RESERVED_BYTES),
    FAMILY_ROWS("segment", PLIM_STAT_SEGMENT),
};

#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

/* A number that the table forgets would be one too few here. */
_Static_assert(ENTRY_COUNT == sizeof(plim_device_stats) / sizeof(int64_t),
               "the table names every number");

size_t plim_stats_count(void)
{
    return ENTRY_COUNT;
}

const char *plim_stats_name(size_t index)
{
    return index < ENTRY_COUNT ? entries[index].name : NULL;
}

int64_t plim_stats_value(const plim_device_stats *stats, size_t index)
{
    PLIM_ASSERT(index < ENTRY_COUNT);
    int64_t value = 0;
    memcpy(&value, (const char *)stats + entries[index].offset, sizeof value);
    return value;
}

bool plim_stats_find(const plim_device_stats *stats, const char *name, int64_t *ret_value)
{
    size_t low = 0;
    size_t high = ENTRY_COUNT;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, entries[middle].name);
        if (order == 0) {
            *ret_value = plim_stats_value(stats, middle);
            return true;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return false;
}

/* --- setting back --- */

static void for_each_stat(plim_device_stats *stats, void (*reset)(plim_stat *stat))
{
    for (size_t family = 0; family < PLIM_STAT_COUNT; family++) {
        for (size_t slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            reset(&stats->families[family][slot]);
        }
    }
    reset(&stats->oversize_allocations);
    reset(&stats->oversize_segments);
}

static void forget_peak(plim_stat *stat)
{
    stat->peak = stat->current;
}

static void forget_sums(plim_stat *stat)
{
    stat->allocated = 0;
    stat->freed = 0;
}

void plim_stats_reset_peak(plim_device_stats *stats)
{
    for_each_stat(stats, forget_peak);
}

void plim_stats_reset_accumulated(plim_device_stats *stats)
{
    for_each_stat(stats, forget_sums);
    stats->num_alloc_retries = 0;
    stats->num_ooms = 0;
    stats->num_sync_all_streams = 0;
    stats->num_device_alloc = 0;
    stats->num_device_free = 0;
    stats->num_oom_rejections = 0; /* max_split_size is a setting: it stays */
}
