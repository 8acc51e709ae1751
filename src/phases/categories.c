/*
 * categories.c - see categories.h.
 */
#include "phases/categories.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
} categories[] = {
#define PLIM_CATEGORY_ROW(code, name, text) [code] = { name, text },
    PLIM_CATEGORY_LIST(PLIM_CATEGORY_ROW)
#undef PLIM_CATEGORY_ROW
};

const char *plim_category_name(plim_category category)
{
    return (size_t)category < PLIM_CATEGORY_COUNT ? categories[category].name : "unknown";
}

const char *plim_category_text(plim_category category)
{
    return (size_t)category < PLIM_CATEGORY_COUNT ? categories[category].text : "unknown";
}

bool plim_category_find(const char *name, plim_category *ret_category)
{
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        if (strcmp(name, categories[i].name) == 0) {
            *ret_category = (plim_category)i;
            return true;
        }
    }
    return false;
}

plim_status plim_categories_init(plim_categories *ret_categories, const plim_history *history,
                                 const plim_device_history *device, const plim_start *start,
                                 const plim_mem *mem, plim_error *err)
{
    (void)history;
    *ret_categories = (plim_categories){ .mem = mem,
                                         .event_count = device->events.count,
                                         .start_count = start->allocations.count };
    ret_categories->of_event = plim_mem_alloc_zeroed(mem, device->events.count + 1, 1);
    ret_categories->of_start = plim_mem_alloc_zeroed(mem, start->allocations.count + 1, 1);
    if (ret_categories->of_event == NULL || ret_categories->of_start == NULL) {
        plim_categories_deinit(ret_categories);
        return plim_fail_memory(err, "sorting allocations");
    }
    return PLIM_OK;
}

void plim_categories_deinit(plim_categories *sorted)
{
    if (sorted->mem == NULL) {
        return;
    }
    plim_mem_free(sorted->mem, sorted->of_event, sorted->event_count + 1, 1);
    plim_mem_free(sorted->mem, sorted->of_start, sorted->start_count + 1, 1);
    *sorted = (plim_categories){ 0 };
}
