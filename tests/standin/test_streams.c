/*
 * test_streams.c - streams and events: what they say of themselves, and that all work is done.
 */
#include "standin/rehearsal.h"
#include "standin/work/work.h"
#include "standin/work_words.h"

#include "standin/cuda_words.h"

#include <pthread.h>

#define INVALID_VALUE  1
#define INVALID_HANDLE 400

static void facts(void)
{
    void *stream = NULL;
    int number = 7;
    unsigned flags = 7;
    unsigned long long id = 0;
    R_EQ(cudaSetDevice(1), 0);
    R_EQ(cudaStreamCreateWithPriority(&stream, 1, -2), 0);
    R_EQ(cudaSetDevice(0), 0);
    R_EQ(cudaStreamGetPriority(stream, &number), 0);
    R_EQ(number, -2);
    R_EQ(cudaStreamGetFlags(stream, &flags), 0);
    R_EQ(flags, 1);
    R_EQ(cudaStreamGetDevice(stream, &number), 0);
    R_EQ(number, 1);
    R_EQ(cudaStreamGetId(stream, &id), 0);

    void *other = NULL;
    unsigned long long other_id = 0;
    R_EQ(cudaStreamCreateWithPriority(&other, 0, -100), 0);
    R_EQ(cudaStreamGetPriority(other, &number), 0);
    R_EQ(number, -5); /* the highest there is */
    R_EQ(cudaStreamGetId(other, &other_id), 0);
    R_TRUE(id != other_id && stream != other);

    R_EQ(cudaStreamGetPriority(NULL, &number), 0);
    R_EQ(number, 0);
    R_EQ(cudaStreamGetDevice(PER_THREAD, &number), 0);
    R_EQ(number, 0);
    R_EQ(cudaStreamQuery(LEGACY), 0);
    R_EQ(cudaStreamCreateWithFlags(&other, 8), INVALID_VALUE);
    R_EQ(cudaGetLastError(), INVALID_VALUE);
}

static void streams_say_what_they_were_made_with(void)
{
    r_play(facts);
}

static void stale(void)
{
    void *stream = NULL;
    void *event = NULL;
    R_EQ(cudaStreamCreate(&stream), 0);
    R_EQ(cudaEventCreate(&event), 0);
    R_EQ(cudaStreamDestroy(stream), 0);
    R_EQ(cudaStreamSynchronize(stream), INVALID_HANDLE);
    R_EQ(launch(stream), INVALID_HANDLE);
    R_EQ(cudaEventRecord(event, stream), INVALID_HANDLE);
    R_EQ(cudaStreamDestroy(stream), INVALID_HANDLE);
    R_EQ(cudaStreamDestroy(NULL), INVALID_HANDLE);
    R_EQ(cudaStreamQuery(event), INVALID_HANDLE); /* of another kind */
    R_EQ(cudaEventDestroy(event), 0);
    R_EQ(cudaEventQuery(event), INVALID_HANDLE);
    R_EQ(cudaStreamWaitEvent(NULL, NULL, 0), INVALID_HANDLE);
}

static void stale_handles_are_found_out(void)
{
    r_play(stale);
}

static void times(void)
{
    void *first = NULL;
    void *second = NULL;
    void *untimed = NULL;
    float milliseconds = -1;
    R_EQ(cudaEventCreate(&first), 0);
    R_EQ(cudaEventCreate(&second), 0);
    R_EQ(cudaEventQuery(first), 0); /* never recorded: nothing to wait for */
    R_EQ(cudaEventElapsedTime(&milliseconds, first, second), INVALID_HANDLE);
    for (int i = 0; i < 1000; i++) {
        R_EQ(cudaEventRecord(first, NULL), 0);
        R_EQ(cudaEventRecord(second, NULL), 0);
        R_EQ(cudaEventSynchronize(second), 0);
        R_EQ(cudaEventElapsedTime(&milliseconds, first, second), 0);
        R_TRUE(milliseconds > 0);
        R_EQ(cudaEventElapsedTime(&milliseconds, second, first), 0);
        R_TRUE(milliseconds < 0);
    }
    R_EQ(cudaEventCreateWithFlags(&untimed, 2), 0);
    R_EQ(cudaEventRecord(untimed, NULL), 0);
    R_EQ(cudaEventElapsedTime(&milliseconds, untimed, second), INVALID_HANDLE);
    R_EQ(cudaEventCreateWithFlags(&untimed, 4), INVALID_VALUE);    /* shared ones have no time */
    R_EQ(cudaEventRecordWithFlags(first, NULL, 1), INVALID_VALUE); /* external: only captured */
}

static void time_passes_between_events(void)
{
    r_play(times);
}

static void elsewhere(void)
{
    void *stream = NULL;
    void *event = NULL;
    R_EQ(cudaStreamCreate(&stream), 0);
    R_EQ(cudaSetDevice(1), 0);
    R_EQ(cudaEventCreate(&event), 0);
    R_EQ(cudaEventRecord(event, stream), INVALID_HANDLE);
    R_EQ(cudaEventRecord(event, NULL), 0);
    R_EQ(cudaStreamWaitEvent(stream, event, 0), 0); /* waiting across devices is fine */
}

static void events_are_recorded_on_their_own_device(void)
{
    r_play(elsewhere);
}

static int calls;

static void count(void *data)
{
    calls += *(int *)data;
}

static void count_status(void *stream, int status, void *data)
{
    (void)stream;
    calls += *(int *)data + status;
}

static void callbacks(void)
{
    int one = 1;
    R_EQ(cudaLaunchHostFunc(NULL, count, &one), 0);
    R_EQ(calls, 1);
    R_EQ(cudaStreamAddCallback(PER_THREAD, count_status, &one, 0), 0);
    R_EQ(calls, 2);
    R_EQ(cudaLaunchHostFunc(NULL, NULL, NULL), INVALID_VALUE);
}

static void callbacks_run_at_once(void)
{
    r_play(callbacks);
}

static void shared(void)
{
    void *event = NULL;
    void *opened = NULL;
    ticket paper = { { 0 } };
    R_EQ(cudaEventCreate(&event), 0);
    R_EQ(cudaIpcGetEventHandle(&paper, event), INVALID_VALUE); /* not made for it */
    R_EQ(cudaIpcOpenEventHandle(&opened, paper), INVALID_VALUE);
    R_EQ(cudaEventCreateWithFlags(&event, 4 | 2), 0);
    R_EQ(cudaIpcGetEventHandle(&paper, event), 0);
    R_EQ(cudaIpcOpenEventHandle(&opened, paper), 0);
    R_TRUE(opened != event);
    R_EQ(cudaEventQuery(opened), 0);
}

static void events_go_to_other_processes(void)
{
    r_play(shared);
}

static void *own_id(void *data)
{
    R_EQ(cudaStreamGetId(PER_THREAD, data), 0);
    return NULL;
}

static void own(void)
{
    unsigned long long here = 0;
    unsigned long long again = 0;
    unsigned long long there = 0;
    pthread_t thread;
    (void)own_id(&here);
    (void)own_id(&again);
    R_EQ(pthread_create(&thread, NULL, own_id, &there), 0);
    R_EQ(pthread_join(thread, NULL), 0);
    R_TRUE(here == again && here != there);
}

static void every_thread_has_its_own_stream(void)
{
    r_play(own);
}

/* An event on a stream after work: could it still be ahead? */
static void *record_on(void *stream)
{
    void *event = NULL;
    R_EQ(cudaEventCreateWithFlags(&event, 2), 0);
    R_EQ(launch(stream), 0);
    R_EQ(cudaEventRecord(event, stream), 0);
    return event;
}

static void late(void)
{
    enum { QUEUE_LENGTH = 1024 };
    void *first = NULL;
    void *second = NULL;
    R_EQ(cudaStreamCreateWithFlags(&first, 1), 0);
    R_EQ(cudaStreamCreateWithFlags(&second, 1), 0);

    void *event = record_on(first);
    R_EQ(cudaEventQuery(event), 0); /* to a program all work is over */
    R_TRUE(plim_standin_event_is_late(event));
    R_TRUE(plim_standin_event_is_late(event));
    R_EQ(r_device(0).wait_count, 1);
    R_EQ(cudaStreamSynchronize(second), 0);
    R_TRUE(plim_standin_event_is_late(event));
    R_EQ(cudaStreamSynchronize(first), 0);
    R_TRUE(!plim_standin_event_is_late(event));

    event = record_on(first); /* the second stream waits for the first, the host for the second */
    void *const after = record_on(first);
    R_EQ(cudaStreamWaitEvent(second, event, 0), 0);
    R_EQ(cudaEventSynchronize(record_on(second)), 0);
    R_TRUE(!plim_standin_event_is_late(event));
    R_TRUE(plim_standin_event_is_late(after));
    R_EQ(cudaDeviceSynchronize(), 0);
    R_TRUE(!plim_standin_event_is_late(after));

    event = record_on(first);
    R_EQ(cudaStreamWaitEvent(NULL, event, 0), 0); /* the legacy stream */
    for (int i = 0; i < QUEUE_LENGTH - 1; i++) {
        R_TRUE(plim_standin_event_is_late(event));
        R_EQ(launch(NULL), 0);
    }
    R_EQ(launch(NULL), 0); /* more than the queue holds */
    R_TRUE(!plim_standin_event_is_late(event));

    event = record_on(second);
    R_EQ(cudaStreamDestroy(second), 0);
    R_TRUE(!plim_standin_event_is_late(event));
    R_EQ(r_device(0).wait_count, 3);
}

static void what_the_host_did_not_wait_for_may_be_late(void)
{
    r_play(late);
}

static void held(void)
{
    void *streams[3] = { NULL };
    void *memory = NULL;
    R_EQ(r_device(0).waiting_bytes, 0);
    R_EQ(cudaMalloc(&memory, 6 * MIB), 0);
    for (int i = 0; i < 3; i++) {
        R_EQ(cudaStreamCreateWithFlags(&streams[i], 1), 0);
    }
    R_TRUE(plim_standin_event_is_late(record_on(streams[0])));
    R_EQ(r_device(0).waiting_bytes, 6 * MIB);
    R_TRUE(plim_standin_event_is_late(record_on(streams[1])));
    R_EQ(r_device(0).waiting_bytes, 2 * 6 * MIB);
    R_EQ(cudaStreamSynchronize(streams[0]), 0); /* two at once are the most */
    R_TRUE(plim_standin_event_is_late(record_on(streams[2])));
    R_EQ(r_device(0).waiting_bytes, 2 * 6 * MIB);
    R_EQ(cudaMalloc(&memory, 8 * MIB), 0); /* from now on blocks may be larger */
    R_TRUE(plim_standin_event_is_late(record_on(streams[2])));
    R_EQ(r_device(0).waiting_bytes, 3 * 8 * MIB);
    R_EQ(r_device(0).wait_count, 4);
}

static void what_waits_at_once_has_a_bound(void)
{
    r_play(held);
}

T_MAIN(T_TEST(what_the_host_did_not_wait_for_may_be_late), T_TEST(what_waits_at_once_has_a_bound),
       T_TEST(streams_say_what_they_were_made_with), T_TEST(stale_handles_are_found_out),
       T_TEST(time_passes_between_events), T_TEST(events_are_recorded_on_their_own_device),
       T_TEST(callbacks_run_at_once), T_TEST(events_go_to_other_processes),
       T_TEST(every_thread_has_its_own_stream))
