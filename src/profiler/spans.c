/*
 * spans.c - the stack of each memory event: the spans of its thread that it lies in.
 *
 *   main    |-----------------------------------------|
 *   step         |---------------------------|
 *   aten::mm            |------|
 *   [memory]               x                              its stack: aten::mm, step, main
 *
 * Spans and memory events are sorted and walked together, thread by thread, with the open spans on
 * a stack of our own. A span that outlives the one around it, which no program can write, ends
 * with it. Paths of open spans form a tree whose nodes are made where memory events are, so that
 * each path becomes a stack once.
 */
#include "profiler/trace.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

typedef struct path_node {
    uint32_t parent; /* or PLIM_NONE */
    uint32_t name;
    uint32_t stack; /* of the history; PLIM_NONE: not made yet */
} path_node;

typedef struct open_span {
    int64_t end_ns;
    uint32_t name;
    uint32_t node; /* or PLIM_NONE */
} open_span;

typedef struct stack_sweep {
    plim_trace *trace;
    plim_map children; /* parent + 1 and name to node */
    PLIM_VEC(path_node) nodes;
    PLIM_VEC(open_span) open;
} stack_sweep;

/* --- order --- */

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* By thread and begin; of those that begin together the longest is around the others. */
static int compare_spans(const void *a, const void *b)
{
    const plim_trace_span *const left = a;
    const plim_trace_span *const right = b;
    const int by_thread = compare_u32(left->thread, right->thread);
    const int by_begin = compare_i64(left->begin_ns, right->begin_ns);
    const int by_end = compare_i64(right->end_ns, left->end_ns);
    return by_thread != 0  ? by_thread
           : by_begin != 0 ? by_begin
           : by_end != 0   ? by_end
                           : compare_u32(left->name, right->name);
}

static int compare_memory(const void *a, const void *b)
{
    const plim_trace_memory *const left = a;
    const plim_trace_memory *const right = b;
    const int by_thread = compare_u32(left->thread, right->thread);
    const int by_time = compare_i64(left->time_ns, right->time_ns);
    return by_thread != 0 ? by_thread
           : by_time != 0 ? by_time
                          : (left->order > right->order) - (left->order < right->order);
}

/* --- frames --- */

/* The place where the "(12): step" of a Python function's name begins; NULL: it is no function of a
 * file. */
static const char *find_line(const char *text, size_t bytes)
{
    for (size_t i = bytes; i >= 4; i--) {
        const size_t at = i - 3; /* of "): " */
        if (memcmp(text + at, "): ", 3) == 0) {
            size_t open = at;
            while (open > 0 && plim_is_digit(text[open - 1])) {
                open--;
            }
            return open > 0 && open < at && text[open - 1] == '(' ? text + open - 1 : NULL;
        }
    }
    return NULL;
}

/* Without the address of an object, which differs from run to run: "<built-in method pop of list
 * object at 0x7fffb6f04300>". */
static size_t without_address(const char *text, size_t bytes, char *copy)
{
    static const char mark[] = " at 0x";
    const size_t length = sizeof mark - 1;
    size_t kept = 0;
    for (size_t i = 0; i < bytes;) {
        if (bytes - i > length && memcmp(text + i, mark, length) == 0) {
            for (i += length; i < bytes && (plim_is_digit(text[i]) || plim_is_letter(text[i]));) {
                i++;
            }
        } else {
            copy[kept++] = text[i++];
        }
    }
    return kept;
}

static plim_status make_frame(plim_trace *trace, plim_trace_name *name, plim_error *err)
{
    plim_frame frame = { .fx = PLIM_NONE };
    const char *const line =
        name->kind == PLIM_TRACE_PYTHON ? find_line(name->text, name->bytes) : NULL;
    const char *const end = name->text + name->bytes;
    const char *function = name->text;
    if (line != NULL) {
        uint64_t number = 0;
        for (function = line + 1; plim_is_digit(*function); function++) {
            number = number < PLIM_NONE ? number * 10 + (uint64_t)(*function - '0') : number;
        }
        frame.line = number < PLIM_NONE ? (uint32_t)number : 0;
        function += 3;
    }
    PLIM_TRY(plim_history_add_string(trace->history, name->text,
                                     line == NULL ? 0 : (size_t)(line - name->text),
                                     &frame.filename, err));
    char *const copy = plim_arena_alloc(&trace->arena, (size_t)(end - function) + 1);
    if (copy == NULL) {
        return plim_fail_memory(err, "reading the trace");
    }
    const size_t bytes = without_address(function, (size_t)(end - function), copy);
    PLIM_TRY(plim_history_add_string(trace->history, copy, bytes, &frame.name, err));
    return plim_history_add_frame(trace->history, &frame, &name->frame, err);
}

/* The stack of a path, innermost first. */
static plim_status make_stack(stack_sweep *sweep, uint32_t node, plim_error *err)
{
    uint32_t frames[PLIM_TRACE_FRAMES_MAX];
    size_t count = 0;
    uint32_t at = node;
    for (; at != PLIM_NONE && count < PLIM_TRACE_FRAMES_MAX; count++) {
        plim_trace_name *const name = &sweep->trace->names.items[sweep->nodes.items[at].name];
        if (name->frame == PLIM_NONE) {
            PLIM_TRY(make_frame(sweep->trace, name, err));
        }
        frames[count] = name->frame;
        at = sweep->nodes.items[at].parent;
    }
    sweep->trace->counts.cut_stacks += at != PLIM_NONE;
    return plim_history_add_stack(sweep->trace->history, frames, count,
                                  &sweep->nodes.items[node].stack, err);
}

/* --- the sweep --- */

static bool find_node(stack_sweep *sweep, uint32_t parent, uint32_t name, uint32_t *ret_node)
{
    const uint64_t key = (uint64_t)(parent + 1) << 32 | name; /* PLIM_NONE + 1 is 0 */
    const uint64_t known = plim_map_get(&sweep->children, key);
    const path_node node = { .parent = parent, .name = name, .stack = PLIM_NONE };
    *ret_node = known == PLIM_MAP_ABSENT ? (uint32_t)sweep->nodes.count : (uint32_t)known;
    return known != PLIM_MAP_ABSENT || (sweep->nodes.count < PLIM_NONE &&
                                        PLIM_VEC_PUSH(sweep->trace->mem, &sweep->nodes, node) &&
                                        plim_map_put(&sweep->children, key, *ret_node));
}

/* The node of all open spans: those without one are the last ones. */
static bool find_path(stack_sweep *sweep, uint32_t *ret_node)
{
    size_t i = sweep->open.count;
    while (i > 0 && sweep->open.items[i - 1].node == PLIM_NONE) {
        i--;
    }
    for (; i < sweep->open.count; i++) {
        const uint32_t parent = i == 0 ? PLIM_NONE : sweep->open.items[i - 1].node;
        if (!find_node(sweep, parent, sweep->open.items[i].name, &sweep->open.items[i].node)) {
            return false;
        }
    }
    *ret_node = i == 0 ? PLIM_NONE : sweep->open.items[i - 1].node;
    return true;
}

static void close_before(stack_sweep *sweep, int64_t time_ns)
{
    while (sweep->open.count > 0 && sweep->open.items[sweep->open.count - 1].end_ns < time_ns) {
        sweep->open.count--;
    }
}

static bool open_one(stack_sweep *sweep, const plim_trace_span *span)
{
    close_before(sweep, span->begin_ns);
    open_span open = { .end_ns = span->end_ns, .name = span->name, .node = PLIM_NONE };
    /* Spans that end as this one begins came before it, unless it is as short. */
    while (sweep->open.count > 0 && span->end_ns > span->begin_ns &&
           sweep->open.items[sweep->open.count - 1].end_ns == span->begin_ns) {
        sweep->open.count--;
    }
    if (sweep->open.count > 0 && sweep->open.items[sweep->open.count - 1].end_ns < open.end_ns) {
        open.end_ns = sweep->open.items[sweep->open.count - 1].end_ns;
    }
    return PLIM_VEC_PUSH(sweep->trace->mem, &sweep->open, open);
}

static plim_status give_stack(stack_sweep *sweep, plim_trace_memory *memory, plim_error *err)
{
    uint32_t node = PLIM_NONE;
    close_before(sweep, memory->time_ns);
    if (!find_path(sweep, &node)) {
        return plim_fail_memory(err, "reading the trace");
    }
    if (node == PLIM_NONE) {
        return PLIM_OK;
    }
    if (sweep->nodes.items[node].stack == PLIM_NONE) {
        PLIM_TRY(make_stack(sweep, node, err));
    }
    memory->stack = sweep->nodes.items[node].stack;
    return PLIM_OK;
}

static plim_status sweep_all(stack_sweep *sweep, plim_error *err)
{
    plim_trace *const trace = sweep->trace;
    size_t span = 0;
    uint32_t thread = PLIM_NONE;
    for (size_t i = 0; i < trace->memory.count; i++) {
        plim_trace_memory *const memory = &trace->memory.items[i];
        if (memory->thread != thread) {
            sweep->open.count = 0;
            thread = memory->thread;
        }
        for (; span < trace->spans.count; span++) {
            const plim_trace_span *const next = &trace->spans.items[span];
            if (next->thread > thread ||
                (next->thread == thread && next->begin_ns > memory->time_ns)) {
                break;
            }
            if (next->thread == thread && !open_one(sweep, next)) {
                return plim_fail_memory(err, "reading the trace");
            }
        }
        PLIM_TRY(give_stack(sweep, memory, err));
    }
    return PLIM_OK;
}

plim_status plim_trace_find_stacks(plim_trace *trace, plim_error *err)
{
    stack_sweep sweep = { .trace = trace };
    if (trace->spans.count > 0) {
        qsort(trace->spans.items, trace->spans.count, sizeof *trace->spans.items, compare_spans);
    }
    if (trace->memory.count > 0) {
        qsort(trace->memory.items, trace->memory.count, sizeof *trace->memory.items,
              compare_memory);
    }
    plim_map_init(&sweep.children, trace->mem);
    const plim_status status = sweep_all(&sweep, err);
    plim_map_deinit(&sweep.children);
    PLIM_VEC_FREE(trace->mem, &sweep.nodes);
    PLIM_VEC_FREE(trace->mem, &sweep.open);
    return status;
}
