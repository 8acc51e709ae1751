/*
 * format.c - settings as a string that says only what is not the default.
 */
#include "settings/divisions.h"
#include "settings/table.h"

#include "base/assert.h"
#include "base/decimal.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct output {
    char *text;
    size_t bytes;
    size_t length; /* of all that was put, whether it fits or not */
} output;

static void put(output *out, const char *string)
{
    for (; *string != '\0'; string++, out->length++) {
        if (out->length + 1 < out->bytes) {
            out->text[out->length] = *string;
        }
    }
}

static void put_number(output *out, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    put(out, text);
}

static void put_reserve(output *out, const plim_settings *settings)
{
    const uint64_t bytes = settings->expandable_segments_reserve_bytes;
    put(out, plim_format_decimal(bytes != 0 ? (double)bytes / (double)GIB
                                            : settings->expandable_segments_reserve_fraction)
                 .text);
    put(out, bytes != 0 ? "G" : "");
}

static void put_value(output *out, const plim_settings *settings, const plim_setting_row *row)
{
    const void *const value = plim_setting_value(settings, row);
    char text[PLIM_DIVISIONS_TEXT_BYTES];
    switch (row->type) {
    case PLIM_TYPE_BOOL: /* False is the default of each */
        put(out, "True");
        break;
    case PLIM_TYPE_MB:
        put_number(out, *(const uint64_t *)value / MIB);
        break;
    case PLIM_TYPE_COUNT:
        put_number(out, *(const uint64_t *)value);
        break;
    case PLIM_TYPE_FRACTION:
        put(out, plim_format_decimal(*(const double *)value).text);
        break;
    case PLIM_TYPE_DIVISIONS:
        plim_settings_format_divisions(value, text);
        put(out, text);
        break;
    case PLIM_TYPE_BACKEND:
        put(out, "cudaMallocAsync");
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
    PLIM_ASSERT(text != NULL || bytes == 0);

    /* A parse resets one of them to the large segment's size before it looks for the key. */
    plim_settings initial = plim_settings_default();
    initial.max_non_split_rounding_bytes = settings->large_segment_bytes;
    output out = { .text = text, .bytes = bytes };
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        const plim_setting_row *const row = &plim_setting_rows[i];
        if (!plim_setting_equal(settings, &initial, row)) {
            put(&out, out.length == 0 ? "" : ",");
            put(&out, row->name);
            put(&out, ":");
            put_value(&out, settings, row);
        }
    }
    if (bytes > 0) {
        text[out.length < bytes ? out.length : bytes - 1] = '\0';
    }
    return out.length;
}
