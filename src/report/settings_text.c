/*
 * settings_text.c - telling defaults from choices.
 *
 * Nearly every setting is off by default: none, false, 0, -1 or "". The exceptions are below, as
 * in PyTorch 2.3 to 2.14 (CUDAAllocatorConfig.h, AllocatorConfig.h).
 */
#include "report/settings_text.h"

#include "base/size.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    double value;
} defaults[] = {
    { "pinned_num_register_threads", 1 },        { "per_process_memory_fraction", 1 },
    { "large_segment_size", 20 << 20 },          { "large_segment_size_mb", 20 },
    { "max_non_split_rounding_size", 20 << 20 }, { "max_non_split_rounding_mb", 20 },
};

static bool is_default_number(const char *name, double value)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (strcmp(defaults[i].name, name) == 0) {
            return !(value < defaults[i].value) && !(value > defaults[i].value);
        }
    }
    return !(value > 0.0); /* 0 and -1 */
}

bool plim_setting_is_default(const plim_history *history, const plim_setting *setting)
{
    const char *name = plim_history_string(history, setting->name, NULL);
    switch (setting->kind) {
    case PLIM_SETTING_NONE:
        return true;
    case PLIM_SETTING_INTEGER:
        return is_default_number(name, (double)setting->value.integer);
    case PLIM_SETTING_REAL:
        return is_default_number(name, setting->value.real);
    case PLIM_SETTING_BOOLEAN:
        return !setting->value.boolean;
    case PLIM_SETTING_TEXT:
        return plim_history_string(history, setting->value.text, NULL)[0] == '\0';
    }
    return false;
}

/* Settings in bytes say so in their name; those in MB end in _mb. */
static bool is_size(const char *name)
{
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, "_size") == 0;
}

static void add_value(plim_text *out, const plim_history *history, const plim_setting *setting)
{
    switch (setting->kind) {
    case PLIM_SETTING_NONE:
        plim_text_append_string(out, "None");
        break;
    case PLIM_SETTING_INTEGER:
        if (is_size(plim_history_string(history, setting->name, NULL))) {
            plim_text_append_string(out, plim_format_bytes((uint64_t)setting->value.integer).text);
        } else {
            plim_text_append_format(out, "%" PRId64, setting->value.integer);
        }
        break;
    case PLIM_SETTING_REAL:
        plim_text_append_format(out, "%g", setting->value.real);
        break;
    case PLIM_SETTING_BOOLEAN:
        plim_text_append_string(out, setting->value.boolean ? "True" : "False");
        break;
    case PLIM_SETTING_TEXT:
        plim_text_append_string(out, plim_history_string(history, setting->value.text, NULL));
        break;
    }
}

void plim_settings_text_add(plim_text *out, const plim_history *history)
{
    uint64_t count = 0;
    const plim_setting *settings = plim_history_settings(history, &count);
    const char *separator = "";
    for (uint64_t i = 0; i < count; i++) {
        const plim_setting *setting = &settings[i];
        if (plim_setting_is_default(history, setting)) {
            continue;
        }
        plim_text_append_string(out, separator);
        separator = ", ";
        if (setting->group != PLIM_NONE) {
            plim_text_append_format(out,
                                    "%s[%s]=", plim_history_string(history, setting->group, NULL),
                                    plim_history_string(history, setting->name, NULL));
        } else {
            plim_text_append_format(out, "%s=", plim_history_string(history, setting->name, NULL));
        }
        add_value(out, history, setting);
    }
}
