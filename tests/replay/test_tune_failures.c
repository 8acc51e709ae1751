/*
 * test_tune_failures.c - searches that are ended: by the caller, by the clock, for want of memory.
 */
#include "plimsoll/replay.h"

#include "story.h"
#include "tuning.h"

#include <pthread.h>

static plim_history *tell(void (*telling)(story *s))
{
    story s;
    story_begin(&s);
    telling(&s);
    return story_end(&s);
}

/* --- cancelling --- */

typedef struct patience {
    unsigned left;
    uint64_t done;
    uint64_t total;
    pthread_mutex_t lock; /* held while it is asked: nobody else asks then */
} patience;

static bool ask(void *ctx, uint64_t done, uint64_t total)
{
    patience *const it = ctx;
    T_EQ_I64(pthread_mutex_trylock(&it->lock), 0);
    T_TRUE(done >= it->done);
    T_TRUE(done <= total);
    it->done = done;
    it->total = total;
    const bool goes_on = it->left > 0;
    it->left -= goes_on;
    pthread_mutex_unlock(&it->lock);
    return goes_on;
}

static void whoever_is_asked_can_end_it(void)
{
    plim_history *const history = tell(story_tell_split);
    plim_replay *const replay = tuning_replay(history);
    unsigned ended = 0;
    for (unsigned left = 0; left < 4000; left += 1 + left / 8) {
        patience it = { .left = left, .lock = PTHREAD_MUTEX_INITIALIZER };
        const plim_tune_options options = { .capacity_bytes = PLIM_UNLIMITED,
                                            .threads = 1 + left % 3,
                                            .progress = ask,
                                            .progress_ctx = &it };
        plim_tuning *tuning = NULL;
        const plim_status status = plim_replay_tune(replay, &options, &tuning, NULL);
        if (status == PLIM_OK) {
            T_EQ_U64(it.done, it.total);
            T_EQ_U64(it.done, tuning->runs);
        } else {
            T_TRUE(status == PLIM_CANCELLED);
            T_NULL(tuning);
            ended++;
        }
        plim_tuning_destroy(tuning);
    }
    T_TRUE(ended > 5);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

/* --- no time --- */

static void without_time_the_recorded_settings_are_told(void)
{
    plim_history *const history = tell(story_tell_split);
    plim_replay *const replay = tuning_replay(history);
    for (uint32_t threads = 1; threads < 4; threads++) {
        const plim_tune_options options = { .capacity_bytes = 180 * MIB,
                                            .threads = threads,
                                            .budget_s = 1e-9 };
        plim_tuning *const tuning = tuning_of(replay, &options);
        T_TRUE(tuning->is_incomplete);
        T_EQ_U64(tuning->row_count, 1);
        T_TRUE(tuning->rows[0].is_recorded);
        T_TRUE(tuning->rows[0].is_min_capacity_bound);
        T_FALSE(tuning->is_saved);
        plim_tuning_destroy(tuning);
    }
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

/* Whenever the time is over, the table holds. */
static void with_some_time_what_was_found_is_told(void)
{
    story s;
    story_begin(&s);
    story_tell_random(&s, 600);
    plim_history *const history = story_end(&s);
    plim_replay *const replay = tuning_replay(history);
    const uint64_t capacity = plim_replay_device(replay, 0)->floor_bytes * 5 / 4;
    for (unsigned us = 100; us < 100000; us += us / 2) {
        const plim_tune_options options = { .capacity_bytes = capacity,
                                            .threads = 2,
                                            .budget_s = us / 1e6 };
        plim_tuning *const tuning = tuning_of(replay, &options);
        tuning_check(replay, tuning);
        plim_tuning_destroy(tuning);
    }
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

/* --- no memory --- */

typedef struct attempt {
    const plim_history *history;
    plim_tune_options options;
    bool is_comparison;
    const plim_tuning *expected; /* when it succeeds */
} attempt;

/* The allocator does without some of what it asks for (its directory): then all is as ever. */
static void tune_once(const plim_mem *mem, attempt *it)
{
    const plim_replay_options preparing = { .mem = mem, .device = PLIM_ALL_DEVICES };
    plim_replay *replay = NULL;
    plim_error err = { .status = PLIM_OK };
    plim_status status = plim_replay_create(it->history, &preparing, &replay, &err);
    plim_tuning *tuning = NULL;
    if (status == PLIM_OK) {
        plim_tune_options options = it->options;
        options.mem = mem;
        status = it->is_comparison ? plim_replay_compare(replay, &options, false, &tuning, &err)
                                   : plim_replay_tune(replay, &options, &tuning, &err);
    }
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_TRUE(status == PLIM_OK || err.status == PLIM_OUT_OF_HOST_MEMORY);
    T_TRUE((status == PLIM_OK) == (tuning != NULL));
    if (status == PLIM_OK) {
        tuning_expect_same(tuning, it->expected);
    }
    plim_tuning_destroy(tuning);
    plim_replay_destroy(replay);
}

/* True if it came to the nth allocation. */
typedef bool failing(attempt *it, uint64_t n);

static bool fail_alone(attempt *it, uint64_t n)
{
    t_mem heap;
    t_mem_init(&heap);
    heap.fail_at = n;
    tune_once(&heap.mem, it);
    T_EQ_U64(heap.live_bytes, 0);
    return heap.failed;
}

/* Fails the nth allocation for n = 1 and on, by strides of n / thinness, until there is none. */
static void fail_allocations(attempt *it, failing *fail_at, uint64_t thinness)
{
    plim_replay *const replay = tuning_replay(it->history);
    plim_tuning *expected = NULL;
    T_TRUE((it->is_comparison
                ? plim_replay_compare(replay, &it->options, false, &expected, NULL)
                : plim_replay_tune(replay, &it->options, &expected, NULL)) == PLIM_OK);
    it->expected = expected;
    for (uint64_t n = 1; fail_at(it, n); n += 1 + t_random_between(0, n / thinness)) {
    }
    plim_tuning_destroy(expected);
    plim_replay_destroy(replay);
}

static void a_search_of_one_conf_survives_each_failing_allocation(void)
{
    static const char *const confs[] = { "max_split_size_mb:90" };
    plim_history *const history = tell(story_tell_split);
    attempt it = { .history = history,
                   .options = { .capacity_bytes = PLIM_UNLIMITED,
                                .confs = confs,
                                .conf_count = 1,
                                .only_given = true,
                                .threads = 1 } };
    fail_allocations(&it, fail_alone, UINT64_MAX);
    it.is_comparison = true;
    fail_allocations(&it, fail_alone, UINT64_MAX);
    plim_history_destroy(history);
}

static void a_whole_search_survives_allocations_that_fail(void)
{
    plim_history *const history = tell(story_tell_split);
    attempt it = { .history = history, .options = { .capacity_bytes = 180 * MIB, .threads = 1 } };
    fail_allocations(&it, fail_alone, 16);
    plim_history_destroy(history);
}

/* A heap that several threads may use. */
typedef struct shared_heap {
    plim_mem mem;
    t_mem heap;
    pthread_mutex_t lock;
} shared_heap;

static void *resize_shared(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    shared_heap *const it = ctx;
    pthread_mutex_lock(&it->lock);
    void *const got = it->heap.mem.resize(it->heap.mem.ctx, ptr, old_bytes, new_bytes);
    pthread_mutex_unlock(&it->lock);
    return got;
}

static bool fail_shared(attempt *it, uint64_t n)
{
    shared_heap heap = { .lock = PTHREAD_MUTEX_INITIALIZER };
    t_mem_init(&heap.heap);
    heap.mem = (plim_mem){ .resize = resize_shared, .ctx = &heap };
    heap.heap.fail_at = n;
    tune_once(&heap.mem, it);
    T_EQ_U64(heap.heap.live_bytes, 0);
    return heap.heap.failed;
}

static void threads_survive_allocations_that_fail(void)
{
    plim_history *const history = tell(story_tell_split);
    attempt it = { .history = history, .options = { .capacity_bytes = 180 * MIB, .threads = 3 } };
    fail_allocations(&it, fail_shared, 8);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(whoever_is_asked_can_end_it), T_TEST(without_time_the_recorded_settings_are_told),
       T_TEST(with_some_time_what_was_found_is_told),
       T_TEST(a_search_of_one_conf_survives_each_failing_allocation),
       T_TEST(a_whole_search_survives_allocations_that_fail),
       T_TEST(threads_survive_allocations_that_fail))
