/*
 * embed_cuda.c - the allocator in a program for CUDA GPUs; docs/embedding.md goes through it.
 *
 *     cc -pthread embed_cuda.c $(pkg-config --cflags --libs plimsoll) && ./a.out 0
 *
 * No CUDA header or library is needed to build it: the driver is found when the program runs.
 */
#include <plimsoll/allocator.h>
#include <plimsoll/snapshot.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SNAPSHOT "out_of_memory.pickle"

static plim_error main_err;

static void must(plim_status status, const plim_error *err)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "embed_cuda: %s\n", err->message);
        exit(3);
    }
}

/* --- out of memory --- */

/* Called before a request fails, in the thread that made it, with no lock held: so the allocator
 * may be used. */
static void save_snapshot(void *ctx, const plim_oom_facts *facts)
{
    plim_allocator *allocator = *(plim_allocator **)ctx;
    plim_history *history = NULL;
    plim_error err = { 0 };
    (void)facts;
    if (plim_allocator_snapshot(allocator, NULL, true, &history, &err) != PLIM_OK ||
        plim_snapshot_save(history, SNAPSHOT, NULL, &err) != PLIM_OK) {
        fprintf(stderr, "embed_cuda: no snapshot: %s\n", err.message);
    }
    plim_history_destroy(history);
}

/* A failed request is an answer, not the end: free something, try a smaller size, or say why. */
static void ask_for_too_much(plim_allocator *allocator, uint64_t bytes)
{
    plim_addr addr = 0;
    plim_oom_facts facts;
    char text[PLIM_OOM_TEXT_BYTES], advice[PLIM_OOM_ADVICE_BYTES];
    plim_error err = { 0 };
    const plim_status status = plim_malloc(allocator, 0, bytes, 0, &addr, &err);
    if (status != PLIM_OUT_OF_DEVICE_MEMORY || !plim_allocator_last_oom(allocator, 0, &facts)) {
        must(status == PLIM_OK ? PLIM_IO : status, &err);
    }
    (void)plim_oom_text(&facts, PLIM_TORCH_NEWEST, text, sizeof text);
    (void)plim_oom_advice(&facts, advice, sizeof advice);
    printf("%s\n%s\nsnapshot: %s\n", text, advice, SNAPSHOT);
}

/* Called when nothing cached fits, before the driver is asked; may free through the allocator. */
typedef struct spare_memory {
    plim_addr addr; /* something that can be computed again */
} spare_memory;

static bool drop_spare(void *ctx, plim_allocator *allocator)
{
    spare_memory *spare = ctx;
    const bool has_any = spare->addr != 0;
    if (has_any && plim_free(allocator, spare->addr, NULL) != PLIM_OK) {
        return false;
    }
    spare->addr = 0;
    return has_any;
}

/* --- threads and streams --- */

typedef struct worker {
    plim_allocator *allocator;
    const plim_device *device;
    pthread_t thread;
    plim_stream stream;
    plim_stream copies; /* another stream, which reads what this one writes */
} worker;

static void *work(void *arg)
{
    const worker *me = arg;
    const plim_device *device = me->device;
    for (int step = 0; step < 50; step++) {
        plim_error err = { 0 };
        plim_addr addr = 0;
        const uint64_t bytes = (uint64_t)(step % 7 + 1) << 20;
        must(plim_malloc(me->allocator, 0, bytes, me->stream, &addr, &err), &err);
        /* Kernels are launched on me->stream here; filling stands for them. */
        must(device->ops->fill(device->self, addr, 1, bytes, me->stream, &err), &err);
        if (step % 5 == 0) { /* a copy on another stream: the free waits for it */
            must(plim_record_stream(me->allocator, addr, me->copies, &err), &err);
        }
        must(plim_free(me->allocator, addr, &err), &err);
    }
    return NULL;
}

static void run_threads(plim_allocator *allocator, const plim_device *device)
{
    worker workers[2] = { 0 };
    plim_stream copies = 0;
    must(device->ops->stream_create(device->self, &copies, &main_err), &main_err);
    for (int i = 0; i < 2; i++) {
        workers[i] = (worker){ .allocator = allocator, .device = device, .copies = copies };
        must(device->ops->stream_create(device->self, &workers[i].stream, &main_err), &main_err);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fputs("embed_cuda: no thread\n", stderr);
            exit(3);
        }
    }
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
    /* Streams outlive what waits for them: give everything back first. */
    must(plim_empty_cache(allocator, NULL, &main_err), &main_err);
    for (int i = 0; i < 2; i++) {
        must(device->ops->stream_destroy(device->self, workers[i].stream, &main_err), &main_err);
    }
    must(device->ops->stream_destroy(device->self, copies, &main_err), &main_err);
    puts("two threads took memory on two streams, a third stream read it");
}

/* --- memory that leaves the process --- */

#define HANDLES_MAX 64

/* The handles a block lies on, as file descriptors. Another process imports and maps them. */
static void share(plim_allocator *allocator)
{
    plim_addr addr = 0;
    int fds[HANDLES_MAX];
    plim_export what;
    must(plim_malloc(allocator, 0, 48 << 20, 0, &addr, &main_err), &main_err);
    const plim_status status =
        plim_export_block(allocator, addr, fds, sizeof fds, &what, &main_err);
    if (status == PLIM_UNSUPPORTED) { /* plain memory: set expandable_segments:True */
        printf("not shared: %s\n", main_err.message);
    } else {
        must(status, &main_err);
        printf("48 MiB left as %" PRIu64 " handles of %" PRIu64 " MiB, %" PRIu64 " MiB into them\n",
               what.handle_count, what.handle_bytes >> 20, (addr - what.addr) >> 20);
        for (uint64_t i = 0; i < what.handle_count; i++) {
            (void)close(fds[i]); /* after they were sent over a Unix socket */
        }
    }
    must(plim_free(allocator, addr, &main_err), &main_err);
}

/* --- all of it --- */

#define GPUS_MAX 16

static size_t open_gpus(int32_t first, plim_device devices[GPUS_MAX])
{
    const int32_t count = plim_cuda_count(NULL);
    size_t opened = 0;
    for (int32_t i = first; (i < count || opened == 0) && opened < GPUS_MAX; i++) {
        const plim_cuda_options options = { .ordinal = i };
        must(plim_cuda_open(&options, &devices[opened], &main_err), &main_err);
        opened++;
    }
    return opened;
}

static void connect_peers(plim_allocator *allocator, size_t count)
{
    for (int32_t a = 0; a < (int32_t)count; a++) {
        for (int32_t b = 0; b < (int32_t)count; b++) {
            must(plim_enable_peer_access(allocator, a, b, &main_err), &main_err);
        }
    }
}

static void run(plim_allocator *allocator, const plim_device *devices, size_t count)
{
    const plim_record_options history = {
        .is_enabled = true, .stacks = PLIM_STACKS_ALLOC, .max_events = 100000, .has_c_frames = true
    };
    must(plim_record_history(allocator, &history, &main_err), &main_err);
    must(plim_add_oom_observer(allocator, save_snapshot, &allocator, &main_err), &main_err);
    connect_peers(allocator, count);

    spare_memory spare = { 0 };
    must(plim_malloc(allocator, 0, 64 << 20, 0, &spare.addr, &main_err), &main_err);
    must(plim_add_free_memory_callback(allocator, drop_spare, &spare, &main_err), &main_err);

    run_threads(allocator, &devices[0]);
    plim_device_properties properties;
    devices[0].ops->properties(devices[0].self, &properties);
    ask_for_too_much(allocator, properties.total_bytes + 1);
    share(allocator);
    puts(spare.addr == 0 ? "the spare memory was given up when it was needed"
                         : "the spare memory is still there");
}

int main(int argc, char **argv)
{
    plim_device devices[GPUS_MAX] = { 0 };
    plim_allocator *allocator = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: embed_cuda ORDINAL (of the first GPU to be used)\n");
        return 2;
    }
    const size_t count = open_gpus((int32_t)strtol(argv[1], NULL, 10), devices);
    plim_device_properties properties;
    devices[0].ops->properties(devices[0].self, &properties);
    printf("%s, and %zu more\n", properties.name, count - 1);

    /* Settings come from PYTORCH_CUDA_ALLOC_CONF, as in PyTorch, since none are given here. */
    const plim_allocator_options options = { .devices = devices,
                                             .device_count = count,
                                             .is_mapping_transactional = true,
                                             .expandable_share = PLIM_SHARE_FD };
    must(plim_allocator_create(&options, &allocator, &main_err), &main_err);
    run(allocator, devices, count);
    plim_allocator_destroy(allocator);
    for (size_t i = 0; i < count; i++) {
        plim_device_destroy(&devices[i]);
    }
    return 0;
}
