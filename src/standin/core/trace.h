/*
 * trace.h - what the stand-ins made up, for those who want to see it.
 *
 * With PLIM_STANDIN_TRACE=1 in the environment every default stand-in names
 * itself on stderr the first time it is called, and hand-written ones say where
 * they guessed. Without it nothing is printed.
 */
#ifndef PLIM_STANDIN_CORE_TRACE_H
#define PLIM_STANDIN_CORE_TRACE_H

#include <stdatomic.h>

#if defined(__GNUC__)
#define PLIM_STANDIN_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define PLIM_STANDIN_PRINTF(string, first)
#endif

/* One line on stderr, "standin: " before it, if tracing is on. */
void plim_standin_trace(const char *format, ...) PLIM_STANDIN_PRINTF(1, 2);

#endif
