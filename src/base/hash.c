/*
 * hash.c - keyed hashing of bytes, 16 at a time.
 */
#include "base/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#define MIX_A 0xa0761d6478bd642fu
#define MIX_B 0xe7037ed1a0b428dbu

uint64_t plim_hash_key(void)
{
    uint64_t key = 0;
    if (getrandom(&key, sizeof key, GRND_NONBLOCK) != (ssize_t)sizeof key) {
        /* Early boot or a sandbox: weaker, and still not known to who wrote the file. */
        struct timespec now = { 0 };
        clock_gettime(CLOCK_MONOTONIC, &now);
        key = plim_hash_fold((uint64_t)now.tv_nsec ^ MIX_A, (uintptr_t)&key ^ MIX_B);
    }
    return key | 1u;
}

static uint64_t load(const unsigned char *data, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, data, bytes);
    return value;
}

uint64_t plim_hash_bytes(const void *data, size_t bytes, uint64_t key)
{
    const unsigned char *p = data;
    uint64_t hash = key ^ plim_hash_fold(bytes ^ MIX_A, key ^ MIX_B);
    size_t left = bytes;
    while (left >= 16) {
        hash = plim_hash_fold(load(p, 8) ^ MIX_A ^ hash, load(p + 8, 8) ^ key);
        p += 16;
        left -= 16;
    }
    const uint64_t low = left >= 8 ? load(p, 8) : load(p, left);
    const uint64_t high = left > 8 ? load(p + 8, left - 8) : 0;
    return plim_hash_fold(low ^ MIX_B ^ hash, high ^ key ^ MIX_A);
}
