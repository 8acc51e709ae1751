/*
 * test_threads.c - every call of every device from many threads at once.
 *
 * What it can find by itself is memory that two threads are given, or that is lost; races are for
 * ThreadSanitizer to find.
 */
#include "base/units.h"
#include "device/fake.h"
#include "harness.h"

#include <pthread.h>

#define GRANULE (2 * MIB)
#define THREADS 4
#define ROUNDS  300

typedef struct worker {
    const plim_device *device;
    bool keeps_contents;
    uint8_t mark; /* what this thread writes */
    size_t wrong; /* a failing assertion must not leave the thread that makes it */
} worker;

static void expect(worker *self, bool condition)
{
    self->wrong += !condition;
}

static bool is_marked(const worker *self, plim_addr addr)
{
    uint8_t seen = 0;
    return self->device->ops->read(self->device->self, &seen, addr, 1, NULL) == PLIM_OK &&
           (!self->keeps_contents || seen == self->mark);
}

static void use_plain(worker *self)
{
    const plim_device_ops *const ops = self->device->ops;
    void *const device = self->device->self;
    plim_addr addr = 0;
    expect(self, ops->memory_alloc(device, 3 * MIB, &addr, NULL) == PLIM_OK);
    expect(self, ops->fill(device, addr + MIB, self->mark, 4096, 0, NULL) == PLIM_OK);
    expect(self, ops->copy(device, addr, addr + MIB, 10, 0, NULL) == PLIM_OK);
    expect(self, is_marked(self, addr));
    expect(self, ops->memory_free(device, addr, NULL) == PLIM_OK);
}

static void use_mapping(worker *self)
{
    const plim_device_ops *const ops = self->device->ops;
    void *const device = self->device->self;
    plim_addr range = 0;
    plim_handle handle = 0;
    expect(self, ops->range_reserve(device, 4 * GRANULE, &range, NULL) == PLIM_OK);
    expect(self, ops->handle_create(device, GRANULE, PLIM_SHARE_NONE, &handle, NULL) == PLIM_OK);
    expect(self, ops->map(device, range + GRANULE, GRANULE, handle, NULL) == PLIM_OK);
    expect(self, ops->set_access(device, range + GRANULE, GRANULE, 0, NULL) == PLIM_OK);
    expect(self, ops->write(device, range + GRANULE, &self->mark, 1, NULL) == PLIM_OK);
    expect(self, is_marked(self, range + GRANULE));
    expect(self, ops->unmap(device, range + GRANULE, GRANULE, NULL) == PLIM_OK);
    expect(self, ops->handle_release(device, handle, NULL) == PLIM_OK);
    expect(self, ops->range_free(device, range, 4 * GRANULE, NULL) == PLIM_OK);
}

static void use_stream(worker *self)
{
    const plim_device_ops *const ops = self->device->ops;
    void *const device = self->device->self;
    plim_stream stream = 0;
    plim_fence fence = 0;
    bool is_complete = false;
    uint64_t free_bytes = 0;
    uint64_t total = 0;
    expect(self, ops->stream_create(device, &stream, NULL) == PLIM_OK);
    expect(self, ops->fence_create(device, &fence, NULL) == PLIM_OK);
    expect(self, ops->fence_record(device, fence, stream, NULL) == PLIM_OK);
    expect(self, ops->fence_synchronize(device, fence, NULL) == PLIM_OK);
    expect(self, ops->fence_query(device, fence, &is_complete, NULL) == PLIM_OK && is_complete);
    expect(self, ops->stream_synchronize(device, stream, NULL) == PLIM_OK);
    expect(self, ops->synchronize(device, NULL) == PLIM_OK);
    expect(self, ops->fence_destroy(device, fence, NULL) == PLIM_OK);
    expect(self, ops->stream_destroy(device, stream, NULL) == PLIM_OK);
    expect(self, ops->info(device, &free_bytes, &total, NULL) == PLIM_OK && free_bytes <= total);
}

static void *work(void *ctx)
{
    worker *const self = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        use_plain(self);
        use_mapping(self);
        use_stream(self);
    }
    return NULL;
}

/* Takes the device. */
static void check(plim_device *device, bool keeps_contents)
{
    worker workers[THREADS];
    pthread_t threads[THREADS];
    uint64_t before = 0;
    uint64_t after = 0;
    uint64_t total = 0;
    T_EQ_I64(device->ops->info(device->self, &before, &total, NULL), PLIM_OK);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){ .device = device,
                               .keeps_contents = keeps_contents,
                               .mark = (uint8_t)(i + 1) };
        T_EQ_I64(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_join(threads[i], NULL), 0);
        T_EQ_U64(workers[i].wrong, 0);
    }
    T_EQ_I64(device->ops->info(device->self, &after, &total, NULL), PLIM_OK);
    T_EQ_U64(before, after);
    plim_device_destroy(device);
}

static void sim_bears_many_threads(void)
{
    const plim_sim_options options = { .total_bytes = 1024 * MIB };
    plim_device device;
    T_EQ_I64(plim_sim_create(&options, &device, NULL), PLIM_OK);
    check(&device, false);
}

static void host_bears_many_threads(void)
{
    const plim_host_options options = { .total_bytes = 1024 * MIB };
    plim_device device;
    T_EQ_I64(plim_host_create(&options, &device, NULL), PLIM_OK);
    check(&device, true);
}

static void cuda_bears_many_threads(void)
{
    fake_load();
    plim_device device = fake_open(0, NULL);
    check(&device, true);
    fake_check_clean();
    fake_driver.reset();
}

T_MAIN(T_TEST(sim_bears_many_threads), T_TEST(host_bears_many_threads),
       T_TEST(cuda_bears_many_threads))
