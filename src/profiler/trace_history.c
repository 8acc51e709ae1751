/*
 * trace_history.c - the memory events of a trace, device by device, as a history.
 *
 * A trace begins when the profiler was started. Of what was allocated before it, its first event
 * has the sum: "Total Allocated" less the event's own bytes. What the trace frees of that shows
 * itself; the rest stays to the end, and one allocation stands for it.
 */
#include "profiler/trace.h"

#include "base/error.h"
#include "base/map.h"
#include "base/numbers.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EARLIER_ADDR UINT64_C(0x200) /* of no GPU: stands for what was allocated earlier */
#define EARLIER_NAME "(allocated before the trace began)"

/* The events of one device in the order of time, and the trace's own sums. */
typedef struct trace_device {
    const plim_trace_memory *events;
    size_t count;
    uint64_t earlier_bytes; /* allocated before the trace, and not freed in it */
    uint64_t reserved_max;
    uint64_t gaps; /* events before which the sum is not what the events add up to */
} trace_device;

static int compare_events(const void *a, const void *b)
{
    const plim_trace_memory *const left = a;
    const plim_trace_memory *const right = b;
    const int by_device = (left->device > right->device) - (left->device < right->device);
    const int by_time = (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
    return by_device != 0 ? by_device
           : by_time != 0 ? by_time
                          : (left->order > right->order) - (left->order < right->order);
}

static int64_t time_us(const plim_trace *trace, int64_t ns)
{
    const int64_t us = ns / 1000 + trace->base_ns / 1000;
    return us > PLIM_TIME_US_MAX || us < -PLIM_TIME_US_MAX ? PLIM_TIME_UNKNOWN : us;
}

/* --- what stood before --- */

/* The bytes that events free and do not allocate. */
static bool sum_unborn(const plim_trace *trace, const trace_device *device, uint64_t *ret_bytes)
{
    plim_map live;
    plim_map_init(&live, trace->mem);
    uint64_t bytes = 0;
    bool done = true;
    for (size_t i = 0; i < device->count && done; i++) {
        const plim_trace_memory *const event = &device->events[i];
        if (event->bytes > 0) {
            done = plim_map_put(&live, event->addr, 1);
        } else if (plim_map_take(&live, event->addr) == PLIM_MAP_ABSENT) {
            bytes = plim_plus(bytes, (uint64_t)-event->bytes);
        }
    }
    plim_map_deinit(&live);
    *ret_bytes = bytes;
    return done;
}

/* A sum before an event, from the one after it; false: the trace does not say, or contradicts. */
static bool sum_before(const plim_trace_memory *event, uint64_t *ret_bytes)
{
    const uint64_t size = (uint64_t)(event->bytes < 0 ? -event->bytes : event->bytes);
    if (event->allocated_bytes == PLIM_SIZE_UNKNOWN ||
        (event->bytes > 0 && event->allocated_bytes < size)) {
        return false;
    }
    *ret_bytes =
        event->bytes > 0 ? event->allocated_bytes - size : plim_plus(event->allocated_bytes, size);
    return true;
}

static plim_status measure(const plim_trace *trace, trace_device *device, plim_error *err)
{
    uint64_t before = 0;
    uint64_t unborn = 0;
    if (!sum_unborn(trace, device, &unborn)) {
        return plim_fail_memory(err, "reading the trace");
    }
    if (sum_before(&device->events[0], &before)) {
        device->earlier_bytes = plim_minus(before, unborn);
    }
    for (size_t i = 0; i < device->count; i++) {
        const plim_trace_memory *const event = &device->events[i];
        const bool is_known = event->reserved_bytes != PLIM_SIZE_UNKNOWN;
        device->reserved_max = plim_max(device->reserved_max, is_known ? event->reserved_bytes : 0);
        device->gaps += i > 0 && sum_before(event, &before) &&
                        device->events[i - 1].allocated_bytes != PLIM_SIZE_UNKNOWN &&
                        before != device->events[i - 1].allocated_bytes;
    }
    return PLIM_OK;
}

/* --- events --- */

static plim_status push_earlier(plim_trace *trace, const trace_device *device, plim_error *err)
{
    plim_frame frame = { .fx = PLIM_NONE };
    uint32_t number = 0;
    plim_event event = { .action = PLIM_ALLOC,
                         .addr = EARLIER_ADDR,
                         .bytes = device->earlier_bytes };
    PLIM_TRY(plim_history_add_string(trace->history, "", 0, &frame.filename, err));
    PLIM_TRY(plim_history_add_string(trace->history, EARLIER_NAME, strlen(EARLIER_NAME),
                                     &frame.name, err));
    PLIM_TRY(plim_history_add_frame(trace->history, &frame, &number, err));
    PLIM_TRY(plim_history_add_stack(trace->history, &number, 1, &event.stack, err));
    return plim_history_push_event_at(trace->history, &event,
                                      time_us(trace, device->events[0].time_ns), err);
}

static plim_status push_event(plim_trace *trace, const plim_trace_memory *memory, plim_error *err)
{
    plim_event event = { .action = memory->bytes > 0 ? PLIM_ALLOC : PLIM_FREE_REQUESTED,
                         .addr = memory->addr,
                         .bytes = (uint64_t)(memory->bytes < 0 ? -memory->bytes : memory->bytes),
                         .stack = memory->stack };
    const int64_t us = time_us(trace, memory->time_ns);
    PLIM_TRY(plim_history_push_event_at(trace->history, &event, us, err));
    if (memory->bytes > 0) {
        return PLIM_OK;
    }
    event.action = PLIM_FREE_COMPLETED;
    return plim_history_push_event_at(trace->history, &event, us, err);
}

static plim_status warn_of_device(plim_trace *trace, const trace_device *device, plim_error *err)
{
    const int32_t number = device->events[0].device;
    if (device->earlier_bytes > 0) {
        PLIM_TRY(plim_history_warn(trace->history, err,
                                   "GPU %" PRId32 ": event 0 stands for %s that were allocated "
                                   "before the trace began and not freed in it",
                                   number, plim_format_bytes(device->earlier_bytes).text));
    }
    if (device->reserved_max > 0) {
        PLIM_TRY(plim_history_warn(trace->history, err,
                                   "GPU %" PRId32 ": the trace says that up to %s were reserved, "
                                   "but not in which segments",
                                   number, plim_format_bytes(device->reserved_max).text));
    }
    return device->gaps == 0
               ? PLIM_OK
               : plim_history_warn(trace->history, err,
                                   "GPU %" PRId32 ": %" PRIu64 " times the trace's \"Total "
                                   "Allocated\" is not what its events add up to: events are "
                                   "missing",
                                   number, device->gaps);
}

static plim_status push_device(plim_trace *trace, trace_device *device, plim_error *err)
{
    plim_device_ranges ranges = { .device = device->events[0].device, .overflowed = PLIM_NO };
    PLIM_TRY(measure(trace, device, err));
    ranges.earlier_events = device->earlier_bytes > 0;
    ranges.events.first = plim_history_pushed_events(trace->history);
    if (device->earlier_bytes > 0) {
        PLIM_TRY(push_earlier(trace, device, err));
    }
    for (size_t i = 0; i < device->count; i++) {
        PLIM_TRY(push_event(trace, &device->events[i], err));
    }
    ranges.events.count = plim_history_pushed_events(trace->history) - ranges.events.first;
    PLIM_TRY(plim_history_add_device(trace->history, &ranges, err));
    return warn_of_device(trace, device, err);
}

/* --- annotations --- */

/* A begin or end of an annotation. */
typedef struct trace_edge {
    int64_t time_ns;
    uint32_t mark;
    bool is_start;
} trace_edge;

typedef PLIM_VEC(trace_edge) edge_list;

/* Ends come before begins, the inner of two ends first; marks are sorted, outer ones first. */
static int compare_edges(const void *a, const void *b)
{
    const trace_edge *const left = a;
    const trace_edge *const right = b;
    const int by_mark = (left->mark > right->mark) - (left->mark < right->mark);
    if (left->time_ns != right->time_ns) {
        return left->time_ns < right->time_ns ? -1 : 1;
    }
    if (left->is_start != right->is_start) {
        return left->is_start ? 1 : -1;
    }
    return left->is_start ? by_mark : -by_mark;
}

static int compare_marks(const void *a, const void *b)
{
    const plim_trace_span *const left = a;
    const plim_trace_span *const right = b;
    if (left->begin_ns != right->begin_ns) {
        return left->begin_ns < right->begin_ns ? -1 : 1;
    }
    if (left->end_ns != right->end_ns) {
        return left->end_ns > right->end_ns ? -1 : 1;
    }
    return (left->name > right->name) - (left->name < right->name);
}

static bool collect_edges(plim_trace *trace, edge_list *edges)
{
    for (size_t i = 0; i < trace->marks.count; i++) {
        const plim_trace_span *const mark = &trace->marks.items[i];
        const int64_t end_ns = mark->end_ns + (mark->end_ns == mark->begin_ns &&
                                               mark->end_ns < INT64_MAX); /* begins first */
        const trace_edge begin = { mark->begin_ns, (uint32_t)i, true };
        const trace_edge end = { end_ns, (uint32_t)i, false };
        if (!PLIM_VEC_PUSH(trace->mem, edges, begin) || !PLIM_VEC_PUSH(trace->mem, edges, end)) {
            return false;
        }
    }
    return true;
}

static plim_status push_edges(plim_trace *trace, const edge_list *edges, int32_t device,
                              plim_error *err)
{
    for (size_t i = 0; i < edges->count; i++) {
        const trace_edge *const edge = &edges->items[i];
        const plim_trace_name *const name =
            &trace->names.items[trace->marks.items[edge->mark].name];
        plim_annotation annotation = { .device = device,
                                       .time_us = time_us(trace, edge->time_ns),
                                       .is_start = edge->is_start };
        PLIM_TRY(plim_history_add_string(trace->history, name->text, name->bytes, &annotation.name,
                                         err));
        PLIM_TRY(plim_history_push_annotation(trace->history, &annotation, err));
    }
    return PLIM_OK;
}

/* Annotations are of a thread, not of a device: each device gets them. */
static plim_status push_annotations(plim_trace *trace, int32_t device, plim_error *err)
{
    edge_list edges = { 0 };
    if (trace->marks.count == 0) {
        return PLIM_OK;
    }
    qsort(trace->marks.items, trace->marks.count, sizeof *trace->marks.items, compare_marks);
    plim_status status = PLIM_OK;
    if (collect_edges(trace, &edges)) {
        qsort(edges.items, edges.count, sizeof *edges.items, compare_edges);
        status = push_edges(trace, &edges, device, err);
    } else {
        status = plim_fail_memory(err, "reading the trace");
    }
    PLIM_VEC_FREE(trace->mem, &edges);
    return status;
}

/* --- together --- */

static plim_status warn_of_count(plim_trace *trace, uint64_t count, const char *one,
                                 const char *many, plim_error *err)
{
    return count == 0 ? PLIM_OK
                      : plim_history_warn(trace->history, err, "%s %s",
                                          plim_format_count(count).text, count == 1 ? one : many);
}

static plim_status warn_of_lacks(plim_trace *trace, plim_error *err)
{
    const plim_trace_counts *const counts = &trace->counts;
    PLIM_TRY(plim_history_warn(
        trace->history, err, "%s",
        counts->python_spans > 0
            ? "stacks are those of the profiler: a line is the one where its function begins"
            : "no stacks of Python: torch.profiler.profile(with_stack=True) records them"));
    PLIM_TRY(warn_of_count(trace, counts->cpu_events, "event of CPU memory is left out",
                           "events of CPU memory are left out", err));
    PLIM_TRY(warn_of_count(trace, counts->other_events,
                           "event of another kind of device is left out",
                           "events of another kind of device are left out", err));
    PLIM_TRY(warn_of_count(trace, counts->no_address, "event without an address is left out",
                           "events without an address are left out", err));
    PLIM_TRY(warn_of_count(
        trace, counts->cut_stacks, "stack is deeper than 512 frames: its outer frames are left out",
        "stacks are deeper than 512 frames: their outer frames are left out", err));
    plim_history_count_anomaly(trace->history, PLIM_ANOMALY_BAD_FIELD, counts->bad);
    return PLIM_OK;
}

plim_status plim_trace_finish(plim_trace *trace, plim_error *err)
{
    PLIM_TRY(plim_history_warn(trace->history, err,
                               "the profiler records the sizes of blocks: what was requested of "
                               "them is not known, nor are segments and streams"));
    qsort(trace->memory.items, trace->memory.count, sizeof *trace->memory.items, compare_events);
    for (size_t first = 0; first < trace->memory.count;) {
        trace_device device = { .events = &trace->memory.items[first] };
        while (first + device.count < trace->memory.count &&
               device.events[device.count].device == device.events[0].device) {
            device.count++;
        }
        PLIM_TRY(push_device(trace, &device, err));
        PLIM_TRY(push_annotations(trace, device.events[0].device, err));
        first += device.count;
    }
    return warn_of_lacks(trace, err);
}
