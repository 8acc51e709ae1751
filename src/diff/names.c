/*
 * names.c - names and meanings of the enumerations of plimsoll/diff.h.
 */
#include "base/assert.h"
#include "plimsoll/diff.h"

typedef struct named {
    const char *name;
    const char *text;
} named;

#define ROW(code, name, text) { name, text },
static const named moments[] = { PLIM_DIFF_MOMENT_LIST(ROW) };
static const named matches[] = { PLIM_DIFF_MATCH_LIST(ROW) };
#undef ROW

const char *plim_diff_moment_name(plim_diff_moment_kind kind)
{
    PLIM_ASSERT((size_t)kind < PLIM_DIFF_MOMENT_COUNT);
    return moments[kind].name;
}

const char *plim_diff_moment_text(plim_diff_moment_kind kind)
{
    PLIM_ASSERT((size_t)kind < PLIM_DIFF_MOMENT_COUNT);
    return moments[kind].text;
}

const char *plim_diff_match_name(plim_diff_match match)
{
    PLIM_ASSERT((size_t)match < PLIM_DIFF_MATCH_COUNT);
    return matches[match].name;
}

const char *plim_diff_match_text(plim_diff_match match)
{
    PLIM_ASSERT((size_t)match < PLIM_DIFF_MATCH_COUNT);
    return matches[match].text;
}
