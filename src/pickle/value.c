/*
 * value.c - asking values what they are.
 */
#include "pickle/value.h"

#include <string.h>

plim_kind plim_value_kind(plim_value value)
{
    switch (value.bits & PLIM_TAG_MASK) {
    case PLIM_TAG_OBJECT:
        return value.bits == 0 ? PLIM_KIND_ABSENT : (plim_kind)plim_value_object(value)->kind;
    case PLIM_TAG_INT:
        return PLIM_KIND_INT;
    case PLIM_TAG_ROW:
        return PLIM_KIND_ROW;
    default:
        return value.bits == PLIM_VALUE_NONE.bits ? PLIM_KIND_NONE : PLIM_KIND_BOOL;
    }
}

const char *plim_kind_text(plim_kind kind)
{
    static const char *const texts[] = {
        [PLIM_KIND_ABSENT] = "nothing",    [PLIM_KIND_NONE] = "None",
        [PLIM_KIND_BOOL] = "a boolean",    [PLIM_KIND_INT] = "an integer",
        [PLIM_KIND_BIGINT] = "an integer", [PLIM_KIND_FLOAT] = "a float",
        [PLIM_KIND_STRING] = "a string",   [PLIM_KIND_BYTES] = "bytes",
        [PLIM_KIND_BYTEARRAY] = "bytes",   [PLIM_KIND_LIST] = "a list",
        [PLIM_KIND_TUPLE] = "a tuple",     [PLIM_KIND_DICT] = "a dict",
        [PLIM_KIND_SET] = "a set",         [PLIM_KIND_FROZENSET] = "a set",
        [PLIM_KIND_ROW] = "a dict",
    };
    return (size_t)kind < sizeof texts / sizeof texts[0] ? texts[kind] : "something";
}

bool plim_value_i64(plim_value value, int64_t *ret)
{
    if ((value.bits & PLIM_TAG_MASK) == PLIM_TAG_INT) {
        *ret = (int64_t)value.bits >> 3;
        return true;
    }
    bool boolean = false;
    if (plim_value_bool(value, &boolean)) {
        *ret = boolean;
        return true;
    }
    if (plim_value_kind(value) == PLIM_KIND_INT) {
        *ret = plim_value_object(value)->as.integer;
        return true;
    }
    return false;
}

bool plim_value_u64(plim_value value, uint64_t *ret)
{
    int64_t integer = 0;
    if (plim_value_i64(value, &integer)) {
        *ret = (uint64_t)integer;
        return true;
    }
    if (plim_value_kind(value) != PLIM_KIND_BIGINT) {
        return false;
    }
    /* 2^63 … 2^64-1 take nine bytes, the last of them zero for the sign. */
    const plim_object *object = plim_value_object(value);
    const unsigned char *bytes = (const unsigned char *)plim_object_bytes(object);
    if (object->as.bytes != 9 || bytes[8] != 0) {
        return false;
    }
    uint64_t result = 0;
    for (int i = 7; i >= 0; i--) {
        result = result << 8 | bytes[i];
    }
    *ret = result;
    return true;
}

bool plim_value_real(plim_value value, double *ret)
{
    int64_t integer = 0;
    if (plim_value_kind(value) == PLIM_KIND_FLOAT) {
        *ret = plim_value_object(value)->as.real;
        return true;
    }
    if (plim_value_i64(value, &integer)) {
        *ret = (double)integer;
        return true;
    }
    return false;
}

bool plim_value_bool(plim_value value, bool *ret)
{
    if (value.bits == PLIM_VALUE_TRUE.bits || value.bits == PLIM_VALUE_FALSE.bits) {
        *ret = value.bits == PLIM_VALUE_TRUE.bits;
        return true;
    }
    return false;
}

bool plim_value_string(plim_value value, const char **ret_text, size_t *ret_bytes)
{
    if (plim_value_kind(value) != PLIM_KIND_STRING) {
        return false;
    }
    const plim_object *object = plim_value_object(value);
    *ret_text = plim_object_bytes(object);
    *ret_bytes = (size_t)object->as.bytes;
    return true;
}

bool plim_value_is_string(plim_value value, const char *text)
{
    const char *own = NULL;
    size_t bytes = 0;
    return plim_value_string(value, &own, &bytes) && strlen(text) == bytes &&
           memcmp(own, text, bytes) == 0;
}

bool plim_value_row_of(plim_value value, uint8_t *ret_class, uint64_t *ret_id)
{
    const plim_value row = plim_value_clean(value);
    if ((row.bits & PLIM_TAG_MASK) != PLIM_TAG_ROW) {
        return false;
    }
    *ret_class = (uint8_t)(row.bits >> 3);
    *ret_id = row.bits >> 11;
    return true;
}

static const plim_array *array_of(plim_value value)
{
    return plim_value_is_object(value) ? plim_value_object(value)->as.array : NULL;
}

uint64_t plim_value_count(plim_value value)
{
    const plim_kind kind = plim_value_kind(value);
    if (kind != PLIM_KIND_LIST && kind != PLIM_KIND_TUPLE && kind != PLIM_KIND_SET &&
        kind != PLIM_KIND_FROZENSET) {
        return 0;
    }
    const plim_array *array = array_of(value);
    return array == NULL ? 0 : array->count;
}

plim_value plim_value_item(plim_value value, uint64_t index)
{
    const plim_array *array = array_of(value);
    if (array->is_run) {
        return (plim_value){ array->items[0].bits + (index << 11) };
    }
    return plim_value_clean(array->items[index]);
}

uint64_t plim_value_pairs(plim_value value)
{
    if (plim_value_kind(value) != PLIM_KIND_DICT) {
        return 0;
    }
    const plim_array *array = array_of(value);
    return array == NULL ? 0 : array->count / 2;
}

plim_value plim_value_pair_key(plim_value value, uint64_t index)
{
    return array_of(value)->items[index * 2];
}

plim_value plim_value_pair_value(plim_value value, uint64_t index)
{
    return array_of(value)->items[index * 2 + 1];
}

plim_value plim_value_get(plim_value dict, const char *key)
{
    for (uint64_t i = plim_value_pairs(dict); i > 0; i--) {
        if (plim_value_is_string(plim_value_pair_key(dict, i - 1), key)) {
            return plim_value_pair_value(dict, i - 1);
        }
    }
    return PLIM_VALUE_ABSENT;
}

uint32_t *plim_value_slot(plim_value value)
{
    switch (plim_value_kind(value)) {
    case PLIM_KIND_STRING:
        return &plim_value_object(value)->slot;
    case PLIM_KIND_LIST:
    case PLIM_KIND_TUPLE:
    case PLIM_KIND_DICT:
    case PLIM_KIND_SET:
    case PLIM_KIND_FROZENSET: {
        plim_array *array = plim_value_object(value)->as.array;
        return array == NULL ? NULL : &array->slot;
    }
    case PLIM_KIND_ABSENT:
    case PLIM_KIND_NONE:
    case PLIM_KIND_BOOL:
    case PLIM_KIND_INT:
    case PLIM_KIND_BIGINT:
    case PLIM_KIND_FLOAT:
    case PLIM_KIND_BYTES:
    case PLIM_KIND_BYTEARRAY:
    case PLIM_KIND_ROW:
        break;
    }
    return NULL;
}
