/*
 * fix.c - the lists of fixes in their order, and a percentage for rows that print one.
 */
#include "advice/fix.h"

#include "base/hash.h" /* plim_uint128 */

/*
 * What speaks of the user's own program comes before what holds everywhere: a server's switch
 * before the hunt for processes, and that before general measures.
 */
static const plim_fix_list *const lists[] = {
    &plim_fixes_torch, &plim_fixes_serving, &plim_fixes_frameworks, &plim_fixes_processes,
    &plim_fixes_host,  &plim_fixes_not_oom, &plim_fixes_any,
};

size_t plim_fix_list_count(void)
{
    return sizeof lists / sizeof lists[0];
}

const plim_fix_list *plim_fix_list_at(size_t index)
{
    return lists[index];
}

uint64_t plim_fix_percent(uint64_t part, uint64_t whole, bool up)
{
    if (part == PLIM_BYTES_UNKNOWN || whole == PLIM_BYTES_UNKNOWN || whole == 0) {
        return 0;
    }
    const plim_uint128 hundredfold = (plim_uint128)part * 100 + (up ? whole - 1 : 0);
    const plim_uint128 percent = hundredfold / whole;
    return percent > UINT64_MAX ? UINT64_MAX : (uint64_t)percent;
}

bool plim_fix_may_be(const plim_judgement *judgement, plim_verdict verdict)
{
    bool found = judgement->verdict == verdict;
    for (size_t i = 0; i < judgement->alternative_count && i < PLIM_VERDICT_COUNT; i++) {
        found = found || judgement->alternatives[i] == verdict;
    }
    return found;
}
