/*
 * hash.h - hashes of integers and bytes, keyed, so that no file can be written to collide.
 *
 * The key is random in each process; no output may depend on the order it gives. The mixing is
 * a 64x64 -> 128 bit multiply folded onto itself, as in wyhash (Wang Yi, public domain).
 */
#ifndef PLIMSOLL_BASE_HASH_H
#define PLIMSOLL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A fresh random key. */
uint64_t plim_hash_key(void);

uint64_t plim_hash_bytes(const void *data, size_t bytes, uint64_t key);

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 plim_uint128;
static inline uint64_t plim_hash_fold(uint64_t a, uint64_t b)
{
    const plim_uint128 product = (plim_uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
#else
#error "plimsoll needs a compiler with 128-bit integers"
#endif

/*
 * Two rounds with fixed multipliers: one round by a random multiplier has weak keys, for which
 * multiples of a block's size crowd into few slots.
 */
static inline uint64_t plim_hash_u64(uint64_t value, uint64_t key)
{
    const uint64_t once = plim_hash_fold(value ^ key, 0xa0761d6478bd642fu);
    return plim_hash_fold(once ^ key, 0xe7037ed1a0b428dbu);
}

#endif
