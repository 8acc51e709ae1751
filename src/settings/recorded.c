/*
 * recorded.c - see recorded.h.
 */
#include "settings/recorded.h"

#include "base/decimal.h"
#include "base/units.h"
#include "settings/parse.h"

#include <stdio.h>
#include <string.h>

/* Finds the setting that a file's name means: in snapshots, sizes are in bytes under another. */
static bool find(const char *name, plim_setting_key *ret_key, bool *ret_in_bytes)
{
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        const plim_setting_row *const row = &plim_setting_rows[i];
        *ret_in_bytes = row->recorded != NULL && strcmp(row->recorded, name) == 0;
        if (*ret_in_bytes || strcmp(row->name, name) == 0) {
            *ret_key = (plim_setting_key)i;
            return true;
        }
    }
    return false;
}

/* One of a table by interval, "1" to "32768", all of which is in force. */
static void add_interval(plim_recorded_settings *recorded, const char *name, const char *value)
{
    uint64_t *const divisions = recorded->values.roundup_power2_divisions;
    uint64_t said = 0;
    plim_settings_reader reader;
    plim_settings_reader_init(&reader, "", value, NULL);
    if (plim_settings_read_power(&reader, "", true, UINT64_MAX, &said) != PLIM_OK) {
        return;
    }
    for (unsigned i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        char boundary[8];
        (void)snprintf(boundary, sizeof boundary, "%u", 1u << i);
        if (strcmp(boundary, name) == 0) {
            divisions[i] = said;
            recorded->given |= PLIM_SETTING_BIT(PLIM_KEY_ROUNDUP_POWER2_DIVISIONS);
        }
    }
}

void plim_recorded_setting_add(void *to, const char *group, const char *name, const char *value)
{
    plim_recorded_settings *const recorded = to;
    plim_setting_key key = PLIM_SETTING_KEY_COUNT;
    bool in_bytes = false;
    if (group[0] != '\0') {
        if (find(group, &key, &in_bytes) && key == PLIM_KEY_ROUNDUP_POWER2_DIVISIONS) {
            add_interval(recorded, name, value);
        }
    } else if (plim_settings_is_variable(name)) {
        const size_t length = strlen(value);
        memcpy(recorded->conf, value, length < sizeof recorded->conf ? length + 1 : 0);
    } else if (find(name, &key, &in_bytes) &&
               (in_bytes || (recorded->in_bytes & PLIM_SETTING_BIT(key)) == 0)) {
        const plim_setting_row *const row = &plim_setting_rows[key];
        const uint64_t unit = row->type == PLIM_TYPE_MB && !in_bytes ? MIB : 1;
        const bool is_good = plim_settings_read_value(row, value, unit, &recorded->values);
        recorded->given &= ~PLIM_SETTING_BIT(key);
        recorded->given |= (uint32_t)is_good << key;
        recorded->in_bytes |= (uint32_t)in_bytes << key;
    }
}

static void apply(const plim_recorded_settings *recorded, plim_setting_key key,
                  plim_settings *settings)
{
    const plim_setting_row *const row = &plim_setting_rows[key];
    const void *const value = plim_setting_value(&recorded->values, row);
    const bool is_below = row->type == PLIM_TYPE_MB &&
                          *(const uint64_t *)value < plim_setting_min_mb(settings, row) * MIB;
    if (plim_recorded_settings_have(recorded, key) && !is_below) {
        plim_setting_copy(settings, &recorded->values, key);
    }
}

void plim_recorded_settings_apply(const plim_recorded_settings *recorded, plim_settings *settings)
{
    apply(recorded, PLIM_KEY_LARGE_SEGMENT_SIZE_MB, settings); /* a bound of others */
    if (!plim_setting_is_given(settings, PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB)) {
        settings->max_non_split_rounding_bytes = settings->large_segment_bytes;
    }
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        apply(recorded, (plim_setting_key)i, settings);
    }
}

plim_settings plim_recorded_settings_in_force(const plim_recorded_settings *recorded)
{
    plim_settings settings = plim_settings_default();
    if (plim_settings_parse(recorded->conf, &settings, NULL) != PLIM_OK) {
        settings = plim_settings_default(); /* the values say it, too */
    }
    plim_recorded_settings_apply(recorded, &settings);
    return settings;
}

bool plim_recorded_settings_have(const plim_recorded_settings *recorded, plim_setting_key key)
{
    return (recorded->given & PLIM_SETTING_BIT(key)) != 0;
}

bool plim_recorded_setting_is_default(const char *name, const char *value)
{
    const plim_settings initial = plim_settings_default();
    plim_recorded_settings recorded = { .values = initial };
    plim_recorded_setting_add(&recorded, "", name, value);
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        if (plim_recorded_settings_have(&recorded, (plim_setting_key)i)) {
            return plim_setting_equal(&recorded.values, &initial, &plim_setting_rows[i]);
        }
    }
    const size_t length = strlen(value);
    return length == 0 || strcmp(value, "False") == 0 ||
           (plim_decimal_length(value) == length && !(plim_decimal_read(value) > 0));
}

bool plim_recorded_settings_name_other(const plim_recorded_settings *recorded)
{
    const size_t first = strcspn(recorded->conf, ":,");
    return recorded->conf[0] != '\0' && recorded->conf[first] != ':';
}
