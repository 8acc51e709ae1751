/*
 * trace.c - a trace from its bytes to a history.
 */
#include "profiler/trace.h"

#include "base/error.h"
#include "profiler/parts.h"

/* Nothing to make a history of: says why, and what to record. */
static plim_status explain_nothing(const plim_trace *trace, plim_error *err)
{
    const plim_trace_counts *const counts = &trace->counts;
    if (!trace->has_events) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "a trace without \"traceEvents\": not one of PyTorch's profiler");
    }
    if (counts->no_address > 0) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "the trace's memory events have no addresses (\"Addr\"), so that no "
                         "free can be matched; newer PyTorch records them");
    }
    if (counts->cpu_events > 0) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "the trace has memory events of the CPU alone, none of a GPU");
    }
    return plim_fail(err, PLIM_UNSUPPORTED,
                     "a trace without memory events: torch.profiler.profile("
                     "profile_memory=True) records them");
}

static plim_status read_all(plim_trace *trace, plim_input *input, const plim_load_options *options,
                            plim_error *err)
{
    PLIM_TRY(plim_trace_read_events(trace, input, options, err));
    if (trace->memory.count == 0) {
        return explain_nothing(trace, err);
    }
    PLIM_TRY(plim_trace_find_stacks(trace, err));
    return plim_trace_finish(trace, err);
}

plim_status plim_profiler_read_trace(plim_input *input, const plim_load_options *options,
                                     plim_history *history, plim_error *err)
{
    plim_trace trace = { .mem = plim_mem_or_heap(options == NULL ? NULL : options->mem),
                         .history = history };
    plim_arena_init(&trace.arena, trace.mem);
    plim_intern_init(&trace.name_index, trace.mem);
    const plim_status status = read_all(&trace, input, options, err);
    plim_intern_deinit(&trace.name_index);
    plim_arena_deinit(&trace.arena);
    PLIM_VEC_FREE(trace.mem, &trace.names);
    PLIM_VEC_FREE(trace.mem, &trace.spans);
    PLIM_VEC_FREE(trace.mem, &trace.marks);
    PLIM_VEC_FREE(trace.mem, &trace.memory);
    return status;
}
