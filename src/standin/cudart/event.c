/*
 * event.c - events that have happened as soon as they are recorded.
 *
 * No time passes on a device without work, but callers divide by elapsed times.
 */
#include "standin/core/handle.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

int cudaEventCreate(void **event);
int cudaEventCreateWithFlags(void **event, unsigned flags);
int cudaEventElapsedTime(float *milliseconds, void *start, void *end);

int cudaEventCreate(void **event)
{
    *event = plim_standin_handle_create();
    return CUDA_SUCCESS_CODE;
}

int cudaEventCreateWithFlags(void **event, unsigned flags)
{
    (void)flags;
    return cudaEventCreate(event);
}

int cudaEventElapsedTime(float *milliseconds, void *start, void *end)
{
    (void)start;
    (void)end;
    *milliseconds = 0.001f; /* made up, and above zero */
    return CUDA_SUCCESS_CODE;
}

/* Recorded is finished. */
PLIM_STANDIN_NOTHING(cudaEventDestroy)
PLIM_STANDIN_NOTHING(cudaEventQuery)
PLIM_STANDIN_NOTHING(cudaEventRecord)
PLIM_STANDIN_NOTHING(cudaEventRecordWithFlags)
PLIM_STANDIN_NOTHING(cudaEventSynchronize)
