/*
 * test_unwind.c - return addresses: the right ones, as many as requested, from anywhere.
 */
#include "harness.h"

#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <pthread.h>
#include <signal.h>
#include <unwind.h>

#define CAPACITY 256
#define THREADS  4

typedef struct trace {
    uint64_t addresses[CAPACITY];
    size_t count;
    size_t skip;
    uint64_t reference[CAPACITY]; /* by the compiler's unwinder */
    size_t reference_count;
} trace;

static _Thread_local volatile size_t
    after_call; /* written after calls, so that they are not jumps */

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *ctx)
{
    trace *const t = ctx;
    if (t->reference_count == CAPACITY || _Unwind_GetIP(frame) == 0) {
        return _URC_END_OF_STACK;
    }
    t->reference[t->reference_count++] = _Unwind_GetIP(frame);
    return _URC_NO_REASON;
}

__attribute__((noinline)) static void take(trace *t)
{
    t->count = plim_unwind(t->addresses, CAPACITY, t->skip);
    t->reference_count = 0;
    (void)_Unwind_Backtrace(step, t);
    after_call++;
}

/* All but the innermost frame, which is left between two calls of take() itself. */
static void expect_reference(const trace *t)
{
    T_TRUE(t->count > 2);
    T_EQ_U64(t->count, t->reference_count);
    for (size_t i = 1; i < t->count; i++) {
        T_CASE("frame %zu of %zu", i, t->count);
        T_EQ_U64(t->addresses[i], t->reference[i]);
    }
}

__attribute__((noinline)) static void go_down(size_t depth, trace *t)
{
    if (depth == 0) {
        take(t);
    } else {
        go_down(depth - 1, t);
    }
    after_call++;
}

/* Frames whose size only the program knows, so that they are found through a register. */
__attribute__((noinline)) static void go_down_unevenly(size_t depth, trace *t)
{
    volatile char *const room = __builtin_alloca(16 + (size_t)t_random_between(0, 500));
    room[0] = 1;
    if (depth == 0) {
        take(t);
    } else {
        go_down_unevenly(depth - 1, t);
    }
    after_call += (size_t)room[0];
}

static void the_compilers_unwinder_finds_the_same(void)
{
    for (size_t depth = 0; depth < 100; depth += 7) {
        for (int again = 0; again < 3; again++) { /* learning, and from memory */
            static trace t;
            t = (trace){ .skip = 0 };
            go_down(depth, &t);
            T_TRUE(t.count > depth);
            expect_reference(&t);
            go_down_unevenly(depth, &t);
            T_TRUE(t.count > depth);
            expect_reference(&t);
        }
    }
}

static void ordinary_frames_are_walked_by_rules(void)
{
#if defined(__x86_64__)
    static trace t;
    for (size_t depth = 0; depth < 50; depth += 10) {
        go_down(depth, &t);
        for (size_t i = 0; i + 1 < t.count; i++) {
            T_CASE("frame %zu of %zu", i, t.count);
            T_EQ_U64(plim_rule_get_kind(plim_rule_find(t.addresses[i])), PLIM_RULE_STEP);
        }
        T_EQ_U64(plim_rule_get_kind(plim_rule_find(t.addresses[t.count - 1])), PLIM_RULE_END);
    }
#else
    T_SKIP("rules are for x86-64");
#endif
}

static void nobody_knows_rules_of_wild_addresses(void)
{
    const uint64_t wild[] = { 0, 1, 4096, UINT64_MAX, (uintptr_t)&after_call };
    for (size_t i = 0; i < T_COUNT(wild); i++) {
        for (int again = 0; again < 2; again++) {
            T_EQ_U64(plim_rule_get_kind(plim_rule_find(wild[i])), PLIM_RULE_OTHER);
        }
    }
}

static int compare(const void *a, const void *b)
{
    static trace t;
    go_down(3, &t);
    expect_reference(&t);
    return *(const int *)a - *(const int *)b;
}

static void libraries_in_between_are_passed(void)
{
    int numbers[] = { 5, 3, 9, 1, 7 };
    qsort(numbers, T_COUNT(numbers), sizeof numbers[0], compare);
    T_EQ_I64(numbers[0], 1);
}

/* Both from one place but for the innermost frame, whose two calls lie side by side. */
__attribute__((noinline)) static void take_both(trace *all, trace *some, size_t depth)
{
    if (depth > 0) {
        take_both(all, some, depth - 1);
    } else {
        all->count = plim_unwind(all->addresses, CAPACITY, 0);
        some->count = plim_unwind(some->addresses, CAPACITY, some->skip);
    }
    after_call++;
}

static void innermost_callers_are_skipped(void)
{
    static trace all;
    static trace some;
    for (size_t skip = 1; skip < 7; skip++) {
        some.skip = skip;
        take_both(&all, &some, 10);
        T_EQ_U64(some.count + skip, all.count);
        T_EQ_MEM(some.addresses, all.addresses + skip, some.count * sizeof some.addresses[0]);
    }
    some.skip = 10000;
    take_both(&all, &some, 10);
    T_EQ_U64(some.count, 0);
}

static void no_more_is_written_than_asked_for(void)
{
    uint64_t addresses[8];
    for (size_t capacity = 0; capacity < T_COUNT(addresses); capacity++) {
        memset(addresses, 0x5a, sizeof addresses);
        T_EQ_U64(plim_unwind(addresses, capacity, 0), capacity);
        for (size_t i = capacity; i < T_COUNT(addresses); i++) {
            T_EQ_U64(addresses[i], UINT64_C(0x5a5a5a5a5a5a5a5a));
        }
    }
}

static void deep_recursion_is_cut_at_its_outer_end(void)
{
    static trace t;
    t.skip = 0;
    go_down(5000, &t);
    T_EQ_U64(t.count, CAPACITY);
    expect_reference(&t);
}

static void *in_a_thread(void *ctx)
{
    bool *const good = ctx;
    trace t = { .skip = 0 };
    *good = true;
    for (size_t i = 0; i < 2000; i++) {
        go_down(i % 50, &t);
        *good = *good && t.count == t.reference_count && t.count > i % 50 &&
                memcmp(t.addresses + 1, t.reference + 1, (t.count - 1) * 8) == 0;
    }
    return NULL;
}

static void threads_do_not_disturb_each_other(void)
{
    pthread_t threads[THREADS];
    bool good[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_create(&threads[i], NULL, in_a_thread, &good[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_join(threads[i], NULL), 0);
        T_TRUE(good[i]);
    }
}

static trace in_handler;

static void handle(int number)
{
    (void)number;
    take(&in_handler);
}

/* Meeting a place for the first time takes memory, which a handler of a signal that comes at any
 * moment must not do. Ours comes when we say so, but ThreadSanitizer cannot know. */
static void skip_under_thread_sanitizer(void)
{
#if defined(__SANITIZE_THREAD__)
    T_SKIP("ThreadSanitizer lets no handler take memory");
#endif
}

static void signal_handlers_are_passed(void)
{
    skip_under_thread_sanitizer();
    struct sigaction action = { .sa_handler = handle };
    struct sigaction old;
    T_EQ_I64(sigaction(SIGUSR1, &action, &old), 0);
    T_EQ_I64(raise(SIGUSR1), 0);
    T_EQ_I64(sigaction(SIGUSR1, &old, NULL), 0);
    expect_reference(&in_handler);
    T_TRUE(in_handler.count > 4);
}

static void a_stack_of_its_own_is_passed(void)
{
    skip_under_thread_sanitizer();
    static unsigned char room[65536];
    const stack_t own = { .ss_sp = room, .ss_size = sizeof room };
    stack_t old;
    T_EQ_I64(sigaltstack(&own, &old), 0);
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
    struct sigaction old_action;
    T_EQ_I64(sigaction(SIGUSR1, &action, &old_action), 0);
    T_EQ_I64(raise(SIGUSR1), 0);
    T_EQ_I64(sigaction(SIGUSR1, &old_action, NULL), 0);
    T_EQ_I64(sigaltstack(&old, NULL), 0);
    expect_reference(&in_handler);
}

T_MAIN(T_TEST(the_compilers_unwinder_finds_the_same), T_TEST(ordinary_frames_are_walked_by_rules),
       T_TEST(nobody_knows_rules_of_wild_addresses), T_TEST(libraries_in_between_are_passed),
       T_TEST(innermost_callers_are_skipped), T_TEST(no_more_is_written_than_asked_for),
       T_TEST(deep_recursion_is_cut_at_its_outer_end), T_TEST(threads_do_not_disturb_each_other),
       T_TEST(signal_handlers_are_passed), T_TEST(a_stack_of_its_own_is_passed))
