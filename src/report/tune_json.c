/*
 * tune_json.c - the document `tune/1`. See tune_json.h.
 */
#include "report/tune_json.h"

#include "base/error.h"

#include <stdio.h>

static void write_release(plim_json *json, uint32_t release)
{
    char text[24];
    if (release == 0) {
        plim_json_key(json, "needs_torch");
        plim_json_null(json);
        return;
    }
    (void)snprintf(text, sizeof text, "%u.%u", (unsigned)(release / 100),
                   (unsigned)(release % 100));
    plim_json_member_string(json, "needs_torch", text);
}

plim_status plim_tune_json_write(plim_sink sink, const plim_replay_input *input,
                                 const plim_tuning *tuning, plim_error *err)
{
    plim_json json;
    plim_json_init(&json, sink, PLIM_JSON_PRETTY);
    plim_json_begin_object(&json);
    plim_json_member_string(&json, "schema", "tune/1");
    plim_replay_json_input(&json, input);
    plim_json_member_string(&json, "best", tuning->rows[tuning->best].conf.text);
    plim_json_member_u64(&json, "best_index", tuning->best);
    plim_json_member_u64(&json, "recorded_index", tuning->recorded);
    plim_json_member_u64(&json, "baseline_index", tuning->baseline);
    plim_json_member_u64(&json, "reference_index", tuning->reference);
    plim_json_key(&json, "hardly_better_index");
    if (tuning->hardly_better == SIZE_MAX) {
        plim_json_null(&json);
    } else {
        plim_json_u64(&json, tuning->hardly_better);
    }
    plim_json_member_double(&json, "gain", tuning->gain);
    plim_json_member_bool(&json, "is_saved", tuning->is_saved);
    plim_json_member_bool(&json, "is_hopeless", tuning->is_hopeless);
    plim_json_member_bool(&json, "is_incomplete", tuning->is_incomplete);
    plim_json_member_u64(&json, "runs", tuning->runs);
    plim_json_key(&json, "results");
    plim_json_begin_array(&json);
    for (size_t i = 0; i < tuning->row_count; i++) {
        const plim_replay_row row = plim_tune_row_of(tuning, i);
        plim_json_begin_object(&json);
        plim_replay_json_row(&json, input, &row);
        plim_json_member_bool(&json, "is_given", tuning->rows[i].is_given);
        write_release(&json, tuning->rows[i].needs_torch);
        plim_json_member_bool(&json, "is_too_new", tuning->rows[i].is_too_new);
        plim_json_member_bool(&json, "is_start_requested", tuning->rows[i].is_start_requested);
        plim_json_end_object(&json);
    }
    plim_json_end_array(&json);
    plim_json_end_object(&json);
    return plim_json_finish(&json) ? PLIM_OK : plim_fail(err, PLIM_IO, "cannot write the document");
}
