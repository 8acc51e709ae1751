/*
 * policy.c - the policies by their names.
 */
#include "alloc/policy.h"

static const struct {
    const char *name;
    const char *text;
} policies[] = {
#define PLIM_POLICY_ROW(code, name, text) [code] = { name, text },
    PLIM_POLICY_LIST(PLIM_POLICY_ROW)
#undef PLIM_POLICY_ROW
};

const char *plim_policy_name(plim_policy_kind policy)
{
    return (size_t)policy < PLIM_POLICY_COUNT ? policies[policy].name : "unknown";
}

const char *plim_policy_text(plim_policy_kind policy)
{
    return (size_t)policy < PLIM_POLICY_COUNT ? policies[policy].text : "unknown";
}
