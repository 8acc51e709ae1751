/*
 * extraction.c - see extraction.h: what the parts of an extraction share.
 */
#include "replay/program/extraction.h"

#include "settings/rounding.h"

/* --- slots, streams, pools, ops --- */

bool plim_extraction_slot(plim_extraction *e, uint32_t *ret_slot)
{
    if (e->spare_slots.count > 0) {
        e->spare_slots.count--;
        *ret_slot = e->spare_slots.items[e->spare_slots.count];
        return true;
    }
    *ret_slot = e->program->slot_count;
    e->program->slot_count++;
    return true;
}

bool plim_extraction_stream(plim_extraction *e, uint32_t history_stream, uint16_t *ret_stream)
{
    plim_program *program = e->program;
    const uint32_t count = plim_history_stream_count(program->history);
    const uint32_t row = history_stream < count ? history_stream : count; /* unknown: the default */
    if (e->stream_of[row] == PLIM_NO_STREAM) {
        const plim_stream handle = row < count ? plim_history_stream(program->history, row) : 0;
        if (program->streams.count == PLIM_NO_STREAM) {
            *ret_stream = 0; /* more streams than any program has: they share one */
            return true;
        }
        if (!PLIM_VEC_PUSH(program->mem, &program->streams, handle)) {
            return false;
        }
        e->stream_of[row] = (uint16_t)(program->streams.count - 1);
    }
    *ret_stream = e->stream_of[row];
    return true;
}

bool plim_extraction_pool(plim_extraction *e, plim_pool_id pool, uint32_t *ret_pool)
{
    plim_program *program = e->program;
    *ret_pool = PLIM_NONE;
    if (plim_pool_is_default(pool)) {
        return true;
    }
    for (size_t i = 0; i < program->pools.count; i++) {
        if (plim_pool_ids_equal(program->pools.items[i], pool)) {
            *ret_pool = (uint32_t)i;
            return true;
        }
    }
    *ret_pool = (uint32_t)program->pools.count;
    return PLIM_VEC_PUSH(program->mem, &program->pools, pool);
}

bool plim_extraction_op(plim_extraction *e, uint64_t event, plim_op op)
{
    plim_program *program = e->program;
    return PLIM_VEC_PUSH(program->mem, &program->ops, op) &&
           PLIM_VEC_PUSH(program->mem, &program->op_events, (uint32_t)event);
}

/* Ranges are no longer than the way to the next. */
static void note_distance(plim_extraction *e, plim_addr base)
{
    for (size_t i = 0; i < e->ranges.count; i++) {
        const plim_addr other = e->ranges.items[i].base;
        const uint64_t distance = base > other ? base - other : other - base;
        if (distance > 0 && distance < e->program->range_bytes_max) {
            e->program->range_bytes_max = distance;
        }
    }
}

bool plim_extraction_range(plim_extraction *e, const plim_range_key *key, bool *ret_is_new)
{
    *ret_is_new = false;
    for (size_t i = 0; i < e->ranges.count; i++) {
        plim_range_key *known = &e->ranges.items[i];
        if (known->stream == key->stream && known->is_small == key->is_small &&
            plim_pool_ids_equal(known->pool, key->pool) && known->base <= key->base) {
            known->mapped_bytes += key->mapped_bytes;
            return true;
        }
    }
    *ret_is_new = true;
    note_distance(e, key->base);
    return PLIM_VEC_PUSH(e->program->mem, &e->ranges, *key);
}

void plim_extraction_unmap(plim_extraction *e, plim_addr addr, uint64_t bytes)
{
    plim_range_key *found = NULL;
    for (size_t i = 0; i < e->ranges.count; i++) {
        plim_range_key *known = &e->ranges.items[i];
        if (known->base <= addr && (found == NULL || known->base > found->base)) {
            found = known;
        }
    }
    if (found == NULL) {
        return;
    }
    found->mapped_bytes -= bytes < found->mapped_bytes ? bytes : found->mapped_bytes;
    if (found->mapped_bytes == 0) {
        e->ranges.count--;
        *found = e->ranges.items[e->ranges.count];
    }
}

static uint64_t scaled(const plim_extraction *e, uint64_t bytes, uint8_t category, uint32_t stack)
{
    return bytes < PLIM_REQUEST_BYTES_MAX
               ? plim_scaled_bytes(bytes, plim_scaling_factor(&e->scaling, category, stack))
               : 0;
}

uint64_t plim_extraction_event_bytes(const plim_extraction *e, uint64_t event)
{
    const plim_events *events = &e->program->device->events;
    const uint64_t id = plim_timeline_recorded_id(&e->timeline, event);
    const uint8_t *categories = e->categories.of;
    return scaled(e, events->bytes[event], categories != NULL ? categories[id] : 0,
                  events->stack[event]);
}

uint64_t plim_extraction_bytes(const plim_extraction *e, uint64_t id)
{
    const uint64_t first = plim_timeline_recorded_id(&e->timeline, 0);
    if (id >= first) {
        return plim_extraction_event_bytes(e, id - first);
    }
    const plim_allocation one = plim_timeline_allocation(&e->timeline, id);
    const uint8_t *categories = e->categories.of;
    return one.freed == PLIM_AT_START /* pending: it lives no more */
               ? one.requested_bytes
               : scaled(e, one.requested_bytes, categories != NULL ? categories[id] : 0, one.stack);
}

void plim_extraction_live(plim_extraction *e, uint64_t bytes)
{
    plim_program *program = e->program;
    e->live_bytes += plim_round_plain(bytes);
    if (e->live_bytes > program->peak_live_bytes) {
        program->peak_live_bytes = e->live_bytes;
        program->peak_op = program->ops.count > 0 ? program->ops.count - 1 : PLIM_NO_OP;
    }
}

void plim_extraction_dead(plim_extraction *e, uint64_t bytes)
{
    const uint64_t gone = plim_round_plain(bytes);
    e->live_bytes -= gone < e->live_bytes ? gone : e->live_bytes;
}

/* --- where pools are --- */

const plim_segment *plim_extraction_segment_at_end(const plim_device_history *device,
                                                   plim_addr addr)
{
    size_t low = 0;
    size_t high = (size_t)device->segment_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (device->segments[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const plim_segment *segment = low > 0 ? &device->segments[low - 1] : NULL;
    return segment != NULL && addr - segment->addr < segment->bytes ? segment : NULL;
}

plim_pool_id plim_extraction_pool_at(const plim_extraction *e, plim_addr addr, uint64_t event)
{
    const plim_device_history *device = e->program->device;
    const plim_note *named =
        event < device->events.count
            ? plim_history_note(e->program->history, device->events.note[event])
            : plim_history_note(e->program->history, 0);
    if (named->has_pool) {
        return named->pool;
    }
    const plim_segment *segment = plim_extraction_segment_at_end(device, addr);
    if (segment == NULL) {
        return (plim_pool_id){ 0, 0 };
    }
    /* Only from when it came on: before, the address may have been another segment's. */
    const uint64_t since = plim_map_get(&e->segment_events, segment->addr);
    const bool is_known = since == PLIM_MAP_ABSENT || since <= event;
    return is_known ? segment->pool : (plim_pool_id){ 0, 0 };
}

bool plim_extraction_note_segments(plim_extraction *e)
{
    const plim_events *events = &e->program->device->events;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_SEGMENT_ALLOC &&
            !plim_map_put(&e->segment_events, events->addr[i], i)) {
            return false;
        }
    }
    return true;
}
