/*
 * course.c - see course.h.
 */
#include "diagnose/fragmentation/course.h"

#include "base/block_bytes.h"
#include "base/numbers.h"
#include "history/driver_actions.h"

/* The first step makes what stays, the second finds where the first left it: from the third on a
 * program that repeats itself needs no segment more. */
#define WARM_UP_STEPS 2u
/* Without steps the recording is cut into so many rounds, and a third of it warms up. */
#define ROUNDS         30u
#define WARM_UP_ROUNDS 10u
/* So few events lie between giving cache back, taking a segment and the request for it. */
#define NEAR_EVENTS 2u

typedef struct course_walk {
    const plim_case *one;
    plim_reserved_course *course;
    uint64_t waiting_bytes;  /* of segments taken for the request that comes next */
    uint64_t waiting_unused; /* reserved and not active before them */
    uint64_t last_round;
    uint64_t last_release; /* event */
    bool is_release_seen;
} course_walk;

/* The round of an event, 0 in the warm-up. */
static uint64_t round_of(const plim_case *one, uint64_t event)
{
    if (one->view.steps.count > WARM_UP_STEPS) {
        const uint64_t step = plim_steps_at(&one->view.steps, event);
        return step == PLIM_NO_STEP || step < WARM_UP_STEPS ? 0 : step - WARM_UP_STEPS + 1;
    }
    const uint64_t events = one->device->events.count;
    const uint64_t round = events >= ROUNDS ? event / (events / ROUNDS) : 0;
    return round < WARM_UP_ROUNDS ? 0 : round - WARM_UP_ROUNDS + 1;
}

/* A request for which segments were taken, though as much lay free. */
static void note_forced(course_walk *at, uint64_t event)
{
    plim_reserved_course *const course = at->course;
    const uint64_t bytes = at->one->device->events.bytes[event];
    const uint64_t round = round_of(at->one, event);
    if (bytes <= PLIM_SMALL_BYTES_MAX || at->waiting_unused < bytes || round == 0) {
        return;
    }
    if (course->forced_count == 0) {
        course->first_forced = event;
    }
    course->last_forced = event;
    course->forced_count++;
    course->forced_bytes = plim_plus(course->forced_bytes, at->waiting_bytes);
    course->forced_rounds += round != at->last_round;
    at->last_round = round;
}

static void follow(course_walk *at, uint64_t event, const plim_figures *before,
                   const plim_figures *after)
{
    const plim_events *const events = &at->one->device->events;
    const uint8_t action = events->action[event];
    if (plim_is_to_driver(action)) {
        at->last_release = event;
        at->is_release_seen = true;
    } else if (plim_is_from_driver(action)) {
        if (at->waiting_bytes == 0) {
            at->waiting_unused = plim_minus(before->reserved_bytes, before->active_bytes);
        }
        at->waiting_bytes = plim_plus(at->waiting_bytes, events->bytes[event]);
        if (at->is_release_seen && event - at->last_release <= NEAR_EVENTS &&
            events->stack[at->last_release] == events->stack[event]) {
            at->course->retries++;
            at->is_release_seen = false;
        }
    } else if (action == PLIM_ALLOC && at->waiting_bytes > 0) {
        note_forced(at, event);
        at->waiting_bytes = 0;
        if (after->reserved_bytes > at->course->peak_reserved_bytes) {
            at->course->peak_reserved_bytes = after->reserved_bytes;
            at->course->peak_event = event;
            at->course->peak_stack = events->stack[event];
        }
    }
    at->course->peak_allocated_bytes =
        plim_max(at->course->peak_allocated_bytes, after->allocated_bytes);
}

plim_reserved_course plim_reserved_course_of(const plim_case *one)
{
    plim_reserved_course course = { .peak_event = PLIM_NO_EVENT_YET, .peak_stack = PLIM_NONE };
    course_walk at = { .one = one, .course = &course };
    plim_cursor cursor;
    plim_cursor_init(&cursor, &one->view.timeline);
    plim_figures before = plim_cursor_figures(&cursor);
    course.peak_reserved_bytes = before.reserved_bytes;
    course.peak_allocated_bytes = before.allocated_bytes;
    for (uint64_t event = 0; plim_cursor_next(&cursor); event++) {
        const plim_figures after = plim_cursor_figures(&cursor);
        follow(&at, event, &before, &after);
        before = after;
    }
    course.rounds_are_steps = one->view.steps.count > WARM_UP_STEPS;
    if (course.rounds_are_steps) {
        course.rounds = one->view.steps.count - WARM_UP_STEPS;
    } else if (one->device->events.count >= ROUNDS) {
        course.rounds = ROUNDS - WARM_UP_ROUNDS;
    }
    return course;
}
