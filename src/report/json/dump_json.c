/*
 * dump_json.c - the document `dump/1`.
 */
#include "base/error.h"
#include "report/json/documents.h"
#include "report/json/parts.h"

static void write_path(plim_json *json, const char *key, const char *path)
{
    plim_json_member_optional_string(json, key, path[0] != '\0' ? path : NULL);
}

static void write_dump(plim_json *json, const plim_dumped *dumped)
{
    const plim_live_page *const live = &dumped->dump.live;
    plim_json_begin_object(json);
    plim_json_member_i64(json, "pid", live->pid);
    plim_json_key(json, "rank");
    if (live->rank >= 0) {
        plim_json_i64(json, live->rank);
    } else {
        plim_json_null(json);
    }
    plim_json_member_string(json, "outcome", plim_dump_outcome_name(dumped->outcome));
    plim_json_member_double(json, "seconds", dumped->dump.seconds);
    plim_json_member_double(json, "age_seconds", dumped->age_seconds);
    plim_json_member_u64(json, "steps", live->step_count);
    write_path(json, "folder", live->folder);
    write_path(json, "document", dumped->document);
    write_path(json, "snapshot", dumped->snapshot);
    write_path(json, "holders", dumped->holders);
    plim_json_end_object(json);
}

plim_status plim_dump_json_write(plim_sink sink, const plim_dumped *dumps, size_t count,
                                 const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "dump/1", page, err));
    plim_json_member_array(&json, "dumps");
    for (size_t i = 0; i < count; i++) {
        write_dump(&json, &dumps[i]);
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}
