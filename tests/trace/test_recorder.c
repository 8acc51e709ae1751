/*
 * test_recorder.c - recording in a world that is not kind: threads, full queues, full disks, forks,
 * a lack of memory, and SIGKILL.
 */
#include "trace/program.h"

#include "trace/write/inside.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A heap that may be used by several threads at once, as that of a recorder has to be. */
typedef struct locked_mem {
    plim_mem mem;
    t_mem inner;
    pthread_mutex_t lock;
} locked_mem;

static void *locked_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    locked_mem *const heap = ctx;
    (void)pthread_mutex_lock(&heap->lock);
    void *const fresh = t_mem_resize(&heap->inner, ptr, old_bytes, new_bytes);
    (void)pthread_mutex_unlock(&heap->lock);
    return fresh;
}

static void locked_init(locked_mem *heap)
{
    t_mem_init(&heap->inner);
    (void)pthread_mutex_init(&heap->lock, NULL);
    heap->mem = (plim_mem){ .resize = locked_resize, .ctx = heap };
}

static plim_recorder *start(const char *path, plim_recorder_options options)
{
    plim_recorder *recorder = NULL;
    options.leaves_out_frames = true;
    T_EQ_U64(plim_recorder_start(path, &options, &recorder, NULL), PLIM_OK);
    return recorder;
}

static plim_history *load(const char *path)
{
    plim_history *history = NULL;
    plim_error err = { 0 };
    if (plim_recording_load(path, NULL, &history, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return history;
}

/* --- threads --- */

#define THREADS          4
#define EVENTS_OF_THREAD 20000

typedef struct teller {
    plim_event_sink sink;
    pthread_mutex_t *lock; /* NULL: a device of its own */
    uint64_t *counter;     /* guarded by the lock */
    int32_t device;
} teller;

/* Events of a shared device are numbered under a lock, as an allocator's are. */
static void *tell_many(void *argument)
{
    const teller *const t = argument;
    for (uint64_t i = 0; i < EVENTS_OF_THREAD; i++) {
        plim_event event = {
            .action = PLIM_OOM, .device = t->device, .stack = PLIM_NONE, .bytes = i
        };
        if (t->lock != NULL) {
            (void)pthread_mutex_lock(t->lock);
            event.bytes = (*t->counter)++;
            t->sink.event(t->sink.ctx, &event);
            (void)pthread_mutex_unlock(t->lock);
        } else {
            t->sink.event(t->sink.ctx, &event);
        }
    }
    return NULL;
}

static void tell_in_threads(plim_recorder *recorder, pthread_mutex_t *lock, uint64_t *counter)
{
    pthread_t threads[THREADS];
    teller tellers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        tellers[i] = (teller){ .sink = plim_recorder_sink(recorder),
                               .lock = lock,
                               .counter = counter,
                               .device = lock != NULL ? 0 : (int32_t)i };
        T_EQ_U64(pthread_create(&threads[i], NULL, tell_many, &tellers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

static void expect_counting(const plim_history *history, size_t device, uint64_t count)
{
    const plim_events *const events = &plim_history_device(history, device)->events;
    T_EQ_U64(events->count, count);
    for (uint64_t i = 0; i < count; i++) {
        T_EQ_U64(events->bytes[i], i);
    }
}

static void threads_keep_the_order_of_a_device(void)
{
    char path[256];
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint64_t counter = 0;
    locked_mem heap;
    locked_init(&heap);
    t_path(path, sizeof path, "threads.plim");
    plim_recorder *const recorder =
        start(path, (plim_recorder_options){ .mem = &heap.mem, .queue_events = 1 << 20 });
    tell_in_threads(recorder, &lock, &counter);
    T_EQ_U64(plim_recorder_count(recorder).events, counter);
    T_EQ_U64(plim_recorder_count(recorder).dropped, 0);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    T_EQ_U64(heap.inner.live_bytes, 0);
    plim_history *const history = load(path);
    expect_counting(history, 0, (uint64_t)THREADS * EVENTS_OF_THREAD);
    plim_history_destroy(history);
    (void)unlink(path);
}

static void threads_tell_of_many_devices_at_once(void)
{
    char path[256];
    t_path(path, sizeof path, "devices.plim");
    plim_recorder *const recorder =
        start(path, (plim_recorder_options){ .queue_events = 1 << 20, .compression = 1 });
    tell_in_threads(recorder, NULL, NULL);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const history = load(path);
    T_EQ_U64(plim_history_device_count(history), THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        expect_counting(history, i, EVENTS_OF_THREAD);
    }
    plim_history_destroy(history);
    (void)unlink(path);
}

/* Threads that come and go one after the other need one queue. */
static void queues_of_ended_threads_are_used_again(void)
{
    char path[256];
    t_path(path, sizeof path, "ended.plim");
    plim_recorder *const recorder = start(path, (plim_recorder_options){ .queue_events = 1 << 17 });
    uint64_t counter = 0;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        teller t = { .sink = plim_recorder_sink(recorder), .lock = &lock, .counter = &counter };
        T_EQ_U64(pthread_create(&thread, NULL, tell_many, &t), 0);
        (void)pthread_join(thread, NULL);
    }
    const plim_event_queue *const queue = atomic_load(&recorder->listed.queues);
    T_NOT_NULL(queue);
    T_NULL(queue->other);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const history = load(path);
    expect_counting(history, 0, counter);
    plim_history_destroy(history);
    (void)unlink(path);
}

/* One thread, two recorders in turn: each gets its own. */
static void recorders_side_by_side(void)
{
    char paths[2][256];
    plim_recorder *recorders[2];
    for (size_t i = 0; i < 2; i++) {
        t_path(paths[i], sizeof paths[i], i == 0 ? "one.plim" : "two.plim");
        recorders[i] = start(paths[i], (plim_recorder_options){ 0 });
    }
    for (uint64_t i = 0; i < 1000; i++) {
        for (size_t k = 0; k < 2; k++) {
            const plim_event_sink sink = plim_recorder_sink(recorders[k]);
            const plim_event event = { .action = PLIM_OOM, .stack = PLIM_NONE, .bytes = i };
            sink.event(sink.ctx, &event);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        T_EQ_U64(plim_recorder_stop(recorders[i], NULL), PLIM_OK);
        plim_history *const history = load(paths[i]);
        expect_counting(history, 0, 1000);
        plim_history_destroy(history);
        (void)unlink(paths[i]);
    }
}

/* --- full queues --- */

static void what_finds_no_room_is_counted_where_it_is_missing(void)
{
    char path[256];
    t_path(path, sizeof path, "full.plim");
    plim_recorder *const recorder = start(path, (plim_recorder_options){ .queue_events = 16 });
    const plim_event_sink sink = plim_recorder_sink(recorder);
    for (uint64_t round = 0; round < 3; round++) {
        (void)pthread_mutex_lock(&recorder->lock); /* the writer cannot take anything */
        for (uint64_t i = 0; i < 40; i++) {
            const plim_event event = {
                .action = PLIM_OOM, .device = 0, .stack = PLIM_NONE, .bytes = round * 40 + i
            };
            sink.event(sink.ctx, &event);
        }
        T_EQ_U64(plim_recorder_annotate(recorder, 0, "full", true, NULL), PLIM_LIMIT);
        (void)pthread_mutex_unlock(&recorder->lock);
        T_EQ_U64(plim_recorder_flush(recorder, NULL), PLIM_OK);
    }
    const plim_recorder_counts counts = plim_recorder_count(recorder);
    T_EQ_U64(counts.events + counts.dropped, 120);
    T_TRUE(counts.dropped >= 3 * 24);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const history = load(path);
    const plim_device_history *const device = plim_history_device(history, 0);
    T_EQ_U64(device->events.count, counts.events);
    T_EQ_U64(device->overflowed, PLIM_YES);
    T_EQ_U64(plim_history_warning_count(history), 1);
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "device 0: %" PRIu64 " events are missing",
                   counts.dropped);
    T_NOT_NULL(strstr(plim_history_warning(history, 0), wanted));
    plim_history_destroy(history);
    (void)unlink(path);
}

/* Threads that are faster than the writer: what is left of a device is still in order. */
static void what_is_left_is_in_order(void)
{
    char path[256];
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint64_t counter = 0;
    t_path(path, sizeof path, "order.plim");
    plim_recorder *const recorder = start(path, (plim_recorder_options){ .queue_events = 32 });
    tell_in_threads(recorder, &lock, &counter);
    const plim_recorder_counts counts = plim_recorder_count(recorder);
    T_EQ_U64(counts.events + counts.dropped, counter);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const history = load(path);
    const plim_events *const events = &plim_history_device(history, 0)->events;
    T_EQ_U64(events->count, counts.events);
    for (uint64_t i = 1; i < events->count; i++) {
        T_TRUE(events->bytes[i - 1] < events->bytes[i]);
    }
    plim_history_destroy(history);
    (void)unlink(path);
}

static void events_are_written_without_being_asked_for(void)
{
    char path[256];
    t_path(path, sizeof path, "unasked.plim");
    plim_recorder *const recorder = start(path, (plim_recorder_options){ .flush_ms = 1 });
    const plim_event_sink sink = plim_recorder_sink(recorder);
    const plim_event event = { .action = PLIM_OOM, .stack = PLIM_NONE };
    sink.event(sink.ctx, &event);
    /* The test's own time limit ends this when nothing ever comes. */
    for (size_t devices = 0; devices == 0;) {
        plim_history *const history = load(path);
        devices = plim_history_device_count(history);
        plim_history_destroy(history);
    }
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    (void)unlink(path);
}

/* --- SIGKILL --- */

/* Counts for ever, and says on the pipe how far it came: when it flushed, and after each event. */
static void count_until_killed(const char *path, int flushed)
{
    plim_recorder *recorder = NULL;
    const plim_recorder_options options = { .flush_ms = 5, .leaves_out_frames = true };
    if (plim_recorder_start(path, &options, &recorder, NULL) != PLIM_OK) {
        _exit(1);
    }
    const plim_event_sink sink = plim_recorder_sink(recorder);
    for (uint64_t i = 0;; i++) {
        const plim_event event = { .action = PLIM_OOM, .stack = PLIM_NONE, .bytes = i };
        sink.event(sink.ctx, &event);
        if (i % 5000 == 4999) {
            if (plim_recorder_flush(recorder, NULL) != PLIM_OK ||
                write(flushed, &i, sizeof i) != sizeof i) {
                _exit(1);
            }
        }
    }
}

static void a_killed_program_leaves_all_that_was_flushed(void)
{
    char path[256];
    t_path(path, sizeof path, "killed.plim");
    for (int round = 0; round < 12; round++) {
        T_CASE("round %d", round);
        int flushed[2];
        T_EQ_U64(pipe(flushed), 0);
        const pid_t child = fork();
        T_TRUE(child >= 0);
        if (child == 0) {
            count_until_killed(path, flushed[1]);
        }
        (void)close(flushed[1]);
        uint64_t least = 0;
        T_EQ_U64(read(flushed[0], &least, sizeof least), sizeof least);
        const struct timespec pause = { .tv_nsec = (long)t_random_between(0, 20000000) };
        (void)nanosleep(&pause, NULL);
        T_EQ_U64(kill(child, SIGKILL), 0);
        T_EQ_U64(waitpid(child, NULL, 0), child);
        uint64_t more = 0;
        while (read(flushed[0], &more, sizeof more) == sizeof more) {
            least = more;
        }
        (void)close(flushed[0]);
        plim_history *const history = load(path);
        const plim_device_history *const device = plim_history_device(history, 0);
        T_TRUE(device->events.count > least);
        expect_counting(history, 0, device->events.count);
        T_TRUE(plim_history_warning_count(history) == 1 || device->overflowed == PLIM_YES);
        plim_history_destroy(history);
    }
    (void)unlink(path);
}

/* --- forks --- */

static void a_child_does_not_write_into_its_parents_file(void)
{
    char path[256];
    t_path(path, sizeof path, "fork.plim");
    plim_recorder *const recorder = start(path, (plim_recorder_options){ 0 });
    uint64_t counter = 0;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    teller t = { .sink = plim_recorder_sink(recorder), .lock = &lock, .counter = &counter };
    (void)tell_many(&t);
    const pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        (void)tell_many(&t);
        const bool refuses =
            plim_recorder_flush(recorder, NULL) == PLIM_INVALID_ARGUMENT &&
            plim_recorder_annotate(recorder, 0, "child", true, NULL) == PLIM_INVALID_ARGUMENT;
        _exit(refuses && plim_recorder_stop(recorder, NULL) == PLIM_OK ? 0 : 1);
    }
    int status = -1;
    T_EQ_U64(waitpid(child, &status, 0), child);
    T_EQ_U64(status, 0);
    (void)tell_many(&t);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const history = load(path);
    T_EQ_U64(plim_history_warning_count(history), 0);
    expect_counting(history, 0, counter);
    plim_history_destroy(history);
    (void)unlink(path);
}

/* --- full disks --- */

/* In a child with a limit on the size of files: 0 when all is as it should be. */
static int record_beyond_limit(const char *path)
{
    plim_recorder *recorder = NULL;
    const struct rlimit limit = { 65536, 65536 };
    plim_error err = { 0 };
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        plim_recorder_start(path, NULL, &recorder, NULL) != PLIM_OK) {
        return 1;
    }
    const uint64_t count = 60000;
    const plim_event_sink sink = plim_recorder_sink(recorder);
    for (uint64_t i = 0; i < count; i++) {
        const plim_event event = { .action = PLIM_OOM, .stack = PLIM_NONE, .bytes = i };
        sink.event(sink.ctx, &event);
        if (i % 1000 == 0) {
            (void)plim_recorder_flush(recorder, NULL);
        }
    }
    (void)plim_recorder_flush(recorder, NULL);
    const plim_recorder_counts counts = plim_recorder_count(recorder);
    if (counts.events + counts.dropped != count || counts.dropped == 0) {
        return 2;
    }
    return plim_recorder_stop(recorder, &err) == PLIM_IO && err.native == EFBIG ? 0 : 3;
}

static void a_full_disk_ends_the_recording_and_not_the_program(void)
{
    char path[256];
    t_path(path, sizeof path, "limit.plim");
    const pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        _exit(record_beyond_limit(path));
    }
    int status = -1;
    T_EQ_U64(waitpid(child, &status, 0), child);
    T_EQ_U64(status, 0);
    plim_history *const history = load(path);
    expect_counting(history, 0, plim_history_device(history, 0)->events.count);
    plim_history_destroy(history);
    (void)unlink(path);

    plim_recorder *recorder = NULL;
    plim_error err = { 0 };
    T_EQ_U64(plim_recorder_start("/dev/full", NULL, &recorder, &err), PLIM_IO);
    T_EQ_I64(err.native, ENOSPC);
    T_EQ_U64(plim_recorder_start("/nowhere/at/all", NULL, &recorder, &err), PLIM_IO);
    T_EQ_I64(err.native, ENOENT);
    T_EQ_U64(plim_recorder_stop(NULL, NULL), PLIM_OK);
}

/* --- a lack of memory --- */

/* True if all went well and nothing was lost with the `fail_at`th allocation failing. */
static bool record_with(locked_mem *heap, const char *path, const plim_history *state)
{
    static t_program program;
    plim_recorder *recorder = NULL;
    const plim_recorder_options options = { .mem = &heap->mem,
                                            .leaves_out_frames = true,
                                            .queue_events = 65536 };
    if (plim_recorder_start(path, &options, &recorder, NULL) != PLIM_OK) {
        return false;
    }
    bool done = plim_recorder_state(recorder, state, NULL) == PLIM_OK;
    t_now.random = 5;
    t_program_init(&program, 2);
    program.sink = plim_recorder_sink(recorder);
    t_program_run(&program, 400);
    done = plim_recorder_annotate(recorder, 0, "step", true, NULL) == PLIM_OK && done;
    done = plim_recorder_flush(recorder, NULL) == PLIM_OK && done;
    done = plim_recorder_count(recorder).dropped == 0 && done;
    done = atomic_load(&recorder->stacks_lost) == 0 && done;
    done = plim_recorder_stop(recorder, NULL) == PLIM_OK && done;
    t_program_deinit(&program);
    return done;
}

static void survives_a_lack_of_memory_while_writing(void)
{
    static t_program program;
    char path[256];
    char path_of_state[256];
    t_path(path, sizeof path, "memory.plim");
    t_path(path_of_state, sizeof path_of_state, "state.plim");
    plim_recorder *const recorder = start(path_of_state, (plim_recorder_options){ 0 });
    t_program_init(&program, 1);
    program.sink = plim_recorder_sink(recorder);
    t_program_run(&program, 300);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    t_program_deinit(&program);
    plim_history *const state = load(path_of_state);
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        T_CASE("allocation %" PRIu64, n);
        locked_mem heap;
        locked_init(&heap);
        heap.inner.fail_at = n;
        const bool done = record_with(&heap, path, state);
        failed = heap.inner.failed;
        T_EQ_U64(heap.inner.live_bytes, 0);
        T_EQ_U64(done, !failed);
        /* What was written can be read whatever failed, if there is a file at all. */
        plim_history *history = NULL;
        if (plim_recording_load(path, NULL, &history, NULL) == PLIM_OK) {
            plim_history_destroy(history);
        }
    }
    plim_history_destroy(state);
    (void)unlink(path);
    (void)unlink(path_of_state);
}

T_MAIN(T_TEST(threads_keep_the_order_of_a_device), T_TEST(threads_tell_of_many_devices_at_once),
       T_TEST(queues_of_ended_threads_are_used_again), T_TEST(recorders_side_by_side),
       T_TEST(what_finds_no_room_is_counted_where_it_is_missing), T_TEST(what_is_left_is_in_order),
       T_TEST(events_are_written_without_being_asked_for),
       T_TEST(a_killed_program_leaves_all_that_was_flushed),
       T_TEST(a_child_does_not_write_into_its_parents_file),
       T_TEST(a_full_disk_ends_the_recording_and_not_the_program),
       T_TEST(survives_a_lack_of_memory_while_writing))
