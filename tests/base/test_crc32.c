/*
 * test_crc32.c - checksums beside zlib's, at every length and alignment that the loop knows.
 */
#include "base/crc32.h"
#include "harness.h"

#include <zlib.h>

static void agrees_with_zlib(void)
{
    uint8_t data[600];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)t_random();
    }
    for (size_t from = 0; from < 20; from++) {
        for (size_t bytes = 0; bytes < 100; bytes++) {
            T_CASE("%zu bytes from %zu", bytes, from);
            T_EQ_U64(plim_crc32(data + from, bytes), crc32_z(0, data + from, bytes));
        }
    }
    T_EQ_U64(plim_crc32(data, sizeof data), crc32_z(0, data, sizeof data));
}

static void has_the_standard_check_value(void)
{
    T_EQ_U64(plim_crc32("123456789", 9), 0xcbf43926);
}

T_MAIN(T_TEST(agrees_with_zlib), T_TEST(has_the_standard_check_value))
