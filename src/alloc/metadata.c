/*
 * metadata.c - what an allocator itself takes from the host.
 */
#include "alloc/world.h"

static void add_pool(const plim_pool *pool, plim_metadata *sum)
{
    for (size_t i = 0; i < pool->shelves.count; i++) {
        const plim_shelf *shelf = pool->shelves.items[i];
        sum->free_set_bytes += shelf->blocks.bytes + shelf->unmapped.bytes;
    }
}

static void add_segments(const plim_heap *heap, plim_metadata *sum)
{
    for (const plim_segment_record *segment = heap->segments; segment != NULL;
         segment = segment->next) {
        for (const plim_heap_block *block = segment->head; block != NULL; block = block->next) {
            sum->blocks++;
        }
        sum->index_bytes +=
            segment->pages.items != NULL ? segment->pages.count * sizeof *segment->pages.items : 0;
        sum->segment_bytes += sizeof *segment;
        if (segment->expandable != NULL) {
            sum->segment_bytes +=
                sizeof *segment->expandable +
                segment->expandable->handle_count * sizeof *segment->expandable->handles;
        }
    }
}

void plim_allocator_metadata(plim_allocator *allocator, plim_metadata *ret_metadata)
{
    plim_metadata sum = { 0 };
    plim_worlds_stop(allocator);
    for (size_t i = 0; i < allocator->heap_count; i++) {
        const plim_heap *heap = &allocator->heaps[i];
        add_segments(heap, &sum);
        add_pool(&heap->small, &sum);
        add_pool(&heap->large, &sum);
        for (size_t p = 0; p < heap->private_pools.count; p++) {
            add_pool(&heap->private_pools.items[p]->small, &sum);
            add_pool(&heap->private_pools.items[p]->large, &sum);
        }
        sum.history_bytes += heap->ring.bytes;
    }
    sum.block_bytes = allocator->blocks.bytes;
    sum.index_bytes += allocator->nodes.bytes + allocator->directory.bytes;
    sum.history_bytes += plim_stacks_bytes(allocator->stacks);
    sum.total_bytes = atomic_load(&allocator->total_bytes);
    plim_worlds_resume(allocator);
    *ret_metadata = sum;
}
