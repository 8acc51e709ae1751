/*
 * cpu.h - what the processor at hand can do beyond plain C: the one place that names its parts.
 *
 * A function marked PLIM_TARGET_SSSE3 may only be called when plim_cpu_has_ssse3(); there is
 * always a plain one beside it that gives the same bytes, and tests compare them.
 */
#ifndef PLIMSOLL_BASE_CPU_H
#define PLIMSOLL_BASE_CPU_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define PLIM_HAS_X86_VECTORS 1
#define PLIM_TARGET_SSSE3    __attribute__((target("ssse3")))
static inline bool plim_cpu_has_ssse3(void)
{
    return __builtin_cpu_supports("ssse3") != 0;
}
#else
#define PLIM_HAS_X86_VECTORS 0
static inline bool plim_cpu_has_ssse3(void)
{
    return false;
}
#endif

#endif
