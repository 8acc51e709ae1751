/*
 * carry.h - what a prediction has from its recording: everything that tells of the program and not
 * of the allocator.
 */
#ifndef PLIMSOLL_REPLAY_CARRY_H
#define PLIMSOLL_REPLAY_CARRY_H

#include "history/builder.h"
#include "plimsoll/replay.h"

/* Strings, frames, stacks and streams, each under the number it has in `from`; `to` is new. */
plim_status plim_carry_tables(const plim_history *from, plim_history *to, plim_error *err);

/* The spans that the program named. Numbers of strings are those of `from`. */
plim_status plim_carry_annotations(const plim_history *from, plim_history *to, plim_error *err);

/* Where the history comes from: a replay of what `from` came from. */
plim_status plim_carry_source(const plim_history *from, plim_history *to, plim_error *err);

/* The settings of an allocator's snapshot, said by the text of a conf. */
plim_status plim_carry_settings(const plim_history *snapshot, const plim_conf *conf,
                                plim_history *to, plim_error *err);

#endif
