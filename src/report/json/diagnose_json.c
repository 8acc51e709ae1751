/*
 * diagnose_json.c - the document `diagnose/1`.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "base/json_out.h"
#include "report/json/parts.h"

/* ---- places --------------------------------------------------------------------------------- */

static void write_frame_members(plim_json *json, const plim_history *history, uint32_t index)
{
    const plim_frame *const frame = plim_history_frame(history, index);
    size_t bytes = 0;
    const char *text = plim_history_string(history, frame->filename, &bytes);
    plim_json_key(json, "filename");
    plim_json_string_bytes(json, text, bytes);
    plim_json_member_u64(json, "line", frame->line);
    text = plim_history_string(history, frame->name, &bytes);
    plim_json_key(json, "name");
    plim_json_string_bytes(json, text, bytes);
}

static void write_place(plim_json *json, const char *key, const plim_history *history,
                        plim_code_place place)
{
    plim_json_key(json, key);
    if (place.stack == PLIM_NONE && place.frame == PLIM_NONE) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_known_u64(json, "stack", place.stack != PLIM_NONE, place.stack);
    plim_json_key(json, "frame");
    if (place.frame == PLIM_NONE) {
        plim_json_null(json);
    } else {
        plim_json_begin_object(json);
        write_frame_members(json, history, place.frame);
        plim_json_end_object(json);
    }
    plim_json_end_object(json);
}

/* ---- findings ------------------------------------------------------------------------------- */

static void write_figure(plim_json *json, const plim_history *history,
                         const plim_evidence_figure *figure)
{
    switch (figure->unit) {
    case PLIM_FIGURE_BYTES:
    case PLIM_FIGURE_AMOUNT:
    case PLIM_FIGURE_STEP:
        plim_json_member_u64(json, figure->name, (uint64_t)figure->value);
        return;
    case PLIM_FIGURE_BYTES_PER_STEP:
    case PLIM_FIGURE_STEPS:
    case PLIM_FIGURE_SHARE:
        plim_json_member_double(json, figure->name, figure->value);
        return;
    case PLIM_FIGURE_WORD:
        plim_json_member_string(json, figure->name, figure->word);
        return;
    case PLIM_FIGURE_FRAME:
        plim_json_member_object(json, figure->name);
        write_frame_members(json, history, (uint32_t)figure->value);
        plim_json_end_object(json);
        return;
    }
}

static void write_evidence(plim_json *json, const plim_history *history,
                           const plim_diagnosis_finding *finding)
{
    plim_json_member_array(json, "evidence");
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const plim_evidence_line *const line = &finding->evidence[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "id", line->id);
        plim_json_member_string(json, "text", line->text);
        plim_json_member_object(json, "figures");
        for (size_t k = 0; k < line->figure_count; k++) {
            write_figure(json, history, &line->figures[k]);
        }
        plim_json_end_object(json);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_members(plim_json *json, const plim_history *history,
                          const plim_diagnosis_finding *finding)
{
    plim_json_member_array(json, "members");
    for (size_t i = 0; i < finding->member_count; i++) {
        const plim_finding_member *const member = &finding->members[i];
        plim_json_begin_object(json);
        write_place(json, "place", history, member->place);
        plim_json_member_u64(json, "bytes", member->bytes);
        plim_json_member_u64(json, "count", member->count);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_growth(plim_json *json, const plim_diagnosis_finding *finding)
{
    const bool grows = finding->growth_bytes_per_step > 0;
    plim_json_key(json, "growth_bytes_per_step");
    if (grows) {
        plim_json_double(json, finding->growth_bytes_per_step);
    } else {
        plim_json_null(json);
    }
    plim_json_member_array(json, "growth_interval");
    plim_json_double(json, finding->growth_low_bytes_per_step);
    plim_json_double(json, finding->growth_high_bytes_per_step);
    plim_json_end_array(json);
    plim_json_key(json, "period_steps");
    if (finding->period_steps > 0) {
        plim_json_double(json, finding->period_steps);
    } else {
        plim_json_null(json);
    }
    plim_json_member_object(json, "steps");
    plim_json_member_known_u64(json, "first", finding->first_step != PLIM_NO_STEP,
                               finding->first_step);
    plim_json_member_known_u64(json, "last", finding->last_step != PLIM_NO_STEP,
                               finding->last_step);
    plim_json_end_object(json);
    plim_json_key(json, "full_at_step");
    if (finding->has_full_step) {
        plim_json_double(json, finding->full_at_step);
    } else {
        plim_json_null(json);
    }
}

static void write_finding(plim_json *json, const plim_history *history,
                          const plim_diagnosis_finding *finding)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "id", finding->finding.id);
    plim_json_member_string(json, "kind", plim_verdict_name(finding->kind));
    plim_json_member_string(json, "cause", plim_cause_name(finding->cause));
    plim_json_member_bool(json, "decides", finding->decides);
    plim_json_member_string(json, "severity", plim_severity_name(finding->finding.severity));
    plim_json_member_string(json, "certainty", plim_certainty_name(finding->finding.certainty));
    plim_json_member_double(json, "confidence", finding->confidence);
    plim_json_member_u64(json, "bytes", finding->bytes);
    write_growth(json, finding);
    write_place(json, "root", history, finding->root);
    write_place(json, "keeper", history, finding->keeper);
    plim_json_member_double(json, "keeper_confidence", finding->keeper_confidence);
    write_members(json, history, finding);
    write_evidence(json, history, finding);
    plim_json_end_object(json);
}

/* ---- devices -------------------------------------------------------------------------------- */

static void write_device(plim_json *json, const plim_diagnosed *file,
                         const plim_device_diagnosis *device)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "file", file->path);
    plim_json_member_i64(json, "device", device->device);
    plim_json_member_string(json, "verdict", plim_verdict_name(device->verdict));
    plim_json_member_double(json, "confidence", device->confidence);
    plim_json_member_array(json, "findings");
    for (size_t i = 0; i < device->finding_count; i++) {
        write_finding(json, file->history, &device->findings[i]);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

plim_status plim_diagnose_json_write(plim_sink sink, const plim_diagnosed *files, size_t count,
                                     const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "diagnose/1", page, err));
    plim_verdict verdict = PLIM_VERDICT_HEALTHY;
    double confidence = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t d = 0;
             files[i].history != NULL && d < plim_diagnosis_device_count(files[i].diagnosis); d++) {
            const plim_device_diagnosis *const device =
                plim_diagnosis_device(files[i].diagnosis, d);
            if (plim_verdict_precedes(device->verdict, verdict) || confidence == 0) {
                verdict = device->verdict;
                confidence = device->confidence;
            }
        }
    }
    plim_json_member_string(&json, "verdict", plim_verdict_name(verdict));
    plim_json_member_double(&json, "confidence", confidence);
    plim_json_member_array(&json, "devices");
    for (size_t i = 0; i < count; i++) {
        for (size_t d = 0;
             files[i].history != NULL && d < plim_diagnosis_device_count(files[i].diagnosis); d++) {
            write_device(&json, &files[i], plim_diagnosis_device(files[i].diagnosis, d));
        }
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}
