/*
 * fit_json.c - the document `fit/1`. See documents.h.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "base/json_out.h"
#include "report/json/parts.h"
#include "report/json/rehearse_parts.h"

static void write_uses(plim_json *json, const plim_fit_trial *trial)
{
    plim_json_member_array(json, "techniques");
    for (size_t i = 0; i < trial->use_count; i++) {
        const plim_fit_use *const use = &trial->uses[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "technique", use->text);
        plim_json_member_string(json, "label", plim_technique_label_name(use->label));
        plim_json_member_optional_string(json, "state", use->state);
        plim_json_member_optional_string(json, "reason", use->reason);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* Null of a trial that was not rehearsed, or came to nothing on a GPU. */
static void write_figures(plim_json *json, const plim_fit_trial *trial)
{
    const bool is_known = !trial->is_predicted && trial->peak.device_bytes > 0;
    plim_json_member_optional_string(
        json, "verdict", trial->is_predicted ? NULL : plim_rehearsed_verdict_name(trial->verdict));
    plim_json_member_known_u64(json, "peak_allocated_bytes", is_known, trial->peak.allocated_bytes);
    plim_json_member_known_u64(json, "peak_reserved_bytes", is_known, trial->peak.reserved_bytes);
    plim_json_member_known_u64(json, "peak_device_bytes", is_known, trial->peak.device_bytes);
    if (is_known) {
        plim_json_rehearsed_bar(json, "peak_device", &trial->bar);
    } else {
        plim_json_key(json, "peak_device");
        plim_json_null(json);
    }
    plim_json_member_known_u64(json, "host_bytes", is_known, trial->host_bytes);
    plim_json_member_known_double(json, "model_seconds", is_known && trial->cost.seconds > 0,
                                  trial->cost.seconds);
    plim_json_member_known_double(json, "slowdown", is_known && trial->slowdown > 0,
                                  trial->slowdown);
}

static void write_trial(plim_json *json, const plim_fit_trial *trial)
{
    plim_json_begin_object(json);
    write_uses(json, trial);
    plim_json_member_optional_string(json, "conf", trial->settings);
    plim_json_member_string(json, "answer", plim_fit_answer_name(trial->answer));
    plim_json_member_optional_string(json, "reason", trial->reason);
    plim_json_member_string(json, "label", plim_technique_label_name(trial->label));
    write_figures(json, trial);
    plim_json_member_bool(json, "is_confirmed", trial->is_confirmed);
    plim_json_member_bool(json, "is_predicted", trial->is_predicted);
    plim_json_member_known_double(json, "seconds", !trial->is_predicted, trial->seconds);
    plim_json_end_object(json);
}

/* An index of "trials"; null without one. */
static void write_index(plim_json *json, const char *key, const plim_fitted *fitted,
                        const plim_fit_trial *trial)
{
    plim_json_member_known_u64(json, key, trial != NULL,
                               trial != NULL ? (uint64_t)(trial - fitted->trials) : 0);
}

static void write_changes(plim_json *json, const plim_fitted *fitted)
{
    plim_json_member_array(json, "changes");
    for (size_t i = 0; i < fitted->change_count; i++) {
        const plim_fit_change *const change = &fitted->changes[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "technique", change->text);
        plim_json_member_optional_string(json, "pytorch", change->pytorch);
        plim_json_member_optional_string(json, "arguments", change->arguments);
        plim_json_member_optional_string(json, "framework", change->framework);
        plim_json_member_optional_string(json, "diff", change->diff);
        plim_json_member_optional_string(json, "note", change->note);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_batch(plim_json *json, const char *key, const plim_fit_batch *batch)
{
    plim_json_member_object(json, key);
    const bool is_known = batch->why_unknown == NULL;
    plim_json_member_optional_string(json, "why_unknown", batch->why_unknown);
    plim_json_member_string(json, "stack", batch->stack);
    plim_json_member_known_u64(json, "now", batch->now > 0, batch->now);
    plim_json_member_known_u64(json, "largest", is_known, batch->largest);
    plim_json_member_optional_string(json, "why_not_more", batch->why_not_more);
    plim_json_member_known_u64(json, "peak_device_bytes", batch->peak.device_bytes > 0,
                               batch->peak.device_bytes);
    plim_json_member_u64(json, "rehearsals", batch->rehearsals);
    plim_json_end_object(json);
}

static void write_cards(plim_json *json, const plim_fitted *fitted)
{
    plim_json_member_array(json, "cards");
    for (size_t i = 0; i < fitted->row_count; i++) {
        const plim_fit_row *const row = &fitted->rows[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "nominal_bytes", row->nominal_bytes);
        plim_json_member_string(json, "gpu", row->gpu->key);
        write_index(json, "trial", fitted, row->trial);
        plim_json_member_u64(json, "device_bytes", row->device_bytes);
        plim_json_member_u64(json, "missing_bytes", row->missing_bytes);
        plim_json_member_known_u64(json, "rows", row->rows > 0, row->rows);
        plim_json_member_known_u64(json, "rows_most", row->rows_most > 0, row->rows_most);
        plim_json_member_known_double(json, "slowdown", row->slowdown > 0, row->slowdown);
        plim_json_member_known_double(json, "step_seconds", row->step_seconds > 0,
                                      row->step_seconds);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

plim_status plim_fit_json_write(plim_sink sink, const char *const *argv, const plim_fitted *fitted,
                                const plim_page *page, plim_error *err)
{
    size_t words = 0;
    while (argv[words] != NULL) {
        words++;
    }
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "fit/1", page, err));
    plim_json_member_bool(&json, "fits", fitted->cheapest != NULL);
    plim_json_strings(&json, "command", argv, words);
    plim_json_rehearsed_gpu(&json, fitted->gpu, fitted->capacity_bytes, 1);
    plim_json_member_array(&json, "trials");
    for (size_t i = 0; i < fitted->trial_count; i++) {
        write_trial(&json, &fitted->trials[i]);
    }
    plim_json_end_array(&json);
    write_index(&json, "plain", fitted, fitted->plain);
    write_index(&json, "cheapest", fitted, fitted->cheapest);
    write_index(&json, "roomy", fitted, fitted->roomy);
    write_index(&json, "smallest", fitted, fitted->smallest);
    plim_json_member_u64(&json, "missing_bytes", fitted->missing_bytes);
    plim_json_member_optional_string(&json, "enough_gpu",
                                     fitted->enough != NULL ? fitted->enough->key : NULL);
    plim_json_member_bool(&json, "is_enough_rehearsed", fitted->is_enough_rehearsed);
    write_changes(&json, fitted);
    plim_json_member_optional_string(&json, "diff", fitted->diff);
    if (fitted->training.stack != NULL) {
        write_batch(&json, "training_batch", &fitted->training);
        write_batch(&json, "evaluation_batch", &fitted->evaluation);
    }
    if (fitted->row_count > 0) {
        write_cards(&json, fitted);
    }
    plim_json_member_optional_string(&json, "stopped", fitted->stopped);
    return plim_document_finish(&json, page, err);
}
