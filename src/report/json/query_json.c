/*
 * query_json.c - the documents `query/1` and `query-schema/1`.
 *
 * Rows go to the sink as they come: nothing is kept, however many there are.
 */
#include "report/json/query_json.h"

#include "base/error.h"
#include "report/json/parts.h"

#include <inttypes.h>
#include <math.h>

/* --- rows --- */

static void write_bytes(plim_json *json, const char *data, size_t bytes)
{
    char text[2 * PLIM_QUERY_BLOB_BYTES_MAX];
    static const char digits[] = "0123456789abcdef";
    const size_t shown = bytes < PLIM_QUERY_BLOB_BYTES_MAX ? bytes : PLIM_QUERY_BLOB_BYTES_MAX;
    for (size_t i = 0; i < shown; i++) {
        text[2 * i] = digits[(unsigned char)data[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)data[i] & 15];
    }
    plim_json_string_bytes(json, text, 2 * shown);
}

static void write_value(plim_json *json, const plim_query_value *value)
{
    switch (value->type) {
    case PLIM_QUERY_TYPE_INTEGER:
        plim_json_i64(json, value->integer);
        break;
    case PLIM_QUERY_TYPE_REAL:
        plim_json_double(json, value->real);
        break;
    case PLIM_QUERY_TYPE_TEXT:
        plim_json_string_bytes(json, value->data, value->bytes);
        break;
    case PLIM_QUERY_TYPE_BLOB:
        write_bytes(json, value->data, value->bytes);
        break;
    case PLIM_QUERY_TYPE_NULL:
    case PLIM_QUERY_TYPE_COUNT:
        plim_json_null(json);
        break;
    }
}

static bool begin(void *ctx, const char *const *names, size_t count)
{
    plim_query_document *const document = ctx;
    plim_json *const json = &document->json;
    plim_error err;
    if (plim_document_begin(json, document->sink, "query/1", document->page, &err) != PLIM_OK) {
        return false;
    }
    document->has_begun = true;
    plim_json_member_string(json, "file", document->file);
    plim_json_key(json, "sql");
    plim_json_string_bytes(json, document->sql, document->sql_bytes);
    plim_json_member_array(json, "columns");
    for (size_t i = 0; i < count; i++) {
        plim_json_string(json, names[i]);
    }
    plim_json_end_array(json);
    plim_json_member_array(json, "rows");
    return !json->failed;
}

static bool write_row(void *ctx, const plim_query_value *values, size_t count)
{
    plim_query_document *const document = ctx;
    plim_json *const json = &document->json;
    document->row_count++;
    plim_json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        write_value(json, &values[i]);
    }
    plim_json_end_array(json);
    return !json->failed;
}

plim_query_reader plim_query_document_reader(plim_query_document *document)
{
    return (plim_query_reader){ .begin = begin, .row = write_row, .ctx = document };
}

plim_status plim_query_document_finish(plim_query_document *document, const plim_error *why,
                                       plim_error *err)
{
    plim_json *const json = &document->json;
    if (!document->has_begun) {
        return PLIM_OK;
    }
    plim_json_end_array(json);
    plim_json_member_u64(json, "row_count", document->row_count);
    plim_json_member_bool(json, "complete", why == NULL);
    if (why != NULL) {
        plim_json_error(json, why);
    }
    return plim_document_finish(json, document->page, err);
}

/* --- the schema --- */

static void write_columns(plim_json *json, const plim_query_table *table)
{
    plim_json_member_array(json, "columns");
    for (size_t i = 0; i < table->column_count; i++) {
        const plim_query_column *const column = &table->columns[i];
        plim_json_begin_object(json);
        plim_json_member_string(json, "name", column->name);
        plim_json_member_string(json, "type", plim_query_type_name(column->type));
        plim_json_member_string(json, "meaning", column->meaning);
        plim_json_member_bool(json, "hidden", column->is_parameter);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
}

plim_status plim_query_schema_json_write(plim_sink sink, const plim_page *page, plim_error *err)
{
    plim_json json;
    PLIM_TRY(plim_document_begin(&json, sink, "query-schema/1", page, err));
    plim_json_member_array(&json, "tables");
    for (size_t i = 0; i < plim_query_table_count(); i++) {
        const plim_query_table *const table = plim_query_table_at(i);
        plim_json_begin_object(&json);
        plim_json_member_string(&json, "name", table->name);
        plim_json_member_string(&json, "meaning", table->meaning);
        plim_json_member_optional_string(&json, "view", table->view);
        write_columns(&json, table);
        plim_json_end_object(&json);
    }
    plim_json_end_array(&json);
    plim_json_member_array(&json, "functions");
    for (size_t i = 0; i < plim_query_function_count(); i++) {
        const plim_query_function *const function = plim_query_function_at(i);
        plim_json_begin_object(&json);
        plim_json_member_string(&json, "usage", function->usage);
        plim_json_member_string(&json, "meaning", function->meaning);
        plim_json_end_object(&json);
    }
    plim_json_end_array(&json);
    return plim_document_finish(&json, page, err);
}
