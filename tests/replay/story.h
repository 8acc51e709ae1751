/*
 * story.h - short histories written by hand, or made up at random: what a program requested, with
 * addresses nobody reads and nothing left at the end.
 */
#ifndef PLIMSOLL_TESTS_REPLAY_STORY_H
#define PLIMSOLL_TESTS_REPLAY_STORY_H

#include "base/units.h"
#include "harness.h"
#include "history/builder.h"
#include "plimsoll/replay.h"

#define STORY_LIVE_MAX 256
#define STORY_APART    ((uint64_t)1 << 40) /* addresses of two allocations */
#define STORY_BASE     ((uint64_t)1 << 44)

typedef struct story {
    plim_history *history;
    uint64_t addrs[STORY_LIVE_MAX]; /* by name, which is an index; 0: not live */
    uint64_t bytes[STORY_LIVE_MAX];
    uint64_t next;
    uint64_t first_event; /* of the device that is told of */
    int32_t device;
} story;

#define STORY_OK(call) T_TRUE((call) == PLIM_OK)

static inline void story_begin(story *s)
{
    *s = (story){ .next = STORY_BASE };
    STORY_OK(plim_history_create(NULL, &s->history, NULL));
}

static inline void story_event(story *s, plim_action action, uint64_t addr, uint64_t bytes)
{
    const plim_event event = { .addr = addr,
                               .bytes = bytes,
                               .time_ns = PLIM_TIME_UNKNOWN,
                               .stack = PLIM_NONE,
                               .action = action };
    STORY_OK(plim_history_push_event(s->history, &event, NULL));
}

static inline void story_alloc(story *s, unsigned name, uint64_t bytes)
{
    T_TRUE(s->addrs[name] == 0);
    s->addrs[name] = s->next;
    s->bytes[name] = bytes;
    s->next += STORY_APART;
    story_event(s, PLIM_ALLOC, s->addrs[name], bytes);
}

static inline void story_free(story *s, unsigned name)
{
    T_TRUE(s->addrs[name] != 0);
    story_event(s, PLIM_FREE_REQUESTED, s->addrs[name], s->bytes[name]);
    story_event(s, PLIM_FREE_COMPLETED, s->addrs[name], s->bytes[name]);
    s->addrs[name] = 0;
}

/* A request that failed, with so much free on the device. */
static inline void story_oom(story *s, uint64_t bytes, uint64_t free_bytes)
{
    story_event(s, PLIM_OOM, free_bytes, bytes);
}

/* What is told next happens on the next device. */
static inline void story_end_device(story *s)
{
    for (unsigned i = 0; i < STORY_LIVE_MAX; i++) {
        if (s->addrs[i] != 0) {
            story_free(s, i);
        }
    }
    const uint64_t events = plim_history_pushed_events(s->history);
    const plim_device_ranges ranges = { .device = s->device,
                                        .events = { s->first_event, events - s->first_event } };
    STORY_OK(plim_history_add_device(s->history, &ranges, NULL));
    s->device++;
    s->first_event = events;
}

static inline plim_history *story_end(story *s)
{
    story_end_device(s);
    plim_history_seal(s->history);
    return s->history;
}

/* A block of 100 MiB is split for 60, so that the next 100 needs another. */
static inline void story_tell_split(story *s)
{
    story_alloc(s, 0, 100 * MIB);
    story_free(s, 0);
    story_alloc(s, 1, 60 * MIB);
    story_alloc(s, 2, 100 * MIB);
    story_free(s, 1);
    story_free(s, 2);
}

/* Everything is as large as everything else. */
static inline void story_tell_even(story *s)
{
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 4; i++) {
            story_alloc(s, i, 32 * MIB);
        }
        for (unsigned i = 0; i < 4; i++) {
            story_free(s, i);
        }
    }
}

/* Sizes of many kinds come and go: what allocators break their teeth on. */
static inline void story_tell_random(story *s, unsigned events)
{
    static const uint64_t tops[] = { 1, 4, 12, 30, 64 };
    for (unsigned i = 0; i < events; i++) {
        const unsigned name = (unsigned)t_random_between(0, 11);
        if (s->addrs[name] != 0) {
            story_free(s, name);
        } else {
            const uint64_t top = tops[t_random_between(0, T_COUNT(tops) - 1)] * MIB;
            story_alloc(s, name, t_random_between(top / 2, top));
        }
    }
}

#endif
