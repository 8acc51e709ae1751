/* copy.c - see copy.h. Zeros and noise, not rubbish, so that two rehearsals of a program agree. */
#include "standin/core/copy.h"

#include "standin/core/host.h"
#include "standin/core/ranges.h"
#include "standin/core/shadow.h"
#include "standin/core/stage.h"
#include "standin/core/tally.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static uint64_t number_of(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

static bool is_on_device(const void *address)
{
    return plim_standin_is_device_address(number_of(address));
}

/* The words of a run are one sequence, started by the seed: splitmix64 (Steele et al., 2014). */
static float next_noise(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t drawn;
    (void)pthread_mutex_lock(&lock);
    drawn++;
    uint64_t z = plim_standin_settings()->seed + drawn * UINT64_C(0x9e3779b97f4a7c15);
    (void)pthread_mutex_unlock(&lock);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (float)(z >> 40) / (float)(1 << 24);
}

/* As much as may be a count, such as that of nonzero(), or the pair of a value and its place
 * by which torch.mode() finds an address: noise would ask for a thousand million elements. */
#define COUNTS_BYTES 16

/* Floats in [0, 1) where several words of 4 bytes are read, else zeros. */
static void make_values(void *target, size_t bytes)
{
    plim_standin_host_zero(target, bytes);
    if (!plim_standin_settings()->gives_values || bytes % sizeof(float) != 0 ||
        bytes <= COUNTS_BYTES) {
        return;
    }
    for (size_t at = 0; at < bytes; at += sizeof(float)) {
        const float value = next_noise();
        memcpy((char *)target + at, &value, sizeof(value));
    }
}

static atomic_uint_fast64_t made_up_values;

uint64_t plim_standin_made_up_values(void)
{
    return atomic_load_explicit(&made_up_values, memory_order_relaxed);
}

void plim_standin_copy(void *target, const void *source, size_t bytes)
{
    if (bytes == 0) {
        return;
    }
    if (is_on_device(target) && is_on_device(source)) {
        plim_standin_shadow_copy(target, source, bytes);
    } else if (is_on_device(target)) {
        static const char counted[] = "bytes to device";
        plim_standin_tally(counted, counted, bytes);
        plim_standin_shadow_write(number_of(target), source, bytes);
    } else if (is_on_device(source)) {
        static const char counted[] = "bytes to host";
        plim_standin_tally(counted, counted, bytes);
        make_values(target, bytes);
        if (plim_standin_shadow_read(target, number_of(source), bytes) < bytes) {
            (void)atomic_fetch_add_explicit(&made_up_values, 1, memory_order_relaxed);
        }
    } else {
        memmove(target, source, bytes);
    }
}

void plim_standin_tally_aside(const void *target, const void *source, size_t bytes)
{
    static const char to_device[] = "bytes to device aside";
    static const char to_host[] = "bytes to host aside";
    if (is_on_device(target) != is_on_device(source)) {
        const char *const counted = is_on_device(target) ? to_device : to_host;
        plim_standin_tally(counted, counted, bytes);
    }
}

void plim_standin_copy_rows(void *target, size_t target_pitch, const void *source,
                            size_t source_pitch, size_t row_bytes, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        plim_standin_copy((char *)target + row * target_pitch,
                          (const char *)source + row * source_pitch, row_bytes);
    }
}

void plim_standin_fill(void *target, int byte, size_t bytes)
{
    if (bytes == 0) {
        return;
    }
    if (is_on_device(target)) {
        plim_standin_shadow_fill(number_of(target), byte, bytes);
    } else {
        memset(target, byte, bytes);
    }
}

void plim_standin_fill_words(void *target, const void *word, size_t word_bytes, size_t count)
{
    unsigned char pattern[4096]; /* a multiple of every word */
    for (size_t at = 0; at < sizeof(pattern); at += word_bytes) {
        memcpy(pattern + at, word, word_bytes);
    }
    const size_t bytes = word_bytes * count;
    if (is_on_device(target) && bytes > PLIM_STANDIN_SHADOW_PIECE_BYTES) {
        plim_standin_shadow_forget(number_of(target), bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += sizeof(pattern)) {
        const size_t left = bytes - at;
        plim_standin_copy((char *)target + at, pattern,
                          left < sizeof(pattern) ? left : sizeof(pattern));
    }
}
