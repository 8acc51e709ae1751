/*
 * event.c - the driver's functions of events, over work/streams.h.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/cuda/cuda.h"
#include "standin/work/streams.h"

int cuEventCreate(void **event, unsigned flags)
{
    if (!plim_standin_footprint_context(plim_standin_current_device())) {
        return DRIVER_OUT_OF_MEMORY;
    }
    return plim_standin_event_create(flags, event);
}

int cuEventDestroy_v2(void *event)
{
    return plim_standin_event_destroy(event);
}

int cuEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    return plim_standin_event_record(event, stream, flags);
}

int cuEventRecord(void *event, void *stream)
{
    return plim_standin_event_record(event, stream, 0);
}

int cuEventQuery(void *event)
{
    return plim_standin_event_query(event);
}

int cuEventSynchronize(void *event)
{
    return plim_standin_event_query(event); /* what may be asked about is done */
}

int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    return plim_standin_event_elapsed(milliseconds, start, end);
}

int cuEventElapsedTime_v2(float *milliseconds, void *start, void *end)
{
    return plim_standin_event_elapsed(milliseconds, start, end);
}

int cuIpcGetEventHandle(plim_standin_event_ticket *ticket, void *event)
{
    return plim_standin_event_share(event, ticket);
}

int cuIpcOpenEventHandle(void **event, plim_standin_event_ticket ticket)
{
    return plim_standin_event_adopt(&ticket, event);
}
