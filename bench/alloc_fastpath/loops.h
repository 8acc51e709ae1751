/*
 * loops.h - what an allocator is made to do while it is timed, and with which sizes.
 *
 * Included by measures.h only, after side_malloc() and side_free().
 */
#ifndef PLIM_BENCH_LOOPS_H
#define PLIM_BENCH_LOOPS_H

#include "base/units.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLOTS      32
#define SIZES      64
#define SCRIPT_OPS 8192
#define SEED       UINT64_C(0x9E3779B97F4A7C15)

/* One step of a script: free what is in the slot, then allocate `bytes` into it (0: nothing). */
typedef struct bench_step {
    uint64_t bytes;
    uint64_t slot;
} bench_step;

/* What one thread works on. */
typedef struct bench_work {
    uint64_t stream;
    uint64_t bytes;    /* of pairs */
    bench_step *steps; /* of scripts */
    size_t step_count;
    uint64_t pairs_per_script;
    uint64_t slots[SLOTS];
    uint64_t *live; /* of churns */
    uint64_t *live_bytes;
    uint64_t live_count;
    uint64_t sizes[SIZES];
    uint64_t random;
} bench_work;

static void die(const char *text)
{
    fprintf(stderr, "alloc_fastpath: %s\n", text);
    exit(1);
}

static inline uint64_t now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x;
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return (uint64_t)(((random_next(state) >> 32) * bound) >> 32);
}

static void *take(size_t count, size_t bytes)
{
    void *taken = calloc(count, bytes);
    if (taken == NULL) {
        die("out of memory");
    }
    return taken;
}

static void work_free(bench_work *work)
{
    free(work->steps);
    free(work->live);
    free(work->live_bytes);
    free(work);
}

/* --- loops: each does about `pairs` pairs and returns how many it did --- */

typedef uint64_t bench_loop(bench_work *work, uint64_t pairs);

static uint64_t loop_pair(bench_work *work, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        side_free(side_malloc(work->bytes, work->stream));
    }
    return pairs;
}

static uint64_t loop_script(bench_work *work, uint64_t pairs)
{
    uint64_t done = 0;
    while (done < pairs) {
        for (size_t i = 0; i < work->step_count; i++) {
            const bench_step *step = &work->steps[i];
            uint64_t *slot = &work->slots[step->slot];
            if (*slot != 0) {
                side_free(*slot);
            }
            *slot = step->bytes == 0 ? 0 : side_malloc(step->bytes, work->stream);
        }
        done += work->pairs_per_script;
    }
    return done;
}

/* A live block picked at random goes, another of its size comes. */
static uint64_t loop_renew(bench_work *work, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        const uint64_t at = random_below(&work->random, work->live_count);
        side_free(work->live[at]);
        work->live[at] = side_malloc(work->live_bytes[at], work->stream);
    }
    return pairs;
}

/* A live block picked at random goes, another of any size comes. */
static uint64_t loop_churn(bench_work *work, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        const uint64_t at = random_below(&work->random, work->live_count);
        side_free(work->live[at]);
        work->live[at] = side_malloc(work->sizes[random_below(&work->random, SIZES)], work->stream);
    }
    return pairs;
}

/* --- what they work on --- */

/* Sizes of all magnitudes alike between 2^from and 2^to, seldom round ones. */
static void sizes_fill(bench_work *work, unsigned from, unsigned to)
{
    for (size_t i = 0; i < SIZES; i++) {
        const unsigned bit = from + (unsigned)random_below(&work->random, to - from);
        const uint64_t low = (uint64_t)1 << bit;
        work->sizes[i] = low + random_below(&work->random, low);
    }
}

static void script_begin(bench_work *work)
{
    work->steps = (bench_step *)take(SCRIPT_OPS + SLOTS, sizeof *work->steps);
    sizes_fill(work, 9, 25);
}

static void script_add(bench_work *work, uint64_t slot, bool is_alloc)
{
    bench_step *step = &work->steps[work->step_count++];
    step->slot = slot;
    step->bytes = is_alloc ? work->sizes[random_below(&work->random, SIZES)] : 0;
    work->pairs_per_script += is_alloc ? 1 : 0;
}

/* The oldest of 32 goes, a new one comes. */
static void script_fifo(bench_work *work)
{
    script_begin(work);
    for (uint64_t i = 0; i < SCRIPT_OPS; i++) {
        script_add(work, i % SLOTS, true);
    }
}

/* Up to 32 are piled up and taken down again, like the activations of a model. */
static void script_lifo(bench_work *work)
{
    script_begin(work);
    uint64_t depth = 0;
    while (work->step_count < SCRIPT_OPS - SLOTS) {
        const uint64_t top = depth + 1 + random_below(&work->random, SLOTS - depth);
        for (; depth < top; depth++) {
            script_add(work, depth, true);
        }
        const uint64_t bottom = random_below(&work->random, depth);
        for (; depth > bottom; depth--) {
            script_add(work, depth - 1, false);
        }
    }
    while (depth > 0) {
        script_add(work, --depth, false);
    }
}

static void script_random(bench_work *work)
{
    script_begin(work);
    for (uint64_t i = 0; i < SCRIPT_OPS; i++) {
        script_add(work, random_below(&work->random, SLOTS), true);
    }
}

/* A hole of work->bytes between two that stay: taking it is an exact fit. */
static void hole_make(bench_work *work)
{
    (void)side_malloc(work->bytes, work->stream);
    const uint64_t hole = side_malloc(work->bytes, work->stream);
    (void)side_malloc(work->bytes, work->stream);
    side_free(hole);
}

/* `count` live blocks: of 512 bytes, or of sizes between 512 bytes and 64 KiB. */
static void live_make(bench_work *work, uint64_t count, bool is_mixed)
{
    sizes_fill(work, 9, 16);
    work->live_count = count;
    work->live = (uint64_t *)take(count, sizeof *work->live);
    work->live_bytes = (uint64_t *)take(count, sizeof *work->live_bytes);
    for (uint64_t i = 0; i < count; i++) {
        work->live_bytes[i] = is_mixed ? work->sizes[random_below(&work->random, SIZES)] : 512;
        work->live[i] = side_malloc(work->live_bytes[i], work->stream);
    }
}

/* As many holes as blocks, of all sizes: every second one of twice as many goes. */
static void holes_make(bench_work *work, uint64_t count)
{
    live_make(work, 2 * count, true);
    for (uint64_t i = 0; i < count; i++) {
        side_free(work->live[2 * i]);
        work->live[i] = work->live[2 * i + 1];
        work->live_bytes[i] = work->live_bytes[2 * i + 1];
    }
    work->live_count = count;
}

#endif
