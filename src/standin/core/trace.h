/*
 * trace.h - what the stand-ins made up, for those who want to see it.
 *
 * If the rehearsal prints calls, stand-ins say on stderr where they guessed. Otherwise nothing.
 */
#ifndef PLIMSOLL_STANDIN_CORE_TRACE_H
#define PLIMSOLL_STANDIN_CORE_TRACE_H

/* One line on stderr, "plimsoll: " before it. */
void plim_standin_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
