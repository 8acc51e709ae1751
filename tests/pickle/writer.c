/*
 * writer.c - one pass over a value, with the containers that are not complete on a stack.
 *
 * Rules that are nowhere but in the C pickler itself (CPython's Modules/_pickle.c), and kept
 * here because whoever compares files compares bytes:
 *   - lists, dicts and sets enter the memo before their items, tuples and frozensets after;
 *     strings and bytes enter it, empty tuples, numbers and booleans do not
 *   - a list's or dict's only item goes by APPEND or SETITEM; everything else in batches of 1000,
 *     the last of which may hold a single item. A dict or set of exactly n * 1000 is followed by
 *     an empty batch, a list is not
 *   - a tuple met again inside itself is written again; once complete there, the outer one drops
 *     its items and fetches it from the memo
 */
#include "pickle/writer.h"

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "pickle/emit.h"

#define LONG_TUPLE_ITEMS 4 /* from here on TUPLE with a mark; below TUPLE1 … TUPLE3 */

/* A container whose items are being written. */
typedef struct open_container {
    plim_value value;
    uint64_t count; /* items; of a dict, keys and values */
    uint64_t next;
} open_container;

typedef struct writer {
    const plim_mem *mem;
    plim_error *err;
    plim_emitter out;
    bool viewer_safe;
    plim_map memo; /* from objects to numbers in order of first appearance */
    PLIM_VEC(open_container) open;
} writer;

static const plim_emit_form set_form = { PLIM_PICKLE_OP_EMPTY_SET, 0, PLIM_PICKLE_OP_ADDITEMS, 1,
                                         true };

static const plim_emit_form *form_of(plim_kind kind)
{
    if (kind == PLIM_KIND_LIST) {
        return &plim_emit_list;
    }
    if (kind == PLIM_KIND_DICT) {
        return &plim_emit_dict;
    }
    return kind == PLIM_KIND_SET ? &set_form : NULL;
}

static plim_status memoize(writer *w, plim_value value)
{
    return plim_map_put(&w->memo, value.bits, plim_emit_memoize(&w->out))
               ? PLIM_OK
               : plim_fail_memory(w->err, "writing the pickle");
}

/* Writes a reference if the value is in the memo, and says whether it was. */
static bool put_known(writer *w, plim_value value)
{
    const uint64_t number = plim_map_get(&w->memo, value.bits);
    if (number != PLIM_MAP_ABSENT) {
        plim_emit_get(&w->out, number);
    }
    return number != PLIM_MAP_ABSENT;
}

/* What the viewer has no opcode for. */
static plim_status check_viewer(const writer *w, bool is_safe, const char *what)
{
    return is_safe || !w->viewer_safe
               ? PLIM_OK
               : plim_fail(w->err, PLIM_UNSUPPORTED, "PyTorch's viewer cannot read %s", what);
}

static plim_status put_bigint(writer *w, const plim_object *object)
{
    const size_t bytes = (size_t)object->as.bytes;
    PLIM_TRY(check_viewer(w, bytes <= UINT8_MAX, "integers of more than 255 bytes"));
    if (bytes > INT32_MAX) {
        return plim_fail(w->err, PLIM_LIMIT, "an integer has more than 2^31 bytes");
    }
    if (bytes <= UINT8_MAX) {
        plim_emit_u8(&w->out, PLIM_PICKLE_OP_LONG1, (uint8_t)bytes);
    } else {
        plim_emit_u32(&w->out, PLIM_PICKLE_OP_LONG4, (uint32_t)bytes);
    }
    plim_emit_bytes(&w->out, plim_object_bytes(object), bytes);
    return PLIM_OK;
}

/* A string or bytes, not in the memo yet. */
static plim_status write_bytes(writer *w, plim_value value)
{
    static const uint8_t codes[] = { PLIM_PICKLE_OP_SHORT_BINBYTES, PLIM_PICKLE_OP_BINBYTES,
                                     PLIM_PICKLE_OP_BINBYTES8 };
    const plim_object *object = plim_value_object(value);
    const size_t bytes = (size_t)object->as.bytes;
    const bool is_string = object->kind == PLIM_KIND_STRING;
    PLIM_TRY(check_viewer(w, is_string, "bytes"));
    PLIM_TRY(check_viewer(w, bytes <= UINT32_MAX, "strings above 4 GiB"));
    if (is_string) {
        plim_emit_string(&w->out, plim_object_bytes(object), bytes);
    } else {
        plim_emit_text(&w->out, codes, plim_object_bytes(object), bytes);
    }
    return memoize(w, value);
}

/* What stands before the first item; the items and the rest follow from the stack. */
static plim_status open_container_of(writer *w, plim_value value, plim_kind kind)
{
    const plim_emit_form *form = form_of(kind);
    const open_container open = {
        .value = value,
        .count = kind == PLIM_KIND_DICT ? 2 * plim_value_pairs(value) : plim_value_count(value),
    };
    PLIM_TRY(check_viewer(w, kind != PLIM_KIND_SET && kind != PLIM_KIND_FROZENSET, "sets"));
    if (kind == PLIM_KIND_TUPLE && open.count == 0) {
        plim_emit_opcode(&w->out, PLIM_PICKLE_OP_EMPTY_TUPLE);
        return PLIM_OK;
    }
    if (form != NULL) {
        plim_emit_opcode(&w->out, form->empty);
        PLIM_TRY(memoize(w, value));
        if (open.count == 0) {
            return PLIM_OK;
        }
    } else if (kind == PLIM_KIND_FROZENSET || open.count >= LONG_TUPLE_ITEMS) {
        plim_emit_opcode(&w->out, PLIM_PICKLE_OP_MARK);
    }
    if (w->open.count >= PLIM_PICKLE_WRITE_DEPTH_MAX) {
        return plim_fail(w->err, PLIM_LIMIT, "the value is nested more than %u deep",
                         PLIM_PICKLE_WRITE_DEPTH_MAX);
    }
    return PLIM_VEC_PUSH(w->mem, &w->open, open) ? PLIM_OK
                                                 : plim_fail_memory(w->err, "writing the pickle");
}

/* A tuple or frozenset becomes one from its items; or, met inside itself, is there already. */
static plim_status wrap_up(writer *w, const open_container *open)
{
    static const uint8_t short_tuples[LONG_TUPLE_ITEMS] = { PLIM_PICKLE_OP_EMPTY_TUPLE,
                                                            PLIM_PICKLE_OP_TUPLE1,
                                                            PLIM_PICKLE_OP_TUPLE2,
                                                            PLIM_PICKLE_OP_TUPLE3 };
    const bool is_tuple = plim_value_kind(open->value) == PLIM_KIND_TUPLE;
    const bool has_mark = !is_tuple || open->count >= LONG_TUPLE_ITEMS;
    if (plim_map_get(&w->memo, open->value.bits) != PLIM_MAP_ABSENT) {
        PLIM_TRY(check_viewer(w, false, "tuples that contain themselves"));
        for (uint64_t i = 0; i < (has_mark ? 1 : open->count); i++) {
            plim_emit_opcode(&w->out, has_mark ? PLIM_PICKLE_OP_POP_MARK : PLIM_PICKLE_OP_POP);
        }
        (void)put_known(w, open->value);
        return PLIM_OK;
    }
    if (has_mark) {
        plim_emit_opcode(&w->out, is_tuple ? PLIM_PICKLE_OP_TUPLE : PLIM_PICKLE_OP_FROZENSET);
    } else {
        plim_emit_opcode(&w->out, short_tuples[open->count]);
    }
    return memoize(w, open->value);
}

static plim_status write_object(writer *w, plim_value value, plim_kind kind)
{
    if (put_known(w, value)) {
        return PLIM_OK;
    }
    return kind == PLIM_KIND_STRING || kind == PLIM_KIND_BYTES ? write_bytes(w, value)
                                                               : open_container_of(w, value, kind);
}

static plim_status write_value(writer *w, plim_value value)
{
    PLIM_TRY(plim_emit_value(&w->out));
    const plim_kind kind = plim_value_kind(value);
    int64_t integer = 0;
    double real = 0;
    switch (kind) {
    case PLIM_KIND_NONE:
        plim_emit_opcode(&w->out, PLIM_PICKLE_OP_NONE);
        return PLIM_OK;
    case PLIM_KIND_BOOL:
        plim_emit_opcode(&w->out, value.bits == PLIM_VALUE_TRUE.bits ? PLIM_PICKLE_OP_NEWTRUE
                                                                     : PLIM_PICKLE_OP_NEWFALSE);
        return PLIM_OK;
    case PLIM_KIND_INT:
        (void)plim_value_i64(value, &integer);
        plim_emit_int(&w->out, integer);
        return PLIM_OK;
    case PLIM_KIND_BIGINT:
        return put_bigint(w, plim_value_object(value));
    case PLIM_KIND_FLOAT:
        (void)plim_value_real(value, &real);
        plim_emit_float(&w->out, real);
        return PLIM_OK;
    case PLIM_KIND_STRING:
    case PLIM_KIND_BYTES:
    case PLIM_KIND_LIST:
    case PLIM_KIND_TUPLE:
    case PLIM_KIND_DICT:
    case PLIM_KIND_SET:
    case PLIM_KIND_FROZENSET:
        return write_object(w, value, kind);
    case PLIM_KIND_BYTEARRAY:
        return plim_fail(w->err, PLIM_UNSUPPORTED, "pickle protocol 4 has no bytearray");
    case PLIM_KIND_ROW:
        return plim_fail(w->err, PLIM_UNSUPPORTED,
                         "a record that was taken out while it was read cannot be written back");
    case PLIM_KIND_ABSENT:
        break;
    }
    return plim_fail(w->err, PLIM_INVALID_ARGUMENT, "there is no value to write");
}

/* Goes on with the innermost open container: its next item, or its end. */
static plim_status step(writer *w)
{
    open_container *open = &w->open.items[w->open.count - 1];
    const plim_kind kind = plim_value_kind(open->value);
    const plim_emit_form *form = form_of(kind);
    if (form != NULL) {
        plim_emit_between(&w->out, form, open->next, open->count);
    }
    if (open->next == open->count) {
        w->open.count--; /* the place stays readable until the next push */
        return form == NULL ? wrap_up(w, open) : PLIM_OK;
    }
    const uint64_t index = open->next++;
    if (kind != PLIM_KIND_DICT) {
        return write_value(w, plim_value_item(open->value, index));
    }
    return write_value(w, index % 2 == 0 ? plim_value_pair_key(open->value, index / 2)
                                         : plim_value_pair_value(open->value, index / 2));
}

static plim_status write_pickle(writer *w, plim_value root)
{
    plim_emit_begin(&w->out);
    PLIM_TRY(write_value(w, root));
    while (w->open.count > 0) {
        PLIM_TRY(step(w));
    }
    return plim_emit_end(&w->out);
}

plim_status plim_pickle_write(plim_value root, const plim_pickle_write_options *options,
                              plim_sink sink, plim_error *err)
{
    writer w = { .err = err };
    if (options != NULL) {
        w.mem = options->mem;
        w.viewer_safe = options->viewer_safe;
    }
    w.mem = plim_mem_or_heap(w.mem);
    plim_emit_init(&w.out, w.mem, sink, err);
    plim_map_init(&w.memo, w.mem);
    const plim_status status = write_pickle(&w, root);
    plim_emit_deinit(&w.out);
    plim_map_deinit(&w.memo);
    PLIM_VEC_FREE(w.mem, &w.open);
    return status;
}
