/*
 * torch_release.c - see torch_release.h.
 */
#include "replay/torch_release.h"

#include "base/ascii.h"

#include <string.h>

static const struct {
    plim_setting_key key;
    uint32_t release;
} since[] = {
    { PLIM_KEY_EXPANDABLE_SEGMENTS, PLIM_TORCH(2, 1) },
    { PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB, PLIM_TORCH(2, 6) },
    { PLIM_KEY_PER_PROCESS_MEMORY_FRACTION, PLIM_TORCH(2, 10) },
    { PLIM_KEY_LARGE_SEGMENT_SIZE_MB, PLIM_TORCH(2, 11) },
    { PLIM_KEY_THROW_ON_CUDAMALLOC_OOM, PLIM_TORCH(2, 12) },
};

uint32_t plim_torch_needed(const plim_conf *conf)
{
    uint32_t needed = 0;
    for (size_t i = 0; i < sizeof since / sizeof since[0]; i++) {
        const bool is_given = (conf->settings.given & ((uint32_t)1 << since[i].key)) != 0;
        if (is_given && since[i].release > needed) {
            needed = since[i].release;
        }
    }
    return conf->policy == PLIM_POLICY_TORCH ? needed : 0;
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

uint32_t plim_torch_of_history(const plim_history *history)
{
    const char *at = plim_history_source(history).generation; /* "PyTorch 2.5 to 2.7" */
    uint32_t newest = UINT32_MAX;
    if (at == NULL || strstr(at, "newer") != NULL) {
        return newest;
    }
    while (*at != '\0') {
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
