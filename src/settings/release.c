/*
 * release.c - see release.h.
 */
#include "settings/release.h"

#include "base/ascii.h"
#include "settings/table.h"

#include <stdlib.h>
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

uint32_t plim_release_of(const char *words)
{
    static const char digits[] = "0123456789";
    uint32_t newest = UINT32_MAX;
    for (const char *at = strpbrk(words, digits); at != NULL; at = strpbrk(at, digits)) {
        char *end = NULL;
        const unsigned long major = strtoul(at, &end, 10);
        unsigned long minor = 99; /* 1.x */
        if (end[0] == '.' && plim_is_digit(end[1])) {
            minor = strtoul(end + 1, &end, 10);
        }
        newest = PLIM_TORCH(major, minor);
        at = end;
    }
    return strstr(words, "newer") != NULL ? UINT32_MAX : newest;
}
