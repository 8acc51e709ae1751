/*
 * rounding.c - rounding.h's rules as functions anybody may call.
 */
#include "alloc/rounding.h"

uint64_t plim_round_size(const plim_settings *settings, uint64_t bytes)
{
    PLIM_ASSERT(bytes > 0);
    PLIM_ASSERT(bytes < PLIM_REQUEST_BYTES_END);
    return plim_round_with(settings, bytes);
}

uint64_t plim_segment_size(const plim_settings *settings, uint64_t rounded_bytes)
{
    PLIM_ASSERT(rounded_bytes > 0);
    PLIM_ASSERT(rounded_bytes <= PLIM_REQUEST_BYTES_END);
    return plim_segment_for(settings, rounded_bytes);
}
