/* standin.h - what the stand-ins of the test tell of themselves. */
#ifndef PLIMSOLL_TESTS_FACADE_PLAY_STANDIN_H
#define PLIMSOLL_TESTS_FACADE_PLAY_STANDIN_H

#include "facade/table.h"

#define UNKNOWN_RESULT 77

/* Calls of a function through the facade of this name; -1: it has no such function. */
int64_t play_count(const char *soname, const char *name);
/* The last function that was called and has no stand-in. */
const char *play_last_unknown(void);

#endif
