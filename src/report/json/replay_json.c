/*
 * replay_json.c - the documents `replay/1` and `tune/1`. docs/formats/replay-json.md and
 * docs/formats/tune-json.md describe each member.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "report/json/parts.h"

static void member_event(plim_json *json, const char *key, uint64_t event)
{
    plim_json_member_known_u64(json, key, event != PLIM_NO_EVENT, event);
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
    plim_json_member_known_u64(json, "capacity_bytes",
                               facts->capacity_source != PLIM_CAPACITY_UNKNOWN,
                               facts->capacity_bytes);
    plim_json_member_string(json, "capacity_source", source_name(facts->capacity_source));
    plim_json_member_bool(json, "is_capacity_bound",
                          facts->capacity_source == PLIM_CAPACITY_RETRIES);
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
    plim_json_member_object(json, "doubts");
    for (int i = 0; i < PLIM_CAVEAT_COUNT; i++) {
        if (fidelity->caveats[i] > 0) {
            plim_json_member_u64(json, plim_caveat_name((plim_caveat)i), fidelity->caveats[i]);
        }
    }
    plim_json_end_object(json);
}

static void write_fidelities(plim_json *json, const plim_replay_input *input)
{
    const plim_fidelity all = plim_replay_fidelity_of_all(input);
    plim_json_member_object(json, "fidelity");
    write_fidelity(json, &all);
    plim_json_member_array(json, "devices");
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
    plim_json_member_array(json, "scales");
    for (size_t i = 0; i < input->scale_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "what", input->scales[i].what);
        plim_json_member_double(json, "factor", input->scales[i].factor);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_input(plim_json *json, const plim_replay_input *input)
{
    plim_json_member_string(json, "file", input->path);
    plim_json_member_known_u64(json, "capacity_bytes", input->capacity_bytes != PLIM_UNLIMITED,
                               input->capacity_bytes);
    plim_json_member_string(json, "capacity_source", plim_replay_capacity_name(input));
    plim_json_member_bool(json, "is_capacity_bound", plim_replay_is_capacity_bound(input));
    plim_json_member_u64(json, "floor_bytes", plim_replay_floor_bytes(input));
    write_scales(json, input);
    plim_json_member_array(json, "devices");
    for (size_t i = 0; i < input->device_count; i++) {
        write_facts(json, &input->facts[i]);
    }
    plim_json_end_array(json);
    write_fidelities(json, input);
}

/* ---- a result -------------------------------------------------------------------------------- */

static void write_calls(plim_json *json, const plim_run_result *result, bool is_run)
{
    plim_json_member_object(json, "driver_calls");
    for (int i = 0; i < PLIM_DEVICE_CALL_COUNT; i++) {
        plim_json_member_known_u64(json, plim_device_call_name((plim_device_call)i), is_run,
                                   result->driver_calls[i]);
    }
    plim_json_end_object(json);
    plim_json_member_known_double(json, "driver_time_us", is_run, result->driver_time_us);
}

static void member_string_of(plim_json *json, const char *key, const plim_history *history,
                             uint32_t string)
{
    size_t bytes = 0;
    const char *text = plim_history_string(history, string, &bytes);
    plim_json_key(json, key);
    plim_json_string_bytes(json, text, bytes);
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
    plim_json_begin_object(json);
    member_string_of(json, "filename", input->history, frame->filename);
    plim_json_member_u64(json, "line", frame->line);
    member_string_of(json, "name", input->history, frame->name);
    plim_json_end_object(json);
}

static void write_failure(plim_json *json, const plim_replay_input *input,
                          const plim_run_result *result)
{
    const bool has_failed = result->failed_event != PLIM_NO_EVENT;
    member_event(json, "failed_event", result->failed_event);
    plim_json_member_known_u64(json, "failed_bytes", has_failed, result->failed_bytes);
    plim_json_member_known_u64(json, "failed_reserved_bytes", has_failed,
                               result->failed_reserved_bytes);
    plim_json_member_known_u64(json, "failed_allocated_bytes", has_failed,
                               result->failed_allocated_bytes);
    if (has_failed) {
        plim_json_member_object(json, "failed_request");
        const plim_failure failure = plim_failure_of(&result->failure);
        plim_json_failure(json, &failure);
        plim_json_end_object(json);
    } else {
        plim_json_key(json, "failed_request");
        plim_json_null(json);
    }
    plim_json_member_known_bool(json, "was_oom", has_failed, result->was_oom);
    write_failed_frame(json, input, result);
}

/* result  NULL: there was no run, the start does not fit */
static void write_result(plim_json *json, const plim_replay_input *input,
                         const plim_run_result *result)
{
    static const plim_run_result none = { .device = PLIM_ALL_DEVICES,
                                          .failed_event = PLIM_NO_EVENT };
    const bool is_run = result != NULL;
    const plim_run_result *one = is_run ? result : &none;
    /* Without a known capacity no request fails, which is no survival; what fails with
     * the least the device had may survive. */
    const bool survives = is_run && one->survives;
    plim_json_member_known_bool(json, "survives",
                                input->capacity_bytes != PLIM_UNLIMITED &&
                                    (survives || !plim_replay_is_capacity_bound(input)),
                                survives);
    plim_json_member_known_u64(json, "device", is_run && one->device >= 0,
                               (uint64_t)(uint32_t)one->device);
    plim_json_member_known_u64(json, "peak_reserved_bytes", is_run, one->peak_reserved_bytes);
    plim_json_member_known_u64(json, "peak_allocated_bytes", is_run, one->peak_allocated_bytes);
    plim_json_member_known_u64(json, "peak_requested_bytes", is_run, one->peak_requested_bytes);
    const bool has_peak = is_run && one->reserved_at_peak_bytes > 0;
    plim_json_member_known_double(json, "fragmentation", is_run,
                                  plim_replay_fragmentation(one)); /* null: NaN */
    plim_json_member_known_u64(json, "reserved_at_peak_bytes", has_peak,
                               one->reserved_at_peak_bytes);
    plim_json_member_known_u64(json, "allocated_at_peak_bytes", has_peak,
                               one->allocated_at_peak_bytes);
    plim_json_member_known_u64(json, "end_reserved_bytes", is_run, one->end_reserved_bytes);
    plim_json_member_known_u64(json, "events", is_run, one->events);
    write_calls(json, one, is_run);
    plim_json_member_known_u64(json, "retries", is_run, one->retries);
    plim_json_member_known_u64(json, "ooms_survived", is_run, one->ooms_survived);
    plim_json_member_known_u64(json, "start_released_bytes", is_run, one->start_released_bytes);
    write_failure(json, input, one);
}

static void write_empty_cache(plim_json *json, const plim_replay_row *row)
{
    static const char *const names[] = { NULL, "at_event", "after_steps" }; /* as in the enum */
    plim_json_member_optional_string(json, "empty_cache", names[row->empty_cache]);
    member_event(json, "empty_cache_event",
                 row->empty_cache == PLIM_EMPTY_AT_EVENT ? row->empty_cache_event : PLIM_NO_EVENT);
}

static void write_row(plim_json *json, const plim_replay_input *input, const plim_replay_row *row)
{
    plim_json_member_string(json, "conf", row->conf->text);
    plim_json_member_string(json, "policy", plim_policy_name(row->conf->policy));
    plim_json_member_bool(json, "is_recorded", row->is_recorded);
    write_empty_cache(json, row);
    plim_json_member_known_u64(json, "min_capacity_bytes", row->min_capacity_bytes > 0,
                               row->min_capacity_bytes);
    plim_json_member_bool(json, "is_min_capacity_bound", row->is_min_capacity_bound);
    plim_json_member_optional_string(json, "failure", row->failure);
    write_result(json, input, row->result);
    plim_json_member_array(json, "by_device");
    for (size_t i = 0; row->results != NULL && i < input->device_count; i++) {
        plim_json_begin_object(json);
        write_result(json, input, &row->results[i]);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* ---- documents ------------------------------------------------------------------------------- */

plim_status plim_replay_json_write(plim_sink sink, const plim_replay_input *input,
                                   const plim_replay_rows *rows, const plim_page *page,
                                   plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "replay/1", page, err));
    write_input(&json, input);
    write_row(&json, input, &rows->items[rows->asked]);
    plim_json_member_array(&json, "results");
    for (size_t i = 0; i < rows->count; i++) {
        plim_json_begin_object(&json);
        write_row(&json, input, &rows->items[i]);
        plim_json_end_object(&json);
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}

static void write_searched(plim_json *json, const plim_replay_input *input,
                           const plim_tuning *tuning, size_t index)
{
    const plim_tune_row *searched = &tuning->rows[index];
    const plim_replay_row row = plim_tune_row_of(tuning, index);
    plim_json_begin_object(json);
    write_row(json, input, &row);
    plim_json_member_bool(json, "is_given", searched->is_given);
    plim_json_member_optional_string(json, "needs_torch",
                                     plim_release_text(searched->needs_torch).text);
    plim_json_member_bool(json, "is_too_new", searched->is_too_new);
    plim_json_member_bool(json, "is_start_requested", searched->is_start_requested);
    plim_json_end_object(json);
}

plim_status plim_tune_json_write(plim_sink sink, const plim_replay_input *input,
                                 const plim_tuning *tuning, const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "tune/1", page, err));
    write_input(&json, input);
    plim_json_member_string(&json, "best", tuning->rows[tuning->best].conf.text);
    plim_json_member_u64(&json, "best_index", tuning->best);
    plim_json_member_u64(&json, "recorded_index", tuning->recorded);
    plim_json_member_u64(&json, "baseline_index", tuning->baseline);
    plim_json_member_u64(&json, "reference_index", tuning->reference);
    plim_json_member_known_u64(&json, "hardly_better_index", tuning->hardly_better != SIZE_MAX,
                               tuning->hardly_better);
    plim_json_member_double(&json, "gain", tuning->gain);
    plim_json_member_bool(&json, "is_saved", tuning->is_saved);
    plim_json_member_bool(&json, "is_hopeless", tuning->is_hopeless);
    plim_json_member_bool(&json, "is_incomplete", tuning->is_incomplete);
    plim_json_member_u64(&json, "runs", tuning->runs);
    plim_json_member_array(&json, "results");
    for (size_t i = 0; i < tuning->row_count; i++) {
        write_searched(&json, input, tuning, i);
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}
