/*
 * run_json.c - the document `run/1`. See documents.h.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "report/json/parts.h"
#include "report/json/rehearse_parts.h"

/* ---- devices --------------------------------------------------------------------------------- */

static void write_users(plim_json *json, const plim_ran_device *device)
{
    plim_json_key(json, "processes");
    if (!device->has_users) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_array(json);
    for (size_t i = 0; i < device->user_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_i64(json, "pid", device->users[i].pid);
        plim_json_member_optional_string(json, "name", device->users[i].name);
        plim_json_member_u64(json, "bytes", device->users[i].bytes);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_devices(plim_json *json, const plim_ran_device *devices, size_t count)
{
    plim_json_member_array(json, "devices");
    for (size_t i = 0; i < count; i++) {
        const plim_ran_device *const device = &devices[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "device", device->device);
        plim_json_member_optional_string(json, "name", device->name);
        plim_json_member_known_u64(json, "total_bytes", device->total_bytes > 0,
                                   device->total_bytes);
        plim_json_member_known_u64(json, "free_bytes", device->has_free, device->free_bytes);
        plim_json_member_u64(json, "allocated_bytes", device->allocated_bytes);
        plim_json_member_u64(json, "reserved_bytes", device->reserved_bytes);
        plim_json_member_u64(json, "active_bytes", device->active_bytes);
        plim_json_member_u64(json, "inactive_split_bytes", device->inactive_split_bytes);
        plim_json_member_u64(json, "peak_allocated_bytes", device->peak_allocated_bytes);
        plim_json_member_u64(json, "peak_reserved_bytes", device->peak_reserved_bytes);
        plim_json_member_u64(json, "retries", device->retries);
        plim_json_member_u64(json, "ooms", device->ooms);
        write_users(json, device);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static void write_generations(plim_json *json, const char *key,
                              const uint64_t counts[PLIM_RAN_GENERATIONS])
{
    plim_json_member_array(json, key);
    for (size_t i = 0; i < PLIM_RAN_GENERATIONS; i++) {
        plim_json_u64(json, counts[i]);
    }
    plim_json_end_array(json);
}

static void write_collector(plim_json *json, const plim_ran_collector *collector)
{
    plim_json_key(json, "collector");
    if (!collector->is_known) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_bool(json, "is_enabled", collector->is_enabled);
    write_generations(json, "thresholds", collector->thresholds);
    write_generations(json, "counts", collector->counts);
    write_generations(json, "collections", collector->collections);
    plim_json_member_u64(json, "frozen", collector->frozen);
    plim_json_end_object(json);
}

static void write_host(plim_json *json, const plim_ran_dump *dump)
{
    plim_json_member_object(json, "host");
    plim_json_member_known_u64(json, "resident_bytes", dump->host_resident_bytes > 0,
                               dump->host_resident_bytes);
    plim_json_member_known_u64(json, "available_bytes", dump->host_available_bytes > 0,
                               dump->host_available_bytes);
    plim_json_end_object(json);
}

static void write_failure(plim_json *json, const plim_ran_dump *dump)
{
    plim_json_key(json, "failure");
    if (!dump->has_failure) {
        plim_json_null(json);
        return;
    }
    const plim_failure failure = plim_failure_of(&dump->failure);
    plim_json_begin_object(json);
    plim_json_member_i64(json, "device", dump->failure.subject.device);
    plim_json_failure(json, &failure);
    plim_json_end_object(json);
}

static void write_dump(plim_json *json, const plim_ran_dump *dump)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "name", dump->name);
    plim_json_member_u64(json, "number", dump->number);
    plim_json_member_string(json, "reason", dump->reason);
    plim_json_member_double(json, "time", dump->time);
    plim_json_member_double(json, "seconds", dump->seconds);
    plim_json_member_u64(json, "step", dump->step);
    plim_json_member_optional_string(json, "error", dump->error);
    plim_json_member_optional_string(json, "where", dump->where);
    plim_json_strings(json, "stack", dump->stack, dump->stack_count);
    plim_json_member_bool(json, "ends_program", dump->ends_program);
    write_failure(json, dump);
    plim_json_member_optional_string(json, "snapshot", dump->snapshot_path);
    plim_json_member_optional_string(json, "why_no_snapshot", dump->why_no_snapshot);
    plim_json_member_optional_string(json, "why_no_history", dump->why_no_history);
    plim_json_member_optional_string(json, "holders", dump->holders_path);
    plim_json_member_optional_string(json, "why_no_holders", dump->why_no_holders);
    plim_json_member_optional_string(json, "settings", dump->settings);
    write_collector(json, &dump->collector);
    write_host(json, dump);
    write_devices(json, dump->devices, dump->device_count);
    plim_json_end_object(json);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void write_ooms(plim_json *json, const plim_ran_process *process)
{
    plim_json_member_u64(json, "oom_count", process->oom_count);
    plim_json_member_array(json, "ooms");
    for (size_t i = 0; i < process->oom_place_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "where", process->ooms[i].where);
        plim_json_member_u64(json, "count", process->ooms[i].count);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_growth(plim_json *json, const plim_ran_process *process)
{
    plim_json_member_array(json, "growth");
    for (size_t i = 0; i < process->growth_count; i++) {
        const plim_ran_growth *const growth = &process->growth[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "device", growth->device);
        plim_json_member_double(json, "bytes_per_step", growth->bytes_per_step);
        plim_json_member_u64(json, "since_step", growth->since_step);
        plim_json_member_optional_string(json, "where", growth->where);
        plim_json_member_known_u64(json, "full_at_step", growth->full_at_step > 0,
                                   growth->full_at_step);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_process(plim_json *json, const plim_ran_process *process)
{
    plim_json_begin_object(json);
    plim_json_member_i64(json, "pid", process->pid);
    plim_json_member_i64(json, "parent_pid", process->parent_pid);
    plim_json_member_u64(json, "rank", process->rank);
    plim_json_member_u64(json, "local_rank", process->local_rank);
    plim_json_member_u64(json, "world_size", process->world_size);
    plim_json_strings(json, "argv", process->argv, process->argv_count);
    plim_json_member_optional_string(json, "python", process->python);
    plim_json_member_optional_string(json, "torch", process->torch);
    plim_json_member_optional_string(json, "cuda", process->cuda);
    plim_json_member_optional_string(json, "driver", process->driver);
    plim_json_member_known_double(json, "started", process->started > 0, process->started);
    plim_json_member_known_double(json, "written", process->written > 0, process->written);
    plim_json_member_string(json, "ended", process->ended);
    plim_json_member_known_i64(json, "exit_status", process->has_exit_status, process->exit_status);
    plim_json_member_optional_string(json, "exception", process->exception);
    plim_json_member_optional_string(json, "stopped_on", process->stopped_on);
    plim_json_member_optional_string(json, "record", process->record);
    plim_json_member_u64(json, "events", process->events);
    plim_json_member_bool(json, "history_is_programs", process->history_is_programs);
    plim_json_member_known_u64(json, "limit_bytes", process->limit_bytes > 0, process->limit_bytes);
    plim_json_member_optional_string(json, "settings_requested", process->settings_requested);
    plim_json_member_optional_string(json, "settings", process->settings);
    plim_json_member_u64(json, "steps", process->steps);
    write_devices(json, process->devices, process->device_count);
    write_ooms(json, process);
    write_growth(json, process);
    plim_json_member_double(json, "agent_seconds", process->agent_seconds);
    plim_json_strings(json, "warnings", process->warnings, process->warning_count);
    plim_json_member_array(json, "dumps");
    for (size_t i = 0; i < process->dump_count; i++) {
        write_dump(json, &process->dumps[i]);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

/* ---- the document ---------------------------------------------------------------------------- */

/* The dump that answers for the run. */
static void write_main(plim_json *json, const plim_ran *ran)
{
    plim_json_key(json, "main");
    if (ran->main_dump == NULL) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_i64(json, "pid", ran->main_process->pid);
    plim_json_member_string(json, "dump", ran->main_dump->name);
    plim_json_member_optional_string(
        json, "snapshot", ran->main_snapshot != NULL ? ran->main_snapshot->snapshot_path : NULL);
    plim_json_end_object(json);
}

static void write_message(plim_json *json, const plim_ran *ran)
{
    plim_json_key(json, "message");
    if (ran->message == NULL) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_string(json, "framework", ran->message->framework);
    plim_json_member_string(json, "excerpt", ran->message->excerpt);
    plim_json_verdict(json, &ran->message->judgement, ran->message->why);
    plim_json_end_object(json);
}

/* Devices as in diagnose/1. */
static void write_diagnosis(plim_json *json, const plim_text *devices)
{
    plim_json_member_array(json, "diagnosis");
    plim_json_written_values(json, devices);
    plim_json_end_array(json);
}

static void write_holders(plim_json *json, const plim_run_found *found)
{
    const size_t count = found->holders != NULL ? plim_holders_count(found->holders) : 0;
    plim_json_member_array(json, "holders");
    for (size_t i = 0; i < count; i++) {
        const plim_holder *const holder = plim_holders_at(found->holders, i);
        plim_json_begin_object(json);
        plim_json_member_string(json, "kind", plim_holder_kind_name(holder->kind));
        plim_json_member_optional_string(json, "text", holder->text);
        plim_json_member_i64(json, "device", holder->device);
        plim_json_member_u64(json, "bytes", holder->bytes);
        plim_json_member_u64(json, "tensors", holder->tensors);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_tuning(plim_json *json, const plim_run_found *found)
{
    plim_json_key(json, "tuning");
    if (found->tuning == NULL) {
        plim_json_null(json);
        return;
    }
    const plim_tune_row *const best = &found->tuning->rows[found->tuning->best];
    plim_json_begin_object(json);
    plim_json_member_bool(json, "is_saved", found->tuning->is_saved);
    plim_json_member_string(json, "best", best->conf.text);
    plim_json_member_u64(json, "capacity_bytes", found->replayed->capacity_bytes);
    plim_json_member_u64(json, "min_capacity_bytes", best->min_capacity_bytes);
    plim_json_member_u64(json, "floor_bytes", found->tuning->floor_bytes);
    plim_json_end_object(json);
}

static void write_facts(plim_json *json, const plim_ran *ran)
{
    plim_json_member_array(json, "command");
    for (const char *const *word = ran->argv; *word != NULL; word++) {
        plim_json_string(json, *word);
    }
    plim_json_end_array(json);
    plim_json_member_i64(json, "exit_status", ran->exit_status);
    plim_json_member_known_i64(json, "signal", ran->launched.signal > 0, ran->launched.signal);
    plim_json_member_double(json, "started", ran->started);
    plim_json_member_double(json, "seconds", ran->launched.seconds);
    plim_json_member_optional_string(json, "folder", ran->folder);
    plim_json_member_bool(json, "died_of_memory", ran->died_of_memory);
    plim_json_member_bool(json, "was_oom_killed", ran->launched.was_oom_killed);
    plim_json_member_optional_string(json, "why_unseen", ran->why_unseen);
    plim_json_member_bool(json, "lacks_gpu", ran->lacks_gpu);
    write_main(json, ran);
    write_message(json, ran);
}

static plim_status write_document(plim_sink sink, const plim_ran *ran, const plim_run_found *found,
                                  const plim_text *devices, const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "run/1", page, err));
    write_facts(&json, ran);
    write_diagnosis(&json, devices);
    write_holders(&json, found);
    write_tuning(&json, found);
    plim_json_member_array(&json, "processes");
    for (size_t i = 0; i < ran->process_count; i++) {
        write_process(&json, &ran->processes[i]);
    }
    plim_json_end_array(&json);
    plim_json_with(&json, ran->techniques, ran->technique_count);
    plim_json_strings(&json, "warnings", ran->warnings, ran->warning_count);
    return plim_document_finish(&json, page, err);
}

plim_status plim_run_json_write(plim_sink sink, const plim_ran *ran, const plim_run_found *found,
                                const plim_page *page, plim_error *err)
{
    plim_text devices = { 0 };
    plim_status status = PLIM_OK;
    if (found->diagnosed != NULL) {
        status = plim_diagnose_json_part(found->diagnosed, &devices, err);
    }
    if (status == PLIM_OK) {
        status = write_document(sink, ran, found, &devices, page, err);
    }
    plim_text_deinit(&devices);
    return status;
}
