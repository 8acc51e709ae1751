/*
 * ticks.c - the pace of ticks, and the time they stand for.
 *
 *   ns │                    ╱     The map from ticks to nanoseconds is a chain of straight pieces.
 *      │              ___╱        It starts at the first tick ever read, and is fixed up to a
 *      │         __╱              horizon. A caller that asks about ticks beyond the horizon
 * measures │      ╱                   again and adds a piece that begins where the last one ends
 * and │   ╱                      aims at the true time at the new horizon. └───┬──┬────┬────┬─
 * ticks first       horizon
 *
 * A fixed point never changes, so the map is monotonic and readers need no lock. The horizon
 * moves by half of all the time since the first tick: 64 pieces last for years.
 */
#include "base/ticks.h"

#include "base/hash.h" /* plim_uint128 */
#include "base/units.h"

#include <pthread.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define PACE_SHIFT     48      /* paces are nanoseconds per tick * 2^48 */
#define BASELINE_NS    1000000 /* the shortest time over which a pace is measured */
#define READINGS       5       /* the most exact of so many is used */
#define PIECES_MAX     64
#define CPUID_POWER    0x80000007u
#define CPUID_TSC_FLAG (1u << 8) /* in EDX: "invariant TSC" (AMD APM 3, appendix E.4.7) */

/* The same moment on both clocks. */
typedef struct clock_reading {
    uint64_t ticks;
    uint64_t ns; /* monotonic clock */
} clock_reading;

typedef struct clock_piece {
    uint64_t from_ticks;
    uint64_t from_ns; /* since the Unix epoch */
    uint64_t pace;
} clock_piece;

atomic_bool plim_ticks_are_tsc = false;

static struct {
    pthread_once_t started;
    clock_reading first;
    uint64_t unix_less_monotonic_ns; /* at the first tick */
    pthread_mutex_t lock;            /* held by who adds a piece */
    clock_piece pieces[PIECES_MAX];
    atomic_uint piece_count;  /* those below it never change */
    _Atomic uint64_t horizon; /* ticks up to which the map is fixed */
} chain = { .started = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t clock_ns(clockid_t id)
{
    struct timespec now = { 0 };
    (void)clock_gettime(id, &now); /* cannot fail: both clocks always exist here */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static bool has_steady_tsc(void)
{
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(CPUID_POWER, &a, &b, &c, &d) != 0 && (d & CPUID_TSC_FLAG) != 0;
#else
    return false;
#endif
}

static uint64_t ticks_at_once(void)
{
#if defined(__x86_64__)
    if (atomic_load_explicit(&plim_ticks_are_tsc, memory_order_relaxed)) {
        return __rdtsc();
    }
#endif
    return clock_ns(CLOCK_MONOTONIC);
}

/* Both clocks at once, or as nearly so as some tries give: we may be interrupted in between. */
static clock_reading read_both(void)
{
    clock_reading best = { 0 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        const uint64_t before = ticks_at_once();
        const uint64_t ns = clock_ns(CLOCK_MONOTONIC);
        const uint64_t took = ticks_at_once() - before;
        if (took < least) {
            least = took;
            best = (clock_reading){ .ticks = before + took / 2, .ns = ns };
        }
    }
    return best;
}

/* Nanoseconds that the system's time is ahead of its monotonic clock, found in the same way. */
static uint64_t read_unix_less_monotonic(void)
{
    uint64_t best = 0;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        const uint64_t before = clock_ns(CLOCK_MONOTONIC);
        const uint64_t unix_ns = clock_ns(CLOCK_REALTIME);
        const uint64_t took = clock_ns(CLOCK_MONOTONIC) - before;
        if (took < least) {
            least = took;
            best = unix_ns - (before + took / 2);
        }
    }
    return best;
}

static void start(void)
{
    atomic_store_explicit(&plim_ticks_are_tsc, has_steady_tsc(), memory_order_relaxed);
    chain.unix_less_monotonic_ns = read_unix_less_monotonic();
    chain.first = read_both();
}

uint64_t plim_ticks_now_slow(void)
{
    (void)pthread_once(&chain.started, start); /* fails only for a damaged once */
    return ticks_at_once();
}

static uint64_t along(const clock_piece *from, uint64_t ticks)
{
    if (ticks < from->from_ticks) { /* only before the first piece: another core's counter */
        const plim_uint128 back = (plim_uint128)(from->from_ticks - ticks) * from->pace;
        const plim_uint128 back_ns = back >> PACE_SHIFT;
        return back_ns < from->from_ns ? from->from_ns - (uint64_t)back_ns : 0;
    }
    const plim_uint128 ahead = (plim_uint128)(ticks - from->from_ticks) * from->pace;
    return from->from_ns + (uint64_t)(ahead >> PACE_SHIFT);
}

static uint64_t pace_of(uint64_t ns, uint64_t ticks)
{
    return (uint64_t)(((plim_uint128)ns << PACE_SHIFT) / ticks);
}

/* Adds the piece that begins at the horizon, or at the first tick. The lock is held. */
static void add_piece(void)
{
    clock_reading now = read_both();
    while (now.ns - chain.first.ns < BASELINE_NS) {
        now = read_both();
    }
    const unsigned count = atomic_load_explicit(&chain.piece_count, memory_order_relaxed);
    const uint64_t horizon = atomic_load_explicit(&chain.horizon, memory_order_relaxed);
    /* A counter that went back was reset while the machine slept; any pace is as good then. */
    const uint64_t passed = now.ticks > chain.first.ticks ? now.ticks - chain.first.ticks : 1;
    const uint64_t goal = (now.ticks > horizon ? now.ticks : horizon) + passed / 2;
    const clock_piece truth = { .from_ticks = now.ticks,
                                .from_ns = now.ns + chain.unix_less_monotonic_ns,
                                .pace = pace_of(now.ns - chain.first.ns, passed) };
    clock_piece next = { .from_ticks = chain.first.ticks,
                         .from_ns = chain.first.ns + chain.unix_less_monotonic_ns,
                         .pace = truth.pace };
    if (count > 0) {
        const uint64_t goal_ns = along(&truth, goal);
        next.from_ticks = horizon;
        next.from_ns = along(&chain.pieces[count - 1], horizon);
        if (goal > horizon && goal_ns > next.from_ns) {
            next.pace = pace_of(goal_ns - next.from_ns, goal - horizon);
        }
    }
    chain.pieces[count] = next;
    atomic_store_explicit(&chain.piece_count, count + 1, memory_order_release);
    atomic_store_explicit(&chain.horizon, count + 1 == PIECES_MAX ? UINT64_MAX : goal,
                          memory_order_release);
}

uint64_t plim_ticks_to_unix_ns(uint64_t ticks)
{
    if (ticks > atomic_load_explicit(&chain.horizon, memory_order_acquire) ||
        atomic_load_explicit(&chain.piece_count, memory_order_acquire) == 0) {
        (void)plim_ticks_now(); /* there is a first tick */
        (void)pthread_mutex_lock(&chain.lock);
        if (ticks > atomic_load_explicit(&chain.horizon, memory_order_relaxed) ||
            atomic_load_explicit(&chain.piece_count, memory_order_relaxed) == 0) {
            add_piece();
        }
        (void)pthread_mutex_unlock(&chain.lock);
    }
    unsigned i = atomic_load_explicit(&chain.piece_count, memory_order_acquire) - 1;
    while (i > 0 && ticks < chain.pieces[i].from_ticks) {
        i--;
    }
    return along(&chain.pieces[i], ticks);
}
