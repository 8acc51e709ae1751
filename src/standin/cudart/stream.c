/*
 * stream.c - streams whose work is always done, and which never capture.
 *
 * So waiting is over at once, and what was queued on a stream has happened.
 */
#include "standin/core/handle.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

int cudaStreamCreate(void **stream);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority);
int cudaStreamGetPriority(void *stream, int *priority);
int cudaStreamIsCapturing(void *stream, int *status);
int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph,
                             const void ***dependencies, const void **edges, size_t *count);
int cudaThreadExchangeStreamCaptureMode(int *mode);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *data,
                          unsigned flags);
int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data);

int cudaStreamCreate(void **stream)
{
    *stream = plim_standin_handle_create();
    return CUDA_SUCCESS_CODE;
}

int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    (void)flags;
    return cudaStreamCreate(stream);
}

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    (void)flags;
    (void)priority;
    return cudaStreamCreate(stream);
}

int cudaStreamGetPriority(void *stream, int *priority)
{
    (void)stream;
    *priority = 0; /* not kept: nothing here runs earlier than something else */
    return CUDA_SUCCESS_CODE;
}

int cudaStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = 0; /* cudaStreamCaptureStatusNone */
    return CUDA_SUCCESS_CODE;
}

int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph,
                             const void ***dependencies, const void **edges, size_t *count)
{
    (void)stream;
    (void)id; /* the manual: the rest is only written for a stream that captures */
    (void)graph;
    (void)dependencies;
    (void)edges;
    (void)count;
    *status = 0;
    return CUDA_SUCCESS_CODE;
}

int cudaThreadExchangeStreamCaptureMode(int *mode)
{
    *mode = 0; /* cudaStreamCaptureModeGlobal, what every thread starts with */
    return CUDA_SUCCESS_CODE;
}

int cudaStreamBeginCapture(void *stream, int mode)
{
    (void)stream;
    (void)mode;
    return CUDA_NOT_SUPPORTED_CODE; /* better refused than pretended */
}

int cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *data,
                          unsigned flags)
{
    (void)flags;
    callback(stream, CUDA_SUCCESS_CODE, data); /* all earlier work is done */
    return CUDA_SUCCESS_CODE;
}

int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    (void)stream;
    function(data);
    return CUDA_SUCCESS_CODE;
}

/* All work is done already, so there is nothing to wait for. */
PLIM_STANDIN_NOTHING(cudaStreamDestroy)
PLIM_STANDIN_NOTHING(cudaStreamQuery)
PLIM_STANDIN_NOTHING(cudaStreamSynchronize)
PLIM_STANDIN_NOTHING(cudaStreamWaitEvent)
