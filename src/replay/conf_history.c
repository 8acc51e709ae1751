/*
 * conf_history.c - the settings a recording was made under.
 *
 * A file says them twice: the string that was parsed last, which has what nobody wrote down
 * otherwise (large_segment_size_mb), and values of some settings, which know of earlier strings
 * too. So the values go over the string. What neither says can still show in the segments.
 *
 * Files may hold anything: a string that does not parse, or a value that no parse would have let
 * through, is passed over.
 */
#include "replay/conf.h"

#include "base/units.h"

#include <string.h>

#define LARGE_SEGMENT_BYTES_MIN (11 * MIB) /* large_segment_size_mb must be > 10 */

/* What a file says of its settings. */
typedef struct recorded_settings {
    const plim_history *history;
    const plim_setting *items;
    uint64_t count;
} recorded_settings;

static bool is_power_of_2(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* The last setting of that name outside tables, or NULL. */
static const plim_setting *find(const recorded_settings *recorded, const char *name)
{
    for (uint64_t i = recorded->count; i-- > 0;) {
        const plim_setting *const setting = &recorded->items[i];
        if (setting->group == PLIM_NONE &&
            strcmp(plim_history_string(recorded->history, setting->name, NULL), name) == 0) {
            return setting;
        }
    }
    return NULL;
}

static void overlay_bool(const recorded_settings *recorded, const char *name, bool *value)
{
    const plim_setting *const setting = find(recorded, name);
    if (setting != NULL && setting->kind == PLIM_SETTING_BOOLEAN) {
        *value = setting->value.boolean;
    }
}

/* Files have bytes, some releases MB under another name. */
static void overlay_bytes(const recorded_settings *recorded, const char *name, const char *mb_name,
                          uint64_t bytes_min, uint64_t *bytes)
{
    const plim_setting *setting = find(recorded, name);
    uint64_t unit = 1;
    if (setting == NULL) {
        setting = find(recorded, mb_name);
        unit = MIB;
    }
    if (setting == NULL || setting->kind != PLIM_SETTING_INTEGER) {
        return;
    }
    const int64_t value = setting->value.integer;
    if (value >= 0 && (uint64_t)value <= UINT64_MAX / unit && (uint64_t)value * unit >= bytes_min) {
        *bytes = (uint64_t)value * unit;
    }
}

static void overlay_fraction(const recorded_settings *recorded, const char *name, double below,
                             double *value)
{
    const plim_setting *const setting = find(recorded, name);
    if (setting == NULL) {
        return;
    }
    double said = -1;
    if (setting->kind == PLIM_SETTING_REAL) {
        said = setting->value.real;
    } else if (setting->kind == PLIM_SETTING_INTEGER) {
        said = (double)setting->value.integer;
    }
    if (said >= 0 && said < below) {
        *value = said;
    }
}

/* A table by interval, "1" to "32768": all of it is in force, and nothing of the string's. */
static void overlay_divisions(const recorded_settings *recorded, uint64_t *divisions)
{
    uint64_t said[PLIM_ROUNDUP_INTERVALS] = { 0 };
    bool has_table = false;
    for (uint64_t i = 0; i < recorded->count; i++) {
        const plim_setting *const setting = &recorded->items[i];
        if (setting->group == PLIM_NONE || setting->kind != PLIM_SETTING_INTEGER ||
            strcmp(plim_history_string(recorded->history, setting->group, NULL),
                   plim_setting_key_name(PLIM_KEY_ROUNDUP_POWER2_DIVISIONS)) != 0) {
            continue;
        }
        static const char *const intervals[PLIM_ROUNDUP_INTERVALS] = {
            "1",   "2",   "4",    "8",    "16",   "32",   "64",    "128",
            "256", "512", "1024", "2048", "4096", "8192", "16384", "32768",
        };
        const char *const name = plim_history_string(recorded->history, setting->name, NULL);
        const uint64_t value = (uint64_t)setting->value.integer;
        for (size_t at = 0; at < PLIM_ROUNDUP_INTERVALS; at++) {
            if (strcmp(name, intervals[at]) == 0 && (value == 0 || is_power_of_2(value))) {
                said[at] = value;
                has_table = true;
            }
        }
    }
    if (has_table) {
        memcpy(divisions, said, sizeof said);
    }
}

/* The string, if it parses: PyTorch's, or what a prediction was made under. */
static bool parse_string(const recorded_settings *recorded, plim_conf *conf)
{
    static const char *const names[] = { "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF",
                                         "PYTORCH_HIP_ALLOC_CONF" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const plim_setting *const setting = find(recorded, names[i]);
        if (setting == NULL || setting->kind != PLIM_SETTING_TEXT) {
            continue;
        }
        size_t bytes = 0;
        const char *const text =
            plim_history_string(recorded->history, setting->value.text, &bytes);
        if (strlen(text) == bytes && plim_conf_parse(text, conf, NULL) == PLIM_OK) {
            return true;
        }
    }
    return false;
}

static void overlay(const recorded_settings *recorded, plim_settings *settings)
{
    overlay_bytes(recorded, "large_segment_size", "large_segment_size_mb", LARGE_SEGMENT_BYTES_MIN,
                  &settings->large_segment_bytes);
    if ((settings->given & ((uint32_t)1 << PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB)) == 0) {
        settings->max_non_split_rounding_bytes = settings->large_segment_bytes;
    }
    const plim_setting *const split = find(recorded, "max_split_size");
    if (split != NULL && split->kind == PLIM_SETTING_INTEGER && split->value.integer == -1) {
        settings->max_split_bytes = PLIM_UNLIMITED;
    }
    overlay_bytes(recorded, "max_split_size", "max_split_size_mb", settings->large_segment_bytes,
                  &settings->max_split_bytes);
    overlay_bytes(recorded, "max_non_split_rounding_size", "max_non_split_rounding_mb",
                  settings->large_segment_bytes, &settings->max_non_split_rounding_bytes);
    overlay_fraction(recorded, "garbage_collection_threshold", 1.0,
                     &settings->garbage_collection_threshold);
    overlay_fraction(recorded, "per_process_memory_fraction", 1.0,
                     &settings->per_process_memory_fraction);
    overlay_divisions(recorded, settings->roundup_power2_divisions);
    overlay_bool(recorded, "expandable_segments", &settings->expandable_segments);
    overlay_bool(recorded, "release_lock_on_cudamalloc", &settings->release_lock_on_cudamalloc);
    overlay_bool(recorded, "throw_on_cudamalloc_oom", &settings->throw_on_cudamalloc_oom);
    overlay_bool(recorded, "graph_capture_record_stream_reuse",
                 &settings->graph_capture_record_stream_reuse);
    overlay_bool(recorded, "pinned_use_cuda_host_register",
                 &settings->pinned_use_cuda_host_register);
}

/* Whether segments of the device grew page by page. */
static bool shows_expandable(const plim_device_history *device)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        if (device->segments[i].is_expandable) {
            return true;
        }
    }
    const plim_events *const events = &device->events;
    return events->count > 0 &&
           memchr(events->action, PLIM_SEGMENT_MAP, (size_t)events->count) != NULL;
}

bool plim_conf_of_history(const plim_history *history, const plim_device_history *device,
                          plim_conf *ret_conf)
{
    recorded_settings recorded = { .history = history };
    recorded.items = plim_history_settings(history, &recorded.count);
    plim_conf conf = plim_conf_default();
    plim_settings *const settings = &conf.settings;
    const bool has_string = parse_string(&recorded, &conf);
    overlay(&recorded, settings);

    const bool says_expandable =
        (settings->given & ((uint32_t)1 << PLIM_KEY_EXPANDABLE_SEGMENTS)) != 0 ||
        find(&recorded, "expandable_segments") != NULL;
    if (!says_expandable && conf.policy == PLIM_POLICY_TORCH) {
        settings->expandable_segments = shows_expandable(device);
    }
    if (conf.policy == PLIM_POLICY_TORCH || settings->backend != PLIM_BACKEND_NATIVE) {
        plim_settings_format(settings, conf.text, sizeof conf.text);
    }
    if (!has_string) {
        plim_settings_format(settings, settings->text, sizeof settings->text);
    }
    *ret_conf = conf;
    return recorded.count > 0;
}
