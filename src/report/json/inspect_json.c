/*
 * inspect_json.c - the document `inspect/1`.
 *
 * Written straight to the sink, a value at a time: nothing is kept, whatever a file's size.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "base/json_out.h"
#include "report/json/parts.h"
#include "report/model/ranks.h"

static void write_group(plim_json *json, const plim_history *history, const plim_stack_group *group)
{
    plim_json_begin_object(json);
    plim_json_member_u64(json, "bytes", group->bytes);
    plim_json_member_u64(json, "count", group->count);
    plim_json_user_frame(json, group->user_frame);
    plim_json_member_u64(json, "before_recording_bytes", group->before_recording_bytes);
    plim_json_member_u64(json, "before_recording_count", group->before_recording_count);
    plim_json_member_u64(json, "stack_of_free_count", group->stack_of_free_count);
    plim_json_member_known_i64(json, "first_born_event", group->first_born >= 0, group->first_born);
    plim_json_member_known_i64(json, "last_born_event", group->last_born >= 0, group->last_born);
    plim_json_frames(json, history, group->stack);
    plim_json_end_object(json);
}

static void write_list(plim_json *json, const plim_history *history, const plim_stack_group *groups,
                       size_t count)
{
    plim_json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        write_group(json, history, &groups[i]);
    }
    plim_json_end_array(json);
}

static void write_categories(plim_json *json, const plim_moment *moment)
{
    plim_json_key(json, "by_category");
    if (moment->categories == NULL) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    for (int i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        if (moment->categories[i].count > 0) {
            plim_json_member_object(json, plim_category_name((plim_category)i));
            plim_json_member_u64(json, "bytes", moment->categories[i].bytes);
            plim_json_member_u64(json, "count", moment->categories[i].count);
            plim_json_end_object(json);
        }
    }
    plim_json_end_object(json);
}

static void write_groups(plim_json *json, const plim_history *history, const plim_moment *moment)
{
    /* Beyond PLIM_OOM_GROUPS_MAX nothing is grouped. */
    const bool is_grouped =
        moment->group_count > 0 || moment->live_count == 0 || moment->is_filtered;
    plim_json_member_known_u64(json, "grouped_bytes", is_grouped, moment->grouped_bytes);
    plim_json_member_known_u64(json, "grouped_count", is_grouped, moment->grouped_count);
    write_categories(json, moment);
    plim_json_key(json, "by_stack");
    if (is_grouped) {
        write_list(json, history, moment->groups, moment->group_count);
    } else {
        plim_json_null(json);
    }
}

/* ---- moments -------------------------------------------------------------------------------- */

/* The object is begun. */
static void write_moment(plim_json *json, const plim_history *history, const plim_moment *moment)
{
    plim_json_member_i64(json, "event", moment->event);
    plim_json_member_time(json, "time_us", moment->time_us);
    plim_json_member_u64(json, "requested_bytes", moment->requested_bytes);
    plim_json_moment_figures(json, moment);
    write_groups(json, history, moment);
    plim_json_end_object(json);
}

/* The moment of --at. */
static void write_chosen(plim_json *json, const plim_history *history,
                         const plim_device_inspection *device)
{
    plim_json_member_optional_string(json, "no_chosen_because", device->no_chosen_because);
    plim_json_key(json, "chosen");
    if (!device->has_chosen) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_known_u64(json, "step", device->chosen_step != PLIM_NO_STEP,
                               device->chosen_step);
    write_moment(json, history, &device->chosen);
}

static void write_never_freed(plim_json *json, const plim_history *history,
                              const plim_never_freed *kept)
{
    plim_json_member_object(json, "never_freed");
    plim_json_member_u64(json, "bytes", kept->bytes);
    plim_json_member_u64(json, "count", kept->count);
    plim_json_member_u64(json, "before_recording_bytes", kept->before_bytes);
    plim_json_member_u64(json, "before_recording_count", kept->before_count);
    plim_json_key(json, "by_stack");
    write_list(json, history, kept->groups, kept->group_count);
    plim_json_end_object(json);
}

static void write_ooms(plim_json *json, const plim_inspect_file *file,
                       const plim_device_inspection *device)
{
    plim_json_member_array(json, "ooms");
    for (size_t i = 0; i < device->oom_count; i++) {
        const plim_oom_moment *oom = &device->ooms[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "event", oom->event);
        plim_json_member_time(json, "time_us", plim_inspect_oom_time(file, device, oom));
        plim_json_member_u64(json, "requested_bytes", oom->requested_bytes);
        plim_json_member_known_u64(json, "device_free_bytes", oom->has_device_free,
                                   oom->device_free_bytes);
        const plim_failed_request request = plim_oom_request(device, i);
        const plim_failure failure = plim_failure_of(&request);
        plim_json_failure(json, &failure);
        plim_json_user_frame(json, oom->user_frame);
        plim_json_frames(json, file->history, oom->stack);
        plim_json_member_u64(json, "live_requested_bytes", oom->moment.requested_bytes);
        plim_json_moment_figures(json, &oom->moment);
        write_groups(json, file->history, &oom->moment);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void write_state(plim_json *json, const plim_end_state *state)
{
    plim_json_member_u64(json, "requested_bytes", state->requested_bytes);
    plim_json_member_u64(json, "allocated_bytes", state->allocated_bytes);
    plim_json_member_u64(json, "active_bytes", state->active_bytes);
    plim_json_member_u64(json, "pending_free_bytes", state->pending_free_bytes);
    plim_json_member_u64(json, "reserved_bytes", state->reserved_bytes);
    plim_json_member_u64(json, "inactive_split_bytes", state->inactive_split_bytes);
    plim_json_member_u64(json, "releasable_bytes", state->releasable_bytes);
    plim_json_member_u64(json, "largest_free_block_bytes", state->largest_free_block_bytes);
    plim_json_member_u64(json, "segments", state->segments);
    plim_json_member_u64(json, "blocks", state->blocks);
    plim_json_member_double(json, "fragmentation", state->fragmentation);
}

static void write_pools(plim_json *json, const plim_device_inspection *device)
{
    plim_json_member_array(json, "pools");
    for (size_t i = 0; i < device->pool_count; i++) {
        const plim_pool_state *pool = &device->pools[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "stream", pool->stream);
        plim_json_member_array(json, "pool_id");
        plim_json_u64(json, pool->pool.a);
        plim_json_u64(json, pool->pool.b);
        plim_json_end_array(json);
        plim_json_member_string(json, "size_class", pool->is_large ? "large" : "small");
        plim_json_member_bool(json, "expandable", pool->is_expandable);
        write_state(json, &pool->state);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_timeline(plim_json *json, const plim_device_inspection *device)
{
    plim_json_member_array(json, "timeline");
    for (size_t i = 0; i < device->timeline_count; i++) {
        const plim_timeline_bin *bin = &device->timeline[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "event_first", bin->event_first);
        plim_json_member_u64(json, "allocated_bytes_max", bin->allocated_bytes_max);
        plim_json_member_u64(json, "reserved_bytes_max", bin->reserved_bytes_max);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* ---- devices -------------------------------------------------------------------------------- */

static void write_events(plim_json *json, const plim_device_inspection *device)
{
    plim_json_member_u64(json, "events", device->events);
    plim_json_member_object(json, "events_by_action");
    for (size_t i = 0; i < device->action_count; i++) {
        plim_json_member_u64(json, device->actions[i].action, device->actions[i].count);
    }
    plim_json_end_object(json);
    plim_json_member_u64(json, "events_without_stack", device->events_without_stack);
    plim_json_member_known_u64(json, "duration_us", device->has_times, device->duration_us);
    plim_json_member_bool(json, "truncated", device->truncated);
    plim_json_member_optional_string(json, "truncated_because", device->truncated_because);
    plim_json_member_bool(json, "late_start", device->late_start);
}

static void write_device(plim_json *json, const plim_inspect_file *file,
                         const plim_device_inspection *device)
{
    plim_json_begin_object(json);
    plim_json_member_i64(json, "device", device->device);
    write_events(json, device);
    plim_json_member_object(json, "start");
    plim_json_member_u64(json, "requested_bytes", device->start_requested_bytes);
    plim_json_member_u64(json, "live_count", device->start_live_count);
    plim_json_member_u64(json, "reserved_bytes", device->start_reserved_bytes);
    plim_json_end_object(json);
    plim_json_member_object(json, "end");
    write_state(json, &device->end);
    plim_json_end_object(json);
    plim_json_member_object(json, "peak");
    write_moment(json, file->history, &device->peak);
    write_chosen(json, file->history, device);
    plim_json_member_object(json, "end_live");
    write_moment(json, file->history, &device->end_live);
    write_never_freed(json, file->history, &device->never_freed);
    write_ooms(json, file, device);
    write_pools(json, device);
    write_timeline(json, device);
    plim_json_end_object(json);
}

/* GPUs in an array; pinned host memory, which is no GPU, as a member of its own. */
static void write_devices(plim_json *json, const plim_inspect_view *view,
                          const plim_inspect_file *file)
{
    const plim_device_inspection *host = NULL;
    plim_json_member_array(json, "devices");
    for (size_t i = 0; i < file->device_count; i++) {
        const plim_device_inspection *device = file->devices[i];
        if (!plim_inspect_shows(view, device)) {
            continue;
        }
        if (device->device == PLIM_HOST_DEVICE) {
            host = device;
        } else {
            write_device(json, file, device);
        }
    }
    plim_json_end_array(json);
    if (host != NULL) {
        plim_json_key(json, "host");
        write_device(json, file, host);
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

static void write_setting(plim_json *json, const plim_history *history, const plim_setting *setting)
{
    plim_json_key(json, plim_history_string(history, setting->name, NULL));
    switch (setting->kind) {
    case PLIM_SETTING_NONE:
        plim_json_null(json);
        break;
    case PLIM_SETTING_INTEGER:
        plim_json_i64(json, setting->value.integer);
        break;
    case PLIM_SETTING_REAL:
        plim_json_double(json, setting->value.real);
        break;
    case PLIM_SETTING_BOOLEAN:
        plim_json_bool(json, setting->value.boolean);
        break;
    case PLIM_SETTING_TEXT:
        plim_json_history_string(json, history, setting->value.text);
        break;
    }
}

/* As in the file: settings of one table, which follow each other, share an object. */
static void write_settings(plim_json *json, const plim_history *history)
{
    uint64_t count = 0;
    const plim_setting *settings = plim_history_settings(history, &count);
    uint32_t group = PLIM_NONE;
    plim_json_member_object(json, "settings");
    for (uint64_t i = 0; i < count; i++) {
        if (settings[i].group != group && group != PLIM_NONE) {
            plim_json_end_object(json);
        }
        if (settings[i].group != group && settings[i].group != PLIM_NONE) {
            plim_json_key(json, plim_history_string(history, settings[i].group, NULL));
            plim_json_begin_object(json);
        }
        group = settings[i].group;
        write_setting(json, history, &settings[i]);
    }
    if (group != PLIM_NONE) {
        plim_json_end_object(json);
    }
    plim_json_end_object(json);
}

static void write_caveats(plim_json *json, const plim_inspect_file *file)
{
    plim_json_member_object(json, "anomalies");
    for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        if (file->anomalies[i] > 0) {
            plim_json_member_u64(json, plim_anomaly_name((plim_anomaly)i), file->anomalies[i]);
        }
    }
    plim_json_end_object(json);
    plim_json_member_array(json, "warnings");
    const size_t count = plim_history_warning_count(file->history);
    for (size_t i = 0; i < count; i++) {
        plim_json_string(json, plim_history_warning(file->history, i));
    }
    plim_json_end_array(json);
}

static void write_file(plim_json *json, const plim_inspect_view *view,
                       const plim_inspect_file *file)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "file", file->path);
    if (file->history == NULL) {
        plim_json_error(json, &file->error);
        plim_json_end_object(json);
        return;
    }
    const plim_source source = plim_history_source(file->history);
    plim_json_member_string(json, "format", source.format);
    plim_json_member_optional_string(json, "compression", source.compression);
    plim_json_member_optional_string(json, "generation", source.generation);
    plim_json_member_known_i64(json, "pickle_protocol", source.pickle_protocol >= 0,
                               source.pickle_protocol);
    plim_json_member_u64(json, "bytes", source.bytes);
    write_settings(json, file->history);
    write_caveats(json, file);
    write_devices(json, view, file);
    plim_json_end_object(json);
}

/* ---- several files -------------------------------------------------------------------------- */

static void write_spread(plim_json *json, const char *key, const plim_ranks *ranks,
                         plim_rank_spread spread)
{
    plim_json_key(json, key);
    if (ranks->row_count == 0) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_u64(json, "max_bytes", spread.max_bytes);
    plim_json_member_u64(json, "min_bytes", spread.min_bytes);
    plim_json_member_double(json, "mean_bytes", spread.mean_bytes);
    plim_json_member_u64(json, "spread_bytes", spread.spread_bytes);
    plim_json_member_double(json, "max_over_mean", spread.max_over_mean);
    plim_json_member_u64(json, "rank_of_max", ranks->rows[spread.max_row].rank);
    plim_json_member_u64(json, "rank_of_min", ranks->rows[spread.min_row].rank);
    plim_json_end_object(json);
}

static void write_ranks(plim_json *json, const plim_ranks *ranks)
{
    plim_json_member_object(json, "ranks");
    plim_json_member_array(json, "rows");
    for (size_t i = 0; i < ranks->row_count; i++) {
        const plim_rank_row *row = &ranks->rows[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "rank", row->rank);
        plim_json_member_string(json, "file", row->file->path);
        plim_json_member_i64(json, "device", row->device->device);
        plim_json_member_u64(json, "peak_requested_bytes", plim_rank_requested(row));
        plim_json_member_u64(json, "peak_reserved_bytes", plim_rank_reserved(row));
        plim_json_member_u64(json, "ooms", row->device->oom_count);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
    plim_json_member_object(json, "skew");
    write_spread(json, "peak_requested", ranks, plim_ranks_spread(ranks, plim_rank_requested));
    write_spread(json, "peak_reserved", ranks, plim_ranks_spread(ranks, plim_rank_reserved));
    plim_json_end_object(json);
    plim_json_end_object(json);
}

plim_status plim_inspect_json_write(plim_sink sink, const plim_inspect_view *view,
                                    const plim_inspect_file *files, size_t count,
                                    const plim_page *page, plim_error *err)
{
    /* All that can fail for want of memory comes before the first byte. */
    plim_json json;
    plim_ranks ranks;
    if (!plim_ranks_init(page->arena.mem, view, files, count, &ranks)) {
        return plim_fail_memory(err, "comparing ranks");
    }
    plim_status status = plim_document_begin(&json, sink, "inspect/1", page, err);
    if (status == PLIM_OK) {
        plim_json_member_optional_string(&json, "at", view->at);
        plim_json_member_optional_string(&json, "stack_pattern", view->stack_pattern);
        plim_json_member_array(&json, "files");
        for (size_t i = 0; i < count; i++) {
            write_file(&json, view, &files[i]);
        }
        plim_json_end_array(&json);
        if (count > 1) {
            write_ranks(&json, &ranks);
        }
        status = plim_document_finish(&json, page, err);
    }
    plim_ranks_deinit(&ranks);
    return status;
}
