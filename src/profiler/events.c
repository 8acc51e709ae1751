/*
 * events.c - the JSON of a trace to tables: of each event only what a history needs is kept.
 *
 *   { "baseTimeNanoseconds": …, "traceEvents": [ { "ph": "X", …, "args": { … } }, … ] }
 *     or the array of events alone
 *
 * Kineto writes it: libkineto/src/output_json.cpp; the memory events PyTorch adds are in
 * torch/csrc/profiler/kineto_shim.cpp and torch/csrc/autograd/profiler_kineto.cpp.
 */
#include "profiler/trace.h"

#include "base/error.h"
#include "profiler/numbers.h"

#include <string.h>

#define NAME_BYTES_MAX ((size_t)32 << 20)
#define CPU            0 /* c10/core/DeviceType.h */

typedef enum event_key {
    KEY_OTHER,
    KEY_PH,
    KEY_CAT,
    KEY_NAME,
    KEY_PID,
    KEY_TID,
    KEY_TS,
    KEY_DUR,
    KEY_ARGS,
    KEY_BYTES,
    KEY_ADDR,
    KEY_DEVICE_TYPE,
    KEY_DEVICE_ID,
    KEY_ALLOCATED,
    KEY_RESERVED,
    KEY_INDEX,
    KEY_EVENTS, /* of the document */
    KEY_BASE,
} event_key;

typedef struct key_name {
    const char *name;
    event_key key;
} key_name;

static const key_name document_keys[] = { { "traceEvents", KEY_EVENTS },
                                          { "baseTimeNanoseconds", KEY_BASE } };
static const key_name event_keys[] = { { "ph", KEY_PH },     { "cat", KEY_CAT },
                                       { "name", KEY_NAME }, { "pid", KEY_PID },
                                       { "tid", KEY_TID },   { "ts", KEY_TS },
                                       { "dur", KEY_DUR },   { "args", KEY_ARGS } };
static const key_name arg_keys[] = {
    { "Bytes", KEY_BYTES },
    { "Addr", KEY_ADDR },
    { "Device Type", KEY_DEVICE_TYPE },
    { "Device Id", KEY_DEVICE_ID },
    { "Total Allocated", KEY_ALLOCATED },
    { "Total Reserved", KEY_RESERVED },
    { "Ev Idx", KEY_INDEX },
};

/* The event that is being read. */
typedef struct trace_event {
    plim_trace_kind kind; /* by its category */
    bool is_complete;     /* "ph": "X" */
    bool has_time, has_bytes, has_addr, has_type, has_index;
    int64_t ts_ns, dur_ns;
    int64_t bytes, device_type, device_id;
    uint64_t addr, allocated, reserved, index;
} trace_event;

typedef struct event_reader {
    plim_trace *trace;
    const plim_load_options *options;
    uint64_t depth; /* of open containers */
    /* Depth within the array of events, within one, within its args; 0: not there. */
    uint64_t in_events, in_event, in_args;
    event_key key;
    trace_event event;
    plim_text name;
    plim_text pid;
    plim_text tid;
} event_reader;

static event_key find_key(const key_name *keys, size_t count, const char *text, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(keys[i].name) == bytes && memcmp(keys[i].name, text, bytes) == 0) {
            return keys[i].key;
        }
    }
    return KEY_OTHER;
}

static bool is_word(const char *text, size_t bytes, const char *word)
{
    return strlen(word) == bytes && memcmp(text, word, bytes) == 0;
}

/* "Operator" is an older name of "cpu_op". */
static plim_trace_kind kind_of(const char *text, size_t bytes)
{
    return is_word(text, bytes, "python_function") ? PLIM_TRACE_PYTHON
           : is_word(text, bytes, "cpu_op") || is_word(text, bytes, "Operator")
               ? PLIM_TRACE_OPERATOR
           : is_word(text, bytes, "user_annotation") ? PLIM_TRACE_ANNOTATION
                                                     : PLIM_TRACE_NOTHING;
}

/* --- a whole event --- */

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "reading the trace");
}

/* The thread of the event: its process and its own number, whatever form they have. */
static bool find_thread(event_reader *reader, uint32_t *ret_thread)
{
    plim_text_append_char(&reader->pid, '/');
    plim_text_append(&reader->pid, plim_text_string(&reader->tid), reader->tid.length);
    return reader->pid.status == PLIM_OK &&
           plim_trace_intern(reader->trace, PLIM_TRACE_THREAD, plim_text_string(&reader->pid),
                             reader->pid.length, ret_thread);
}

/* True if the event is of a GPU's memory and has what it takes. */
static bool is_kept(plim_trace *trace, const trace_event *event)
{
    if (!event->has_time || !event->has_bytes || !event->has_type) {
        trace->counts.bad++;
        return false;
    }
    if (event->device_type == CPU) {
        trace->counts.cpu_events++;
        return false;
    }
    if (trace->device_type == 0) {
        trace->device_type = event->device_type;
    }
    if (event->device_type != trace->device_type) {
        trace->counts.other_events++;
        return false;
    }
    if (!event->has_addr || event->addr == 0) {
        trace->counts.no_address++;
        return false;
    }
    if (event->device_id < 0 || event->device_id > INT32_MAX || event->bytes == 0) {
        trace->counts.bad++;
        return false;
    }
    return true;
}

static bool add_memory(event_reader *reader)
{
    plim_trace *const trace = reader->trace;
    const trace_event *const event = &reader->event;
    plim_trace_memory memory = { .time_ns = event->ts_ns,
                                 .addr = event->addr,
                                 .bytes = event->bytes,
                                 .allocated_bytes = event->allocated,
                                 .reserved_bytes = event->reserved,
                                 .order = event->has_index ? event->index : trace->memory.count,
                                 .device = (int32_t)event->device_id,
                                 .stack = PLIM_NONE };
    return !is_kept(trace, event) || (find_thread(reader, &memory.thread) &&
                                      PLIM_VEC_PUSH(trace->mem, &trace->memory, memory));
}

static bool add_span(event_reader *reader)
{
    plim_trace *const trace = reader->trace;
    const trace_event *const event = &reader->event;
    if (!event->has_time || event->dur_ns < 0 || event->ts_ns > INT64_MAX - event->dur_ns) {
        trace->counts.bad++;
        return true;
    }
    plim_trace_span span = { .begin_ns = event->ts_ns, .end_ns = event->ts_ns + event->dur_ns };
    trace->counts.python_spans += event->kind == PLIM_TRACE_PYTHON;
    if (!plim_trace_intern(trace, event->kind, plim_text_string(&reader->name), reader->name.length,
                           &span.name) ||
        !find_thread(reader, &span.thread)) {
        return false;
    }
    return event->kind == PLIM_TRACE_ANNOTATION ? PLIM_VEC_PUSH(trace->mem, &trace->marks, span)
                                                : PLIM_VEC_PUSH(trace->mem, &trace->spans, span);
}

static plim_status end_event(event_reader *reader, plim_error *err)
{
    const trace_event *const event = &reader->event;
    bool done = reader->name.status == PLIM_OK && reader->pid.status == PLIM_OK &&
                reader->tid.status == PLIM_OK;
    if (done && is_word(plim_text_string(&reader->name), reader->name.length, "[memory]")) {
        done = add_memory(reader);
    } else if (done && event->is_complete && event->kind != PLIM_TRACE_NOTHING) {
        done = add_span(reader);
    }
    reader->in_event = 0;
    return done ? PLIM_OK : no_memory(err);
}

static void begin_event(event_reader *reader)
{
    reader->in_event = reader->depth;
    reader->event = (trace_event){ .allocated = PLIM_SIZE_UNKNOWN, .reserved = PLIM_SIZE_UNKNOWN };
    plim_text_reset(&reader->name);
    plim_text_reset(&reader->pid);
    plim_text_reset(&reader->tid);
}

/* --- tokens --- */

static void take_number(event_reader *reader, const char *text, size_t bytes)
{
    trace_event *const event = &reader->event;
    switch ((int)reader->key) {
    case KEY_TS:
        event->has_time = plim_trace_ns(text, bytes, &event->ts_ns);
        break;
    case KEY_DUR:
        event->dur_ns = plim_trace_ns(text, bytes, &event->dur_ns) ? event->dur_ns : -1;
        break;
    case KEY_BYTES:
        event->has_bytes = plim_trace_integer(text, bytes, &event->bytes);
        break;
    case KEY_ADDR:
        event->has_addr = plim_trace_unsigned(text, bytes, &event->addr);
        break;
    case KEY_DEVICE_TYPE:
        event->has_type = plim_trace_integer(text, bytes, &event->device_type);
        break;
    case KEY_DEVICE_ID:
        event->device_id =
            plim_trace_integer(text, bytes, &event->device_id) ? event->device_id : -1;
        break;
    case KEY_ALLOCATED:
        (void)plim_trace_unsigned(text, bytes, &event->allocated);
        break;
    case KEY_RESERVED:
        (void)plim_trace_unsigned(text, bytes, &event->reserved);
        break;
    case KEY_INDEX:
        event->has_index = plim_trace_unsigned(text, bytes, &event->index);
        break;
    default:
        break;
    }
}

/* A string or number of an event; those of its args follow at their own depth. */
static void take_value(event_reader *reader, plim_json_token token, const char *text, size_t bytes)
{
    plim_text *const into = reader->key == KEY_NAME  ? &reader->name
                            : reader->key == KEY_PID ? &reader->pid
                            : reader->key == KEY_TID ? &reader->tid
                                                     : NULL;
    if (into != NULL) {
        plim_text_reset(into);
        plim_text_append(into, text, bytes);
    } else if (token == PLIM_JSON_NUMBER) {
        take_number(reader, text, bytes);
    } else if (reader->key == KEY_PH) {
        reader->event.is_complete = is_word(text, bytes, "X");
    } else if (reader->key == KEY_CAT) {
        reader->event.kind = kind_of(text, bytes);
    }
}

static void take_key(event_reader *reader, const char *text, size_t bytes)
{
    reader->key = KEY_OTHER;
    if (reader->depth == 1) {
        reader->key =
            find_key(document_keys, sizeof document_keys / sizeof document_keys[0], text, bytes);
    } else if (reader->depth == reader->in_event) {
        reader->key = find_key(event_keys, sizeof event_keys / sizeof event_keys[0], text, bytes);
    } else if (reader->depth == reader->in_args && reader->in_args != 0) {
        reader->key = find_key(arg_keys, sizeof arg_keys / sizeof arg_keys[0], text, bytes);
    }
}

static void begin(event_reader *reader, bool is_map)
{
    const bool is_root = reader->depth == 0;
    const event_key key = reader->key;
    reader->depth++;
    reader->key = KEY_OTHER;
    if (!is_map && (is_root || (reader->depth == 2 && key == KEY_EVENTS))) {
        reader->in_events = reader->depth;
        reader->trace->has_events = true;
    } else if (is_map && reader->in_events != 0 && reader->depth == reader->in_events + 1) {
        begin_event(reader);
    } else if (is_map && reader->in_event != 0 && reader->depth == reader->in_event + 1 &&
               key == KEY_ARGS) {
        reader->in_args = reader->depth;
    }
}

static plim_status end(event_reader *reader, plim_error *err)
{
    const uint64_t depth = reader->depth--;
    reader->key = KEY_OTHER;
    if (depth == reader->in_args) {
        reader->in_args = 0;
    } else if (depth == reader->in_event) {
        return end_event(reader, err);
    } else if (depth == reader->in_events) {
        reader->in_events = 0;
    }
    return PLIM_OK;
}

static plim_status take(void *ctx, plim_json_token token, const char *text, size_t bytes,
                        plim_error *err)
{
    event_reader *const reader = ctx;
    switch (token) {
    case PLIM_JSON_KEY:
        take_key(reader, text, bytes);
        return PLIM_OK;
    case PLIM_JSON_MAP_BEGIN:
    case PLIM_JSON_ARRAY_BEGIN:
        begin(reader, token == PLIM_JSON_MAP_BEGIN);
        return PLIM_OK;
    case PLIM_JSON_MAP_END:
    case PLIM_JSON_ARRAY_END:
        return end(reader, err);
    case PLIM_JSON_NUMBER:
    case PLIM_JSON_STRING:
        if (reader->key == KEY_BASE) {
            (void)plim_trace_integer(text, bytes, &reader->trace->base_ns);
        } else if (reader->key != KEY_OTHER && reader->in_event != 0) {
            take_value(reader, token, text, bytes);
        }
        break;
    case PLIM_JSON_NULL:
    case PLIM_JSON_FALSE:
    case PLIM_JSON_TRUE:
        break;
    }
    reader->key = KEY_OTHER; /* its value has come */
    return PLIM_OK;
}

static plim_status report_piece(void *ctx, const plim_input *input, uint64_t bytes, plim_error *err)
{
    (void)bytes;
    const plim_load_options *const options = ((const event_reader *)ctx)->options;
    return options == NULL || options->progress == NULL ||
                   options->progress(options->progress_ctx, plim_input_done_bytes(input),
                                     plim_input_total_bytes(input))
               ? PLIM_OK
               : plim_fail(err, PLIM_CANCELLED, "stopped while reading");
}

plim_status plim_trace_read_events(plim_trace *trace, plim_input *input,
                                   const plim_load_options *options, plim_error *err)
{
    event_reader reader = { .trace = trace, .options = options };
    const plim_json_sink sink = { .take = take, .piece = report_piece, .ctx = &reader };
    plim_text_init(&reader.name, trace->mem, NAME_BYTES_MAX);
    plim_text_init(&reader.pid, trace->mem, NAME_BYTES_MAX);
    plim_text_init(&reader.tid, trace->mem, NAME_BYTES_MAX);
    const plim_status status = plim_json_tokens(input, trace->mem, &sink, err);
    plim_text_deinit(&reader.name);
    plim_text_deinit(&reader.pid);
    plim_text_deinit(&reader.tid);
    return status;
}
