/*
 * reader.c - running a pickle: the loop over its opcodes.
 *
 * run_fast() has the opcodes that make up nine tenths of real snapshots, most of them memo reads,
 * and looks neither left nor right; run_start() runs whole records and lists whose bytes are known
 * (record_cache.h, list_cache.h); run_one() runs any opcode with every check. The infrequent
 * ones are functions, found by code (opcodes*.c).
 */
#include "pickle/reader.h"

#include "base/error.h"
#include "pickle/bytes.h"
#include "pickle/machine.h"

#define FAST_BYTES 16 /* the longest opcode of run_fast(), rounded up */

/* An opcode outside the loop, or no opcode at all. */
static plim_status run_other(plim_machine *machine, uint8_t code, plim_error *err)
{
    plim_opcode_function *function = plim_opcode_function_of(code);
    if (function == NULL) {
        function = plim_text_opcode_of(code);
    }
    if (function == NULL) {
        function = plim_forbidden_opcode_of(code);
    }
    if (function == NULL) {
        return plim_machine_corrupt(machine, err, "byte 0x%02x is no opcode", code);
    }
    return function(machine, err);
}

static plim_status push_int(plim_machine *machine, int64_t integer, plim_error *err)
{
    return plim_machine_push(machine, plim_small_int(integer), err);
}

static plim_status push_string(plim_machine *machine, size_t bytes, plim_error *err)
{
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made = plim_make_string(machine->builder, machine->cursor, bytes, &value);
    machine->cursor += bytes;
    return plim_machine_push_made(machine, made, value, err);
}

static plim_status push_long(plim_machine *machine, size_t bytes, plim_error *err)
{
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made = plim_make_long(machine->builder, machine->cursor, bytes, &value);
    machine->cursor += bytes;
    return plim_machine_push_made(machine, made, value, err);
}

static plim_status push_container(plim_machine *machine, plim_kind kind, plim_error *err)
{
    plim_value value = PLIM_VALUE_ABSENT;
    const bool made = plim_make_container(machine->builder, kind, &value);
    return plim_machine_push_made(machine, made, value, err);
}

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "reading the pickle");
}

/* MEMOIZE and the push of a value for which has_room() found room. */
static void place(plim_machine *machine, plim_value value)
{
    machine->memo.items[machine->memo.count++] = value;
    machine->memo_count++;
    machine->stack.items[machine->stack.count++] = value;
}

/*
 * EMPTY_LIST MEMOIZE MARK at `at`: if the list's bytes are known, all of it is run at once, and
 * *ret_after is the byte after it. Otherwise NULL, and the list may be learned at its end.
 */
static plim_status run_known_list(plim_machine *machine, const uint8_t *at,
                                  const uint8_t **ret_after, plim_error *err)
{
    plim_builder *builder = machine->builder;
    *ret_after = NULL;
    if (at[1] != PLIM_PICKLE_OP_MEMOIZE || at[2] != PLIM_PICKLE_OP_MARK || builder->sink == NULL) {
        return PLIM_OK;
    }
    machine->list_at = at + 3;
    size_t length = 0;
    plim_value list = PLIM_VALUE_ABSENT;
    plim_array *items = plim_list_cache_find(&machine->lists, machine->list_at,
                                             (size_t)(machine->end - machine->list_at), &length);
    if (items == NULL) {
        return PLIM_OK;
    }
    if (!plim_make_list_of(builder, items, &list)) {
        return no_memory(err);
    }
    place(machine, list);
    *ret_after = machine->list_at + length;
    return PLIM_OK;
}

/*
 * EMPTY_DICT MEMOIZE MARK at `at`, as every record begins: all three at once. *ret_after is the
 * byte after them, or NULL where they are not all there.
 */
static plim_status run_dict_start(plim_machine *machine, const uint8_t *at,
                                  const uint8_t **ret_after, plim_error *err)
{
    plim_value dict = PLIM_VALUE_ABSENT;
    *ret_after = NULL;
    if (at[1] != PLIM_PICKLE_OP_MEMOIZE || at[2] != PLIM_PICKLE_OP_MARK ||
        machine->marks.count == machine->marks.capacity) {
        return PLIM_OK;
    }
    if (!plim_make_container(machine->builder, PLIM_KIND_DICT, &dict)) {
        return no_memory(err);
    }
    machine->records.begun = at;
    place(machine, dict);
    machine->marks.items[machine->marks.count++] = machine->stack.count;
    *ret_after = at + 3;
    return PLIM_OK;
}

static plim_status append_marked(plim_machine *machine, plim_error *err)
{
    size_t height = 0;
    PLIM_TRY(plim_machine_pop_mark(machine, &height, err));
    PLIM_TRY(plim_machine_extend(machine, PLIM_KIND_LIST, height, err));
    const plim_object *list = plim_value_object(machine->stack.items[height - 1]);
    plim_array *items = list->as.array;
    if (machine->list_at != NULL && machine->builder->sink != NULL && items != NULL &&
        items->capacity == 0 && !items->is_run &&
        !plim_list_cache_learn(&machine->lists, machine->list_at,
                               (size_t)(machine->cursor - machine->list_at), items)) {
        return no_memory(err);
    }
    machine->list_at = NULL;
    return PLIM_OK;
}

static plim_status set_marked(plim_machine *machine, plim_error *err)
{
    size_t height = 0;
    PLIM_TRY(plim_machine_pop_mark(machine, &height, err));
    const size_t count = machine->stack.count - height;
    PLIM_TRY(plim_machine_extend(machine, PLIM_KIND_DICT, height, err));
    /* The pairs are still where they were, above the top of the stack. */
    if (plim_value_kind(machine->stack.items[height - 1]) == PLIM_KIND_ROW &&
        !plim_record_learn(machine, machine->cursor, machine->stack.items + height, count / 2)) {
        return no_memory(err);
    }
    machine->records.begun = NULL;
    return PLIM_OK;
}

/* Bytes after the opcode that run_one() reads without looking. */
static const uint8_t operand_bytes[256] = {
    [PLIM_PICKLE_OP_BINGET] = 1,           [PLIM_PICKLE_OP_LONG_BINGET] = 4,
    [PLIM_PICKLE_OP_BININT] = 4,           [PLIM_PICKLE_OP_BININT1] = 1,
    [PLIM_PICKLE_OP_BININT2] = 2,          [PLIM_PICKLE_OP_LONG1] = 1,
    [PLIM_PICKLE_OP_SHORT_BINUNICODE] = 1,
};

/* One opcode, with every check: near the end of the window, and where run_fast() stops. */
static plim_status run_one(plim_machine *machine, uint8_t code, plim_error *err)
{
    if ((size_t)(machine->end - machine->cursor) < operand_bytes[code]) {
        PLIM_TRY(plim_machine_need(machine, operand_bytes[code], err));
    }
    const uint8_t *p = machine->cursor;
    switch (code) {
    case PLIM_PICKLE_OP_BINGET:
        machine->cursor += 1;
        return plim_machine_get(machine, p[0], err);
    case PLIM_PICKLE_OP_LONG_BINGET:
        machine->cursor += 4;
        return plim_machine_get(machine, plim_load_u32(p), err);
    case PLIM_PICKLE_OP_BININT:
        machine->cursor += 4;
        return push_int(machine, (int32_t)plim_load_u32(p), err);
    case PLIM_PICKLE_OP_BININT1:
        machine->cursor += 1;
        return push_int(machine, p[0], err);
    case PLIM_PICKLE_OP_BININT2:
        machine->cursor += 2;
        return push_int(machine, p[0] | p[1] << 8, err);
    case PLIM_PICKLE_OP_MEMOIZE:
        return plim_machine_put(machine, machine->memo_count, err);
    case PLIM_PICKLE_OP_MARK:
        return PLIM_VEC_PUSH(machine->builder->mem, &machine->marks, machine->stack.count)
                   ? PLIM_OK
                   : no_memory(err);
    case PLIM_PICKLE_OP_EMPTY_DICT:
        return push_container(machine, PLIM_KIND_DICT, err);
    case PLIM_PICKLE_OP_EMPTY_LIST:
        return push_container(machine, PLIM_KIND_LIST, err);
    case PLIM_PICKLE_OP_SETITEMS:
        return set_marked(machine, err);
    case PLIM_PICKLE_OP_APPENDS:
        return append_marked(machine, err);
    case PLIM_PICKLE_OP_LONG1:
        PLIM_TRY(plim_machine_need(machine, (uint64_t)p[0] + 1, err));
        machine->cursor += 1;
        return push_long(machine, machine->cursor[-1], err);
    case PLIM_PICKLE_OP_SHORT_BINUNICODE:
        PLIM_TRY(plim_machine_need(machine, (uint64_t)p[0] + 1, err));
        machine->cursor += 1;
        return push_string(machine, machine->cursor[-1], err);
    default:
        return run_other(machine, code, err);
    }
}

/*
 * As many opcodes as need no look left or right: their bytes are surely in the window, the stack
 * and the memo have room, nothing can fail. It stops before the first that does not fit, and
 * run_one() takes that. Nine opcodes in ten are run here.
 */
static void run_fast(plim_machine *machine)
{
    const uint8_t *p = machine->cursor;
    const uint8_t *end = machine->end - FAST_BYTES;
    plim_value *top = machine->stack.items + machine->stack.count;
    const plim_value *limit = machine->stack.items + machine->stack.capacity;
    plim_value *const memo = machine->memo.items;
    size_t memo_count = machine->memo.count;
    const bool is_dense = machine->memo_count == memo_count;
    const plim_value *floor = top - (machine->stack.count - plim_machine_last_mark(machine));

    while (p < end && top < limit) {
        size_t number = p[1];
        size_t bytes = 2;
        switch (*p) {
        case PLIM_PICKLE_OP_LONG_BINGET:
            number = plim_load_u32(p + 1);
            bytes = 5;
            /* fall through */
        case PLIM_PICKLE_OP_BINGET:
            if (number >= memo_count || memo[number].bits == 0) {
                goto stop;
            }
            *top++ = memo[number];
            p += bytes;
            break;
        case PLIM_PICKLE_OP_BININT:
            *top++ = plim_small_int((int32_t)plim_load_u32(p + 1));
            p += 5;
            break;
        case PLIM_PICKLE_OP_BININT1:
            *top++ = plim_small_int(p[1]);
            p += 2;
            break;
        case PLIM_PICKLE_OP_BININT2:
            *top++ = plim_small_int(p[1] | p[2] << 8);
            p += 3;
            break;
        case PLIM_PICKLE_OP_LONG1: /* up to 7 bytes fit a value with room for the tag */
            if (p[1] == 0 || p[1] > 7) {
                goto stop;
            }
            *top++ = plim_short_long(p + 2, p[1]);
            p += 2 + p[1];
            break;
        case PLIM_PICKLE_OP_MEMOIZE:
            if (!is_dense || memo_count == machine->memo.capacity || top == floor) {
                goto stop;
            }
            memo[memo_count++] = top[-1];
            p++;
            break;
        default:
            goto stop;
        }
    }
stop:
    machine->cursor = p;
    machine->stack.count = (size_t)(top - machine->stack.items);
    machine->memo_count += memo_count - machine->memo.count;
    machine->memo.count = memo_count;
}

/* For one more value on the stack and, where MEMOIZE takes the next place, in the memo. */
static bool has_room(const plim_machine *machine)
{
    return machine->stack.count < machine->stack.capacity &&
           machine->memo.count < machine->memo.capacity &&
           machine->memo_count == machine->memo.count &&
           machine->end - machine->cursor > FAST_BYTES;
}

/* All of a record or list that is known, or the beginning of a dict; NULL where it is neither. */
static plim_status run_start(plim_machine *machine, const uint8_t **ret_after, plim_error *err)
{
    const uint8_t *at = machine->cursor;
    *ret_after = NULL;
    if ((*at != PLIM_PICKLE_OP_EMPTY_DICT && *at != PLIM_PICKLE_OP_EMPTY_LIST) ||
        !has_room(machine)) {
        return PLIM_OK;
    }
    if (*at == PLIM_PICKLE_OP_EMPTY_LIST) {
        return run_known_list(machine, at, ret_after, err);
    }
    PLIM_TRY(plim_record_run(machine, at, ret_after, err));
    return *ret_after == NULL ? run_dict_start(machine, at, ret_after, err) : PLIM_OK;
}

static plim_status run(plim_machine *machine, plim_error *err)
{
    for (;;) {
        if (machine->end - machine->cursor > FAST_BYTES) {
            run_fast(machine);
            const uint8_t *after = NULL;
            PLIM_TRY(run_start(machine, &after, err));
            if (after != NULL) {
                machine->cursor = after;
                continue;
            }
        }
        if (machine->cursor == machine->end) {
            PLIM_TRY(plim_machine_more(machine, err));
        }
        machine->opcode_offset =
            machine->window_offset + (uint64_t)(machine->cursor - machine->window.data);
        const uint8_t code = *machine->cursor++;
        if (code == PLIM_PICKLE_OP_STOP) {
            return plim_machine_check(machine, 1, err);
        }
        PLIM_TRY(run_one(machine, code, err));
    }
}

plim_status plim_pickle_read(plim_input *input, plim_builder *builder,
                             const plim_pickle_options *options, plim_pickle_facts *ret_facts,
                             plim_value *ret_root, plim_error *err)
{
    plim_machine machine = { .input = input, .builder = builder, .options = options };
    plim_map_init(&machine.sparse_memo, builder->mem);
    plim_list_cache_init(&machine.lists, builder->mem);
    plim_status status = plim_input_refill(input, 0, 1, &machine.window, err);
    machine.cursor = machine.end = machine.window.data;
    machine.window_offset = plim_input_offset(input);
    /* From the start, so that no pointer to its top is ever NULL and something. */
    if (status == PLIM_OK && !plim_vec_room(builder->mem, &machine.stack.items,
                                            &machine.stack.capacity, 0, sizeof(plim_value))) {
        status = no_memory(err);
    }
    if (status == PLIM_OK) {
        status = run(&machine, err);
    }
    if (status == PLIM_OK) {
        *ret_root = machine.stack.items[machine.stack.count - 1];
        *ret_facts = machine.facts;
    }
    plim_map_deinit(&machine.sparse_memo);
    plim_list_cache_deinit(&machine.lists);
    plim_record_cache_deinit(&machine.records, builder->mem);
    PLIM_VEC_FREE(builder->mem, &machine.stack);
    PLIM_VEC_FREE(builder->mem, &machine.marks);
    PLIM_VEC_FREE(builder->mem, &machine.memo);
    return status;
}

bool plim_pickle_looks_like(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return false;
    }
    if (data[0] == PLIM_PICKLE_OP_PROTO) {
        return true;
    }
    /* Protocols 0 and 1 start with a container; JSON's '{' and '[' are no opcodes. */
    return data[0] == PLIM_PICKLE_OP_MARK || data[0] == PLIM_PICKLE_OP_EMPTY_DICT ||
           data[0] == PLIM_PICKLE_OP_EMPTY_LIST || data[0] == PLIM_PICKLE_OP_GLOBAL;
}
