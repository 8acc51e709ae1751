/*
 * pairs.c - an alignment of two lists: dynamic programming over what lies between equal ends.
 */
#include "diff/pairs.h"

#include "base/memory.h"

/* Cells of a full alignment: 512 KiB, some milliseconds. */
#define CELLS_MAX ((size_t)1 << 17)

/* Points of a pair. Any pair is better than none; of two pairs that may not both be, the one that
 * requests the same sizes is better than two that do not. */
#define POINTS_PAIR  2u
#define POINTS_ALIKE 2u /* for each quarter of the sizes that both request */
#define POINTS_PLACE 2u /* the line is where its neighbours have gone */
#define POINTS_LINES 1u
#define POINTS_COUNT 1u

/* --- two rows --- */

static int compare_lines(const plim_diff_row *a, const plim_diff_row *b)
{
    const plim_stack left = plim_history_stack(a->side->history, a->stack);
    const plim_stack right = plim_history_stack(b->side->history, b->stack);
    uint32_t i = left.frame_count;
    uint32_t k = right.frame_count;
    while (i > 0 && k > 0) {
        const uint32_t one = plim_history_frame(a->side->history, left.frames[--i])->line;
        const uint32_t other = plim_history_frame(b->side->history, right.frames[--k])->line;
        if (one != other) {
            return one < other ? -1 : 1;
        }
    }
    return (i > 0) - (k > 0);
}

int plim_diff_compare_rows(const void *left, const void *right)
{
    const plim_diff_row *const a = left;
    const plim_diff_row *const b = right;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    const int lines = compare_lines(a, b);
    return lines != 0 ? lines : (a->stack > b->stack) - (a->stack < b->stack);
}

bool plim_diff_has_equal_lines(const plim_diff_row *before, const plim_diff_row *after)
{
    return compare_lines(before, after) == 0;
}

static const plim_diff_profile *profile_of(const plim_diff_row *row)
{
    return &row->side->profiles[row->stack];
}

/* The samples are the lowest hashes of each: of the lowest of both together, those in both. */
uint32_t plim_diff_alike(const plim_diff_row *before, const plim_diff_row *after)
{
    const uint64_t *const a = profile_of(before)->sizes;
    const uint64_t *const b = profile_of(after)->sizes;
    uint32_t shared = 0;
    uint32_t all = 0;
    for (uint32_t i = 0, k = 0; all < PLIM_DIFF_SAMPLE; all++) {
        const uint64_t one = i < PLIM_DIFF_SAMPLE ? a[i] : UINT64_MAX;
        const uint64_t other = k < PLIM_DIFF_SAMPLE ? b[k] : UINT64_MAX;
        if (one == UINT64_MAX && other == UINT64_MAX) {
            break;
        }
        shared += one == other;
        i += one <= other;
        k += other <= one;
    }
    return all == 0 ? 0 : (shared * 4 + all - 1) / all;
}

bool plim_diff_has_equal_requests(const plim_diff_row *before, const plim_diff_row *after)
{
    return plim_diff_alike(before, after) == 4 &&
           profile_of(before)->count == profile_of(after)->count &&
           profile_of(before)->bytes == profile_of(after)->bytes;
}

static uint32_t points(const plim_diff_row *before, const plim_diff_row *after)
{
    const bool is_place = after->line >= before->line_first && after->line <= before->line_last;
    return POINTS_PAIR + POINTS_ALIKE * plim_diff_alike(before, after) +
           (is_place ? POINTS_PLACE : 0) +
           (plim_diff_has_equal_lines(before, after) ? POINTS_LINES : 0) +
           (profile_of(before)->count == profile_of(after)->count ? POINTS_COUNT : 0);
}

/* --- two lists --- */

static void join(plim_diff_row *before, size_t i, plim_diff_row *after, size_t k)
{
    before[i].pair = (uint32_t)k;
    after[k].pair = (uint32_t)i;
}

/* A run of each list. */
typedef struct unpaired_rows {
    plim_diff_row *before, *after;
    size_t first_before, end_before;
    size_t first_after, end_after;
} unpaired_rows;

/* Pairs what is equal in all respects from both ends on. */
static void trim(unpaired_rows *left)
{
    const uint32_t best =
        POINTS_PAIR + POINTS_ALIKE * 4 + POINTS_PLACE + POINTS_LINES + POINTS_COUNT;
    while (left->first_before < left->end_before && left->first_after < left->end_after &&
           points(&left->before[left->first_before], &left->after[left->first_after]) == best) {
        join(left->before, left->first_before++, left->after, left->first_after++);
    }
    while (left->first_before < left->end_before && left->first_after < left->end_after &&
           points(&left->before[left->end_before - 1], &left->after[left->end_after - 1]) == best) {
        join(left->before, --left->end_before, left->after, --left->end_after);
    }
}

/* best[i][k]: the most points of the first i and k rows. */
static bool align(const unpaired_rows *left, const plim_mem *mem)
{
    const size_t m = left->end_before - left->first_before;
    const size_t n = left->end_after - left->first_after;
    const size_t cells = (m + 1) * (n + 1);
    uint32_t *const best = plim_mem_alloc_zeroed(mem, cells, sizeof *best);
    if (best == NULL) {
        return false;
    }
    plim_diff_row *const before = left->before + left->first_before;
    plim_diff_row *const after = left->after + left->first_after;
    for (size_t i = 1; i <= m; i++) {
        for (size_t k = 1; k <= n; k++) {
            const uint32_t paired =
                best[(i - 1) * (n + 1) + k - 1] + points(&before[i - 1], &after[k - 1]);
            const uint32_t up = best[(i - 1) * (n + 1) + k];
            const uint32_t across = best[i * (n + 1) + k - 1];
            const uint32_t single = up > across ? up : across;
            best[i * (n + 1) + k] = paired >= single ? paired : single;
        }
    }
    for (size_t i = m, k = n; i > 0 && k > 0;) {
        const uint32_t here = best[i * (n + 1) + k];
        if (here == best[(i - 1) * (n + 1) + k]) {
            i--;
        } else if (here == best[i * (n + 1) + k - 1]) {
            k--;
        } else {
            join(left->before, left->first_before + --i, left->after, left->first_after + --k);
        }
    }
    plim_mem_free(mem, best, cells, sizeof *best);
    return true;
}

/* Too many to align: each takes the first that is like it, not far ahead. */
static void walk(const unpaired_rows *left)
{
    enum { AHEAD = 64 };
    size_t k = left->first_after;
    for (size_t i = left->first_before; i < left->end_before; i++) {
        for (size_t next = k; next < left->end_after && next - k < AHEAD; next++) {
            if (plim_diff_alike(&left->before[i], &left->after[next]) > 0) {
                join(left->before, i, left->after, next);
                k = next + 1;
                break;
            }
        }
    }
}

bool plim_diff_pair(plim_diff_row *before, size_t before_count, plim_diff_row *after,
                    size_t after_count, const plim_mem *mem)
{
    for (size_t i = 0; i < before_count; i++) {
        before[i].pair = PLIM_NONE;
    }
    for (size_t i = 0; i < after_count; i++) {
        after[i].pair = PLIM_NONE;
    }
    unpaired_rows left = {
        .before = before, .after = after, .end_before = before_count, .end_after = after_count
    };
    trim(&left);
    const size_t m = left.end_before - left.first_before;
    const size_t n = left.end_after - left.first_after;
    if (m == 0 || n == 0) {
        return true;
    }
    if (m < CELLS_MAX / (n + 1)) {
        return align(&left, mem);
    }
    walk(&left);
    return true;
}
