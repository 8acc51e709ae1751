/*
 * recorder.c - the calls of a recorder, in the threads of the program.
 *
 * What the allocator calls takes no lock: a queue of the thread's own, a counter shared by all
 * threads, and for new stacks a list that is pushed to with one compare-and-swap.
 */
#include "trace/write/inside.h"

#include "base/error.h"
#include "base/ticks.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define QUEUE_EVENTS_DEFAULT 65536u
#define QUEUE_EVENTS_MIN     8u
#define QUEUE_EVENTS_MAX     (UINT64_C(1) << 30)
#define FLUSH_MS_DEFAULT     20u
#define WAKES_A_QUEUE        8u /* how often a queue is looked at while it fills once */

/* --- losing --- */

static plim_lost *lost_of(plim_recorder *recorder, int32_t device)
{
    /* Device -1 is the host's pinned memory. */
    const uint32_t place = (uint32_t)device + 1;
    return &recorder->lost[place < PLIM_LOST_DEVICES ? place : PLIM_LOST_DEVICES - 1];
}

static void lose(plim_recorder *recorder, int32_t device)
{
    if (atomic_load_explicit(&recorder->listed.number, memory_order_relaxed) == 0) {
        return; /* a child's copy: nothing is recorded here */
    }
    plim_lost *const lost = lost_of(recorder, device);
    atomic_store_explicit(&lost->device, device, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&lost->count, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&recorder->dropped, 1, memory_order_relaxed);
}

/* --- pushing --- */

static void wake(plim_recorder *recorder)
{
    if (atomic_exchange_explicit(&recorder->is_asleep, false, memory_order_acq_rel)) {
        plim_wake_call(&recorder->wake);
    }
}

/* Makes `count` slots visible; wakes the writer well before the queue is full. */
static inline void publish(plim_recorder *recorder, plim_event_queue *queue, uint64_t count)
{
    const uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed) + count;
    atomic_store_explicit(&queue->tail, tail, memory_order_release);
    const uint64_t step = (queue->mask + 1) / WAKES_A_QUEUE;
    if ((tail & (step - 1)) < count) {
        const uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
        queue->head_seen = head;
        if (tail - head >= 2 * step) {
            wake(recorder);
        }
    }
}

static inline void count_event(plim_event_queue *queue)
{
    const uint64_t events = atomic_load_explicit(&queue->events, memory_order_relaxed);
    atomic_store_explicit(&queue->events, events + 1, memory_order_relaxed);
}

/* An event before which something else has to be said: what was lost, a pool of large numbers. */
static void push_more(plim_recorder *recorder, plim_event_queue *queue, const plim_event *event,
                      bool is_wide)
{
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    if (!plim_event_queue_has_room(queue, 3)) {
        lose(recorder, event->device);
        return;
    }
    const uint64_t lost =
        atomic_exchange_explicit(&lost_of(recorder, event->device)->count, 0, memory_order_relaxed);
    const uint64_t count = 1u + (lost > 0 ? 1u : 0u) + (is_wide ? 1u : 0u);
    uint64_t number =
        atomic_fetch_add_explicit(&recorder->next_number, count, memory_order_relaxed);
    if (lost > 0) {
        queue->slots[tail++ & queue->mask] =
            (plim_slot){ .mark = number++ << PLIM_SLOT_KIND_BITS | PLIM_SLOT_LOST,
                         .bytes = lost,
                         .device = event->device };
    }
    if (is_wide) {
        queue->slots[tail++ & queue->mask] =
            (plim_slot){ .mark = number++ << PLIM_SLOT_KIND_BITS | PLIM_SLOT_POOL,
                         .addr = event->pool.a,
                         .bytes = event->pool.b,
                         .device = event->device };
    }
    plim_slot_pack(&queue->slots[tail & queue->mask], number, event);
    count_event(queue);
    publish(recorder, queue, count);
}

static void take_event(void *ctx, const plim_event *event)
{
    plim_recorder *const recorder = ctx;
    plim_event_queue *const queue = plim_threads_queue(&recorder->listed);
    if (queue == NULL || (unsigned)event->action >= PLIM_ACTION_KNOWN_COUNT) {
        lose(recorder, event->device);
        return;
    }
    const bool is_wide = plim_pool_is_wide(event->pool);
    const plim_lost *const lost = lost_of(recorder, event->device);
    if (is_wide || atomic_load_explicit(&lost->count, memory_order_relaxed) != 0) {
        push_more(recorder, queue, event, is_wide);
        return;
    }
    if (!plim_event_queue_has_room(queue, 1)) {
        lose(recorder, event->device);
        return;
    }
    /* Relaxed: all changes of one variable have one order, and it follows what happens before. */
    const uint64_t number =
        atomic_fetch_add_explicit(&recorder->next_number, 1, memory_order_relaxed);
    const uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    plim_slot_pack(&queue->slots[tail & queue->mask], number, event);
    count_event(queue);
    publish(recorder, queue, 1);
}

/* --- stacks --- */

static size_t string_bytes(const char *text)
{
    return text == NULL ? 0 : strnlen(text, PLIM_STRING_BYTES_KEPT);
}

/* A copy of a stack, its parts one after the other; NULL when there is no memory. */
static plim_queued_stack *copy_stack(plim_recorder *recorder, const plim_stack_record *stack)
{
    const size_t addresses =
        stack->address_count < PLIM_STACK_FRAMES_MAX ? stack->address_count : PLIM_STACK_FRAMES_MAX;
    const size_t frames =
        stack->foreign_count < PLIM_STACK_FRAMES_MAX ? stack->foreign_count : PLIM_STACK_FRAMES_MAX;
    size_t bytes = sizeof(plim_queued_stack) + addresses * sizeof *stack->addresses +
                   frames * sizeof(plim_queued_frame);
    for (size_t i = 0; i < frames; i++) {
        bytes += string_bytes(stack->foreign[i].filename) + string_bytes(stack->foreign[i].name);
    }
    plim_queued_stack *const copy =
        bytes > PLIM_QUEUED_BYTES_MAX ? NULL : plim_mem_alloc(recorder->mem, bytes, 1);
    if (copy == NULL) {
        return NULL;
    }
    *copy = (plim_queued_stack){
        .bytes = bytes, .address_count = addresses, .frame_count = frames, .id = stack->id
    };
    uint64_t *const to = (uint64_t *)(void *)(copy + 1);
    if (addresses > 0) {
        memcpy(to, stack->addresses, addresses * sizeof *to);
    }
    plim_queued_frame *const told = (plim_queued_frame *)(void *)(to + addresses);
    char *text = (char *)(told + frames);
    for (size_t i = 0; i < frames; i++) {
        const plim_foreign_frame *const from = &stack->foreign[i];
        told[i] = (plim_queued_frame){ .line = from->line,
                                       .filename_bytes = (uint32_t)string_bytes(from->filename),
                                       .name_bytes = (uint32_t)string_bytes(from->name) };
        memcpy(text, from->filename == NULL ? "" : from->filename, told[i].filename_bytes);
        text += told[i].filename_bytes;
        memcpy(text, from->name == NULL ? "" : from->name, told[i].name_bytes);
        text += told[i].name_bytes;
    }
    return copy;
}

static void take_stack(void *ctx, const plim_stack_record *stack)
{
    plim_recorder *const recorder = ctx;
    if (atomic_load_explicit(&recorder->listed.number, memory_order_relaxed) == 0) {
        return;
    }
    const bool is_full =
        atomic_load_explicit(&recorder->queued_bytes, memory_order_relaxed) > PLIM_QUEUED_BYTES_MAX;
    plim_queued_stack *const copy = is_full ? NULL : copy_stack(recorder, stack);
    if (copy == NULL) {
        (void)atomic_fetch_add_explicit(&recorder->stacks_lost, 1, memory_order_relaxed);
        return;
    }
    (void)atomic_fetch_add_explicit(&recorder->queued_bytes, copy->bytes, memory_order_relaxed);
    copy->next = atomic_load_explicit(&recorder->queued, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&recorder->queued, &copy->next, copy,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

plim_event_sink plim_recorder_sink(plim_recorder *recorder)
{
    return (plim_event_sink){ .event = take_event, .stack = take_stack, .ctx = recorder };
}

/* --- annotations --- */

static plim_status fail_in_child(plim_error *err)
{
    return plim_fail(err, PLIM_INVALID_ARGUMENT, "the recording belongs to the parent process");
}

plim_status plim_recorder_annotate(plim_recorder *recorder, int32_t device, const char *name,
                                   bool is_start, plim_error *err)
{
    plim_event_queue *const queue = plim_threads_queue(&recorder->listed);
    if (recorder->listed.is_child) {
        return fail_in_child(err);
    }
    const size_t bytes = string_bytes(name);
    plim_queued_name *const told =
        queue == NULL ? NULL : plim_mem_alloc(recorder->mem, sizeof *told + bytes, 1);
    if (told == NULL) {
        return plim_fail_memory(err, "recording an annotation");
    }
    if (!plim_event_queue_has_room(queue, 1)) {
        plim_mem_free(recorder->mem, told, sizeof *told + bytes, 1);
        return plim_fail(err, PLIM_LIMIT, "the queue of the recording is full");
    }
    told->bytes = bytes;
    memcpy(told->text, name == NULL ? "" : name, bytes);
    const uint64_t number =
        atomic_fetch_add_explicit(&recorder->next_number, 1, memory_order_relaxed);
    const uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    queue->slots[tail & queue->mask] =
        (plim_slot){ .mark = number << PLIM_SLOT_KIND_BITS | PLIM_SLOT_ANNOTATION,
                     .addr = (uint64_t)(uintptr_t)told,
                     .block_bytes = is_start,
                     .time_ns = (int64_t)plim_ticks_to_unix_ns(plim_ticks_now()),
                     .device = device };
    publish(recorder, queue, 1);
    return PLIM_OK;
}

/* --- asking and waiting --- */

/* The first failure, of the file or of the host's memory; under the lock, or alone. */
static plim_status first_failure(const plim_recorder *recorder, plim_error *err)
{
    const plim_error *const error =
        recorder->file.error.status != PLIM_OK ? &recorder->file.error : &recorder->error;
    if (error->status != PLIM_OK && err != NULL) {
        *err = *error;
    }
    return error->status;
}

plim_status plim_recorder_flush(plim_recorder *recorder, plim_error *err)
{
    if (recorder->listed.is_child) {
        return fail_in_child(err);
    }
    (void)pthread_mutex_lock(&recorder->lock);
    const uint64_t wanted = ++recorder->flushes_wanted;
    plim_wake_call(&recorder->wake);
    while (recorder->flushes_done < wanted) {
        (void)pthread_cond_wait(&recorder->flushed, &recorder->lock);
    }
    const plim_status status = first_failure(recorder, err);
    (void)pthread_mutex_unlock(&recorder->lock);
    return status;
}

/* --- start and stop --- */

static uint64_t queue_slots(uint64_t events)
{
    uint64_t slots = QUEUE_EVENTS_MIN;
    events = events == 0 ? QUEUE_EVENTS_DEFAULT : events;
    while (slots < events && slots < QUEUE_EVENTS_MAX) {
        slots *= 2;
    }
    return slots;
}

/* Who records: docs/formats/plim.md, "process". */
static plim_status write_process(plim_recorder *recorder, plim_error *err)
{
    plim_record_list list;
    plim_status status = plim_records_init(&list, recorder->mem, err);
    plim_records_number(&list, (uint64_t)getpid());
    plim_records_number(&list, plim_ticks_to_unix_ns(plim_ticks_now()));
    plim_records_bytes(&list, plim_version(), strlen(plim_version()));
    plim_records_bytes(&list, program_invocation_short_name, strlen(program_invocation_short_name));
    if (status == PLIM_OK) {
        status = plim_records_close(&list, err);
    }
    if (status == PLIM_OK) {
        status = plim_records_write(&list, PLIM_CHUNK_PROCESS, &recorder->file, err);
    }
    plim_records_deinit(&list);
    return status;
}

/* Starts the writer; signals stay with the program's own threads. */
static int start_writer(plim_recorder *recorder)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&recorder->writer, NULL, plim_recorder_write, recorder);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static void free_annotations(plim_recorder *recorder, plim_event_queue *queue)
{
    const uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
    for (uint64_t i = queue->next; i < tail; i++) {
        const plim_slot *const slot = &queue->slots[i & queue->mask];
        if ((slot->mark & PLIM_SLOT_CODE_MASK) == PLIM_SLOT_ANNOTATION) {
            plim_queued_name_free(recorder, (plim_queued_name *)(uintptr_t)slot->addr);
        }
    }
}

/* Frees all but the thread, which has ended, or was never there. */
static void destroy(plim_recorder *recorder)
{
    const plim_mem *const mem = recorder->mem;
    plim_chunk_file_close(&recorder->file);
    plim_event_queue *queue = atomic_load_explicit(&recorder->listed.queues, memory_order_acquire);
    while (queue != NULL) {
        plim_event_queue *const other = queue->other;
        free_annotations(recorder, queue);
        plim_event_queue_destroy(queue, mem);
        queue = other;
    }
    plim_queued_stack *stack = atomic_load_explicit(&recorder->queued, memory_order_acquire);
    while (stack != NULL) {
        plim_queued_stack *const next = stack->next;
        plim_queued_stack_free(recorder, stack);
        stack = next;
    }
    for (size_t i = 0; i < recorder->fillings.count; i++) {
        plim_filling_destroy(mem, recorder->fillings.items[i]);
    }
    PLIM_VEC_FREE(mem, &recorder->fillings);
    plim_names_deinit(&recorder->names);
    (void)pthread_cond_destroy(&recorder->flushed);
    (void)pthread_mutex_destroy(&recorder->lock);
    plim_mem_free(mem, recorder, 1, sizeof *recorder);
}

static plim_status open_all(plim_recorder *recorder, const char *path,
                            const plim_recorder_options *options, plim_error *err)
{
    PLIM_TRY(plim_names_init(&recorder->names, !options->leaves_out_frames, recorder->mem, err));
    PLIM_TRY(plim_chunk_file_open(&recorder->file, path, options->compression, recorder->mem, err));
    PLIM_TRY(write_process(recorder, err));
    if (!plim_threads_enter(&recorder->listed)) {
        return plim_fail(err, PLIM_LIMIT, "the process has no thread keys left");
    }
    const int code = start_writer(recorder);
    if (code != 0) {
        plim_threads_leave(&recorder->listed);
        return plim_fail_errno(err, code, "the thread that writes cannot be started");
    }
    return PLIM_OK;
}

plim_status plim_recorder_start(const char *path, const plim_recorder_options *options,
                                plim_recorder **ret_recorder, plim_error *err)
{
    const plim_recorder_options defaults = { 0 };
    options = options == NULL ? &defaults : options;
    const plim_mem *const mem = plim_mem_or_heap(options->mem);
    plim_recorder *const recorder = plim_mem_alloc_zeroed(mem, 1, sizeof *recorder);
    if (recorder == NULL) {
        return plim_fail_memory(err, "starting a recording");
    }
    recorder->mem = mem;
    recorder->flush_ms = options->flush_ms == 0 ? FLUSH_MS_DEFAULT : options->flush_ms;
    recorder->file.fd = -1;
    recorder->listed.queue_slots = queue_slots(options->queue_events);
    recorder->listed.mem = mem;
    recorder->listed.lock = &recorder->lock;
    (void)pthread_mutex_init(&recorder->lock, NULL);
    (void)pthread_cond_init(&recorder->flushed, NULL);
    const plim_status status = open_all(recorder, path, options, err);
    if (status != PLIM_OK) {
        destroy(recorder);
        return status;
    }
    *ret_recorder = recorder;
    return PLIM_OK;
}

plim_status plim_recorder_stop(plim_recorder *recorder, plim_error *err)
{
    if (recorder == NULL) {
        return PLIM_OK;
    }
    if (!recorder->listed.is_child) {
        atomic_store_explicit(&recorder->is_stopping, true, memory_order_release);
        plim_wake_call(&recorder->wake);
        (void)pthread_join(recorder->writer, NULL);
    }
    plim_threads_leave(&recorder->listed);
    plim_chunk_file_close(&recorder->file);
    const plim_status status = first_failure(recorder, err);
    destroy(recorder);
    return status;
}
