/*
 * test_allocator_forks.c - a process may fork among busy threads: in the child every allocator is
 * whole and works, and in the parent all go on.
 */
#include "alloc/small_world.h"
#include "base/units.h"
#include "harness.h"
#include "plimsoll/allocator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS       3
#define CHILDREN      60
#define CHILD_SECONDS 20 /* then it hangs */

typedef struct shared {
    world made;
    atomic_bool is_over;
    atomic_int ready;
} shared;

static shared all;

/* 0, which may be freed as well: none. Assertions leave the test by a jump, not for any thread. */
static plim_addr get(plim_stream stream, uint64_t bytes)
{
    plim_addr addr = 0;
    return plim_malloc(all.made.allocator, 0, bytes, stream, &addr, NULL) == PLIM_OK ? addr : 0;
}

static void use(plim_stream stream, uint64_t turn)
{
    const plim_addr addr = get(stream, 512 + turn % 4096);
    if (turn % 16 == 0) {
        const plim_addr large = get(stream, (1 + turn % 7) * MIB);
        (void)plim_record_stream(all.made.allocator, large, stream + 1, NULL);
        (void)plim_free(all.made.allocator, large, NULL);
    }
    (void)plim_free(all.made.allocator, addr, NULL);
    if (turn % 512 == 0) {
        (void)plim_empty_cache(all.made.allocator, NULL, NULL);
    }
}

/* Long streaks of cached pairs too, so that threads come to own their lanes. */
static void *work(void *argument)
{
    const plim_stream stream = *(const plim_stream *)argument;
    atomic_fetch_add(&all.ready, 1);
    for (uint64_t turn = 1; !atomic_load(&all.is_over); turn++) {
        use(stream, turn % 4096 < 2048 ? turn : 1);
    }
    return NULL;
}

static int live_as_child(void)
{
    (void)alarm(CHILD_SECONDS);
    for (uint64_t turn = 0; turn < 64; turn++) {
        for (plim_stream stream = 0; stream < THREADS; stream++) {
            use(stream, turn);
        }
    }
    return plim_allocator_check(all.made.allocator, NULL) == PLIM_OK ? 0 : 1;
}

static void fork_among_threads(const char *settings, bool is_recorded)
{
    static const plim_stream streams[THREADS] = { 0, 1, 2 };
    pthread_t threads[THREADS];
    all.made = world_on_sim(512 * MIB, settings);
    atomic_store(&all.is_over, false);
    atomic_store(&all.ready, 0);
    if (is_recorded) {
        const plim_record_options options = {
            .is_enabled = true, .stacks = PLIM_STACKS_ALL, .max_events = 1000, .has_c_frames = true
        };
        T_EQ_U64(plim_record_history(all.made.allocator, &options, NULL), PLIM_OK);
    }
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)&streams[i]), 0);
    }
    while (atomic_load(&all.ready) < THREADS) {
        (void)usleep(100);
    }
    for (int i = 0; i < CHILDREN; i++) {
        T_CASE("%s, child %d", settings, i);
        const pid_t child = fork();
        if (child == 0) {
            _exit(live_as_child());
        }
        int status = 0;
        T_EQ_I64(waitpid(child, &status, 0), child);
        T_EQ_I64(status, 0);
    }
    atomic_store(&all.is_over, true);
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_join(threads[i], NULL), 0);
    }
    world_end(&all.made);
}

static void children_use_what_they_inherit(void)
{
    fork_among_threads("", false);
    fork_among_threads("expandable_segments:True", false);
}

static void children_of_a_recorded_process_too(void)
{
    fork_among_threads("", true);
}

T_MAIN(T_TEST(children_use_what_they_inherit), T_TEST(children_of_a_recorded_process_too))
