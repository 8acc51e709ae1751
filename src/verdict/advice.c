/*
 * advice.c - the table of fixes.
 */
#include "verdict/advice.h"

plim_status plim_advise(const plim_oom_case *oom, const plim_judgement *judgement,
                        plim_arena *arena, const plim_advice **ret, size_t *ret_count,
                        plim_error *err)
{
    (void)oom, (void)judgement, (void)arena, (void)err;
    *ret = NULL;
    *ret_count = 0;
    return PLIM_OK;
}

plim_status plim_advise_leak(plim_oom_family family, uint32_t in_force, plim_arena *arena,
                             const plim_advice **ret, size_t *ret_count, plim_error *err)
{
    (void)family, (void)in_force, (void)arena, (void)err;
    *ret = NULL;
    *ret_count = 0;
    return PLIM_OK;
}
