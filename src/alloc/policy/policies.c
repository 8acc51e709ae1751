/*
 * policies.c - the policies by name. See policies.h.
 */
#include "alloc/policy/policies.h"

static const char *const names[] = {
#define PLIM_POLICY_ROW(code, name) [code] = (name),
    PLIM_POLICY_LIST(PLIM_POLICY_ROW)
#undef PLIM_POLICY_ROW
};

const char *plim_policy_name(plim_policy_kind policy)
{
    return (size_t)policy < PLIM_POLICY_COUNT ? names[policy] : "unknown";
}

const plim_policy *plim_policy_of(plim_policy_kind kind)
{
    static const plim_policy *const policies[] = {
        [PLIM_POLICY_TORCH] = &plim_policy_torch, [PLIM_POLICY_NAIVE] = &plim_policy_naive,
        [PLIM_POLICY_BFC] = &plim_policy_bfc,     [PLIM_POLICY_ASYNC] = &plim_policy_async,
        [PLIM_POLICY_ARENA] = &plim_policy_arena,
    };
    _Static_assert(sizeof policies / sizeof policies[0] == PLIM_POLICY_COUNT, "one for each name");
    return (size_t)kind < PLIM_POLICY_COUNT ? policies[kind] : NULL;
}
