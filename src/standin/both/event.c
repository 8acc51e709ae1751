/*
 * event.c - events, over work/streams.h.
 */
#include "standin/both/both.h"
#include "standin/work/streams.h"

static int create(void **event, unsigned flags)
{
    return plim_standin_begins() ? plim_standin_event_create(flags, event)
                                 : PLIM_WORK_OUT_OF_MEMORY;
}

static int adopt(void **event, const plim_standin_event_ticket *ticket)
{
    return plim_standin_begins() ? plim_standin_event_adopt(ticket, event)
                                 : PLIM_WORK_OUT_OF_MEMORY;
}

BOTH(cuEventCreate, cudaEventCreateWithFlags, (void **event, unsigned flags), create(event, flags))
RUNTIME(cudaEventCreate, (void **event), create(event, 0))
BOTH(cuEventDestroy_v2, cudaEventDestroy, (void *event), plim_standin_event_destroy(event))
BOTH(cuEventRecordWithFlags, cudaEventRecordWithFlags, (void *event, void *stream, unsigned flags),
     plim_standin_event_record(event, stream, flags))
BOTH(cuEventRecord, cudaEventRecord, (void *event, void *stream),
     plim_standin_event_record(event, stream, 0))
BOTH(cuEventQuery, cudaEventQuery, (void *event), plim_standin_event_query(event))
/* What may be asked about is done. */
BOTH(cuEventSynchronize, cudaEventSynchronize, (void *event), plim_standin_event_query(event))
BOTH(cuEventElapsedTime, cudaEventElapsedTime, (float *milliseconds, void *start, void *end),
     plim_standin_event_elapsed(milliseconds, start, end))
BOTH(cuEventElapsedTime_v2, cudaEventElapsedTime_v2, (float *milliseconds, void *start, void *end),
     plim_standin_event_elapsed(milliseconds, start, end))
BOTH(cuIpcGetEventHandle, cudaIpcGetEventHandle, (void *ticket, void *event),
     plim_standin_event_share(event, ticket))
BOTH(cuIpcOpenEventHandle, cudaIpcOpenEventHandle, (void **event, plim_standin_event_ticket ticket),
     adopt(event, &ticket))
