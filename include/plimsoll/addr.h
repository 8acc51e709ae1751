/*
 * plimsoll/addr.h - how the memory of a device is named.
 */
#ifndef PLIMSOLL_ADDR_H
#define PLIMSOLL_ADDR_H

#include <stdint.h>

typedef uint64_t plim_addr;   /* a device address: never dereferenced, hence no pointer */
typedef uint64_t plim_stream; /* a stream's native handle; 0 is the default stream */

/* A memory pool, as PyTorch names it: {0,0} is the default pool, {0,n} one a program made, {n,0}
 * one that a graph capture made. */
typedef struct plim_pool_id {
    uint64_t a;
    uint64_t b;
} plim_pool_id;

#endif
