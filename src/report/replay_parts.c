/*
 * replay_parts.c - the members that `replay/1` and `tune/1` have in common.
 * docs/formats/replay-json.md describes each.
 */
#include "report/replay_page.h"

#include <string.h>

static void member_event(plim_json *json, const char *key, uint64_t event)
{
    plim_json_key(json, key);
    if (event == PLIM_NO_EVENT) {
        plim_json_null(json);
    } else {
        plim_json_u64(json, event);
    }
}

static void member_capacity(plim_json *json, uint64_t bytes, bool is_known)
{
    plim_json_key(json, "capacity_bytes");
    if (is_known) {
        plim_json_u64(json, bytes);
    } else {
        plim_json_null(json);
    }
}

/* ---- the recording --------------------------------------------------------------------------- */

static const char *source_name(plim_capacity_source source)
{
    switch (source) {
    case PLIM_CAPACITY_OOM:
        return "oom";
    case PLIM_CAPACITY_RETRIES:
        return "retries";
    case PLIM_CAPACITY_UNKNOWN:
        break;
    }
    return "unknown";
}

static void write_facts(plim_json *json, const plim_replay_facts *facts)
{
    plim_json_begin_object(json);
    plim_json_member_i64(json, "device", facts->device);
    plim_json_member_string(json, "recorded_conf", facts->conf.text);
    plim_json_member_u64(json, "events", facts->events);
    plim_json_member_u64(json, "requests", facts->requests);
    plim_json_member_u64(json, "start_allocations", facts->start_allocations);
    plim_json_member_u64(json, "start_reserved_bytes", facts->start_reserved_bytes);
    plim_json_member_u64(json, "start_live_bytes", facts->start_live_bytes);
    plim_json_member_u64(json, "floor_bytes", facts->floor_bytes);
    member_event(json, "peak_event", facts->peak_event);
    plim_json_member_u64(json, "recorded_peak_reserved_bytes", facts->recorded_peak_reserved_bytes);
    member_capacity(json, facts->capacity_bytes, facts->capacity_source != PLIM_CAPACITY_UNKNOWN);
    plim_json_member_string(json, "capacity_source", source_name(facts->capacity_source));
    member_event(json, "oom_event", facts->oom_event);
    plim_json_member_u64(json, "events_after_oom", facts->events_after_oom);
    plim_json_member_u64(json, "cache_releases", facts->cache_releases);
    plim_json_member_bool(json, "is_torn", facts->is_torn);
    plim_json_end_object(json);
}

static void write_fidelity(plim_json *json, const plim_fidelity *fidelity)
{
    plim_json_member_double(json, "share", fidelity->share);
    plim_json_member_u64(json, "segment_events_recorded", fidelity->segment_events_recorded);
    plim_json_member_u64(json, "segment_events_predicted", fidelity->segment_events_predicted);
    plim_json_member_u64(json, "segment_events_matched", fidelity->segment_events_matched);
    plim_json_member_u64(json, "placements", fidelity->placements);
    plim_json_member_u64(json, "placements_matched", fidelity->placements_matched);
    plim_json_member_u64(json, "reserved_bytes_max_difference",
                         fidelity->reserved_bytes_max_difference);
    plim_json_member_double(json, "reserved_bytes_mean_difference",
                            fidelity->reserved_bytes_mean_difference);
    plim_json_member_u64(json, "recorded_peak_reserved_bytes",
                         fidelity->recorded_peak_reserved_bytes);
    plim_json_member_u64(json, "predicted_peak_reserved_bytes",
                         fidelity->predicted_peak_reserved_bytes);
    member_event(json, "diverges_at_event", fidelity->diverges_at_event);
    plim_json_member_optional_string(json, "divergence", fidelity->divergence);
    plim_json_key(json, "doubts");
    plim_json_begin_object(json);
    for (int i = 0; i < PLIM_DOUBT_COUNT; i++) {
        if (fidelity->doubts[i] > 0) {
            plim_json_member_u64(json, plim_doubt_name((plim_doubt)i), fidelity->doubts[i]);
        }
    }
    plim_json_end_object(json);
}

static void write_fidelities(plim_json *json, const plim_replay_input *input)
{
    const plim_fidelity all = plim_replay_fidelity_of_all(input);
    plim_json_key(json, "fidelity");
    plim_json_begin_object(json);
    write_fidelity(json, &all);
    plim_json_key(json, "devices");
    plim_json_begin_array(json);
    for (size_t i = 0; i < input->device_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_i64(json, "device", input->fidelity[i].device);
        write_fidelity(json, &input->fidelity[i]);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

static void write_scales(plim_json *json, const plim_replay_input *input)
{
    plim_json_key(json, "scales");
    plim_json_begin_array(json);
    for (size_t i = 0; i < input->scale_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "what", input->scales[i].what);
        plim_json_member_double(json, "factor", input->scales[i].factor);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

void plim_replay_json_input(plim_json *json, const plim_replay_input *input)
{
    plim_json_member_string(json, "file", input->path);
    member_capacity(json, input->capacity_bytes, input->capacity_bytes != PLIM_UNLIMITED);
    plim_json_member_string(json, "capacity_source", plim_replay_capacity_name(input));
    plim_json_member_u64(json, "floor_bytes", plim_replay_floor_bytes(input));
    write_scales(json, input);
    plim_json_key(json, "devices");
    plim_json_begin_array(json);
    for (size_t i = 0; i < input->device_count; i++) {
        write_facts(json, &input->facts[i]);
    }
    plim_json_end_array(json);
    write_fidelities(json, input);
}

/* ---- a result -------------------------------------------------------------------------------- */

static void write_calls(plim_json *json, const plim_run_result *result)
{
    plim_json_key(json, "driver_calls");
    plim_json_begin_object(json);
    for (int i = 0; i < PLIM_DEVICE_CALL_COUNT; i++) {
        plim_json_member_u64(json, plim_device_call_name((plim_device_call)i),
                             result->driver_calls[i]);
    }
    plim_json_end_object(json);
    plim_json_member_double(json, "driver_time_us", result->driver_time_us);
}

/* The line of the user's own code whose request failed. */
static void write_failed_frame(plim_json *json, const plim_replay_input *input,
                               const plim_run_result *result)
{
    const uint32_t index = plim_replay_event_frame(input, result->device, result->failed_event);
    plim_json_key(json, "failed_frame");
    if (index == PLIM_NONE) {
        plim_json_null(json);
        return;
    }
    const plim_frame *frame = plim_history_frame(input->history, index);
    size_t bytes = 0;
    plim_json_begin_object(json);
    const char *filename = plim_history_string(input->history, frame->filename, &bytes);
    plim_json_key(json, "filename");
    plim_json_string_bytes(json, filename, bytes);
    plim_json_member_u64(json, "line", frame->line);
    const char *name = plim_history_string(input->history, frame->name, &bytes);
    plim_json_key(json, "name");
    plim_json_string_bytes(json, name, bytes);
    plim_json_end_object(json);
}

static void write_failure(plim_json *json, const plim_replay_input *input,
                          const plim_run_result *result)
{
    member_event(json, "failed_event", result->failed_event);
    if (result->failed_event == PLIM_NO_EVENT) {
        return;
    }
    plim_json_member_u64(json, "failed_bytes", result->failed_bytes);
    plim_json_member_u64(json, "failed_reserved_bytes", result->failed_reserved_bytes);
    plim_json_member_u64(json, "failed_allocated_bytes", result->failed_allocated_bytes);
    plim_json_member_bool(json, "was_oom", result->was_oom);
    write_failed_frame(json, input, result);
}

/* Where nothing is known of the capacity nothing fails, which is no survival. */
static void member_survives(plim_json *json, const plim_replay_input *input, bool survives)
{
    plim_json_key(json, "survives");
    if (input->capacity_bytes == PLIM_UNLIMITED) {
        plim_json_null(json);
    } else {
        plim_json_bool(json, survives);
    }
}

static void write_result(plim_json *json, const plim_replay_input *input,
                         const plim_run_result *result)
{
    plim_json_member_i64(json, "device", result->device);
    plim_json_member_u64(json, "peak_reserved_bytes", result->peak_reserved_bytes);
    plim_json_member_u64(json, "peak_allocated_bytes", result->peak_allocated_bytes);
    plim_json_member_u64(json, "peak_requested_bytes", result->peak_requested_bytes);
    plim_json_key(json, "fragmentation");
    if (result->reserved_at_peak_bytes > 0) {
        plim_json_double(json, result->fragmentation);
    } else {
        plim_json_null(json);
    }
    plim_json_member_u64(json, "reserved_at_peak_bytes", result->reserved_at_peak_bytes);
    plim_json_member_u64(json, "allocated_at_peak_bytes", result->allocated_at_peak_bytes);
    plim_json_member_u64(json, "end_reserved_bytes", result->end_reserved_bytes);
    plim_json_member_u64(json, "events", result->events);
    write_calls(json, result);
    plim_json_member_u64(json, "retries", result->retries);
    plim_json_member_u64(json, "ooms_survived", result->ooms_survived);
    write_failure(json, input, result);
}

static void write_empty_cache(plim_json *json, const plim_replay_row *row)
{
    static const char *const names[] = { NULL, "at_event", "after_steps" }; /* as in the enum */
    plim_json_member_optional_string(json, "empty_cache", names[row->empty_cache]);
    member_event(json, "empty_cache_event",
                 row->empty_cache == PLIM_EMPTY_AT_EVENT ? row->empty_cache_event : PLIM_NO_EVENT);
}

void plim_replay_json_row(plim_json *json, const plim_replay_input *input,
                          const plim_replay_row *row)
{
    plim_json_member_string(json, "conf", row->conf->text);
    plim_json_member_string(json, "policy", plim_policy_name(row->conf->policy));
    plim_json_member_bool(json, "is_recorded", row->is_recorded);
    write_empty_cache(json, row);
    member_survives(json, input, row->result != NULL && row->result->survives);
    plim_json_key(json, "min_capacity_bytes");
    if (row->min_capacity_bytes > 0) {
        plim_json_u64(json, row->min_capacity_bytes);
    } else {
        plim_json_null(json);
    }
    plim_json_member_bool(json, "is_min_capacity_bound", row->is_min_capacity_bound);
    plim_json_member_optional_string(json, "failure", row->failure);
    if (row->result != NULL) {
        write_result(json, input, row->result);
    }
    if (row->results != NULL && input->device_count > 1) {
        plim_json_key(json, "devices");
        plim_json_begin_array(json);
        for (size_t i = 0; i < input->device_count; i++) {
            plim_json_begin_object(json);
            member_survives(json, input, row->results[i].survives);
            write_result(json, input, &row->results[i]);
            plim_json_end_object(json);
        }
        plim_json_end_array(json);
    }
}
