/*
 * writer.c - one pass over a value, with the containers that are not complete on a stack.
 *
 *   PROTO 4 | FRAME n | opcodes of n bytes | FRAME m | … | STOP
 *
 * An opcode goes to the open frame; when a frame has 64 KiB and the next value begins, it is
 * sealed with its length and sent. Strings of 64 KiB and more are sent between frames.
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
#include "pickle/opcodes.h"

#include <string.h>

#define PROTOCOL           4
#define FRAME_HEADER_BYTES 9 /* FRAME and eight bytes of length */
#define FRAME_BYTES        ((size_t)64 << 10)
#define FRAME_BYTES_MIN    4 /* what is shorter is left without a header */
#define BATCH_ENTRIES      1000
#define LONG_TUPLE_ITEMS   4 /* from here on TUPLE with a mark; below TUPLE1 … TUPLE3 */

/* A container whose items are being written. */
typedef struct open_container {
    plim_value value;
    uint64_t count; /* items; of a dict, keys and values */
    uint64_t next;
} open_container;

typedef struct writer {
    const plim_mem *mem;
    plim_sink sink;
    bool viewer_safe;
    bool has_frame;  /* the frame is open: room for its header lies at the start of the text */
    plim_text frame; /* a failure to grow sticks and is found when the next value begins */
    plim_map memo;   /* from objects to numbers in order of first appearance */
    PLIM_VEC(open_container) open;
} writer;

/* How the containers that grow by batches are written. */
typedef struct batch_form {
    uint8_t empty;    /* makes one without items */
    uint8_t single;   /* adds an only entry; 0: there is no such opcode */
    uint8_t many;     /* adds what lies above the mark */
    uint8_t unit;     /* items an entry has */
    bool ends_in_gap; /* full batches alone are followed by an empty one */
} batch_form;

static const batch_form *batch_form_of(plim_kind kind)
{
    static const batch_form list = { PLIM_OP_EMPTY_LIST, PLIM_OP_APPEND, PLIM_OP_APPENDS, 1,
                                     false };
    static const batch_form dict = { PLIM_OP_EMPTY_DICT, PLIM_OP_SETITEM, PLIM_OP_SETITEMS, 2,
                                     true };
    static const batch_form set = { PLIM_OP_EMPTY_SET, 0, PLIM_OP_ADDITEMS, 1, true };
    if (kind == PLIM_KIND_LIST) {
        return &list;
    }
    if (kind == PLIM_KIND_DICT) {
        return &dict;
    }
    return kind == PLIM_KIND_SET ? &set : NULL;
}

static plim_status send(const writer *w, const void *data, size_t bytes, plim_error *err)
{
    return w->sink.write(w->sink.ctx, data, bytes)
               ? PLIM_OK
               : plim_fail(err, PLIM_IO, "the pickle could not be written to its end");
}

static void store_le(uint8_t *to, uint64_t integer, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(integer >> 8 * i);
    }
}

static void put(writer *w, const void *data, size_t bytes)
{
    if (!w->has_frame) {
        static const uint8_t header_room[FRAME_HEADER_BYTES] = { 0 };
        plim_text_append(&w->frame, header_room, sizeof header_room);
        w->has_frame = true;
    }
    plim_text_append(&w->frame, data, bytes);
}

static void put_opcode(writer *w, uint8_t code)
{
    put(w, &code, 1);
}

/* An opcode with an integer of `bytes` bytes behind it. */
static void put_number(writer *w, uint8_t code, uint64_t integer, size_t bytes)
{
    uint8_t buffer[9] = { code };
    store_le(buffer + 1, integer, bytes);
    put(w, buffer, 1 + bytes);
}

static plim_status close_frame(writer *w, plim_error *err)
{
    PLIM_TRY(plim_text_status(&w->frame, "writing the pickle", err));
    if (!w->has_frame) {
        return PLIM_OK;
    }
    const size_t content_bytes = w->frame.length - FRAME_HEADER_BYTES;
    if (content_bytes < FRAME_BYTES_MIN) {
        PLIM_TRY(send(w, w->frame.data + FRAME_HEADER_BYTES, content_bytes, err));
    } else {
        uint8_t header[FRAME_HEADER_BYTES] = { PLIM_OP_FRAME };
        store_le(header + 1, content_bytes, 8);
        memcpy(w->frame.data, header, sizeof header);
        PLIM_TRY(send(w, w->frame.data, w->frame.length, err));
    }
    plim_text_reset(&w->frame);
    w->has_frame = false;
    return PLIM_OK;
}

/* Frames end only where a value begins. */
static plim_status begin_value(writer *w, plim_error *err)
{
    if (w->frame.length >= FRAME_HEADER_BYTES + FRAME_BYTES || w->frame.status != PLIM_OK) {
        return close_frame(w, err);
    }
    return PLIM_OK;
}

static plim_status memoize(writer *w, plim_value value, plim_error *err)
{
    if (!plim_map_put(&w->memo, value.bits, w->memo.count)) {
        return plim_fail_memory(err, "writing the pickle");
    }
    put_opcode(w, PLIM_OP_MEMOIZE);
    return PLIM_OK;
}

/* Writes a reference if the value is in the memo; *ret_known says whether it was. */
static plim_status put_known(writer *w, plim_value value, bool *ret_known, plim_error *err)
{
    const uint64_t number = plim_map_get(&w->memo, value.bits);
    *ret_known = number != PLIM_MAP_ABSENT;
    if (!*ret_known) {
        return PLIM_OK;
    }
    if (number > UINT32_MAX) {
        return plim_fail(err, PLIM_LIMIT, "a pickle can refer to 2^32 objects; this has more");
    }
    put_number(w, number < 256 ? PLIM_OP_BINGET : PLIM_OP_LONG_BINGET, number,
               number < 256 ? 1 : 4);
    return PLIM_OK;
}

/* What the viewer has no opcode for. */
static plim_status check_viewer(const writer *w, bool is_safe, const char *what, plim_error *err)
{
    return is_safe || !w->viewer_safe
               ? PLIM_OK
               : plim_fail(err, PLIM_UNSUPPORTED, "PyTorch's viewer cannot read %s", what);
}

static void put_int(writer *w, int64_t integer)
{
    if (integer >= 0 && integer <= UINT8_MAX) {
        put_number(w, PLIM_OP_BININT1, (uint64_t)integer, 1);
    } else if (integer >= 0 && integer <= UINT16_MAX) {
        put_number(w, PLIM_OP_BININT2, (uint64_t)integer, 2);
    } else if (integer >= INT32_MIN && integer <= INT32_MAX) {
        put_number(w, PLIM_OP_BININT, (uint64_t)integer, 4);
    } else {
        /* As few bytes as hold it with its sign. */
        uint8_t buffer[10] = { PLIM_OP_LONG1, 5 };
        while (buffer[1] < 8 && (integer >> (8 * buffer[1] - 1) != integer >> 63)) {
            buffer[1]++;
        }
        store_le(buffer + 2, (uint64_t)integer, buffer[1]);
        put(w, buffer, 2u + buffer[1]);
    }
}

static plim_status put_bigint(writer *w, const plim_object *object, plim_error *err)
{
    const size_t bytes = (size_t)object->as.bytes;
    PLIM_TRY(check_viewer(w, bytes <= UINT8_MAX, "integers of more than 255 bytes", err));
    if (bytes > INT32_MAX) {
        return plim_fail(err, PLIM_LIMIT, "an integer has more than 2^31 bytes");
    }
    put_number(w, bytes <= UINT8_MAX ? PLIM_OP_LONG1 : PLIM_OP_LONG4, bytes,
               bytes <= UINT8_MAX ? 1 : 4);
    put(w, plim_object_bytes(object), bytes);
    return PLIM_OK;
}

static void put_float(writer *w, double real)
{
    uint64_t bits = 0;
    memcpy(&bits, &real, sizeof bits);
    uint8_t buffer[9] = { PLIM_OP_BINFLOAT };
    for (size_t i = 0; i < 8; i++) {
        buffer[1 + i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    put(w, buffer, sizeof buffer);
}

/* A string or bytes, not in the memo yet. */
static plim_status write_bytes(writer *w, plim_value value, plim_error *err)
{
    const plim_object *object = plim_value_object(value);
    const size_t bytes = (size_t)object->as.bytes;
    const bool is_string = object->kind == PLIM_KIND_STRING;
    PLIM_TRY(check_viewer(w, is_string, "bytes", err));
    PLIM_TRY(check_viewer(w, bytes <= UINT32_MAX, "strings above 4 GiB", err));
    if (bytes >= FRAME_BYTES) {
        uint8_t header[9] = { is_string ? PLIM_OP_BINUNICODE8 : PLIM_OP_BINBYTES8 };
        const size_t length_bytes = bytes <= UINT32_MAX ? 4 : 8;
        if (length_bytes == 4) {
            header[0] = is_string ? PLIM_OP_BINUNICODE : PLIM_OP_BINBYTES;
        }
        store_le(header + 1, bytes, length_bytes);
        PLIM_TRY(close_frame(w, err));
        PLIM_TRY(send(w, header, 1 + length_bytes, err));
        PLIM_TRY(send(w, plim_object_bytes(object), bytes, err));
    } else if (bytes > UINT8_MAX) {
        put_number(w, is_string ? PLIM_OP_BINUNICODE : PLIM_OP_BINBYTES, bytes, 4);
        put(w, plim_object_bytes(object), bytes);
    } else {
        put_number(w, is_string ? PLIM_OP_SHORT_BINUNICODE : PLIM_OP_SHORT_BINBYTES, bytes, 1);
        put(w, plim_object_bytes(object), bytes);
    }
    return memoize(w, value, err);
}

/* What stands before the first item; the items and the rest follow from the stack. */
static plim_status open_container_of(writer *w, plim_value value, plim_kind kind, plim_error *err)
{
    const batch_form *form = batch_form_of(kind);
    const open_container open = {
        .value = value,
        .count = kind == PLIM_KIND_DICT ? 2 * plim_value_pairs(value) : plim_value_count(value),
    };
    PLIM_TRY(check_viewer(w, kind != PLIM_KIND_SET && kind != PLIM_KIND_FROZENSET, "sets", err));
    if (kind == PLIM_KIND_TUPLE && open.count == 0) {
        put_opcode(w, PLIM_OP_EMPTY_TUPLE);
        return PLIM_OK;
    }
    if (form != NULL) {
        put_opcode(w, form->empty);
        PLIM_TRY(memoize(w, value, err));
        if (open.count == 0) {
            return PLIM_OK;
        }
    } else if (kind == PLIM_KIND_FROZENSET || open.count >= LONG_TUPLE_ITEMS) {
        put_opcode(w, PLIM_OP_MARK);
    }
    if (w->open.count >= PLIM_PICKLE_WRITE_DEPTH_MAX) {
        return plim_fail(err, PLIM_LIMIT, "the value is nested more than %u deep",
                         PLIM_PICKLE_WRITE_DEPTH_MAX);
    }
    return PLIM_VEC_PUSH(w->mem, &w->open, open) ? PLIM_OK
                                                 : plim_fail_memory(err, "writing the pickle");
}

/* What stands between the items of a list, dict or set, and behind the last. */
static void put_between(writer *w, const open_container *open, const batch_form *form)
{
    const bool is_end = open->next == open->count;
    if (form->single != 0 && open->count == form->unit) {
        if (is_end) {
            put_opcode(w, form->single);
        }
        return;
    }
    const bool is_full = open->next % ((uint64_t)BATCH_ENTRIES * form->unit) == 0;
    if (open->next > 0 && (is_full || is_end)) {
        put_opcode(w, form->many);
    }
    if (is_full && !is_end) {
        put_opcode(w, PLIM_OP_MARK);
    } else if (is_full && form->ends_in_gap) {
        put_opcode(w, PLIM_OP_MARK);
        put_opcode(w, form->many);
    }
}

/* A tuple or frozenset becomes one from its items; or, met inside itself, is there already. */
static plim_status wrap_up(writer *w, const open_container *open, plim_error *err)
{
    static const uint8_t short_tuples[LONG_TUPLE_ITEMS] = { PLIM_OP_EMPTY_TUPLE, PLIM_OP_TUPLE1,
                                                            PLIM_OP_TUPLE2, PLIM_OP_TUPLE3 };
    const bool is_tuple = plim_value_kind(open->value) == PLIM_KIND_TUPLE;
    const bool has_mark = !is_tuple || open->count >= LONG_TUPLE_ITEMS;
    if (plim_map_get(&w->memo, open->value.bits) != PLIM_MAP_ABSENT) {
        bool known = false;
        PLIM_TRY(check_viewer(w, false, "tuples that contain themselves", err));
        for (uint64_t i = 0; i < (has_mark ? 1 : open->count); i++) {
            put_opcode(w, has_mark ? PLIM_OP_POP_MARK : PLIM_OP_POP);
        }
        return put_known(w, open->value, &known, err);
    }
    if (has_mark) {
        put_opcode(w, is_tuple ? PLIM_OP_TUPLE : PLIM_OP_FROZENSET);
    } else {
        put_opcode(w, short_tuples[open->count]);
    }
    return memoize(w, open->value, err);
}

static plim_status write_object(writer *w, plim_value value, plim_kind kind, plim_error *err)
{
    bool known = false;
    PLIM_TRY(put_known(w, value, &known, err));
    if (known) {
        return PLIM_OK;
    }
    return kind == PLIM_KIND_STRING || kind == PLIM_KIND_BYTES
               ? write_bytes(w, value, err)
               : open_container_of(w, value, kind, err);
}

static plim_status write_value(writer *w, plim_value value, plim_error *err)
{
    PLIM_TRY(begin_value(w, err));
    const plim_kind kind = plim_value_kind(value);
    int64_t integer = 0;
    double real = 0;
    switch (kind) {
    case PLIM_KIND_NONE:
        put_opcode(w, PLIM_OP_NONE);
        return PLIM_OK;
    case PLIM_KIND_BOOL:
        put_opcode(w, value.bits == PLIM_VALUE_TRUE.bits ? PLIM_OP_NEWTRUE : PLIM_OP_NEWFALSE);
        return PLIM_OK;
    case PLIM_KIND_INT:
        (void)plim_value_i64(value, &integer);
        put_int(w, integer);
        return PLIM_OK;
    case PLIM_KIND_BIGINT:
        return put_bigint(w, plim_value_object(value), err);
    case PLIM_KIND_FLOAT:
        (void)plim_value_real(value, &real);
        put_float(w, real);
        return PLIM_OK;
    case PLIM_KIND_STRING:
    case PLIM_KIND_BYTES:
    case PLIM_KIND_LIST:
    case PLIM_KIND_TUPLE:
    case PLIM_KIND_DICT:
    case PLIM_KIND_SET:
    case PLIM_KIND_FROZENSET:
        return write_object(w, value, kind, err);
    case PLIM_KIND_BYTEARRAY:
        return plim_fail(err, PLIM_UNSUPPORTED, "pickle protocol %d has no bytearray", PROTOCOL);
    case PLIM_KIND_ROW:
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "a record that was taken out while it was read cannot be written back");
    case PLIM_KIND_ABSENT:
        break;
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT, "there is no value to write");
}

/* Goes on with the innermost open container: its next item, or its end. */
static plim_status step(writer *w, plim_error *err)
{
    open_container *open = &w->open.items[w->open.count - 1];
    const plim_kind kind = plim_value_kind(open->value);
    const batch_form *form = batch_form_of(kind);
    if (form != NULL) {
        put_between(w, open, form);
    }
    if (open->next == open->count) {
        w->open.count--; /* the place stays readable until the next push */
        return form == NULL ? wrap_up(w, open, err) : PLIM_OK;
    }
    const uint64_t index = open->next++;
    if (kind != PLIM_KIND_DICT) {
        return write_value(w, plim_value_item(open->value, index), err);
    }
    return write_value(w,
                       index % 2 == 0 ? plim_value_pair_key(open->value, index / 2)
                                      : plim_value_pair_value(open->value, index / 2),
                       err);
}

static plim_status write_pickle(writer *w, plim_value root, plim_error *err)
{
    static const uint8_t proto[] = { PLIM_OP_PROTO, PROTOCOL };
    PLIM_TRY(send(w, proto, sizeof proto, err));
    PLIM_TRY(write_value(w, root, err));
    while (w->open.count > 0) {
        PLIM_TRY(step(w, err));
    }
    put_opcode(w, PLIM_OP_STOP);
    return close_frame(w, err);
}

plim_status plim_pickle_write(plim_value root, const plim_pickle_write_options *options,
                              plim_sink sink, plim_error *err)
{
    writer w = { .sink = sink };
    if (options != NULL) {
        w.mem = options->mem;
        w.viewer_safe = options->viewer_safe;
    }
    w.mem = plim_mem_or_heap(w.mem);
    plim_text_init(&w.frame, w.mem, SIZE_MAX / 2 - 1);
    plim_map_init(&w.memo, w.mem);
    const plim_status status = write_pickle(&w, root, err);
    plim_text_deinit(&w.frame);
    plim_map_deinit(&w.memo);
    PLIM_VEC_FREE(w.mem, &w.open);
    return status;
}
