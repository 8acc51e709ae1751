/*
 * queue.c - making queues. The slots are not touched: pages come as they are used.
 */
#include "trace/write/queue.h"

plim_event_queue *plim_event_queue_create(uint64_t slots, uint64_t owner, const plim_mem *mem)
{
    plim_event_queue *const queue = plim_mem_alloc_zeroed(mem, 1, sizeof *queue);
    if (queue == NULL) {
        return NULL;
    }
    queue->memory_bytes = (size_t)slots * sizeof(plim_slot) + PLIM_CACHE_LINE;
    queue->memory = plim_mem_alloc(mem, queue->memory_bytes, 1);
    if (queue->memory == NULL) {
        plim_mem_free(mem, queue, 1, sizeof *queue);
        return NULL;
    }
    unsigned char *const memory = queue->memory;
    const uintptr_t beyond = (uintptr_t)memory % PLIM_CACHE_LINE;
    queue->slots = (plim_slot *)(void *)(memory + (beyond == 0 ? 0 : PLIM_CACHE_LINE - beyond));
    queue->mask = slots - 1;
    atomic_store_explicit(&queue->owner, owner, memory_order_relaxed);
    return queue;
}

void plim_event_queue_destroy(plim_event_queue *queue, const plim_mem *mem)
{
    plim_mem_free(mem, queue->memory, queue->memory_bytes, 1);
    plim_mem_free(mem, queue, 1, sizeof *queue);
}
