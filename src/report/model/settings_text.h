/*
 * settings_text.h - the allocator's settings, as far as they are not PyTorch's defaults.
 */
#ifndef PLIMSOLL_REPORT_MODEL_SETTINGS_TEXT_H
#define PLIMSOLL_REPORT_MODEL_SETTINGS_TEXT_H

#include "base/text.h"

#include "plimsoll/history.h"

/**
 * Add "expandable_segments=True, max_split_size=512 MiB": all that differ, "" if none does.
 *
 * Names and values are as untrusted as the history; zero bytes end them.
 */
void plim_settings_text_add(plim_text *out, const plim_history *history);

/**
 * Likewise add those that `other` has with another value, or lacks and that are not the defaults.
 *
 * Of each history the first 256 settings are compared.
 */
void plim_settings_text_add_other(plim_text *out, const plim_history *history,
                                  const plim_history *other);

#endif
