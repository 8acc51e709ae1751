/*
 * pprof_rows.c - see pprof_rows.h.
 */
#include "export/pprof_rows.h"

#include "base/error.h"

#include <string.h>

_Static_assert(sizeof(plim_pprof_key) == 32, "keys are compared as bytes and have no padding");

static bool is_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_pprof_rows *const rows = table;
    return memcmp(&rows->all.items[id].key, wanted, sizeof rows->all.items[id].key) == 0;
}

static plim_weight_origin origin_of(const plim_allocation *one)
{
    if (one->stack == PLIM_NONE) {
        return one->is_from_before ? PLIM_WEIGHT_NO_STACK_BEFORE : PLIM_WEIGHT_NO_STACK;
    }
    return one->is_stack_of_free ? PLIM_WEIGHT_OF_FREE : PLIM_WEIGHT_RECORDED;
}

static plim_pprof_key key_of(const plim_device_view *view, const plim_allocation *one)
{
    plim_pprof_key key = { .stack = one->stack,
                           .stream = one->stream,
                           .origin = origin_of(one),
                           .category = view->categories.of[one->id] };
    if (one->born != PLIM_AT_START) {
        const plim_note *const note =
            plim_history_note(view->history, view->device->events.note[one->born]);
        key.has_pool = note->has_pool;
        key.pool = note->has_pool ? note->pool : key.pool;
    }
    return key;
}

static bool add(plim_pprof_rows *rows, const plim_device_view *view, const plim_allocation *one,
                int64_t event)
{
    const plim_pprof_key key = key_of(view, one);
    const uint64_t hash = plim_hash_bytes(&key, sizeof key, rows->index.key);
    uint32_t id = plim_intern_find(&rows->index, hash, is_equal, rows, &key);
    if (id == PLIM_INTERN_ABSENT) {
        const plim_pprof_row row = { .key = key };
        if (!PLIM_VEC_PUSH(rows->mem, &rows->all, row) ||
            !plim_intern_add(&rows->index, hash, &id)) {
            return false;
        }
    }
    plim_pprof_row *const row = &rows->all.items[id];
    row->allocated_bytes += one->requested_bytes;
    row->allocated_count++;
    if (one->born <= event && one->freed > event) {
        row->live_bytes += one->requested_bytes;
        row->live_count++;
    }
    return true;
}

static bool add_all(plim_pprof_rows *rows, const plim_device_view *view, int64_t event)
{
    const plim_events *const events = &view->device->events;
    plim_live start = plim_timeline_live(&view->timeline, PLIM_AT_START, false);
    plim_allocation one;
    for (; plim_live_next(&start, &one); rows->before_count++) {
        if (!add(rows, view, &one, event)) {
            return false;
        }
    }
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_ALLOC) {
            const uint64_t id = plim_timeline_about(&view->timeline, i);
            one = plim_timeline_allocation(&view->timeline, id);
            if (!add(rows, view, &one, event)) {
                return false;
            }
        }
    }
    return true;
}

plim_status plim_pprof_rows_init(plim_pprof_rows *rows, const plim_device_view *view, int64_t event,
                                 plim_error *err)
{
    *rows = (plim_pprof_rows){ .mem = view->mem };
    plim_intern_init(&rows->index, view->mem);
    return add_all(rows, view, event) ? PLIM_OK : plim_fail_memory(err, "adding up allocations");
}

void plim_pprof_rows_deinit(plim_pprof_rows *rows)
{
    if (rows->mem != NULL) {
        plim_intern_deinit(&rows->index);
        PLIM_VEC_FREE(rows->mem, &rows->all);
    }
}
