/*
 * series_shape.c - a line's text with a mask over its digits, and its skeleton.
 *
 *   line       step  120 | mem: 10312 MB        mask: the bits of each byte that must agree.
 *   mask       fffffff000ffffffffff00000fff     Under digits that is the high half: ten digits
 *   skeleton   step  0 | mem: 0 MB              and six characters that no log puts there.
 *
 * As long as numbers keep their width, mask and text answer, eight bytes at a time. When a width
 * changes, the skeleton is looked up, and the shape takes on the new line as its text.
 */
#include "oomtext/series_shape.h"

#include "base/hash.h"

#include <string.h>

struct plim_shape {
    uint64_t hash; /* of the skeleton */
    uint32_t length;
    uint32_t skeleton_length;
    uint32_t number_count;
    uint32_t next; /* the shape of the line that came behind, last time */
    plim_series_plan plan;
    plim_span numbers[PLIM_SHAPE_NUMBERS_MAX];
    char text[PLIM_SHAPE_BYTES_MAX];
    char mask[PLIM_SHAPE_BYTES_MAX];
    char skeleton[PLIM_SHAPE_BYTES_MAX];
};

void plim_shapes_init(plim_shapes *shapes, const plim_mem *mem)
{
    *shapes = (plim_shapes){ .mem = mem, .hash_key = plim_hash_key() };
}

void plim_shapes_deinit(plim_shapes *shapes)
{
    for (uint32_t i = 0; i < PLIM_SHAPES_MAX; i++) {
        plim_mem_free(shapes->mem, shapes->items[i], 1, sizeof *shapes->items[i]);
        shapes->items[i] = NULL;
    }
}

void plim_shapes_follow(plim_shapes *shapes, uint32_t generation)
{
    if (shapes->generation != generation) {
        shapes->generation = generation;
        shapes->count = 0;
        shapes->next_victim = 0;
        shapes->last = 0;
    }
}

/* --- digit by digit --- */

static uint64_t load(const char *at)
{
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool is_like(const plim_shape *shape, const char *line, size_t length)
{
    if (shape->length != length) {
        return false;
    }
    uint64_t differs = 0;
    const size_t step = sizeof differs;
    for (size_t i = 0; i + step <= length; i += step) {
        differs |= (load(line + i) ^ load(shape->text + i)) & load(shape->mask + i);
    }
    const size_t tail = length - step;
    differs |= (load(line + tail) ^ load(shape->text + tail)) & load(shape->mask + tail);
    return differs == 0;
}

static plim_shape_match matched(plim_shapes *shapes, uint32_t index)
{
    plim_shape *const shape = shapes->items[index];
    shapes->items[shapes->last]->next = index;
    shapes->last = index;
    return (plim_shape_match){ .plan = &shape->plan, .numbers = shape->numbers };
}

plim_shape_match plim_shapes_guess(plim_shapes *shapes, const char *line, size_t length)
{
    if (shapes->count == 0 || length < PLIM_SHAPE_BYTES_MIN) {
        return (plim_shape_match){ 0 };
    }
    const uint32_t next = shapes->items[shapes->last]->next;
    if (next < shapes->count && is_like(shapes->items[next], line, length)) {
        return matched(shapes, next);
    }
    if (next != shapes->last && is_like(shapes->items[shapes->last], line, length)) {
        return matched(shapes, shapes->last);
    }
    return (plim_shape_match){ 0 };
}

/* --- by the skeleton --- */

typedef struct skeleton {
    char text[PLIM_SHAPE_BYTES_MAX];
    size_t length;
    uint64_t hash;
} skeleton;

static bool fits(size_t length, size_t number_count)
{
    return length >= PLIM_SHAPE_BYTES_MIN && length <= PLIM_SHAPE_BYTES_MAX &&
           number_count <= PLIM_SHAPE_NUMBERS_MAX;
}

/* Every number as one '0': there are no other digits. */
static void make_skeleton(const plim_shapes *shapes, const char *plain, size_t length,
                          const plim_span *numbers, size_t number_count, skeleton *ret)
{
    size_t from = 0;
    ret->length = 0;
    for (size_t i = 0; i < number_count; i++) {
        const size_t some = numbers[i].at - from;
        memcpy(ret->text + ret->length, plain + from, some);
        ret->length += some;
        ret->text[ret->length++] = '0';
        from = numbers[i].end;
    }
    memcpy(ret->text + ret->length, plain + from, length - from);
    ret->length += length - from;
    ret->hash = plim_hash_bytes(ret->text, ret->length, shapes->hash_key);
}

static bool pins_agree(const plim_shape *shape, const char *line, const plim_span *numbers)
{
    for (uint32_t i = 0; i < shape->plan.pin_count; i++) {
        const plim_span mine = shape->numbers[shape->plan.pins[i]];
        const plim_span other = numbers[shape->plan.pins[i]];
        if (mine.end - mine.at != other.end - other.at ||
            memcmp(shape->text + mine.at, line + other.at, mine.end - mine.at) != 0) {
            return false;
        }
    }
    return true;
}

/* Take a line as the shape's text. */
static void take_on(plim_shape *shape, const char *line, size_t length, const plim_span *numbers)
{
    shape->length = (uint32_t)length;
    memcpy(shape->text, line, length);
    memset(shape->mask, 0xff, length);
    memcpy(shape->numbers, numbers, shape->number_count * sizeof *numbers);
    for (uint32_t i = 0; i < shape->number_count; i++) {
        for (uint32_t at = numbers[i].at; at < numbers[i].end; at++) {
            if (plim_is_digit(line[at])) {
                shape->mask[at] = (char)0xf0;
            }
        }
    }
    for (uint32_t i = 0; i < shape->plan.pin_count; i++) {
        const plim_span number = numbers[shape->plan.pins[i]];
        memset(shape->mask + number.at, 0xff, number.end - number.at);
    }
}

plim_shape_match plim_shapes_find(plim_shapes *shapes, const char *line, const char *plain,
                                  size_t length, const plim_span *numbers, size_t number_count)
{
    if (shapes->count == 0 || !fits(length, number_count)) {
        return (plim_shape_match){ 0 };
    }
    skeleton wanted;
    make_skeleton(shapes, plain, length, numbers, number_count, &wanted);
    for (uint32_t i = 0; i < shapes->count; i++) {
        plim_shape *const shape = shapes->items[i];
        if (shape->hash == wanted.hash && shape->skeleton_length == wanted.length &&
            memcmp(shape->skeleton, wanted.text, wanted.length) == 0 &&
            shape->number_count == number_count && pins_agree(shape, line, numbers)) {
            take_on(shape, line, length, numbers);
            return matched(shapes, i);
        }
    }
    return (plim_shape_match){ 0 };
}

bool plim_shapes_learn(plim_shapes *shapes, const char *line, const char *plain, size_t length,
                       const plim_span *numbers, size_t number_count, const plim_series_plan *plan)
{
    if (!plan->is_repeatable || !fits(length, number_count)) {
        return true;
    }
    uint32_t index = shapes->count;
    if (index == PLIM_SHAPES_MAX) {
        index = shapes->next_victim;
        shapes->next_victim = (index + 1) % PLIM_SHAPES_MAX;
    }
    if (shapes->items[index] == NULL) {
        shapes->items[index] = plim_mem_alloc(shapes->mem, 1, sizeof *shapes->items[index]);
        if (shapes->items[index] == NULL) {
            return false;
        }
    }
    shapes->count += index == shapes->count ? 1 : 0;
    plim_shape *const shape = shapes->items[index];
    skeleton mine;
    make_skeleton(shapes, plain, length, numbers, number_count, &mine);
    shape->hash = mine.hash;
    shape->skeleton_length = (uint32_t)mine.length;
    memcpy(shape->skeleton, mine.text, mine.length);
    shape->number_count = (uint32_t)number_count;
    shape->plan = *plan;
    shape->next = index;
    take_on(shape, line, length, numbers);
    matched(shapes, index);
    return true;
}
