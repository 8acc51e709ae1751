/*
 * ring.c - the ring of events, in chunks that never move.
 *
 * Slots and their order are those of PyTorch's RingBuffer, which reads from the slot that is
 * overwritten next round to the one before it. So a ring that has wrapped and is then given room
 * for more appends in the middle of its order: that is PyTorch's order too. Lowering the limit
 * below `next` makes PyTorch write past its array; here the slots start again from 0.
 */
#include "alloc/core/ring.h"

#include "base/assert.h"
#include "base/vec.h"

#define CHUNK_SHIFT  10 /* 48 KiB a chunk: little for "state", which keeps one event */
#define CHUNK_EVENTS ((uint64_t)1 << CHUNK_SHIFT)

void plim_ring_init(plim_ring *ring, const plim_mem *mem)
{
    *ring = (plim_ring){ .mem = plim_mem_or_heap(mem), .max_events = 1 };
}

void plim_ring_clear(plim_ring *ring)
{
    for (size_t i = 0; i < ring->chunk_count; i++) {
        plim_mem_free(ring->mem, ring->chunks[i], CHUNK_EVENTS, sizeof **ring->chunks);
    }
    plim_mem_free(ring->mem, ring->chunks, ring->chunk_capacity, sizeof *ring->chunks);
    *ring = (plim_ring){ .mem = ring->mem, .max_events = ring->max_events };
}

void plim_ring_deinit(plim_ring *ring)
{
    plim_ring_clear(ring);
}

void plim_ring_set_max(plim_ring *ring, uint64_t max_events)
{
    ring->max_events = max_events == 0 ? 1 : max_events;
}

static plim_ring_event *slot(const plim_ring *ring, uint64_t index)
{
    return &ring->chunks[index >> CHUNK_SHIFT][index & (CHUNK_EVENTS - 1)];
}

/* A chunk after the last one; false when there is no memory. */
static bool add_chunk(plim_ring *ring)
{
    if (ring->chunk_count == ring->chunk_capacity &&
        !plim_vec_room(ring->mem, &ring->chunks, &ring->chunk_capacity, ring->chunk_count,
                       sizeof *ring->chunks)) {
        return false;
    }
    plim_ring_event *const chunk = plim_mem_alloc(ring->mem, CHUNK_EVENTS, sizeof *chunk);
    if (chunk == NULL) {
        return false;
    }
    ring->chunks[ring->chunk_count++] = chunk;
    ring->bytes += CHUNK_EVENTS * sizeof *chunk;
    return true;
}

void plim_ring_push(plim_ring *ring, const plim_ring_event *event)
{
    if (ring->count < ring->max_events) {
        if (ring->count == (uint64_t)ring->chunk_count << CHUNK_SHIFT && !add_chunk(ring)) {
            ring->lost++;
            return;
        }
        *slot(ring, ring->count++) = *event;
        return;
    }
    if (ring->next >= ring->max_events) { /* the end, or beyond it since it was lowered */
        ring->next = 0;
    }
    *slot(ring, ring->next++) = *event;
    ring->lost++;
    if (ring->next == ring->max_events) {
        ring->next = 0;
    }
}

const plim_ring_event *plim_ring_at(const plim_ring *ring, uint64_t index)
{
    PLIM_ASSERT(index < ring->count);

    const uint64_t until_end = ring->count - ring->next;
    return slot(ring, index < until_end ? ring->next + index : index - until_end);
}
