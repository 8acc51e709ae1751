/*
 * settings_parse.h - plim_settings_parse() under another name for where the text comes from.
 */
#ifndef PLIMSOLL_ALLOC_SETTINGS_PARSE_H
#define PLIMSOLL_ALLOC_SETTINGS_PARSE_H

#include "plimsoll/settings.h"

/* `source` begins every message: "settings", or the name of a variable. */
plim_status plim_settings_parse_from(const char *source, const char *text, plim_settings *settings,
                                     plim_error *err);

#endif
