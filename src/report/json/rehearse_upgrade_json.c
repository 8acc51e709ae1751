/*
 * rehearse_upgrade_json.c - the documents `rehearse/1` of --against and --bisect. See documents.h.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "base/json_out.h"
#include "report/json/diff_part.h"
#include "report/json/parts.h"
#include "report/json/rehearse_parts.h"

static void write_side(plim_json *json, const char *key, const char *name,
                       const plim_rehearsed *rehearsed, const plim_environment *environment,
                       const plim_environment *other)
{
    const plim_rehearsed_peak peak = plim_rehearsed_find_peak(rehearsed->outcome);
    const plim_rehearsed_bar bar = plim_rehearsed_find_bar(rehearsed->outcome);
    plim_json_member_object(json, key);
    plim_json_member_string(json, "name", name);
    plim_json_member_optional_string(json, "python",
                                     environment != NULL ? environment->python
                                     : other != NULL     ? other->own_python
                                                         : NULL);
    plim_json_member_string(json, "verdict",
                            plim_rehearsed_verdict_name(plim_rehearsed_judge(rehearsed)));
    plim_json_rehearsed_reason(json, &rehearsed->reason);
    plim_json_member_string(json, "bound",
                            plim_rehearsed_is_at_least(rehearsed->outcome) ? "at_least" : "exact");
    plim_json_member_u64(json, "compared_bytes", plim_upgrade_peak(rehearsed));
    plim_json_rehearsed_peak(json, &peak);
    plim_json_rehearsed_bar(json, "peak_device", &bar);
    plim_json_rehearsed_need(json, rehearsed->need);
    plim_json_end_object(json);
}

/* The histories of each rank, as `diff/1` has them. */
static plim_status write_diffs(plim_json *json, const plim_rehearsed_pair *pair, plim_error *err)
{
    static const plim_diff_view view = { .no_next = true };
    plim_status status = PLIM_OK;
    plim_json_member_array(json, "ranks");
    for (size_t i = 0; i < pair->diff_count && status == PLIM_OK; i++) {
        plim_text part;
        status = plim_diff_json_part(&view, pair->diffs[i].diffed, &part, err);
        if (status == PLIM_OK) {
            plim_json_begin_object(json);
            plim_json_member_u64(json, "rank", pair->diffs[i].rank);
            plim_json_diff_part(json, &part);
            plim_json_end_object(json);
            plim_text_deinit(&part);
        }
    }
    plim_json_end_array(json);
    return status;
}

static plim_status write_pair(plim_json *json, plim_page *page, const plim_rehearsed_pair *pair,
                              plim_error *err)
{
    size_t count = 0;
    const plim_pair_change *changes = plim_rehearsed_pair_changes(page, pair, &count);
    plim_json_member_string(json, "comparison",
                            plim_pair_answer_name(plim_rehearsed_pair_judge(pair)));
    plim_json_member_object(json, "limit");
    plim_json_member_double(json, "share", pair->limit.share);
    plim_json_member_u64(json, "bytes", pair->limit.bytes);
    plim_json_end_object(json);
    write_side(json, "before", plim_rehearsed_pair_name(page, pair, false), pair->before,
               pair->before_environment, pair->after_environment);
    write_side(json, "after", plim_rehearsed_pair_name(page, pair, true), pair->after,
               pair->after_environment, pair->before_environment);
    plim_json_member_array(json, "packages");
    for (size_t i = 0; i < count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "name", changes[i].name);
        plim_json_member_optional_string(json, "before", changes[i].before);
        plim_json_member_optional_string(json, "after", changes[i].after);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
    return write_diffs(json, pair, err);
}

static void write_program(plim_json *json, const plim_rehearsed *rehearsed)
{
    const plim_rehearsal_outcome *outcome = rehearsed->outcome;
    size_t words = 0;
    while (rehearsed->argv[words] != NULL) {
        words++;
    }
    plim_json_strings(json, "command", rehearsed->argv, words);
    plim_json_rehearsed_gpu(json, outcome->gpu, outcome->capacity_bytes, outcome->device_count);
}

plim_status plim_rehearse_json_write_against(plim_sink sink, const plim_rehearsed_pair *pair,
                                             plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "rehearse/1", page, err));
    write_program(&json, pair->after);
    const plim_status status = write_pair(&json, page, pair, err);
    const plim_status finished = plim_document_finish(&json, page, err);
    return status != PLIM_OK ? status : finished;
}

static void write_tries(plim_json *json, const plim_bisected *bisected)
{
    plim_json_member_array(json, "releases");
    for (size_t i = 0; i < bisected->try_count; i++) {
        const plim_release_try *one = &bisected->tries[i];
        const bool is_tried = one->state == PLIM_RELEASE_GOOD || one->state == PLIM_RELEASE_GREW;
        plim_json_begin_object(json);
        plim_json_member_string(json, "release", one->release);
        plim_json_member_string(json, "state", plim_release_state_name(one->state));
        plim_json_member_optional_string(json, "why", one->why);
        plim_json_member_optional_string(
            json, "verdict", is_tried ? plim_rehearsed_verdict_name(one->verdict) : NULL);
        plim_json_rehearsed_peak(json, &one->peak);
        plim_json_member_u64(json, "compared_bytes", one->compared_bytes);
        plim_json_member_double(json, "seconds", one->seconds);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

plim_status plim_rehearse_json_write_bisect(plim_sink sink, const char *package,
                                            const plim_bisected *bisected,
                                            const plim_rehearsed_pair *pair, plim_page *page,
                                            plim_error *err)
{
    const bool has_answer = bisected->is_complete && bisected->grew;
    plim_status status = PLIM_OK;
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "rehearse/1", page, err));
    plim_json_member_string(&json, "package", package);
    plim_json_member_bool(&json, "complete", bisected->is_complete);
    plim_json_member_optional_string(
        &json, "last_good", has_answer ? bisected->tries[bisected->last_good].release : NULL);
    plim_json_member_optional_string(
        &json, "first_grown", has_answer ? bisected->tries[bisected->first_grown].release : NULL);
    write_tries(&json, bisected);
    if (bisected->is_complete) {
        write_program(&json, pair->after);
        status = write_pair(&json, page, pair, err);
    }
    const plim_status finished = plim_document_finish(&json, page, err);
    return status != PLIM_OK ? status : finished;
}
