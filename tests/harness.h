/*
 * harness.h - what every test shares, on top of cmocka.
 *
 *   static void rounds_up(void) { T_EQ_U64(round_up(1), 512); }
 *   T_MAIN(T_TEST(rounds_up))
 *
 * - A test is a function without parameters whose name is a sentence.
 * - Random numbers come from one seed, printed when a test fails; PLIM_SEED=<n> repeats it.
 * - t_mem is a heap that counts what is alive and can be told to fail its nth allocation;
 *   t_fail_each_allocation() does so for n = 1, 2, 3, … until the operation succeeds.
 *
 * Everything is static inline: a test file is one executable.
 */
#ifndef PLIMSOLL_TESTS_HARNESS_H
#define PLIMSOLL_TESTS_HARNESS_H

#include "plimsoll/mem.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h> /* wants the four headers above it first */

#define T_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- what a test says --- */

#define T_TRUE(condition)   assert_true(condition)
#define T_FALSE(condition)  assert_false(condition)
#define T_NULL(pointer)     assert_null(pointer)
#define T_NOT_NULL(pointer) assert_non_null(pointer)
#define T_EQ_U64(a, b)      t_equal_u64((uint64_t)(a), (uint64_t)(b), #a, #b, __FILE__, __LINE__)
#define T_EQ_I64(a, b)      t_equal_i64((int64_t)(a), (int64_t)(b), #a, #b, __FILE__, __LINE__)
#define T_EQ_STR(a, b)      assert_string_equal(a, b)
#define T_EQ_MEM(a, b, n)   assert_memory_equal(a, b, n)

/* Names the row of a table that is being tested, for the report of a failure. */
#define T_CASE(...) ((void)snprintf(t_now.row, sizeof t_now.row, __VA_ARGS__))

/* Leaves the test and says why it could not run. */
#define T_SKIP(...)                             \
    do {                                        \
        print_message("skipped: " __VA_ARGS__); \
        print_message("\n");                    \
        t_now.ended = true;                     \
        skip();                                 \
    } while (0)

/* The test that is running. */
static struct {
    uint64_t seed;   /* of this run; every test starts from it anew */
    uint64_t random; /* state of the generator */
    bool ended;      /* the test returned or skipped itself, it did not fail */
    char row[160];
} t_now;

static inline void t_equal_u64(uint64_t a, uint64_t b, const char *a_text, const char *b_text,
                               const char *file, int line)
{
    if (a != b) {
        print_error("%s is %" PRIu64 ", %s is %" PRIu64 "\n", a_text, a, b_text, b);
        _fail(file, line);
    }
}

static inline void t_equal_i64(int64_t a, int64_t b, const char *a_text, const char *b_text,
                               const char *file, int line)
{
    if (a != b) {
        print_error("%s is %" PRId64 ", %s is %" PRId64 "\n", a_text, a, b_text, b);
        _fail(file, line);
    }
}

/* --- randomness (splitmix64: Steele, Lea, Flood 2014) --- */

static inline uint64_t t_random(void)
{
    uint64_t z = t_now.random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform enough, both ends included. */
static inline uint64_t t_random_between(uint64_t low, uint64_t high)
{
    const uint64_t span = high - low + 1;
    return low + (span == 0 ? t_random() : t_random() % span);
}

/* Every order of magnitude equally often: what sizes look like. */
static inline uint64_t t_random_bytes(uint64_t low, uint64_t high)
{
    const uint64_t shifted = (high - low) >> t_random_between(0, 63);
    return t_random_between(low, low + shifted);
}

/* --- a heap that counts and fails --- */

typedef struct t_mem {
    plim_mem mem;        /* what the code under test is given */
    size_t live_bytes;   /* allocated and not freed: 0 at the end, or something leaks */
    size_t peak_bytes;   /* the most that was alive at once */
    uint64_t call_count; /* requests for memory so far */
    uint64_t fail_at;    /* the request that fails, counted from 1; 0 for none */
    bool failed;         /* it came to that */
} t_mem;

static inline void *t_mem_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    t_mem *const heap = ctx;
    if ((ptr == NULL) != (old_bytes == 0)) {
        fail_msg("%zu old bytes at %p", old_bytes, ptr);
    }
    /* The size kept before each piece holds callers to telling the truth about the old one. */
    size_t *const old = ptr == NULL ? NULL : (size_t *)ptr - 2;
    if (old != NULL && old[0] != old_bytes) {
        fail_msg("a piece of %zu bytes is resized as one of %zu", old[0], old_bytes);
    }
    if (new_bytes > 0 && ++heap->call_count == heap->fail_at) {
        heap->failed = true;
        return NULL;
    }
    /* Never in place, so that a pointer kept across a resize is always stale. */
    size_t *fresh = NULL;
    if (new_bytes > 0) {
        fresh = new_bytes > SIZE_MAX - 16 ? NULL : malloc(new_bytes + 16);
        if (fresh == NULL) {
            return NULL;
        }
        fresh[0] = new_bytes;
        fresh += 2;
        if (old != NULL) {
            memcpy(fresh, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
        }
    }
    free(old);
    heap->live_bytes += new_bytes;
    heap->live_bytes -= old_bytes;
    heap->peak_bytes = heap->live_bytes > heap->peak_bytes ? heap->live_bytes : heap->peak_bytes;
    return fresh;
}

static inline void t_mem_init(t_mem *heap)
{
    *heap = (t_mem){ .mem = { .resize = t_mem_resize, .ctx = heap } };
}

/*
 * Runs `attempt` with the 1st, 2nd, 3rd, … allocation failing until none is left to fail.
 * `attempt` says whether the operation succeeded and gives back all it took either way.
 */
static inline void t_fail_each_allocation(bool (*attempt)(const plim_mem *mem, void *ctx),
                                          void *ctx)
{
    for (uint64_t n = 1;; n++) {
        t_mem heap;
        t_mem_init(&heap);
        heap.fail_at = n;
        const bool succeeded = attempt(&heap.mem, ctx);
        if (heap.live_bytes != 0) {
            fail_msg("%zu bytes leak when allocation %" PRIu64 " fails", heap.live_bytes, n);
        }
        if (!heap.failed) {
            T_TRUE(succeeded);
            return;
        }
        if (succeeded) {
            fail_msg("success is claimed though allocation %" PRIu64 " failed", n);
        }
    }
}

/* --- running --- */

typedef struct t_body {
    void (*run)(void);
} t_body;

static inline int t_begin(void **state)
{
    (void)state;
    t_now.random = t_now.seed;
    t_now.ended = false;
    t_now.row[0] = '\0';
    return 0;
}

static inline void t_run(void **state)
{
    const t_body *const body = *state;
    body->run();
    t_now.ended = true;
}

static inline int t_end(void **state)
{
    (void)state;
    if (!t_now.ended) {
        print_error("%s%sPLIM_SEED=%" PRIu64 " repeats this run\n", t_now.row,
                    t_now.row[0] == '\0' ? "" : ": ", t_now.seed);
    }
    return 0;
}

static inline void t_choose_seed(void)
{
    const char *const given = getenv("PLIM_SEED");
    struct timespec now = { 0 };
    (void)timespec_get(&now, TIME_UTC);
    t_now.seed = given != NULL ? strtoull(given, NULL, 10)
                               : (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
}

/* One of so many like cases is to be tried: 1 but under sanitizers. tests/share.py is its twin. */
static inline uint64_t t_share(void)
{
    const char *const given = getenv("PLIM_TEST_SHARE");
    const uint64_t share = given != NULL ? strtoull(given, NULL, 10) : 1;
    return share == 0 ? 1 : share;
}

/* A folder of other people's snapshots, or NULL: tests that read them skip themselves then. */
static inline const char *t_snapshot_dir(void)
{
    const char *const folder = getenv("PLIM_SNAPSHOT_DIR");
    return folder != NULL && folder[0] != '\0' ? folder : NULL;
}

#define T_TEST(function)                            \
    {                                               \
#function, t_run, t_begin, t_end, &(t_body) \
        {                                           \
            function                                \
        }                                           \
    }

#define T_MAIN(...)                                                    \
    int main(void)                                                     \
    {                                                                  \
        const struct CMUnitTest tests[] = { __VA_ARGS__ };             \
        t_choose_seed();                                               \
        return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1; \
    }

#endif
