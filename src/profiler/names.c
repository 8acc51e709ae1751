/*
 * names.c - the names of a trace, each once.
 */
#include "profiler/trace.h"

#include "base/hash.h"

#include <string.h>

typedef struct wanted_name {
    const char *text;
    size_t bytes;
    plim_trace_kind kind;
} wanted_name;

static bool name_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_trace_name *const row = &((const plim_trace *)table)->names.items[id];
    const wanted_name *const other = wanted;
    return row->kind == other->kind && row->bytes == other->bytes &&
           memcmp(row->text, other->text, row->bytes) == 0;
}

bool plim_trace_intern(plim_trace *trace, plim_trace_kind kind, const char *text, size_t bytes,
                       uint32_t *ret_name)
{
    const wanted_name wanted = { text, bytes, kind };
    const uint64_t hash = plim_hash_bytes(text, bytes, trace->name_index.key + (uint64_t)kind);
    uint32_t id = plim_intern_find(&trace->name_index, hash, name_equal, trace, &wanted);
    if (id == PLIM_INTERN_ABSENT) {
        const plim_trace_name name = { .text = plim_arena_copy(&trace->arena, text, bytes),
                                       .bytes = bytes,
                                       .frame = PLIM_NONE,
                                       .kind = kind };
        if (name.text == NULL || !PLIM_VEC_PUSH(trace->mem, &trace->names, name) ||
            !plim_intern_add(&trace->name_index, hash, &id)) {
            return false;
        }
    }
    *ret_name = id;
    return true;
}
