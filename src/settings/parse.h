/*
 * parse.h - plim_settings_parse(), for callers whose strings may hold more than PyTorch's.
 */
#ifndef PLIMSOLL_SETTINGS_PARSE_H
#define PLIMSOLL_SETTINGS_PARSE_H

#include "base/fixed_text.h"
#include "settings/reader.h"
#include "settings/table.h"

/*
 * What else a word may be that is not a key. Where a pair would begin, the reader stands at the
 * word: `take` steps over it, with what belongs to it and the comma after that, or leaves it.
 */
typedef struct plim_settings_extra {
    plim_status (*take)(void *ctx, plim_settings_reader *reader, bool *ret_taken);
    void *ctx;
} plim_settings_extra;

/*
 * source   begins every message: "settings", or the name of a variable
 * extra    NULL: nothing else
 */
plim_status plim_settings_parse_from(const char *source, const char *text,
                                     const plim_settings_extra *extra, plim_settings *settings,
                                     plim_error *err);

/*
 * A value that stands alone, as files have them: True, 67108864, 0.8.
 *
 * unit      of a size, in bytes: 1 or MiB; -1 is no limit
 * settings  gets it, whatever the lower bound, which may depend on what is read later
 * returns   whether it is a value of this setting
 */
bool plim_settings_read_value(const plim_setting_row *row, const char *value, uint64_t unit,
                              plim_settings *settings);

/* --- between the files of the room --- */

/* roundup_power2_divisions: a number for all intervals, or a list, which leaves what it does not
 * name. The entries are changed even when it fails. */
plim_status plim_settings_read_divisions(plim_settings_reader *reader,
                                         uint64_t divisions[PLIM_ROUNDUP_INTERVALS]);
/* The value that gives these, from a start of zeros. */
void plim_settings_put_divisions(plim_fixed_text *out,
                                 const uint64_t divisions[PLIM_ROUNDUP_INTERVALS]);

/* True if a variable of this name holds settings. */
bool plim_settings_is_variable(const char *name);

#endif
