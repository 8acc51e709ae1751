/*
 * rounding.c - rounding.h's rules as functions that anyone may call.
 */
#include "settings/rounding.h"

plim_rounding plim_rounding_of(const plim_settings *settings)
{
    plim_rounding rounding = { .has_divisions = false };
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        rounding.divisions[i] = settings->roundup_power2_divisions[i];
        rounding.has_divisions |= rounding.divisions[i] > 1; /* 0 and 1 mean none */
    }
    return rounding;
}

uint64_t plim_round_size(const plim_settings *settings, uint64_t bytes)
{
    const plim_rounding rounding =
        settings != NULL ? plim_rounding_of(settings) : (plim_rounding){ .has_divisions = false };
    return plim_round(&rounding, bytes);
}

uint64_t plim_segment_size(const plim_settings *settings, uint64_t rounded_bytes)
{
    if (rounded_bytes > PLIM_REQUEST_BYTES_END) {
        return rounded_bytes;
    }
    const plim_settings initial = plim_settings_default();
    return plim_segment_for(settings != NULL ? settings : &initial, rounded_bytes);
}
