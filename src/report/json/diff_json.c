/*
 * diff_json.c - the document `diff/1`.
 *
 * What is said of a pair of files is written when it is compared, by the thread that compared it;
 * the document puts the parts together.
 */
#include "report/json/documents.h"

#include "base/error.h"
#include "base/json_out.h"
#include "report/json/diff_part.h"
#include "report/json/parts.h"
#include "report/model/diff_parts.h"
#include "report/model/inspect.h"

#include <string.h>

#define PART_DEPTH 3 /* the document, its array of pairs, a pair */

/* The values of a pair that its part has, one after the other. */
static const char *const part_members[] = { "before", "after", "devices" };
#define PART_MEMBERS (sizeof part_members / sizeof part_members[0])

/* ---- groups --------------------------------------------------------------------------------- */

static void write_share(plim_json *json, const char *key, const plim_history *history,
                        const plim_diff_share *share, bool is_there)
{
    plim_json_key(json, key);
    if (!is_there) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_u64(json, "bytes", share->bytes);
    plim_json_member_u64(json, "count", share->count);
    plim_json_user_frame(json, share->user_frame);
    plim_json_frames(json, history, share->stack);
    plim_json_end_object(json);
}

static void write_group(plim_json *json, const plim_diffed *diffed, const plim_diff_group *group)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "match", plim_diff_match_name(group->match));
    plim_json_member_optional_string(json, "because", group->because);
    plim_json_member_i64(json, "change_bytes", group->change_bytes);
    plim_json_member_string(json, "category", plim_category_name(group->category));
    plim_json_member_optional_string(json, "package", group->package);
    write_share(json, "before", diffed->before.history, &group->before,
                group->match != PLIM_DIFF_NEW);
    write_share(json, "after", diffed->after.history, &group->after,
                group->match != PLIM_DIFF_GONE);
    plim_json_end_object(json);
}

static void write_lines(plim_json *json, const plim_diff_lines *rows)
{
    plim_json_member_array(json, "lines");
    for (size_t i = 0; i < rows->count; i++) {
        const plim_diff_line *const row = &rows->items[i];
        plim_json_begin_object(json);
        plim_json_key(json, "where");
        plim_json_string_bytes(json, row->where, row->where_length);
        plim_json_key(json, "was");
        if (row->was != NULL) {
            plim_json_string_bytes(json, row->was, row->was_length);
        } else {
            plim_json_null(json);
        }
        plim_json_member_string(json, "kind", plim_diff_line_kind(row));
        plim_json_member_i64(json, "change_bytes", row->change_bytes);
        plim_json_member_u64(json, "before_bytes", row->before_bytes);
        plim_json_member_u64(json, "before_count", row->before_count);
        plim_json_member_u64(json, "after_bytes", row->after_bytes);
        plim_json_member_u64(json, "after_count", row->after_count);
        plim_json_member_u64(json, "likely_bytes", row->likely_bytes);
        plim_json_member_u64(json, "groups", row->group_count);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

/* ---- moments -------------------------------------------------------------------------------- */

static void write_side(plim_json *json, const char *key, const plim_moment *moment)
{
    plim_json_member_object(json, key);
    plim_json_member_i64(json, "event", moment->event);
    plim_json_member_time(json, "time_us", moment->time_us);
    plim_json_member_u64(json, "requested_bytes", moment->requested_bytes);
    plim_json_moment_figures(json, moment);
    plim_json_end_object(json);
}

static void write_categories(plim_json *json, const plim_diff_moment *moment)
{
    plim_json_member_array(json, "categories");
    for (int i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        const plim_diff_amount *const amount = &moment->categories[i];
        if (amount->before_bytes > 0 || amount->after_bytes > 0) {
            plim_json_begin_object(json);
            plim_json_member_string(json, "category", plim_category_name((plim_category)i));
            plim_json_member_u64(json, "before_bytes", amount->before_bytes);
            plim_json_member_u64(json, "after_bytes", amount->after_bytes);
            plim_json_end_object(json);
        }
    }
    plim_json_end_array(json);
}

static plim_status write_groups(plim_json *json, const plim_diff_view *view,
                                const plim_diffed *diffed, const plim_diff_moment *moment)
{
    plim_diff_lines lines;
    plim_diff_filter filter = { 0 };
    plim_status status = plim_diff_lines_init(&lines, NULL, view, diffed, moment, NULL);
    if (status == PLIM_OK) {
        write_lines(json, &lines);
        status = plim_diff_filter_init(&filter, NULL, view, diffed, NULL);
    }
    plim_json_member_array(json, "groups");
    for (size_t i = 0; i < moment->group_count && status == PLIM_OK; i++) {
        if (plim_diff_shows(&filter, &moment->groups[i])) {
            write_group(json, diffed, &moment->groups[i]);
        }
    }
    plim_json_end_array(json);
    plim_diff_filter_deinit(&filter);
    plim_diff_lines_deinit(&lines);
    return status;
}

static plim_status write_moment(plim_json *json, const plim_diff_view *view,
                                const plim_diffed *diffed, const plim_diff_moment *moment,
                                const plim_diff_figure *figure)
{
    plim_status status = PLIM_OK;
    plim_json_begin_object(json);
    plim_json_member_bool(json, "known", figure->is_known);
    plim_json_member_optional_string(json, "because",
                                     figure->is_known ? NULL : figure->unknown_because);
    if (figure->is_known) {
        plim_json_member_bool(json, "same", moment->is_same);
        plim_json_member_i64(json, "change_bytes",
                             plim_diff_change(figure->before_bytes, figure->after_bytes));
        write_side(json, "before", &moment->before);
        write_side(json, "after", &moment->after);
        write_categories(json, moment);
        plim_json_member_bool(json, "has_stacks", plim_diff_has_stacks(moment));
        status = write_groups(json, view, diffed, moment);
    }
    plim_json_end_object(json);
    return status;
}

/* ---- devices -------------------------------------------------------------------------------- */

static void write_facts(plim_json *json, const char *key, const plim_diffed_side *side,
                        const plim_diff_device *device, uint64_t steps)
{
    const plim_device_inspection *const facts = plim_diff_facts(side, device->device);
    plim_json_key(json, key);
    if (facts == NULL) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_u64(json, "events", facts->events);
    plim_json_member_u64(json, "events_without_stack", facts->events_without_stack);
    plim_json_member_bool(json, "truncated", facts->truncated);
    plim_json_member_optional_string(json, "truncated_because", facts->truncated_because);
    plim_json_member_bool(json, "late_start", facts->late_start);
    plim_json_member_u64(json, "steps", steps);
    plim_json_member_u64(json, "ooms", facts->oom_count);
    plim_json_end_object(json);
}

static void write_figures(plim_json *json, const plim_diffed_rank *rank)
{
    plim_json_member_object(json, "figures");
    for (int i = 0; i < PLIM_DIFF_FIGURE_COUNT; i++) {
        const plim_diff_figure *const figure = &rank->figures[i];
        if (!figure->is_known) {
            continue;
        }
        plim_json_member_object(json, plim_diff_figure_name((plim_diff_figure_id)i));
        plim_json_member_u64(json, "before_bytes", figure->before_bytes);
        plim_json_member_u64(json, "after_bytes", figure->after_bytes);
        plim_json_end_object(json);
    }
    plim_json_end_object(json);
}

static plim_status write_device(plim_json *json, const plim_diff_view *view,
                                const plim_diffed *diffed, const plim_diff_device *device,
                                plim_error *err)
{
    plim_diffed_rank rank;
    plim_status status = plim_diffed_rank_of(diffed, device, &rank, err);
    if (status != PLIM_OK) {
        return status;
    }
    plim_json_begin_object(json);
    plim_json_member_i64(json, "device", device->device);
    plim_json_member_bool(json, "same", rank.is_same);
    write_facts(json, "before", &diffed->before, device, device->before_steps);
    write_facts(json, "after", &diffed->after, device, device->after_steps);
    write_figures(json, &rank);
    plim_json_member_object(json, "moments");
    for (int i = 0; i < PLIM_DIFF_MOMENT_COUNT && status == PLIM_OK; i++) {
        if (i != PLIM_DIFF_CHOSEN || diffed->after_at != NULL) {
            const plim_diff_moment_kind kind = (plim_diff_moment_kind)i;
            plim_json_key(json, plim_diff_moment_name(kind));
            status = write_moment(json, view, diffed, &device->moments[kind],
                                  &rank.figures[plim_diff_figure_at(kind)]);
        }
    }
    plim_json_end_object(json);
    plim_json_end_object(json);
    return status;
}

static plim_status write_devices(plim_json *json, const plim_diff_view *view,
                                 const plim_diffed *diffed, plim_error *err)
{
    plim_status status = PLIM_OK;
    plim_json_begin_array(json);
    for (size_t i = 0; i < plim_diff_device_count(diffed->result) && status == PLIM_OK; i++) {
        const plim_diff_device *const device = plim_diff_device_at(diffed->result, i);
        if (!view->one_device || device->device == view->device) {
            status = write_device(json, view, diffed, device, err);
        }
    }
    plim_json_end_array(json);
    return status;
}

static void write_file(plim_json *json, const plim_diffed_side *side, const char *at)
{
    const plim_source source = plim_history_source(side->history);
    plim_json_begin_object(json);
    plim_json_member_string(json, "file", side->name);
    plim_json_member_optional_string(json, "at", at);
    plim_json_member_string(json, "format", source.format);
    plim_json_member_optional_string(json, "compression", source.compression);
    plim_json_member_optional_string(json, "generation", source.generation);
    plim_json_member_u64(json, "bytes", source.bytes);
    plim_json_end_object(json);
}

/* ---- a part --------------------------------------------------------------------------------- */

static plim_status write_value(plim_text *part, size_t member, const plim_diff_view *view,
                               const plim_diffed *diffed, plim_error *err)
{
    plim_json json;
    plim_status status = PLIM_OK;
    plim_json_init_within(&json, plim_sink_to_text(part), PLIM_JSON_PRETTY, PART_DEPTH);
    if (member == 0) {
        write_file(&json, &diffed->before, diffed->before_at);
    } else if (member == 1) {
        write_file(&json, &diffed->after, diffed->after_at);
    } else {
        status = write_devices(&json, view, diffed, err);
    }
    const bool is_written = plim_json_finish_within(&json);
    plim_text_append_char(part, '\0');
    return status != PLIM_OK ? plim_fail_memory(err, "writing")
           : is_written      ? plim_text_status(part, "writing", err)
                             : plim_fail_memory(err, "writing");
}

plim_status plim_diff_json_part(const plim_diff_view *view, const plim_diffed *diffed,
                                plim_text *ret_part, plim_error *err)
{
    plim_status status = PLIM_OK;
    plim_text part;
    plim_text_init(&part, NULL, PLIM_PAGE_BYTES_MAX);
    for (size_t i = 0; i < PART_MEMBERS && status == PLIM_OK; i++) {
        status = write_value(&part, i, view, diffed, err);
    }
    if (status == PLIM_OK) {
        *ret_part = part;
    } else {
        plim_text_deinit(&part);
    }
    return status;
}

/* ---- the document --------------------------------------------------------------------------- */

void plim_json_diff_part(plim_json *json, const plim_text *part)
{
    size_t member = 0;
    for (size_t at = 0; at < part->length && member < PART_MEMBERS; member++) {
        const size_t bytes = strlen(part->data + at);
        plim_json_key(json, part_members[member]);
        plim_json_raw(json, part->data + at, bytes);
        at += bytes + 1;
    }
}

/* Of a file that was not compared: its name alone. */
static void write_name(plim_json *json, const char *key, const char *path)
{
    plim_json_key(json, key);
    if (path == NULL) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_string(json, "file", path);
    plim_json_end_object(json);
}

static void write_pair(plim_json *json, const plim_diffed_pair *pair)
{
    plim_json_begin_object(json);
    plim_json_member_known_u64(json, "rank", pair->has_rank, pair->rank);
    if (pair->document.length > 0) {
        plim_json_diff_part(json, &pair->document);
    } else {
        write_name(json, "before", pair->before_path);
        write_name(json, "after", pair->after_path);
    }
    if (pair->status != PLIM_OK) {
        plim_json_member_optional_string(json, "failed_file", pair->failed_path);
        plim_json_error(json, &pair->error);
    }
    plim_json_end_object(json);
}

static void write_worst(plim_json *json, const plim_diff_job *job)
{
    const size_t worst = plim_diffed_rank_worst(job->ranks, job->rank_count);
    bool is_same = job->rank_count > 0;
    for (size_t i = 0; i < job->rank_count; i++) {
        is_same = is_same && job->ranks[i].is_same;
    }
    plim_json_member_bool(json, "same", is_same);
    plim_json_key(json, "worst");
    if (worst == SIZE_MAX) {
        plim_json_null(json);
        return;
    }
    plim_json_begin_object(json);
    plim_json_member_u64(json, "pair", job->ranks[worst].pair);
    plim_json_member_i64(json, "device", job->ranks[worst].device);
    plim_json_end_object(json);
}

plim_status plim_diff_json_write(plim_sink sink, const plim_diff_job *job, const plim_page *page,
                                 plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "diff/1", page, err));
    write_worst(&json, job);
    plim_json_member_array(&json, "pairs");
    for (size_t i = 0; i < job->count; i++) {
        write_pair(&json, &job->pairs[i]);
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}
