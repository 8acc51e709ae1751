/*
 * anchors.h - lines that are known to be each other's: what lies between two of before lies between
 * theirs of after.
 */
#ifndef PLIMSOLL_DIFF_ANCHORS_H
#define PLIMSOLL_DIFF_ANCHORS_H

#include "base/memory.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct plim_diff_anchor {
    uint32_t file;          /* of before */
    uint32_t before, after; /* lines */
} plim_diff_anchor;

typedef struct plim_diff_anchors {
    const plim_mem *mem;
    PLIM_VEC(plim_diff_anchor) items;
    size_t sorted; /* of them; those after are not read yet */
} plim_diff_anchors;

void plim_diff_anchors_init(plim_diff_anchors *anchors, const plim_mem *mem);
/* A zeroed one is allowed. */
void plim_diff_anchors_deinit(plim_diff_anchors *anchors);
/* False: no memory. */
bool plim_diff_anchors_add(plim_diff_anchors *anchors, plim_diff_anchor one);
/* From now on those added so far are read. */
void plim_diff_anchors_sort(plim_diff_anchors *anchors);
/* The lines of after among which a line of before lies: from *ret_first to *ret_last. Logarithmic.
 */
void plim_diff_anchors_place(const plim_diff_anchors *anchors, uint32_t file, uint32_t line,
                             uint32_t *ret_first, uint32_t *ret_last);

#endif
