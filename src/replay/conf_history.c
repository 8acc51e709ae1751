/*
 * conf_history.c - the settings that a recording was made under: its string, its values over that,
 * and what its segments show where neither says it.
 */
#include "replay/conf.h"

#include "history/setting_words.h"
#include "settings/recorded.h"
#include "settings/table.h"

#include <string.h>

static plim_recorded_settings read_settings(const plim_history *history)
{
    plim_recorded_settings recorded = { .conf = "" };
    uint64_t count = 0;
    const plim_setting *const settings = plim_history_settings(history, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_setting_words words;
        plim_setting_words_of(history, &settings[i], &words);
        plim_recorded_setting_add(&recorded, words.group, words.name, words.value);
    }
    return recorded;
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
    const plim_recorded_settings recorded = read_settings(history);
    plim_conf conf = plim_conf_default();
    plim_settings *const settings = &conf.settings;
    /* PyTorch's, or the conf that a prediction was made under. */
    const bool has_string =
        recorded.conf[0] != '\0' && plim_conf_parse(recorded.conf, &conf, NULL) == PLIM_OK;
    plim_recorded_settings_apply(&recorded, settings);

    const bool says_expandable =
        plim_setting_is_given(settings, PLIM_KEY_EXPANDABLE_SEGMENTS) ||
        plim_recorded_settings_have(&recorded, PLIM_KEY_EXPANDABLE_SEGMENTS);
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
    uint64_t count = 0;
    (void)plim_history_settings(history, &count);
    return count > 0;
}
