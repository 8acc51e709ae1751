/*
 * test_hash.c - hashes depend on every byte, on the length and on the key.
 */
#include "harness.h"

#include "base/hash.h"

static void keys_are_odd_and_differ(void)
{
    const uint64_t first = plim_hash_key();
    T_EQ_U64(first & 1, 1);
    T_TRUE(first != plim_hash_key());
}

static void equal_bytes_hash_alike_wherever_they_are(void)
{
    unsigned char text[200];
    unsigned char copy[208];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)t_random();
    }
    const uint64_t key = plim_hash_key();
    for (size_t bytes = 0; bytes <= sizeof text; bytes++) {
        for (size_t shift = 0; shift < 8; shift++) {
            memcpy(copy + shift, text, bytes);
            T_EQ_U64(plim_hash_bytes(copy + shift, bytes, key), plim_hash_bytes(text, bytes, key));
        }
    }
}

static void every_bit_and_the_length_matter(void)
{
    unsigned char text[70] = { 0 };
    const uint64_t key = plim_hash_key();
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        T_CASE("%zu bytes", bytes);
        const uint64_t hash = plim_hash_bytes(text, bytes, key);
        T_TRUE(hash != plim_hash_bytes(text, bytes + 1, key)); /* one zero more */
        T_TRUE(hash != plim_hash_bytes(text, bytes, key + 2));
        for (size_t bit = 0; bit < bytes * 8; bit++) {
            text[bit / 8] ^= (unsigned char)(1u << bit % 8);
            T_TRUE(hash != plim_hash_bytes(text, bytes, key));
            text[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
}

/* Addresses are multiples of 512 or 2 MiB: their low bits must not decide where they go. */
static void regular_numbers_spread_over_the_low_bits(void)
{
    const uint64_t key = plim_hash_key();
    for (unsigned shift = 0; shift <= 40; shift += 4) {
        T_CASE("multiples of 2^%u", shift);
        uint32_t counts[64] = { 0 };
        for (uint64_t i = 0; i < UINT64_C(64) * 256; i++) {
            counts[plim_hash_u64(i << shift, key) & 63]++;
        }
        for (size_t i = 0; i < T_COUNT(counts); i++) {
            T_TRUE(counts[i] > 256 - 160); /* ten standard deviations */
            T_TRUE(counts[i] < 256 + 160);
        }
    }
}

T_MAIN(T_TEST(keys_are_odd_and_differ), T_TEST(equal_bytes_hash_alike_wherever_they_are),
       T_TEST(every_bit_and_the_length_matter), T_TEST(regular_numbers_spread_over_the_low_bits))
