/*
 * anchors.c - sorted by file and line.
 */
#include "diff/anchors.h"

#include <stdlib.h>

void plim_diff_anchors_init(plim_diff_anchors *anchors, const plim_mem *mem)
{
    *anchors = (plim_diff_anchors){ .mem = mem };
}

void plim_diff_anchors_deinit(plim_diff_anchors *anchors)
{
    if (anchors->mem != NULL) {
        PLIM_VEC_FREE(anchors->mem, &anchors->items);
    }
}

bool plim_diff_anchors_add(plim_diff_anchors *anchors, plim_diff_anchor one)
{
    return PLIM_VEC_PUSH(anchors->mem, &anchors->items, one);
}

static int compare_anchors(const void *left, const void *right)
{
    const plim_diff_anchor *const a = left;
    const plim_diff_anchor *const b = right;
    if (a->file != b->file) {
        return a->file < b->file ? -1 : 1;
    }
    if (a->before != b->before) {
        return a->before < b->before ? -1 : 1;
    }
    return (a->after > b->after) - (a->after < b->after);
}

void plim_diff_anchors_sort(plim_diff_anchors *anchors)
{
    plim_diff_anchor *const items = anchors->items.items;
    if (anchors->items.count == 0) {
        return;
    }
    qsort(items, anchors->items.count, sizeof *items, compare_anchors);
    size_t kept = 1;
    for (size_t i = 1; i < anchors->items.count; i++) {
        if (compare_anchors(&items[kept - 1], &items[i]) != 0) {
            items[kept++] = items[i];
        }
    }
    anchors->items.count = kept;
    anchors->sorted = kept;
}

void plim_diff_anchors_place(const plim_diff_anchors *anchors, uint32_t file, uint32_t line,
                             uint32_t *ret_first, uint32_t *ret_last)
{
    const plim_diff_anchor *const items = anchors->items.items;
    size_t low = 0; /* the first that is not below (file, line) */
    size_t high = anchors->sorted;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const bool is_below = items[middle].file < file ||
                              (items[middle].file == file && items[middle].before < line);
        low = is_below ? middle + 1 : low;
        high = is_below ? high : middle;
    }
    *ret_first = low > 0 && items[low - 1].file == file ? items[low - 1].after : 0;
    *ret_last = low < anchors->sorted && items[low].file == file ? items[low].after : UINT32_MAX;
    if (low < anchors->sorted && items[low].file == file && items[low].before == line) {
        *ret_first = items[low].after;
    }
    if (*ret_first > *ret_last) { /* code that changed places */
        *ret_first = 0;
        *ret_last = UINT32_MAX;
    }
}
