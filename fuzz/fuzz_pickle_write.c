/*
 * fuzz_pickle_write.c - values made at random, written and read back: the same values.
 *
 * The input is a program for a few registers: each two bytes make a value in one or put one into
 * another. So values get shared, cyclic, long and deep in ways that no reader would make them.
 */
#include "base/assert.h"
#include "base/map.h"
#include "pickle/reader.h"
#include "pickle/writer.h"

#include <string.h>

#define INPUT_BYTES_MAX  ((size_t)4 << 10)
#define OUTPUT_BYTES_MAX ((size_t)4 << 20) /* tuples on many cycles grow when written */
#define REGISTERS        16
#define EQUAL_DEPTH_MAX  200

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 0x00 … 0xff as lengths: small ones, and those where opcodes and frames change. */
static size_t length_of(uint8_t argument)
{
    static const size_t steps[] = { 255, 256, 999, 1000, 1001, 2000, 65535, 65536, 65537, 200000 };
    return argument < 240 ? argument % 20 : steps[(size_t)(argument - 240) % 10];
}

static bool make_scalar(plim_builder *builder, uint8_t code, uint8_t argument, plim_value *ret)
{
    static const char filler[200000] = { 'x' };
    uint8_t number[300];
    memset(number, argument, sizeof number);
    switch (code % 6) {
    case 0:
        return plim_make_int(builder, (int64_t)(UINT64_C(0x8080808080808080) << argument % 64),
                             ret);
    case 1:
        return plim_make_long(builder, number, argument, ret);
    case 2:
        return plim_make_real(builder, argument / 3.0, ret);
    case 3:
        return plim_make_bytes(builder, PLIM_KIND_BYTES, filler, length_of(argument), ret);
    case 4:
        *ret = argument % 3 == 0 ? PLIM_VALUE_NONE
                                 : (argument % 3 == 1 ? PLIM_VALUE_TRUE : PLIM_VALUE_FALSE);
        return true;
    default:
        return plim_make_string(builder, filler, length_of(argument), ret);
    }
}

/* Tuples and frozensets get their items when they are made, all others at any time. */
static bool is_open(plim_kind kind)
{
    return kind == PLIM_KIND_LIST || kind == PLIM_KIND_DICT || kind == PLIM_KIND_SET;
}

static bool make_container(plim_builder *builder, const plim_value *registers, uint8_t code,
                           uint8_t argument, plim_value *ret)
{
    static const plim_kind kinds[] = { PLIM_KIND_LIST, PLIM_KIND_DICT, PLIM_KIND_SET,
                                       PLIM_KIND_TUPLE, PLIM_KIND_FROZENSET };
    const plim_kind kind = kinds[code % 5];
    const size_t count = is_open(kind) ? 0 : argument % REGISTERS;
    plim_value made = PLIM_VALUE_ABSENT; /* not in a register yet: no tuple holds itself directly */
    if (!plim_make_container(builder, kind, &made) ||
        plim_container_extend(builder, made, registers, count, NULL) != PLIM_OK) {
        return false;
    }
    *ret = made;
    return true;
}

/* Puts one register into another, once or many times. */
static bool extend(plim_builder *builder, plim_value container, plim_value item, uint8_t argument)
{
    plim_value items[2000];
    const size_t count = argument < 240 ? 1 : length_of(argument);
    for (size_t i = 0; i < 2000; i++) {
        items[i] = item;
    }
    if (!is_open(plim_value_kind(container)) || count > 1001) {
        return true;
    }
    const size_t unit = plim_value_kind(container) == PLIM_KIND_DICT ? 2 : 1;
    return plim_container_extend(builder, container, items,
                                 unit * count > 2000 ? 2000 : unit * count, NULL) == PLIM_OK;
}

static bool run_program(plim_builder *builder, const uint8_t *data, size_t size,
                        plim_value registers[REGISTERS])
{
    for (size_t i = 0; i < REGISTERS; i++) {
        registers[i] = PLIM_VALUE_NONE;
    }
    bool made = true;
    for (size_t i = 0; i + 2 < size && made; i += 3) {
        plim_value *to = &registers[data[i] % REGISTERS];
        const uint8_t code = data[i + 1];
        const uint8_t argument = data[i + 2];
        if (data[i] < 64) {
            made = make_scalar(builder, code, argument, to);
        } else if (data[i] < 128) {
            made = make_container(builder, registers, code, argument, to);
        } else {
            made = extend(builder, *to, registers[code % REGISTERS], argument);
        }
    }
    return made;
}

static bool same_bytes(plim_value a, plim_value b)
{
    const plim_object *left = plim_value_object(a);
    const plim_object *right = plim_value_object(b);
    return left->as.bytes == right->as.bytes &&
           memcmp(plim_object_bytes(left), plim_object_bytes(right), left->as.bytes) == 0;
}

/* Equal, and shared alike: `twins` knows for each object of one value that of the other. */
static bool is_equal(plim_map *twins, plim_value a, plim_value b, int depth)
{
    const plim_kind kind = plim_value_kind(a);
    if (kind != plim_value_kind(b) || !plim_value_is_object(a)) {
        return a.bits == b.bits;
    }
    if (kind == PLIM_KIND_FLOAT || kind == PLIM_KIND_INT) {
        /* Their bits: not a number equals itself here. */
        return plim_value_object(a)->as.row_id == plim_value_object(b)->as.row_id;
    }
    if (kind == PLIM_KIND_STRING || kind == PLIM_KIND_BYTES || kind == PLIM_KIND_BIGINT) {
        return same_bytes(a, b);
    }
    if (plim_value_count(a) != plim_value_count(b) || plim_value_pairs(a) != plim_value_pairs(b)) {
        return false;
    }
    const uint64_t twin = plim_map_get(twins, a.bits);
    if (twin != PLIM_MAP_ABSENT || depth == 0) {
        return twin == b.bits || depth == 0 ||
               (kind == PLIM_KIND_TUPLE && plim_value_count(a) == 0);
    }
    bool equal = plim_map_put(twins, a.bits, b.bits);
    for (uint64_t i = 0; i < plim_value_count(a) && equal; i++) {
        equal = is_equal(twins, plim_value_item(a, i), plim_value_item(b, i), depth - 1);
    }
    for (uint64_t i = 0; i < plim_value_pairs(a) && equal; i++) {
        equal =
            is_equal(twins, plim_value_pair_key(a, i), plim_value_pair_key(b, i), depth - 1) &&
            is_equal(twins, plim_value_pair_value(a, i), plim_value_pair_value(b, i), depth - 1);
    }
    return equal;
}

static void check_reads_as(const plim_text *pickle, plim_value value)
{
    plim_builder builder;
    plim_input *input = NULL;
    plim_pickle_facts facts;
    plim_value again = PLIM_VALUE_ABSENT;
    plim_map twins;
    plim_map_init(&twins, NULL);
    plim_builder_init(&builder, NULL, NULL);
    const bool opened =
        plim_input_open_memory(pickle->data, pickle->length, NULL, &input, NULL) == PLIM_OK;
    PLIM_ASSERT(opened);
    const plim_status status = plim_pickle_read(input, &builder, NULL, &facts, &again, NULL);
    PLIM_ASSERT(status == PLIM_OK);
    PLIM_ASSERT(facts.protocol == 4);
    PLIM_ASSERT(is_equal(&twins, value, again, EQUAL_DEPTH_MAX));
    plim_input_close(input);
    plim_map_deinit(&twins);
    plim_builder_deinit(&builder);
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_value registers[REGISTERS];
    plim_builder builder;
    plim_text pickle;
    if (size == 0 || size > INPUT_BYTES_MAX) {
        return 0;
    }
    const plim_pickle_write_options options = { .viewer_safe = data[0] % 2 == 1 };
    plim_builder_init(&builder, NULL, NULL);
    plim_text_init(&pickle, NULL, OUTPUT_BYTES_MAX);
    if (run_program(&builder, data + 1, size - 1, registers) &&
        plim_pickle_write(registers[0], &options, plim_sink_to_text(&pickle), NULL) == PLIM_OK) {
        check_reads_as(&pickle, registers[0]);
    }
    plim_text_deinit(&pickle);
    plim_builder_deinit(&builder);
    return 0;
}
