/*
 * clock.c - see clock.h.
 */
#include "standin/work/clock.h"

#include "stage/stage.h"

#include <stdlib.h>
#include <string.h>

/* Work that a stream holds before the host has to wait: seen with the real one, nowhere written. */
#define QUEUE_LENGTH 1024

/* Work of `number` waited for work of another stream. */
typedef struct wait {
    uint64_t number;
    plim_standin_clock *other;
    uint64_t other_number;
} wait;

struct plim_standin_clock {
    int device;
    bool is_taken;
    uint64_t given; /* work so far */
    uint64_t over;  /* that has ended, at the latest */
    wait *waits;    /* in the order of their numbers, of work that may be ahead */
    size_t wait_count;
    size_t wait_capacity;
    bool holds[QUEUE_LENGTH]; /* blocks wait for the work of a number, modulo its length, */
    uint64_t hold_count;      /* which are so many */
    plim_standin_clock *next;
};

/* All that were ever made: events hold on to them. */
static plim_standin_clock *clocks;

plim_standin_clock *plim_standin_clock_take(int device)
{
    for (plim_standin_clock *at = clocks; at != NULL; at = at->next) {
        if (!at->is_taken && at->device == device) {
            at->is_taken = true;
            return at;
        }
    }
    plim_standin_clock *const made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->device = device;
        made->is_taken = true;
        made->next = clocks;
        clocks = made;
    }
    return made;
}

void plim_standin_clock_give(plim_standin_clock *clock)
{
    if (clock != NULL) {
        plim_standin_clock_finish_all(clock);
        clock->is_taken = false;
    }
}

plim_standin_clock *plim_standin_clock_of_legacy(int device)
{
    static plim_standin_clock *legacy[PLIM_STAGE_DEVICES_MAX];
    if (device < 0 || device >= PLIM_STAGE_DEVICES_MAX) {
        return NULL;
    }
    if (legacy[device] == NULL) {
        legacy[device] = plim_standin_clock_take(device);
    }
    return legacy[device];
}

uint64_t plim_standin_clock_tick(plim_standin_clock *clock)
{
    if (clock == NULL) {
        return 0;
    }
    clock->given++;
    if (clock->given > QUEUE_LENGTH) {
        plim_standin_clock_finish(clock, clock->given - QUEUE_LENGTH);
    }
    return clock->given;
}

void plim_standin_clock_follow(plim_standin_clock *clock, plim_standin_clock *other,
                               uint64_t number)
{
    if (clock == NULL || other == NULL || clock == other || other->over >= number) {
        return;
    }
    if (clock->wait_count == clock->wait_capacity) {
        const size_t capacity = clock->wait_capacity == 0 ? 16 : 2 * clock->wait_capacity;
        wait *const grown = realloc(clock->waits, capacity * sizeof(*grown));
        if (grown == NULL) {
            return; /* what it waits for counts as ahead for longer */
        }
        clock->waits = grown;
        clock->wait_capacity = capacity;
    }
    clock->waits[clock->wait_count] = (wait){ clock->given + 1, other, number };
    clock->wait_count++;
}

/* Blocks that wait for work up to that number can be had. No more than the queue holds is ahead. */
static void let_go(plim_standin_clock *clock, uint64_t number)
{
    for (uint64_t one = clock->over + 1; one <= number && clock->hold_count > 0; one++) {
        bool *const holds = &clock->holds[one % QUEUE_LENGTH];
        clock->hold_count -= *holds ? 1 : 0;
        *holds = false;
    }
}

void plim_standin_clock_finish(plim_standin_clock *clock, // NOLINT(misc-no-recursion): a queue deep
                               uint64_t number)
{
    if (clock == NULL || clock->over >= number) {
        return;
    }
    let_go(clock, number);
    clock->over = number;
    size_t done = 0;
    for (; done < clock->wait_count && clock->waits[done].number <= number; done++) {
        const wait one = clock->waits[done];
        plim_standin_clock_finish(one.other, one.other_number);
    }
    if (done > 0) {
        clock->wait_count -= done;
        memmove(clock->waits, clock->waits + done, clock->wait_count * sizeof(*clock->waits));
    }
}

void plim_standin_clock_finish_all(plim_standin_clock *clock)
{
    if (clock != NULL) {
        plim_standin_clock_finish(clock, clock->given);
    }
}

void plim_standin_clock_finish_device(int device)
{
    for (plim_standin_clock *at = clocks; at != NULL; at = at->next) {
        if (at->device == device) {
            plim_standin_clock_finish_all(at);
        }
    }
}

bool plim_standin_clock_is_over(const plim_standin_clock *clock, uint64_t number)
{
    return clock == NULL || clock->over >= number;
}

uint64_t plim_standin_clock_hold(plim_standin_clock *clock, uint64_t number)
{
    uint64_t count = 0;
    if (!plim_standin_clock_is_over(clock, number) && !clock->holds[number % QUEUE_LENGTH]) {
        clock->holds[number % QUEUE_LENGTH] = true;
        clock->hold_count++;
    }
    for (const plim_standin_clock *at = clocks; clock != NULL && at != NULL; at = at->next) {
        count += at->device == clock->device ? at->hold_count : 0;
    }
    return count;
}
