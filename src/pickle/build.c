/*
 * build.c - scalars, strings and containers, shared where a row sink allows it.
 */
#include "pickle/build.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"

#include <string.h>

/* Longer strings are not worth hashing: they do not repeat. */
#define INTERN_STRING_BYTES_MAX 4096

/* Stacks of frames have up to some 300 items; longer lists are hardly ever equal. */
#define SHARED_ITEMS_MAX 1000

void plim_builder_init(plim_builder *builder, const plim_mem *mem, const plim_row_sink *sink)
{
    *builder = (plim_builder){ .mem = plim_mem_or_heap(mem), .sink = sink };
    plim_arena_init(&builder->arena, mem);
    plim_intern_init(&builder->string_index, mem);
    plim_intern_init(&builder->array_index, mem);
    plim_intern_init(&builder->shape_index, mem);
}

void plim_builder_deinit(plim_builder *builder)
{
    PLIM_VEC_FREE(builder->mem, &builder->strings);
    PLIM_VEC_FREE(builder->mem, &builder->arrays);
    PLIM_VEC_FREE(builder->mem, &builder->shapes);
    plim_intern_deinit(&builder->string_index);
    plim_intern_deinit(&builder->array_index);
    plim_intern_deinit(&builder->shape_index);
    plim_arena_deinit(&builder->arena);
}

size_t plim_builder_bytes(const plim_builder *builder)
{
    return builder->arena.used_bytes +
           (builder->strings.capacity + builder->arrays.capacity) * 3 * sizeof(void *) +
           builder->shapes.capacity * sizeof(plim_pickle_shape);
}

plim_status plim_builder_check(const plim_builder *builder, uint64_t own_bytes, uint64_t bytes_read,
                               plim_error *err)
{
    const uint64_t taken = plim_builder_bytes(builder) + own_bytes;
    if (taken > PLIM_PICKLE_BYTES_FREE + bytes_read * PLIM_PICKLE_BYTES_PER_BYTE) {
        return plim_fail_at(err, PLIM_LIMIT, bytes_read,
                            "the file's values take more than %u times its bytes: "
                            "not a memory snapshot",
                            PLIM_PICKLE_BYTES_PER_BYTE);
    }
    return PLIM_OK;
}

static plim_object *make_object(plim_builder *builder, plim_kind kind, size_t bytes_behind)
{
    plim_object *object = plim_arena_alloc(&builder->arena, sizeof *object + bytes_behind);
    if (object != NULL) {
        *object = (plim_object){ .kind = (uint8_t)kind };
    }
    return object;
}

bool plim_make_int(plim_builder *builder, int64_t integer, plim_value *ret)
{
    if (integer >= PLIM_INLINE_INT_MIN && integer <= PLIM_INLINE_INT_MAX) {
        ret->bits = (uint64_t)integer << 3 | PLIM_TAG_INT;
        return true;
    }
    plim_object *object = make_object(builder, PLIM_KIND_INT, 0);
    if (object == NULL) {
        return false;
    }
    object->as.integer = integer;
    *ret = plim_value_of_object(object);
    return true;
}

bool plim_make_long(plim_builder *builder, const uint8_t *bytes, size_t count, plim_value *ret)
{
    const uint8_t sign = count > 0 && bytes[count - 1] >= 0x80 ? 0xff : 0;
    /* Bytes that only repeat the sign say nothing. */
    while (count > 1 && bytes[count - 1] == sign && (bytes[count - 2] ^ sign) < 0x80) {
        count--;
    }
    if (count <= 8) {
        uint64_t integer = sign == 0 ? 0 : UINT64_MAX;
        for (size_t i = count; i > 0; i--) {
            integer = integer << 8 | bytes[i - 1];
        }
        return plim_make_int(builder, (int64_t)integer, ret);
    }
    return plim_make_bytes(builder, PLIM_KIND_BIGINT, bytes, count, ret);
}

bool plim_make_real(plim_builder *builder, double real, plim_value *ret)
{
    plim_object *object = make_object(builder, PLIM_KIND_FLOAT, 0);
    if (object == NULL) {
        return false;
    }
    object->as.real = real;
    *ret = plim_value_of_object(object);
    return true;
}

bool plim_make_bytes(plim_builder *builder, plim_kind kind, const void *data, size_t bytes,
                     plim_value *ret)
{
    if (bytes > SIZE_MAX / 2) {
        return false;
    }
    plim_object *object = make_object(builder, kind, bytes + 1);
    if (object == NULL) {
        return false;
    }
    object->as.bytes = bytes;
    if (bytes > 0) {
        memcpy(plim_object_bytes(object), data, bytes);
    }
    plim_object_bytes(object)[bytes] = '\0';
    *ret = plim_value_of_object(object);
    return true;
}

typedef struct byte_span {
    const void *data;
    size_t bytes;
} byte_span;

static bool string_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_object *object = ((const plim_builder *)table)->strings.items[id];
    const byte_span *span = wanted;
    return object->as.bytes == span->bytes &&
           memcmp(plim_object_bytes(object), span->data, span->bytes) == 0;
}

bool plim_make_string(plim_builder *builder, const void *text, size_t bytes, plim_value *ret)
{
    if (builder->sink == NULL || bytes > INTERN_STRING_BYTES_MAX) {
        return plim_make_bytes(builder, PLIM_KIND_STRING, text, bytes, ret);
    }
    const uint64_t hash = plim_hash_bytes(text, bytes, builder->string_index.key);
    const byte_span wanted = { text, bytes };
    uint32_t id = plim_intern_find(&builder->string_index, hash, string_equal, builder, &wanted);
    if (id != PLIM_INTERN_ABSENT) {
        *ret = plim_value_of_object(builder->strings.items[id]);
        return true;
    }
    plim_value value = PLIM_VALUE_ABSENT;
    if (!plim_make_bytes(builder, PLIM_KIND_STRING, text, bytes, &value) ||
        !PLIM_VEC_PUSH(builder->mem, &builder->strings, plim_value_object(value)) ||
        !plim_intern_add(&builder->string_index, hash, &id)) {
        return false;
    }
    *ret = value;
    return true;
}

bool plim_make_container(plim_builder *builder, plim_kind kind, plim_value *ret)
{
    plim_object *object = make_object(builder, kind, 0);
    if (object == NULL) {
        return false;
    }
    object->as.array = NULL;
    *ret = plim_value_of_object(object);
    return true;
}

bool plim_make_list_of(plim_builder *builder, plim_array *items, plim_value *ret)
{
    PLIM_ASSERT_DEBUG(items->capacity == 0 && !items->is_run);

    if (!plim_make_container(builder, PLIM_KIND_LIST, ret)) {
        return false;
    }
    plim_value_object(*ret)->as.array = items;
    return true;
}

static plim_array *make_array(plim_builder *builder, uint64_t capacity)
{
    if (capacity > SIZE_MAX / sizeof(plim_value) / 2) {
        return NULL;
    }
    plim_array *array =
        plim_arena_alloc(&builder->arena, sizeof *array + capacity * sizeof(plim_value));
    if (array != NULL) {
        *array = (plim_array){ .capacity = capacity };
    }
    return array;
}

/* True if the items are rows that follow each other, and the rows of `array` if it has any. */
static bool continues_run(const plim_array *array, const plim_value *items, size_t count)
{
    uint64_t expected = plim_value_clean(items[0]).bits;
    if ((expected & PLIM_TAG_MASK) != PLIM_TAG_ROW) {
        return false;
    }
    if (array != NULL && array->count > 0) {
        if (!array->is_run) {
            return false;
        }
        expected = array->items[0].bits + (array->count << 11);
    }
    for (size_t i = 0; i < count; i++) {
        if (plim_value_clean(items[i]).bits != expected + ((uint64_t)i << 11)) {
            return false;
        }
    }
    return true;
}

static bool array_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_array *array = ((const plim_builder *)table)->arrays.items[id];
    const byte_span *span = wanted;
    return array->count * sizeof(plim_value) == span->bytes &&
           memcmp(array->items, span->data, span->bytes) == 0;
}

/* The array with these items that was made before, or a new one. */
static plim_array *shared_array(plim_builder *builder, const plim_value *items, size_t count)
{
    const byte_span wanted = { items, count * sizeof *items };
    const uint64_t hash = plim_hash_bytes(items, wanted.bytes, builder->array_index.key);
    uint32_t id = plim_intern_find(&builder->array_index, hash, array_equal, builder, &wanted);
    if (id != PLIM_INTERN_ABSENT) {
        return builder->arrays.items[id];
    }
    plim_array *array = make_array(builder, count);
    if (array == NULL) {
        return NULL;
    }
    memcpy(array->items, items, wanted.bytes);
    array->count = count;
    array->capacity = 0;
    if (!PLIM_VEC_PUSH(builder->mem, &builder->arrays, array) ||
        !plim_intern_add(&builder->array_index, hash, &id)) {
        return NULL;
    }
    return array;
}

/* An array the object owns alone, with room for `more` items after those it has. */
static plim_array *own_array(plim_builder *builder, plim_object *object, size_t more)
{
    plim_array *old = object->as.array;
    const uint64_t have = old == NULL ? 0 : old->count;
    if (old != NULL && !old->is_run && old->capacity >= have + more) {
        return old;
    }
    plim_array *array = make_array(builder, have == 0 ? more : (have + more) * 2);
    if (array == NULL) {
        return NULL;
    }
    const plim_value container = plim_value_of_object(object);
    for (uint64_t i = 0; i < have; i++) {
        array->items[i] = old->is_run ? plim_value_item(container, i) : old->items[i];
    }
    array->count = have;
    object->as.array = array;
    return array;
}

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "reading values");
}

/* Unshared: as the input has it. */
static plim_status extend_own(plim_builder *builder, plim_object *object, const plim_value *items,
                              size_t count, plim_error *err)
{
    plim_array *array = own_array(builder, object, count);
    if (array == NULL) {
        return no_memory(err);
    }
    memcpy(array->items + array->count, items, count * sizeof *items);
    array->count += count;
    return PLIM_OK;
}

/* A run of rows whose ids are places in a sequence costs no items at all. */
static plim_status extend_run(plim_builder *builder, plim_object *object, const plim_value *items,
                              size_t count, plim_error *err)
{
    plim_array *array = object->as.array;
    if (array == NULL) {
        array = make_array(builder, 1);
        if (array == NULL) {
            return no_memory(err);
        }
        array->is_run = true;
        array->items[0] = plim_value_clean(items[0]);
        object->as.array = array;
    }
    array->count += count;
    return PLIM_OK;
}

/* A list gets its first items: the common case, and the one where sharing pays. */
static plim_status fill_shared(plim_builder *builder, plim_object *object, const plim_value *items,
                               size_t count, plim_error *err)
{
    if (count > SHARED_ITEMS_MAX) {
        return extend_own(builder, object, items, count, err);
    }
    object->as.array = shared_array(builder, items, count);
    return object->as.array == NULL ? no_memory(err) : PLIM_OK;
}

static bool shape_has_keys(const plim_pickle_shape *shape, const plim_value *pairs, size_t count)
{
    if (shape->key_count != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (shape->keys[i].bits != pairs[2 * i].bits) {
            return false;
        }
    }
    return true;
}

typedef struct pair_span {
    const plim_value *pairs;
    size_t count;
} pair_span;

static bool shape_equal(const void *table, uint32_t id, const void *wanted)
{
    const pair_span *span = wanted;
    return shape_has_keys(&((const plim_builder *)table)->shapes.items[id], span->pairs,
                          span->count);
}

static plim_status add_shape(plim_builder *builder, const plim_value *pairs, size_t count,
                             uint64_t hash, uint32_t *ret_shape, plim_error *err)
{
    plim_value *keys = plim_arena_alloc(&builder->arena, count * sizeof *keys);
    if (keys == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        keys[i] = pairs[2 * i];
    }
    plim_pickle_shape shape = { .keys = keys, .key_count = count };
    const uint32_t id = (uint32_t)builder->shapes.count;
    PLIM_TRY(builder->sink->on_shape(builder->sink->ctx, id, pairs, count, &shape.row_class, err));
    builder->is_by_value[shape.row_class.number] = shape.row_class.is_by_value;
    if (!PLIM_VEC_PUSH(builder->mem, &builder->shapes, shape) ||
        !plim_intern_add(&builder->shape_index, hash, ret_shape)) {
        return no_memory(err);
    }
    return PLIM_OK;
}

bool plim_builder_shape(const plim_builder *builder, const plim_value *pairs, size_t pair_count,
                        uint32_t *ret_shape)
{
    for (size_t i = 0; i < builder->shapes.count; i++) {
        if (shape_has_keys(&builder->shapes.items[i], pairs, pair_count)) {
            *ret_shape = (uint32_t)i;
            return true;
        }
    }
    return false;
}

/* The shape of a dict's pairs; PLIM_INTERN_ABSENT when it has none: odd keys, or too many. */
static plim_status find_shape(plim_builder *builder, const plim_value *pairs, size_t count,
                              uint32_t *ret_shape, plim_error *err)
{
    uint32_t *cached = &builder->shape_cache[(pairs[0].bits / 16 + count) % PLIM_SHAPE_CACHE];
    if (*cached != 0 && shape_has_keys(&builder->shapes.items[*cached - 1], pairs, count)) {
        *ret_shape = *cached - 1;
        return PLIM_OK;
    }
    uint64_t hash = builder->shape_index.key;
    for (size_t i = 0; i < count; i++) {
        if (plim_value_kind(pairs[2 * i]) != PLIM_KIND_STRING) {
            *ret_shape = PLIM_INTERN_ABSENT;
            return PLIM_OK;
        }
        hash = plim_hash_u64(pairs[2 * i].bits, hash);
    }
    const pair_span wanted = { pairs, count };
    *ret_shape = plim_intern_find(&builder->shape_index, hash, shape_equal, builder, &wanted);
    if (*ret_shape == PLIM_INTERN_ABSENT) {
        PLIM_TRY(add_shape(builder, pairs, count, hash, ret_shape, err));
    }
    *cached = *ret_shape + 1;
    return PLIM_OK;
}

plim_status plim_make_row(plim_builder *builder, uint32_t shape, const plim_value *pairs,
                          plim_value *ret, plim_error *err)
{
    uint64_t id = 0;
    PLIM_TRY(builder->sink->on_row(builder->sink->ctx, shape, pairs, &id, err));
    PLIM_ASSERT(id <= PLIM_ROW_ID_MAX);
    *ret = plim_value_row(builder->shapes.items[shape].row_class.number, id);
    return PLIM_OK;
}

/* A dict gets its first pairs, all at once: it may be a row. */
static plim_status fill_dict(plim_builder *builder, plim_object *object, const plim_value *pairs,
                             size_t value_count, plim_error *err)
{
    uint32_t shape = PLIM_INTERN_ABSENT;
    if (value_count / 2 <= PLIM_SHAPE_PAIRS_MAX) {
        PLIM_TRY(find_shape(builder, pairs, value_count / 2, &shape, err));
    }
    if (shape == PLIM_INTERN_ABSENT || builder->shapes.items[shape].row_class.number == 0) {
        return extend_own(builder, object, pairs, value_count, err);
    }
    plim_value row = PLIM_VALUE_ABSENT;
    PLIM_TRY(plim_make_row(builder, shape, pairs, &row, err));
    object->kind = PLIM_KIND_ROW;
    (void)plim_value_row_of(row, &object->row_class, &object->as.row_id);
    return PLIM_OK;
}

/* Rows named by content are better shared as items than kept as runs. */
static bool is_sequence_row(const plim_builder *builder, plim_value item)
{
    uint8_t row_class = 0;
    uint64_t id = 0;
    return plim_value_row_of(item, &row_class, &id) && !builder->is_by_value[row_class];
}

static plim_status changed_row(plim_error *err)
{
    return plim_fail(err, PLIM_UNSUPPORTED, "a record is changed after it was complete");
}

plim_status plim_dict_add(plim_builder *builder, plim_value dict, const plim_value pair[2],
                          plim_error *err)
{
    if (plim_value_kind(dict) == PLIM_KIND_ROW) {
        return changed_row(err);
    }
    return extend_own(builder, plim_value_object(dict), pair, 2, err);
}

plim_status plim_container_extend(plim_builder *builder, plim_value container,
                                  const plim_value *items, size_t count, plim_error *err)
{
    if (plim_value_kind(container) == PLIM_KIND_ROW) {
        return changed_row(err);
    }
    PLIM_ASSERT_DEBUG(plim_value_is_object(container));
    plim_object *object = plim_value_object(container);
    if (count == 0) {
        return PLIM_OK;
    }
    if (builder->sink == NULL) {
        return extend_own(builder, object, items, count, err);
    }
    const bool is_first = object->as.array == NULL;
    if (object->kind == PLIM_KIND_DICT) {
        return is_first ? fill_dict(builder, object, items, count, err)
                        : extend_own(builder, object, items, count, err);
    }
    if (is_sequence_row(builder, items[0]) && continues_run(object->as.array, items, count)) {
        return extend_run(builder, object, items, count, err);
    }
    return is_first ? fill_shared(builder, object, items, count, err)
                    : extend_own(builder, object, items, count, err);
}
