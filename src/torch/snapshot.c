/*
 * snapshot.c - a snapshot file, from its bytes to a history.
 */
#include "plimsoll/snapshot.h"

#include "base/error.h"
#include "codec/codec.h"
#include "pickle/reader.h"
#include "torch/import.h"
#include "torch/json_values.h"
#include "torch/read.h"

#define SNIFF_BYTES 64

static void import_deinit(plim_import *import)
{
    for (size_t i = 0; i < import->shapes.count; i++) {
        plim_mem_free(import->mem, import->shapes.items[i], 1, sizeof **import->shapes.items);
    }
    PLIM_VEC_FREE(import->mem, &import->shapes);
    PLIM_VEC_FREE(import->mem, &import->blocks);
    PLIM_VEC_FREE(import->mem, &import->segments);
    PLIM_VEC_FREE(import->mem, &import->annotations);
    PLIM_VEC_FREE(import->mem, &import->stack_scratch);
    PLIM_VEC_FREE(import->mem, &import->unknown_fields);
}

/* The releases that write such files, by the newest thing in one. */
static const char *generation_of(const generation_facts *facts)
{
    const struct {
        bool is_seen;
        const char *release;
    } signs[] = {
        { facts->bare_list, "PyTorch 1.x" },
        { facts->has_host, "PyTorch 2.14 or newer" },
        { facts->has_pool_id, "PyTorch 2.12 or newer" },
        { facts->has_user_metadata, "PyTorch 2.10 or 2.11" },
        { facts->has_stream_reuse, "PyTorch 2.9 or newer" },
        { facts->has_compile_context, "PyTorch 2.8" },
        { facts->has_annotations, "PyTorch 2.5 to 2.7" },
        { facts->has_settings, "PyTorch 2.3 or 2.4" },
        { facts->has_history, "PyTorch 2.0" },
        { facts->has_time, "PyTorch 2.2" },
        { facts->has_block_addr, "PyTorch 2.1 or 2.2" },
    };
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (signs[i].is_seen) {
            return signs[i].release;
        }
    }
    return "";
}

/* White space may stand before JSON. */
static bool looks_like_json(const plim_window *window)
{
    for (size_t i = 0; i < window->length; i++) {
        const uint8_t c = window->data[i];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            return c == '{' || c == '[';
        }
    }
    return false;
}

typedef struct progress_link {
    const plim_load_options *options;
} progress_link;

static bool report_progress(void *ctx, const plim_input *input)
{
    const plim_load_options *options = ((const progress_link *)ctx)->options;
    return options == NULL || options->progress == NULL ||
           options->progress(options->progress_ctx, plim_input_done_bytes(input),
                             plim_input_total_bytes(input));
}

static plim_status read_values(plim_input *input, plim_builder *builder,
                               const plim_load_options *options, plim_source *source,
                               plim_value *ret_root, plim_error *err)
{
    progress_link link = { options };
    const plim_pickle_options reading = { .reading = report_progress, .reading_ctx = &link };
    plim_window window;
    PLIM_TRY(plim_input_refill(input, 0, SNIFF_BYTES, &window, err));
    if (plim_pickle_looks_like(window.data, window.length)) {
        plim_pickle_facts facts = { 0 };
        source->format = "pickle";
        PLIM_TRY(plim_pickle_read(input, builder, &reading, &facts, ret_root, err));
        source->pickle_protocol = facts.protocol;
        return PLIM_OK;
    }
    if (looks_like_json(&window)) {
        source->format = "json";
        return plim_json_read(input, builder, &reading, ret_root, err);
    }
    return plim_fail_at(err, PLIM_UNSUPPORTED, 0,
                        "neither a pickle nor JSON: not a memory snapshot as "
                        "torch.cuda.memory._dump_snapshot() writes it");
}

static plim_status import_values(plim_import *import, plim_input *input,
                                 const plim_load_options *options, plim_error *err)
{
    plim_row_sink sink;
    plim_import_sink(import, &sink);
    plim_builder builder;
    plim_builder_init(&builder, import->mem, &sink);
    plim_source source = { .format = "", .generation = "", .pickle_protocol = -1 };
    plim_value root = PLIM_VALUE_ABSENT;
    plim_status status = read_values(input, &builder, options, &source, &root, err);
    if (status == PLIM_OK) {
        plim_window window;
        /* All that was read: the window holds what follows a pickle's STOP, if anything. */
        status = plim_input_refill(input, 0, 0, &window, err);
        source.bytes = plim_input_offset(input) + (status == PLIM_OK ? window.length : 0);
        import->input_bytes = source.bytes;
    }
    if (status == PLIM_OK) {
        status = plim_import_assemble(import, root, err);
    }
    source.compression = plim_input_compression(input);
    source.generation = generation_of(&import->facts);
    plim_history_set_source(import->history, &source);
    plim_builder_deinit(&builder);
    return status;
}

plim_status plim_snapshot_read(plim_input *input, const plim_load_options *options,
                               plim_history **ret_history, plim_error *err)
{
    plim_import import = { .mem = plim_mem_or_heap(options == NULL ? NULL : options->mem) };
    plim_status status = plim_history_create(import.mem, &import.history, err);
    if (status != PLIM_OK) {
        return status;
    }
    status = import_values(&import, input, options, err);
    import_deinit(&import);
    if (status != PLIM_OK) {
        plim_history_destroy(import.history);
        return status;
    }
    *ret_history = import.history;
    return PLIM_OK;
}

static plim_input_options input_options(const plim_load_options *options)
{
    return (plim_input_options){ .mem = options == NULL ? NULL : options->mem,
                                 .codecs = plim_codecs };
}

plim_status plim_snapshot_load(const char *path, const plim_load_options *options,
                               plim_history **ret_history, plim_error *err)
{
    plim_input *input = NULL;
    const plim_input_options how = input_options(options);
    PLIM_TRY(plim_input_open(path, &how, &input, err));
    const plim_status status = plim_snapshot_read(input, options, ret_history, err);
    plim_input_close(input);
    return status;
}

plim_status plim_snapshot_parse(const void *data, size_t bytes, const plim_load_options *options,
                                plim_history **ret_history, plim_error *err)
{
    plim_input *input = NULL;
    const plim_input_options how = input_options(options);
    PLIM_TRY(plim_input_open_memory(data, bytes, &how, &input, err));
    const plim_status status = plim_snapshot_read(input, options, ret_history, err);
    plim_input_close(input);
    return status;
}
