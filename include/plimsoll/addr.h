/*
 * plimsoll/addr.h - how the memory of a device is named.
 */
#ifndef PLIMSOLL_ADDR_H
#define PLIMSOLL_ADDR_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t plim_addr;   /* a device address: never dereferenced, hence no pointer */
typedef uint64_t plim_stream; /* a stream's native handle; 0 is the default stream */

/* A memory pool, as PyTorch names it: {0,0} is the default pool, {0,n} one a program made, {n,0}
 * one that a graph capture made. */
typedef struct plim_pool_id {
    uint64_t a;
    uint64_t b;
} plim_pool_id;

static inline bool plim_pool_ids_equal(plim_pool_id left, plim_pool_id right)
{
    return left.a == right.a && left.b == right.b;
}

static inline bool plim_pool_is_default(plim_pool_id pool)
{
    return pool.a == 0 && pool.b == 0;
}

#endif
