/*
 * parts.h - the readers of the profiler's exports, each into a history that profiler.c has made.
 */
#ifndef PLIMSOLL_PROFILER_PARTS_H
#define PLIMSOLL_PROFILER_PARTS_H

#include "profiler/read.h"

/* Errors of both: those of plim_profiler_read(). */
plim_status plim_profiler_read_trace(plim_input *input, const plim_load_options *options,
                                     plim_history *history, plim_error *err);
plim_status plim_profiler_read_timeline(plim_input *input, const plim_load_options *options,
                                        plim_history *history, plim_error *err);

#endif
