/*
 * rules.h - how a frame's caller is found, remembered for every return address that was met.
 *
 * On x86-64 nearly every call site has a rule of one shape: the frame ends (its CFA lies) at a
 * fixed distance from rsp or rbp, the return address is the word below that end, and rbp is
 * either untouched or saved at a fixed distance from it. What fits is packed into 64 bits and
 * found again without a lock. Other machines have no rules yet.
 */
#ifndef PLIMSOLL_UNWIND_RULES_H
#define PLIMSOLL_UNWIND_RULES_H

#include <stdbool.h>
#include <stdint.h>

/*
 *   63           32 31          16 15       4 3         2          1   0
 *  | CFA distance  | rbp distance |    0     | saves rbp | from rbp | kind |
 */
typedef uint64_t plim_rule;

typedef enum plim_rule_kind {
    PLIM_RULE_OTHER, /* of another shape, or not known: for the compiler's unwinder */
    PLIM_RULE_STEP,  /* to the caller, as above */
    PLIM_RULE_END,   /* nobody called this */
} plim_rule_kind;

static inline plim_rule_kind plim_rule_get_kind(plim_rule rule)
{
    return (plim_rule_kind)(rule & 3u);
}

static inline bool plim_rule_is_from_rbp(plim_rule rule)
{
    return (rule & 4u) != 0;
}

static inline bool plim_rule_saves_rbp(plim_rule rule)
{
    return (rule & 8u) != 0;
}

/* Of the frame's end from the register; and of the saved rbp from the frame's end. */
static inline uint64_t plim_rule_cfa_distance(plim_rule rule)
{
    return (uint64_t)(int64_t)(int32_t)(uint32_t)(rule >> 32);
}

static inline uint64_t plim_rule_rbp_distance(plim_rule rule)
{
    return (uint64_t)(int64_t)(int16_t)(uint16_t)(rule >> 16);
}

/*
 * The rule of the frame that a call returns to. Known ones take no lock; one that is met for the
 * first time is read from the module's file, unless another thread is just doing that:
 * then it is PLIM_RULE_OTHER this once. So nobody ever waits here.
 */
plim_rule plim_rule_find(uint64_t return_address);

#endif
