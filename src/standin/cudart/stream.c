/*
 * stream.c - the runtime's functions of streams, over work/streams.h.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/stub.h"
#include "standin/work/streams.h"
#include "standin/work/work.h"

static int note(int error)
{
    return plim_standin_current_error_note(error);
}

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    if (!plim_standin_footprint_context(plim_standin_current_device())) {
        return note(PLIM_WORK_OUT_OF_MEMORY);
    }
    return note(plim_standin_stream_create(flags, priority, stream));
}

int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, PLIM_STREAM_PRIORITY_MIN);
}

int cudaStreamCreate(void **stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

int cudaStreamDestroy(void *stream)
{
    return note(plim_standin_stream_destroy(stream));
}

int cudaStreamGetPriority(void *stream, int *priority)
{
    plim_standin_stream_facts facts = { 0 };
    const int error = plim_standin_stream_get_facts(stream, &facts);
    if (error == 0) {
        *priority = facts.priority;
    }
    return note(error);
}

int cudaStreamGetFlags(void *stream, unsigned *flags)
{
    plim_standin_stream_facts facts = { 0 };
    const int error = plim_standin_stream_get_facts(stream, &facts);
    if (error == 0) {
        *flags = facts.flags;
    }
    return note(error);
}

int cudaStreamGetId(void *stream, unsigned long long *id)
{
    plim_standin_stream_facts facts = { 0 };
    const int error = plim_standin_stream_get_facts(stream, &facts);
    if (error == 0) {
        *id = facts.id;
    }
    return note(error);
}

int cudaStreamGetDevice(void *stream, int *device)
{
    plim_standin_stream_facts facts = { 0 };
    const int error = plim_standin_stream_get_facts(stream, &facts);
    if (error == 0) {
        *device = facts.device;
    }
    return note(error);
}

int cudaStreamQuery(void *stream)
{
    return note(plim_standin_may_wait(stream)); /* and then it is done */
}

int cudaStreamSynchronize(void *stream)
{
    return note(plim_standin_may_wait(stream));
}

int cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    return note(plim_standin_event_wait(stream, event, flags));
}

int cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *data,
                          unsigned flags)
{
    if (callback == NULL || flags != 0) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    const int error = plim_standin_may_wait(stream); /* the manual: not while it captures */
    if (error == 0) {
        callback(stream, PLIM_WORK_OK, data); /* all earlier work is done */
    }
    return note(error);
}

int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    return note(plim_standin_stream_call(stream, function, data));
}

int cudaStreamAttachMemAsync(void *stream, void *address, size_t bytes, unsigned flags)
{
    /* address: managed memory is nowhere in particular here */
    return note(plim_standin_may_wait(stream)); /* the programming guide: not while it captures */
}

/* Access policies and L2 caches make no difference to memory. */
PLIM_STANDIN_NOTHING(cudaCtxResetPersistingL2Cache)
PLIM_STANDIN_NOTHING(cudaStreamCopyAttributes)
PLIM_STANDIN_NOTHING(cudaStreamSetAttribute)
