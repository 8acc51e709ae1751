/*
 * course_spans.c - spans with a beginning and an end of their own. See course_spans.h.
 */
#include "export/course_spans.h"

#include <stdlib.h>

/* A span as it was opened on its lane. */
static plim_course_span span_on(const plim_lanes *lanes, size_t lane, plim_course_track track)
{
    const plim_span_lane *const open = &lanes->all.items[lane];
    return (plim_course_span){ .track = track,
                               .lane = lane,
                               .begin_us = open->begin_us,
                               .is_begun = true,
                               .number = open->number,
                               .name = PLIM_NONE,
                               .frame = PLIM_NONE };
}

static void draw(const plim_course *course, const plim_course_span *span)
{
    course->sink->span(course->sink->ctx, span);
}

/* --- segments --- */

static bool draw_from_start(plim_course *course, plim_addr addr, uint64_t bytes, bool is_ended)
{
    size_t lane = 0;
    if (!plim_lanes_fresh(&course->segments, &lane)) {
        return false;
    }
    plim_course_span span = span_on(&course->segments, lane, PLIM_COURSE_SEGMENTS);
    span.begin_us = course->origin_us;
    span.end_us = course->now_us;
    span.is_begun = false;
    span.is_ended = is_ended;
    span.addr = addr;
    span.bytes = bytes;
    draw(course, &span);
    return true;
}

static void draw_segment(const plim_course *course, size_t lane, bool is_ended)
{
    plim_course_span span = span_on(&course->segments, lane, PLIM_COURSE_SEGMENTS);
    span.end_us = course->now_us;
    span.is_ended = is_ended;
    span.addr = course->segments.all.items[lane].key;
    span.bytes = course->segments.all.items[lane].value;
    draw(course, &span);
}

bool plim_course_segment(plim_course *course, uint64_t event)
{
    const plim_events *const events = &course->view->device->events;
    const plim_addr addr = events->addr[event];
    if (events->action[event] == PLIM_SEGMENT_ALLOC) {
        return plim_lanes_open(&course->segments, addr, course->now_us, events->bytes[event]);
    }
    if (events->action[event] != PLIM_SEGMENT_FREE) {
        return true;
    }
    const size_t lane = plim_lanes_close(&course->segments, addr);
    if (lane == PLIM_LANE_FREE) {
        return draw_from_start(course, addr, events->bytes[event], true);
    }
    draw_segment(course, lane, true);
    return true;
}

bool plim_course_rest_of_segments(plim_course *course)
{
    const plim_device_history *const device = course->view->device;
    for (size_t i = 0; i < course->segments.all.count; i++) {
        if (course->segments.all.items[i].is_open) {
            draw_segment(course, i, false);
        }
    }
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *const one = &device->segments[i];
        if (!one->is_expandable &&
            plim_map_get(&course->segments.of_key, one->addr) == PLIM_MAP_ABSENT &&
            !draw_from_start(course, one->addr, one->bytes, false)) {
            return false;
        }
    }
    return true;
}

/* --- annotations --- */

typedef struct annotation {
    int64_t time_us;
    uint64_t order; /* in the file: what a tie goes by */
    uint32_t name;
    bool is_start;
} annotation;

typedef PLIM_VEC(annotation) annotations;

static int compare_annotations(const void *left, const void *right)
{
    const annotation *const a = left;
    const annotation *const b = right;
    if (a->time_us != b->time_us) {
        return a->time_us < b->time_us ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool collect(const plim_course *course, annotations *list)
{
    uint64_t count = 0;
    const plim_annotation *const all = plim_history_annotations(course->view->history, &count);
    for (uint64_t i = 0; i < count; i++) {
        const annotation one = {
            .time_us = all[i].time_us, .order = i, .name = all[i].name, .is_start = all[i].is_start
        };
        if (all[i].device == course->view->device->device && one.time_us >= 0 &&
            plim_time_ns(one.time_us) != PLIM_TIME_UNKNOWN &&
            !PLIM_VEC_PUSH(course->view->mem, list, one)) {
            return false;
        }
    }
    if (list->count > 1) {
        qsort(list->items, list->count, sizeof *list->items, compare_annotations);
    }
    return true;
}

/* An end without its start: it began before the recording, on a lane of its own. */
static bool draw_begun_before(const plim_course *course, plim_lanes *lanes, const annotation *one)
{
    size_t lane = 0;
    if (!plim_lanes_fresh(lanes, &lane)) {
        return false;
    }
    plim_course_span span = span_on(lanes, lane, PLIM_COURSE_ANNOTATIONS);
    span.begin_us = course->origin_us < one->time_us ? course->origin_us : one->time_us;
    span.end_us = one->time_us;
    span.is_begun = false;
    span.is_ended = true;
    span.name = one->name;
    draw(course, &span);
    return true;
}

static void draw_annotation(const plim_course *course, const plim_lanes *lanes, size_t lane,
                            int64_t end_us, bool is_ended)
{
    plim_course_span span = span_on(lanes, lane, PLIM_COURSE_ANNOTATIONS);
    span.end_us = end_us;
    span.is_ended = is_ended;
    span.name = (uint32_t)lanes->all.items[lane].key;
    draw(course, &span);
}

static bool draw_annotations(const plim_course *course, const annotations *list, plim_lanes *lanes)
{
    int64_t end_us = course->now_us;
    for (size_t i = 0; i < list->count; i++) {
        const annotation *const one = &list->items[i];
        end_us = one->time_us > end_us ? one->time_us : end_us;
        if (one->is_start) {
            if (!plim_lanes_open(lanes, one->name, one->time_us, 0)) {
                return false;
            }
            continue;
        }
        const size_t lane = plim_lanes_close(lanes, one->name);
        if (lane != PLIM_LANE_FREE) {
            draw_annotation(course, lanes, lane, one->time_us, true);
        } else if (!draw_begun_before(course, lanes, one)) {
            return false;
        }
    }
    for (size_t i = 0; i < lanes->all.count; i++) {
        if (lanes->all.items[i].is_open) {
            draw_annotation(course, lanes, i, end_us, false);
        }
    }
    return true;
}

bool plim_course_annotations(plim_course *course)
{
    if (!course->has_times) {
        return true;
    }
    annotations list = { 0 };
    plim_lanes lanes;
    plim_lanes_init(&lanes, course->view->mem);
    const bool is_done = collect(course, &list) && draw_annotations(course, &list, &lanes);
    plim_lanes_deinit(&lanes);
    PLIM_VEC_FREE(course->view->mem, &list);
    return is_done;
}
