/*
 * enable_json.c - the document `enable/1`.
 */
#include "base/error.h"
#include "report/json/documents.h"
#include "report/json/parts.h"

static void write_place(plim_json *json, const plim_enable_place *place)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "path", place->path);
    plim_json_member_bool(json, "is_user", place->is_users);
    plim_json_member_string(json, "state", plim_enable_state_name(place->state));
    plim_json_member_string(json, "done", plim_enable_done_name(place->done));
    plim_json_member_optional_string(json, "leads_to", place->leads_to);
    plim_json_end_object(json);
}

plim_status plim_enable_json_write(plim_sink sink, const plim_enabled *enabled,
                                   const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "enable/1", page, err));
    plim_json_member_string(&json, "python", enabled->python);
    plim_json_member_string(&json, "version", enabled->version);
    plim_json_member_string(&json, "prefix", enabled->prefix);
    plim_json_member_string(&json, "kind", enabled->kind);
    plim_json_member_bool(&json, "is_managed", enabled->is_managed);
    plim_json_member_string(&json, "package", enabled->package);
    plim_json_member_optional_string(&json, "refused", enabled->refused);
    plim_json_member_array(&json, "places");
    for (size_t i = 0; i < enabled->place_count; i++) {
        write_place(&json, &enabled->places[i]);
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}
