/*
 * settings.c - allocator_settings, whatever keys it has.
 */
#include "torch/import.h"

#include "base/error.h"
#include "plimsoll/settings.h"

static plim_status push_setting(plim_import *import, uint32_t group, plim_value key,
                                plim_value value, plim_error *err)
{
    plim_setting setting = { .group = group };
    PLIM_TRY(plim_import_string(import, key, &setting.name, err));
    if (setting.name == PLIM_NONE) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
        return PLIM_OK;
    }
    bool boolean = false;
    int64_t integer = 0;
    double real = 0;
    if (plim_value_bool(value, &boolean)) {
        setting.kind = PLIM_SETTING_BOOLEAN;
        setting.value.boolean = boolean;
    } else if (plim_value_i64(value, &integer)) {
        setting.kind = PLIM_SETTING_INTEGER;
        setting.value.integer = integer;
    } else if (plim_value_real(value, &real)) {
        setting.kind = PLIM_SETTING_REAL;
        setting.value.real = real;
    } else if (plim_value_kind(value) == PLIM_KIND_STRING) {
        setting.kind = PLIM_SETTING_TEXT;
        PLIM_TRY(plim_import_string(import, value, &setting.value.text, err));
    } else if (plim_value_kind(value) != PLIM_KIND_NONE) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
    }
    return plim_history_push_setting(import->history, &setting, err);
}

static plim_status push_group(plim_import *import, plim_value key, plim_value table,
                              plim_error *err)
{
    uint32_t group = PLIM_NONE;
    PLIM_TRY(plim_import_string(import, key, &group, err));
    const uint64_t count = plim_value_pairs(table);
    for (uint64_t i = 0; i < count; i++) {
        PLIM_TRY(push_setting(import, group, plim_value_pair_key(table, i),
                              plim_value_pair_value(table, i), err));
    }
    return PLIM_OK;
}

plim_status plim_import_settings(plim_import *import, plim_value settings, plim_error *err)
{
    const uint64_t count = plim_value_pairs(settings);
    import->facts.has_settings = count > 0;
    for (uint64_t i = 0; i < count; i++) {
        const plim_value key = plim_value_pair_key(settings, i);
        const plim_value value = plim_value_pair_value(settings, i);
        import->facts.has_stream_reuse |= plim_value_is_string(
            key, plim_setting_key_name(PLIM_KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE));
        PLIM_TRY(plim_value_kind(value) == PLIM_KIND_DICT
                     ? push_group(import, key, value, err)
                     : push_setting(import, PLIM_NONE, key, value, err));
    }
    return PLIM_OK;
}
