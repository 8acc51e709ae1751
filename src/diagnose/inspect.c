/*
 * inspect.c - the facts of each device, in the order in which they build on each other:
 *
 *   trace facts -> start -> end state -> one walk: peak, ooms, timeline -> groups -> truncation
 *
 * All results live in one arena; what working needs is freed before the next device.
 */
#include "plimsoll/inspect.h"

#include "base/assert.h"
#include "base/error.h"
#include "diagnose/end_state.h"
#include "diagnose/groups.h"
#include "diagnose/trace_facts.h"
#include "diagnose/walk.h"
#include "history/setting_words.h"
#include "settings/recorded.h"
#include "settings/rounding.h"

#include <string.h>

#define TIMELINE_BINS_DEFAULT 256u

struct plim_inspection {
    const plim_mem *mem;
    plim_arena arena;
    plim_device_inspection *devices; /* in the arena */
    size_t device_count;
    uint64_t anomalies[PLIM_ANOMALY_COUNT];
};

/* What inspecting a history needs for all its devices. */
typedef struct work {
    const plim_history *history;
    plim_inspection *inspection;
    plim_grouper grouper;
    plim_settings settings;
    plim_rounding rounding; /* of these */
    bool is_other_allocator;
    uint32_t bins_max;
} work;

static void tell_start(const plim_cursor *at_start, plim_device_inspection *facts)
{
    const plim_figures figures = plim_cursor_figures(at_start);
    facts->start_requested_bytes = figures.requested_bytes;
    facts->start_live_count = figures.live_count;
    facts->start_reserved_bytes = figures.reserved_bytes;
}

/* Room for what the walk finds; false when there is no memory. */
static bool make_room(plim_walk *walk, const work *job, const plim_device_history *device,
                      size_t oom_count)
{
    plim_arena *const arena = &job->inspection->arena;
    walk->oom_count = oom_count;
    if (oom_count > 0) {
        walk->ooms = plim_arena_alloc(arena, oom_count * sizeof *walk->ooms);
    }
    plim_walk_plan_bins(walk, device->events.count, job->bins_max);
    walk->bins = plim_arena_alloc(arena, walk->bin_count * sizeof *walk->bins);
    return walk->bins != NULL && (oom_count == 0 || walk->ooms != NULL);
}

static plim_status walk_device(work *job, const plim_device_history *device,
                               const plim_timeline *timeline, plim_device_inspection *facts,
                               plim_error *err)
{
    plim_cursor cursor;
    plim_cursor_init(&cursor, timeline);
    tell_start(&cursor, facts);
    plim_walk walk = { 0 };
    if (!make_room(&walk, job, device, facts->oom_count)) {
        return plim_fail_memory(err, "inspecting the history");
    }
    plim_walk_events(&walk, &cursor);
    plim_arena *const arena = &job->inspection->arena;
    PLIM_TRY(plim_group_moment(&job->grouper, timeline, arena, &walk.peak, err));
    for (size_t i = 0; i < walk.oom_count && i < PLIM_OOM_GROUPS_MAX; i++) {
        PLIM_TRY(plim_group_moment(&job->grouper, timeline, arena, &walk.ooms[i].moment, err));
    }
    for (size_t i = 0; i < walk.oom_count; i++) {
        plim_oom_moment *const oom = &walk.ooms[i];
        const uint64_t bytes = oom->requested_bytes; /* as the file claims */
        oom->segment_bytes = bytes > 0 && bytes <= PLIM_REQUEST_BYTES_END
                                 ? plim_segment_size(&job->settings, bytes)
                                 : bytes;
        oom->user_frame = plim_group_user_frame(&job->grouper, oom->stack);
    }
    facts->peak = walk.peak;
    facts->ooms = walk.ooms;
    if (device->events.count > 0 || device->segment_count > 0) {
        facts->timeline = walk.bins;
        facts->timeline_count = walk.bin_count;
    }
    job->inspection->anomalies[PLIM_ANOMALY_SNAPSHOT_CHECK] += walk.snapshot_mismatches;
    return PLIM_OK;
}

static uint64_t round_with(const void *rounding, uint64_t requested_bytes)
{
    return plim_round(rounding, requested_bytes);
}

/* How the allocator of the recording cut blocks. */
static plim_block_rule rule_of(const work *job)
{
    return (plim_block_rule){ .round = job->rounding.has_divisions ? round_with : NULL,
                              .ctx = &job->rounding,
                              .max_split_bytes = job->settings.max_split_bytes,
                              .is_other = job->is_other_allocator };
}

static plim_status inspect_device(work *job, const plim_device_history *device,
                                  plim_device_inspection *facts, plim_error *err)
{
    plim_inspection *const inspection = job->inspection;
    plim_arena *const arena = &inspection->arena;
    *facts = (plim_device_inspection){ 0 };
    PLIM_TRY(plim_trace_facts_of(job->history, device, arena, facts, inspection->anomalies, err));
    facts->end = plim_end_state_of(device, inspection->anomalies);
    PLIM_TRY(
        plim_pool_states_of(job->history, device, arena, &facts->pools, &facts->pool_count, err));
    const plim_timeline_options options = { .mem = inspection->mem, .rule = rule_of(job) };
    plim_timeline timeline;
    PLIM_TRY(plim_timeline_init(&timeline, job->history, device, &options, err));
    for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        inspection->anomalies[i] += plim_timeline_anomaly_count(&timeline, (plim_anomaly)i);
    }
    const plim_free_halves halves = plim_timeline_halves(&timeline);
    const plim_status status = walk_device(job, device, &timeline, facts, err);
    plim_timeline_deinit(&timeline);
    PLIM_TRY(status);
    return plim_judge_truncation(job->history, device, halves, arena, facts, err);
}

static plim_status inspect_devices(work *job, plim_error *err)
{
    plim_inspection *const inspection = job->inspection;
    const size_t count = plim_history_device_count(job->history);
    if (count == 0) {
        return PLIM_OK;
    }
    inspection->devices = plim_arena_alloc(&inspection->arena, count * sizeof *inspection->devices);
    if (inspection->devices == NULL) {
        return plim_fail_memory(err, "inspecting the history");
    }
    for (size_t i = 0; i < count; i++) {
        PLIM_TRY(inspect_device(job, plim_history_device(job->history, i), &inspection->devices[i],
                                err));
        inspection->device_count++;
    }
    return PLIM_OK;
}

/* A conf that begins with a word of its own names another allocator than PyTorch's ("bfc"). */
static bool names_other(const plim_recorded_settings *recorded)
{
    const size_t first = strcspn(recorded->conf, ":,");
    return recorded->conf[0] != '\0' && recorded->conf[first] != ':';
}

/* What was in force when the history was recorded. */
static void read_settings(work *job)
{
    plim_recorded_settings recorded = { .conf = "" };
    uint64_t count = 0;
    const plim_setting *const rows = plim_history_settings(job->history, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_setting_words words;
        plim_setting_words_of(job->history, &rows[i], &words);
        plim_recorded_setting_add(&recorded, words.group, words.name, words.value);
    }
    job->settings = plim_settings_default();
    if (plim_settings_parse(recorded.conf, &job->settings, NULL) != PLIM_OK) {
        job->settings = plim_settings_default(); /* the values say it, too */
    }
    plim_recorded_settings_apply(&recorded, &job->settings);
    job->rounding = plim_rounding_of(&job->settings);
    job->is_other_allocator =
        names_other(&recorded) || job->settings.backend != PLIM_BACKEND_NATIVE;
}

plim_status plim_inspect(const plim_history *history, const plim_inspect_options *options,
                         plim_inspection **ret_inspection, plim_error *err)
{
    const plim_inspect_options chosen = options != NULL ? *options : (plim_inspect_options){ 0 };
    const plim_mem *const mem = plim_mem_or_heap(chosen.mem);
    plim_inspection *const inspection = plim_mem_alloc_zeroed(mem, 1, sizeof *inspection);
    if (inspection == NULL) {
        return plim_fail_memory(err, "inspecting the history");
    }
    inspection->mem = mem;
    plim_arena_init(&inspection->arena, mem);
    work job = { .history = history,
                 .inspection = inspection,
                 .bins_max =
                     chosen.timeline_bins > 0 ? chosen.timeline_bins : TIMELINE_BINS_DEFAULT };
    read_settings(&job);
    plim_status status = plim_grouper_init(&job.grouper, history, mem, err);
    if (status == PLIM_OK) {
        status = inspect_devices(&job, err);
    }
    plim_grouper_deinit(&job.grouper);
    if (status != PLIM_OK) {
        plim_inspection_destroy(inspection);
        return status;
    }
    for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        inspection->anomalies[i] += plim_history_anomaly_count(history, (plim_anomaly)i);
    }
    *ret_inspection = inspection;
    return PLIM_OK;
}

void plim_inspection_destroy(plim_inspection *inspection)
{
    if (inspection == NULL) {
        return;
    }
    plim_arena_deinit(&inspection->arena);
    plim_mem_free(inspection->mem, inspection, 1, sizeof *inspection);
}

size_t plim_inspection_device_count(const plim_inspection *inspection)
{
    return inspection->device_count;
}

const plim_device_inspection *plim_inspection_device(const plim_inspection *inspection,
                                                     size_t index)
{
    PLIM_ASSERT(index < inspection->device_count);
    return &inspection->devices[index];
}

uint64_t plim_inspection_anomaly_count(const plim_inspection *inspection, plim_anomaly anomaly)
{
    PLIM_ASSERT((size_t)anomaly < PLIM_ANOMALY_COUNT);
    return inspection->anomalies[anomaly];
}
