/*
 * torch_release.h - which releases of PyTorch know a setting, and which one made a recording.
 *
 * A line that the user's PyTorch refuses saves nobody.
 */
#ifndef PLIMSOLL_REPLAY_TORCH_RELEASE_H
#define PLIMSOLL_REPLAY_TORCH_RELEASE_H

#include "plimsoll/replay.h"

/* The first release that knows all a conf names, as PLIM_TORCH(2, 11); 0: any that has such a
 * variable. Source: pytorch-caching-allocator §9.2. */
uint32_t plim_torch_needed(const plim_conf *conf);

/* The newest release a history can be from, by what its source tells; UINT32_MAX: nothing does. */
uint32_t plim_torch_of_history(const plim_history *history);

#endif
