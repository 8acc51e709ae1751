/*
 * trouble.h - what these programs do when they cannot go on: say so and end, with status 3.
 */
#ifndef BENCH_SNAPSHOT_LOAD_TROUBLE_H
#define BENCH_SNAPSHOT_LOAD_TROUBLE_H

#include <stdio.h>
#include <stdlib.h>

/* `which` may be NULL. */
_Noreturn static inline void fail(const char *what, const char *which)
{
    fprintf(stderr, "make_snapshot: %s%s%s\n", what, which != NULL ? ": " : "",
            which != NULL ? which : "");
    exit(3);
}

/* Memory that was requested, if there was any. */
static inline void *must(void *memory)
{
    if (memory == NULL) {
        fail("out of memory", NULL);
    }
    return memory;
}

#endif
