/* streams.c - streams, and events that complete at once or when the script says so. */
#include "model.h"

#include <stdlib.h>

#define STREAMS_MAX 256

/* A stream is a handle on a device. Work on it is numbered by the events recorded. */
typedef struct stream {
    plim_stream handle;
    int32_t device;
    bool is_capturing;
    uint64_t recorded;
    uint64_t completed;
} stream;

typedef struct event {
    stream *on;      /* NULL: never recorded */
    uint64_t number; /* of the record on it */
} event;

static stream streams[STREAMS_MAX];
static size_t stream_count;
static event *events;
static size_t event_count;
static bool is_by_hand;

static stream *stream_of(int32_t device, plim_stream handle)
{
    for (size_t i = 0; i < stream_count; i++) {
        if (streams[i].device == device && streams[i].handle == handle) {
            return &streams[i];
        }
    }
    if (stream_count == STREAMS_MAX) {
        abort();
    }
    streams[stream_count] = (stream){ .handle = handle, .device = device };
    return &streams[stream_count++];
}

void model_set_manual(bool is_manual)
{
    is_by_hand = is_manual;
}

void model_complete(int32_t device, plim_stream handle)
{
    stream *const s = stream_of(device, handle);
    s->completed = s->recorded;
}

void model_complete_all(int32_t device)
{
    for (size_t i = 0; i < stream_count; i++) {
        if (streams[i].device == device) {
            streams[i].completed = streams[i].recorded;
        }
    }
}

void model_set_capturing(int32_t device, plim_stream handle, bool is_capturing)
{
    stream_of(device, handle)->is_capturing = is_capturing;
}

bool model_is_capturing(int32_t device, plim_stream handle)
{
    return stream_of(device, handle)->is_capturing;
}

plim_status model_stream_sync(plim_stream handle)
{
    plim_device_record record = { .call = PLIM_CALL_STREAM_SYNC,
                                  .ordinal = model_current(),
                                  .stream = handle };
    const plim_status status = model_begin(&record);
    /* On every device that has it: PyTorch waits for a range's stream whichever device is current
     * (issue 196258), so scripts give each device streams of its own. */
    for (size_t i = 0; status == PLIM_OK && i < stream_count; i++) {
        if (streams[i].handle == handle) {
            streams[i].completed = streams[i].recorded;
        }
    }
    return model_end(&record, status);
}

plim_status model_device_sync(void)
{
    plim_device_record record = { .call = PLIM_CALL_DEVICE_SYNC, .ordinal = model_current() };
    const plim_status status = model_begin(&record);
    if (status == PLIM_OK) {
        model_complete_all(model_current());
    }
    return model_end(&record, status);
}

/* Handles are index plus one. */
plim_status model_event_create(plim_fence *ret_event)
{
    plim_device_record record = { .call = PLIM_CALL_FENCE_CREATE, .ordinal = model_current() };
    const plim_status status = model_begin(&record);
    if (status != PLIM_OK) {
        return model_end(&record, status);
    }
    event *const grown = realloc(events, (event_count + 1) * sizeof(*events));
    if (grown == NULL) {
        abort();
    }
    events = grown;
    events[event_count] = (event){ 0 };
    *ret_event = ++event_count;
    record.fence = event_count;
    return model_end(&record, PLIM_OK);
}

plim_status model_event_destroy(plim_fence handle)
{
    plim_device_record record = { .call = PLIM_CALL_FENCE_DESTROY,
                                  .ordinal = model_current(),
                                  .fence = handle };
    return model_end(&record, model_begin(&record));
}

plim_status model_event_record(plim_fence handle, plim_stream on)
{
    plim_device_record record = {
        .call = PLIM_CALL_FENCE_RECORD, .ordinal = model_current(), .fence = handle, .stream = on
    };
    const plim_status status = model_begin(&record);
    if (status == PLIM_OK) {
        stream *const s = stream_of(model_current(), on);
        s->recorded++;
        events[handle - 1] = (event){ s, s->recorded };
        if (!is_by_hand) {
            s->completed = s->recorded;
        }
    }
    return model_end(&record, status);
}

/* The device of an event is that of the stream it was recorded on. */
static int32_t device_of(const event *e)
{
    return e->on != NULL ? e->on->device : model_current();
}

plim_status model_event_query(plim_fence handle, bool *ret_complete)
{
    const event *const e = &events[handle - 1];
    plim_device_record record = { .call = PLIM_CALL_FENCE_QUERY,
                                  .ordinal = device_of(e),
                                  .fence = handle };
    const plim_status status = model_begin(&record);
    if (status == PLIM_OK) {
        record.is_complete = e->on == NULL || e->number <= e->on->completed;
        *ret_complete = record.is_complete;
    }
    return model_end(&record, status);
}

plim_status model_event_sync(plim_fence handle)
{
    const event *const e = &events[handle - 1];
    plim_device_record record = { .call = PLIM_CALL_FENCE_SYNC,
                                  .ordinal = device_of(e),
                                  .fence = handle };
    const plim_status status = model_begin(&record);
    if (status == PLIM_OK && e->on != NULL && e->on->completed < e->number) {
        e->on->completed = e->number; /* and with it what was recorded on the stream before */
    }
    return model_end(&record, status);
}
