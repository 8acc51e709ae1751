/*
 * program.c - see program.h: what is needed to take a program, and what is left of it.
 */
#include "base/error.h"
#include "base/memory.h"
#include "device/books.h"
#include "replay/conf.h"
#include "replay/taking.h"
#include "settings/rounding.h"

#include <string.h>

/* --- what the other files use --- */

bool plim_taking_slot(plim_taking *taking, uint32_t *ret_slot)
{
    if (taking->spare_slots.count > 0) {
        taking->spare_slots.count--;
        *ret_slot = taking->spare_slots.items[taking->spare_slots.count];
        return true;
    }
    *ret_slot = taking->program->slot_count;
    taking->program->slot_count++;
    return true;
}

bool plim_taking_stream(plim_taking *taking, uint32_t history_stream, uint16_t *ret_stream)
{
    plim_program *program = taking->program;
    const uint32_t count = plim_history_stream_count(program->history);
    const uint32_t row = history_stream < count ? history_stream : count; /* unknown: the default */
    if (taking->stream_of[row] == PLIM_NO_STREAM) {
        const plim_stream handle = row < count ? plim_history_stream(program->history, row) : 0;
        if (program->streams.count == PLIM_NO_STREAM) {
            *ret_stream = 0; /* more streams than any program has: they share one */
            return true;
        }
        if (!PLIM_VEC_PUSH(program->mem, &program->streams, handle)) {
            return false;
        }
        taking->stream_of[row] = (uint16_t)(program->streams.count - 1);
    }
    *ret_stream = taking->stream_of[row];
    return true;
}

bool plim_taking_pool(plim_taking *taking, plim_pool_id pool, uint32_t *ret_pool)
{
    plim_program *program = taking->program;
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

bool plim_taking_op(plim_taking *taking, uint64_t event, plim_op op)
{
    plim_program *program = taking->program;
    return PLIM_VEC_PUSH(program->mem, &program->ops, op) &&
           PLIM_VEC_PUSH(program->mem, &program->op_events, (uint32_t)event);
}

/* Ranges are no longer than the way to the next. */
static void note_distance(plim_taking *taking, plim_addr base)
{
    for (size_t i = 0; i < taking->ranges.count; i++) {
        const plim_addr other = taking->ranges.items[i].base;
        const uint64_t distance = base > other ? base - other : other - base;
        if (distance > 0 && distance < taking->program->range_bytes_max) {
            taking->program->range_bytes_max = distance;
        }
    }
}

bool plim_taking_range(plim_taking *taking, const plim_range_key *key, bool *ret_is_new)
{
    *ret_is_new = false;
    for (size_t i = 0; i < taking->ranges.count; i++) {
        plim_range_key *known = &taking->ranges.items[i];
        if (known->stream == key->stream && known->is_small == key->is_small &&
            plim_pool_ids_equal(known->pool, key->pool) && known->base <= key->base) {
            known->mapped_bytes += key->mapped_bytes;
            return true;
        }
    }
    *ret_is_new = true;
    note_distance(taking, key->base);
    return PLIM_VEC_PUSH(taking->program->mem, &taking->ranges, *key);
}

void plim_taking_unmap(plim_taking *taking, plim_addr addr, uint64_t bytes)
{
    plim_range_key *found = NULL;
    for (size_t i = 0; i < taking->ranges.count; i++) {
        plim_range_key *known = &taking->ranges.items[i];
        if (known->base <= addr && (found == NULL || known->base > found->base)) {
            found = known;
        }
    }
    if (found == NULL) {
        return;
    }
    found->mapped_bytes -= bytes < found->mapped_bytes ? bytes : found->mapped_bytes;
    if (found->mapped_bytes == 0) {
        taking->ranges.count--;
        *found = taking->ranges.items[taking->ranges.count];
    }
}

static uint64_t scaled(const plim_taking *taking, uint64_t bytes, uint8_t category, uint32_t stack)
{
    return bytes < PLIM_REQUEST_BYTES_MAX
               ? plim_scaled_bytes(bytes, plim_scaling_factor(&taking->scaling, category, stack))
               : 0;
}

uint64_t plim_taking_event_bytes(const plim_taking *taking, uint64_t event)
{
    const plim_events *events = &taking->program->device->events;
    const uint64_t id = plim_timeline_recorded_id(&taking->timeline, event);
    const uint8_t *categories = taking->categories.of;
    return scaled(taking, events->bytes[event], categories != NULL ? categories[id] : 0,
                  events->stack[event]);
}

uint64_t plim_taking_bytes(const plim_taking *taking, uint64_t id)
{
    const uint64_t first = plim_timeline_recorded_id(&taking->timeline, 0);
    if (id >= first) {
        return plim_taking_event_bytes(taking, id - first);
    }
    const plim_allocation one = plim_timeline_allocation(&taking->timeline, id);
    const uint8_t *categories = taking->categories.of;
    return one.freed == PLIM_AT_START /* pending: it lives no more */
               ? one.requested_bytes
               : scaled(taking, one.requested_bytes, categories != NULL ? categories[id] : 0,
                        one.stack);
}

void plim_taking_live(plim_taking *taking, uint64_t bytes)
{
    plim_program *program = taking->program;
    taking->live_bytes += plim_round_plain(bytes);
    if (taking->live_bytes > program->peak_live_bytes) {
        program->peak_live_bytes = taking->live_bytes;
        program->peak_op = program->ops.count > 0 ? program->ops.count - 1 : PLIM_NO_OP;
    }
}

void plim_taking_dead(plim_taking *taking, uint64_t bytes)
{
    const uint64_t gone = plim_round_plain(bytes);
    taking->live_bytes -= gone < taking->live_bytes ? gone : taking->live_bytes;
}

/* --- taking one --- */

/* Whether requests may belong to private pools. */
static void look_for_pools(plim_taking *taking)
{
    const plim_device_history *device = taking->program->device;
    for (uint64_t i = 0; i < device->segment_count; i++) {
        taking->has_pools = taking->has_pools || !plim_pool_is_default(device->segments[i].pool);
    }
    uint32_t last = PLIM_NONE;
    for (uint64_t i = 0; i < device->events.count; i++) {
        const uint32_t row = device->events.note[i];
        if (row == last) {
            continue;
        }
        last = row;
        const plim_note *note = plim_history_note(taking->program->history, row);
        taking->names_pools = taking->names_pools || note->has_pool;
        taking->has_pools =
            taking->has_pools || (note->has_pool && !plim_pool_is_default(note->pool));
    }
}

static plim_status make_tables(plim_taking *taking, plim_error *err)
{
    const plim_program *program = taking->program;
    const size_t streams = (size_t)plim_history_stream_count(program->history) + 1;
    taking->stream_of = plim_mem_alloc(program->mem, streams, sizeof *taking->stream_of);
    taking->slots = plim_mem_alloc(
        program->mem, (size_t)plim_timeline_id_end(&taking->timeline) + 1, sizeof *taking->slots);
    if (taking->stream_of == NULL || taking->slots == NULL) {
        return plim_fail_memory(err, "taking requests out of a history");
    }
    for (size_t i = 0; i < streams; i++) {
        taking->stream_of[i] = PLIM_NO_STREAM;
    }
    return PLIM_OK;
}

static plim_status take_scales(plim_taking *taking, const plim_program_options *options,
                               plim_error *err)
{
    const plim_program *program = taking->program;
    if (options->scale_count == 0) {
        return PLIM_OK;
    }
    PLIM_TRY(plim_scaling_init(&taking->scaling, program->history, options, program->mem, err));
    return plim_categories_init(&taking->categories, &taking->timeline, program->mem, err);
}

static uint64_t round_with(const void *rounding, uint64_t requested_bytes)
{
    return plim_round(rounding, requested_bytes);
}

static plim_status take(plim_taking *taking, const plim_program_options *options, plim_error *err)
{
    plim_program *program = taking->program;
    const plim_settings *settings = &program->facts.conf.settings;
    const plim_rounding rounding = plim_rounding_of(settings);
    const plim_timeline_options timeline = {
        .mem = program->mem,
        .rule = { .round = round_with,
                  .ctx = &rounding,
                  .max_split_bytes = settings->max_split_bytes,
                  .is_other = program->facts.conf.policy != PLIM_POLICY_TORCH },
    };
    PLIM_TRY(
        plim_timeline_init(&taking->timeline, program->history, program->device, &timeline, err));
    taking->has_timeline = true;
    for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        program->doubts[PLIM_DOUBT_CONTRADICTIONS] +=
            plim_timeline_anomaly_count(&taking->timeline, (plim_anomaly)i);
    }
    PLIM_TRY(make_tables(taking, err));
    PLIM_TRY(take_scales(taking, options, err));
    look_for_pools(taking);
    if (!plim_taking_note_segments(taking)) {
        return plim_fail_memory(err, "telling pools apart");
    }
    PLIM_TRY(plim_taking_gather(taking, err));
    PLIM_TRY(plim_taking_place(taking, err));
    program->facts.start_allocations = program->start.allocations.count;
    program->facts.start_live_bytes = taking->live_bytes;
    for (size_t i = 0; i < program->start.segments.count; i++) {
        program->facts.start_reserved_bytes += program->start.segments.items[i].bytes;
    }
    PLIM_TRY(
        plim_releases_find(program, program->facts.start_reserved_bytes, &taking->releases, err));
    PLIM_TRY(plim_taking_walk(taking, err));
    program->queue_count = taking->deferrals.queue_count;
    program->doubts[PLIM_DOUBT_POOLS] += taking->has_pools && !taking->names_pools;
    return PLIM_OK;
}

static void deinit_taking(plim_taking *taking)
{
    const plim_program *program = taking->program;
    const plim_mem *mem = program->mem;
    if (taking->stream_of != NULL) {
        plim_mem_free(mem, taking->stream_of,
                      (size_t)plim_history_stream_count(program->history) + 1,
                      sizeof *taking->stream_of);
    }
    if (taking->slots != NULL) {
        plim_mem_free(mem, taking->slots, (size_t)plim_timeline_id_end(&taking->timeline) + 1,
                      sizeof *taking->slots);
    }
    plim_categories_deinit(&taking->categories);
    plim_scaling_deinit(&taking->scaling);
    plim_deferrals_deinit(&taking->deferrals);
    PLIM_VEC_FREE(mem, &taking->releases);
    PLIM_VEC_FREE(mem, &taking->standing);
    PLIM_VEC_FREE(mem, &taking->spare_slots);
    PLIM_VEC_FREE(mem, &taking->ranges);
    PLIM_VEC_FREE(mem, &taking->postponed);
    plim_map_deinit(&taking->segment_events);
    if (taking->has_timeline) {
        plim_timeline_deinit(&taking->timeline);
    }
}

static void finish_facts(plim_program *program)
{
    plim_replay_facts *facts = &program->facts;
    const plim_device_history *device = program->device;
    facts->device = device->device;
    facts->events = program->to_event - program->from_event;
    facts->floor_bytes = (program->peak_live_bytes + PLIM_DEVICE_GRANULARITY_BYTES - 1) /
                         PLIM_DEVICE_GRANULARITY_BYTES * PLIM_DEVICE_GRANULARITY_BYTES;
    facts->peak_event = program->peak_op == PLIM_NO_OP
                            ? PLIM_NO_EVENT
                            : plim_program_event(program, program->peak_op);
    facts->is_torn =
        device->overflowed == PLIM_YES ||
        (device->capacity_events > 0 && device->events.count >= device->capacity_events);
}

static plim_status check_range(plim_program *program, const plim_program_options *options,
                               plim_error *err)
{
    const uint64_t count = program->device->events.count;
    program->from_event = options->from_event;
    program->to_event =
        options->to_event == 0 || options->to_event > count ? count : options->to_event;
    if (program->from_event >= program->to_event) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "device %d has %llu events, and none from %llu to before %llu",
                         (int)program->device->device, (unsigned long long)count,
                         (unsigned long long)program->from_event,
                         (unsigned long long)program->to_event);
    }
    return PLIM_OK;
}

plim_status plim_program_init(plim_program *program, const plim_history *history,
                              const plim_device_history *device,
                              const plim_program_options *options, const plim_mem *mem,
                              plim_error *err)
{
    *program = (plim_program){ .mem = mem,
                               .history = history,
                               .device = device,
                               .range_bytes_max = PLIM_UNLIMITED,
                               .peak_op = PLIM_NO_OP };
    PLIM_TRY(check_range(program, options, err));
    program->doubts[PLIM_DOUBT_NO_SETTINGS] +=
        !plim_conf_of_history(history, device, &program->facts.conf);
    plim_taking taking = { .program = program, .deferrals = { .mem = mem }, .pool = PLIM_NONE };
    plim_map_init(&taking.segment_events, mem);
    const plim_status status = take(&taking, options, err);
    deinit_taking(&taking);
    if (status != PLIM_OK) {
        plim_program_deinit(program);
        return status;
    }
    finish_facts(program);
    return PLIM_OK;
}

void plim_program_deinit(plim_program *program)
{
    if (program->mem == NULL) {
        return;
    }
    PLIM_VEC_FREE(program->mem, &program->ops);
    PLIM_VEC_FREE(program->mem, &program->op_events);
    PLIM_VEC_FREE(program->mem, &program->streams);
    PLIM_VEC_FREE(program->mem, &program->pools);
    PLIM_VEC_FREE(program->mem, &program->start.segments);
    PLIM_VEC_FREE(program->mem, &program->start.blocks);
    PLIM_VEC_FREE(program->mem, &program->start.block_slots);
    PLIM_VEC_FREE(program->mem, &program->start.allocations);
    PLIM_VEC_FREE(program->mem, &program->recorded_segments);
    *program = (plim_program){ 0 };
}
