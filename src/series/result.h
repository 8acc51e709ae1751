/*
 * result.h - what is reported of the tracks: units settled, steps judged, in order.
 */
#ifndef PLIMSOLL_SERIES_RESULT_H
#define PLIMSOLL_SERIES_RESULT_H

#include "series/tracks.h"

/** As plim_series_reader_finish(). */
PLIM_MUST_USE plim_status plim_series_results(const plim_series_tracks *tracks,
                                              const plim_series_capacity *capacity,
                                              plim_arena *arena, const plim_series **ret,
                                              size_t *ret_count, plim_error *err);

#endif
