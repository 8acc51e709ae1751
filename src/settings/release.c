/*
 * release.c - see release.h.
 */
#include "settings/release.h"

#include "base/ascii.h"
#include "settings/table.h"

#include <string.h>

uint32_t plim_settings_since(const plim_settings *settings)
{
    uint32_t since = 0;
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        const plim_setting_row *const row = &plim_setting_rows[i];
        if (plim_setting_is_given(settings, (plim_setting_key)i) && row->since > since) {
            since = row->since;
        }
    }
    return since;
}

/* The number that begins at a place, and where it ends. */
static uint32_t read_number(const char **at)
{
    uint32_t number = 0;
    for (; plim_is_digit(**at) && number < 1000; (*at)++) {
        number = number * 10 + (uint32_t)(**at - '0');
    }
    return number;
}

uint32_t plim_release_of(const char *words)
{
    uint32_t newest = UINT32_MAX;
    if (strstr(words, "newer") != NULL) {
        return newest;
    }
    for (const char *at = words; *at != '\0';) {
        if (!plim_is_digit(*at)) {
            at++;
            continue;
        }
        const uint32_t major = read_number(&at);
        const bool has_minor = at[0] == '.' && plim_is_digit(at[1]);
        at += has_minor;
        const uint32_t minor = has_minor ? read_number(&at) : 99; /* 1.x */
        newest = PLIM_TORCH(major, minor);
    }
    return newest;
}
