/*
 * test_captures.c - stream capture: what joins it, what spoils it, and which error says so.
 */
#include "standin/rehearsal.h"
#include "standin/work_words.h"

#include "standin/cuda_words.h"

#include <pthread.h>

enum {
    INVALID_VALUE = 1,
    ILLEGAL_STATE = 401,
    UNSUPPORTED = 900,
    INVALIDATED = 901,
    MERGE = 902,
    UNMATCHED = 903,
    UNJOINED = 904,
    ISOLATION = 905,
    IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    WRONG_THREAD = 908
};

enum { NONE, ACTIVE, INVALID };

static void *new_stream(void)
{
    void *stream = NULL;
    R_EQ(cudaStreamCreateWithFlags(&stream, 1), 0);
    return stream;
}

static void *new_event(void)
{
    void *event = NULL;
    R_EQ(cudaEventCreateWithFlags(&event, 2), 0);
    return event;
}

static void *begin(int mode)
{
    void *stream = new_stream();
    R_EQ(cudaStreamBeginCapture(stream, mode), 0);
    return stream;
}

static int status_of(void *stream)
{
    int status = -1;
    R_EQ(cudaStreamIsCapturing(stream, &status), 0);
    return status;
}

/* `later` waits for what is on `earlier`. */
static int follow(void *later, void *earlier)
{
    void *event = new_event();
    const int error = cudaEventRecord(event, earlier);
    return error != 0 ? error : cudaStreamWaitEvent(later, event, 0);
}

static size_t end(void *stream)
{
    void *graph = NULL;
    size_t count = 0;
    R_EQ(cudaStreamEndCapture(stream, &graph), 0);
    R_EQ(cudaGraphGetNodes(graph, NULL, &count), 0);
    R_EQ(cudaGraphDestroy(graph), 0);
    R_EQ(status_of(stream), NONE);
    return count;
}

/* The capture is spoilt: all fails, until it is ended, which says so. */
static void check_spoilt(void *stream)
{
    void *graph = stream;
    R_EQ(status_of(stream), INVALID);
    R_EQ(launch(stream), INVALIDATED);
    R_EQ(cudaStreamSynchronize(stream), INVALIDATED);
    R_EQ(cudaStreamEndCapture(stream, &graph), INVALIDATED);
    R_TRUE(graph == NULL);
    R_EQ(status_of(stream), NONE);
    R_EQ(launch(stream), 0);
}

static void nodes(void)
{
    char host[8] = "before";
    void *device = NULL;
    R_EQ(cudaMalloc(&device, 512), 0);
    R_EQ(cudaMemset(device, 'x', 512), 0);
    void *stream = begin(MODE_GLOBAL);
    R_EQ(status_of(stream), ACTIVE);
    R_EQ(launch(stream), 0);
    R_EQ(launch(stream), 0);
    R_EQ(cudaMemcpyAsync(host, device, sizeof(host), 2, stream), 0);
    R_EQ(strcmp(host, "before"), 0); /* not done while it captures */
    R_EQ(end(stream), 3);
}

static void work_becomes_nodes(void)
{
    r_play(nodes);
}

static void info(void)
{
    int status = -1;
    unsigned long long id = 0;
    unsigned long long second_id = 0;
    void *graph = NULL;
    void *ended = NULL;
    void *const *tail = NULL;
    size_t count = 9;
    void *stream = begin(MODE_RELAXED);
    R_EQ(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &tail, NULL, &count), 0);
    R_TRUE(status == ACTIVE && id != 0 && graph != NULL && count == 0);
    R_EQ(launch(stream), 0);
    R_EQ(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &tail, NULL, &count), 0);
    R_EQ(count, 1);
    int type = -1;
    R_EQ(cudaGraphNodeGetType(tail[0], &type), 0);
    R_EQ(type, 0);
    R_EQ(cudaGraphDestroy(graph), INVALID_VALUE); /* it is being filled */
    void *exec = NULL;
    R_EQ(cudaGraphInstantiate(&exec, graph, 0), ILLEGAL_STATE);
    R_EQ(cudaStreamEndCapture(stream, &ended), 0);
    R_TRUE(ended == graph);

    R_EQ(cudaStreamBeginCapture(stream, MODE_GLOBAL), 0);
    R_EQ(cudaStreamGetCaptureInfo(stream, &status, &second_id, NULL, NULL, NULL, NULL), 0);
    R_TRUE(second_id != id);
    uint64_t by_driver = 0;
    R_EQ(cuStreamGetCaptureInfo(stream, &status, &by_driver), 0);
    R_EQ(by_driver, second_id);
    R_EQ(cudaStreamBeginCapture(stream, MODE_GLOBAL), ILLEGAL_STATE);
    R_EQ(cudaStreamBeginCapture(LEGACY, MODE_GLOBAL), UNSUPPORTED);
    R_EQ(cudaStreamBeginCapture(new_stream(), 3), INVALID_VALUE);
    R_EQ(end(stream), 0);
    R_EQ(cudaStreamEndCapture(stream, &ended), ILLEGAL_STATE);
    R_EQ(cudaStreamBeginCapture(PER_THREAD, MODE_GLOBAL), 0);
    R_EQ(launch(PER_THREAD), 0);
    R_EQ(end(PER_THREAD), 1);
}

static void a_capture_is_known_while_it_lasts(void)
{
    r_play(info);
}

static void old_shape(void) /* CUDA 12: three parameters; what follows is noise */
{
    int status = -1;
    unsigned long long id = 0;
    void *const noise = (void *)(uintptr_t)0x1234;
    void *stream = begin(MODE_GLOBAL);
    R_EQ(cudaStreamGetCaptureInfo(stream, &status, &id, noise, noise, noise, noise), 0);
    R_TRUE(status == ACTIVE && id != 0);
    R_EQ(launch(stream), 0);
    R_EQ(cudaStreamUpdateCaptureDependencies(stream, NULL, 0, 1, 77), 0);
    R_EQ(end(stream), 1);
}

static void the_shapes_of_cuda_12_are_known(void)
{
    plim_stage_settings settings = r_settings();
    settings.cuda_version = 12080;
    r_play_on(&settings, old_shape);
}

static void forks(void)
{
    void *origin = begin(MODE_GLOBAL);
    void *side = new_stream();
    void *graph = NULL;
    R_EQ(launch(origin), 0);
    R_EQ(follow(side, origin), 0);
    R_EQ(status_of(side), ACTIVE);
    R_EQ(launch(side), 0);
    R_EQ(launch(side), 0);
    R_EQ(follow(origin, side), 0);
    R_EQ(launch(origin), 0);
    R_EQ(cudaStreamEndCapture(side, &graph), UNMATCHED);
    R_EQ(status_of(origin), INVALID);
    R_EQ(cudaStreamEndCapture(origin, &graph), INVALIDATED);
    R_EQ(status_of(side), NONE);

    origin = begin(MODE_GLOBAL);
    R_EQ(launch(origin), 0);
    R_EQ(follow(side, origin), 0);
    R_EQ(launch(side), 0);
    R_EQ(follow(origin, side), 0);
    R_EQ(launch(origin), 0);
    R_EQ(cudaStreamEndCapture(origin, &graph), 0);
    size_t count = 0;
    R_EQ(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count), 0);
    R_EQ(count, 3); /* 0 → 1, 0 → 2, 1 → 2 */
    R_EQ(status_of(side), NONE);

    origin = begin(MODE_GLOBAL); /* a side that did nothing needs no joining */
    R_EQ(launch(origin), 0);
    R_EQ(follow(side, origin), 0);
    R_EQ(end(origin), 1);
}

static void streams_that_wait_join(void)
{
    r_play(forks);
}

static void unjoined(void)
{
    void *origin = begin(MODE_GLOBAL);
    void *side = new_stream();
    void *graph = origin;
    R_EQ(follow(side, origin), 0);
    R_EQ(launch(side), 0);
    R_EQ(cudaStreamEndCapture(origin, &graph), UNJOINED);
    R_TRUE(graph == NULL);
    R_EQ(status_of(side), NONE);

    origin = begin(MODE_GLOBAL); /* what the program takes out of the tail is its own affair */
    R_EQ(follow(side, origin), 0);
    R_EQ(launch(side), 0);
    R_EQ(cudaStreamUpdateCaptureDependencies(side, NULL, 0, 0, 1), 0);
    R_EQ(end(origin), 1);
    R_EQ(cudaStreamUpdateCaptureDependencies(side, NULL, 0, 0, 1), ILLEGAL_STATE);
}

static void forks_must_join_again(void)
{
    r_play(unjoined);
}

static void crossing(void)
{
    void *outside = new_event();
    R_EQ(cudaEventRecord(outside, NULL), 0);
    void *stream = begin(MODE_GLOBAL);
    R_EQ(cudaStreamWaitEvent(stream, outside, 0), ISOLATION);
    check_spoilt(stream);

    stream = begin(MODE_GLOBAL);
    R_EQ(cudaStreamWaitEvent(stream, outside, 1), 0); /* external: a node that waits */
    R_EQ(cudaEventRecordWithFlags(outside, stream, 1), 0);
    R_EQ(end(stream), 2);

    stream = begin(MODE_GLOBAL);
    void *other = begin(MODE_GLOBAL);
    R_EQ(follow(other, stream), MERGE);
    check_spoilt(stream);
    check_spoilt(other);

    stream = begin(MODE_GLOBAL);
    R_EQ(follow(LEGACY, stream), IMPLICIT);
    check_spoilt(stream);
}

static void captures_are_apart_from_everything_else(void)
{
    r_play(crossing);
}

static void asking(void)
{
    void *event = new_event();
    void *stream = begin(MODE_RELAXED);
    R_EQ(cudaEventRecord(event, stream), 0);
    R_EQ(cudaEventQuery(event), CAPTURED_EVENT);
    check_spoilt(stream);
    R_EQ(cudaEventSynchronize(event), CAPTURED_EVENT); /* until it is recorded anew */
    R_EQ(cudaStreamWaitEvent(stream, event, 0), CAPTURED_EVENT);
    R_EQ(cudaEventRecord(event, stream), 0);
    R_EQ(cudaEventQuery(event), 0);

    stream = begin(MODE_RELAXED);
    R_EQ(cudaStreamSynchronize(stream), UNSUPPORTED);
    check_spoilt(stream);
    stream = begin(MODE_RELAXED);
    R_EQ(cudaStreamQuery(stream), UNSUPPORTED);
    check_spoilt(stream);
    stream = begin(MODE_RELAXED);
    R_EQ(cudaDeviceSynchronize(), UNSUPPORTED);
    check_spoilt(stream);
    stream = begin(MODE_RELAXED); /* another device is another matter */
    R_EQ(cudaSetDevice(1), 0);
    R_EQ(cudaDeviceSynchronize(), 0);
    R_EQ(cudaSetDevice(0), 0);
    R_EQ(end(stream), 0);
}

static void what_captures_is_never_done(void)
{
    r_play(asking);
}

static int allocation(void)
{
    void *address = NULL;
    return cudaMalloc(&address, 512);
}

static void unsafe(void)
{
    int mode = MODE_RELAXED;
    void *stream = begin(MODE_GLOBAL);
    R_EQ(allocation(), UNSUPPORTED);
    check_spoilt(stream);
    R_EQ(allocation(), 0);

    stream = begin(MODE_THREAD_LOCAL);
    R_EQ(allocation(), UNSUPPORTED);
    check_spoilt(stream);
    stream = begin(MODE_RELAXED);
    R_EQ(allocation(), 0);
    R_EQ(end(stream), 0);

    stream = begin(MODE_GLOBAL); /* as PyTorch's allocator does it */
    R_EQ(cudaThreadExchangeStreamCaptureMode(&mode), 0);
    R_EQ(mode, MODE_GLOBAL);
    R_EQ(allocation(), 0);
    R_EQ(cudaThreadExchangeStreamCaptureMode(&mode), 0);
    R_EQ(mode, MODE_RELAXED);
    R_EQ(end(stream), 0);
    mode = 5;
    R_EQ(cudaThreadExchangeStreamCaptureMode(&mode), INVALID_VALUE);
}

static void what_a_capture_cannot_see_spoils_it(void)
{
    r_play(unsafe);
}

/* Another thread while the first one captures. */
typedef struct visit {
    void *stream;
    int mode; /* of the thread */
    int allocation_error;
    int end_error;
} visit;

static void *visitor(void *data)
{
    visit *const mine = data;
    void *graph = NULL;
    R_EQ(cudaThreadExchangeStreamCaptureMode(&mine->mode), 0);
    mine->allocation_error = allocation();
    mine->end_error = cudaStreamEndCapture(mine->stream, &graph);
    return NULL;
}

static void threads(void)
{
    static const struct {
        int capture_mode;
        int thread_mode;
        int allocation_error;
        int end_error;
    } cases[] = {
        { MODE_GLOBAL, MODE_GLOBAL, UNSUPPORTED, WRONG_THREAD },
        { MODE_GLOBAL, MODE_THREAD_LOCAL, 0, WRONG_THREAD },
        { MODE_GLOBAL, MODE_RELAXED, 0, WRONG_THREAD },
        { MODE_THREAD_LOCAL, MODE_GLOBAL, 0, WRONG_THREAD },
        { MODE_RELAXED, MODE_GLOBAL, 0, 0 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        pthread_t thread;
        void *graph = NULL;
        visit other = { .stream = begin(cases[i].capture_mode), .mode = cases[i].thread_mode };
        R_EQ(pthread_create(&thread, NULL, visitor, &other), 0);
        R_EQ(pthread_join(thread, NULL), 0);
        R_EQ(other.allocation_error, cases[i].allocation_error);
        R_EQ(other.end_error, cases[i].end_error);
        if (other.end_error != 0) {
            R_EQ(cudaStreamEndCapture(other.stream, &graph),
                 other.allocation_error == 0 ? 0 : INVALIDATED);
        }
    }
}

static void threads_spoil_captures_as_the_modes_say(void)
{
    r_play(threads);
}

static void legacy(void)
{
    int status = -1;
    void *stream = NULL;
    R_EQ(cudaStreamCreate(&stream), 0); /* blocking: the legacy stream waits for it */
    R_EQ(cudaStreamBeginCapture(stream, MODE_GLOBAL), 0);
    R_EQ(cudaStreamIsCapturing(NULL, &status), IMPLICIT);
    R_EQ(status_of(stream), ACTIVE); /* asking does no harm */
    R_EQ(launch(NULL), IMPLICIT);
    check_spoilt(stream);

    stream = begin(MODE_GLOBAL); /* not blocking */
    R_EQ(launch(NULL), 0);
    R_EQ(status_of(NULL), NONE);
    R_EQ(end(stream), 0);
}

static void the_legacy_stream_spoils_blocking_ones(void)
{
    r_play(legacy);
}

static void to_graph(void)
{
    void *graph = NULL;
    void *first = NULL;
    void *ended = NULL;
    size_t count = 0;
    R_EQ(cudaGraphCreate(&graph, 0), 0);
    R_EQ(cudaGraphAddEmptyNode(&first, graph, NULL, 0), 0);
    void *stream = new_stream();
    R_EQ(cudaStreamBeginCaptureToGraph(stream, graph, &first, NULL, 1, MODE_GLOBAL), 0);
    R_EQ(launch(stream), 0);
    R_EQ(cudaGraphDestroyNode(first), INVALID_VALUE);
    R_EQ(cudaStreamEndCapture(stream, &ended), 0);
    R_TRUE(ended == graph);
    R_EQ(cudaGraphNodeGetDependentNodes(first, NULL, NULL, &count), 0);
    R_EQ(count, 1);
    R_EQ(cudaStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, MODE_GLOBAL), INVALID_VALUE);

    void *lost = begin(MODE_GLOBAL); /* destroying the origin ends its capture */
    R_EQ(cudaStreamDestroy(lost), 0);
    R_EQ(allocation(), 0);
}

static void captures_go_on_from_a_graph(void)
{
    r_play(to_graph);
}

T_MAIN(T_TEST(work_becomes_nodes), T_TEST(a_capture_is_known_while_it_lasts),
       T_TEST(the_shapes_of_cuda_12_are_known), T_TEST(streams_that_wait_join),
       T_TEST(forks_must_join_again), T_TEST(captures_are_apart_from_everything_else),
       T_TEST(what_captures_is_never_done), T_TEST(what_a_capture_cannot_see_spoils_it),
       T_TEST(threads_spoil_captures_as_the_modes_say),
       T_TEST(the_legacy_stream_spoils_blocking_ones), T_TEST(captures_go_on_from_a_graph))
