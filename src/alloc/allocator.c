/*
 * allocator.c - making and ending an allocator.
 */
#include "plimsoll/allocator.h"

#include "alloc/core/forking.h"
#include "alloc/core/free.h"
#include "alloc/core/pools.h"
#include "alloc/core/world.h"
#include "alloc/policy/policies.h"
#include "alloc/vm/expandable.h"
#include "base/error.h"
#include "settings/rounding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- memory that is counted --- */

static void *resize_counted(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    plim_allocator *allocator = ctx;
    void *result =
        allocator->mem_below->resize(allocator->mem_below->ctx, ptr, old_bytes, new_bytes);
    if (result != NULL || new_bytes == 0) {
        atomic_fetch_add_explicit(&allocator->total_bytes, (uint_fast64_t)new_bytes - old_bytes,
                                  memory_order_relaxed);
    }
    return result;
}

/* --- making one --- */

/* The part that cannot fail: a heap that is only this can be ended. */
static void init_heap(plim_heap *heap, plim_allocator *allocator, int32_t index,
                      const plim_device *device)
{
    heap->allocator = allocator;
    heap->index = index;
    heap->device = *device;
    heap->device.ops->properties(heap->device.self, &heap->properties);
    heap->small = (plim_pool){ .policy = allocator->policy, .is_small = true };
    heap->large = (plim_pool){ .policy = allocator->policy };
    plim_map_init(&heap->homes, allocator->mem);
    heap->limit_bytes = PLIM_UNLIMITED;
    plim_ring_init(&heap->ring, allocator->mem);
    const uint64_t max_split = allocator->settings.max_split_bytes;
    heap->stats.max_split_size = max_split == PLIM_UNLIMITED ? -1 : (int64_t)max_split;
    plim_ledger_open(&heap->ledger, &heap->stats, 1);
}

static plim_status start_heap(plim_heap *heap, plim_error *err)
{
    plim_allocator *allocator = heap->allocator;
    if (allocator->policy->init != NULL) {
        PLIM_TRY(allocator->policy->init(heap, err));
    }
    const double fraction = allocator->settings.per_process_memory_fraction;
    return fraction < 1 ? plim_set_memory_fraction(allocator, heap->index, fraction, err) : PLIM_OK;
}

static plim_status read_settings(const plim_allocator_options *options, plim_settings *ret,
                                 plim_error *err)
{
    if (options->settings != NULL) {
        *ret = *options->settings;
        return PLIM_OK;
    }
    *ret = plim_settings_default();
    return plim_settings_from_environment(ret, NULL, err);
}

/* PyTorch's own switch, for those that look for an error that the cache hides
 * (forceUncachedAllocator). */
static bool is_caching_unwanted(void)
{
    const char *wish = getenv("PYTORCH_NO_CUDA_MEMORY_CACHING");
    return wish != NULL && wish[0] != '\0' && strcmp(wish, "0") != 0;
}

/* Canaries that no one could compare would be a promise not kept. */
static plim_status check_hardening(const plim_allocator_options *options, plim_error *err)
{
    if (options->hardening > PLIM_HARDENING_POISON) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "there is no hardening %d",
                         (int)options->hardening);
    }
    for (size_t i = 0; i < options->device_count; i++) {
        const plim_device *const device = &options->devices[i];
        plim_device_properties properties;
        device->ops->properties(device->self, &properties);
        if (options->hardening >= PLIM_HARDENING_CANARIES && !properties.is_host_readable) {
            return plim_fail(err, PLIM_UNSUPPORTED,
                             "device %zu: the host cannot read its memory, so canaries there check "
                             "nothing; use PLIM_HARDENING_CHECKS",
                             i);
        }
    }
    return PLIM_OK;
}

static plim_status check_options(const plim_allocator_options *options, plim_error *err)
{
    if (options == NULL || options->devices == NULL || options->device_count == 0 ||
        options->device_count > INT32_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "an allocator needs a device");
    }
    for (size_t i = 0; i < options->device_count; i++) {
        if (options->devices[i].ops == NULL) {
            return plim_fail(err, PLIM_INVALID_ARGUMENT, "device %zu has no functions", i);
        }
    }
    if (plim_policy_of(options->policy) == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "there is no policy %d", (int)options->policy);
    }
    return check_hardening(options, err);
}

static plim_status fill(plim_allocator *allocator, const plim_allocator_options *options,
                        plim_error *err)
{
    static atomic_uint_fast64_t serials;
    allocator->serial = atomic_fetch_add(&serials, 1) + 1;
    allocator->policy = plim_policy_of(options->policy);
    allocator->private_policy = &plim_policy_torch;
    allocator->unit_mask = allocator->policy->unit_bytes - 1;
    allocator->small_bytes_max = allocator->policy->small_bytes_max;
    allocator->release_threshold_bytes = options->release_threshold_bytes;
    allocator->hardening = options->hardening;
    allocator->is_mapping_transactional = options->is_mapping_transactional;
    allocator->expandable_share = options->expandable_share;
    allocator->has_divisions =
        allocator->policy->has_divisions && plim_rounding_of(&allocator->settings).has_divisions;
    atomic_init(&allocator->is_caching, options->settings != NULL || !is_caching_unwanted());
    plim_slab_init(&allocator->blocks, allocator->mem);
    plim_slab_init(&allocator->nodes, allocator->mem);
    if (!plim_directory_init(&allocator->directory, allocator->mem)) {
        return plim_fail_memory(err, "making an allocator");
    }
    PLIM_TRY(plim_stacks_create(allocator->mem, &allocator->stacks, err));
    allocator->heaps =
        plim_mem_alloc_zeroed(allocator->mem, options->device_count, sizeof *allocator->heaps);
    if (allocator->heaps == NULL) {
        return plim_fail_memory(err, "making an allocator");
    }
    allocator->heap_count = options->device_count;
    for (size_t i = 0; i < options->device_count; i++) {
        init_heap(&allocator->heaps[i], allocator, (int32_t)i, &options->devices[i]);
    }
    for (size_t i = 0; i < options->device_count; i++) {
        PLIM_TRY(start_heap(&allocator->heaps[i], err));
    }
    return PLIM_OK;
}

plim_status plim_allocator_create(const plim_allocator_options *options,
                                  plim_allocator **ret_allocator, plim_error *err)
{
    PLIM_TRY(check_options(options, err));
    plim_settings settings;
    PLIM_TRY(read_settings(options, &settings, err));
    const plim_mem *mem = plim_mem_or_heap(options->mem);
    plim_allocator *allocator = plim_mem_alloc_zeroed(mem, 1, sizeof *allocator);
    if (allocator == NULL) {
        return plim_fail_memory(err, "making an allocator");
    }
    allocator->mem_below = mem;
    allocator->counting = (plim_mem){ resize_counted, allocator };
    allocator->mem = &allocator->counting;
    allocator->settings = settings;
    atomic_init(&allocator->total_bytes, sizeof *allocator);
    if (pthread_mutex_init(&allocator->lock, NULL) != 0) {
        plim_mem_free(mem, allocator, 1, sizeof *allocator);
        return plim_fail_memory(err, "making an allocator");
    }
    plim_status status = fill(allocator, options, err);
    if (status == PLIM_OK && !plim_forking_enter(allocator)) {
        status = plim_fail_memory(err, "preparing for forks");
    }
    if (status != PLIM_OK) {
        plim_allocator_destroy(allocator);
        return status;
    }
    *ret_allocator = allocator;
    return PLIM_OK;
}

/* --- ending one --- */

static void destroy_segments(plim_heap *heap)
{
    for (plim_segment_record *segment = heap->segments; segment != NULL; segment = segment->next) {
        const plim_shelf *shelf = plim_shelf_of_segment(segment);
        const plim_private_pool *owner = shelf->pool->owner;
        if (segment->expandable != NULL) {
            plim_expandable_destroy(segment);
        } else if (owner != NULL && owner->has_source) {
            owner->source.free(owner->source.ctx, segment->addr, segment->bytes, heap->index,
                               shelf->stream);
        } else {
            (void)heap->device.ops->memory_free(heap->device.self, segment->addr, NULL);
        }
        plim_page_index_deinit(&segment->pages, heap->allocator->mem, &heap->allocator->nodes);
    }
}

static void deinit_heap(plim_heap *heap)
{
    const plim_mem *mem = heap->allocator->mem;
    if (heap->allocator->policy->deinit != NULL) {
        heap->allocator->policy->deinit(heap);
    }
    plim_streams_deinit(heap);
    destroy_segments(heap);
    plim_pools_deinit(heap);
    PLIM_VEC_FREE(mem, &heap->open_lanes);
    PLIM_VEC_FREE(mem, &heap->peers);
    PLIM_VEC_FREE(mem, &heap->pool_names);
    plim_map_deinit(&heap->homes);
    plim_ring_deinit(&heap->ring);
}

void plim_allocator_destroy(plim_allocator *allocator)
{
    if (allocator == NULL) {
        return;
    }
    const plim_mem *mem = allocator->mem;
    plim_forking_leave(allocator);
    for (size_t i = 0; i < allocator->heap_count; i++) {
        deinit_heap(&allocator->heaps[i]);
    }
    for (size_t i = 0; i < allocator->uncached.count; i++) {
        const plim_uncached_row *row = &allocator->uncached.items[i];
        (void)row->heap->device.ops->memory_free(row->heap->device.self, row->addr, NULL);
    }
    PLIM_VEC_FREE(mem, &allocator->uncached);
    plim_mem_free(mem, allocator->heaps, allocator->heap_count, sizeof *allocator->heaps);
    for (size_t i = 0; i < allocator->segment_records.count; i++) {
        plim_segment_record *const record = allocator->segment_records.items[i];
        PLIM_VEC_FREE(mem, &record->causes);
        plim_mem_free(mem, record, 1, sizeof *record);
    }
    PLIM_VEC_FREE(mem, &allocator->segment_records);
    plim_directory_deinit(&allocator->directory);
    plim_slab_deinit(&allocator->blocks);
    plim_slab_deinit(&allocator->nodes);
    plim_stacks_destroy(allocator->stacks);
    plim_recording *recording = (plim_recording *)(uintptr_t)atomic_load(&allocator->recording);
    while (recording != NULL) {
        plim_recording *older = recording->older;
        plim_mem_free(mem, recording, 1, sizeof *recording);
        recording = older;
    }
    PLIM_VEC_FREE(mem, &allocator->sinks);
    PLIM_VEC_FREE(mem, &allocator->free_callbacks);
    PLIM_VEC_FREE(mem, &allocator->observers);
    (void)pthread_mutex_destroy(&allocator->lock);
    plim_mem_free(allocator->mem_below, allocator, 1, sizeof *allocator);
}
