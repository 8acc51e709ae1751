/*
 * rehearse_json.c - the document `rehearse/1`. See documents.h.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "base/json_out.h"
#include "report/json/parts.h"
#include "report/json/rehearse_parts.h"

/* Each device as the driver sees it. */
static void write_gpus(plim_json *json, const plim_rehearsal_outcome *outcome)
{
    plim_json_member_array(json, "devices");
    for (uint32_t i = 0; i < outcome->device_count; i++) {
        const plim_rehearsed_gpu *gpu = &outcome->gpus[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "device", i);
        plim_json_rehearsed_bar(json, "peak", &gpu->peak);
        plim_json_member_u64(json, "peak_bytes", gpu->peak_bytes);
        plim_json_member_u64(json, "program_bytes", gpu->program_bytes);
        plim_json_member_u64(json, "context_bytes", gpu->context_bytes);
        plim_json_member_u64(json, "libraries_bytes", gpu->libraries_bytes);
        plim_json_member_u64(json, "driver_reserved_bytes", outcome->gpu->driver_bytes);
        plim_json_member_u64(json, "nvml_v1_peak_bytes",
                             gpu->peak_bytes + outcome->gpu->driver_bytes);
        plim_json_member_u64(json, "waits", gpu->wait_count);
        plim_json_member_u64(json, "waiting_bytes", gpu->waiting_bytes);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* ---- processes ------------------------------------------------------------------------------ */

static void write_phases(plim_json *json, const plim_rehearsed_device *device)
{
    plim_json_member_array(json, "phases");
    for (size_t i = 0; i < device->phase_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "phase", device->phases[i].name);
        plim_json_member_u64(json, "peak_allocated_bytes", device->phases[i].peak_allocated_bytes);
        plim_json_member_u64(json, "peak_reserved_bytes", device->phases[i].peak_reserved_bytes);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_steps(plim_json *json, const plim_rehearsed_device *device)
{
    plim_json_member_array(json, "steps");
    for (size_t i = 0; i < device->step_count; i++) {
        const plim_rehearsed_step *step = &device->steps[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "step", step->step);
        plim_json_member_u64(json, "peak_allocated_bytes", step->peak_allocated_bytes);
        plim_json_member_u64(json, "peak_reserved_bytes", step->peak_reserved_bytes);
        plim_json_member_u64(json, "end_allocated_bytes", step->end_allocated_bytes);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_device(plim_json *json, const plim_rehearsed_device *device)
{
    plim_json_begin_object(json);
    plim_json_member_u64(json, "device", device->device);
    plim_json_member_u64(json, "peak_allocated_bytes", device->peak_allocated_bytes);
    plim_json_member_u64(json, "peak_reserved_bytes", device->peak_reserved_bytes);
    plim_json_member_u64(json, "peak_active_bytes", device->peak_active_bytes);
    plim_json_member_u64(json, "peak_requested_bytes", device->peak_requested_bytes);
    plim_json_member_u64(json, "peak_step", device->peak_step);
    plim_json_member_optional_string(json, "peak_phase", device->peak_phase);
    plim_json_member_u64(json, "allocated_bytes", device->allocated_bytes);
    plim_json_member_u64(json, "reserved_bytes", device->reserved_bytes);
    plim_json_member_u64(json, "alloc_retries", device->alloc_retries);
    plim_json_member_u64(json, "ooms", device->oom_count);
    write_phases(json, device);
    write_steps(json, device);
    plim_json_end_object(json);
}

static void write_ooms(plim_json *json, const plim_rehearsed_process *process)
{
    plim_json_member_array(json, "ooms");
    for (size_t i = 0; i < process->oom_count; i++) {
        const plim_rehearsed_oom *oom = &process->ooms[i];
        plim_json_begin_object(json);
        const plim_figure *const figures = oom->request.figures;
        const plim_failure failure = plim_failure_of(&oom->request);
        plim_json_member_i64(json, "device", oom->request.subject.device);
        plim_json_member_u64(json, "step", oom->step);
        plim_json_member_optional_string(json, "phase", oom->phase);
        plim_json_member_u64(json, "requested_bytes", figures[PLIM_FIGURE_REQUESTED].bytes);
        plim_json_member_u64(json, "device_total_bytes", figures[PLIM_FIGURE_TOTAL].bytes);
        plim_json_member_u64(json, "device_free_bytes", figures[PLIM_FIGURE_FREE].bytes);
        plim_json_failure(json, &failure);
        plim_json_member_optional_string(json, "text", oom->text);
        plim_json_strings(json, "stack", oom->stack, oom->stack_count);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_oom_places(plim_json *json, const plim_rehearsed_process *process)
{
    plim_json_member_u64(json, "oom_count", process->oom_total);
    plim_json_member_array(json, "oom_places");
    for (size_t i = 0; i < process->oom_place_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "where", process->oom_places[i].where);
        plim_json_member_u64(json, "count", process->oom_places[i].count);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_reads(plim_json *json, const plim_rehearsed_process *process)
{
    plim_json_member_array(json, "value_reads");
    for (size_t i = 0; i < process->read_count; i++) {
        const plim_rehearsed_read *read = &process->reads[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "where", read->where);
        plim_json_member_optional_string(json, "what", read->what);
        plim_json_member_optional_string(json, "why", read->why);
        plim_json_member_u64(json, "count", read->count);
        plim_json_strings(json, "stack", read->stack, read->stack_count);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_facts(plim_json *json, const plim_rehearsed_process *process)
{
    plim_json_member_array(json, "facts");
    for (size_t i = 0; i < process->fact_count; i++) {
        const plim_rehearsed_fact *fact = &process->facts[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "kind", fact->kind);
        plim_json_member_string(json, "name", fact->name);
        plim_json_member_string(json, "value", fact->value);
        plim_json_member_optional_string(json, "effect", fact->effect);
        plim_json_member_optional_string(json, "evidence", fact->evidence);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_process(plim_json *json, const plim_rehearsed_process *process)
{
    plim_json_begin_object(json);
    plim_json_member_i64(json, "pid", process->pid);
    plim_json_member_u64(json, "rank", process->rank);
    plim_json_member_u64(json, "world_size", process->world_size);
    plim_json_member_optional_string(json, "torch", process->torch);
    plim_json_member_string(json, "conf", process->settings);
    plim_json_member_string(json, "ended", process->ended);
    plim_json_member_optional_string(json, "stop_reason", process->stop_reason);
    plim_json_member_optional_string(json, "stop_text", process->stop_text);
    plim_json_member_optional_string(json, "exception", process->exception);
    plim_json_member_u64(json, "steps", process->steps);
    plim_json_member_double(json, "import_seconds", process->import_seconds);
    plim_json_member_double(json, "total_seconds", process->total_seconds);
    plim_json_member_array(json, "devices");
    for (size_t i = 0; i < process->device_count; i++) {
        write_device(json, &process->devices[i]);
    }
    plim_json_end_array(json);
    write_ooms(json, process);
    write_oom_places(json, process);
    write_reads(json, process);
    write_facts(json, process);
    plim_json_with(json, process->techniques, process->technique_count);
    plim_json_strings(json, "warnings", process->warnings, process->warning_count);
    plim_json_end_object(json);
}

static void write_calls(plim_json *json, const plim_rehearsal_outcome *outcome)
{
    plim_json_member_array(json, "calls");
    for (size_t i = 0; i < outcome->call_count; i++) {
        const plim_rehearsed_call *call = &outcome->calls[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "function", call->name);
        plim_json_member_string(json, "kind", call->kind);
        plim_json_member_u64(json, "count", call->count);
        plim_json_member_optional_string(json, "note", call->note);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* Settings that were advised and rehearsed. */
static void write_tried(plim_json *json, const plim_rehearsed *rehearsed)
{
    plim_json_member_array(json, "tried");
    for (size_t i = 0; i < rehearsed->tried_count; i++) {
        const plim_rehearsed_tried *one = &rehearsed->tried[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "settings", one->settings);
        plim_json_member_string(json, "verdict", plim_rehearsed_verdict_name(one->verdict));
        plim_json_rehearsed_peak(json, &one->peak);
        plim_json_member_u64(json, "steps", one->steps);
        plim_json_member_bool(json, "has_all", one->has_all);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* The second run, with work that ends late; null without one. */
static void write_late(plim_json *json, const plim_rehearsed_late *late)
{
    plim_json_key(json, "late");
    if (late == NULL) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_optional_string(json, "why_unknown", late->why_unknown);
    plim_json_member_bool(json, "ran_out", late->ran_out);
    plim_json_rehearsed_peak(json, &late->peak);
    plim_json_end_object(json);
}

plim_status plim_rehearse_json_write(plim_sink sink, const plim_rehearsed *rehearsed,
                                     const plim_page *page, plim_error *err)
{
    const plim_rehearsal_outcome *outcome = rehearsed->outcome;
    const plim_rehearsed_peak peak = plim_rehearsed_find_peak(outcome);
    const plim_rehearsed_bar bar = plim_rehearsed_find_bar(outcome);
    size_t words = 0;
    while (rehearsed->argv[words] != NULL) {
        words++;
    }
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "rehearse/1", page, err));
    plim_json_member_string(&json, "verdict",
                            plim_rehearsed_verdict_name(plim_rehearsed_judge(rehearsed)));
    plim_json_rehearsed_reason(&json, &rehearsed->reason);
    plim_json_member_string(&json, "bound",
                            plim_rehearsed_is_at_least(outcome) ? "at_least" : "exact");
    plim_json_strings(&json, "command", rehearsed->argv, words);
    plim_json_member_i64(&json, "exit_status", rehearsed->exit_status);
    plim_json_rehearsed_gpu(&json, outcome->gpu, outcome->capacity_bytes, outcome->device_count);
    plim_json_rehearsed_peak(&json, &peak);
    plim_json_rehearsed_bar(&json, "peak_device", &bar);
    plim_json_key(&json, "oom_verdict");
    if (rehearsed->message != NULL) {
        plim_json_string(&json, plim_verdict_name(rehearsed->message->judgement.verdict));
    } else {
        plim_json_null(&json);
    }
    plim_json_rehearsed_need(&json, rehearsed->need);
    write_tried(&json, rehearsed);
    write_late(&json, rehearsed->late);
    write_gpus(&json, outcome);
    plim_json_member_array(&json, "processes");
    for (size_t i = 0; i < outcome->process_count; i++) {
        write_process(&json, &outcome->processes[i]);
    }
    plim_json_end_array(&json);
    plim_json_with(&json, outcome->techniques, outcome->technique_count);
    plim_json_member_u64(&json, "unanswered", outcome->unanswered_count);
    write_calls(&json, outcome);
    plim_json_strings(&json, "recordings", rehearsed->recordings, rehearsed->recording_count);
    plim_json_strings(&json, "warnings", outcome->warnings, outcome->warning_count);
    return plim_document_finish(&json, page, err);
}

plim_status plim_rehearse_json_write_tries(plim_sink sink, const plim_rehearse_tries *tries,
                                           const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "rehearse/1", page, err));
    plim_json_rehearsed_gpu(&json, tries->gpu, tries->capacity_bytes, tries->device_count);
    plim_json_member_known_u64(&json, "best", tries->best > 0, tries->best);
    plim_json_member_bool(&json, "complete", tries->is_complete);
    plim_json_member_array(&json, "tries");
    for (size_t i = 0; i < tries->count; i++) {
        const plim_rehearse_try *one = &tries->items[i];
        plim_json_begin_object(&json);
        plim_json_member_u64(&json, "value", one->value);
        plim_json_member_string(&json, "verdict", plim_rehearsed_verdict_name(one->verdict));
        plim_json_rehearsed_peak(&json, &one->peak);
        plim_json_member_double(&json, "seconds", one->seconds);
        plim_json_end_object(&json);
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}
