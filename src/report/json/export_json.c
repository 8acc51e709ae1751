/*
 * export_json.c - the document `export/1`.
 */
#include "base/error.h"
#include "report/json/documents.h"
#include "report/json/parts.h"

static void write_moment(plim_json *json, const char *key, plim_moment_choice choice, int64_t event)
{
    char text[PLIM_MOMENT_TEXT_BYTES];
    plim_moment_text(choice, text);
    plim_json_member_object(json, key);
    plim_json_member_string(json, "name", text);
    plim_json_member_i64(json, "event", event);
    plim_json_end_object(json);
}

static void write_part(plim_json *json, const plim_exported *exported, const plim_export_part *part)
{
    const bool has_span = exported->what != PLIM_EXPORT_LIVE;
    plim_json_begin_object(json);
    plim_json_member_i64(json, "device", part->device);
    if (has_span) {
        write_moment(json, "from", part->span_from, part->from);
    }
    write_moment(json, has_span ? "until" : "at", part->moment, part->event);
    plim_json_member_u64(json, "bytes", part->bytes);
    if (exported->what == PLIM_EXPORT_DIFFERENCE) {
        plim_json_member_u64(json, "before_bytes", part->before_bytes);
    }
    if (exported->what == PLIM_EXPORT_GROWTH) {
        plim_json_member_u64(json, "shrunk_bytes", part->shrunk_bytes);
    }
    plim_json_member_u64(json, "allocations", part->count);
    plim_json_member_u64(json, "stacks", part->stacks);
    plim_json_end_object(json);
}

plim_status plim_export_json_write(plim_sink sink, const plim_exported *exported,
                                   const plim_page *page, plim_error *err)
{
    plim_json json;
    const plim_export_result *const result = exported->result;
    PLIM_TRY(plim_document_begin(&json, sink, "export/1", page, err));
    plim_json_member_string(&json, "file", exported->source);
    plim_json_member_string(&json, "output", exported->path);
    plim_json_member_string(&json, "format", result->format->name);
    plim_json_member_u64(&json, "output_bytes", result->written_bytes);
    if (result->format->scope == PLIM_EXPORT_WHOLE) {
        plim_json_member_optional_string(&json, "what", NULL);
    } else {
        plim_json_member_string(&json, "what", plim_export_what_name(exported->what));
    }
    plim_json_member_array(&json, "profiles");
    for (size_t i = 0; i < result->part_count; i++) {
        write_part(&json, exported, &result->parts[i]);
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}
