/*
 * shape.c - a line's text with a mask over its digits, and its skeleton.
 *
 *   line       step  120 | mem: 10312 MB        mask: the bits of each byte that must agree.
 *   mask       fffffff000ffffffffff00000fff     Under digits that is the high half: ten digits
 *   skeleton   step  0 | mem: 0 MB              and six characters that no log puts there.
 *
 * As long as numbers keep their width, mask and text answer, eight bytes at a time. Where a width
 * changes, the number is skipped on both sides and the comparison goes on after it; when the
 * new widths stay, the shape takes on the line as its text. Lines that come unexpected are looked
 * up by their skeleton.
 */
#include "series/shape.h"

#include "base/hash.h"

#include <string.h>

struct plim_series_shape {
    uint64_t hash; /* of the skeleton */
    uint32_t length;
    uint32_t skeleton_length;
    uint32_t number_count;
    uint32_t table;
    uint32_t missed_length; /* of the last line that was not quite like the text */
    uint32_t next;          /* the shape of the line that came after, last time */
    plim_series_plan plan;
    plim_series_span numbers[PLIM_SHAPE_NUMBERS_MAX];
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

/* --- with the eyes on the text --- */

#define FREE_DIGIT ((char)0xf0)

static uint64_t load(const char *at)
{
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool is_like(const plim_series_shape *shape, const char *line)
{
    uint64_t differs = 0;
    const size_t step = sizeof differs;
    const size_t length = shape->length;
    for (size_t i = 0; i + step <= length; i += step) {
        differs |= (load(line + i) ^ load(shape->text + i)) & load(shape->mask + i);
    }
    const size_t tail = length - step;
    differs |= (load(line + tail) ^ load(shape->text + tail)) & load(shape->mask + tail);
    return differs == 0;
}

/* As load(), the byte that comes first lowest; compilers make one load of it. */
static uint64_t load_in_order(const char *at)
{
    const unsigned char *const bytes = (const unsigned char *)at;
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

/* The lowest byte that is not 0; there must be one. */
static size_t first_byte(uint64_t word)
{
    /* All bits below the lowest one; bytes that they fill are counted by their highest bits. */
    const uint64_t below = (word & (0 - word)) - 1;
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (size_t)((((below >> 7) & ones) * ones) >> 56);
}

/* The number of bytes that agree with the text from `at` on, of at most `count`. */
static size_t agreeing(const plim_series_shape *shape, size_t at, const char *line, size_t count)
{
    const char *const text = shape->text + at;
    const char *const mask = shape->mask + at;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const uint64_t differs =
            (load_in_order(line + i) ^ load_in_order(text + i)) & load_in_order(mask + i);
        if (differs != 0) {
            return i + first_byte(differs);
        }
    }
    while (i < count && ((line[i] ^ text[i]) & mask[i]) == 0) {
        i++;
    }
    return i;
}

/* Compare with numbers of any width; where they are in the line goes to `ret`. */
static bool is_nearly_like(const plim_series_shape *shape, const char *line, size_t length,
                           plim_series_span *ret)
{
    uint32_t at = 0;      /* in the text, */
    uint32_t line_at = 0; /* and in the line */
    uint32_t next = 0;
    while (true) {
        const uint32_t ahead = line_at - at; /* may wrap around: sums are right */
        const size_t text_left = shape->length - at;
        const size_t line_left = length - line_at;
        at += (uint32_t)agreeing(shape, at, line + line_at,
                                 text_left < line_left ? text_left : line_left);
        line_at = at + ahead;
        for (; next < shape->number_count && shape->numbers[next].end < at; next++) {
            ret[next].at = shape->numbers[next].at + ahead;
            ret[next].end = shape->numbers[next].end + ahead;
        }
        /* Differences must be a number, or come right after one. */
        if (next == shape->number_count || at < shape->numbers[next].at) {
            return at == shape->length && line_at == length;
        }
        const plim_series_span mine = shape->numbers[next];
        const uint32_t begin = mine.at + ahead;
        if (begin >= length || !plim_is_digit(line[begin])) {
            return false;
        }
        const uint32_t end = plim_series_number_end(line, length, begin, shape->table == 0);
        const bool is_pinned = shape->mask[mine.at] != FREE_DIGIT;
        if (is_pinned && (at < mine.end || end - begin != mine.end - mine.at)) {
            return false;
        }
        ret[next++] = (plim_series_span){ .at = begin, .end = end };
        at = mine.end;
        line_at = end;
    }
}

/* Take a line as the shape's text. */
static void take_on(plim_series_shape *shape, const char *line, size_t length,
                    const plim_series_span *numbers)
{
    shape->length = (uint32_t)length;
    shape->missed_length = 0;
    memcpy(shape->text, line, length);
    memset(shape->mask, 0xff, length);
    memcpy(shape->numbers, numbers, shape->number_count * sizeof *numbers);
    for (uint32_t i = 0; i < shape->number_count; i++) {
        for (uint32_t at = numbers[i].at; at < numbers[i].end; at++) {
            if (plim_is_digit(line[at])) {
                shape->mask[at] = FREE_DIGIT;
            }
        }
    }
    for (uint32_t i = 0; i < shape->plan.pin_count; i++) {
        const plim_series_span number = numbers[shape->plan.pins[i]];
        memset(shape->mask + number.at, 0xff, number.end - number.at);
    }
}

static plim_shape_match matched(plim_shapes *shapes, uint32_t index,
                                const plim_series_span *numbers)
{
    shapes->items[shapes->last]->next = index;
    shapes->last = index;
    return (plim_shape_match){ .plan = &shapes->items[index]->plan, .numbers = numbers };
}

static bool compare(plim_shapes *shapes, uint32_t index, const char *line, size_t length,
                    plim_shape_match *ret)
{
    plim_series_shape *const shape = shapes->items[index];
    if (shape->length == length && is_like(shape, line)) {
        *ret = matched(shapes, index, shape->numbers);
        return true;
    }
    if (!is_nearly_like(shape, line, length, shapes->numbers)) {
        return false;
    }
    *ret = matched(shapes, index, shapes->numbers);
    /* Twice the same length: the widths may have come to stay. */
    if (shape->missed_length == length) {
        take_on(shape, line, length, shapes->numbers);
    } else {
        shape->missed_length = (uint32_t)length;
    }
    return true;
}

plim_shape_match plim_shapes_guess(plim_shapes *shapes, const char *line, size_t length,
                                   uint32_t table)
{
    plim_shape_match match = { 0 };
    if (shapes->count == 0 || length < PLIM_SHAPE_BYTES_MIN || length > PLIM_SHAPE_BYTES_MAX) {
        return match;
    }
    const uint32_t last = shapes->last;
    const uint32_t next = shapes->items[last]->next;
    if (next < shapes->count && shapes->items[next]->table == table &&
        compare(shapes, next, line, length, &match)) {
        return match;
    }
    if (next != last && shapes->items[last]->table == table) {
        (void)compare(shapes, last, line, length, &match);
    }
    return match;
}

/* --- by the skeleton --- */

typedef struct skeleton {
    char text[PLIM_SHAPE_BYTES_MAX];
    size_t length;
    uint64_t hash;
} skeleton;

static bool fits(const plim_series_line *line)
{
    return line->length >= PLIM_SHAPE_BYTES_MIN && line->length <= PLIM_SHAPE_BYTES_MAX &&
           line->number_count <= PLIM_SHAPE_NUMBERS_MAX;
}

/* Every number as one '0': there are no other digits. */
static void make_skeleton(const plim_shapes *shapes, const plim_series_line *line, skeleton *ret)
{
    size_t from = 0;
    ret->length = 0;
    for (size_t i = 0; i < line->number_count; i++) {
        const size_t some = line->numbers[i].at - from;
        memcpy(ret->text + ret->length, line->plain + from, some);
        ret->length += some;
        ret->text[ret->length++] = '0';
        from = line->numbers[i].end;
    }
    memcpy(ret->text + ret->length, line->plain + from, line->length - from);
    ret->length += line->length - from;
    ret->hash = plim_hash_bytes(ret->text, ret->length, shapes->hash_key);
}

static bool pins_agree(const plim_series_shape *shape, const plim_series_line *line)
{
    for (uint32_t i = 0; i < shape->plan.pin_count; i++) {
        const plim_series_span mine = shape->numbers[shape->plan.pins[i]];
        const plim_series_span other = line->numbers[shape->plan.pins[i]];
        if (mine.end - mine.at != other.end - other.at ||
            memcmp(shape->text + mine.at, line->text + other.at, mine.end - mine.at) != 0) {
            return false;
        }
    }
    return true;
}

plim_shape_match plim_shapes_find(plim_shapes *shapes, const plim_series_line *line)
{
    if (shapes->count == 0 || !fits(line)) {
        return (plim_shape_match){ 0 };
    }
    skeleton wanted;
    make_skeleton(shapes, line, &wanted);
    for (uint32_t i = 0; i < shapes->count; i++) {
        plim_series_shape *const shape = shapes->items[i];
        if (shape->hash == wanted.hash && shape->table == line->table &&
            shape->skeleton_length == wanted.length &&
            memcmp(shape->skeleton, wanted.text, wanted.length) == 0 &&
            shape->number_count == line->number_count && pins_agree(shape, line)) {
            take_on(shape, line->text, line->length, line->numbers);
            return matched(shapes, i, shape->numbers);
        }
    }
    return (plim_shape_match){ 0 };
}

bool plim_shapes_learn(plim_shapes *shapes, const plim_series_line *line,
                       const plim_series_plan *plan)
{
    if (!plan->is_repeatable || !fits(line)) {
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
    plim_series_shape *const shape = shapes->items[index];
    skeleton mine;
    make_skeleton(shapes, line, &mine);
    shape->hash = mine.hash;
    shape->skeleton_length = (uint32_t)mine.length;
    memcpy(shape->skeleton, mine.text, mine.length);
    shape->number_count = (uint32_t)line->number_count;
    shape->table = line->table;
    shape->plan = *plan;
    shape->next = index;
    take_on(shape, line->text, line->length, line->numbers);
    (void)matched(shapes, index, shape->numbers);
    return true;
}
