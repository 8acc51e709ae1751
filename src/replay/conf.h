/*
 * conf.h - what a replay is run under, and what a recording was made under.
 */
#ifndef PLIMSOLL_REPLAY_CONF_H
#define PLIMSOLL_REPLAY_CONF_H

#include "plimsoll/replay.h"

/* "": PyTorch's allocator as it comes. */
plim_conf plim_conf_default(void);

/*
 * The settings in force when a device's history was recorded: what the file says of them, and
 * what its segments show where it says nothing.
 *
 * returns  whether the file says anything
 */
bool plim_conf_of_history(const plim_history *history, const plim_device_history *device,
                          plim_conf *ret_conf);

/* True if two confs make every decision alike. */
bool plim_conf_equal(const plim_conf *a, const plim_conf *b);

#endif
