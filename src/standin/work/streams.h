/*
 * streams.h - streams and events, and what is asked of them: for both libraries' functions.
 *
 * Return the codes of work.h. Handles are the vendor's: NULL, 1 and 2 are streams too.
 */
#ifndef PLIMSOLL_STANDIN_WORK_STREAMS_H
#define PLIMSOLL_STANDIN_WORK_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#define PLIM_STREAM_NON_BLOCKING 1u /* cudaStreamNonBlocking, CU_STREAM_NON_BLOCKING */
#define PLIM_STREAM_PRIORITY_MIN 0  /* cudaDeviceGetStreamPriorityRange of GPUs since Volta */
#define PLIM_STREAM_PRIORITY_MAX (-5)

#define PLIM_EVENT_NO_TIMING    2u /* cudaEventDisableTiming */
#define PLIM_EVENT_INTERPROCESS 4u
#define PLIM_EVENT_EXTERNAL     1u /* cudaEventRecordExternal, cudaEventWaitExternal */

typedef struct plim_standin_stream_facts {
    uint64_t id;
    int device;
    int priority;
    unsigned flags;
} plim_standin_stream_facts;

/* On the current device. A priority beyond the range is taken as the nearest in it. */
int plim_standin_stream_create(unsigned flags, int priority, void **ret);
int plim_standin_stream_destroy(void *stream);
int plim_standin_stream_get_facts(void *stream, plim_standin_stream_facts *ret);
/* Runs the function once all earlier work is done: at once, or when a graph is launched. */
int plim_standin_stream_call(void *stream, void (*function)(void *), void *data);

int plim_standin_event_create(unsigned flags, void **ret);
int plim_standin_event_destroy(void *event);
int plim_standin_event_record(void *event, void *stream, unsigned flags);
int plim_standin_event_wait(void *stream, void *event, unsigned flags);
/* May its work be waited for, or asked about? 0: and it is done. */
int plim_standin_event_query(void *event);
int plim_standin_event_elapsed(float *ret_milliseconds, void *start, void *end);
/* What one process hands to another, cudaIpcEventHandle_t: 64 bytes that mean nothing there. */
typedef struct plim_standin_event_ticket {
    char bytes[64];
} plim_standin_event_ticket;

/* Only of an event made for it; the other process gets one that has happened. */
int plim_standin_event_share(void *event, plim_standin_event_ticket *ret);
int plim_standin_event_adopt(const plim_standin_event_ticket *ticket, void **ret);

#endif
