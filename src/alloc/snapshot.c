/*
 * snapshot.c - an allocator as a history: what stands, what was recorded, what is in force.
 */
#include "alloc/core/events.h"
#include "alloc/core/pools.h"
#include "alloc/core/world.h"
#include "base/error.h"
#include "history/builder.h"
#include "settings/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct snapshot {
    plim_heap *heap;
    plim_history *history;
    const plim_pool_id *pool; /* NULL: all */
    uint64_t first_block;     /* of the device, among the history's */
    uint64_t block_count;
    uint64_t segment_count;
    uint64_t event_count;
    uint64_t active_bytes;
} snapshot;

static plim_pool_id pool_id_of(const plim_segment_record *segment)
{
    const plim_private_pool *owner = plim_shelf_of_segment(segment)->pool->owner;
    return owner != NULL ? owner->id : (plim_pool_id){ 0, 0 };
}

/* --- events --- */

static plim_status push_events(snapshot *to, plim_error *err)
{
    for (uint64_t i = 0; i < to->heap->ring.count; i++) {
        plim_event event = plim_recorded_event(to->heap, i);
        PLIM_TRY(plim_stacks_to_history(to->heap->allocator->stacks, event.stack, to->history,
                                        &event.stack, err));
        PLIM_TRY(plim_history_push_event(to->history, &event, err));
        to->event_count++;
    }
    return PLIM_OK;
}

/* --- segments: runs of mapped blocks --- */

static plim_status push_block(snapshot *to, const plim_heap_block *from, plim_error *err)
{
    plim_block block = { .addr = from->addr,
                         .bytes = from->bytes,
                         .requested_bytes = from->requested_bytes,
                         .state = PLIM_BLOCK_INACTIVE };
    if (from->state == PLIM_BLOCK_IS_LIVE) {
        block.state = PLIM_BLOCK_ACTIVE_ALLOCATED;
    } else if (from->state == PLIM_BLOCK_IS_PENDING) {
        block.state = PLIM_BLOCK_ACTIVE_PENDING_FREE;
    }
    to->active_bytes += block.state == PLIM_BLOCK_INACTIVE ? 0 : block.bytes;
    PLIM_TRY(plim_stacks_to_history(to->heap->allocator->stacks, from->stack, to->history,
                                    &block.stack, err));
    PLIM_TRY(plim_history_push_block(to->history, &block, err));
    to->block_count++;
    return PLIM_OK;
}

/* The run of mapped blocks that starts at `*at`, which moves past it. */
static plim_status push_run(snapshot *to, const plim_heap_block **at, plim_error *err)
{
    const plim_segment_record *from = (*at)->segment;
    const uint32_t cause = plim_cause_of(*at);
    plim_segment segment = { .addr = (*at)->addr,
                             .pool = pool_id_of(from),
                             .block_first = to->block_count,
                             .is_large = !plim_shelf_of_segment(from)->pool->is_small,
                             .is_expandable = from->expandable != NULL };
    for (; *at != NULL && (*at)->is_mapped; *at = (*at)->next) {
        PLIM_TRY(push_block(to, *at, err));
        segment.bytes += (*at)->bytes;
        segment.block_count++;
    }
    PLIM_TRY(plim_history_add_stream(to->history, plim_shelf_of_segment(from)->stream,
                                     &segment.stream, err));
    PLIM_TRY(plim_stacks_to_history(to->heap->allocator->stacks, cause, to->history, &segment.stack,
                                    err));
    to->segment_count++;
    return plim_history_push_segment(to->history, &segment, err);
}

static int by_address(const void *a, const void *b)
{
    const plim_segment_record *const *left = a;
    const plim_segment_record *const *right = b;
    return ((*left)->addr > (*right)->addr) - ((*left)->addr < (*right)->addr);
}

/* A segment's runs of mapped blocks; plain memory is one run. */
static plim_status push_runs(snapshot *to, const plim_segment_record *segment, plim_error *err)
{
    const plim_heap_block *block = segment->head;
    while (block != NULL) {
        if (block->is_mapped) {
            PLIM_TRY(push_run(to, &block, err));
        } else {
            block = block->next;
        }
    }
    return PLIM_OK;
}

static plim_status push_sorted(snapshot *to, const plim_segment_record **sorted, size_t count,
                               plim_error *err)
{
    qsort(sorted, count, sizeof *sorted, by_address);
    for (size_t i = 0; i < count; i++) {
        PLIM_TRY(push_runs(to, sorted[i], err));
    }
    return PLIM_OK;
}

static plim_status push_segments(snapshot *to, plim_error *err)
{
    const plim_mem *mem = to->heap->allocator->mem;
    const size_t room = (size_t)to->heap->segment_count;
    if (room == 0) {
        return PLIM_OK;
    }
    const plim_segment_record **sorted = plim_mem_alloc(mem, room, sizeof *sorted);
    if (sorted == NULL) {
        return plim_fail_memory(err, "taking a snapshot");
    }
    size_t count = 0;
    for (const plim_segment_record *segment = to->heap->segments; segment != NULL;
         segment = segment->next) {
        if (to->pool == NULL || plim_pool_ids_equal(pool_id_of(segment), *to->pool)) {
            sorted[count] = segment;
            count++;
        }
    }
    const plim_status status = push_sorted(to, sorted, count, err);
    plim_mem_free(mem, sorted, room, sizeof *sorted);
    return status;
}

/* --- settings --- */

static plim_status add_setting(plim_history *history, const char *group, const char *name,
                               plim_setting setting, plim_error *err)
{
    setting.group = PLIM_NONE;
    if (group != NULL) {
        PLIM_TRY(plim_history_add_string(history, group, strlen(group), &setting.group, err));
    }
    PLIM_TRY(plim_history_add_string(history, name, strlen(name), &setting.name, err));
    return plim_history_push_setting(history, &setting, err);
}

static plim_setting of_integer(uint64_t integer) /* no limit is -1 */
{
    return (plim_setting){ .kind = PLIM_SETTING_INTEGER, .value.integer = (int64_t)integer };
}

static plim_setting setting_of(const plim_settings *from, const plim_setting_row *row)
{
    const void *const value = plim_setting_value(from, row);
    if (row->type == PLIM_TYPE_BOOL) {
        return (plim_setting){ .kind = PLIM_SETTING_BOOLEAN,
                               .value.boolean = *(const bool *)value };
    }
    if (row->type == PLIM_TYPE_FRACTION) {
        return (plim_setting){ .kind = PLIM_SETTING_REAL, .value.real = *(const double *)value };
    }
    return of_integer(*(const uint64_t *)value);
}

/* The allocator_settings of PyTorch 2.11's snapshots. */
static plim_status push_settings(plim_history *history, const plim_settings *from, plim_error *err)
{
    static const plim_setting_key keys[] = {
        PLIM_KEY_MAX_SPLIT_SIZE_MB,
        PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD,
        PLIM_KEY_EXPANDABLE_SEGMENTS,
        PLIM_KEY_PINNED_NUM_REGISTER_THREADS,
        PLIM_KEY_RELEASE_LOCK_ON_CUDAMALLOC,
        PLIM_KEY_PINNED_USE_CUDA_HOST_REGISTER,
        PLIM_KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE,
    };
    plim_setting text = { .kind = PLIM_SETTING_TEXT };
    PLIM_TRY(
        plim_history_add_string(history, from->text, strlen(from->text), &text.value.text, err));
    PLIM_TRY(add_setting(history, NULL, "PYTORCH_CUDA_ALLOC_CONF", text, err));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const plim_setting_row *const row = &plim_setting_rows[keys[i]];
        PLIM_TRY(add_setting(history, NULL, row->recorded != NULL ? row->recorded : row->name,
                             setting_of(from, row), err));
    }
    const char *const table = plim_setting_key_name(PLIM_KEY_ROUNDUP_POWER2_DIVISIONS);
    for (unsigned i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "%u", 1u << i);
        PLIM_TRY(
            add_setting(history, table, name, of_integer(from->roundup_power2_divisions[i]), err));
    }
    return PLIM_OK;
}

/* --- all of it --- */

static plim_status push_device(snapshot *to, uint64_t first_segment, bool has_traces,
                               plim_error *err)
{
    plim_heap *heap = to->heap;
    const uint64_t first_event = plim_history_pushed_events(to->history);
    if (has_traces) {
        PLIM_TRY(push_events(to, err));
    }
    PLIM_TRY(push_segments(to, err));
    const plim_recording *recording = atomic_load(&heap->allocator->recording);
    const uint64_t lost = heap->ring.lost;
    const plim_device_ranges ranges = {
        .device = heap->index,
        .events = { first_event, to->event_count },
        .segments = { first_segment, to->segment_count },
        .blocks = { to->first_block, to->block_count },
        .capacity_events = recording != NULL ? recording->options.max_events : 0,
        .overflowed = lost > 0 ? PLIM_YES : PLIM_NO,
    };
    PLIM_TRY(plim_history_add_device(to->history, &ranges, err));
    plim_emit(
        heap, &heap->large,
        &(plim_event){ .action = PLIM_SNAPSHOT, .bytes = to->active_bytes, .stack = PLIM_NONE });
    return PLIM_OK;
}

static plim_status build(plim_allocator *allocator, const plim_pool_id *pool, bool has_traces,
                         plim_history *history, plim_error *err)
{
    uint64_t segments = 0, blocks = 0;
    for (size_t i = 0; i < allocator->heap_count; i++) {
        plim_heap *heap = &allocator->heaps[i];
        snapshot to = { .heap = heap, .history = history, .pool = pool, .first_block = blocks };
        PLIM_TRY(push_device(&to, segments, has_traces, err));
        segments += to.segment_count;
        blocks += to.block_count;
    }
    plim_history_set_source(history, &(plim_source){ .format = "allocator",
                                                     .generation = "PyTorch " PLIM_ALLOCATOR_TORCH,
                                                     .pickle_protocol = -1 });
    return push_settings(history, &allocator->settings, err);
}

plim_status plim_allocator_snapshot(plim_allocator *allocator, const plim_pool_id *pool,
                                    bool has_traces, plim_history **ret_history, plim_error *err)
{
    const bool is_all = pool == NULL || plim_pool_is_default(*pool);
    plim_history *history = NULL;
    PLIM_TRY(plim_history_create(allocator->mem_below, &history, err));
    plim_worlds_stop(allocator);
    const plim_status status = build(allocator, is_all ? NULL : pool, has_traces, history, err);
    plim_worlds_resume(allocator);
    if (status != PLIM_OK) {
        plim_history_destroy(history);
        return status;
    }
    plim_history_seal(history);
    *ret_history = history;
    return PLIM_OK;
}
