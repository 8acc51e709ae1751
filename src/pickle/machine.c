/*
 * machine.c - the parts of the pickle machine: its window on the bytes, its stack and its memo.
 */
#include "pickle/machine.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SLICE_BYTES    ((size_t)4 << 20) /* limits and progress are looked at this often */
#define MEMO_DENSE_MIN 1024u             /* numbers below are always kept in the array */

uint64_t plim_machine_offset(const plim_machine *machine, const uint8_t *at)
{
    return plim_input_offset(machine->input) + (uint64_t)(at - machine->window.data);
}

plim_status plim_machine_corrupt(const plim_machine *machine, plim_error *err, const char *format,
                                 ...)
{
    char what[PLIM_ERROR_MESSAGE_BYTES - 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return plim_fail_at(err, PLIM_CORRUPT, machine->opcode_offset, "damaged pickle: %s", what);
}

/* Drops what lies before `from` and has `wanted` bytes from there on, if the input has them. */
static plim_status refill(plim_machine *machine, const uint8_t *from, size_t wanted,
                          plim_error *err)
{
    const size_t consumed = (size_t)(from - machine->window.data);
    const uint64_t own_bytes =
        (machine->stack.capacity + machine->memo.capacity) * sizeof(plim_value) +
        machine->marks.capacity * sizeof(size_t);
    PLIM_TRY(
        plim_builder_check(machine->builder, own_bytes, plim_machine_offset(machine, from), err));
    PLIM_TRY(plim_input_refill(machine->input, consumed, wanted, &machine->window, err));
    machine->window_offset = plim_input_offset(machine->input);
    if (machine->options != NULL && machine->options->reading != NULL &&
        !machine->options->reading(machine->options->reading_ctx, machine->input)) {
        return plim_fail(err, PLIM_CANCELLED, "stopped while reading");
    }
    size_t slice = wanted > SLICE_BYTES ? wanted : SLICE_BYTES;
    if (slice > machine->window.length) {
        slice = machine->window.length;
    }
    machine->list_at = NULL;
    machine->records.begun = NULL;
    machine->cursor = machine->window.data;
    machine->end = machine->window.data + slice;
    return PLIM_OK;
}

static plim_status cut_off(const plim_machine *machine, plim_error *err)
{
    return plim_fail_at(err, PLIM_CORRUPT,
                        plim_input_offset(machine->input) + machine->window.length,
                        "the pickle is cut off: the file ends before its STOP; was the "
                        "recording still being written?");
}

/* Up to `bytes` bytes after the opcode in one piece: fewer only where the input ends. */
static plim_status gather(plim_machine *machine, size_t bytes, plim_error *err)
{
    /* The opcode's own byte is kept, so that an error can still point at it. */
    PLIM_TRY(refill(machine, machine->cursor - 1, bytes + 1, err));
    machine->cursor++;
    return PLIM_OK;
}

plim_status plim_machine_need(plim_machine *machine, uint64_t bytes, plim_error *err)
{
    if ((uint64_t)(machine->end - machine->cursor) >= bytes) {
        return PLIM_OK;
    }
    if (bytes >= SIZE_MAX / 2) {
        return cut_off(machine, err);
    }
    PLIM_TRY(gather(machine, (size_t)bytes, err));
    return (uint64_t)(machine->end - machine->cursor) >= bytes ? PLIM_OK : cut_off(machine, err);
}

plim_status plim_machine_more(plim_machine *machine, plim_error *err)
{
    PLIM_TRY(refill(machine, machine->cursor, 1, err));
    return machine->cursor == machine->end ? cut_off(machine, err) : PLIM_OK;
}

plim_status plim_machine_line(plim_machine *machine, const char **ret_line, size_t *ret_bytes,
                              plim_error *err)
{
    size_t searched = 0;
    for (;;) {
        const size_t at_hand = (size_t)(machine->end - machine->cursor);
        const uint8_t *newline = at_hand > searched
                                     ? memchr(machine->cursor + searched, '\n', at_hand - searched)
                                     : NULL;
        if (newline != NULL) {
            *ret_line = (const char *)machine->cursor;
            *ret_bytes = (size_t)(newline - machine->cursor);
            machine->cursor = newline + 1;
            return PLIM_OK;
        }
        searched = at_hand;
        PLIM_TRY(gather(machine, 2 * at_hand + 64, err));
        if ((size_t)(machine->end - machine->cursor) == at_hand) {
            return cut_off(machine, err);
        }
    }
}

plim_status plim_machine_push(plim_machine *machine, plim_value value, plim_error *err)
{
    if (!PLIM_VEC_PUSH(machine->builder->mem, &machine->stack, value)) {
        return plim_fail_memory(err, "reading the pickle");
    }
    return PLIM_OK;
}

plim_status plim_machine_push_made(plim_machine *machine, bool made, plim_value value,
                                   plim_error *err)
{
    return made ? plim_machine_push(machine, value, err)
                : plim_fail_memory(err, "reading the pickle");
}

plim_status plim_machine_check(plim_machine *machine, size_t count, plim_error *err)
{
    if (machine->stack.count - plim_machine_last_mark(machine) < count) {
        return plim_machine_corrupt(machine, err, "an opcode finds the stack empty");
    }
    return PLIM_OK;
}

plim_status plim_machine_pop_mark(plim_machine *machine, size_t *ret_height, plim_error *err)
{
    if (machine->marks.count == 0) {
        return plim_machine_corrupt(machine, err, "an opcode finds no mark on the stack");
    }
    *ret_height = machine->marks.items[--machine->marks.count];
    return PLIM_OK;
}

static bool memo_append(plim_machine *machine, plim_value value)
{
    return PLIM_VEC_PUSH(machine->builder->mem, &machine->memo, value);
}

/* Forms known by their bytes are forgotten once a memo entry has had two values. */
static void note_rewrite(plim_machine *machine, bool is_rewrite)
{
    machine->lists.is_off |= is_rewrite;
    machine->records.is_off |= is_rewrite;
}

plim_status plim_machine_put(plim_machine *machine, uint64_t number, plim_error *err)
{
    PLIM_TRY(plim_machine_check(machine, 1, err));
    const plim_value value = machine->stack.items[machine->stack.count - 1];
    bool done = true;
    if (number < machine->memo.count) {
        note_rewrite(machine, machine->memo.items[number].bits != 0);
        machine->memo_count += machine->memo.items[number].bits == 0;
        machine->memo.items[number] = value;
    } else if (number < MEMO_DENSE_MIN + 4 * machine->memo_count) {
        while (done && machine->memo.count < number) {
            done = memo_append(machine, PLIM_VALUE_ABSENT);
        }
        done = done && memo_append(machine, value);
        machine->memo_count++;
    } else {
        const bool is_new = plim_map_get(&machine->sparse_memo, number) == PLIM_MAP_ABSENT;
        note_rewrite(machine, !is_new);
        machine->memo_count += is_new;
        done = plim_map_put(&machine->sparse_memo, number, value.bits);
    }
    return done ? PLIM_OK : plim_fail_memory(err, "reading the pickle");
}

plim_status plim_machine_get(plim_machine *machine, uint64_t number, plim_error *err)
{
    plim_value value = PLIM_VALUE_ABSENT;
    if (number < machine->memo.count) {
        value = machine->memo.items[number];
    }
    if (value.bits == 0) {
        const uint64_t bits = plim_map_get(&machine->sparse_memo, number);
        if (bits == PLIM_MAP_ABSENT) {
            return plim_machine_corrupt(machine, err,
                                        "memo entry %llu is read but was never stored",
                                        (unsigned long long)number);
        }
        value.bits = bits;
    }
    return plim_machine_push(machine, value, err);
}

plim_status plim_machine_wrap(plim_machine *machine, plim_kind kind, size_t height, plim_error *err)
{
    plim_value container = PLIM_VALUE_ABSENT;
    if (!plim_make_container(machine->builder, kind, &container)) {
        return plim_fail_memory(err, "reading the pickle");
    }
    const size_t count = machine->stack.count - height;
    if (kind == PLIM_KIND_DICT && count % 2 != 0) {
        return plim_machine_corrupt(machine, err, "a dict has a key without a value");
    }
    PLIM_TRY(plim_container_extend(machine->builder, container, machine->stack.items + height,
                                   count, err));
    machine->stack.count = height;
    return plim_machine_push(machine, container, err);
}

plim_status plim_machine_extend(plim_machine *machine, plim_kind kind, size_t height,
                                plim_error *err)
{
    if (height == 0 || height <= plim_machine_last_mark(machine)) {
        return plim_machine_corrupt(machine, err, "items are added to nothing");
    }
    const plim_value container = machine->stack.items[height - 1];
    const size_t count = machine->stack.count - height;
    plim_kind actual = plim_value_kind(container);
    if (actual == PLIM_KIND_ROW) {
        actual = PLIM_KIND_DICT; /* a finished record: plim_container_extend() says so */
    }
    if (actual != kind) {
        return plim_machine_corrupt(machine, err, "items for %s are added to %s",
                                    plim_kind_text(kind), plim_kind_text(actual));
    }
    if (kind == PLIM_KIND_DICT && count % 2 != 0) {
        return plim_machine_corrupt(machine, err, "a dict gets a key without a value");
    }
    const plim_status status = plim_container_extend(machine->builder, container,
                                                     machine->stack.items + height, count, err);
    if (status != PLIM_OK && err != NULL && err->offset == PLIM_NO_OFFSET) {
        err->offset = machine->opcode_offset;
    }
    machine->stack.count = height;
    return status;
}
