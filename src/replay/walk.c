/*
 * walk.c - the events of a recording become ops.
 */
#include "base/error.h"
#include "history/driver_actions.h"
#include "replay/taking.h"
#include "settings/rounding.h"

/* --- requests and what ends them --- */

/* Requests go to the pool of this one from now on. */
static bool route(plim_taking *taking, uint64_t event)
{
    const plim_events *events = &taking->program->device->events;
    if (!taking->has_pools) {
        return true;
    }
    const plim_pool_id id = plim_taking_pool_at(taking, events->addr[event], event);
    uint32_t pool = PLIM_NONE;
    if (!plim_taking_pool(taking, id, &pool)) {
        return false;
    }
    if (pool == taking->pool) {
        return true;
    }
    taking->pool = pool;
    return plim_taking_op(taking, event, (plim_op){ .slot = pool, .kind = PLIM_OP_POOL });
}

static bool complete(plim_taking *taking, uint64_t event, const plim_deferral *deferral)
{
    if (deferral->queue != PLIM_NONE) {
        return plim_taking_op(taking, event,
                              (plim_op){ .bytes = deferral->entry,
                                         .stream = (uint16_t)deferral->queue,
                                         .kind = PLIM_OP_COMPLETE });
    }
    return true;
}

/* How the free of an allocation waits, or NULL: it does not. */
static const plim_deferral *deferral_of(const plim_taking *taking, const plim_allocation *one)
{
    return one->freed >= (int64_t)taking->program->from_event
               ? plim_deferrals_find(&taking->deferrals, (uint32_t)one->freed)
               : plim_deferrals_find_start(&taking->deferrals, (uint32_t)one->completed);
}

/* An alloc at an address that something unfinished holds: that must have ended unseen. */
static bool end_displaced(plim_taking *taking, uint64_t event)
{
    const uint64_t id = plim_timeline_displaced(&taking->timeline, event);
    if (id == PLIM_NO_ALLOCATION) {
        return true;
    }
    const plim_allocation one = plim_timeline_allocation(&taking->timeline, id);
    if (one.freed != (int64_t)event) {
        const plim_deferral *deferral = deferral_of(taking, &one);
        return deferral == NULL || complete(taking, event, deferral);
    }
    const uint32_t slot = taking->slots[id];
    plim_taking_dead(taking, plim_taking_bytes(taking, id));
    return PLIM_VEC_PUSH(taking->program->mem, &taking->spare_slots, slot) &&
           plim_taking_op(taking, event, (plim_op){ .slot = slot, .kind = PLIM_OP_FREE });
}

static bool take_alloc(plim_taking *taking, uint64_t event)
{
    const plim_events *events = &taking->program->device->events;
    plim_op op = { .bytes = plim_taking_event_bytes(taking, event), .kind = PLIM_OP_ALLOC };
    if (!end_displaced(taking, event) || !plim_taking_slot(taking, &op.slot) ||
        !plim_taking_stream(taking, events->stream[event], &op.stream) || !route(taking, event)) {
        return false;
    }
    taking->slots[plim_timeline_recorded_id(&taking->timeline, event)] = op.slot;
    taking->program->facts.requests++;
    if (!plim_taking_op(taking, event, op)) {
        return false;
    }
    plim_taking_live(taking, op.bytes);
    return true;
}

static bool take_end(plim_taking *taking, uint64_t event)
{
    const uint64_t id = plim_timeline_about(&taking->timeline, event);
    if (id == PLIM_NO_ALLOCATION) {
        return true; /* freed twice */
    }
    const uint32_t slot = taking->slots[id];
    plim_taking_dead(taking, plim_taking_bytes(taking, id));
    const plim_deferral *deferral = plim_deferrals_find(&taking->deferrals, (uint32_t)event);
    if (deferral != NULL && deferral->queue == PLIM_NONE) {
        return true; /* freed when it completes */
    }
    plim_op op = { .slot = slot, .kind = PLIM_OP_FREE };
    if (deferral != NULL) {
        op.kind = PLIM_OP_DEFER;
        op.stream = (uint16_t)deferral->queue;
    }
    return PLIM_VEC_PUSH(taking->program->mem, &taking->spare_slots, slot) &&
           plim_taking_op(taking, event, op);
}

/* A release, and frees that complete right before it or amid it. A request that the driver refused
 * waits for streams before it gives back what is cached. */
static void look_ahead(plim_taking *taking, uint64_t event)
{
    const plim_events *events = &taking->program->device->events;
    const plim_release_list *releases = &taking->releases;
    if (event < taking->row.end) {
        return;
    }
    const size_t next = taking->next_release;
    const uint64_t first = next < releases->count ? releases->items[next].event : PLIM_NO_EVENT;
    const uint64_t end =
        next + 1 < releases->count ? releases->items[next + 1].event : taking->program->to_event;
    uint64_t i = event;
    while (i < end &&
           (plim_is_to_driver(events->action[i]) || events->action[i] == PLIM_FREE_COMPLETED)) {
        i++;
    }
    taking->row = (plim_release_row){ .end = i, .pool = PLIM_NONE, .has_release = first < i };
    taking->row.is_retry = first < i && releases->items[next].by == PLIM_BY_ALLOCATOR &&
                           taking->program->facts.conf.settings.garbage_collection_threshold <= 0;
}

static bool take_completion(plim_taking *taking, uint64_t event);

/* What a request waited for completes in it, so not before it. */
static bool complete_postponed(plim_taking *taking)
{
    for (size_t i = 0; i < taking->postponed.count; i++) {
        if (!take_completion(taking, taking->postponed.items[i])) {
            return false;
        }
    }
    taking->postponed.count = 0;
    return true;
}

static bool take_completion(plim_taking *taking, uint64_t event)
{
    if (event > taking->program->from_event &&
        plim_timeline_completed(&taking->timeline, (uint32_t)event - 1) == (int64_t)event &&
        taking->program->device->events.action[event - 1] == PLIM_FREE_REQUESTED) {
        return true; /* it completed at once, as almost all do */
    }
    const uint64_t id = plim_timeline_about(&taking->timeline, event);
    if (id == PLIM_NO_ALLOCATION) {
        return true; /* its free was not requested */
    }
    const plim_allocation one = plim_timeline_allocation(&taking->timeline, id);
    const plim_deferral *deferral = deferral_of(taking, &one);
    if (deferral == NULL) {
        return true; /* it completed at once */
    }
    if (deferral->queue != PLIM_NONE || deferral->request == PLIM_NONE) {
        return complete(taking, event, deferral);
    }
    const uint32_t slot = taking->slots[id];
    return PLIM_VEC_PUSH(taking->program->mem, &taking->spare_slots, slot) &&
           plim_taking_op(taking, event, (plim_op){ .slot = slot, .kind = PLIM_OP_FREE });
}

static bool take_oom(plim_taking *taking, uint64_t event)
{
    const plim_events *events = &taking->program->device->events;
    const bool has_released = taking->row.end == event && taking->row.has_release;
    plim_op op = { .bytes = plim_taking_event_bytes(taking, event),
                   .slot = taking->has_pools && !has_released ? PLIM_TRY_KEEPS : PLIM_TRY_RELEASES,
                   .kind = PLIM_OP_TRY };
    const bool names_pool =
        plim_history_note(taking->program->history, events->note[event])->has_pool;
    if (!plim_taking_stream(taking, events->stream[event], &op.stream) ||
        (names_pool && !route(taking, event)) || !plim_taking_op(taking, event, op)) {
        return false;
    }
    plim_taking_live(taking, op.bytes);
    plim_taking_dead(taking, op.bytes);
    return true;
}

/* --- driver calls --- */

static bool is_small_request(const plim_taking *taking, uint64_t bytes)
{
    const plim_settings *settings = &taking->program->facts.conf.settings;
    return bytes < PLIM_REQUEST_BYTES_MAX &&
           (bytes == 0 || plim_round_size(settings, bytes) <= PLIM_SMALL_BYTES_MAX);
}

/* The request a driver call was made for: the next one. Its event, or to_event. */
static uint64_t next_request(const plim_taking *taking, uint64_t event)
{
    const plim_events *events = &taking->program->device->events;
    while (event < taking->program->to_event && events->action[event] != PLIM_ALLOC &&
           events->action[event] != PLIM_OOM) {
        event++;
    }
    return event;
}

/* Whether a mapping is the first of a range: of its size class, stream and pool. */
static bool is_range_begun(plim_taking *taking, uint64_t event, bool *ret_begun)
{
    const plim_events *events = &taking->program->device->events;
    const uint64_t request = next_request(taking, event);
    plim_range_key key = { .base = events->addr[event], .mapped_bytes = events->bytes[event] };
    key.is_small =
        request < taking->program->to_event && is_small_request(taking, events->bytes[request]);
    if (taking->has_pools) {
        key.pool = plim_taking_pool_at(taking, key.base, event);
    }
    return plim_taking_stream(taking, events->stream[event], &key.stream) &&
           plim_taking_range(taking, &key, ret_begun);
}

static bool take_driver_call(plim_taking *taking, uint64_t event)
{
    const plim_events *events = &taking->program->device->events;
    plim_program *program = taking->program;
    taking->driver_calls++;
    plim_recorded_segment recorded = { .addr = events->addr[event],
                                       .bytes = events->bytes[event],
                                       .is_range = events->action[event] == PLIM_SEGMENT_MAP };
    bool is_wanted = events->action[event] == PLIM_SEGMENT_ALLOC;
    if (recorded.is_range && !is_range_begun(taking, event, &is_wanted)) {
        return false;
    }
    /* Which op it belongs to is known when the next request comes. */
    recorded.op = event;
    return !is_wanted || PLIM_VEC_PUSH(program->mem, &program->recorded_segments, recorded);
}

/* Recorded segments know the event they were at; the op is that of the request behind it. */
static void settle_driver_calls(plim_program *program)
{
    size_t op = program->prologue;
    for (size_t i = 0; i < program->recorded_segments.count; i++) {
        plim_recorded_segment *recorded = &program->recorded_segments.items[i];
        while (op < program->ops.count && (program->op_events.items[op] < recorded->op ||
                                           (program->ops.items[op].kind != PLIM_OP_ALLOC &&
                                            program->ops.items[op].kind != PLIM_OP_TRY))) {
            op++;
        }
        recorded->op = op;
    }
}

/* What private pools have goes back only when nobody uses them any more: so before a release of
 * some of it, they were given up. */
static bool drop_pools(plim_taking *taking, uint64_t event)
{
    const plim_events *events = &taking->program->device->events;
    uint32_t last = PLIM_NONE;
    taking->row.has_dropped = true;
    for (uint64_t i = event; i < taking->row.end; i++) {
        uint32_t pool = PLIM_NONE;
        if (events->action[i] == PLIM_FREE_COMPLETED) {
            continue;
        }
        const plim_pool_id id = plim_taking_pool_at(taking, events->addr[i], i);
        if (!plim_taking_pool(taking, id, &pool)) {
            return false;
        }
        taking->row.pool = i == event || pool == taking->row.pool ? pool : PLIM_NONE;
        if (pool != PLIM_NONE && pool != last &&
            !plim_taking_op(taking, event, (plim_op){ .slot = pool, .kind = PLIM_OP_POOL_DROP })) {
            return false;
        }
        last = pool != PLIM_NONE ? pool : last;
    }
    return true;
}

static bool take_release(plim_taking *taking, uint64_t event)
{
    const plim_release_list *releases = &taking->releases;
    taking->driver_calls++;
    look_ahead(taking, event);
    if (taking->has_pools && !taking->row.has_dropped && !drop_pools(taking, event)) {
        return false;
    }
    if (taking->next_release == releases->count ||
        releases->items[taking->next_release].event != event) {
        return true;
    }
    const plim_giver by = releases->items[taking->next_release].by;
    taking->next_release++;
    if (by == PLIM_BY_ALLOCATOR) {
        return true; /* it will do so again */
    }
    plim_op op = { .slot = by == PLIM_BY_EITHER ? PLIM_RELEASE_DOUBTFUL : PLIM_RELEASE_SURE,
                   .kind = PLIM_OP_EMPTY_CACHE };
    if (taking->has_pools && taking->row.pool != PLIM_NONE) {
        op.bytes = (uint64_t)taking->row.pool + 1;
    }
    return plim_taking_op(taking, event, op);
}

/* --- together --- */

static bool take(plim_taking *taking, uint64_t event)
{
    const plim_free_halves halves = plim_timeline_halves(&taking->timeline);
    const uint8_t action = taking->program->device->events.action[event];
    if (action == PLIM_ALLOC) {
        return take_alloc(taking, event) && complete_postponed(taking);
    }
    if (plim_ends_allocation(halves, action)) {
        return take_end(taking, event);
    }
    switch (action) {
    case PLIM_FREE_COMPLETED:
        look_ahead(taking, event);
        return taking->row.is_retry
                   ? PLIM_VEC_PUSH(taking->program->mem, &taking->postponed, (uint32_t)event)
                   : take_completion(taking, event);
    case PLIM_SEGMENT_UNMAP:
        plim_taking_unmap(taking, taking->program->device->events.addr[event],
                          taking->program->device->events.bytes[event]);
        return take_release(taking, event);
    case PLIM_SEGMENT_FREE:
        return take_release(taking, event);
    case PLIM_SEGMENT_ALLOC:
    case PLIM_SEGMENT_MAP:
        return take_driver_call(taking, event);
    case PLIM_OOM:
        return take_oom(taking, event) && complete_postponed(taking);
    default:
        return true;
    }
}

plim_status plim_taking_walk(plim_taking *taking, plim_error *err)
{
    plim_program *program = taking->program;
    for (uint64_t i = program->from_event; i < program->to_event; i++) {
        if (!take(taking, i)) {
            return plim_fail_memory(err, "taking requests out of a history");
        }
    }
    if (!complete_postponed(taking)) {
        return plim_fail_memory(err, "taking requests out of a history");
    }
    settle_driver_calls(program);
    program->doubts[PLIM_DOUBT_NO_DRIVER_CALLS] += taking->driver_calls == 0;
    return PLIM_OK;
}
