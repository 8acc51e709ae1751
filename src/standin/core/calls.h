/*
 * calls.h - the facades of this process, what their functions are, and how often they are called.
 *
 * The facades count. Their counts are brought to the stage now and then while the program takes
 * memory, and when it exits; so a program that is killed loses the last moments, no more.
 */
#ifndef PLIMSOLL_STANDIN_CORE_CALLS_H
#define PLIMSOLL_STANDIN_CORE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plim_standin_vendor {
    const char *stem;   /* of the soname: "libcublas" */
    long not_supported; /* what its functions return for what they cannot do */
    bool computes;      /* any call may write device memory */
} plim_standin_vendor;

/* Of "libcublas.so.13"; never NULL: an unknown library computes, and returns 1. */
const plim_standin_vendor *plim_standin_vendor_of(const char *soname);

/* The stand-in of that name, or NULL; by way of its facade if there is one, so that calls are
 * counted. */
void *plim_standin_find_counted(const char *name);

void plim_standin_calls_flush(void);
/* The same if the last time was a while ago; cheap enough for every allocation. */
void plim_standin_calls_flush_now_and_then(void);

/* Number of calls of libraries that compute: it grows when device memory may have changed. */
uint64_t plim_standin_calls_computing(void);

#endif
