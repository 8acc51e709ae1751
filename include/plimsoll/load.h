/*
 * plimsoll/load.h - a history from a file of any kind, and to one.
 */
#ifndef PLIMSOLL_LOAD_H
#define PLIMSOLL_LOAD_H

#include "plimsoll/history.h"

#include <stdbool.h>

PLIM_BEGIN_DECLS

/**
 * Read a snapshot of PyTorch's, a trace or raw memory timeline of its profiler, a recording of
 * Plimsoll's or a log of RMM: what it is, its bytes decide. Each may be compressed with gzip, zstd,
 * xz or bzip2 (the last two where the library was built with liblzma and libbz2). JSON may be
 * UTF-16.
 *
 * path         a file, or "-" for standard input
 * options      may be NULL; they mean the same for recordings
 * ret_history  the caller's, until plim_history_destroy()
 * errors       those of plim_snapshot_load() and plim_recording_load()
 */
PLIM_API PLIM_MUST_USE plim_status plim_history_load(const char *path,
                                                     const plim_load_options *options,
                                                     plim_history **ret_history, plim_error *err);

/** True for FILE.plim and FILE.pickle. */
PLIM_API bool plim_history_can_save(const char *path);

/**
 * Write a history as FILE.plim, a recording, or as FILE.pickle, a snapshot of PyTorch's.
 *
 * path    its end decides
 * errors  PLIM_INVALID_ARGUMENT: another end; those of plim_recording_save() and
 *         plim_snapshot_save()
 */
PLIM_API PLIM_MUST_USE plim_status plim_history_save(const plim_history *history, const char *path,
                                                     plim_error *err);

PLIM_END_DECLS

#endif
