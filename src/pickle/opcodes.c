/*
 * opcodes.c - the binary opcodes outside the machine's loop, a function each.
 */
#include "pickle/machine.h"

#include "base/error.h"

#include <string.h>

#define PROTOCOL_MAX 5

/* Unsigned little-endian integer of 1, 4 or 8 bytes at the cursor, which moves after it. */
static plim_status take_length(plim_machine *machine, size_t bytes, uint64_t *ret, plim_error *err)
{
    PLIM_TRY(plim_machine_need(machine, bytes, err));
    uint64_t length = 0;
    for (size_t i = bytes; i > 0; i--) {
        length = length << 8 | machine->cursor[i - 1];
    }
    machine->cursor += bytes;
    *ret = length;
    return PLIM_OK;
}

/* A string or bytes whose length stands in front of it in `length_bytes` bytes. */
static plim_status take_bytes(plim_machine *machine, plim_kind kind, size_t length_bytes,
                              plim_error *err)
{
    PLIM_TRY(plim_machine_need(machine, length_bytes, err));
    uint64_t length = 0;
    PLIM_TRY(take_length(machine, length_bytes, &length, err));
    /* need() keeps the byte before the cursor: here the last one of the length. */
    PLIM_TRY(plim_machine_need(machine, length, err));
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made =
        kind == PLIM_KIND_STRING
            ? plim_make_string(machine->builder, machine->cursor, (size_t)length, &value)
            : plim_make_bytes(machine->builder, kind, machine->cursor, (size_t)length, &value);
    machine->cursor += length;
    return plim_machine_push_made(machine, made, value, err);
}

static plim_status op_proto(plim_machine *machine, plim_error *err)
{
    PLIM_TRY(plim_machine_need(machine, 1, err));
    const int protocol = *machine->cursor;
    if (protocol > PROTOCOL_MAX) {
        return plim_fail_at(err, PLIM_UNSUPPORTED, plim_machine_offset(machine, machine->cursor),
                            "pickle protocol %d is unknown: this reads 0 to %d", protocol,
                            PROTOCOL_MAX);
    }
    machine->cursor++;
    machine->facts.protocol = protocol;
    return PLIM_OK;
}

/* Frames let Python read ahead; the opcodes inside stand for themselves. */
static plim_status op_frame(plim_machine *machine, plim_error *err)
{
    uint64_t length = 0;
    return take_length(machine, 8, &length, err);
}

static plim_status op_pop(plim_machine *machine, plim_error *err)
{
    /* As in Python, POP takes away a mark where that is on top. */
    if (machine->marks.count > 0 &&
        machine->marks.items[machine->marks.count - 1] == machine->stack.count) {
        machine->marks.count--;
        return PLIM_OK;
    }
    PLIM_TRY(plim_machine_check(machine, 1, err));
    machine->stack.count--;
    return PLIM_OK;
}

static plim_status op_pop_mark(plim_machine *machine, plim_error *err)
{
    return plim_machine_pop_mark(machine, &machine->stack.count, err);
}

static plim_status op_dup(plim_machine *machine, plim_error *err)
{
    PLIM_TRY(plim_machine_check(machine, 1, err));
    return plim_machine_push(machine, machine->stack.items[machine->stack.count - 1], err);
}

static plim_status op_none(plim_machine *machine, plim_error *err)
{
    return plim_machine_push(machine, PLIM_VALUE_NONE, err);
}

static plim_status op_newtrue(plim_machine *machine, plim_error *err)
{
    return plim_machine_push(machine, PLIM_VALUE_TRUE, err);
}

static plim_status op_newfalse(plim_machine *machine, plim_error *err)
{
    return plim_machine_push(machine, PLIM_VALUE_FALSE, err);
}

static plim_status op_binfloat(plim_machine *machine, plim_error *err)
{
    PLIM_TRY(plim_machine_need(machine, 8, err));
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
        bits = bits << 8 | machine->cursor[i];
    }
    machine->cursor += 8;
    double real = 0;
    memcpy(&real, &bits, sizeof real);
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made = plim_make_real(machine->builder, real, &value);
    return plim_machine_push_made(machine, made, value, err);
}

static plim_status op_long4(plim_machine *machine, plim_error *err)
{
    uint64_t length = 0;
    PLIM_TRY(take_length(machine, 4, &length, err));
    if (length > INT32_MAX) {
        return plim_machine_corrupt(machine, err, "a long integer has a negative length");
    }
    PLIM_TRY(plim_machine_need(machine, length, err));
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made = plim_make_long(machine->builder, machine->cursor, (size_t)length, &value);
    machine->cursor += length;
    return plim_machine_push_made(machine, made, value, err);
}

static plim_status op_binstring(plim_machine *machine, plim_error *err)
{
    return take_bytes(machine, PLIM_KIND_STRING, 4, err);
}

static plim_status op_short_binstring(plim_machine *machine, plim_error *err)
{
    return take_bytes(machine, PLIM_KIND_STRING, 1, err);
}

static plim_status op_binunicode(plim_machine *machine, plim_error *err)
{
    return take_bytes(machine, PLIM_KIND_STRING, 4, err);
}

static plim_status op_binunicode8(plim_machine *machine, plim_error *err)
{
    return take_bytes(machine, PLIM_KIND_STRING, 8, err);
}

static plim_status op_binbytes(plim_machine *machine, plim_error *err)
{
    return take_bytes(machine, PLIM_KIND_BYTES, 4, err);
}

static plim_status op_short_binbytes(plim_machine *machine, plim_error *err)
{
    return take_bytes(machine, PLIM_KIND_BYTES, 1, err);
}

static plim_status op_binbytes8(plim_machine *machine, plim_error *err)
{
    return take_bytes(machine, PLIM_KIND_BYTES, 8, err);
}

static plim_status op_bytearray8(plim_machine *machine, plim_error *err)
{
    return take_bytes(machine, PLIM_KIND_BYTEARRAY, 8, err);
}

static plim_status op_empty_tuple(plim_machine *machine, plim_error *err)
{
    return plim_machine_wrap(machine, PLIM_KIND_TUPLE, machine->stack.count, err);
}

static plim_status op_empty_set(plim_machine *machine, plim_error *err)
{
    return plim_machine_wrap(machine, PLIM_KIND_SET, machine->stack.count, err);
}

static plim_status wrap_top(plim_machine *machine, size_t count, plim_error *err)
{
    PLIM_TRY(plim_machine_check(machine, count, err));
    return plim_machine_wrap(machine, PLIM_KIND_TUPLE, machine->stack.count - count, err);
}

static plim_status op_tuple1(plim_machine *machine, plim_error *err)
{
    return wrap_top(machine, 1, err);
}

static plim_status op_tuple2(plim_machine *machine, plim_error *err)
{
    return wrap_top(machine, 2, err);
}

static plim_status op_tuple3(plim_machine *machine, plim_error *err)
{
    return wrap_top(machine, 3, err);
}

static plim_status wrap_marked(plim_machine *machine, plim_kind kind, plim_error *err)
{
    size_t height = 0;
    PLIM_TRY(plim_machine_pop_mark(machine, &height, err));
    return plim_machine_wrap(machine, kind, height, err);
}

static plim_status op_tuple(plim_machine *machine, plim_error *err)
{
    return wrap_marked(machine, PLIM_KIND_TUPLE, err);
}

static plim_status op_list(plim_machine *machine, plim_error *err)
{
    return wrap_marked(machine, PLIM_KIND_LIST, err);
}

static plim_status op_dict(plim_machine *machine, plim_error *err)
{
    return wrap_marked(machine, PLIM_KIND_DICT, err);
}

static plim_status op_frozenset(plim_machine *machine, plim_error *err)
{
    return wrap_marked(machine, PLIM_KIND_FROZENSET, err);
}

static plim_status op_append(plim_machine *machine, plim_error *err)
{
    PLIM_TRY(plim_machine_check(machine, 2, err));
    return plim_machine_extend(machine, PLIM_KIND_LIST, machine->stack.count - 1, err);
}

static plim_status op_setitem(plim_machine *machine, plim_error *err)
{
    PLIM_TRY(plim_machine_check(machine, 3, err));
    const plim_value *dict = machine->stack.items + machine->stack.count - 3;
    const plim_kind kind = plim_value_kind(*dict);
    if (kind != PLIM_KIND_DICT && kind != PLIM_KIND_ROW) {
        return plim_machine_corrupt(machine, err, "a pair for a dict is added to %s",
                                    plim_kind_text(kind));
    }
    machine->stack.count -= 2;
    return plim_dict_add(machine->builder, *dict, dict + 1, err);
}

static plim_status op_additems(plim_machine *machine, plim_error *err)
{
    size_t height = 0;
    PLIM_TRY(plim_machine_pop_mark(machine, &height, err));
    return plim_machine_extend(machine, PLIM_KIND_SET, height, err);
}

static plim_status put_number(plim_machine *machine, size_t bytes, plim_error *err)
{
    uint64_t number = 0;
    PLIM_TRY(take_length(machine, bytes, &number, err));
    return plim_machine_put(machine, number, err);
}

static plim_status op_binput(plim_machine *machine, plim_error *err)
{
    return put_number(machine, 1, err);
}

static plim_status op_long_binput(plim_machine *machine, plim_error *err)
{
    return put_number(machine, 4, err);
}

plim_opcode_function *plim_opcode_function_of(uint8_t code)
{
    static plim_opcode_function *const functions[256] = {
        [PLIM_PICKLE_OP_PROTO] = op_proto,
        [PLIM_PICKLE_OP_FRAME] = op_frame,
        [PLIM_PICKLE_OP_POP] = op_pop,
        [PLIM_PICKLE_OP_POP_MARK] = op_pop_mark,
        [PLIM_PICKLE_OP_DUP] = op_dup,
        [PLIM_PICKLE_OP_NONE] = op_none,
        [PLIM_PICKLE_OP_NEWTRUE] = op_newtrue,
        [PLIM_PICKLE_OP_NEWFALSE] = op_newfalse,
        [PLIM_PICKLE_OP_BINFLOAT] = op_binfloat,
        [PLIM_PICKLE_OP_LONG4] = op_long4,
        [PLIM_PICKLE_OP_BINSTRING] = op_binstring,
        [PLIM_PICKLE_OP_SHORT_BINSTRING] = op_short_binstring,
        [PLIM_PICKLE_OP_BINUNICODE] = op_binunicode,
        [PLIM_PICKLE_OP_BINUNICODE8] = op_binunicode8,
        [PLIM_PICKLE_OP_BINBYTES] = op_binbytes,
        [PLIM_PICKLE_OP_SHORT_BINBYTES] = op_short_binbytes,
        [PLIM_PICKLE_OP_BINBYTES8] = op_binbytes8,
        [PLIM_PICKLE_OP_BYTEARRAY8] = op_bytearray8,
        [PLIM_PICKLE_OP_EMPTY_TUPLE] = op_empty_tuple,
        [PLIM_PICKLE_OP_EMPTY_SET] = op_empty_set,
        [PLIM_PICKLE_OP_TUPLE] = op_tuple,
        [PLIM_PICKLE_OP_TUPLE1] = op_tuple1,
        [PLIM_PICKLE_OP_TUPLE2] = op_tuple2,
        [PLIM_PICKLE_OP_TUPLE3] = op_tuple3,
        [PLIM_PICKLE_OP_LIST] = op_list,
        [PLIM_PICKLE_OP_DICT] = op_dict,
        [PLIM_PICKLE_OP_FROZENSET] = op_frozenset,
        [PLIM_PICKLE_OP_APPEND] = op_append,
        [PLIM_PICKLE_OP_SETITEM] = op_setitem,
        [PLIM_PICKLE_OP_ADDITEMS] = op_additems,
        [PLIM_PICKLE_OP_BINPUT] = op_binput,
        [PLIM_PICKLE_OP_LONG_BINPUT] = op_long_binput,
    };
    return functions[code];
}
