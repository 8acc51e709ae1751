/*
 * trace.h - the inside of reading a trace: what is kept of its events until all are known.
 *
 * names.c has each name once, events.c fills the tables from the JSON, spans.c finds the stack of
 * each memory event, and trace_history.c makes the history of them.
 */
#ifndef PLIMSOLL_PROFILER_TRACE_H
#define PLIMSOLL_PROFILER_TRACE_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/text.h"
#include "history/builder.h"
#include "json/tokens.h"

/* The kinds of names; a thread is the name of its process and its own. */
typedef enum plim_trace_kind {
    PLIM_TRACE_NOTHING,
    PLIM_TRACE_PYTHON,     /* a function, "train.py(12): step", or a built-in or module */
    PLIM_TRACE_OPERATOR,   /* "aten::mm" */
    PLIM_TRACE_ANNOTATION, /* "Optimizer.step#Adam.step" */
    PLIM_TRACE_THREAD,
} plim_trace_kind;

typedef struct plim_trace_name {
    const char *text; /* in the trace's arena */
    size_t bytes;
    uint32_t frame; /* of the history, once a stack uses it; PLIM_NONE */
    plim_trace_kind kind;
} plim_trace_name;

/* A function or operator that ran from begin to end. */
typedef struct plim_trace_span {
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t name;
    uint32_t thread; /* a name */
} plim_trace_span;

/* One event of memory. */
typedef struct plim_trace_memory {
    int64_t time_ns;
    uint64_t addr;
    int64_t bytes;            /* negative: freed */
    uint64_t allocated_bytes; /* in all, after it; PLIM_SIZE_UNKNOWN */
    uint64_t reserved_bytes;  /* likewise */
    uint64_t order;           /* between events of one time */
    uint32_t thread;
    int32_t device;
    uint32_t stack; /* of the history, or PLIM_NONE */
} plim_trace_memory;

typedef struct plim_trace_counts {
    uint64_t cpu_events;
    uint64_t other_events; /* of a second kind of device */
    uint64_t no_address;   /* memory events of GPUs without one */
    uint64_t bad;          /* memory events and spans that lack a time, or a size */
    uint64_t python_spans;
    uint64_t cut_stacks;
} plim_trace_counts;

typedef struct plim_trace {
    const plim_mem *mem;
    plim_history *history;
    plim_arena arena; /* names */
    plim_intern name_index;
    PLIM_VEC(plim_trace_name) names;
    PLIM_VEC(plim_trace_span) spans;
    PLIM_VEC(plim_trace_span) marks; /* annotations */
    PLIM_VEC(plim_trace_memory) memory;
    plim_trace_counts counts;
    int64_t device_type; /* of the GPUs; 0: none was met */
    int64_t base_ns;     /* of all times, since 1970 */
    bool has_events;     /* the document has an array of events */
} plim_trace;

/* The number of an equal name of this kind, or a new one; false: no memory. */
bool plim_trace_intern(plim_trace *trace, plim_trace_kind kind, const char *text, size_t bytes,
                       uint32_t *ret_name);

/* Reads the document; progress as `options` say. */
plim_status plim_trace_read_events(plim_trace *trace, plim_input *input,
                                   const plim_load_options *options, plim_error *err);

/* Finds the stack of each memory event: the spans of its thread that it lies in. Sorts both. */
plim_status plim_trace_find_stacks(plim_trace *trace, plim_error *err);

/* Pushes events, annotations and warnings of what was read. */
plim_status plim_trace_finish(plim_trace *trace, plim_error *err);

/* Frames of a stack that are kept; the outer ones of deeper stacks are left out. */
#define PLIM_TRACE_FRAMES_MAX 512u

#endif
