/*
 * settings_key.h - which setting a word names, or may have been meant to name.
 */
#ifndef PLIMSOLL_ALLOC_SETTINGS_KEY_H
#define PLIMSOLL_ALLOC_SETTINGS_KEY_H

#include "plimsoll/settings.h"

/*
 * Knows the aliases too.
 *
 * returns   whether the word is a key
 * ret_name  the word itself as a constant, which is not the key's name where it is an alias
 */
bool plim_setting_key_find(const char *word, plim_setting_key *ret_key, const char **ret_name);
/* The name that is nearest to a word that is none, or NULL when nothing is near. */
const char *plim_setting_key_nearest(const char *word);

#endif
