/*
 * settings.c - what the settings are before anybody says anything, and the names of the keys.
 */
#include "plimsoll/settings.h"

#include "base/assert.h"

#define LARGE_SEGMENT_BYTES ((uint64_t)20 << 20) /* kLargeBuffer */

plim_settings plim_settings_default(void)
{
    return (plim_settings){
        .max_split_bytes = PLIM_UNLIMITED,
        .max_non_split_rounding_bytes = LARGE_SEGMENT_BYTES,
        .large_segment_bytes = LARGE_SEGMENT_BYTES,
        .per_process_memory_fraction = 1.0,
        .pinned_num_register_threads = 1,
        .pinned_max_round_threshold_bytes = PLIM_UNLIMITED,
        .pinned_max_cached_bytes = PLIM_UNLIMITED,
    };
}

static const struct {
    const char *name;
    bool acts;
} keys[PLIM_SETTING_KEY_COUNT] = {
#define KEY_ROW(code, key_name, key_acts) [code] = { .name = (key_name), .acts = (key_acts) },
    PLIM_SETTING_KEY_LIST(KEY_ROW)
#undef KEY_ROW
};

const char *plim_setting_key_name(plim_setting_key key)
{
    PLIM_ASSERT(key < PLIM_SETTING_KEY_COUNT);
    return keys[key].name;
}

bool plim_setting_key_acts(plim_setting_key key)
{
    PLIM_ASSERT(key < PLIM_SETTING_KEY_COUNT);
    return keys[key].acts;
}
