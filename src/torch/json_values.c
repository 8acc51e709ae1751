/*
 * json_values.c - the tokens of a JSON document into a builder.
 *
 * Containers collect their items on a stack until they end.
 */
#include "torch/json_values.h"

#include "base/error.h"
#include "base/vec.h"
#include "json/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES_MAX 400 /* a double's longest exact form has some 330 digits */

typedef struct json_values {
    plim_builder *builder;
    const plim_pickle_options *options; /* may be NULL */
    PLIM_VEC(plim_value) stack;
    PLIM_VEC(size_t) marks; /* stack heights where open containers begin */
} json_values;

static plim_status push(json_values *values, bool made, plim_value value, plim_error *err)
{
    return made && PLIM_VEC_PUSH(values->builder->mem, &values->stack, value)
               ? PLIM_OK
               : plim_fail_memory(err, "reading the JSON");
}

static plim_status take_number(json_values *values, const char *text, size_t bytes, plim_error *err)
{
    char copy[NUMBER_BYTES_MAX + 1];
    plim_value value = PLIM_VALUE_ABSENT;
    if (bytes > NUMBER_BYTES_MAX) {
        return plim_fail(err, PLIM_LIMIT, "a number of %zu digits", bytes);
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    if (strpbrk(copy, ".eE") == NULL) {
        errno = 0;
        const long long integer = strtoll(copy, NULL, 10);
        if (errno == 0) {
            return push(values, plim_make_int(values->builder, integer, &value), value, err);
        }
        errno = 0;
        uint8_t little[9] = { 0 }; /* unsigned, hence a ninth byte for the sign */
        unsigned long long large = copy[0] == '-' ? 0 : strtoull(copy, NULL, 10);
        if (errno == 0 && large != 0) {
            for (size_t i = 0; i < 8; i++) {
                little[i] = (uint8_t)large;
                large >>= 8;
            }
            return push(values, plim_make_long(values->builder, little, 9, &value), value, err);
        }
    }
    return push(values, plim_make_real(values->builder, strtod(copy, NULL), &value), value, err);
}

static plim_status begin(json_values *values, plim_error *err)
{
    return PLIM_VEC_PUSH(values->builder->mem, &values->marks, values->stack.count)
               ? PLIM_OK
               : plim_fail_memory(err, "reading the JSON");
}

static plim_status end(json_values *values, plim_kind kind, plim_error *err)
{
    const size_t height = values->marks.items[--values->marks.count];
    plim_value value = PLIM_VALUE_ABSENT;
    if (!plim_make_container(values->builder, kind, &value)) {
        return plim_fail_memory(err, "reading the JSON");
    }
    PLIM_TRY(plim_container_extend(values->builder, value, values->stack.items + height,
                                   values->stack.count - height, err));
    values->stack.count = height;
    /* JSON has no names for values, so nothing but its parent will ever see the dict of a row. */
    return push(values, true, plim_value_clean(value), err);
}

static plim_status take(void *ctx, plim_json_token token, const char *text, size_t bytes,
                        plim_error *err)
{
    json_values *const values = ctx;
    plim_value value = PLIM_VALUE_ABSENT;
    switch (token) {
    case PLIM_JSON_NULL:
        return push(values, true, PLIM_VALUE_NONE, err);
    case PLIM_JSON_FALSE:
        return push(values, true, PLIM_VALUE_FALSE, err);
    case PLIM_JSON_TRUE:
        return push(values, true, PLIM_VALUE_TRUE, err);
    case PLIM_JSON_NUMBER:
        return take_number(values, text, bytes, err);
    case PLIM_JSON_STRING:
    case PLIM_JSON_KEY:
        return push(values,
                    plim_make_string(values->builder, (const unsigned char *)text, bytes, &value),
                    value, err);
    case PLIM_JSON_MAP_BEGIN:
    case PLIM_JSON_ARRAY_BEGIN:
        return begin(values, err);
    case PLIM_JSON_MAP_END:
        return end(values, PLIM_KIND_DICT, err);
    case PLIM_JSON_ARRAY_END:
        break;
    }
    return end(values, PLIM_KIND_LIST, err);
}

static plim_status check_piece(void *ctx, const plim_input *input, uint64_t bytes, plim_error *err)
{
    const json_values *const values = ctx;
    const uint64_t own_bytes =
        values->stack.capacity * sizeof(plim_value) + values->marks.capacity * sizeof(size_t);
    PLIM_TRY(plim_builder_check(values->builder, own_bytes, bytes, err));
    const plim_pickle_options *const options = values->options;
    if (options != NULL && options->reading != NULL &&
        !options->reading(options->reading_ctx, input)) {
        return plim_fail(err, PLIM_CANCELLED, "stopped while reading");
    }
    return PLIM_OK;
}

plim_status plim_json_read(plim_input *input, plim_builder *builder,
                           const plim_pickle_options *options, plim_value *ret_root,
                           plim_error *err)
{
    json_values values = { .builder = builder, .options = options };
    const plim_json_sink sink = { .take = take, .piece = check_piece, .ctx = &values };
    /* The stack is there from the start, so that no pointer to its top is NULL and something. */
    plim_status status = plim_vec_room(builder->mem, &values.stack.items, &values.stack.capacity, 0,
                                       sizeof(plim_value))
                             ? plim_json_tokens(input, builder->mem, &sink, err)
                             : plim_fail_memory(err, "reading the JSON");
    if (status == PLIM_OK && values.stack.count == 1) {
        *ret_root = values.stack.items[0];
    } else if (status == PLIM_OK) {
        status = plim_fail(err, PLIM_CORRUPT, "damaged JSON: there is no value in it");
    }
    PLIM_VEC_FREE(builder->mem, &values.stack);
    PLIM_VEC_FREE(builder->mem, &values.marks);
    return status;
}
