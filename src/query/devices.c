/*
 * devices.c - what is worked out for tables: views of devices, orders, figures, labels, findings.
 */
#include "query/devices.h"

#include "base/error.h"
#include "inspect/stack_label.h"

#include <string.h>

static plim_status fail_memory(plim_error *err)
{
    return plim_fail_memory(err, "reading the history for a query");
}

plim_status plim_query_need_view(plim_query *query, size_t device, plim_error *err)
{
    plim_query_device *const one = &query->devices[device];
    if (one->has_view) {
        return PLIM_OK;
    }
    const plim_status status =
        plim_device_view_init_timeline(&one->view, query->history, one->history, query->mem, err);
    if (status != PLIM_OK) {
        plim_device_view_deinit(&one->view);
        return status;
    }
    one->has_view = true;
    return PLIM_OK;
}

plim_status plim_query_need_categories(plim_query *query, size_t device, plim_error *err)
{
    PLIM_TRY(plim_query_need_view(query, device, err));
    plim_query_device *const one = &query->devices[device];
    if (!one->has_categories) {
        PLIM_TRY(plim_categories_init(&one->view.categories, &one->view.timeline, query->mem, err));
        one->has_categories = true;
    }
    return PLIM_OK;
}

plim_status plim_query_need_steps(plim_query *query, size_t device, plim_error *err)
{
    PLIM_TRY(plim_query_need_view(query, device, err));
    plim_query_device *const one = &query->devices[device];
    if (!one->has_steps) {
        PLIM_TRY(plim_steps_init(&one->view.steps, query->history, one->history, query->mem, err));
        one->has_steps = true;
    }
    return PLIM_OK;
}

plim_status plim_query_moment(plim_query *query, size_t device, const char *moment,
                              int64_t *ret_event, plim_error *err)
{
    plim_moment_choice choice = { .kind = PLIM_MOMENT_PEAK };
    if (moment != NULL && !plim_moment_parse(moment, &choice)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "\"%.40s\" names no moment; try peak, start, end, event:120, step:7, "
                         "step:7:end or oom",
                         moment);
    }
    if (choice.kind == PLIM_MOMENT_STEP_PEAK || choice.kind == PLIM_MOMENT_STEP_END) {
        PLIM_TRY(plim_query_need_steps(query, device, err));
    }
    return plim_device_view_moment(&query->devices[device].view, choice, ret_event, err);
}

/* --- the figures of steps --- */

static void walk_steps(const plim_device_view *view, plim_step_figures *figures)
{
    const plim_steps *const steps = &view->steps;
    plim_cursor cursor;
    plim_cursor_init(&cursor, &view->timeline);
    uint64_t requested = plim_cursor_figures(&cursor).requested_bytes;
    uint64_t event = 0;
    for (size_t i = 0; i < steps->count; i++) {
        plim_step_figures *const step = &figures[i];
        const uint64_t first = steps->first_events[i];
        *step = (plim_step_figures){ .peak_event = (int64_t)first };
        while (event < steps->first_events[i + 1]) {
            if (event == first) {
                step->start_bytes = requested;
            }
            (void)plim_cursor_next(&cursor);
            requested = plim_cursor_figures(&cursor).requested_bytes;
            if (event >= first && (event == first || requested > step->peak_bytes)) {
                step->peak_bytes = requested;
                step->peak_event = (int64_t)event;
            }
            event++;
        }
        step->end_bytes = requested;
    }
}

plim_status plim_query_need_step_figures(plim_query *query, size_t device, plim_error *err)
{
    PLIM_TRY(plim_query_need_steps(query, device, err));
    plim_query_device *const one = &query->devices[device];
    const size_t count = one->view.steps.count;
    if (one->step_figures != NULL || count == 0) {
        return PLIM_OK;
    }
    one->step_figures = plim_mem_alloc(query->mem, count, sizeof *one->step_figures);
    if (one->step_figures == NULL) {
        return fail_memory(err);
    }
    walk_steps(&one->view, one->step_figures);
    return PLIM_OK;
}

/* --- orders: ids by a column of small numbers, by counting --- */

bool plim_query_is_allocation(const plim_query_device *device, uint64_t id)
{
    const uint64_t first = plim_timeline_recorded_id(&device->view.timeline, 0);
    return id < first || device->history->events.action[id - first] == PLIM_ALLOC;
}

static uint32_t stack_key(const plim_query_device *device, uint64_t id)
{
    const uint64_t first = plim_timeline_recorded_id(&device->view.timeline, 0);
    const uint32_t stack = id >= first ? device->history->events.stack[id - first]
                                       : plim_timeline_allocation(&device->view.timeline, id).stack;
    return stack + 1; /* PLIM_NONE is the highest number: 0 */
}

static uint32_t step_key(const plim_query_device *device, uint64_t id)
{
    const uint64_t first = plim_timeline_recorded_id(&device->view.timeline, 0);
    const uint64_t step =
        id >= first ? plim_steps_at(&device->view.steps, id - first) : PLIM_NO_STEP;
    return (uint32_t)(step + 1);
}

static uint32_t key_of(const plim_query_device *device, plim_key_column column, uint64_t id)
{
    switch (column) {
    case PLIM_KEY_STACK:
        return stack_key(device, id);
    case PLIM_KEY_STEP:
        return step_key(device, id);
    case PLIM_KEY_CATEGORY:
    case PLIM_KEY_COLUMNS:
        break;
    }
    return device->view.categories.of[id];
}

static uint64_t key_count(const plim_query *query, const plim_query_device *device,
                          plim_key_column column)
{
    switch (column) {
    case PLIM_KEY_STACK:
        return (uint64_t)plim_history_stack_count(query->history) + 1;
    case PLIM_KEY_STEP:
        return (uint64_t)device->view.steps.count + 1;
    case PLIM_KEY_CATEGORY:
    case PLIM_KEY_COLUMNS:
        break;
    }
    return PLIM_CATEGORY_COUNT;
}

/* Counts, then places: first[key] ends as the place after the key's last id, and is moved back. */
static void fill_order(const plim_query_device *device, plim_key_column column,
                       plim_key_order *order, uint64_t id_end)
{
    uint64_t place = 0;
    for (uint64_t key = 0; key <= order->key_count; key++) {
        const uint64_t count = order->first[key];
        order->first[key] = place;
        place += count;
    }
    for (uint64_t id = 0; id < id_end; id++) {
        if (plim_query_is_allocation(device, id)) {
            order->ids[order->first[key_of(device, column, id)]++] = (uint32_t)id;
        }
    }
    memmove(order->first + 1, order->first, order->key_count * sizeof *order->first);
    order->first[0] = 0;
}

plim_status plim_query_need_order(plim_query *query, size_t device, plim_key_column column,
                                  plim_error *err)
{
    PLIM_TRY(column == PLIM_KEY_CATEGORY ? plim_query_need_categories(query, device, err)
             : column == PLIM_KEY_STEP   ? plim_query_need_steps(query, device, err)
                                         : plim_query_need_view(query, device, err));
    plim_query_device *const one = &query->devices[device];
    const uint64_t id_end = plim_timeline_id_end(&one->view.timeline);
    plim_key_order order = { .key_count = key_count(query, one, column) };
    if (one->orders[column].first != NULL) {
        return PLIM_OK;
    }
    if (id_end > UINT32_MAX) {
        return plim_fail(err, PLIM_LIMIT, "a device has more than 2^32 allocations and events");
    }
    order.first = plim_mem_alloc_zeroed(query->mem, order.key_count + 1, sizeof *order.first);
    if (order.first == NULL) {
        return fail_memory(err);
    }
    for (uint64_t id = 0; id < id_end; id++) {
        if (plim_query_is_allocation(one, id)) {
            order.first[key_of(one, column, id)]++;
            order.id_count++;
        }
    }
    if (order.id_count > 0) {
        order.ids = plim_mem_alloc(query->mem, order.id_count, sizeof *order.ids);
        if (order.ids == NULL) {
            plim_mem_free(query->mem, order.first, order.key_count + 1, sizeof *order.first);
            return fail_memory(err);
        }
    }
    fill_order(one, column, &order, id_end);
    one->orders[column] = order;
    return PLIM_OK;
}

/* --- stacks --- */

plim_status plim_query_need_frames(plim_query *query, plim_error *err)
{
    const uint32_t count = plim_history_stack_count(query->history);
    if (query->frames_before != NULL) {
        return PLIM_OK;
    }
    query->frames_before =
        plim_mem_alloc(query->mem, (size_t)count + 1, sizeof *query->frames_before);
    if (query->frames_before == NULL) {
        return fail_memory(err);
    }
    uint64_t frames = 0;
    for (uint32_t i = 0; i < count; i++) {
        query->frames_before[i] = frames;
        frames += plim_history_stack(query->history, i).frame_count;
    }
    query->frames_before[count] = frames;
    return PLIM_OK;
}

static uint32_t find_label(const plim_history *history, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(history, stack);
    plim_stack_group group = { .stack = stack, .user_frame = PLIM_NONE };
    for (uint32_t i = 0; i < frames.frame_count && group.user_frame == PLIM_NONE; i++) {
        if (plim_stack_frame_is_user(history, frames.frames[i])) {
            group.user_frame = i;
        }
    }
    return plim_stack_label_frame(history, &group);
}

uint32_t plim_query_label(plim_query *query, uint32_t stack)
{
    if (stack == PLIM_NONE) {
        return PLIM_NONE;
    }
    uint32_t *const label = &query->labels[stack];
    if (*label == 0) {
        *label = find_label(query->history, stack) + 2; /* PLIM_NONE: 1 */
    }
    return *label - 2;
}

/* --- facts and findings --- */

plim_status plim_query_need_inspection(plim_query *query, plim_error *err)
{
    const plim_inspect_options options = { .mem = query->mem };
    return query->inspection != NULL
               ? PLIM_OK
               : plim_inspect(query->history, &options, &query->inspection, err);
}

plim_status plim_query_need_diagnosis(plim_query *query, plim_error *err)
{
    const plim_diagnose_options options = { .mem = query->mem, .findings_only = true };
    return query->diagnosis != NULL
               ? PLIM_OK
               : plim_diagnose(query->history, &options, &query->diagnosis, err);
}

const plim_device_inspection *plim_query_inspected(const plim_query *query, size_t device)
{
    const int32_t wanted = query->devices[device].history->device;
    for (size_t i = 0; i < plim_inspection_device_count(query->inspection); i++) {
        const plim_device_inspection *const one = plim_inspection_device(query->inspection, i);
        if (one->device == wanted) {
            return one;
        }
    }
    return NULL;
}

const plim_device_diagnosis *plim_query_diagnosed(const plim_query *query, size_t device)
{
    const int32_t wanted = query->devices[device].history->device;
    for (size_t i = 0; i < plim_diagnosis_device_count(query->diagnosis); i++) {
        const plim_device_diagnosis *const one = plim_diagnosis_device(query->diagnosis, i);
        if (one->device == wanted) {
            return one;
        }
    }
    return NULL;
}

/* --- the end --- */

static void forget_device(plim_query *query, plim_query_device *device)
{
    for (size_t i = 0; i < PLIM_KEY_COLUMNS; i++) {
        plim_key_order *const order = &device->orders[i];
        plim_mem_free(query->mem, order->ids, order->id_count, sizeof *order->ids);
        plim_mem_free(query->mem, order->first, order->first != NULL ? order->key_count + 1 : 0,
                      sizeof *order->first);
    }
    if (device->has_view) {
        plim_mem_free(query->mem, device->step_figures,
                      device->step_figures != NULL ? device->view.steps.count : 0,
                      sizeof *device->step_figures);
        plim_device_view_deinit(&device->view);
    }
}

void plim_query_forget(plim_query *query)
{
    const size_t stacks = plim_history_stack_count(query->history);
    for (size_t i = 0; i < query->device_count; i++) {
        forget_device(query, &query->devices[i]);
    }
    plim_inspection_destroy(query->inspection);
    plim_diagnosis_destroy(query->diagnosis);
    plim_mem_free(query->mem, query->labels, query->labels != NULL ? stacks : 0,
                  sizeof *query->labels);
    plim_mem_free(query->mem, query->frames_before, query->frames_before != NULL ? stacks + 1 : 0,
                  sizeof *query->frames_before);
    plim_text_deinit(&query->scratch);
}
