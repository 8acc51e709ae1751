/*
 * assert.c - the end of a program that broke its own promise.
 */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void plim_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "plimsoll: internal error: %s does not hold (%s:%d); please report it\n",
            condition, file, line);
    abort();
}
