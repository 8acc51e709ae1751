/*
 * streams.c - the fake driver's streams and events.
 *
 * Work is done at once; what can be made to wait is the completion of events. The dead are kept
 * until a reset, so that using one is noticed.
 */
#include "fake_cuda/state.h"

#include <stdlib.h>

cu_stream *fake_stream_of(cu_stream *stream)
{
    if (stream == NULL) {
        return &fake_current()->default_stream;
    }
    for (cu_stream *known = fake.streams; known != NULL; known = known->next) {
        if (known == stream && known->is_live) {
            return known;
        }
    }
    return NULL;
}

cu_stream *fake_pending_stream(int device)
{
    if (fake.devices[device].default_stream.completed <
        fake.devices[device].default_stream.recorded) {
        return &fake.devices[device].default_stream;
    }
    for (cu_stream *stream = fake.streams; stream != NULL; stream = stream->next) {
        if (stream->device == device && stream->completed < stream->recorded) {
            return stream;
        }
    }
    return NULL;
}

void fake_complete_device(int device)
{
    cu_stream *pending = fake_pending_stream(device);
    while (pending != NULL) {
        pending->completed = pending->recorded;
        pending = fake_pending_stream(device);
    }
}

void fake_streams_reset(void)
{
    while (fake.streams != NULL) {
        cu_stream *const gone = fake.streams;
        fake.streams = gone->next;
        free(gone);
    }
    while (fake.events != NULL) {
        cu_event *const gone = fake.events;
        fake.events = gone->next;
        free(gone);
    }
}

cu_result fake_stream_create(cu_stream **ret, unsigned flags)
{
    const cu_result result = fake_begin("cuStreamCreate", true);
    if (result == CU_SUCCESS) {
        cu_stream *const stream = calloc(1, sizeof *stream);
        if (stream == NULL || flags != CU_STREAM_NON_BLOCKING) {
            abort();
        }
        stream->device = fake_current_ordinal();
        stream->is_live = true;
        stream->next = fake.streams;
        fake.streams = stream;
        *ret = stream;
    }
    return fake_end(result);
}

cu_result fake_stream_destroy(cu_stream *stream)
{
    cu_result result = fake_begin("cuStreamDestroy", true);
    if (result == CU_SUCCESS && (stream == NULL || fake_stream_of(stream) == NULL)) {
        result = fake_fault(CU_INVALID_HANDLE, "cuStreamDestroy of an unknown stream");
    } else if (result == CU_SUCCESS) {
        stream->is_live = false;
    }
    return fake_end(result);
}

cu_result fake_stream_synchronize(cu_stream *stream)
{
    cu_result result = fake_begin("cuStreamSynchronize", true);
    cu_stream *const found = result == CU_SUCCESS ? fake_stream_of(stream) : NULL;
    if (result == CU_SUCCESS && found == NULL) {
        result = fake_fault(CU_INVALID_HANDLE, "cuStreamSynchronize of an unknown stream");
    } else if (result == CU_SUCCESS && found->is_capturing) {
        result = CU_STREAM_CAPTURE_UNSUPPORTED;
    } else if (result == CU_SUCCESS) {
        found->completed = found->recorded;
    }
    return fake_end(result);
}

cu_result fake_stream_is_capturing(cu_stream *stream, int *ret_status)
{
    cu_result result = fake_begin("cuStreamIsCapturing", true);
    cu_stream *const found = result == CU_SUCCESS ? fake_stream_of(stream) : NULL;
    if (result == CU_SUCCESS && found == NULL) {
        result = fake_fault(CU_INVALID_HANDLE, "cuStreamIsCapturing of an unknown stream");
    } else if (result == CU_SUCCESS) {
        *ret_status = found->is_capturing ? 1 : CU_CAPTURE_STATUS_NONE;
    }
    return fake_end(result);
}

/* --- events --- */

static bool is_event(cu_event *event)
{
    for (cu_event *known = fake.events; known != NULL; known = known->next) {
        if (known == event) {
            return known->is_live;
        }
    }
    return false;
}

/* Like fake_begin(), for a call on an event. */
static cu_result begin_on(const char *function, cu_event *event)
{
    const cu_result result = fake_begin(function, true);
    if (result == CU_SUCCESS && !is_event(event)) {
        return fake_fault(CU_INVALID_HANDLE, "%s of an unknown event", function);
    }
    return result;
}

static bool is_complete(cu_event *event)
{
    return event->stream == NULL || event->stream->completed >= event->sequence;
}

cu_result fake_event_create(cu_event **ret, unsigned flags)
{
    const cu_result result = fake_begin("cuEventCreate", true);
    if (result == CU_SUCCESS) {
        cu_event *const event = calloc(1, sizeof *event);
        if (event == NULL || flags != CU_EVENT_DISABLE_TIMING) {
            abort();
        }
        event->is_live = true;
        event->next = fake.events;
        fake.events = event;
        *ret = event;
    }
    return fake_end(result);
}

cu_result fake_event_destroy(cu_event *event)
{
    const cu_result result = begin_on("cuEventDestroy", event);
    if (result == CU_SUCCESS) {
        event->is_live = false;
    }
    return fake_end(result);
}

cu_result fake_event_record(cu_event *event, cu_stream *stream)
{
    cu_result result = begin_on("cuEventRecord", event);
    cu_stream *const found = result == CU_SUCCESS ? fake_stream_of(stream) : NULL;
    if (result == CU_SUCCESS && found == NULL) {
        result = fake_fault(CU_INVALID_HANDLE, "cuEventRecord on an unknown stream");
    } else if (result == CU_SUCCESS && found->device != fake_current_ordinal()) {
        result = fake_fault(CU_INVALID_HANDLE, "cuEventRecord on another device's stream");
    } else if (result == CU_SUCCESS) {
        event->stream = found;
        event->sequence = ++found->recorded;
        found->completed = fake.is_pending ? found->completed : found->recorded;
    }
    return fake_end(result);
}

cu_result fake_event_query(cu_event *event)
{
    cu_result result = begin_on("cuEventQuery", event);
    if (result == CU_SUCCESS) {
        result = fake_is_captured()   ? CU_STREAM_CAPTURE_UNSUPPORTED
                 : is_complete(event) ? CU_SUCCESS
                                      : CU_NOT_READY;
    }
    return fake_end(result);
}

cu_result fake_event_synchronize(cu_event *event)
{
    const cu_result result = begin_on("cuEventSynchronize", event);
    if (result == CU_SUCCESS && !is_complete(event)) {
        event->stream->completed = event->sequence;
    }
    return fake_end(result);
}
