/*
 * release.h - which releases of PyTorch know settings, and which one made a recording.
 *
 * A line that the user's PyTorch refuses does not help.
 */
#ifndef PLIMSOLL_SETTINGS_RELEASE_H
#define PLIMSOLL_SETTINGS_RELEASE_H

#include "plimsoll/release.h"
#include "plimsoll/settings.h"

/* The first release that knows all keys that the last parse named; 0: it named none. */
uint32_t plim_settings_since(const plim_settings *settings);

/* The newest release that words such as "PyTorch 2.5 to 2.7" name; UINT32_MAX: they name none, or
 * say that it may be newer. */
uint32_t plim_release_of(const char *words);

#endif
