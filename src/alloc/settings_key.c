/*
 * settings_key.c - names of settings, their aliases, and what a mistyped one is near to.
 *
 * Up to a third of a name may be missing or wrong; with more, a suggestion is a guess.
 */
#include "alloc/settings_key.h"

#include "base/edit_distance.h"

#include <stdint.h>
#include <string.h>

/* The aliases first, ROCm's names: a word is compared with all of them. */
static const struct {
    const char *name;
    plim_setting_key key;
} names[] = { { "release_lock_on_hipmalloc", PLIM_KEY_RELEASE_LOCK_ON_CUDAMALLOC },
              { "pinned_use_hip_host_register", PLIM_KEY_PINNED_USE_CUDA_HOST_REGISTER },
#define NAME_ROW(code, name, acts) { name, code },
              PLIM_SETTING_KEY_LIST(NAME_ROW)
#undef NAME_ROW
};
#define NAME_COUNT (sizeof names / sizeof names[0])

bool plim_setting_key_find(const char *word, plim_setting_key *ret_key, const char **ret_name)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(names[i].name, word) == 0) {
            *ret_key = names[i].key;
            *ret_name = names[i].name;
            return true;
        }
    }
    return false;
}

const char *plim_setting_key_nearest(const char *word)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        const size_t away = plim_edit_distance(word, names[i].name);
        if (away < nearest_distance && away <= strlen(names[i].name) / 3) {
            nearest = names[i].name;
            nearest_distance = away;
        }
    }
    return nearest;
}
