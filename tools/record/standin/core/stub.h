/*
 * stub.h - one default stand-in.
 *
 * generate_stubs.py writes a file per vendor library that is a list of
 * PLIM_STANDIN_STUB(name) lines. Each becomes a function that does nothing and
 * returns 0, "success" in every one of these libraries. Two properties carry it:
 *
 * - It is weak: a hand-written function of the same name wins when the library
 *   is linked, so nobody keeps a list of what is hand-written.
 * - Its parameters are left out. In the x86-64 and AArch64 calling conventions
 *   the caller removes its own arguments, so a callee may ignore them. It
 *   returns a full register, so that 0 is also NULL.
 */
#ifndef PLIM_STANDIN_CORE_STUB_H
#define PLIM_STANDIN_CORE_STUB_H

#include "core/trace.h"

#define PLIM_STANDIN_STUB(name)                                             \
    long name(void);                                                        \
    __attribute__((weak)) long name(void)                                   \
    {                                                                       \
        static atomic_bool seen;                                            \
        plim_standin_trace_default(PLIM_STANDIN_LIBRARY, #name, &seen);     \
        return 0;                                                           \
    }

#endif
