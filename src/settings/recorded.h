/*
 * recorded.h - settings as files have them: names and values, one after the other.
 *
 *   plim_recorded_settings recorded = { .conf = "" };
 *   plim_recorded_setting_add(&recorded, group, name, value);    for each, in order
 *   settings = plim_recorded_settings_in_force(&recorded);
 *
 * A file says them twice: the string that was parsed last, which has what is not written down
 * otherwise (large_segment_size_mb), and values of some settings, which know of earlier strings
 * too. So the values go over the string.
 *
 * Files may hold anything: a value that no parse would have let through is passed over.
 */
#ifndef PLIMSOLL_SETTINGS_RECORDED_H
#define PLIMSOLL_SETTINGS_RECORDED_H

#include "plimsoll/settings.h"

typedef struct plim_recorded_settings {
    plim_settings values;
    uint32_t given;                          /* bit i: values has plim_setting_key i */
    uint32_t in_bytes;                       /* bit i: under its name in snapshots */
    char conf[2 * PLIM_SETTINGS_TEXT_BYTES]; /* the string; "": not recorded */
} plim_recorded_settings;

/*
 * recorded  a plim_recorded_settings; a history hands out its settings to such a function
 *           (plim_setting_words_each())
 * group   of a table, "" outside
 * value   as in a settings string: True, 67108864, 0.8; "" for none
 */
void plim_recorded_setting_add(void *recorded, const char *group, const char *name,
                               const char *value);
/* What was in force: the string, or the defaults where it does not parse, and the values over it.
 */
plim_settings plim_recorded_settings_in_force(const plim_recorded_settings *recorded);
/* The values, over what the string said. */
void plim_recorded_settings_apply(const plim_recorded_settings *recorded, plim_settings *settings);
/* True if the string begins with a word that stands alone: it names another allocator than
 * PyTorch's ("bfc", "rmm"). */
bool plim_recorded_settings_name_other(const plim_recorded_settings *recorded);
/* True if a key has a value of its own. */
bool plim_recorded_settings_have(const plim_recorded_settings *recorded, plim_setting_key key);

/* True if a recorded value is what PyTorch has where a program sets nothing. Settings that the
 * table does not know are off by default: none, False, 0, -1 or "". */
bool plim_recorded_setting_is_default(const char *name, const char *value);

#endif
