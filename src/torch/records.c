/*
 * records.c - records are recognised by their keys, and their fields read.
 *
 * Dicts with the same keys in the same order share a shape, so which field stands where is found
 * out once for each of a handful of shapes and not for each of millions of dicts.
 */
#include "torch/import.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

static const char *const field_names[] = {
#define FIELD_NAME(code, name) [FIELD_##code] = name,
    FIELD_LIST(FIELD_NAME)
#undef FIELD_NAME
};

/* The keys that make a dict a record of a kind, tried in this order. */
static const struct {
    plim_record_kind kind;
    plim_record_field keys[2];
} signatures[] = {
    { RECORD_EVENT, { FIELD_ACTION, FIELD_ACTION } },
    { RECORD_SEGMENT, { FIELD_BLOCKS, FIELD_TOTAL_SIZE } },
    { RECORD_BLOCK, { FIELD_STATE, FIELD_SIZE } },
    { RECORD_ANNOTATION, { FIELD_STAGE, FIELD_NAME } },
    { RECORD_FRAME, { FIELD_FILENAME, FIELD_NAME } },
};

static const char *const kind_names[RECORD_KIND_COUNT] = {
    [RECORD_EVENT] = "events", [RECORD_SEGMENT] = "segments",       [RECORD_BLOCK] = "blocks",
    [RECORD_FRAME] = "frames", [RECORD_ANNOTATION] = "annotations",
};

static int field_of_key(plim_value key)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (plim_value_is_string(key, field_names[i])) {
            return i;
        }
    }
    return -1;
}

void plim_record_shape_read(plim_record_shape *shape, const plim_value *pairs, size_t pair_count)
{
    memset(shape->position, -1, sizeof shape->position);
    shape->unknown = 0;
    shape->rows = 0;
    for (size_t i = 0; i < pair_count; i++) {
        const int found = field_of_key(pairs[2 * i]);
        shape->keys[i] = pairs[2 * i];
        if (found >= 0) {
            shape->position[found] = (int8_t)i; /* where a key repeats, the last counts */
        } else {
            shape->unknown |= UINT64_C(1) << i;
        }
    }
    shape->kind = RECORD_NONE;
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        if (shape->position[signatures[i].keys[0]] >= 0 &&
            shape->position[signatures[i].keys[1]] >= 0) {
            shape->kind = signatures[i].kind;
            return;
        }
    }
}

bool plim_record_of_dict(plim_value dict, plim_record_shape *scratch, plim_record *ret_record)
{
    const uint64_t count = plim_value_pairs(dict);
    if (count == 0 || count > PLIM_SHAPE_PAIRS_MAX) {
        return false;
    }
    const plim_value *pairs = plim_value_object(dict)->as.array->items;
    plim_record_shape_read(scratch, pairs, (size_t)count);
    *ret_record = (plim_record){ scratch, pairs };
    return scratch->kind != RECORD_NONE;
}

static plim_status count_field(plim_import *import, plim_record_kind kind, plim_value key,
                               uint64_t rows, plim_error *err)
{
    for (size_t i = 0; i < import->unknown_fields.count; i++) {
        unknown_field *field = &import->unknown_fields.items[i];
        if (field->kind == kind && field->key.bits == key.bits) {
            field->times += rows;
            return PLIM_OK;
        }
    }
    const unknown_field field = { kind, key, rows };
    /* More than can be warned of need no names. */
    if (import->unknown_fields.count < PLIM_WARNINGS_MAX &&
        !PLIM_VEC_PUSH(import->mem, &import->unknown_fields, field)) {
        return plim_fail_memory(err, "importing the snapshot");
    }
    return PLIM_OK;
}

plim_status plim_import_count_unknown(plim_import *import, const plim_record_shape *shape,
                                      uint64_t rows, plim_error *err)
{
    for (uint64_t left = shape->unknown, i = 0; left != 0; left >>= 1, i++) {
        if ((left & 1) != 0 && plim_value_kind(shape->keys[i]) == PLIM_KIND_STRING) {
            plim_history_count_anomaly(import->history, PLIM_ANOMALY_UNKNOWN_FIELD, rows);
            PLIM_TRY(count_field(import, shape->kind, shape->keys[i], rows, err));
        }
    }
    return PLIM_OK;
}

plim_status plim_import_report_unknown_fields(plim_import *import, plim_error *err)
{
    for (size_t i = 0; i < import->shapes.count; i++) {
        const plim_record_shape *shape = import->shapes.items[i];
        if (shape != NULL) {
            PLIM_TRY(plim_import_count_unknown(import, shape, shape->rows, err));
        }
    }
    for (size_t i = 0; i < import->unknown_fields.count; i++) {
        const unknown_field *field = &import->unknown_fields.items[i];
        const char *text = "";
        size_t bytes = 0;
        (void)plim_value_string(field->key, &text, &bytes);
        PLIM_TRY(plim_history_warn(import->history, err,
                                   "%s have a field \"%.80s\" that this version does not know "
                                   "(%llu times); it is left out",
                                   kind_names[field->kind], text,
                                   (unsigned long long)field->times));
    }
    return PLIM_OK;
}

static bool is_absent(plim_value value)
{
    return value.bits == 0 || value.bits == PLIM_VALUE_NONE.bits;
}

static void count_bad(plim_import *import)
{
    plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
}

int64_t plim_record_i64_slow(plim_import *import, plim_value value, int64_t fallback)
{
    int64_t integer = 0;
    double real = 0;
    if (plim_value_i64(value, &integer)) {
        return integer;
    }
    if (is_absent(value)) {
        return fallback;
    }
    if (plim_value_real(value, &real) && fabs(real) < 0x1p63) {
        return (int64_t)real;
    }
    count_bad(import);
    return fallback;
}

uint64_t plim_record_u64_slow(plim_import *import, plim_value value, uint64_t fallback)
{
    uint64_t integer = 0;
    double real = 0;
    if (plim_value_kind(value) == PLIM_KIND_BIGINT && plim_value_u64(value, &integer)) {
        return integer;
    }
    if (is_absent(value)) {
        return fallback;
    }
    if (plim_value_real(value, &real) && real >= 0 && real < 0x1p64) {
        return plim_value_u64(value, &integer) ? integer : (uint64_t)real;
    }
    count_bad(import);
    return fallback;
}

int32_t plim_record_device(plim_import *import, const plim_record *record)
{
    const int64_t device = plim_record_i64(import, record, FIELD_DEVICE, 0);
    if (device == PLIM_HOST_DEVICE) {
        return 0; /* where a record stands says whether it is the host's */
    }
    if (device < 0 || device > INT32_MAX) {
        count_bad(import);
        return 0;
    }
    return (int32_t)device;
}

uint64_t plim_record_handle_slow(plim_import *import, plim_value value)
{
    uint64_t handle = 0;
    return plim_value_u64(value, &handle) ? handle : plim_record_u64_slow(import, value, 0);
}

bool plim_record_bool(plim_import *import, const plim_record *record, plim_record_field field,
                      bool fallback)
{
    const plim_value value = record_get(record, field);
    int64_t integer = 0;
    if (plim_value_i64(value, &integer)) {
        return integer != 0;
    }
    if (!is_absent(value)) {
        count_bad(import);
    }
    return fallback;
}

plim_status plim_import_string(plim_import *import, plim_value value, uint32_t *ret_string,
                               plim_error *err)
{
    const char *text = NULL;
    size_t bytes = 0;
    if (!plim_value_string(value, &text, &bytes)) {
        *ret_string = PLIM_NONE;
        return PLIM_OK;
    }
    uint32_t *slot = plim_value_slot(value); /* the history's number + 1 */
    if (*slot == 0) {
        PLIM_TRY(plim_history_add_string(import->history, text, bytes, ret_string, err));
        *slot = *ret_string + 1;
    }
    *ret_string = *slot - 1;
    return PLIM_OK;
}

plim_status plim_record_string(plim_import *import, const plim_record *record,
                               plim_record_field field, uint32_t *ret_string, plim_error *err)
{
    const plim_value value = record_get(record, field);
    if (!is_absent(value) && plim_value_kind(value) != PLIM_KIND_STRING) {
        count_bad(import);
    }
    return plim_import_string(import, value, ret_string, err);
}

bool plim_record_pool(plim_import *import, const plim_record *record, plim_record_field field,
                      plim_pool_id *ret_pool)
{
    const plim_value value = record_get(record, field);
    plim_pool_id pool = { 0, 0 };
    if (is_absent(value)) {
        return false;
    }
    if (plim_value_count(value) != 2 || !plim_value_u64(plim_value_item(value, 0), &pool.a) ||
        !plim_value_u64(plim_value_item(value, 1), &pool.b)) {
        count_bad(import);
        return false;
    }
    *ret_pool = pool;
    return true;
}
