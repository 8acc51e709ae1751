/*
 * shape.c - dimensions multiplied, times the size of the type.
 */
#include "oomtext/shape.h"

#include "base/ascii.h"

#include <string.h>

static uint64_t multiply(uint64_t a, uint64_t b)
{
    const uint64_t most = UINT64_MAX - 1;
    return b != 0 && a > most / b ? most : a * b;
}

/*
 * TensorFlow's names of types (DataTypeString). Longer names before those they begin with. 0 when
 * the text ends within one.
 */
static uint64_t type_bytes(const plim_flat *flat, size_t i, size_t *ret_end)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {
        { "complex128", 16 }, { "complex64", 8 }, { "double", 8 },   { "float64", 8 },
        { "int64", 8 },       { "uint64", 8 },    { "float32", 4 },  { "float", 4 },
        { "int32", 4 },       { "uint32", 4 },    { "bfloat16", 2 }, { "float16", 2 },
        { "half", 2 },        { "int16", 2 },     { "uint16", 2 },   { "int8", 1 },
        { "uint8", 1 },       { "bool", 1 },
    };
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        const size_t length = strlen(types[t].name);
        if (i + length <= flat->count && memcmp(flat->full + i, types[t].name, length) == 0) {
            *ret_end = i + length;
            return types[t].bytes;
        }
    }
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        const size_t left = flat->count - i;
        if (left < strlen(types[t].name) && memcmp(flat->full + i, types[t].name, left) == 0) {
            return 0;
        }
    }
    return 4;
}

bool plim_shape_read(const plim_flat *flat, size_t i, plim_amount *ret)
{
    static const char and_type[] = "andtype";
    const size_t and_type_length = sizeof and_type - 1;
    if (i >= flat->count || (flat->full[i] != '[' && flat->full[i] != '(')) {
        return false;
    }
    uint64_t items = 1;
    bool has_dimension = false;
    for (i++; i < flat->count && flat->full[i] != ']' && flat->full[i] != ')'; i++) {
        const char c = flat->full[i];
        if (c == ',') {
            continue;
        }
        uint64_t dimension = 0;
        const size_t begin = i;
        for (; i < flat->count && plim_is_digit(flat->full[i]); i++) {
            const uint64_t tens = multiply(dimension, 10);
            dimension = tens > UINT64_MAX - 10 ? tens : tens + (uint64_t)(flat->full[i] - '0');
        }
        if (i == begin) {
            return false; /* "?" or a name */
        }
        i--;
        items = multiply(items, dimension);
        has_dimension = true;
    }
    if (i >= flat->count || !has_dimension) {
        return false; /* cut within */
    }
    size_t end = i + 1;
    uint64_t item_bytes = 4;
    if (end + and_type_length < flat->count &&
        memcmp(flat->full + end, and_type, and_type_length) == 0) {
        item_bytes = type_bytes(flat, end + and_type_length, &end);
        if (item_bytes == 0) {
            return false;
        }
    }
    *ret = (plim_amount){ .bytes = multiply(items, item_bytes), .end = end };
    return true;
}
