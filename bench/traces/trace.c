/*
 * trace.c - making a history: device, allocator, scribe and program together. See trace.h.
 */
#include "traces/trace.h"

#include "base/error.h"
#include "traces/programs.h"
#include "traces/scribe.h"

#include <string.h>

#define DEVICE_BYTES_DEFAULT ((uint64_t)80 << 30)

/* --- kinds --- */

static const char *const kind_names[] = {
#define KIND_NAME(code, name, text) [code] = name,
    PLIM_TRACE_KIND_LIST(KIND_NAME)
#undef KIND_NAME
};

static const char *const kind_texts[] = {
#define KIND_TEXT(code, name, text) [code] = text,
    PLIM_TRACE_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
};

const char *plim_trace_kind_name(plim_trace_kind kind)
{
    return (unsigned)kind < PLIM_TRACE_KIND_COUNT ? kind_names[kind] : "unknown";
}

const char *plim_trace_kind_text(plim_trace_kind kind)
{
    return (unsigned)kind < PLIM_TRACE_KIND_COUNT ? kind_texts[kind] : "";
}

bool plim_trace_kind_find(const char *name, plim_trace_kind *ret_kind)
{
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        if (strcmp(kind_names[kind], name) == 0) {
            *ret_kind = (plim_trace_kind)kind;
            return true;
        }
    }
    return false;
}

static const trace_generator *const generators[] = {
    [PLIM_TRACE_TRAINING] = &trace_training,
    [PLIM_TRACE_FINETUNE] = &trace_finetune,
    [PLIM_TRACE_MOE] = &trace_moe,
    [PLIM_TRACE_UNET] = &trace_unet,
    [PLIM_TRACE_DIT] = &trace_dit,
    [PLIM_TRACE_PAGED] = &trace_paged,
    [PLIM_TRACE_CONTIGUOUS] = &trace_contiguous,
    [PLIM_TRACE_RL] = &trace_rl,
    [PLIM_TRACE_EVALUATION] = &trace_evaluation,
    [PLIM_TRACE_VISION] = &trace_vision,
    [PLIM_TRACE_STREAMS] = &trace_streams,
    [PLIM_TRACE_GRAPHS] = &trace_graphs,
};
_Static_assert(sizeof generators / sizeof generators[0] == PLIM_TRACE_KIND_COUNT,
               "every kind has its program");

/* --- the allocator --- */

static size_t frames_of(void *ctx, plim_foreign_frame *frames, size_t capacity)
{
    const trace_play *const play = ctx;
    size_t given = 0;
    while (given < play->frame_count && given < capacity) {
        frames[given] = *play->frames[play->frame_count - 1 - given];
        given++;
    }
    return given;
}

/* Nothing goes into the allocator's own ring: the scribe hears it all. */
static plim_status listen(trace_play *play, trace_scribe *scribe, plim_error *err)
{
    const plim_record_options record = {
        .is_enabled = true,
        .stacks = play->spec->leaves_out_stacks ? PLIM_STACKS_NEVER : PLIM_STACKS_ALL,
        .foreign_frames = frames_of,
        .foreign_ctx = play,
        .skip_actions = UINT32_MAX,
    };
    const plim_event_sink sink = trace_scribe_sink(scribe);
    PLIM_TRY(plim_record_history(play->allocator, &record, err));
    return plim_add_event_sink(play->allocator, &sink, err);
}

static plim_status start(trace_play *play, trace_scribe *scribe, plim_error *err)
{
    const plim_trace_spec *const spec = play->spec;
    plim_settings settings = plim_settings_default();
    if (spec->conf != NULL) {
        PLIM_TRY(plim_settings_parse(spec->conf, &settings, err));
    }
    const plim_sim_options sim = {
        .mem = spec->mem,
        .total_bytes = spec->capacity_bytes == 0 ? DEVICE_BYTES_DEFAULT : spec->capacity_bytes,
        .has_manual_fences = true,
    };
    PLIM_TRY(plim_sim_create(&sim, &play->device, err));
    const plim_allocator_options options = {
        .mem = spec->mem,
        .devices = &play->device,
        .device_count = 1,
        .settings = &settings,
    };
    PLIM_TRY(plim_allocator_create(&options, &play->allocator, err));
    return listen(play, scribe, err);
}

static void stop(trace_play *play)
{
    plim_allocator_destroy(play->allocator);
    plim_device_destroy(&play->device);
}

/* --- playing --- */

static plim_status run(trace_play *play, plim_error *err)
{
    const trace_generator *const generator = generators[play->spec->kind];
    const plim_mem *const mem = plim_mem_or_heap(play->spec->mem);
    void *const state = plim_mem_alloc_zeroed(mem, 1, generator->state_bytes);
    if (state == NULL) {
        return plim_fail_memory(err, "making up a program");
    }
    generator->run(play, state);
    plim_mem_free(mem, state, 1, generator->state_bytes);
    if (play->status != PLIM_OK && err != NULL) {
        *err = play->error;
    }
    return play->status;
}

static plim_status sum_up(trace_play *play, const trace_scribe *scribe,
                          plim_trace_outcome *ret_outcome, plim_error *err)
{
    plim_device_stats stats;
    PLIM_TRY(plim_allocator_stats(play->allocator, 0, &stats, err));
    play->outcome.events = scribe->told;
    play->outcome.peak_reserved_bytes =
        (uint64_t)stats.families[PLIM_STAT_RESERVED_BYTES][PLIM_SLOT_ALL].peak;
    play->outcome.peak_allocated_bytes =
        (uint64_t)stats.families[PLIM_STAT_ALLOCATED_BYTES][PLIM_SLOT_ALL].peak;
    play->outcome.end_reserved_bytes =
        (uint64_t)stats.families[PLIM_STAT_RESERVED_BYTES][PLIM_SLOT_ALL].current;
    play->outcome.retries = (uint64_t)stats.num_alloc_retries;
    play->outcome.ooms = (uint64_t)stats.num_ooms;
    *ret_outcome = play->outcome;
    return PLIM_OK;
}

/* One playing. `scribe` has what it is to write down; its history may be NULL. */
static plim_status play_once(const plim_trace_spec *spec, trace_scribe *scribe,
                             plim_trace_outcome *ret_outcome, plim_error *err)
{
    trace_play play = {
        .spec = spec,
        .scribe = scribe,
        .random = spec->seed * UINT64_C(0xd1342543de82ef95) + (uint64_t)spec->kind,
        .time_ns = UINT64_C(1760000000000000000),
    };
    scribe->time_ns = &play.time_ns;
    plim_status status = start(&play, scribe, err);
    if (status == PLIM_OK) {
        status = run(&play, err);
    }
    if (status == PLIM_OK) {
        status = sum_up(&play, scribe, ret_outcome, err);
    }
    if (status == PLIM_OK && scribe->history != NULL) {
        const uint64_t capacity = spec->keep_events != 0 ? spec->keep_events : INT64_MAX;
        status = trace_scribe_finish(scribe, play.allocator, capacity, err);
    }
    stop(&play);
    return status;
}

/* The number of first events that a torn ring loses: the program is played for that alone. */
static plim_status count_lost(const plim_trace_spec *spec, uint64_t *ret_lost, plim_error *err)
{
    plim_trace_spec plain = *spec;
    plain.leaves_out_stacks = true;
    trace_scribe counter = { .mem = plim_mem_or_heap(spec->mem) };
    plim_trace_outcome outcome;
    PLIM_TRY(play_once(&plain, &counter, &outcome, err));
    *ret_lost = outcome.events > spec->keep_events ? outcome.events - spec->keep_events : 0;
    return PLIM_OK;
}

plim_status plim_trace_make(const plim_trace_spec *spec, plim_history **ret_history,
                            plim_trace_outcome *ret_outcome, plim_error *err)
{
    if ((unsigned)spec->kind >= PLIM_TRACE_KIND_COUNT || spec->events == 0 ||
        spec->events > PLIM_TRACE_EVENTS_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "a trace is of a kind there is and has 1 to 2^31 events");
    }
    trace_scribe scribe = { .mem = plim_mem_or_heap(spec->mem),
                            .has_pools = !spec->leaves_out_pools };
    plim_trace_outcome outcome;
    if (spec->keep_events != 0) {
        PLIM_TRY(count_lost(spec, &scribe.skip, err));
    }
    PLIM_TRY(plim_history_create(scribe.mem, &scribe.history, err));
    const plim_status status = play_once(spec, &scribe, &outcome, err);
    trace_scribe_deinit(&scribe);
    if (status != PLIM_OK) {
        plim_history_destroy(scribe.history);
        return status;
    }
    *ret_history = scribe.history;
    if (ret_outcome != NULL) {
        *ret_outcome = outcome;
    }
    return PLIM_OK;
}
