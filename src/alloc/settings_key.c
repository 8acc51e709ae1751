/*
 * settings_key.c - names of settings, their aliases, and what a mistyped one is near to.
 *
 * Nearness is the edit distance (Wagner, Fischer 1974), upper and lower case being the same. Up to
 * a third of a name may be missing or wrong; with more, a suggestion is a guess.
 */
#include "alloc/settings_key.h"

#include <string.h>

#define KEY_LENGTH_MAX 63

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

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many characters to insert, remove or replace to make one of the other. */
static size_t distance(const char *word, const char *name)
{
    size_t row[KEY_LENGTH_MAX + 1]; /* distances of the word so far to every start of the name */
    const size_t length = min(strlen(name), KEY_LENGTH_MAX);
    for (size_t j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (size_t i = 0; word[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= length; j++) {
            const size_t replaced = diagonal + (lower(word[i]) != lower(name[j - 1]));
            diagonal = row[j];
            row[j] = min(replaced, min(row[j], row[j - 1]) + 1);
        }
    }
    return row[length];
}

const char *plim_setting_key_nearest(const char *word)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        const size_t away = distance(word, names[i].name);
        if (away < nearest_distance && away <= strlen(names[i].name) / 3) {
            nearest = names[i].name;
            nearest_distance = away;
        }
    }
    return nearest;
}
