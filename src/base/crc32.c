/*
 * crc32.c - CRC-32, sixteen bytes at a time.
 *
 * tables[k][b] is the checksum of the byte b followed by k zero bytes. Checksums of bytes at
 * different places add up by exclusive or, so that sixteen lookups that do not wait for each other
 * take sixteen bytes ("slicing": Kounavis and Berry, 2005).
 */
#include "base/crc32.h"

#include <pthread.h>

#define SLICES          16
#define POLYNOMIAL_BACK 0xedb88320u /* bits reversed: the lowest bit of a byte comes first */

static uint32_t tables[SLICES][256]; /* constant once made */
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t sum = i;
        for (int bit = 0; bit < 8; bit++) {
            sum = (sum & 1) != 0 ? sum >> 1 ^ POLYNOMIAL_BACK : sum >> 1;
        }
        tables[0][i] = sum;
    }
    for (size_t k = 1; k < SLICES; k++) {
        for (size_t i = 0; i < 256; i++) {
            const uint32_t before = tables[k - 1][i];
            tables[k][i] = before >> 8 ^ tables[0][before & 0xff];
        }
    }
}

uint32_t plim_crc32(const void *data, size_t bytes)
{
    const uint8_t *at = data;
    uint32_t sum = UINT32_MAX;
    (void)pthread_once(&tables_once, make_tables);
    for (; bytes >= SLICES; bytes -= SLICES, at += SLICES) {
        uint32_t next = 0;
        for (size_t i = 0; i < 4; i++) {
            next ^= tables[15 - i][at[i] ^ (sum >> 8 * i & 0xff)];
        }
        for (size_t i = 4; i < SLICES; i++) {
            next ^= tables[15 - i][at[i]];
        }
        sum = next;
    }
    for (; bytes > 0; bytes--, at++) {
        sum = sum >> 8 ^ tables[0][(sum ^ *at) & 0xff];
    }
    return ~sum;
}
