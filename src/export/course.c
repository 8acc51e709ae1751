/*
 * course.c - one walk over a device's events, which draws its counters, steps, allocations and
 * marks; course_spans.c draws what is known apart from the walk.
 */
#include "export/course.h"

#include "base/error.h"
#include "export/course_spans.h"
#include "inspect/stack_label.h"

/* --- names --- */

const char *plim_course_counter_name(size_t counter)
{
#define COUNTER_NAME(code, name, text)  name,
#define CATEGORY_NAME(code, name, text) "live: " name,
    static const char *const names[] = { PLIM_COURSE_COUNTER_LIST(COUNTER_NAME)
                                             PLIM_CATEGORY_LIST(CATEGORY_NAME) };
    return names[counter];
}

const char *plim_course_counter_text(size_t counter)
{
#define COUNTER_TEXT(code, name, text) text,
    static const char *const texts[] = { PLIM_COURSE_COUNTER_LIST(COUNTER_TEXT)
                                             PLIM_CATEGORY_LIST(COUNTER_TEXT) };
    return texts[counter];
}

const char *plim_course_track_name(plim_course_track track)
{
#define TRACK_NAME(code, name) name,
    static const char *const names[] = { PLIM_COURSE_TRACK_LIST(TRACK_NAME) };
    return names[track];
}

/* --- time --- */

/* Microseconds of an event's time, or PLIM_TIME_UNKNOWN: what nanoseconds cannot hold, too. */
static int64_t time_of(const plim_events *events, uint64_t event)
{
    const int64_t time_us = events->time_us[event];
    return plim_time_ns(time_us) == PLIM_TIME_UNKNOWN ? PLIM_TIME_UNKNOWN : time_us;
}

/* The first event with a time, or the count of events. */
static uint64_t first_timed(const plim_events *events)
{
    uint64_t event = 0;
    while (event < events->count && time_of(events, event) == PLIM_TIME_UNKNOWN) {
        event++;
    }
    return event;
}

bool plim_course_has_times(const plim_device_history *device)
{
    return device->events.count == 0 || first_timed(&device->events) < device->events.count;
}

/* Formats count from 1970 without a sign. */
int64_t plim_course_origin_us(const plim_device_history *device)
{
    const uint64_t first = first_timed(&device->events);
    const int64_t time_us = first < device->events.count ? device->events.time_us[first] : 0;
    return time_us > 0 ? time_us : 0;
}

static void begin_clock(plim_course *course)
{
    course->has_times = plim_course_has_times(course->view->device);
    course->origin_us = plim_course_origin_us(course->view->device);
    course->now_us = course->origin_us;
}

static void move_clock(plim_course *course, uint64_t event)
{
    if (!course->has_times) {
        course->now_us = (int64_t)event;
        return;
    }
    const int64_t time_us = time_of(&course->view->device->events, event);
    course->now_us = time_us > course->now_us ? time_us : course->now_us;
}

/* --- counters --- */

static void show(plim_course *course, size_t counter, uint64_t bytes)
{
    if (!course->is_shown || course->shown[counter] != bytes) {
        course->shown[counter] = bytes;
        course->sink->counter(course->sink->ctx, course->now_us, counter, bytes);
    }
}

static void show_all(plim_course *course)
{
    const plim_figures *const now = &course->figures;
    show(course, PLIM_COURSE_REQUESTED, now->requested_bytes);
    show(course, PLIM_COURSE_ALLOCATED, now->allocated_bytes);
    show(course, PLIM_COURSE_ACTIVE, now->active_bytes);
    show(course, PLIM_COURSE_RESERVED, now->reserved_bytes);
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        show(course, PLIM_COURSE_CATEGORIES + i, plim_total_bytes(course->by_category[i]));
    }
    course->is_shown = true;
}

/* --- labels --- */

/* The frame that speaks for a stack: stacks are many times fewer than allocations. */
static uint32_t label_of(plim_course *course, uint32_t stack)
{
    if (stack == PLIM_NONE) {
        return PLIM_NONE;
    }
    if (course->labels[stack] == 0) {
        const plim_stack_group group = { .stack = stack,
                                         .user_frame =
                                             plim_group_user_frame(&course->view->grouper, stack) };
        course->labels[stack] = plim_stack_label_frame(course->view->history, &group) + 1;
    }
    return course->labels[stack] - 1; /* of an empty stack PLIM_NONE, which is asked again */
}

/* --- lives --- */

static bool begin_life(plim_course *course, uint64_t id, uint64_t bytes)
{
    course->by_category[course->view->categories.of[id]] += bytes;
    return course->lives_min_bytes == 0 || bytes < course->lives_min_bytes ||
           plim_lanes_open(&course->lives, id, course->now_us, id);
}

static void draw_life(plim_course *course, size_t lane, bool is_ended)
{
    const plim_span_lane *const open = &course->lives.all.items[lane];
    const plim_allocation one = plim_timeline_allocation(&course->view->timeline, open->key);
    const plim_course_span span = { .track = PLIM_COURSE_ALLOCATIONS,
                                    .lane = lane,
                                    .begin_us = open->begin_us,
                                    .end_us = course->now_us,
                                    .is_begun = one.born != PLIM_AT_START,
                                    .is_ended = is_ended,
                                    .number = open->number,
                                    .bytes = one.requested_bytes,
                                    .addr = one.addr,
                                    .name = PLIM_NONE,
                                    .frame = label_of(course, one.stack),
                                    .allocation = &one };
    course->sink->span(course->sink->ctx, &span);
}

static void end_life(plim_course *course, uint64_t id)
{
    const plim_allocation one = plim_timeline_allocation(&course->view->timeline, id);
    course->by_category[course->view->categories.of[id]] -= one.requested_bytes;
    const size_t lane = plim_lanes_close(&course->lives, id);
    if (lane != PLIM_LANE_FREE) {
        draw_life(course, lane, true);
    }
}

static bool begin_lives_of_start(plim_course *course)
{
    plim_live live = plim_timeline_live(&course->view->timeline, PLIM_AT_START, false);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        if (!begin_life(course, one.id, one.requested_bytes)) {
            return false;
        }
    }
    return true;
}

static void end_open_lives(plim_course *course)
{
    for (size_t i = 0; i < course->lives.all.count; i++) {
        if (course->lives.all.items[i].is_open) {
            draw_life(course, i, false);
        }
    }
}

/* `live_before`: allocations that were live before the event. */
static bool follow_lives(plim_course *course, uint64_t event, uint64_t live_before)
{
    const plim_timeline *const timeline = &course->view->timeline;
    const plim_events *const events = &course->view->device->events;
    if (events->action[event] == PLIM_ALLOC) {
        if (course->figures.live_count == live_before) { /* one ended as well: its place is taken */
            end_life(course, plim_timeline_displaced(timeline, event));
        }
        return begin_life(course, plim_timeline_about(timeline, event), events->bytes[event]);
    }
    if (course->figures.live_count < live_before) {
        end_life(course, plim_timeline_about(timeline, event));
    }
    return true;
}

/* --- steps --- */

static void end_step(plim_course *course)
{
    const plim_course_span span = { .track = PLIM_COURSE_STEPS,
                                    .begin_us = course->step_begin_us,
                                    .end_us = course->now_us,
                                    .is_begun = true,
                                    .is_ended = true,
                                    .number = course->step++,
                                    .bytes = course->step_peak_bytes,
                                    .name = PLIM_NONE,
                                    .frame = PLIM_NONE };
    course->sink->span(course->sink->ctx, &span);
    course->is_in_step = false;
}

/* Before the figures of an event are those of its step. */
static void follow_steps(plim_course *course, uint64_t event)
{
    const plim_steps *const steps = &course->view->steps;
    while (course->step < steps->count) {
        const size_t bound = course->step + course->is_in_step;
        if (steps->first_events[bound] != event) {
            break;
        }
        if (course->is_in_step) {
            end_step(course);
        } else {
            course->is_in_step = true;
            course->step_begin_us = course->now_us;
            course->step_peak_bytes = 0;
        }
    }
}

/* --- marks --- */

static void mark(plim_course *course, int64_t event, bool is_oom)
{
    const plim_events *const events = &course->view->device->events;
    plim_course_mark found = { .time_us = course->now_us,
                               .event = event,
                               .is_oom = is_oom,
                               .stack = PLIM_NONE,
                               .frame = PLIM_NONE,
                               .figures = course->figures };
    if (is_oom) {
        found.request_bytes = events->bytes[event];
        found.has_device_free = events->addr[event] != PLIM_SIZE_UNKNOWN;
        found.device_free_bytes = events->addr[event];
        found.stack = events->stack[event];
        found.frame = label_of(course, found.stack);
    }
    course->sink->mark(course->sink->ctx, &found);
}

/* --- the walk --- */

static bool walk(plim_course *course)
{
    const plim_events *const events = &course->view->device->events;
    plim_cursor cursor;
    plim_cursor_init(&cursor, &course->view->timeline);
    course->figures = plim_cursor_figures(&cursor);
    if (!begin_lives_of_start(course)) {
        return false;
    }
    show_all(course);
    if (course->peak == PLIM_AT_START) {
        mark(course, PLIM_AT_START, false);
    }
    while (plim_cursor_next(&cursor)) {
        const uint64_t event = (uint64_t)plim_cursor_moment(&cursor);
        const uint64_t live_before = course->figures.live_count;
        move_clock(course, event);
        follow_steps(course, event);
        course->figures = plim_cursor_figures(&cursor);
        if (course->figures.requested_bytes > course->step_peak_bytes) {
            course->step_peak_bytes = course->figures.requested_bytes;
        }
        if (!follow_lives(course, event, live_before) || !plim_course_segment(course, event)) {
            return false;
        }
        show_all(course);
        if (events->action[event] == PLIM_OOM) {
            mark(course, (int64_t)event, true);
        }
        if ((int64_t)event == course->peak) {
            mark(course, course->peak, false);
        }
    }
    if (course->is_in_step) {
        end_step(course);
    }
    end_open_lives(course);
    return plim_course_rest_of_segments(course) && plim_course_annotations(course);
}

plim_status plim_course_run(plim_device_view *view, uint64_t lives_min_bytes,
                            const plim_course_sink *sink, plim_error *err)
{
    plim_course course = { .view = view, .sink = sink, .lives_min_bytes = lives_min_bytes };
    PLIM_TRY(plim_device_view_moment(view, (plim_moment_choice){ .kind = PLIM_MOMENT_PEAK },
                                     &course.peak, err));
    begin_clock(&course);
    plim_lanes_init(&course.lives, view->mem);
    plim_lanes_init(&course.segments, view->mem);
    const size_t stacks = plim_history_stack_count(view->history);
    course.labels = plim_mem_alloc_zeroed(view->mem, stacks + 1, sizeof *course.labels);
    const bool is_done = course.labels != NULL && walk(&course);
    plim_mem_free(view->mem, course.labels, stacks + 1, sizeof *course.labels);
    plim_lanes_deinit(&course.segments);
    plim_lanes_deinit(&course.lives);
    return is_done ? PLIM_OK : plim_fail_memory(err, "laying out a recording over time");
}
