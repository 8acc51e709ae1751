/*
 * rounding.c - power-of-two divisions, and the settings that ask for them.
 *
 * The rule is that of pytorch-caching-allocator §1.1: a request above 512 times the divisions d
 * of its interval goes up to the next multiple of p / d, where p is the power of two at or below
 * it and d is cut down to a power of two.
 */
#include "diagnose/rounding.h"

#include "base/ascii.h"

#include <string.h>

#define LOG2_MIB 20u

static uint32_t log2_floor(uint64_t value)
{
    uint32_t log2 = 0;
    for (uint32_t step = 32; step > 0; step /= 2) {
        if (value >> step != 0) {
            value >>= step;
            log2 += step;
        }
    }
    return log2;
}

/* The interval of a key: "1", "2", "4", … "32768" are where each begins, in MiB. */
static uint32_t interval_of(const char *key)
{
    uint64_t mib = 0;
    for (const char *c = key; plim_is_digit(*c) && mib < UINT32_MAX; c++) {
        mib = mib * 10 + (uint64_t)(*c - '0');
    }
    const uint32_t log2 = log2_floor(mib);
    return log2 < PLIM_ROUNDING_INTERVALS ? log2 : PLIM_ROUNDING_INTERVALS - 1;
}

/* Sets the intervals `first` to `last` to a setting's value. */
static void set_divisions(plim_rounding *rounding, uint32_t first, uint32_t last,
                          const plim_setting *setting)
{
    const int64_t value = setting->kind == PLIM_SETTING_INTEGER ? setting->value.integer : 0;
    for (uint32_t i = first; i <= last; i++) {
        rounding->divisions[i] = value > 0 ? (uint64_t)value : 0;
    }
    rounding->has_divisions = rounding->has_divisions || value > 1;
}

plim_rounding plim_rounding_of(const plim_history *history)
{
    static const char wanted[] = "roundup_power2_divisions";
    plim_rounding rounding = { 0 };
    uint64_t count = 0;
    const plim_setting *const settings = plim_history_settings(history, &count);
    for (uint64_t i = 0; i < count; i++) {
        const char *const name = plim_history_string(history, settings[i].name, NULL);
        if (strcmp(plim_history_string(history, settings[i].group, NULL), wanted) == 0) {
            const uint32_t interval = interval_of(name);
            set_divisions(&rounding, interval, interval, &settings[i]);
        } else if (strcmp(name, wanted) == 0) { /* one number for all */
            set_divisions(&rounding, 0, PLIM_ROUNDING_INTERVALS - 1, &settings[i]);
        }
    }
    return rounding;
}

static uint64_t round_to(uint64_t bytes, uint64_t step)
{
    const uint64_t rest = bytes & (step - 1);
    if (rest == 0) {
        return bytes;
    }
    const uint64_t missing = step - rest;
    return bytes > UINT64_MAX - missing ? UINT64_MAX : bytes + missing;
}

uint64_t plim_round_divided(const plim_rounding *rounding, uint64_t bytes)
{
    if (bytes < PLIM_BLOCK_BYTES_MIN) {
        return PLIM_BLOCK_BYTES_MIN;
    }
    const uint32_t log2 = log2_floor(bytes);
    const uint32_t above = log2 > LOG2_MIB ? log2 - LOG2_MIB : 0;
    const uint32_t last = PLIM_ROUNDING_INTERVALS - 1;
    const uint64_t divisions = rounding->divisions[above < last ? above : last];
    /* bytes > 512 * divisions, without the product; then a step is never below 512. */
    if (divisions < 2 || divisions > (bytes - 1) / PLIM_BLOCK_BYTES_MIN) {
        return round_to(bytes, PLIM_BLOCK_BYTES_MIN);
    }
    return round_to(bytes, ((uint64_t)1 << log2) >> log2_floor(divisions));
}
