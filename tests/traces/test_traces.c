/*
 * test_traces.c - made-up histories: the same each time, sound, and shaped like real ones.
 */
#include "harness.h"
#include "plimsoll/inspect.h"
#include "plimsoll/recorder.h"
#include "plimsoll/snapshot.h"
#include "torch/same.h"
#include "traces/trace.h"

#include <unistd.h>

enum { EVENTS = 60000 };

static plim_history *made(const plim_trace_spec *spec, plim_trace_outcome *ret_outcome)
{
    plim_error err;
    plim_history *history = NULL;
    if (plim_trace_make(spec, &history, ret_outcome, &err) != PLIM_OK) {
        fail_msg("%s: %s", plim_trace_kind_name(spec->kind), err.message);
    }
    return history;
}

static const plim_device_history *only_device(const plim_history *history)
{
    T_EQ_U64(plim_history_device_count(history), 1);
    return plim_history_device(history, 0);
}

static void expect_same(const plim_history *a, const plim_history *b)
{
    char difference[256] = "";
    if (!same_history(a, b, difference, sizeof difference)) {
        fail_msg("%s: %s", t_now.row, difference);
    }
}

static void one_seed_gives_one_history(void)
{
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        T_CASE("%s", plim_trace_kind_name((plim_trace_kind)kind));
        const plim_trace_spec spec = { .kind = (plim_trace_kind)kind,
                                       .seed = t_random(),
                                       .events = EVENTS / 4,
                                       .annotates_steps = true };
        plim_history *const a = made(&spec, NULL);
        plim_history *const b = made(&spec, NULL);
        expect_same(a, b);
        plim_history_destroy(a);
        plim_history_destroy(b);
    }
}

static void another_seed_gives_another_program(void)
{
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        char difference[256];
        plim_trace_spec spec = { .kind = (plim_trace_kind)kind, .seed = 1, .events = EVENTS / 4 };
        plim_history *const a = made(&spec, NULL);
        spec.seed = 2;
        plim_history *const b = made(&spec, NULL);
        T_FALSE(same_history(a, b, difference, sizeof difference));
        plim_history_destroy(a);
        plim_history_destroy(b);
    }
}

/* --- soundness --- */

static void expect_no_anomalies(const plim_history *history)
{
    plim_error err;
    plim_inspection *inspection = NULL;
    T_EQ_U64(plim_inspect(history, NULL, &inspection, &err), PLIM_OK);
    for (unsigned anomaly = 0; anomaly < PLIM_ANOMALY_COUNT; anomaly++) {
        const uint64_t count = plim_inspection_anomaly_count(inspection, (plim_anomaly)anomaly);
        if (count != 0 && anomaly != PLIM_ANOMALY_AFTER_OOM) {
            fail_msg("%s: %" PRIu64 " times %s", t_now.row, count,
                     plim_anomaly_name((plim_anomaly)anomaly));
        }
    }
    plim_inspection_destroy(inspection);
}

static const char *const confs[] = {
    NULL,
    "expandable_segments:True",
    "max_split_size_mb:64,garbage_collection_threshold:0.6,per_process_memory_fraction:0.5",
    "roundup_power2_divisions:4",
};

static void histories_are_sound_under_all_settings(void)
{
    for (unsigned i = 0; i < PLIM_TRACE_KIND_COUNT * T_COUNT(confs); i++) {
        const plim_trace_spec spec = { .kind = (plim_trace_kind)(i % PLIM_TRACE_KIND_COUNT),
                                       .seed = t_random(),
                                       .events = EVENTS / 4,
                                       .conf = confs[i / PLIM_TRACE_KIND_COUNT] };
        plim_trace_outcome outcome;
        T_CASE("%s, seed %" PRIu64 ", %s", plim_trace_kind_name(spec.kind), spec.seed,
               spec.conf == NULL ? "" : spec.conf);
        plim_history *const history = made(&spec, &outcome);
        T_EQ_U64(only_device(history)->events.count, outcome.events);
        T_TRUE(outcome.events >= spec.events || outcome.ooms > 0);
        expect_no_anomalies(history);
        plim_history_destroy(history);
    }
}

static void files_hold_them_whole(void)
{
    char folder[] = "/tmp/plimsoll-traces-XXXXXX";
    T_NOT_NULL(mkdtemp(folder));
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        char path[64];
        plim_error err;
        plim_history *read = NULL;
        const plim_trace_spec spec = { .kind = (plim_trace_kind)kind,
                                       .seed = t_random(),
                                       .events = EVENTS / 4,
                                       .annotates_steps = true };
        plim_history *const history = made(&spec, NULL);
        T_CASE("%s, seed %" PRIu64, plim_trace_kind_name(spec.kind), spec.seed);
        (void)snprintf(path, sizeof path, "%s/made.plim", folder);
        T_EQ_U64(plim_recording_save(history, path, NULL, &err), PLIM_OK);
        T_EQ_U64(plim_recording_load(path, NULL, &read, &err), PLIM_OK);
        expect_same(history, read);
        plim_history_destroy(read);
        T_EQ_U64(unlink(path), 0);

        (void)snprintf(path, sizeof path, "%s/made.pickle", folder);
        T_EQ_U64(plim_snapshot_save(history, path, NULL, &err), PLIM_OK);
        T_EQ_U64(plim_snapshot_load(path, NULL, &read, &err), PLIM_OK);
        T_EQ_U64(only_device(read)->events.count, only_device(history)->events.count);
        expect_no_anomalies(read);
        plim_history_destroy(read);
        T_EQ_U64(unlink(path), 0);
        plim_history_destroy(history);
    }
    T_EQ_U64(rmdir(folder), 0);
}

/* --- shapes --- */

typedef struct shape {
    uint64_t allocations;
    uint64_t sizes;    /* distinct ones, in whole 512 bytes */
    double top;        /* share of the 16 commonest sizes */
    double small;      /* share of what the small pool serves */
    uint64_t life;     /* median, in allocations from its own to its free */
    uint64_t deferred; /* frees that were not completed at once */
    uint64_t in_pools; /* allocations from private pools */
    double ratio;      /* reserved to allocated bytes, both at their peaks */
} shape;

static int ascending(const void *a, const void *b)
{
    const uint64_t *const left = a;
    const uint64_t *const right = b;
    return (*left > *right) - (*left < *right);
}

static void sizes_of(const plim_events *events, shape *of)
{
    uint64_t *const sizes = calloc(events->count, sizeof *sizes);
    uint64_t *const runs = calloc(events->count + 16, sizeof *runs);
    T_NOT_NULL(sizes);
    T_NOT_NULL(runs);
    uint64_t small = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_ALLOC) {
            sizes[of->allocations] = (events->bytes[i] + 511) / 512 * 512;
            small += sizes[of->allocations] <= 1 << 20;
            of->allocations++;
        }
    }
    qsort(sizes, of->allocations, sizeof *sizes, ascending);
    for (uint64_t i = 0; i < of->allocations; i++) {
        of->sizes += i == 0 || sizes[i] != sizes[i - 1];
        runs[of->sizes - 1]++;
    }
    qsort(runs, of->sizes, sizeof *runs, ascending);
    uint64_t top = 0;
    for (uint64_t i = of->sizes; i-- > 0 && of->sizes - i <= 16;) {
        top += runs[i];
    }
    of->top = (double)top / (double)of->allocations;
    of->small = (double)small / (double)of->allocations;
    free(sizes);
    free(runs);
}

/* Who was handed out last at an address: open addressing, as addresses come again and again. */
enum { SLOTS = 1 << 17 };

static uint64_t *slot_of(uint64_t (*slots)[2], uint64_t addr)
{
    uint64_t i = (addr >> 9) * UINT64_C(0x9e3779b97f4a7c15) >> 47;
    while (slots[i][0] != addr && slots[i][0] != 0) {
        i = (i + 1) % SLOTS;
    }
    slots[i][0] = addr;
    return &slots[i][1];
}

static void lives_of(const plim_events *events, shape *of)
{
    uint64_t(*const slots)[2] = calloc(SLOTS, sizeof *slots);
    uint64_t *const lives = calloc(events->count, sizeof *lives);
    T_NOT_NULL(slots);
    T_NOT_NULL(lives);
    uint64_t allocations = 0, freed = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_ALLOC) {
            allocations++;
            *slot_of(slots, events->addr[i]) = allocations;
        } else if (events->action[i] == PLIM_FREE_REQUESTED) {
            lives[freed] = 1 + allocations - *slot_of(slots, events->addr[i]);
            freed++;
            of->deferred += i + 1 == events->count || events->action[i + 1] != PLIM_FREE_COMPLETED;
        }
    }
    qsort(lives, freed, sizeof *lives, ascending);
    of->life = lives[freed / 2];
    free(slots);
    free(lives);
}

static shape shape_of(const plim_trace_spec *spec)
{
    shape of = { 0 };
    plim_trace_outcome outcome;
    plim_history *const history = made(spec, &outcome);
    const plim_events *const events = &only_device(history)->events;
    sizes_of(events, &of);
    lives_of(events, &of);
    for (uint64_t i = 0; i < events->count; i++) {
        const plim_note *const note = plim_history_note(history, events->note[i]);
        of.in_pools += events->action[i] == PLIM_ALLOC && (note->pool.a | note->pool.b) != 0;
    }
    of.ratio = (double)outcome.peak_reserved_bytes / (double)outcome.peak_allocated_bytes;
    plim_history_destroy(history);
    return of;
}

/*
 * Ranges that every seed stays in. For fixed shapes they are those of recorded training runs
 * (docs/design/traces.md); others have what their program implies: the extremes of 210 seeds, with
 * room beyond them, as each run draws seeds of its own.
 */
static const struct {
    plim_trace_kind kind;
    uint64_t sizes_min, sizes_max;
    double top_min, small_min, small_max;
    uint64_t life_max;
    bool has_deferred, has_pools;
} ranges[] = {
    { PLIM_TRACE_TRAINING, 9, 27, 0.96, 0.05, 0.6, 12, false, false },
    { PLIM_TRACE_FINETUNE, 25, 800, 0.3, 0.05, 0.7, 10, false, false },
    { PLIM_TRACE_MOE, 400, 4000, 0.3, 0.05, 0.4, 8, false, false },
    { PLIM_TRACE_UNET, 40, 600, 0.4, 0.2, 0.7, 25, false, false },
    { PLIM_TRACE_DIT, 10, 200, 0.6, 0.05, 0.9, 8, false, false },
    { PLIM_TRACE_PAGED, 15, 400, 0.3, 0.4, 1, 8, false, false },
    { PLIM_TRACE_CONTIGUOUS, 20, 400, 0.5, 0.6, 1, 8, false, false },
    { PLIM_TRACE_RL, 30, 600, 0.2, 0.1, 0.9, 8, false, false },
    { PLIM_TRACE_EVALUATION, 9, 600, 0.2, 0.05, 0.6, 25, false, false },
    { PLIM_TRACE_VISION, 200, 5000, 0.2, 0.1, 0.8, 12, false, false },
    { PLIM_TRACE_STREAMS, 9, 30, 0.9, 0.05, 0.6, 8, true, false },
    { PLIM_TRACE_GRAPHS, 30, 300, 0.3, 0.1, 0.8, 8, false, true },
};

static void shapes_are_those_of_their_kind(void)
{
    T_EQ_U64(T_COUNT(ranges), PLIM_TRACE_KIND_COUNT);
    for (size_t i = 0; i < T_COUNT(ranges); i++) {
        const plim_trace_spec spec = { .kind = ranges[i].kind,
                                       .seed = t_random(),
                                       .events = EVENTS };
        const shape is = shape_of(&spec);
        T_CASE("%s, seed %" PRIu64 ": %" PRIu64 " sizes, top %.2f, small %.2f, life %" PRIu64
               ", %" PRIu64 " deferred, %" PRIu64 " in pools, ratio %.2f",
               plim_trace_kind_name(spec.kind), spec.seed, is.sizes, is.top, is.small, is.life,
               is.deferred, is.in_pools, is.ratio);
        T_TRUE(is.sizes >= ranges[i].sizes_min && is.sizes <= ranges[i].sizes_max);
        T_TRUE(is.top >= ranges[i].top_min);
        T_TRUE(is.small >= ranges[i].small_min && is.small <= ranges[i].small_max);
        T_TRUE(is.life >= 1 && is.life <= ranges[i].life_max);
        T_EQ_U64(is.deferred > EVENTS / 1000, ranges[i].has_deferred);
        T_EQ_U64(is.in_pools > EVENTS / 1000, ranges[i].has_pools);
        T_TRUE(is.ratio >= 1 && is.ratio < 4);
    }
}

/* --- what stays the same --- */

static void settings_do_not_change_what_is_requested(void)
{
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        plim_trace_spec spec = { .kind = (plim_trace_kind)kind,
                                 .seed = t_random(),
                                 .events = EVENTS / 4 };
        T_CASE("%s, seed %" PRIu64, plim_trace_kind_name(spec.kind), spec.seed);
        plim_history *const a = made(&spec, NULL);
        spec.conf = "expandable_segments:True";
        plim_history *const b = made(&spec, NULL);
        const plim_events *const left = &only_device(a)->events;
        const plim_events *const right = &only_device(b)->events;
        uint64_t j = 0;
        for (uint64_t i = 0; i < left->count; i++) {
            if (left->action[i] != PLIM_ALLOC && left->action[i] != PLIM_FREE_REQUESTED) {
                continue;
            }
            while (j < right->count && right->action[j] != PLIM_ALLOC &&
                   right->action[j] != PLIM_FREE_REQUESTED) {
                j++;
            }
            T_TRUE(j < right->count);
            T_EQ_U64(left->action[i], right->action[j]);
            T_EQ_U64(left->bytes[i], right->bytes[j]);
            j++;
        }
        plim_history_destroy(a);
        plim_history_destroy(b);
    }
}

static void a_torn_one_is_the_end_of_the_whole(void)
{
    plim_trace_spec spec = { .kind = PLIM_TRACE_STREAMS, .seed = t_random(), .events = EVENTS };
    T_CASE("seed %" PRIu64, spec.seed);
    plim_history *const whole = made(&spec, NULL);
    spec.keep_events = 1000;
    plim_history *const torn = made(&spec, NULL);
    const plim_events *const all = &only_device(whole)->events;
    const plim_events *const last = &only_device(torn)->events;
    T_EQ_U64(last->count, 1000);
    T_EQ_U64(only_device(torn)->overflowed, PLIM_YES);
    T_EQ_U64(only_device(torn)->capacity_events, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        T_EQ_U64(last->action[i], all->action[all->count - 1000 + i]);
        T_EQ_U64(last->addr[i], all->addr[all->count - 1000 + i]);
        T_EQ_I64(last->time_us[i], all->time_us[all->count - 1000 + i]);
    }
    expect_no_anomalies(torn);
    plim_history_destroy(whole);
    plim_history_destroy(torn);
}

static void memory_that_runs_out_ends_the_program_or_does_not(void)
{
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        plim_trace_outcome outcome;
        plim_trace_spec spec = { .kind = (plim_trace_kind)kind, .seed = 5, .events = EVENTS };
        plim_history_destroy(made(&spec, &outcome));
        T_CASE("%s", plim_trace_kind_name(spec.kind));
        spec.capacity_bytes = outcome.peak_allocated_bytes / 10 * 9;
        plim_history *history = made(&spec, &outcome);
        const plim_events *const events = &only_device(history)->events;
        T_EQ_U64(outcome.ooms, 1);
        T_EQ_U64(events->action[events->count - 1], PLIM_OOM);
        expect_no_anomalies(history);
        plim_history_destroy(history);

        spec.goes_on_after_oom = true;
        history = made(&spec, &outcome);
        T_TRUE(outcome.events >= EVENTS);
        expect_no_anomalies(history);
        plim_history_destroy(history);
    }
}

static void what_makes_no_sense_is_refused(void)
{
    plim_error err;
    plim_history *history = NULL;
    const plim_trace_spec specs[] = {
        { .events = 0 },
        { .kind = PLIM_TRACE_KIND_COUNT, .events = 1 },
        { .events = PLIM_TRACE_EVENTS_MAX + 1 },
    };
    for (size_t i = 0; i < T_COUNT(specs); i++) {
        T_EQ_U64(plim_trace_make(&specs[i], &history, NULL, &err), PLIM_INVALID_ARGUMENT);
    }
    const plim_trace_spec wrong = { .events = 1, .conf = "max_split_size_mb" };
    T_EQ_U64(plim_trace_make(&wrong, &history, NULL, &err), PLIM_CORRUPT);
    T_NULL(history);
}

/*
 * The allocator gets over some failures by itself (a spare that is not there is made later), so a
 * failing allocation may also change nothing.
 */
static void expect_failures_to_surface(plim_trace_spec spec)
{
    plim_history *const right = made(&spec, NULL);
    for (uint64_t n = 1;; n++) {
        t_mem heap;
        t_mem_init(&heap);
        heap.fail_at = n;
        spec.mem = &heap.mem;
        plim_error err;
        plim_history *history = NULL;
        const plim_status status = plim_trace_make(&spec, &history, NULL, &err);
        T_CASE("allocation %" PRIu64 " fails", n);
        if (status == PLIM_OK) {
            expect_same(history, right);
        } else {
            T_EQ_U64(status, PLIM_OUT_OF_HOST_MEMORY);
            T_EQ_U64(err.status, PLIM_OUT_OF_HOST_MEMORY);
        }
        plim_history_destroy(history);
        T_EQ_U64(heap.live_bytes, 0);
        if (!heap.failed) {
            break;
        }
    }
    plim_history_destroy(right);
}

static void each_failing_allocation_surfaces(void)
{
    /* Without stacks: an event whose stack finds no memory has none, and that is no failure. */
    plim_trace_spec spec = { .kind = PLIM_TRACE_TRAINING,
                             .seed = 3,
                             .events = 600,
                             .annotates_steps = true,
                             .leaves_out_stacks = true };
    expect_failures_to_surface(spec);
    spec.keep_events = 100;
    expect_failures_to_surface(spec);
}

T_MAIN(T_TEST(one_seed_gives_one_history), T_TEST(another_seed_gives_another_program),
       T_TEST(histories_are_sound_under_all_settings), T_TEST(files_hold_them_whole),
       T_TEST(shapes_are_those_of_their_kind), T_TEST(settings_do_not_change_what_is_requested),
       T_TEST(a_torn_one_is_the_end_of_the_whole),
       T_TEST(memory_that_runs_out_ends_the_program_or_does_not),
       T_TEST(what_makes_no_sense_is_refused), T_TEST(each_failing_allocation_surfaces))
