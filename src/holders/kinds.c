/*
 * kinds.c - names of the kinds of holders.
 */
#include "plimsoll/holders.h"

const char *plim_holder_kind_name(plim_holder_kind kind)
{
    static const char *const names[] = {
#define PLIM_HOLDER_KIND_NAME(code, name) name,
        PLIM_HOLDER_KIND_LIST(PLIM_HOLDER_KIND_NAME)
#undef PLIM_HOLDER_KIND_NAME
    };
    return (unsigned)kind < PLIM_HOLDER_KIND_COUNT ? names[kind] : names[PLIM_HOLDER_UNKNOWN];
}
