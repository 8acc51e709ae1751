/*
 * composition.c - merging groups by line, and filling up to the reserved bytes.
 *
 * Numbers come from files that may contradict themselves; differences stop at zero, and sums
 * that exceed what was reserved become the total.
 */
#include "report/model/composition.h"

#include "base/assert.h"
#include "base/map.h"
#include "base/numbers.h"
#include "base/vec.h"
#include "report/model/stack_text.h"

#include <stdlib.h>

typedef PLIM_VEC(plim_composition_part) part_vec;

/* Groups with equal keys read the same on a page: by a frame, or by the frame of a free. */
static uint64_t merge_key(const plim_history *history, const plim_stack_group *group)
{
    const uint64_t frame = plim_stack_label_frame(history, group);
    return frame << 1 | (group->stack_of_free_count == group->count ? 1u : 0u);
}

static void add_group(plim_composition_part *part, const plim_stack_group *group)
{
    part->bytes = plim_plus(part->bytes, group->bytes);
    part->count = plim_plus(part->count, group->count);
    part->before_count = plim_plus(part->before_count, group->before_recording_count);
    part->by_free_count = plim_plus(part->by_free_count, group->stack_of_free_count);
    part->group_count++;
    if (group->first_born >= 0) {
        part->first_born = part->first_born < 0 || group->first_born < part->first_born
                               ? group->first_born
                               : part->first_born;
        part->last_born = group->last_born > part->last_born ? group->last_born : part->last_born;
    }
}

static bool add_merged(const plim_mem *mem, plim_map *part_of, part_vec *parts, uint64_t key,
                       const plim_stack_group *group)
{
    const uint64_t known = plim_map_get(part_of, key);
    if (known != PLIM_MAP_ABSENT) {
        PLIM_ASSERT(parts->items != NULL);
        PLIM_ASSERT(known < parts->count);
        add_group(&parts->items[known], group);
        return true;
    }
    plim_composition_part part = {
        .kind = PLIM_PART_STACKS, .group = group, .first_born = -1, .last_born = -1
    };
    add_group(&part, group);
    return plim_map_put(part_of, key, parts->count) && PLIM_VEC_PUSH(mem, parts, part);
}

static bool collect(const plim_mem *mem, const plim_history *history, const plim_moment *moment,
                    bool merged, part_vec *parts)
{
    plim_map part_of;
    plim_map_init(&part_of, mem);
    bool ok = true;
    for (size_t i = 0; i < moment->group_count && ok; i++) {
        const plim_stack_group *group = &moment->groups[i];
        const uint64_t key = merged ? merge_key(history, group) : i;
        ok = add_merged(mem, &part_of, parts, key, group);
    }
    plim_map_deinit(&part_of);
    return ok;
}

/* Largest first; equal ones in the library's order, which their groups' addresses keep. */
static int compare_parts(const void *a, const void *b)
{
    const plim_composition_part *left = a;
    const plim_composition_part *right = b;
    if (left->bytes != right->bytes) {
        return left->bytes > right->bytes ? -1 : 1;
    }
    return left->group < right->group ? -1 : left->group > right->group;
}

/* Keeps `top` parts; the rest becomes one. A rest of one part is shown as what it is. */
static void fold_rest(part_vec *parts, size_t top)
{
    if (parts->count <= top || (top > 0 && parts->count == top + 1)) {
        return;
    }
    plim_composition_part rest = { .kind = PLIM_PART_OTHERS };
    for (size_t i = top; i < parts->count; i++) {
        rest.bytes = plim_plus(rest.bytes, parts->items[i].bytes);
        rest.count = plim_plus(rest.count, parts->items[i].count);
        rest.group_count += parts->items[i].group_count;
    }
    parts->items[top] = rest;
    parts->count = top + 1;
}

static bool add_remainders(const plim_mem *mem, const plim_moment *moment, part_vec *parts)
{
    const bool is_filtered = moment->is_filtered;
    const plim_composition_part remainders[] = {
        { .kind = PLIM_PART_FILTERED,
          .bytes = is_filtered ? plim_minus(moment->requested_bytes, moment->grouped_bytes) : 0,
          .count = is_filtered ? plim_minus(moment->live_count, moment->grouped_count) : 0 },
        { .kind = PLIM_PART_ROUNDING,
          .bytes = plim_minus(moment->allocated_bytes, moment->requested_bytes) },
        { .kind = PLIM_PART_PENDING,
          .bytes = plim_minus(moment->active_bytes, moment->allocated_bytes) },
        { .kind = PLIM_PART_FREE,
          .bytes = plim_minus(moment->reserved_bytes, moment->active_bytes) },
    };
    for (size_t i = 0; i < sizeof remainders / sizeof remainders[0]; i++) {
        if (remainders[i].bytes > 0 && !PLIM_VEC_PUSH(mem, parts, remainders[i])) {
            return false;
        }
    }
    return true;
}

bool plim_composition_init(const plim_mem *mem, const plim_history *history,
                           const plim_moment *moment, size_t top, bool merged,
                           plim_composition *ret)
{
    mem = plim_mem_or_heap(mem);
    part_vec parts = { 0 };
    if (!collect(mem, history, moment, merged, &parts)) {
        PLIM_VEC_FREE(mem, &parts);
        return false;
    }
    if (parts.count > 1) {
        qsort(parts.items, parts.count, sizeof parts.items[0], compare_parts);
    }
    fold_rest(&parts, top);
    if (!add_remainders(mem, moment, &parts)) {
        PLIM_VEC_FREE(mem, &parts);
        return false;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < parts.count; i++) {
        sum = plim_plus(sum, parts.items[i].bytes);
    }
    *ret = (plim_composition){
        .parts = parts.items,
        .part_count = parts.count,
        .part_capacity = parts.capacity,
        .total_bytes = sum > moment->reserved_bytes ? sum : moment->reserved_bytes,
        .mem = mem,
    };
    return true;
}

void plim_composition_deinit(plim_composition *composition)
{
    if (composition->parts != NULL) {
        plim_mem_free(composition->mem, composition->parts, composition->part_capacity,
                      sizeof composition->parts[0]);
    }
    *composition = (plim_composition){ 0 };
}
