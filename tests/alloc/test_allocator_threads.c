/*
 * test_allocator_threads.c - many threads at once: nothing overlaps, nothing is lost, and the
 * statistics are exact.
 *
 * Threads ask for memory on streams of their own and on a common one, write into it, hand it to
 * each other, free what others requested, and record each other's streams, while one more thread
 * looks at everything and changes what can be changed. What must come out does not depend on who
 * is faster. Under ThreadSanitizer the memory itself is watched too: what is written after a block
 * was handed out again would be a race.
 */
#include "base/units.h"
#include "harness.h"
#include "plimsoll/allocator.h"
#include "plimsoll/recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS 4
#define KEPT    48 /* blocks a thread holds at most */
#define MAILBOX 64
#define STEPS   3000

/* --- what all threads share --- */

typedef struct block {
    plim_addr addr;
    uint64_t bytes;
    uint64_t tag;
} block;

/* Bounds of a count whose exact moments nobody can see: `least` is raised after and lowered before
 * the call that changes it, `most` the other way round. */
typedef struct bounds {
    atomic_int_fast64_t least;
    atomic_int_fast64_t most;
    atomic_int_fast64_t least_peak;
    atomic_int_fast64_t most_peak;
} bounds;

typedef struct shared {
    plim_device device;
    plim_allocator *allocator;
    bool is_host; /* what is written can be read back */
    pthread_mutex_t lock;
    block mailbox[MAILBOX]; /* to be freed by whoever looks first */
    size_t mail_count;
    bounds count;
    bounds bytes;
    atomic_int_fast64_t requests;
    atomic_int_fast64_t requested_bytes;
    atomic_int_fast64_t told; /* alloc events */
    atomic_int_fast64_t told_bytes;
    atomic_int running;
    atomic_bool has_fault;
    char fault[200];
} shared;

static shared all;

typedef struct worker {
    pthread_t thread;
    uint64_t random;
    uint64_t index;
    block kept[KEPT];
    size_t kept_count;
} worker;

/* Assertions leave the test by a jump, which only its own thread may do. */
static void fault(const char *what, plim_status status)
{
    if (!atomic_exchange(&all.has_fault, true)) {
        (void)snprintf(all.fault, sizeof all.fault, "%.150s: status %d", what, (int)status);
    }
}

static uint64_t pick(uint64_t *state, uint64_t low, uint64_t high)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return low + (z ^ (z >> 31)) % (high - low + 1);
}

static void raise_to(atomic_int_fast64_t *peak, int_fast64_t value)
{
    int_fast64_t seen = atomic_load(peak);
    while (seen < value && !atomic_compare_exchange_weak(peak, &seen, value)) {
    }
}

static void move(atomic_int_fast64_t *at, atomic_int_fast64_t *peak, int64_t by)
{
    raise_to(peak, atomic_fetch_add(at, by) + by);
}

/* --- memory that is written to --- */

static void write_tag(const block *written)
{
    if (all.is_host && written->bytes >= 2 * sizeof written->tag) {
        char *memory = (char *)(uintptr_t)written->addr; /* NOLINT: host memory */
        memcpy(memory, &written->tag, sizeof written->tag);
        memcpy(memory + written->bytes - sizeof written->tag, &written->tag, sizeof written->tag);
    }
}

static void check_tag(const block *written)
{
    if (all.is_host && written->bytes >= 2 * sizeof written->tag) {
        const char *memory = (const char *)(uintptr_t)written->addr; /* NOLINT: host memory */
        const char *last = memory + written->bytes - sizeof written->tag;
        if (memcmp(memory, &written->tag, sizeof written->tag) != 0 ||
            memcmp(last, &written->tag, sizeof written->tag) != 0) {
            fault("memory of two blocks overlaps", PLIM_CORRUPT);
        }
    }
}

/* --- requests --- */

static bool get(uint64_t *random, plim_stream stream, block *ret)
{
    const uint64_t bytes =
        pick(random, 0, 5) == 0 ? pick(random, MIB, 6 * MIB) : pick(random, 1, 40) * 1024;
    move(&all.count.most, &all.count.most_peak, 1);
    plim_addr addr = 0;
    const plim_status status = plim_malloc(all.allocator, 0, bytes, stream, &addr, NULL);
    if (status != PLIM_OK) {
        atomic_fetch_sub(&all.count.most, 1);
        if (status != PLIM_OUT_OF_DEVICE_MEMORY) {
            fault("malloc", status);
        }
        return false;
    }
    move(&all.count.least, &all.count.least_peak, 1);
    move(&all.bytes.least, &all.bytes.least_peak, (int64_t)bytes);
    atomic_fetch_add(&all.requests, 1);
    atomic_fetch_add(&all.requested_bytes, (int64_t)bytes);
    *ret = (block){ addr, bytes, pick(random, 0, UINT64_MAX - 1) };
    write_tag(ret);
    return true;
}

static void give(const block *given)
{
    check_tag(given);
    atomic_fetch_sub(&all.count.least, 1);
    atomic_fetch_sub(&all.bytes.least, (int64_t)given->bytes);
    const plim_status status = plim_free(all.allocator, given->addr, NULL);
    if (status != PLIM_OK) {
        fault("free", status);
    }
    atomic_fetch_sub(&all.count.most, 1);
}

/* To the mailbox, or from it; false: it was full, or empty. */
static bool post(const block *sent)
{
    pthread_mutex_lock(&all.lock);
    const bool has_room = all.mail_count < MAILBOX;
    if (has_room) {
        all.mailbox[all.mail_count] = *sent;
        all.mail_count++;
    }
    pthread_mutex_unlock(&all.lock);
    return has_room;
}

static bool collect(block *ret)
{
    pthread_mutex_lock(&all.lock);
    const bool is_any = all.mail_count > 0;
    if (is_any) {
        all.mail_count--;
        *ret = all.mailbox[all.mail_count];
    }
    pthread_mutex_unlock(&all.lock);
    return is_any;
}

/* --- threads --- */

static void drop(worker *self, size_t at)
{
    self->kept_count--;
    self->kept[at] = self->kept[self->kept_count];
}

static void work_once(worker *self)
{
    const plim_stream own = 0x100 * (self->index + 1);
    const size_t any = (size_t)pick(&self->random, 0, KEPT) % (self->kept_count + 1);
    block other;
    switch (pick(&self->random, 0, 9)) {
    case 0:
        if (any < self->kept_count && post(&self->kept[any])) {
            drop(self, any);
        }
        break;
    case 1:
        if (collect(&other)) {
            give(&other);
        }
        break;
    case 2:
        if (any < self->kept_count) {
            const plim_status status = plim_record_stream(all.allocator, self->kept[any].addr,
                                                          0x100 * pick(&self->random, 1, 4), NULL);
            if (status != PLIM_OK) {
                fault("record_stream", status);
            }
        }
        break;
    case 3:
    case 4:
        if (any < self->kept_count) {
            give(&self->kept[any]);
            drop(self, any);
        }
        break;
    default: /* what models do: short-lived memory, last in, first out */
        if (self->kept_count < KEPT && get(&self->random, own, &self->kept[self->kept_count])) {
            self->kept_count++;
        } else if (self->kept_count > 0) {
            give(&self->kept[self->kept_count - 1]);
            self->kept_count--;
        }
        for (int i = 0; i < 8; i++) {
            if (get(&self->random, i == 7 ? 0 : own, &other)) {
                give(&other);
            }
        }
        break;
    }
}

static void *work(void *ctx)
{
    worker *self = ctx;
    for (int i = 0; i < STEPS && !atomic_load(&all.has_fault); i++) {
        work_once(self);
    }
    while (self->kept_count > 0) {
        self->kept_count--;
        give(&self->kept[self->kept_count]);
    }
    atomic_fetch_sub(&all.running, 1);
    return NULL;
}

static void toggle_history(uint64_t *random)
{
    const plim_record_options options = { .is_enabled = pick(random, 0, 1) == 1,
                                          .stacks = (plim_stack_level)pick(random, 0, 3),
                                          .max_events = pick(random, 0, 200),
                                          .has_c_frames = pick(random, 0, 3) == 0 };
    const plim_status status = plim_record_history(all.allocator, &options, NULL);
    if (status != PLIM_OK) {
        fault("record_history", status);
    }
}

static void take_snapshot(void)
{
    plim_history *history = NULL;
    const plim_status status = plim_allocator_snapshot(all.allocator, NULL, true, &history, NULL);
    if (status != PLIM_OK) {
        fault("snapshot", status);
        return;
    }
    plim_history_destroy(history);
}

static void configure(uint64_t *random)
{
    static const char *const texts[] = { "",
                                         "expandable_segments:True",
                                         "expandable_segments:False",
                                         "max_split_size_mb:64",
                                         "release_lock_on_cudamalloc:True",
                                         "roundup_power2_divisions:4" };
    const char *text = texts[pick(random, 0, T_COUNT(texts) - 1)];
    const plim_status status = plim_allocator_configure(all.allocator, text, NULL);
    if (status != PLIM_OK) {
        fault(text, status);
    }
    plim_settings settings;
    plim_allocator_settings(all.allocator, &settings);
}

static void check_stats(void)
{
    plim_device_stats stats;
    if (plim_allocator_stats(all.allocator, 0, &stats, NULL) == PLIM_OK) {
        const plim_stat *count = &stats.families[PLIM_STAT_ALLOCATION][PLIM_SLOT_ALL];
        if (count->peak > atomic_load(&all.count.most_peak) || count->current < 0 ||
            count->allocated - count->freed != count->current) {
            fault("statistics out of bounds", PLIM_CORRUPT);
        }
    }
    plim_error err;
    const plim_status status = plim_allocator_check(all.allocator, &err);
    if (status != PLIM_OK) {
        fault(err.message, status);
    }
}

static void *meddle(void *ctx)
{
    uint64_t *random = ctx;
    while (atomic_load(&all.running) > 0 && !atomic_load(&all.has_fault)) {
        plim_metadata metadata;
        switch (pick(random, 0, 6)) {
        case 0:
            check_stats();
            break;
        case 1:
            take_snapshot();
            break;
        case 2:
            (void)plim_empty_cache(all.allocator, NULL, NULL);
            break;
        case 3:
            configure(random);
            break;
        case 4:
            toggle_history(random);
            break;
        case 5:
            if (!all.is_host) {
                plim_sim_complete_all(&all.device);
            }
            break;
        default:
            plim_allocator_metadata(all.allocator, &metadata);
            break;
        }
        (void)usleep((useconds_t)pick(random, 0, 2000)); /* so that lanes are open now and then */
    }
    return NULL;
}

/* --- from outside --- */

static void count_event(void *ctx, const plim_event *event)
{
    (void)ctx;
    if (event->action == PLIM_ALLOC) {
        atomic_fetch_add(&all.told, 1);
        atomic_fetch_add(&all.told_bytes, (int64_t)event->block_bytes);
    }
}

static void set_up(bool is_host)
{
    memset(&all, 0, sizeof all);
    all.is_host = is_host;
    T_EQ_I64(pthread_mutex_init(&all.lock, NULL), 0);
    const plim_host_options host = { .total_bytes = 1024 * MIB };
    const plim_sim_options sim = { .total_bytes = 1024 * MIB, .has_manual_fences = true };
    T_EQ_U64(is_host ? plim_host_create(&host, &all.device, NULL)
                     : plim_sim_create(&sim, &all.device, NULL),
             PLIM_OK);
    const plim_settings settings = plim_settings_default();
    const plim_allocator_options options = { .devices = &all.device,
                                             .device_count = 1,
                                             .settings = &settings };
    T_EQ_U64(plim_allocator_create(&options, &all.allocator, NULL), PLIM_OK);
    const plim_event_sink sink = { .event = count_event, .ctx = &all };
    T_EQ_U64(plim_add_event_sink(all.allocator, &sink, NULL), PLIM_OK);
}

static void tear_down(void)
{
    plim_error err;
    if (atomic_load(&all.has_fault)) {
        fail_msg("%s", all.fault);
    }
    if (!all.is_host) {
        plim_sim_complete_all(&all.device);
    }
    T_EQ_U64(plim_empty_cache(all.allocator, NULL, NULL), PLIM_OK);
    if (plim_allocator_check(all.allocator, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    plim_device_stats stats;
    T_EQ_U64(plim_allocator_stats(all.allocator, 0, &stats, NULL), PLIM_OK);
    const plim_stat *count = &stats.families[PLIM_STAT_ALLOCATION][PLIM_SLOT_ALL];
    const plim_stat *blocks = &stats.families[PLIM_STAT_ALLOCATED_BYTES][PLIM_SLOT_ALL];
    const plim_stat *bytes = &stats.families[PLIM_STAT_REQUESTED_BYTES][PLIM_SLOT_ALL];
    T_EQ_I64(count->current, 0);
    T_EQ_I64(count->allocated, atomic_load(&all.requests));
    T_EQ_I64(count->freed, atomic_load(&all.requests));
    T_EQ_I64(bytes->allocated, atomic_load(&all.requested_bytes));
    T_EQ_I64(bytes->freed, atomic_load(&all.requested_bytes));
    T_EQ_I64(atomic_load(&all.told), count->allocated);
    T_EQ_I64(atomic_load(&all.told_bytes), blocks->allocated);
    T_EQ_I64(blocks->freed, blocks->allocated);
    T_TRUE(count->peak >= atomic_load(&all.count.least_peak));
    T_TRUE(count->peak <= atomic_load(&all.count.most_peak));
    T_TRUE(bytes->peak >= atomic_load(&all.bytes.least_peak));
    plim_allocator_destroy(all.allocator);
    if (!all.is_host) {
        T_EQ_U64(plim_sim_taken_bytes(&all.device), 0);
    }
    plim_device_destroy(&all.device);
    (void)pthread_mutex_destroy(&all.lock);
}

static void run_threads(void)
{
    worker *workers = calloc(THREADS, sizeof *workers);
    T_NOT_NULL(workers);
    uint64_t random = t_random();
    pthread_t meddler;
    atomic_store(&all.running, THREADS);
    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i].index = i;
        workers[i].random = t_random();
        T_EQ_I64(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    T_EQ_I64(pthread_create(&meddler, NULL, meddle, &random), 0);
    for (uint64_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_join(workers[i].thread, NULL), 0);
    }
    T_EQ_I64(pthread_join(meddler, NULL), 0);
    block left;
    while (collect(&left)) {
        give(&left);
    }
    free(workers);
}

/* --- tests --- */

static void threads_agree_on_host_memory(void)
{
    set_up(true);
    run_threads();
    tear_down();
}

static void threads_agree_where_events_stay_out(void)
{
    set_up(false);
    run_threads();
    tear_down();
}

static void threads_agree_while_they_are_recorded(void)
{
    set_up(true);
    char path[] = "/tmp/plimsoll-threads-XXXXXX";
    const int file = mkstemp(path);
    T_TRUE(file >= 0);
    T_EQ_I64(close(file), 0);
    plim_recorder *recorder = NULL;
    T_EQ_U64(plim_recorder_start(path, NULL, &recorder, NULL), PLIM_OK);
    const plim_event_sink sink = plim_recorder_sink(recorder);
    T_EQ_U64(plim_add_event_sink(all.allocator, &sink, NULL), PLIM_OK);
    run_threads();
    plim_remove_event_sink(all.allocator, sink.ctx);
    const plim_recorder_counts counts = plim_recorder_count(recorder);
    T_TRUE(counts.events + counts.dropped >= (uint64_t)atomic_load(&all.told));
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    T_EQ_I64(unlink(path), 0);
    tear_down();
}

/* One thread keeps using a stream until its lane is its own; then others come. */
static void *insist(void *ctx)
{
    uint64_t random = *(const uint64_t *)ctx;
    for (int i = 0; i < 3000 && !atomic_load(&all.has_fault); i++) {
        block one, two;
        const bool has_one = get(&random, 0, &one);
        if (get(&random, 0, &two)) {
            give(&two);
        }
        if (has_one) {
            give(&one);
        }
    }
    atomic_fetch_sub(&all.running, 1);
    return NULL;
}

static void a_lane_changes_hands(void)
{
    for (int round = 0; round < 20; round++) {
        set_up(round % 2 == 0);
        uint64_t seeds[2] = { t_random(), t_random() };
        pthread_t threads[2];
        atomic_store(&all.running, 2);
        T_EQ_I64(pthread_create(&threads[0], NULL, insist, &seeds[0]), 0);
        while (atomic_load(&all.requests) < 1000 && atomic_load(&all.running) == 2) {
            (void)usleep(50);
        }
        check_stats();
        T_EQ_I64(pthread_create(&threads[1], NULL, insist, &seeds[1]), 0);
        for (int i = 0; i < 5; i++) {
            check_stats();
        }
        T_EQ_I64(pthread_join(threads[0], NULL), 0);
        T_EQ_I64(pthread_join(threads[1], NULL), 0);
        tear_down();
    }
}

T_MAIN(T_TEST(threads_agree_on_host_memory), T_TEST(threads_agree_where_events_stay_out),
       T_TEST(threads_agree_while_they_are_recorded), T_TEST(a_lane_changes_hands))
