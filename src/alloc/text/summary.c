/*
 * summary.c - the table of torch.cuda.memory_summary(), to the character
 * (PyTorch 2.11, torch/cuda/memory.py).
 *
 *      | Allocated memory      |   3073 KiB |   3073 KiB |   3073 KiB |      0 B   |
 *      |       from large pool |   3072 KiB |   3072 KiB |   3072 KiB |      0 B   |
 *
 * The cells below a total have the unit of the total. Numbers too wide for their cell make it
 * wider, as they do in PyTorch.
 */
#include "plimsoll/stats.h"

#include "base/fixed_text.h"

#include <inttypes.h>
#include <string.h>

#define SUMMARY_COLUMNS 75

static void put_rule(plim_fixed_text *out, char c)
{
    char rule[SUMMARY_COLUMNS + 1];
    memset(rule, c, SUMMARY_COLUMNS);
    rule[SUMMARY_COLUMNS] = '\0';
    plim_fixed_text_put(out, "|%s|\n", rule);
}

/* --- cells --- */

/* Rounds down, also below zero. */
static int64_t floor_divide(int64_t value, int64_t by)
{
    return value / by - (value % by < 0 ? 1 : 0);
}

/* `total` decides the unit. In floating point, because rounding decides too near 2^60. */
static void put_size(plim_fixed_text *out, int64_t value, int64_t total)
{
    static const char *const units[] = { "B  ", "KiB", "MiB", "GiB", "TiB", "PiB" };
    double rest = (double)total;
    size_t unit = 0;
    for (; unit + 1 < sizeof units / sizeof units[0] && rest >= 768.0 * 1024; unit++) {
        value = floor_divide(value, 1024);
        rest /= 1024;
    }
    plim_fixed_text_put(out, " %6" PRId64 " %s |", value, units[unit]);
}

static void put_count(plim_fixed_text *out, int64_t value, int64_t total)
{
    static const char units[] = " KM";
    double rest = (double)total;
    size_t unit = 0;
    for (; units[unit + 1] != '\0' && rest >= 750.0 * 1000; unit++) {
        value = floor_divide(value, 1000);
        rest /= 1000;
    }
    plim_fixed_text_put(out, " %7" PRId64 " %c  |", value, units[unit]);
}

typedef void put_cell(plim_fixed_text *out, int64_t value, int64_t total);

static void put_row(plim_fixed_text *out, const char *name, put_cell *cell, const plim_stat *stat,
                    const plim_stat *total)
{
    plim_fixed_text_put(out, "| %-21s |", name);
    cell(out, stat->current, total->current);
    cell(out, stat->peak, total->peak);
    cell(out, stat->allocated, total->allocated);
    cell(out, stat->freed, total->freed);
    plim_fixed_text_put(out, "\n");
}

/* --- the table --- */

static void put_families(plim_fixed_text *out, const plim_device_stats *stats, bool is_abbreviated)
{
    static const struct {
        plim_stat_family family;
        const char *name;
        put_cell *cell;
    } metrics[] = {
        { PLIM_STAT_ALLOCATED_BYTES, "Allocated memory", put_size },
        { PLIM_STAT_ACTIVE_BYTES, "Active memory", put_size },
        { PLIM_STAT_REQUESTED_BYTES, "Requested memory", put_size },
        { PLIM_STAT_RESERVED_BYTES, "GPU reserved memory", put_size },
        { PLIM_STAT_INACTIVE_SPLIT_BYTES, "Non-releasable memory", put_size },
        { PLIM_STAT_ALLOCATION, "Allocations", put_count },
        { PLIM_STAT_ACTIVE, "Active allocs", put_count },
        { PLIM_STAT_SEGMENT, "GPU reserved segments", put_count },
        { PLIM_STAT_INACTIVE_SPLIT, "Non-releasable allocs", put_count },
    };
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        const plim_stat *const slots = stats->families[metrics[i].family];
        const plim_stat *const total = &slots[PLIM_SLOT_ALL];
        put_cell *const cell = metrics[i].cell;
        put_rule(out, '-');
        put_row(out, metrics[i].name, cell, total, total);
        if (!is_abbreviated) {
            put_row(out, "      from large pool", cell, &slots[PLIM_SLOT_LARGE], total);
            put_row(out, "      from small pool", cell, &slots[PLIM_SLOT_SMALL], total);
        }
    }
}

static void put_oversize(plim_fixed_text *out, const char *name, const plim_stat *stat)
{
    put_rule(out, '-');
    put_row(out, name, put_count, stat, stat);
}

size_t plim_memory_summary(const plim_device_stats *stats, int32_t device, bool is_abbreviated,
                           char *text, size_t bytes)
{
    plim_fixed_text out = plim_fixed_text_begin(text, bytes);
    put_rule(&out, '=');
    plim_fixed_text_put(&out, "|%18sPyTorch CUDA memory summary, device ID %-17" PRId32 " |\n", "",
                        device);
    put_rule(&out, '-');
    plim_fixed_text_put(
        &out, "|%12sCUDA OOMs: %-12" PRId64 " | %6s cudaMalloc retries: %-8" PRId64 "  |\n", "",
        stats->num_ooms, "", stats->num_alloc_retries);
    put_rule(&out, '=');
    plim_fixed_text_put(
        &out, "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n");
    put_families(&out, stats, is_abbreviated);
    put_oversize(&out, "Oversize allocations", &stats->oversize_allocations);
    put_oversize(&out, "Oversize GPU segments", &stats->oversize_segments);
    put_rule(&out, '=');
    return out.length;
}
