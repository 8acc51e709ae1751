/*
 * sums.c - adding up what is live by class.
 */
#include "diff/sums.h"

#include "base/error.h"

plim_status plim_diff_sums_init(plim_diff_sums *sums, const plim_diff_classes *classes,
                                plim_error *err)
{
    *sums = (plim_diff_sums){ .mem = classes->mem, .classes = classes };
    const size_t count = classes->items.count; /* never 0: PLIM_DIFF_NO_CLASS */
    sums->is_seen = plim_mem_alloc_zeroed(sums->mem, count, sizeof *sums->is_seen);
    bool fits = sums->is_seen != NULL;
    for (size_t i = 0; i < PLIM_DIFF_SIDES; i++) {
        sums->items[i] = plim_mem_alloc_zeroed(sums->mem, count, sizeof *sums->items[i]);
        if (classes->counts[i] > 0) {
            sums->by_stack[i] =
                plim_mem_alloc_zeroed(sums->mem, classes->counts[i], sizeof *sums->by_stack[i]);
        }
        fits = fits && sums->items[i] != NULL &&
               (classes->counts[i] == 0 || sums->by_stack[i] != NULL);
    }
    return fits ? PLIM_OK : plim_fail_memory(err, "comparing histories");
}

void plim_diff_sums_deinit(plim_diff_sums *sums)
{
    if (sums->mem == NULL) {
        return;
    }
    const size_t count = sums->classes->items.count;
    for (size_t i = 0; i < PLIM_DIFF_SIDES; i++) {
        plim_mem_free(sums->mem, sums->items[i], count, sizeof *sums->items[i]);
        plim_mem_free(sums->mem, sums->by_stack[i], sums->classes->counts[i],
                      sizeof *sums->by_stack[i]);
    }
    plim_mem_free(sums->mem, sums->is_seen, count, sizeof *sums->is_seen);
    PLIM_VEC_FREE(sums->mem, &sums->seen);
    *sums = (plim_diff_sums){ 0 };
}

void plim_diff_sums_reset(plim_diff_sums *sums)
{
    for (size_t i = 0; i < sums->seen.count; i++) {
        const uint32_t class = sums->seen.items[i];
        sums->is_seen[class] = false;
        for (size_t side = 0; side < PLIM_DIFF_SIDES; side++) {
            sums->items[side][class] = (plim_diff_sum){ 0 };
        }
    }
    sums->seen.count = 0;
    for (size_t side = 0; side < PLIM_DIFF_SIDES; side++) {
        for (size_t i = 0; i < sums->classes->counts[side]; i++) {
            sums->by_stack[side][i] = 0;
        }
        for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
            sums->categories[side][i] = 0;
        }
    }
}

uint32_t plim_diff_allocation_class(const plim_diff_classes *classes, plim_diff_side_kind side,
                                    const plim_diff_calls *view, const plim_allocation *one,
                                    uint32_t *ret_stack)
{
    *ret_stack = PLIM_NONE;
    if (one->is_stack_of_free) {
        return PLIM_DIFF_NO_CLASS;
    }
    const uint32_t class = plim_diff_class_of(classes, side, one->stack);
    if (class != PLIM_DIFF_NO_CLASS) {
        *ret_stack = one->stack;
        return class;
    }
    *ret_stack = plim_diff_call_of(view, one);
    return plim_diff_engine_class(classes, plim_diff_class_of(classes, side, *ret_stack));
}

bool plim_diff_sums_add(plim_diff_sums *sums, plim_diff_side_kind side,
                        const plim_diff_addend *part)
{
    if (!sums->is_seen[part->class]) {
        if (!PLIM_VEC_PUSH(sums->mem, &sums->seen, part->class)) {
            return false;
        }
        sums->is_seen[part->class] = true;
        sums->items[PLIM_DIFF_BEFORE][part->class].stack = PLIM_NONE;
        sums->items[PLIM_DIFF_AFTER][part->class].stack = PLIM_NONE;
    }
    plim_diff_sum *const sum = &sums->items[side][part->class];
    sum->bytes += part->bytes;
    sum->count += part->count;
    sum->of_category[part->category] += part->bytes;
    sums->categories[side][part->category] += part->bytes;
    if (part->class == PLIM_DIFF_NO_CLASS || part->stack == PLIM_NONE) {
        return true;
    }
    plim_total *const of_stack = &sums->by_stack[side][part->stack];
    *of_stack += part->bytes;
    if (sum->stack == PLIM_NONE || *of_stack > sum->stack_bytes) {
        sum->stack = part->stack;
        sum->stack_bytes = *of_stack;
    }
    return true;
}

bool plim_diff_sums_add_live(plim_diff_sums *sums, plim_diff_side_kind side,
                             const plim_diff_calls *view, int64_t event)
{
    plim_live live = plim_timeline_live(&view->view->timeline, event, false);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        plim_diff_addend part = { .bytes = one.requested_bytes,
                                  .count = 1,
                                  .category = (plim_category)view->view->categories.of[one.id] };
        part.class = plim_diff_allocation_class(sums->classes, side, view, &one, &part.stack);
        if (!plim_diff_sums_add(sums, side, &part)) {
            return false;
        }
    }
    return true;
}
