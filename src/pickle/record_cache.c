/*
 * record_cache.c - running records by their form, and learning forms.
 */
#include "pickle/record_cache.h"

#include "base/error.h"
#include "pickle/bytes.h"
#include "pickle/machine.h"

#include <string.h>

/* Bytes that may be looked at without asking how many are left: key, opcode and operand. */
#define MARGIN 24

void plim_record_cache_deinit(plim_record_cache *cache, const plim_mem *mem)
{
    plim_mem_free(mem, cache->forms, PLIM_RECORD_FORMS, sizeof *cache->forms);
    *cache = (plim_record_cache){ 0 };
}

static bool matches(const plim_byte_pattern *pattern, const uint8_t *at)
{
    return ((plim_load_u64(at) ^ pattern->bits) & pattern->mask) == 0;
}

static plim_byte_pattern pattern_of(const uint8_t *at, size_t length)
{
    const uint64_t mask = length >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * length) - 1;
    return (plim_byte_pattern){ plim_load_u64(at) & mask, mask, (uint32_t)length };
}

/* --- values --- */

/* The answer of a plim_make_…(): lack of memory differs from values of other kinds. */
static bool is_made(plim_machine *machine, bool made)
{
    machine->records.has_no_memory |= !made;
    return made;
}

static bool is_memoized(plim_machine *machine, plim_value value)
{
    if (machine->memo.count == machine->memo.capacity) {
        return false;
    }
    machine->memo.items[machine->memo.count++] = value;
    return true;
}

static const uint8_t *read_memo(const plim_machine *machine, size_t number, const uint8_t *after,
                                plim_value *ret)
{
    if (number >= machine->memo.count || machine->memo.items[number].bits == 0) {
        return NULL;
    }
    *ret = machine->memo.items[number];
    return after;
}

/* SHORT_BINUNICODE and its MEMOIZE. */
static const uint8_t *read_text(plim_machine *machine, plim_pickle_record_field *field,
                                const uint8_t *at, plim_value *ret)
{
    const size_t length = at[1];
    if ((size_t)(machine->end - at) < length + MARGIN || at[2 + length] != PLIM_PICKLE_OP_MEMOIZE ||
        !is_made(machine, plim_make_string(machine->builder, at + 2, length, ret)) ||
        !is_memoized(machine, *ret)) {
        return NULL;
    }
    if (length + 3 <= 8) {
        field->seen = pattern_of(at, length + 3);
        field->seen_value = *ret;
    }
    return at + length + 3;
}

/* Two BININT1, TUPLE2 and MEMOIZE: the id of a pool. */
static const uint8_t *read_pair(plim_machine *machine, plim_pickle_record_field *field,
                                const uint8_t *at, plim_value *ret)
{
    const plim_value items[2] = { plim_small_int(at[1]), plim_small_int(at[3]) };
    if (!is_made(machine, plim_make_container(machine->builder, PLIM_KIND_TUPLE, ret)) ||
        !is_made(machine,
                 plim_container_extend(machine->builder, *ret, items, 2, NULL) == PLIM_OK) ||
        !is_memoized(machine, *ret)) {
        return NULL;
    }
    field->seen = pattern_of(at, 6);
    field->seen_value = *ret;
    return at + 6;
}

/* EMPTY_LIST and MEMOIZE, with known items or with none. */
static const uint8_t *read_list(plim_machine *machine, const uint8_t *at, plim_value *ret)
{
    const uint8_t *after = at + 2;
    if (at[1] != PLIM_PICKLE_OP_MEMOIZE) {
        return NULL;
    }
    if (at[2] == PLIM_PICKLE_OP_MARK) {
        size_t length = 0;
        plim_array *items =
            plim_list_cache_find(&machine->lists, at + 3, (size_t)(machine->end - at) - 3, &length);
        after = at + 3 + length;
        if (items == NULL || !is_made(machine, plim_make_list_of(machine->builder, items, ret))) {
            return NULL;
        }
    } else if (!is_made(machine, plim_make_container(machine->builder, PLIM_KIND_LIST, ret))) {
        return NULL;
    }
    return is_memoized(machine, *ret) ? after : NULL;
}

/* The value at `at`; the byte after it, or NULL if it is not a usual one. */
static const uint8_t *read_value(plim_machine *machine, plim_pickle_record_field *field,
                                 const uint8_t *at, plim_value *ret)
{
    switch (*at) {
    case PLIM_PICKLE_OP_BINGET:
        return read_memo(machine, at[1], at + 2, ret);
    case PLIM_PICKLE_OP_LONG_BINGET:
        return read_memo(machine, plim_load_u32(at + 1), at + 5, ret);
    case PLIM_PICKLE_OP_BININT:
        *ret = plim_small_int((int32_t)plim_load_u32(at + 1));
        return at + 5;
    case PLIM_PICKLE_OP_BININT2:
        *ret = plim_small_int(at[1] | at[2] << 8);
        return at + 3;
    case PLIM_PICKLE_OP_LONG1:
        if (at[1] == 0 || at[1] > 7) {
            return NULL;
        }
        *ret = plim_short_long(at + 2, at[1]);
        return at + 2 + at[1];
    case PLIM_PICKLE_OP_NEWTRUE:
    case PLIM_PICKLE_OP_NEWFALSE:
        *ret = *at == PLIM_PICKLE_OP_NEWTRUE ? PLIM_VALUE_TRUE : PLIM_VALUE_FALSE;
        return at + 1;
    case PLIM_PICKLE_OP_EMPTY_LIST:
        return read_list(machine, at, ret);
    default:
        break;
    }
    /* The kinds that may have been seen before; a plain small number is one of them in form. */
    if (field->seen.length > 0 && matches(&field->seen, at)) {
        *ret = field->seen_value;
        return is_memoized(machine, *ret) ? at + field->seen.length : NULL;
    }
    if (*at == PLIM_PICKLE_OP_SHORT_BINUNICODE) {
        return read_text(machine, field, at, ret);
    }
    if (*at != PLIM_PICKLE_OP_BININT1) {
        return NULL;
    }
    if (at[2] == PLIM_PICKLE_OP_BININT1 && at[4] == PLIM_PICKLE_OP_TUPLE2 &&
        at[5] == PLIM_PICKLE_OP_MEMOIZE) {
        return read_pair(machine, field, at, ret);
    }
    *ret = plim_small_int(at[1]);
    return at + 2;
}

/* --- running --- */

/* All pairs of a record; the byte after its SETITEMS, or NULL. */
static const uint8_t *read_pairs(plim_machine *machine, plim_record_form *form, const uint8_t *at)
{
    const uint8_t *end = machine->end - MARGIN;
    for (uint32_t i = 0; i < form->field_count; i++) {
        plim_pickle_record_field *field = &form->fields[i];
        if (at >= end || !matches(&field->key, at)) {
            return NULL;
        }
        at = read_value(machine, field, at + field->key.length, &form->pairs[2 * i + 1]);
        if (at == NULL) {
            return NULL;
        }
    }
    return at < end && *at == PLIM_PICKLE_OP_SETITEMS ? at + 1 : NULL;
}

/* Runs the record at `at` as one of this form: the byte after it, or NULL and nothing changed. */
static inline const uint8_t *run_form(plim_machine *machine, plim_record_form *form,
                                      const uint8_t *at)
{
    /* The record's own place in the memo stays empty until it is a row. */
    const size_t place = machine->memo.count++;
    machine->memo.items[place] = PLIM_VALUE_ABSENT;
    const uint8_t *after = read_pairs(machine, form, at);
    if (after == NULL) {
        machine->memo.count = place;
    }
    return after;
}

/* A record that does not have the expected form: as any other. Out of line, so that the loop over
 * the expected form's fields is in plim_record_run() itself. */
__attribute__((noinline)) static const uint8_t *run_other_form(plim_machine *machine,
                                                               const uint8_t *at, uint32_t expected)
{
    plim_record_cache *cache = &machine->records;
    for (uint32_t i = 0; i < cache->count && !cache->has_no_memory; i++) {
        const uint8_t *after = i == expected ? NULL : run_form(machine, &cache->forms[i], at);
        if (after != NULL) {
            cache->forms[cache->last].next = i;
            cache->last = i;
            return after;
        }
    }
    return NULL;
}

plim_status plim_record_run(plim_machine *machine, const uint8_t *at, const uint8_t **ret_after,
                            plim_error *err)
{
    plim_record_cache *cache = &machine->records;
    *ret_after = NULL;
    if (cache->is_off || cache->count == 0 || machine->end - at < MARGIN ||
        at[1] != PLIM_PICKLE_OP_MEMOIZE || at[2] != PLIM_PICKLE_OP_MARK ||
        machine->memo.count == machine->memo.capacity) {
        return PLIM_OK;
    }
    const size_t place = machine->memo.count;
    /* Kinds of events with different keys take turns: the form that followed the last one before.
     */
    const uint32_t expected = cache->forms[cache->last].next;
    *ret_after = run_form(machine, &cache->forms[expected], at + 3);
    if (*ret_after != NULL) {
        cache->last = expected;
    } else {
        *ret_after = run_other_form(machine, at + 3, expected);
    }
    if (*ret_after == NULL) {
        return cache->has_no_memory ? plim_fail_memory(err, "reading the pickle") : PLIM_OK;
    }
    const plim_record_form *form = &cache->forms[cache->last];
    plim_value row = PLIM_VALUE_ABSENT;
    const plim_status status = plim_make_row(machine->builder, form->shape, form->pairs, &row, err);
    machine->memo.items[place] = row;
    machine->memo_count += machine->memo.count - place;
    machine->stack.items[machine->stack.count++] = row;
    return status;
}

/* --- learning --- */

/* Steps over a memo read; NULL without one. */
static const uint8_t *skip_memo_read(const uint8_t *at)
{
    switch (*at) {
    case PLIM_PICKLE_OP_BINGET:
        return at + 2;
    case PLIM_PICKLE_OP_LONG_BINGET:
        return at + 5;
    default:
        return NULL;
    }
}

/* Steps over a list of memo reads after its EMPTY_LIST. */
static const uint8_t *skip_list(const uint8_t *at, const uint8_t *end)
{
    if (*at != PLIM_PICKLE_OP_MEMOIZE || at[1] != PLIM_PICKLE_OP_MARK) {
        return *at == PLIM_PICKLE_OP_MEMOIZE ? at + 1 : NULL;
    }
    at += 2;
    while (at != NULL && at < end && *at != PLIM_PICKLE_OP_APPENDS) {
        at = skip_memo_read(at);
    }
    return at == NULL ? NULL : at + 1;
}

/* Steps over a value of the kinds that read_value() knows; NULL for any other. */
static const uint8_t *skip_value(const uint8_t *at, const uint8_t *end)
{
    switch (*at) {
    case PLIM_PICKLE_OP_BINGET:
    case PLIM_PICKLE_OP_LONG_BINGET:
        return skip_memo_read(at);
    case PLIM_PICKLE_OP_BININT:
        return at + 5;
    case PLIM_PICKLE_OP_BININT1:
        if (at[2] == PLIM_PICKLE_OP_BININT1 && at[4] == PLIM_PICKLE_OP_TUPLE2) {
            return at[5] == PLIM_PICKLE_OP_MEMOIZE ? at + 6 : NULL;
        }
        return at + 2;
    case PLIM_PICKLE_OP_BININT2:
        return at + 3;
    case PLIM_PICKLE_OP_LONG1:
        return at + 2 + at[1];
    case PLIM_PICKLE_OP_NEWTRUE:
    case PLIM_PICKLE_OP_NEWFALSE:
        return at + 1;
    case PLIM_PICKLE_OP_SHORT_BINUNICODE:
        return at + 2 + at[1] < end && at[2 + at[1]] == PLIM_PICKLE_OP_MEMOIZE ? at + 3 + at[1]
                                                                               : NULL;
    case PLIM_PICKLE_OP_EMPTY_LIST:
        return skip_list(at + 1, end);
    default:
        return NULL;
    }
}

static bool read_form(plim_record_form *form, const uint8_t *at, const uint8_t *end,
                      const plim_value *pairs, size_t pair_count)
{
    for (size_t i = 0; i < pair_count; i++) {
        if (end - at < MARGIN && i + 1 < pair_count) {
            return false; /* too near the end to be looked at freely: another will come */
        }
        const uint8_t *value = skip_memo_read(at);
        if (value == NULL || value >= end) {
            return false;
        }
        form->fields[i] = (plim_pickle_record_field){ .key = pattern_of(at, (size_t)(value - at)) };
        form->pairs[2 * i] = pairs[2 * i];
        at = skip_value(value, end);
        if (at == NULL || at > end) {
            return false;
        }
    }
    return at == end;
}

static bool is_known(const plim_record_cache *cache, const plim_record_form *form)
{
    for (uint32_t i = 0; i < cache->count; i++) {
        if (cache->forms[i].fields[0].key.bits == form->fields[0].key.bits &&
            cache->forms[i].shape == form->shape) {
            return true;
        }
    }
    return false;
}

bool plim_record_learn(plim_machine *machine, const uint8_t *after, const plim_value *pairs,
                       size_t pair_count)
{
    plim_record_cache *cache = &machine->records;
    if (cache->is_off || cache->begun == NULL || pair_count > PLIM_RECORD_FIELDS ||
        cache->count == PLIM_RECORD_FORMS ||
        machine->window.data + machine->window.length - after < MARGIN) {
        return true;
    }
    if (cache->forms == NULL) {
        cache->forms =
            plim_mem_alloc(machine->builder->mem, PLIM_RECORD_FORMS, sizeof *cache->forms);
        if (cache->forms == NULL) {
            return false;
        }
    }
    plim_record_form *form = &cache->forms[cache->count];
    form->field_count = (uint32_t)pair_count;
    if (plim_builder_shape(machine->builder, pairs, pair_count, &form->shape) &&
        read_form(form, cache->begun + 3, after - 1, pairs, pair_count) && !is_known(cache, form)) {
        form->next = cache->count++;
    }
    return true;
}
