/*
 * diagnose_json.c - the document `diagnose/1`.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "base/json_out.h"
#include "base/numbers.h"
#include "report/json/parts.h"
#include "report/model/ranks.h"

#include <string.h>

/* ---- places --------------------------------------------------------------------------------- */

static void write_string(plim_json *json, const char *key, const plim_history *history,
                         uint32_t string)
{
    size_t bytes = 0;
    const char *const text = plim_history_string(history, string, &bytes);
    plim_json_key(json, key);
    plim_json_string_bytes(json, text, bytes);
}

static void write_frame(plim_json *json, const plim_history *history, uint32_t index)
{
    if (index == PLIM_NONE) {
        plim_json_null(json);
        return;
    }
    const plim_frame *const frame = plim_history_frame(history, index);
    plim_json_begin_object(json);
    write_string(json, "filename", history, frame->filename);
    plim_json_member_u64(json, "line", frame->line);
    write_string(json, "name", history, frame->name);
    plim_json_end_object(json);
}

static void write_place(plim_json *json, const char *key, const plim_history *history,
                        plim_code_place place)
{
    plim_json_key(json, key);
    if (place.stack == PLIM_NONE && place.frame == PLIM_NONE) {
        plim_json_null(json);
        return;
    }
    const plim_stack stack = plim_history_stack(history, place.stack);
    plim_json_begin_object(json);
    plim_json_member_array(json, "stack");
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        write_frame(json, history, stack.frames[i]);
    }
    plim_json_end_array(json);
    plim_json_key(json, "frame");
    write_frame(json, history, place.frame);
    plim_json_end_object(json);
}

/* ---- small things --------------------------------------------------------------------------- */

static void member_step(plim_json *json, const char *key, uint64_t step)
{
    plim_json_member_known_u64(json, key, step != PLIM_NO_STEP, step);
}

static void member_event(plim_json *json, const char *key, int64_t event)
{
    plim_json_member_known_i64(json, key, event >= 0, event);
}

/* ---- findings ------------------------------------------------------------------------------- */

static void write_figure(plim_json *json, const plim_history *history,
                         const plim_evidence_figure *figure)
{
    switch (figure->unit) {
    case PLIM_FIGURE_BYTES:
    case PLIM_FIGURE_AMOUNT:
    case PLIM_FIGURE_STEP:
        plim_json_member_u64(json, figure->name, plim_whole(figure->value));
        return;
    case PLIM_FIGURE_BYTES_PER_STEP:
    case PLIM_FIGURE_STEPS:
    case PLIM_FIGURE_SHARE:
        plim_json_member_double(json, figure->name, figure->value);
        return;
    case PLIM_FIGURE_WORD:
        plim_json_member_optional_string(json, figure->name, figure->word);
        return;
    case PLIM_FIGURE_FRAME:
        plim_json_key(json, figure->name);
        write_frame(json, history, (uint32_t)figure->value);
        return;
    }
}

static void write_evidence(plim_json *json, const plim_history *history,
                           const plim_diagnosis_finding *finding, const char *const *sentences)
{
    plim_json_member_array(json, "evidence");
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const plim_evidence_line *const line = &finding->evidence[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "id", line->id);
        plim_json_member_string(json, "text", sentences[i]);
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
        plim_json_member_u64(json, "bytes", member->bytes);
        plim_json_member_u64(json, "count", member->count);
        plim_json_key(json, "frame");
        write_frame(json, history, member->place.frame);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_growth(plim_json *json, const plim_diagnosis_finding *finding)
{
    const bool grows = finding->growth_bytes_per_step > 0;
    plim_json_member_known_double(json, "growth_bytes_per_step", grows,
                                  finding->growth_bytes_per_step);
    plim_json_member_known_double(json, "growth_low_bytes_per_step", grows,
                                  finding->growth_low_bytes_per_step);
    plim_json_member_known_double(json, "growth_high_bytes_per_step", grows,
                                  finding->growth_high_bytes_per_step);
    plim_json_member_known_double(json, "period_steps", finding->period_steps > 0,
                                  finding->period_steps);
    plim_json_member_object(json, "steps");
    member_step(json, "first", finding->first_step);
    member_step(json, "last", finding->last_step);
    plim_json_end_object(json);
    plim_json_member_known_double(json, "full_at_step", finding->has_full_step,
                                  finding->full_at_step);
}

static const char *subject_name(plim_subject_kind kind)
{
    switch (kind) {
    case PLIM_SUBJECT_STACK:
        return "stack";
    case PLIM_SUBJECT_STEPS:
        return "steps";
    case PLIM_SUBJECT_POOL:
        return "pool";
    case PLIM_SUBJECT_EVENT:
        return "event";
    case PLIM_SUBJECT_TENSOR:
        return "tensor";
    case PLIM_SUBJECT_NONE:
        break;
    }
    return "device";
}

static void write_subject(plim_json *json, const plim_subject *subject)
{
    plim_json_member_object(json, "subject");
    plim_json_member_string(json, "kind", subject_name(subject->kind));
    plim_json_member_i64(json, "device", subject->device);
    if (subject->kind == PLIM_SUBJECT_EVENT) {
        plim_json_member_u64(json, "event", subject->first);
    }
    if (subject->kind == PLIM_SUBJECT_STEPS) {
        plim_json_member_u64(json, "first", subject->first);
        plim_json_member_u64(json, "last", subject->last);
    }
    if (subject->kind == PLIM_SUBJECT_POOL) {
        plim_json_member_array(json, "pool_id");
        plim_json_u64(json, subject->pool[0]);
        plim_json_u64(json, subject->pool[1]);
        plim_json_end_array(json);
        plim_json_member_u64(json, "stream", subject->stream);
    }
    plim_json_end_object(json);
}

static void write_holders(plim_json *json, const plim_diagnosis_finding *finding)
{
    if (finding->holder_count == 0) {
        return;
    }
    plim_json_member_array(json, "holders");
    for (size_t i = 0; i < finding->holder_count; i++) {
        const plim_finding_holder *const holder = &finding->holders[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "kind", plim_holder_kind_name(holder->kind));
        plim_json_member_string(json, "text", holder->text);
        plim_json_member_optional_string(json, "name", holder->name);
        plim_json_member_optional_string(json, "type", holder->type);
        plim_json_member_optional_string(json, "file", holder->file);
        plim_json_member_known_u64(json, "line", holder->line > 0, holder->line);
        plim_json_member_optional_string(json, "function", holder->function);
        plim_json_member_u64(json, "blocks", holder->blocks);
        plim_json_member_u64(json, "bytes", holder->bytes);
        plim_json_member_u64(json, "of_blocks", holder->of_blocks);
        plim_json_member_u64(json, "of_bytes", holder->of_bytes);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_finding(plim_json *json, const plim_history *history,
                          const plim_diagnosis_finding *finding, const char *const *sentences)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "id", finding->finding.id);
    plim_json_member_string(json, "kind", plim_verdict_name(finding->kind));
    plim_json_member_string(json, "cause", plim_cause_name(finding->cause));
    plim_json_member_string(json, "cause_text", plim_finding_cause_text(finding));
    plim_json_member_bool(json, "decides", finding->decides);
    plim_json_member_string(json, "severity", plim_severity_name(finding->finding.severity));
    plim_json_member_string(json, "certainty", plim_certainty_name(finding->finding.certainty));
    plim_json_member_double(json, "confidence", finding->confidence);
    plim_json_member_u64(json, "bytes", finding->bytes);
    write_growth(json, finding);
    write_subject(json, &finding->finding.subject);
    plim_json_member_object(json, "figures");
    for (size_t i = 0; i < finding->finding.figure_count; i++) {
        const plim_measure *const figure = &finding->finding.figures[i];
        plim_json_member_u64(json, figure->name, figure->value);
    }
    plim_json_end_object(json);
    write_place(json, "root", history, finding->root);
    write_place(json, "keeper", history, finding->keeper);
    plim_json_member_double(json, "keeper_confidence", finding->keeper_confidence);
    write_holders(json, finding);
    write_members(json, history, finding);
    write_evidence(json, history, finding, sentences);
    plim_json_end_object(json);
}

/* ---- composition ---------------------------------------------------------------------------- */

static void write_sums(plim_json *json, const plim_device_composition *made)
{
    plim_json_begin_object(json);
    for (size_t i = 0; i < made->sum_count; i++) {
        plim_json_member_u64(json, made->sums[i].name, made->sums[i].bytes);
    }
    plim_json_end_object(json);
}

static void write_moment(plim_json *json, const plim_device_composition *made)
{
    plim_json_begin_object(json);
    member_event(json, "event", made->event);
    member_step(json, "step", made->step);
    plim_json_member_u64(json, "requested_bytes", made->requested_bytes);
    plim_json_member_u64(json, "unknown_bytes", made->unknown_bytes);
    plim_json_member_array(json, "categories");
    for (size_t i = 0; i < made->sum_count; i++) {
        const plim_category_sum *const sum = &made->sums[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "category", sum->name);
        plim_json_member_u64(json, "bytes", sum->bytes);
        plim_json_member_u64(json, "count", sum->count);
        plim_json_member_optional_string(json, "rule", sum->rule);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

static void write_moments(plim_json *json, const char *key, const plim_device_composition *moments,
                          size_t count)
{
    plim_json_member_array(json, key);
    for (size_t i = 0; i < count; i++) {
        write_moment(json, &moments[i]);
    }
    plim_json_end_array(json);
}

static void write_composition(plim_json *json, const plim_device_diagnosis *device)
{
    plim_json_member_object(json, "composition");
    plim_json_key(json, "peak");
    write_sums(json, &device->peak);
    plim_json_key(json, "peak_moment");
    write_moment(json, &device->peak);
    write_moments(json, "failures", device->failures, device->failure_count);
    write_moments(json, "steps", device->steps, device->composition_step_count);
    plim_json_end_object(json);
    const plim_peak_place *const place = &device->peak_place;
    plim_json_member_object(json, "peak_place");
    member_step(json, "step", place->step);
    plim_json_member_optional_string(json, "pass", place->pass);
    plim_json_member_double(json, "position", place->position);
    plim_json_member_known_u64(json, "next_peak_bytes", place->next_peak_bytes > 0,
                               place->next_peak_bytes);
    plim_json_member_known_i64(json, "next_peak_event", place->next_peak_bytes > 0,
                               place->next_peak_event);
    plim_json_end_object(json);
}

/* ---- fragmentation -------------------------------------------------------------------------- */

static void write_loss(plim_json *json, const plim_loss *loss)
{
    plim_json_member_object(json, "loss");
    plim_json_member_u64(json, "split_bytes", loss->split_bytes);
    plim_json_member_u64(json, "rounding_bytes", loss->rounding_bytes);
    plim_json_member_u64(json, "other_stream_bytes", loss->other_stream_bytes);
    plim_json_member_u64(json, "private_pool_bytes", loss->private_pool_bytes);
    plim_json_member_u64(json, "oversize_bytes", loss->oversize_bytes);
    plim_json_member_u64(json, "page_bytes", loss->page_bytes);
    plim_json_member_u64(json, "free_segment_bytes", loss->free_segment_bytes);
    plim_json_member_u64(json, "pending_bytes", loss->pending_bytes);
    plim_json_end_object(json);
}

static void write_holes(plim_json *json, const plim_fragmentation_facts *facts)
{
    plim_json_member_array(json, "holes");
    for (size_t i = 0; i < PLIM_HOLE_CLASSES; i++) {
        if (facts->hole_counts[i] > 0) {
            plim_json_begin_object(json);
            plim_json_member_u64(json, "from_bytes", UINT64_C(1) << i);
            plim_json_member_u64(json, "bytes", facts->hole_bytes[i]);
            plim_json_member_u64(json, "count", facts->hole_counts[i]);
            plim_json_end_object(json);
        }
    }
    plim_json_end_array(json);
}

static void write_pins(plim_json *json, const plim_history *history,
                       const plim_fragmentation_facts *facts)
{
    plim_json_member_array(json, "pins");
    for (size_t i = 0; i < facts->pin_count; i++) {
        const plim_pin *const pin = &facts->pins[i];
        plim_json_begin_object(json);
        plim_json_member_u64(json, "bytes", pin->bytes);
        plim_json_member_u64(json, "blocked_bytes", pin->blocked_bytes);
        plim_json_member_u64(json, "count", pin->count);
        member_event(json, "born_event", pin->born);
        plim_json_key(json, "frame");
        write_frame(json, history, pin->place.frame);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static void write_fragmentation(plim_json *json, const plim_history *history,
                                const plim_device_diagnosis *device)
{
    plim_json_member_array(json, "fragmentation");
    for (size_t i = 0; i < device->fragmentation_count; i++) {
        const plim_fragmentation_facts *const facts = &device->fragmentation[i];
        plim_json_begin_object(json);
        member_event(json, "event", facts->event);
        plim_json_member_bool(json, "is_oom", facts->is_oom);
        plim_json_member_u64(json, "reserved_bytes", facts->reserved_bytes);
        plim_json_member_u64(json, "allocated_bytes", facts->allocated_bytes);
        plim_json_member_known_u64(json, "request_bytes", facts->request_bytes > 0,
                                   facts->request_bytes);
        plim_json_member_u64(json, "largest_hole_bytes", facts->largest_hole_bytes);
        write_loss(json, &facts->loss);
        write_holes(json, facts);
        write_pins(json, history, facts);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* ---- devices -------------------------------------------------------------------------------- */

static void write_advice(plim_json *json, const plim_device_diagnosis *device)
{
    plim_json_member_array(json, "advice");
    for (size_t i = 0; i < device->advice_count; i++) {
        const plim_diagnosis_advice *const advice = &device->advice[i];
        plim_json_begin_object(json);
        plim_json_member_optional_string(json, "finding", advice->finding);
        plim_json_member_string(json, "technique", advice->technique);
        plim_json_member_string(json, "text", advice->text);
        plim_json_member_known_u64(json, "saves_bytes", advice->has_saving, advice->saves_bytes);
        plim_json_member_string(json, "basis", plim_saving_basis_name(advice->basis));
        plim_json_member_optional_string(json, "cost", advice->cost);
        plim_json_member_optional_string(json, "change", advice->change);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

static const char *step_source_name(plim_steps_source source)
{
    static const char *const names[] = { [PLIM_STEPS_NONE] = "none",
                                         [PLIM_STEPS_ANNOTATED] = "annotated",
                                         [PLIM_STEPS_OPTIMIZER] = "optimizer",
                                         [PLIM_STEPS_PERIOD] = "period",
                                         [PLIM_STEPS_BACKWARD] = "backward" };
    return names[source];
}

static void write_facts(plim_json *json, const plim_device_diagnosis *device)
{
    const plim_device_inspection *const facts = device->facts;
    plim_json_member_known_u64(json, "capacity_bytes", device->capacity_bytes > 0,
                               device->capacity_bytes);
    plim_json_member_optional_string(json, "capacity_source", device->capacity_source);
    plim_json_member_u64(json, "steps", device->step_count);
    plim_json_member_string(json, "steps_source", step_source_name(device->step_source));
    plim_json_member_bool(json, "has_events", device->has_events);
    plim_json_member_bool(json, "has_stacks", device->has_stacks);
    plim_json_member_bool(json, "truncated", facts->truncated);
    plim_json_member_bool(json, "late_start", facts->late_start);
    plim_json_member_u64(json, "peak_requested_bytes", facts->peak.requested_bytes);
    plim_json_member_u64(json, "peak_allocated_bytes", facts->peak.allocated_bytes);
    plim_json_member_u64(json, "peak_reserved_bytes", facts->peak.reserved_bytes);
    plim_json_member_u64(json, "ooms", facts->oom_count);
}

/* Returns the sentences of the next device. */
static const char *const *write_device(plim_json *json, const plim_diagnosed *file, size_t index,
                                       const char *const *sentences)
{
    const plim_device_diagnosis *const device = plim_diagnosis_device(file->diagnosis, index);
    uint64_t rank = 0;
    plim_json_begin_object(json);
    plim_json_member_string(json, "file", file->path);
    const bool has_rank = plim_rank_of_path(file->path, &rank);
    plim_json_member_known_u64(json, "rank", has_rank, rank);
    plim_json_member_i64(json, "device", device->device);
    plim_json_member_string(json, "verdict", plim_verdict_name(device->verdict));
    plim_json_member_double(json, "confidence", device->confidence);
    write_facts(json, device);
    plim_json_member_array(json, "findings");
    for (size_t i = 0; i < device->finding_count; i++) {
        write_finding(json, file->history, &device->findings[i], sentences);
        sentences += device->findings[i].evidence_count;
    }
    plim_json_end_array(json);
    write_composition(json, device);
    write_fragmentation(json, file->history, device);
    write_advice(json, device);
    plim_json_end_object(json);
    return sentences;
}

/* ---- the part of a file --------------------------------------------------------------------- */

#define DEVICE_DEPTH 2u /* within the document and its "devices" */

/* Each device as a value of its own, with a zero byte after it. */
static bool write_part(const plim_diagnosed *file, plim_text *part)
{
    const char *const *sentences = file->sentences;
    for (size_t i = 0; i < plim_diagnosis_device_count(file->diagnosis); i++) {
        plim_json json;
        plim_json_init_within(&json, plim_sink_to_text(part), PLIM_JSON_PRETTY, DEVICE_DEPTH);
        sentences = write_device(&json, file, i, sentences);
        if (!plim_json_finish_within(&json)) {
            return false;
        }
        plim_text_append_char(part, '\0');
    }
    return plim_text_status(part, "writing", NULL) == PLIM_OK;
}

plim_status plim_diagnose_json_part(plim_diagnosed *file, plim_text *ret_part, plim_error *err)
{
    plim_page page;
    plim_page_init(&page, NULL);
    plim_diagnose_sentences(&page, file);
    plim_status status = plim_page_status(&page, err);
    if (status == PLIM_OK) {
        plim_text_init(ret_part, NULL, PLIM_PAGE_BYTES_MAX);
        if (!write_part(file, ret_part)) {
            plim_text_deinit(ret_part);
            status = plim_fail_memory(err, "writing");
        }
    }
    plim_page_deinit(&page);
    return status;
}

static void write_devices(plim_json *json, const plim_diagnosed_file *files, size_t count)
{
    plim_json_member_array(json, "devices");
    for (size_t i = 0; i < count; i++) {
        plim_json_written_values(json, &files[i].document);
    }
    plim_json_end_array(json);
}

/* ---- the document --------------------------------------------------------------------------- */

static void write_ranks(plim_json *json, const plim_diagnosed_rank *ranks, size_t count,
                        const plim_diagnosed_rank *worst)
{
    const plim_diagnosed_skew skew = plim_diagnosed_skew_of(ranks, count);
    plim_json_member_object(json, "ranks");
    plim_json_member_u64(json, "count", count);
    plim_json_member_u64(json, "worst", worst->rank);
    plim_json_member_i64(json, "worst_device", worst->device);
    plim_json_member_string(json, "worst_cause", plim_cause_name(worst->cause));
    plim_json_member_object(json, "skew");
    plim_json_member_u64(json, "max_bytes", skew.max_bytes);
    plim_json_member_u64(json, "min_bytes", skew.min_bytes);
    plim_json_member_double(json, "mean_bytes", skew.mean_bytes);
    plim_json_member_double(json, "max_over_mean", skew.max_over_mean);
    plim_json_end_object(json);
    plim_json_member_array(json, "rows");
    for (size_t i = 0; i < count; i++) {
        plim_json_begin_object(json);
        plim_json_member_u64(json, "rank", ranks[i].rank);
        plim_json_member_i64(json, "device", ranks[i].device);
        plim_json_member_string(json, "verdict", plim_verdict_name(ranks[i].verdict));
        plim_json_member_string(json, "cause", plim_cause_name(ranks[i].cause));
        plim_json_member_u64(json, "peak_requested_bytes", ranks[i].peak_requested_bytes);
        plim_json_member_u64(json, "peak_reserved_bytes", ranks[i].peak_reserved_bytes);
        plim_json_member_u64(json, "ooms", ranks[i].ooms);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

static void write_errors(plim_json *json, const plim_diagnosed_file *files, size_t count)
{
    plim_json_member_array(json, "errors");
    for (size_t i = 0; i < count; i++) {
        if (files[i].status != PLIM_OK) {
            plim_json_begin_object(json);
            plim_json_member_string(json, "file", files[i].path);
            plim_json_error(json, &files[i].error);
            plim_json_end_object(json);
        }
    }
    plim_json_end_array(json);
}

plim_status plim_diagnose_json_write(plim_sink sink, const plim_diagnosed_job *job,
                                     const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "diagnose/1", page, err));
    const size_t index = plim_diagnosed_rank_worst(job->ranks, job->rank_count);
    const plim_diagnosed_rank *const worst = index != SIZE_MAX ? &job->ranks[index] : NULL;
    const plim_verdict verdict = worst != NULL ? worst->verdict : PLIM_VERDICT_UNKNOWN;
    plim_json_member_string(&json, "verdict", plim_verdict_name(verdict));
    plim_json_member_double(&json, "confidence", worst != NULL ? worst->confidence : 0);
    write_devices(&json, job->files, job->count);
    if (job->count > 1 && worst != NULL) {
        write_ranks(&json, job->ranks, job->rank_count, worst);
    }
    write_errors(&json, job->files, job->count);
    return plim_document_finish(&json, page, err);
}
