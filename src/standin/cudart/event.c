/*
 * event.c - the runtime's functions of events, over work/streams.h.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/work/streams.h"
#include "standin/work/work.h"

static int note(int error)
{
    return plim_standin_current_error_note(error);
}

int cudaEventCreateWithFlags(void **event, unsigned flags)
{
    if (!plim_standin_footprint_context(plim_standin_current_device())) {
        return note(PLIM_WORK_OUT_OF_MEMORY);
    }
    return note(plim_standin_event_create(flags, event));
}

int cudaEventCreate(void **event)
{
    return cudaEventCreateWithFlags(event, 0);
}

int cudaEventDestroy(void *event)
{
    return note(plim_standin_event_destroy(event));
}

int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    return note(plim_standin_event_record(event, stream, flags));
}

int cudaEventRecord(void *event, void *stream)
{
    return cudaEventRecordWithFlags(event, stream, 0);
}

int cudaEventQuery(void *event)
{
    return note(plim_standin_event_query(event));
}

int cudaEventSynchronize(void *event)
{
    return note(plim_standin_event_query(event)); /* what may be asked about is done */
}

int cudaEventElapsedTime(float *milliseconds, void *start, void *end)
{
    return note(plim_standin_event_elapsed(milliseconds, start, end));
}

int cudaEventElapsedTime_v2(float *milliseconds, void *start, void *end)
{
    return cudaEventElapsedTime(milliseconds, start, end);
}

int cudaIpcGetEventHandle(plim_standin_event_ticket *ticket, void *event)
{
    return note(plim_standin_event_share(event, ticket));
}

int cudaIpcOpenEventHandle(void **event, plim_standin_event_ticket ticket)
{
    if (!plim_standin_footprint_context(plim_standin_current_device())) {
        return note(PLIM_WORK_OUT_OF_MEMORY);
    }
    return note(plim_standin_event_adopt(&ticket, event));
}
