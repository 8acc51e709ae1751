/*
 * peak_place.h - where in its step the peak is, and what would be left without its burst.
 */
#ifndef PLIMSOLL_DIAGNOSE_COMPOSITION_PEAK_PLACE_H
#define PLIMSOLL_DIAGNOSE_COMPOSITION_PEAK_PLACE_H

#include "diagnose/case/case.h"

/* Fills one->out->peak_place. Linear in events. False: no memory. */
bool plim_place_peak(plim_case *one);

#endif
