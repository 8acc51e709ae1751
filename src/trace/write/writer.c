/*
 * writer.c - the thread that puts slots in order, packs them into chunks and writes these.
 *
 * A round: note how far each queue has come; take the queued stacks; then take slots in
 * the order of their numbers as far as was noted. A stack is queued before the first event that
 * names it, so it is taken in the same round at the latest, and stands before it in the file.
 * A number that no queue shows yet belongs to a thread that is about to push it: the next round
 * will find it.
 */
#include "trace/write/inside.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"

#include <time.h>

#define RELEASE_EVERY    1024u /* slots after which threads see the room */
#define RESOLVED_A_ROUND 16    /* addresses */
#define WHOLE_ROUND      4096  /* slots after which there is no rest */
#define UNPUBLISHED_WAITS                                                   \
    1000 /* rounds of 1 ms for a number that a thread took and never pushed \
          */

static void keep_error(plim_recorder *recorder, const plim_error *err)
{
    if (recorder->error.status == PLIM_OK) {
        recorder->error = *err;
    }
}

/* --- chunks of events --- */

static plim_filling *add_filling(plim_recorder *recorder, int32_t device)
{
    plim_filling *const filling = plim_filling_create(recorder->mem, device);
    if (filling != NULL && !PLIM_VEC_PUSH(recorder->mem, &recorder->fillings, filling)) {
        plim_filling_destroy(recorder->mem, filling);
        return NULL;
    }
    return filling;
}

static plim_filling *find_filling(plim_recorder *recorder, int32_t device)
{
    if (recorder->last_filling != NULL && recorder->last_filling->device == device) {
        return recorder->last_filling;
    }
    plim_filling *found = NULL;
    for (size_t i = 0; i < recorder->fillings.count && found == NULL; i++) {
        plim_filling *const filling = recorder->fillings.items[i];
        found = filling->device == device ? filling : NULL;
    }
    found = found == NULL ? add_filling(recorder, device) : found;
    recorder->last_filling = found == NULL ? recorder->last_filling : found;
    return found;
}

static void close_chunk(plim_recorder *recorder, plim_filling *filling)
{
    plim_error err = { .status = PLIM_OK };
    if (filling->rows == 0) {
        return;
    }
    if (plim_names_write(&recorder->names, &recorder->file, &err) != PLIM_OK) {
        keep_error(recorder, &err);
    }
    const uint32_t events = filling->events;
    if (plim_filling_write(filling, &recorder->file) != PLIM_OK) {
        (void)atomic_fetch_add_explicit(&recorder->discarded, events, memory_order_relaxed);
    }
}

static void close_chunks(plim_recorder *recorder)
{
    for (size_t i = 0; i < recorder->fillings.count; i++) {
        close_chunk(recorder, recorder->fillings.items[i]);
    }
    recorder->oldest_ns = 0;
}

static void put_row(plim_recorder *recorder, const plim_event *row)
{
    const bool is_event = row->action < PLIM_ACTION_KNOWN_COUNT;
    plim_filling *const filling = find_filling(recorder, row->device);
    if (filling == NULL) {
        plim_error err;
        (void)plim_fail_memory(&err, "recording a device");
        keep_error(recorder, &err);
        (void)atomic_fetch_add_explicit(&recorder->discarded, is_event, memory_order_relaxed);
        return;
    }
    if (!plim_filling_add(filling, row)) {
        close_chunk(recorder, filling);
        (void)plim_filling_add(filling, row);
    }
}

/* --- what was queued --- */

static void put_lost(plim_recorder *recorder, int32_t device, uint64_t count)
{
    const plim_event row = { .action = PLIM_ROW_LOST, .device = device, .bytes = count };
    put_row(recorder, &row);
}

static void put_annotation(plim_recorder *recorder, const plim_slot *slot)
{
    plim_error err;
    plim_queued_name *const name = (plim_queued_name *)(uintptr_t)slot->addr;
    uint32_t string = 0;
    if (plim_names_string(&recorder->names, name->text, name->bytes, &string, &err) != PLIM_OK) {
        keep_error(recorder, &err);
    }
    const plim_event row = { .action = PLIM_ROW_ANNOTATION,
                             .device = slot->device,
                             .addr = slot->block_bytes,
                             .bytes = string,
                             .time_ns = slot->time_ns };
    put_row(recorder, &row);
    plim_queued_name_free(recorder, name);
}

static void put_event(plim_recorder *recorder, plim_event_queue *queue, const plim_slot *slot)
{
    plim_event event = plim_slot_unpack(slot);
    if (!plim_pool_is_default(queue->pool)) {
        event.pool = queue->pool;
        queue->pool = (plim_pool_id){ 0, 0 };
    }
    put_row(recorder, &event);
}

static void put_slot(plim_recorder *recorder, plim_event_queue *queue, const plim_slot *slot)
{
    const unsigned code = slot->mark & PLIM_SLOT_CODE_MASK;
    switch (code) {
    case PLIM_SLOT_LOST:
        put_lost(recorder, slot->device, slot->bytes);
        break;
    case PLIM_SLOT_POOL:
        queue->pool = (plim_pool_id){ slot->addr, slot->bytes };
        break;
    case PLIM_SLOT_ANNOTATION:
        put_annotation(recorder, slot);
        break;
    default:
        put_event(recorder, queue, slot);
        break;
    }
}

static plim_status put_stack(plim_recorder *recorder, const plim_queued_stack *stack,
                             plim_error *err)
{
    plim_trace_names *const names = &recorder->names;
    const uint64_t *const addresses = (const uint64_t *)(const void *)(stack + 1);
    const plim_queued_frame *const frames =
        (const plim_queued_frame *)(const void *)(addresses + stack->address_count);
    const char *text = (const char *)(frames + stack->frame_count);
    const size_t count = stack->frame_count + stack->address_count;
    uint32_t *const ids = plim_mem_alloc(recorder->mem, count + 1, sizeof *ids);
    if (ids == NULL) {
        return plim_fail_memory(err, "recording a stack");
    }
    plim_status status = PLIM_OK;
    for (size_t i = 0; i < count && status == PLIM_OK; i++) {
        plim_named_frame frame = { 0 };
        if (i < stack->frame_count) { /* the program's own frames are the innermost */
            frame.line = frames[i].line;
            status = plim_names_string(names, text, frames[i].filename_bytes, &frame.filename, err);
            text += frames[i].filename_bytes;
            if (status == PLIM_OK) {
                status = plim_names_string(names, text, frames[i].name_bytes, &frame.name, err);
            }
            text += frames[i].name_bytes;
        } else {
            frame.address = addresses[i - stack->frame_count];
        }
        if (status == PLIM_OK) {
            status = plim_names_frame(names, &frame, &ids[i], err);
        }
    }
    if (status == PLIM_OK) {
        status = plim_names_stack(names, stack->id, ids, count, err);
    }
    plim_mem_free(recorder->mem, ids, count + 1, sizeof *ids);
    return status;
}

static void take_stacks(plim_recorder *recorder)
{
    plim_queued_stack *stack =
        atomic_exchange_explicit(&recorder->queued, NULL, memory_order_acquire);
    while (stack != NULL) {
        plim_error err;
        plim_queued_stack *const next = stack->next;
        if (put_stack(recorder, stack, &err) != PLIM_OK) {
            keep_error(recorder, &err);
            (void)atomic_fetch_add_explicit(&recorder->stacks_lost, 1, memory_order_relaxed);
        }
        (void)atomic_fetch_sub_explicit(&recorder->queued_bytes, stack->bytes,
                                        memory_order_relaxed);
        plim_queued_stack_free(recorder, stack);
        stack = next;
    }
}

/* --- a round --- */

static bool has_number(const plim_event_queue *queue, uint64_t number)
{
    return queue->next < queue->limit &&
           queue->slots[queue->next & queue->mask].mark >> PLIM_SLOT_KIND_BITS == number;
}

static plim_event_queue *find_number(plim_recorder *recorder, uint64_t number)
{
    if (recorder->last_queue != NULL && has_number(recorder->last_queue, number)) {
        return recorder->last_queue;
    }
    plim_event_queue *queue = atomic_load_explicit(&recorder->listed.queues, memory_order_acquire);
    while (queue != NULL && !has_number(queue, number)) {
        queue = queue->other;
    }
    recorder->last_queue = queue == NULL ? recorder->last_queue : queue;
    return queue;
}

static uint64_t take_slots(plim_recorder *recorder)
{
    const uint64_t before = recorder->next_taken;
    plim_event_queue *queue = find_number(recorder, recorder->next_taken);
    while (queue != NULL) {
        put_slot(recorder, queue, &queue->slots[queue->next & queue->mask]);
        queue->next++;
        recorder->next_taken++;
        if (queue->next % RELEASE_EVERY == 0) {
            atomic_store_explicit(&queue->head, queue->next, memory_order_release);
        }
        queue = find_number(recorder, recorder->next_taken);
    }
    queue = atomic_load_explicit(&recorder->listed.queues, memory_order_acquire);
    for (; queue != NULL; queue = queue->other) {
        atomic_store_explicit(&queue->head, queue->next, memory_order_release);
    }
    return recorder->next_taken - before;
}

/* Returns how many slots it took. */
static uint64_t work(plim_recorder *recorder)
{
    plim_error err;
    plim_event_queue *queue = atomic_load_explicit(&recorder->listed.queues, memory_order_acquire);
    for (; queue != NULL; queue = queue->other) {
        queue->limit = atomic_load_explicit(&queue->tail, memory_order_acquire);
    }
    take_stacks(recorder);
    if (plim_names_resolve(&recorder->names, RESOLVED_A_ROUND, &err) != PLIM_OK) {
        keep_error(recorder, &err);
    }
    return take_slots(recorder);
}

static void write_if_due(plim_recorder *recorder, uint64_t taken)
{
    const uint64_t now_ns = plim_clock_now_ns(&plim_clock_system);
    const uint64_t patience_ns = (uint64_t)recorder->flush_ms * NS_PER_MS / 2;
    if (recorder->oldest_ns != 0 && now_ns - recorder->oldest_ns >= patience_ns) {
        close_chunks(recorder);
    } else if (recorder->oldest_ns == 0 && taken > 0) {
        recorder->oldest_ns = now_ns;
    }
}

/* Takes all that was queued before the call, and writes it. */
static void write_all(plim_recorder *recorder)
{
    plim_error err;
    const uint64_t wanted = atomic_load_explicit(&recorder->next_number, memory_order_acquire);
    (void)work(recorder);
    for (unsigned waits = 0; recorder->next_taken < wanted && waits < UNPUBLISHED_WAITS;) {
        const struct timespec pause = { .tv_nsec = NS_PER_MS };
        if (work(recorder) == 0) {
            (void)nanosleep(&pause, NULL);
            waits++;
        }
    }
    close_chunks(recorder);
    if (plim_names_resolve(&recorder->names, SIZE_MAX, &err) != PLIM_OK ||
        plim_names_write(&recorder->names, &recorder->file, &err) != PLIM_OK) {
        keep_error(recorder, &err);
    }
}

static void answer_flushes(plim_recorder *recorder)
{
    if (recorder->flushes_done == recorder->flushes_wanted) {
        return;
    }
    const uint64_t wanted = recorder->flushes_wanted;
    write_all(recorder);
    recorder->flushes_done = wanted;
    (void)pthread_cond_broadcast(&recorder->flushed);
}

/* --- the end --- */

/* Any thread may ask. */
plim_recorder_counts plim_recorder_count(const plim_recorder *recorder)
{
    uint64_t events = 0;
    const plim_event_queue *queue =
        atomic_load_explicit(&recorder->listed.queues, memory_order_acquire);
    for (; queue != NULL; queue = queue->other) {
        events += atomic_load_explicit(&queue->events, memory_order_relaxed);
    }
    const uint64_t discarded = atomic_load_explicit(&recorder->discarded, memory_order_relaxed);
    return (plim_recorder_counts){
        .events = events - discarded,
        .dropped = discarded + atomic_load_explicit(&recorder->dropped, memory_order_relaxed),
        .written_bytes = atomic_load_explicit(&recorder->file.written_bytes, memory_order_relaxed),
    };
}

static void write_end(plim_recorder *recorder)
{
    write_all(recorder);
    for (size_t i = 0; i < PLIM_LOST_DEVICES; i++) {
        plim_lost *const lost = &recorder->lost[i];
        const uint64_t count = atomic_exchange_explicit(&lost->count, 0, memory_order_relaxed);
        if (count > 0) {
            put_lost(recorder, atomic_load_explicit(&lost->device, memory_order_relaxed), count);
        }
    }
    close_chunks(recorder);
    const plim_recorder_counts counts = plim_recorder_count(recorder);
    uint8_t chunk[PLIM_CHUNK_HEADER_BYTES + 3 * PLIM_VARINT_BYTES_MAX];
    uint8_t *end = plim_put_varint(chunk + PLIM_CHUNK_HEADER_BYTES, counts.events);
    end = plim_put_varint(end, counts.dropped);
    end = plim_put_varint(end, atomic_load_explicit(&recorder->stacks_lost, memory_order_relaxed));
    (void)plim_chunk_write(&recorder->file, PLIM_CHUNK_END, chunk,
                           (size_t)(end - chunk) - PLIM_CHUNK_HEADER_BYTES, 0);
}

/* --- the thread --- */

static void rest(plim_recorder *recorder)
{
    atomic_store_explicit(&recorder->is_asleep, true, memory_order_seq_cst);
    plim_wake_sleep(&recorder->wake, (uint64_t)recorder->flush_ms * NS_PER_MS / 2);
    atomic_store_explicit(&recorder->is_asleep, false, memory_order_relaxed);
}

void *plim_recorder_write(void *argument)
{
    plim_recorder *const recorder = argument;
    bool is_stopping = false;
    while (!is_stopping) {
        is_stopping = atomic_load_explicit(&recorder->is_stopping, memory_order_acquire);
        (void)pthread_mutex_lock(&recorder->lock);
        const uint64_t taken = work(recorder);
        write_if_due(recorder, taken);
        answer_flushes(recorder);
        const bool has_more = taken >= WHOLE_ROUND || !plim_names_are_resolved(&recorder->names);
        if (is_stopping) {
            write_end(recorder);
        }
        (void)pthread_mutex_unlock(&recorder->lock);
        if (!has_more && !is_stopping) {
            rest(recorder);
        }
    }
    return NULL;
}
