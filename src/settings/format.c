/*
 * format.c - settings as a string that says only what is not the default.
 */
#include "settings/parse.h"

#include "base/assert.h"
#include "base/decimal.h"
#include "base/units.h"

#include <inttypes.h>

static void put_reserve(plim_fixed_text *out, const plim_settings *settings)
{
    const uint64_t bytes = settings->expandable_segments_reserve_bytes;
    const double value =
        bytes != 0 ? (double)bytes / (double)GIB : settings->expandable_segments_reserve_fraction;
    plim_fixed_text_put(out, "%s%s", plim_format_decimal(value).text, bytes != 0 ? "G" : "");
}

static void put_value(plim_fixed_text *out, const plim_settings *settings,
                      const plim_setting_row *row)
{
    const void *const value = plim_setting_value(settings, row);
    switch (row->type) {
    case PLIM_TYPE_BOOL: /* False is the default of each */
        plim_fixed_text_put(out, "True");
        break;
    case PLIM_TYPE_MB:
        plim_fixed_text_put(out, "%" PRIu64, *(const uint64_t *)value / MIB);
        break;
    case PLIM_TYPE_COUNT:
        plim_fixed_text_put(out, "%" PRIu64, *(const uint64_t *)value);
        break;
    case PLIM_TYPE_FRACTION:
        plim_fixed_text_put(out, "%s", plim_format_decimal(*(const double *)value).text);
        break;
    case PLIM_TYPE_DIVISIONS:
        plim_settings_put_divisions(out, value);
        break;
    case PLIM_TYPE_BACKEND:
        plim_fixed_text_put(out, "cudaMallocAsync");
        break;
    case PLIM_TYPE_RESERVE:
        put_reserve(out, settings);
        break;
    case PLIM_TYPE_CLASSES:
        break;
    }
}

size_t plim_settings_format(const plim_settings *settings, char *text, size_t bytes)
{
    plim_fixed_text out = plim_fixed_text_begin(text, text != NULL ? bytes : 0);
    if (settings == NULL) {
        return 0;
    }
    /* A parse resets one of them to the large segment's size before it looks for the key. */
    plim_settings initial = plim_settings_default();
    initial.max_non_split_rounding_bytes = settings->large_segment_bytes;
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        const plim_setting_row *const row = &plim_setting_rows[i];
        if (!plim_setting_equal(settings, &initial, row)) {
            plim_fixed_text_put(&out, "%s%s:", out.length == 0 ? "" : ",", row->name);
            put_value(&out, settings, row);
        }
    }
    return out.length;
}
