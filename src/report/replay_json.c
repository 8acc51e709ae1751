/*
 * replay_json.c - the document `replay/1`. See replay_json.h.
 */
#include "report/replay_json.h"

#include "base/error.h"

plim_status plim_replay_json_write(plim_sink sink, const plim_replay_input *input,
                                   const plim_replay_row *rows, size_t count, size_t asked,
                                   plim_error *err)
{
    plim_json json;
    plim_json_init(&json, sink, PLIM_JSON_PRETTY);
    plim_json_begin_object(&json);
    plim_json_member_string(&json, "schema", "replay/1");
    plim_replay_json_input(&json, input);
    plim_replay_json_row(&json, input, &rows[asked]);
    plim_json_key(&json, "results");
    plim_json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        plim_json_begin_object(&json);
        plim_replay_json_row(&json, input, &rows[i]);
        plim_json_end_object(&json);
    }
    plim_json_end_array(&json);
    plim_json_end_object(&json);
    return plim_json_finish(&json) ? PLIM_OK : plim_fail(err, PLIM_IO, "cannot write the document");
}
