/*
 * unwind.c - the return addresses of a thread.
 *
 *   rsp ──► │ locals, saved rbp, … │
 *           │ return address       │ ◄── the last word of a frame
 *   CFA ──► ├──────────────────────┤     is the caller's rsp
 *           │ the caller's frame   │
 *
 * A walk goes from frame to frame by rules (rules.h) and reads only between where it is and the
 * end of the thread's stack, so that no rule, however wrong, can make it read elsewhere. What it
 * cannot walk (signal frames, stacks of coroutines, code without a file, other machines) is
 * left to the C library, which asks the unwinder that compilers bring for exceptions: twenty times
 * slower.
 */
#include "unwind/unwind.h"

#include "unwind/rules.h"

#include <execinfo.h>
#include <pthread.h>

#define SLOW_FRAMES_MAX 1024 /* frames further out are left out */

typedef struct walk {
    uint64_t *addresses;
    size_t capacity;
    size_t count;
    size_t skip; /* frames still to leave out */
} walk;

/* False when there is no room for it. */
static inline bool add_address(walk *w, uint64_t address)
{
    if (w->skip > 0) {
        w->skip--;
        return true;
    }
    if (w->count == w->capacity) {
        return false;
    }
    w->addresses[w->count++] = address;
    return true;
}

/* `first` is where the outermost of our own functions returns to: what the C library finds before
 * it is ours, or a sanitizer's. */
static void walk_slowly(walk *w, uint64_t first)
{
    void *frames[SLOW_FRAMES_MAX];
    const int count = backtrace(frames, SLOW_FRAMES_MAX);
    bool is_ours = true;
    for (int i = 0; i < count; i++) {
        const uint64_t address = (uintptr_t)frames[i];
        is_ours = is_ours && address != first;
        if (!is_ours && (address == 0 || !add_address(w, address))) {
            return;
        }
    }
}

#if defined(__x86_64__)

typedef struct registers {
    uint64_t rip;
    uint64_t rsp;
    uint64_t rbp;
} registers;

typedef struct stack_bounds {
    uint64_t low;
    uint64_t high; /* 0: not looked up yet */
} stack_bounds;

static _Thread_local stack_bounds own_stack;

/* Asks the system once in a thread. Where it cannot tell, nothing lies on the stack. */
static void find_own_stack(void)
{
    own_stack = (stack_bounds){ .low = 1, .high = 1 };
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
            own_stack.low = (uintptr_t)low;
            own_stack.high = ((uintptr_t)low + bytes) & ~(uint64_t)7;
        }
        (void)pthread_attr_destroy(&attributes);
    }
}

/* A word of this thread's stack. Sanitizers would object to some: they are other frames'. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t load(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

/* False when some frame is none of ours to walk. */
static bool walk_by_rules(walk *w, registers at)
{
    if (own_stack.high == 0) {
        find_own_stack();
    }
    const uint64_t high = own_stack.high;
    if (at.rsp < own_stack.low || at.rsp > high || (at.rsp & 7u) != 0) {
        return false;
    }
    while (at.rip != 0 && add_address(w, at.rip)) {
        const plim_rule rule = plim_rule_find(at.rip);
        if (plim_rule_get_kind(rule) != PLIM_RULE_STEP) {
            return plim_rule_get_kind(rule) == PLIM_RULE_END;
        }
        const uint64_t cfa =
            (plim_rule_is_from_rbp(rule) ? at.rbp : at.rsp) + plim_rule_cfa_distance(rule);
        if (cfa <= at.rsp || cfa > high || (cfa & 7u) != 0) {
            return false;
        }
        if (plim_rule_saves_rbp(rule)) {
            const uint64_t saved = cfa + plim_rule_rbp_distance(rule);
            if (saved < at.rsp || saved > cfa - sizeof saved) {
                return false;
            }
            at.rbp = load(saved);
        }
        at.rip = load(cfa - sizeof at.rip);
        at.rsp = cfa;
    }
    return true;
}

/* False where there are no rules, and when some frame is none of ours to walk. */
static bool walk_fast(walk *w, uint64_t frame, uint64_t first)
{
    /* Whoever asks for a frame's address has rbp and the return address there. */
    const registers caller = { .rip = load(frame + 8), .rsp = frame + 16, .rbp = load(frame) };
    return caller.rip == first && walk_by_rules(w, caller);
}

#else

static bool walk_fast(walk *w, uint64_t frame, uint64_t first)
{
    (void)w;
    (void)frame;
    (void)first;
    return false;
}

#endif

__attribute__((noinline)) size_t plim_unwind(uint64_t *addresses, size_t capacity, size_t skip)
{
    const uint64_t first = (uintptr_t)__builtin_return_address(0);
    const walk start = { .addresses = addresses, .capacity = capacity, .skip = skip };
    walk w = start;
    if (!walk_fast(&w, (uintptr_t)__builtin_frame_address(0), first)) {
        w = start;
        walk_slowly(&w, first);
    }
    return w.count;
}
