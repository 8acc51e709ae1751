/*
 * pprof_tables.c - see pprof_tables.h.
 */
#include "export/pprof_tables.h"

#include "base/error.h"
#include "export/export.h"
#include "export/names.h"

#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 30)
#define MAPPING        1 /* the number of the only one */

static size_t string_count(const plim_pprof *out)
{
    return (size_t)plim_history_string_count(out->history) + 1;
}

static size_t location_count(const plim_pprof *out)
{
    return (size_t)plim_history_frame_count(out->history) + PLIM_WEIGHT_ORIGIN_COUNT;
}

/* --- strings --- */

/* Any bytes, made UTF-8. */
static int64_t add_string(plim_pprof *out, const char *data, size_t bytes)
{
    plim_text_reset(&out->text);
    plim_clean_text_add(&out->text, data, bytes, '\n');
    plim_messages_check(&out->messages, &out->text);
    ProtobufCBinaryData entry = plim_message_bytes(plim_text_string(&out->text), out->text.length);
    Plim__Pprof__Profile part = PLIM__PPROF__PROFILE__INIT;
    part.n_string_table = 1;
    part.string_table = &entry;
    plim_messages_put(&out->messages, &part.base);
    return out->strings++;
}

int64_t plim_pprof_add_text(plim_pprof *out, const char *text)
{
    return add_string(out, text, strlen(text));
}

/* A string of the history; `instead` where it is empty. */
static int64_t string_of(plim_pprof *out, uint32_t string, const char *instead)
{
    size_t bytes = 0;
    const char *const data = plim_history_string(out->history, string, &bytes);
    const size_t row = string == PLIM_NONE ? string_count(out) - 1 : string;
    if (bytes == 0 && instead[0] == '\0') {
        return 0;
    }
    if (out->string_of[row] == 0) {
        out->string_of[row] = (uint32_t)(bytes > 0 ? add_string(out, data, bytes)
                                                   : plim_pprof_add_text(out, instead));
    }
    return out->string_of[row];
}

/* --- functions and locations --- */

static void put_function(plim_pprof *out, uint64_t number, int64_t name, int64_t filename)
{
    Plim__Pprof__Function function = PLIM__PPROF__FUNCTION__INIT;
    Plim__Pprof__Function *list = &function;
    function.has_id = true;
    function.id = number;
    function.has_name = true;
    function.name = name;
    function.has_filename = true;
    function.filename = filename;
    Plim__Pprof__Profile part = PLIM__PPROF__PROFILE__INIT;
    part.n_function = 1;
    part.function = &list;
    plim_messages_put(&out->messages, &part.base);
}

/* Functions of frames are numbered after those of origins. */
static uint64_t function_of(plim_pprof *out, const plim_frame *frame)
{
    const uint64_t key = (uint64_t)frame->filename << 32 | frame->name;
    const uint64_t known = plim_map_get(&out->function_of, key);
    if (known != PLIM_MAP_ABSENT) {
        return known;
    }
    const uint64_t number = PLIM_WEIGHT_ORIGIN_COUNT + 1 + out->function_of.count;
    if (!plim_map_put(&out->function_of, key, number)) {
        out->messages.status = PLIM_OUT_OF_HOST_MEMORY;
        return number;
    }
    const int64_t name = string_of(out, frame->name, PLIM_EXPORT_UNNAMED);
    put_function(out, number, name, string_of(out, frame->filename, ""));
    return number;
}

static void put_location(plim_pprof *out, uint64_t number, uint64_t function, uint32_t at)
{
    Plim__Pprof__Line line = PLIM__PPROF__LINE__INIT;
    Plim__Pprof__Line *lines = &line;
    line.has_function_id = true;
    line.function_id = function;
    line.has_line = true;
    line.line = at;
    Plim__Pprof__Location location = PLIM__PPROF__LOCATION__INIT;
    Plim__Pprof__Location *list = &location;
    location.has_id = true;
    location.id = number;
    location.has_mapping_id = true;
    location.mapping_id = MAPPING;
    location.n_line = 1;
    location.line = &lines;
    Plim__Pprof__Profile part = PLIM__PPROF__PROFILE__INIT;
    part.n_location = 1;
    part.location = &list;
    plim_messages_put(&out->messages, &part.base);
}

uint64_t plim_pprof_location(plim_pprof *out, uint32_t frame)
{
    const uint64_t number = (uint64_t)frame + 1;
    if (out->located[frame] == 0) {
        const plim_frame *const row = plim_history_frame(out->history, frame);
        out->located[frame] = 1;
        put_location(out, number, function_of(out, row), row->line);
    }
    return number;
}

uint64_t plim_pprof_origin_location(plim_pprof *out, plim_weight_origin origin)
{
    const size_t row = (size_t)plim_history_frame_count(out->history) + origin;
    if (out->located[row] == 0) {
        const char *const frame = plim_weight_origin_frame(origin);
        const uint64_t function = (uint64_t)origin + 1;
        out->located[row] = 1;
        put_function(out, function,
                     plim_pprof_add_text(out, frame[0] != '\0' ? frame : PLIM_EXPORT_NO_FRAMES), 0);
        put_location(out, row + 1, function, 0);
    }
    return row + 1;
}

/* --- the tables --- */

/* The one "binary": it says that all locations have names, so that nothing is looked up. */
static void put_mapping(plim_pprof *out)
{
    Plim__Pprof__Mapping mapping = PLIM__PPROF__MAPPING__INIT;
    Plim__Pprof__Mapping *list = &mapping;
    mapping.has_id = true;
    mapping.id = MAPPING;
    mapping.has_has_functions = true;
    mapping.has_functions = true;
    mapping.has_has_filenames = true;
    mapping.has_filenames = true;
    mapping.has_has_line_numbers = true;
    mapping.has_line_numbers = true;
    Plim__Pprof__Profile part = PLIM__PPROF__PROFILE__INIT;
    part.n_mapping = 1;
    part.mapping = &list;
    plim_messages_put(&out->messages, &part.base);
}

plim_status plim_pprof_init(plim_pprof *out, const plim_history *history, plim_sink sink,
                            const plim_mem *mem, plim_error *err)
{
    *out = (plim_pprof){ .mem = mem, .history = history };
    plim_messages_init(&out->messages, sink, mem);
    plim_map_init(&out->function_of, mem);
    plim_text_init(&out->text, mem, TEXT_BYTES_MAX);
    out->string_of = plim_mem_alloc_zeroed(mem, string_count(out), sizeof *out->string_of);
    out->located = plim_mem_alloc_zeroed(mem, location_count(out), 1);
    if (out->string_of == NULL || out->located == NULL) {
        return plim_fail_memory(err, "numbering strings and frames");
    }
    (void)plim_pprof_add_text(out, "");
    put_mapping(out);
    return PLIM_OK;
}

void plim_pprof_deinit(plim_pprof *out)
{
    plim_mem_free(out->mem, out->string_of, string_count(out), sizeof *out->string_of);
    plim_mem_free(out->mem, out->located, location_count(out), 1);
    plim_text_deinit(&out->text);
    plim_map_deinit(&out->function_of);
    plim_messages_deinit(&out->messages);
}
