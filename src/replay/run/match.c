/*
 * match.c - the longest common subsequence of two lists. See match.h.
 *
 * Common ends are cut off first, which leaves nothing in most cases. The rest is worth the table
 * of Wagner and Fischer (1974), of which two rows are kept, while the table is small; else each
 * difference is skipped over by the fewest calls after which the lists agree again.
 */
#include "replay/run/match.h"

#include "base/assert.h"

#define CELLS_MAX  ((size_t)1 << 16) /* of the table: 256 calls on either side */
#define WINDOW_MAX 64                /* calls that are skipped at most to agree again */

static bool is_same(const plim_driver_call *a, const plim_driver_call *b)
{
    return a->action == b->action && a->bytes == b->bytes;
}

size_t plim_calls_prefix(const plim_driver_calls *a, const plim_driver_calls *b)
{
    const size_t end = a->count < b->count ? a->count : b->count;
    size_t i = 0;
    while (i < end && is_same(&a->items[i], &b->items[i])) {
        i++;
    }
    return i;
}

typedef struct call_span {
    const plim_driver_call *items;
    size_t count;
} call_span;

/* Row by row of a; lengths[j] is that of the best match of what was seen of a with b[0, j). */
static size_t match_exactly(call_span a, call_span b, uint32_t *lengths)
{
    for (size_t j = 0; j <= b.count; j++) {
        lengths[j] = 0;
    }
    for (size_t i = 0; i < a.count; i++) {
        uint32_t diagonal = 0;
        for (size_t j = 1; j <= b.count; j++) {
            const uint32_t above = lengths[j];
            if (is_same(&a.items[i], &b.items[j - 1])) {
                lengths[j] = diagonal + 1;
            } else if (lengths[j - 1] > above) {
                lengths[j] = lengths[j - 1];
            }
            diagonal = above;
        }
    }
    return lengths[b.count];
}

/* How far ahead in `in` the call is; WINDOW_MAX when not near. */
static size_t ahead(call_span in, size_t from, const plim_driver_call *call)
{
    const size_t left = in.count - from;
    const size_t end = left < WINDOW_MAX ? left : WINDOW_MAX;
    for (size_t k = 0; k < end; k++) {
        if (is_same(&in.items[from + k], call)) {
            return k;
        }
    }
    return WINDOW_MAX;
}

static size_t match_nearly(call_span a, call_span b)
{
    size_t matched = 0;
    size_t i = 0;
    size_t j = 0;
    while (i < a.count && j < b.count) {
        if (is_same(&a.items[i], &b.items[j])) {
            matched++;
            i++;
            j++;
            continue;
        }
        const size_t in_a = ahead(a, i, &b.items[j]);
        const size_t in_b = ahead(b, j, &a.items[i]);
        if (in_a == WINDOW_MAX && in_b == WINDOW_MAX) {
            i++;
            j++;
        } else if (in_a <= in_b) {
            i += in_a;
        } else {
            j += in_b;
        }
    }
    return matched;
}

plim_status plim_calls_match(const plim_driver_calls *a, const plim_driver_calls *b,
                             const plim_mem *mem, plim_match_lengths *lengths, size_t *ret_count)
{
    const size_t prefix = plim_calls_prefix(a, b);
    size_t a_end = a->count;
    size_t b_end = b->count;
    while (a_end > prefix && b_end > prefix &&
           is_same(&a->items[a_end - 1], &b->items[b_end - 1])) {
        a_end--;
        b_end--;
    }
    const size_t common = prefix + (a->count - a_end);
    if (a_end == prefix || b_end == prefix) {
        *ret_count = common;
        return PLIM_OK;
    }
    const call_span rest_a = { a->items + prefix, a_end - prefix };
    const call_span rest_b = { b->items + prefix, b_end - prefix };
    PLIM_ASSERT(rest_a.count > 0 && rest_b.count > 0);
    if (rest_a.count > CELLS_MAX / rest_b.count) {
        *ret_count = common + match_nearly(rest_a, rest_b);
        return PLIM_OK;
    }
    while (lengths->capacity <= rest_b.count) {
        if (!plim_vec_room(mem, &lengths->items, &lengths->capacity, lengths->capacity,
                           sizeof *lengths->items)) {
            return PLIM_OUT_OF_HOST_MEMORY;
        }
    }
    *ret_count = common + match_exactly(rest_a, rest_b, lengths->items);
    return PLIM_OK;
}
