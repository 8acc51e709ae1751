/*
 * state.c - the one state, how calls begin and end, and the controls.
 */
#include "fake_cuda/state.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_BYTES ((uint64_t)8 << 30)

fake_state fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *fake_add(void **items, size_t *count, size_t *capacity, size_t item_bytes)
{
    if (*count == *capacity) {
        *capacity = *capacity == 0 ? 16 : *capacity * 2;
        *items = realloc(*items, *capacity * item_bytes);
        if (*items == NULL) {
            abort();
        }
    }
    unsigned char *const item = (unsigned char *)*items + *count * item_bytes;
    memset(item, 0, item_bytes);
    (*count)++;
    return item;
}

cu_result fake_fault(cu_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(fake.fault_text, sizeof fake.fault_text, format, arguments);
    va_end(arguments);
    if (!fake.is_quiet) {
        fprintf(stderr, "fake_cuda: misuse: %s\n", fake.fault_text);
    }
    fake.faults++;
    return result;
}

static uint64_t number(const char *variable, uint64_t usual)
{
    const char *const text = getenv(variable);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static void start(void)
{
    fake.device_count = (int)number("FAKE_CUDA_DEVICES", 2);
    fake.is_pending = number("FAKE_CUDA_PENDING", 0) != 0;
    fake.file = -1;
    const uint64_t total_bytes = number("FAKE_CUDA_MEMORY_MIB", MEMORY_BYTES >> 20) << 20;
    for (int i = 0; i < FAKE_CUDA_DEVICES_MAX; i++) {
        fake.devices[i] = (fake_device){ .total_bytes = total_bytes };
        fake.devices[i].context.device = i;
        fake.devices[i].default_stream.device = i;
        fake.devices[i].default_stream.is_live = true;
    }
    fake.attributes[CU_ATTRIBUTE_VMM] = 1;
    fake.attributes[CU_ATTRIBUTE_POSIX_FD] = 1;
    fake.attributes[CU_ATTRIBUTE_RDMA_WITH_VMM] = 1;
}

static cu_result injected(const char *function)
{
    for (size_t i = 0; i < FAKE_FAILURES_MAX; i++) {
        fake_failure *const failure = &fake.failures[i];
        if (failure->in > 0 && strcmp(failure->function, function) == 0 && --failure->in == 0) {
            return failure->code;
        }
    }
    return CU_SUCCESS;
}

/* The first call of the process, whichever it is. Under the lock. */
static void start_once(void)
{
    static bool is_done;
    if (!is_done) {
        is_done = true;
        start();
    }
}

cu_result fake_begin(const char *function, bool needs_context)
{
    (void)pthread_mutex_lock(&lock);
    start_once();
    if (!fake.is_initialised && strcmp(function, "cuInit") != 0) {
        return fake_fault(CU_NOT_INITIALIZED, "%s before cuInit", function);
    }
    if (needs_context && fake_current_ordinal() < 0) {
        return fake_fault(CU_INVALID_CONTEXT, "%s without a current context", function);
    }
    return injected(function);
}

cu_result fake_end(cu_result result)
{
    (void)pthread_mutex_unlock(&lock);
    return result;
}

bool fake_is_captured(void)
{
    int mode = 0;
    (void)fake_mode_exchange(&mode); /* 0 is global: put back what was there */
    int ignored = mode;
    (void)fake_mode_exchange(&ignored);
    if (mode == CU_CAPTURE_MODE_RELAXED) {
        return false;
    }
    for (cu_stream *stream = fake.streams; stream != NULL; stream = stream->next) {
        if (stream->is_live && stream->is_capturing) {
            return true;
        }
    }
    return false;
}

/* --- controls --- */

void fake_cuda_reset(void)
{
    (void)pthread_mutex_lock(&lock);
    fake_memory_reset();
    fake_streams_reset();
    fake_thread_reset();
    fake = (fake_state){ 0 };
    start_once();
    start();
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_fail_call(const char *function, uint64_t nth, int code)
{
    (void)pthread_mutex_lock(&lock);
    fake_failure *slot = NULL;
    for (size_t i = 0; i < FAKE_FAILURES_MAX; i++) {
        if (fake.failures[i].in == 0 || strcmp(fake.failures[i].function, function) == 0) {
            slot = &fake.failures[i];
            break;
        }
    }
    if (slot == NULL) {
        abort();
    }
    *slot = (fake_failure){ .in = nth, .code = code };
    (void)snprintf(slot->function, sizeof slot->function, "%s", function);
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_set_devices(int count)
{
    (void)pthread_mutex_lock(&lock);
    start_once();
    fake.device_count = count;
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_set_memory(int device, uint64_t total_bytes, uint64_t used_bytes)
{
    (void)pthread_mutex_lock(&lock);
    start_once();
    fake.devices[device].total_bytes = total_bytes;
    fake.devices[device].used_bytes = used_bytes;
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_set_attribute(int attribute, int value)
{
    (void)pthread_mutex_lock(&lock);
    start_once();
    fake.attributes[attribute] = value;
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_set_pending(bool is_pending)
{
    (void)pthread_mutex_lock(&lock);
    start_once();
    fake.is_pending = is_pending;
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_hide_lookup(bool is_hidden)
{
    (void)pthread_mutex_lock(&lock);
    start_once();
    fake.is_lookup_hidden = is_hidden;
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_set_quiet(bool is_quiet)
{
    (void)pthread_mutex_lock(&lock);
    start_once();
    fake.is_quiet = is_quiet;
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_complete(uint64_t stream)
{
    (void)pthread_mutex_lock(&lock);
    if (stream == FAKE_CUDA_ALL_STREAMS) {
        for (int i = 0; i < FAKE_CUDA_DEVICES_MAX; i++) {
            fake_complete_device(i);
        }
    } else {
        cu_stream *const found =
            stream == 0 ? &fake.devices[0].default_stream : (cu_stream *)(uintptr_t)stream;
        found->completed = found->recorded;
    }
    (void)pthread_mutex_unlock(&lock);
}

void fake_cuda_set_capturing(uint64_t stream, bool is_capturing)
{
    (void)pthread_mutex_lock(&lock);
    ((cu_stream *)(uintptr_t)stream)->is_capturing = is_capturing;
    (void)pthread_mutex_unlock(&lock);
}

size_t fake_cuda_faults(void)
{
    (void)pthread_mutex_lock(&lock);
    const size_t faults = fake.faults;
    (void)pthread_mutex_unlock(&lock);
    return faults;
}

const char *fake_cuda_fault_text(void)
{
    return fake.fault_text;
}

void fake_cuda_live(fake_cuda_counts *ret)
{
    (void)pthread_mutex_lock(&lock);
    *ret = (fake_cuda_counts){
        .allocations = fake.allocations.count,
        .ranges = fake.ranges.count,
        .mappings = fake.mappings.count,
    };
    for (size_t i = 0; i < fake.handles.count; i++) {
        ret->handles += fake.handles.items[i].references > 0;
    }
    for (cu_stream *stream = fake.streams; stream != NULL; stream = stream->next) {
        ret->streams += stream->is_live;
    }
    for (cu_event *event = fake.events; event != NULL; event = event->next) {
        ret->events += event->is_live;
    }
    for (int i = 0; i < FAKE_CUDA_DEVICES_MAX; i++) {
        ret->contexts += fake.devices[i].retains;
    }
    (void)pthread_mutex_unlock(&lock);
}

/* What a process forgot. */
__attribute__((destructor)) static void say_what_is_left(void)
{
    fake_cuda_counts left;
    fake_cuda_live(&left);
    if (left.allocations + left.ranges + left.handles + left.mappings + left.contexts > 0) {
        fprintf(stderr,
                "fake_cuda: left at exit: %zu allocations, %zu ranges, %zu handles, %zu mappings, "
                "%zu contexts\n",
                left.allocations, left.ranges, left.handles, left.mappings, left.contexts);
    }
}
