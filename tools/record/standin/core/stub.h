/*
 * stub.h - functions that do nothing. Most return 0, "success" in all of these libraries.
 *
 *   PLIM_STANDIN_STUB(name)            a default: nobody has looked at it
 *   PLIM_STANDIN_REFUSAL(name, status) a default that fails: it is asked for a number,
 *                                      and callers would use what they find otherwise
 *   PLIM_STANDIN_NOTHING(name)         looked at, and doing nothing is right
 *
 * generate_stubs.py writes a file per vendor library that is a list of the first
 * two kinds; the third stands in hand-written files. Two properties carry them:
 *
 * - A default is weak: a hand-written function of the same name wins when the
 *   library is linked, so nobody keeps a list of what is hand-written.
 * - Parameters are left out. In the x86-64 and AArch64 calling conventions the
 *   caller removes its own arguments, so a callee may ignore them. A full
 *   register is returned, so that 0 is also NULL.
 */
#ifndef PLIM_STANDIN_CORE_STUB_H
#define PLIM_STANDIN_CORE_STUB_H

#include "core/trace.h"

/* Says so once in the trace, because a default may be a gap. */
#define PLIM_STANDIN_STUB(name) PLIM_STANDIN_REFUSAL(name, 0)

#define PLIM_STANDIN_REFUSAL(name, status)                                      \
    long name(void);                                                            \
    __attribute__((weak)) long name(void)                                       \
    {                                                                           \
        static atomic_bool seen;                                                \
        plim_standin_trace_default(PLIM_STANDIN_LIBRARY, #name, status, &seen); \
        return status;                                                          \
    }

#define PLIM_STANDIN_NOTHING(name) \
    long name(void);               \
    long name(void)                \
    {                              \
        return 0;                  \
    }

#endif
