/*
 * program.c - see program.h: the steps of an extraction in their order, and the life of a program.
 */
#include "base/error.h"
#include "base/memory.h"
#include "device/books.h"
#include "replay/conf.h"
#include "replay/program/extraction.h"
#include "settings/rounding.h"

#include <string.h>

/* --- extraction --- */

/* Notes whether requests may belong to private pools. */
static void look_for_pools(plim_extraction *e)
{
    const plim_device_history *device = e->program->device;
    for (uint64_t i = 0; i < device->segment_count; i++) {
        e->has_pools = e->has_pools || !plim_pool_is_default(device->segments[i].pool);
    }
    uint32_t last = PLIM_NONE;
    for (uint64_t i = 0; i < device->events.count; i++) {
        const uint32_t row = device->events.note[i];
        if (row == last) {
            continue;
        }
        last = row;
        const plim_note *note = plim_history_note(e->program->history, row);
        e->names_pools = e->names_pools || note->has_pool;
        e->has_pools = e->has_pools || (note->has_pool && !plim_pool_is_default(note->pool));
    }
}

static plim_status make_tables(plim_extraction *e, plim_error *err)
{
    const plim_program *program = e->program;
    const size_t streams = (size_t)plim_history_stream_count(program->history) + 1;
    e->stream_of = plim_mem_alloc(program->mem, streams, sizeof *e->stream_of);
    e->slots = plim_mem_alloc(program->mem, (size_t)plim_timeline_id_end(&e->timeline) + 1,
                              sizeof *e->slots);
    if (e->stream_of == NULL || e->slots == NULL) {
        return plim_fail_memory(err, "reading requests from a history");
    }
    for (size_t i = 0; i < streams; i++) {
        e->stream_of[i] = PLIM_NO_STREAM;
    }
    return PLIM_OK;
}

static plim_status take_scales(plim_extraction *e, const plim_program_options *options,
                               plim_error *err)
{
    const plim_program *program = e->program;
    if (options->scale_count == 0) {
        return PLIM_OK;
    }
    PLIM_TRY(plim_scaling_init(&e->scaling, program->history, options, program->mem, err));
    return plim_categories_init(&e->categories, &e->timeline, program->mem, err);
}

static uint64_t round_with(const void *rounding, uint64_t requested_bytes)
{
    return plim_round(rounding, requested_bytes);
}

static plim_status extract(plim_extraction *e, const plim_program_options *options, plim_error *err)
{
    plim_program *program = e->program;
    const plim_settings *settings = &program->facts.conf.settings;
    const plim_rounding rounding = plim_rounding_of(settings);
    const plim_timeline_options timeline = {
        .mem = program->mem,
        .rule = { .round = round_with,
                  .ctx = &rounding,
                  .max_split_bytes = settings->max_split_bytes,
                  .is_other = program->facts.conf.policy != PLIM_POLICY_TORCH },
    };
    PLIM_TRY(plim_timeline_init(&e->timeline, program->history, program->device, &timeline, err));
    e->has_timeline = true;
    for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        program->caveats[PLIM_CAVEAT_CONTRADICTIONS] +=
            plim_timeline_anomaly_count(&e->timeline, (plim_anomaly)i);
    }
    PLIM_TRY(make_tables(e, err));
    PLIM_TRY(take_scales(e, options, err));
    look_for_pools(e);
    if (!plim_extraction_note_segments(e)) {
        return plim_fail_memory(err, "separating pools");
    }
    PLIM_TRY(plim_extraction_start(e, err));
    program->facts.start_allocations = program->start.allocations.count;
    program->facts.start_live_bytes = e->live_bytes;
    for (size_t i = 0; i < program->start.segments.count; i++) {
        program->facts.start_reserved_bytes += program->start.segments.items[i].bytes;
    }
    PLIM_TRY(plim_releases_find(program, program->facts.start_reserved_bytes, &e->releases, err));
    PLIM_TRY(plim_extraction_walk(e, err));
    program->queue_count = e->deferrals.queue_count;
    program->caveats[PLIM_CAVEAT_POOLS] += e->has_pools && !e->names_pools;
    return PLIM_OK;
}

static void deinit_extraction(plim_extraction *e)
{
    const plim_program *program = e->program;
    const plim_mem *mem = program->mem;
    if (e->stream_of != NULL) {
        plim_mem_free(mem, e->stream_of, (size_t)plim_history_stream_count(program->history) + 1,
                      sizeof *e->stream_of);
    }
    if (e->slots != NULL) {
        plim_mem_free(mem, e->slots, (size_t)plim_timeline_id_end(&e->timeline) + 1,
                      sizeof *e->slots);
    }
    plim_categories_deinit(&e->categories);
    plim_scaling_deinit(&e->scaling);
    plim_deferrals_deinit(&e->deferrals);
    PLIM_VEC_FREE(mem, &e->releases);
    PLIM_VEC_FREE(mem, &e->at_start);
    PLIM_VEC_FREE(mem, &e->spare_slots);
    PLIM_VEC_FREE(mem, &e->ranges);
    PLIM_VEC_FREE(mem, &e->walk.postponed);
    plim_map_deinit(&e->segment_events);
    if (e->has_timeline) {
        plim_timeline_deinit(&e->timeline);
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
        return program->from_event >= count
                   ? plim_fail(err, PLIM_INVALID_ARGUMENT,
                               "no event to replay from event %llu on: device %d has %llu events, "
                               "the first is 0",
                               (unsigned long long)program->from_event,
                               (int)program->device->device, (unsigned long long)count)
                   : plim_fail(err, PLIM_INVALID_ARGUMENT,
                               "no event to replay: the range begins with event %llu and ends "
                               "before event %llu",
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
    program->caveats[PLIM_CAVEAT_NO_SETTINGS] +=
        !plim_conf_of_history(history, device, &program->facts.conf);
    plim_extraction e = { .program = program, .deferrals = { .mem = mem }, .walk.pool = PLIM_NONE };
    plim_map_init(&e.segment_events, mem);
    const plim_status status = extract(&e, options, err);
    deinit_extraction(&e);
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
