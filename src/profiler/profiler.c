/*
 * profiler.c - an export of the profiler, whichever it is. See read.h.
 */
#include "profiler/parts.h"

#include "base/error.h"
#include "history/builder.h"
#include "profiler/kinds.h"

bool plim_profiler_looks_like(const uint8_t *data, size_t bytes)
{
    return plim_profiler_kind_of(data, bytes) != PLIM_PROFILER_OTHER;
}

static plim_status read_kind(plim_profiler_kind kind, plim_input *input,
                             const plim_load_options *options, plim_history *history,
                             plim_error *err)
{
    switch (kind) {
    case PLIM_PROFILER_TRACE:
        return plim_profiler_read_trace(input, options, history, err);
    case PLIM_PROFILER_TIMELINE:
        return plim_profiler_read_timeline(input, options, history, err);
    case PLIM_PROFILER_PICTURE:
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "a memory timeline as a picture has no figures: export it to "
                         "NAME.raw.json.gz, or record a snapshot");
    case PLIM_PROFILER_OTHER:
        break;
    }
    return plim_fail(err, PLIM_UNSUPPORTED, "not an export of PyTorch's profiler");
}

plim_status plim_profiler_read(plim_input *input, const plim_load_options *options,
                               plim_history **ret_history, plim_error *err)
{
    plim_window window;
    plim_history *history = NULL;
    PLIM_TRY(plim_input_refill(input, 0, PLIM_PROFILER_BYTES_SEEN, &window, err));
    const plim_profiler_kind kind = plim_profiler_kind_of(window.data, window.length);
    const plim_mem *const mem = plim_mem_or_heap(options == NULL ? NULL : options->mem);
    PLIM_TRY(plim_history_create(mem, &history, err));
    plim_status status = read_kind(kind, input, options, history, err);
    if (status == PLIM_OK) {
        status = plim_input_refill(input, 0, 0, &window, err);
    }
    if (status != PLIM_OK) {
        plim_history_destroy(history);
        return status;
    }
    const bool is_trace = kind == PLIM_PROFILER_TRACE;
    const plim_source source = { .format = is_trace ? "kineto" : "memory-timeline",
                                 .compression = plim_input_compression(input),
                                 .generation = "PyTorch's profiler",
                                 .pickle_protocol = -1,
                                 .bytes = plim_input_offset(input) + window.length,
                                 .sizes = PLIM_SIZES_OF_BLOCKS };
    plim_history_set_source(history, &source);
    plim_history_seal(history);
    *ret_history = history;
    return PLIM_OK;
}
