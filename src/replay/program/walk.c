/*
 * walk.c - from the events of a recording to ops.
 */
#include "base/error.h"
#include "history/driver_actions.h"
#include "replay/program/extraction.h"
#include "settings/rounding.h"

/* --- requests and what ends them --- */

/* Requests go to the pool of this one from now on. */
static bool route(plim_extraction *e, uint64_t event)
{
    const plim_events *events = &e->program->device->events;
    if (!e->has_pools) {
        return true;
    }
    const plim_pool_id id = plim_extraction_pool_at(e, events->addr[event], event);
    uint32_t pool = PLIM_NONE;
    if (!plim_extraction_pool(e, id, &pool)) {
        return false;
    }
    if (pool == e->walk.pool) {
        return true;
    }
    e->walk.pool = pool;
    return plim_extraction_op(e, event, (plim_op){ .slot = pool, .kind = PLIM_OP_POOL });
}

static bool complete(plim_extraction *e, uint64_t event, const plim_deferral *deferral)
{
    if (deferral->queue != PLIM_NONE) {
        return plim_extraction_op(e, event,
                                  (plim_op){ .bytes = deferral->entry,
                                             .stream = (uint16_t)deferral->queue,
                                             .kind = PLIM_OP_COMPLETE });
    }
    return true;
}

/* How the free of an allocation waits, or NULL: it does not. */
static const plim_deferral *deferral_of(const plim_extraction *e, const plim_allocation *one)
{
    return one->freed >= (int64_t)e->program->from_event
               ? plim_deferrals_find(&e->deferrals, (uint32_t)one->freed)
               : plim_deferrals_find_start(&e->deferrals, (uint32_t)one->completed);
}

/* An alloc at an address that something unfinished holds: that must have ended unseen. */
static bool end_displaced(plim_extraction *e, uint64_t event)
{
    const uint64_t id = plim_timeline_displaced(&e->timeline, event);
    if (id == PLIM_NO_ALLOCATION) {
        return true;
    }
    const plim_allocation one = plim_timeline_allocation(&e->timeline, id);
    if (one.freed != (int64_t)event) {
        const plim_deferral *deferral = deferral_of(e, &one);
        return deferral == NULL || complete(e, event, deferral);
    }
    const uint32_t slot = e->slots[id];
    plim_extraction_dead(e, plim_extraction_bytes(e, id));
    return PLIM_VEC_PUSH(e->program->mem, &e->spare_slots, slot) &&
           plim_extraction_op(e, event, (plim_op){ .slot = slot, .kind = PLIM_OP_FREE });
}

static bool take_alloc(plim_extraction *e, uint64_t event)
{
    const plim_events *events = &e->program->device->events;
    plim_op op = { .bytes = plim_extraction_event_bytes(e, event), .kind = PLIM_OP_ALLOC };
    if (!end_displaced(e, event) || !plim_extraction_slot(e, &op.slot) ||
        !plim_extraction_stream(e, events->stream[event], &op.stream) || !route(e, event)) {
        return false;
    }
    e->slots[plim_timeline_recorded_id(&e->timeline, event)] = op.slot;
    e->program->facts.requests++;
    if (!plim_extraction_op(e, event, op)) {
        return false;
    }
    plim_extraction_live(e, op.bytes);
    return true;
}

static bool take_end(plim_extraction *e, uint64_t event)
{
    const uint64_t id = plim_timeline_about(&e->timeline, event);
    if (id == PLIM_NO_ALLOCATION) {
        return true; /* freed twice */
    }
    const uint32_t slot = e->slots[id];
    plim_extraction_dead(e, plim_extraction_bytes(e, id));
    const plim_deferral *deferral = plim_deferrals_find(&e->deferrals, (uint32_t)event);
    if (deferral != NULL && deferral->queue == PLIM_NONE) {
        return true; /* freed when it completes */
    }
    plim_op op = { .slot = slot, .kind = PLIM_OP_FREE };
    if (deferral != NULL) {
        op.kind = PLIM_OP_DEFER;
        op.stream = (uint16_t)deferral->queue;
    }
    return PLIM_VEC_PUSH(e->program->mem, &e->spare_slots, slot) &&
           plim_extraction_op(e, event, op);
}

/* A release, and frees that complete right before it or amid it. A request that the driver refused
 * waits for streams before it gives back what is cached. */
static void look_ahead(plim_extraction *e, uint64_t event)
{
    const plim_events *events = &e->program->device->events;
    const plim_release_list *releases = &e->releases;
    if (event < e->walk.row.end) {
        return;
    }
    const size_t next = e->walk.next_release;
    const uint64_t first = next < releases->count ? releases->items[next].event : PLIM_NO_EVENT;
    const uint64_t end =
        next + 1 < releases->count ? releases->items[next + 1].event : e->program->to_event;
    uint64_t i = event;
    while (i < end &&
           (plim_is_to_driver(events->action[i]) || events->action[i] == PLIM_FREE_COMPLETED)) {
        i++;
    }
    e->walk.row = (plim_release_row){ .end = i, .pool = PLIM_NONE, .has_release = first < i };
    e->walk.row.is_retry = first < i && releases->items[next].by == PLIM_BY_ALLOCATOR &&
                           e->program->facts.conf.settings.garbage_collection_threshold <= 0;
}

static bool take_completion(plim_extraction *e, uint64_t event);

/* What a request waited for completes in it, so not before it. */
static bool complete_postponed(plim_extraction *e)
{
    for (size_t i = 0; i < e->walk.postponed.count; i++) {
        if (!take_completion(e, e->walk.postponed.items[i])) {
            return false;
        }
    }
    e->walk.postponed.count = 0;
    return true;
}

static bool take_completion(plim_extraction *e, uint64_t event)
{
    if (event > e->program->from_event &&
        plim_timeline_completed(&e->timeline, (uint32_t)event - 1) == (int64_t)event &&
        e->program->device->events.action[event - 1] == PLIM_FREE_REQUESTED) {
        return true; /* it completed at once, as almost all do */
    }
    const uint64_t id = plim_timeline_about(&e->timeline, event);
    if (id == PLIM_NO_ALLOCATION) {
        return true; /* its free was not requested */
    }
    const plim_allocation one = plim_timeline_allocation(&e->timeline, id);
    const plim_deferral *deferral = deferral_of(e, &one);
    if (deferral == NULL) {
        return true; /* it completed at once */
    }
    if (deferral->queue != PLIM_NONE || deferral->request == PLIM_NONE) {
        return complete(e, event, deferral);
    }
    const uint32_t slot = e->slots[id];
    return PLIM_VEC_PUSH(e->program->mem, &e->spare_slots, slot) &&
           plim_extraction_op(e, event, (plim_op){ .slot = slot, .kind = PLIM_OP_FREE });
}

static bool take_oom(plim_extraction *e, uint64_t event)
{
    const plim_events *events = &e->program->device->events;
    const bool has_released = e->walk.row.end == event && e->walk.row.has_release;
    plim_op op = { .bytes = plim_extraction_event_bytes(e, event),
                   .slot = e->has_pools && !has_released ? PLIM_TRY_KEEPS : PLIM_TRY_RELEASES,
                   .kind = PLIM_OP_TRY };
    const bool names_pool = plim_history_note(e->program->history, events->note[event])->has_pool;
    if (!plim_extraction_stream(e, events->stream[event], &op.stream) ||
        (names_pool && !route(e, event)) || !plim_extraction_op(e, event, op)) {
        return false;
    }
    plim_extraction_live(e, op.bytes);
    plim_extraction_dead(e, op.bytes);
    return true;
}

/* --- driver calls --- */

static bool is_small_request(const plim_extraction *e, uint64_t bytes)
{
    const plim_settings *settings = &e->program->facts.conf.settings;
    return bytes < PLIM_REQUEST_BYTES_MAX &&
           (bytes == 0 || plim_round_size(settings, bytes) <= PLIM_SMALL_BYTES_MAX);
}

/* The request a driver call was made for: the next one. Its event, or to_event. */
static uint64_t next_request(const plim_extraction *e, uint64_t event)
{
    const plim_events *events = &e->program->device->events;
    while (event < e->program->to_event && events->action[event] != PLIM_ALLOC &&
           events->action[event] != PLIM_OOM) {
        event++;
    }
    return event;
}

/* Notes the range of a mapping, by size class, stream and pool. False: no host memory. */
static bool is_range_begun(plim_extraction *e, uint64_t event, bool *ret_begun)
{
    const plim_events *events = &e->program->device->events;
    const uint64_t request = next_request(e, event);
    plim_range_key key = { .base = events->addr[event], .mapped_bytes = events->bytes[event] };
    key.is_small = request < e->program->to_event && is_small_request(e, events->bytes[request]);
    if (e->has_pools) {
        key.pool = plim_extraction_pool_at(e, key.base, event);
    }
    return plim_extraction_stream(e, events->stream[event], &key.stream) &&
           plim_extraction_range(e, &key, ret_begun);
}

static bool take_driver_call(plim_extraction *e, uint64_t event)
{
    const plim_events *events = &e->program->device->events;
    plim_program *program = e->program;
    e->walk.driver_calls++;
    plim_recorded_segment recorded = { .addr = events->addr[event],
                                       .bytes = events->bytes[event],
                                       .is_range = events->action[event] == PLIM_SEGMENT_MAP };
    bool is_wanted = events->action[event] == PLIM_SEGMENT_ALLOC;
    if (recorded.is_range && !is_range_begun(e, event, &is_wanted)) {
        return false;
    }
    /* Which op it belongs to is known when the next request comes. */
    recorded.op = event;
    return !is_wanted || PLIM_VEC_PUSH(program->mem, &program->recorded_segments, recorded);
}

/* Recorded segments know the event they were at; the op is that of the next request. */
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

/* What private pools have goes back only when they are not used any more: so before a release of
 * some of it, they were given up. */
static bool drop_pools(plim_extraction *e, uint64_t event)
{
    const plim_events *events = &e->program->device->events;
    uint32_t last = PLIM_NONE;
    e->walk.row.has_dropped = true;
    for (uint64_t i = event; i < e->walk.row.end; i++) {
        uint32_t pool = PLIM_NONE;
        if (events->action[i] == PLIM_FREE_COMPLETED) {
            continue;
        }
        const plim_pool_id id = plim_extraction_pool_at(e, events->addr[i], i);
        if (!plim_extraction_pool(e, id, &pool)) {
            return false;
        }
        e->walk.row.pool = i == event || pool == e->walk.row.pool ? pool : PLIM_NONE;
        if (pool != PLIM_NONE && pool != last &&
            !plim_extraction_op(e, event, (plim_op){ .slot = pool, .kind = PLIM_OP_POOL_DROP })) {
            return false;
        }
        last = pool != PLIM_NONE ? pool : last;
    }
    return true;
}

static bool take_release(plim_extraction *e, uint64_t event)
{
    const plim_release_list *releases = &e->releases;
    e->walk.driver_calls++;
    look_ahead(e, event);
    if (e->has_pools && !e->walk.row.has_dropped && !drop_pools(e, event)) {
        return false;
    }
    if (e->walk.next_release == releases->count ||
        releases->items[e->walk.next_release].event != event) {
        return true;
    }
    const plim_giver by = releases->items[e->walk.next_release].by;
    e->walk.next_release++;
    if (by == PLIM_BY_ALLOCATOR) {
        return true; /* it will do so again */
    }
    plim_op op = { .slot = by == PLIM_BY_EITHER ? PLIM_RELEASE_DOUBTFUL : PLIM_RELEASE_SURE,
                   .kind = PLIM_OP_EMPTY_CACHE };
    if (e->has_pools && e->walk.row.pool != PLIM_NONE) {
        op.bytes = (uint64_t)e->walk.row.pool + 1;
    }
    return plim_extraction_op(e, event, op);
}

/* --- together --- */

static bool take(plim_extraction *e, uint64_t event)
{
    const plim_free_halves halves = plim_timeline_halves(&e->timeline);
    const uint8_t action = e->program->device->events.action[event];
    if (action == PLIM_ALLOC) {
        return take_alloc(e, event) && complete_postponed(e);
    }
    if (plim_ends_allocation(halves, action)) {
        return take_end(e, event);
    }
    switch (action) {
    case PLIM_FREE_COMPLETED:
        look_ahead(e, event);
        return e->walk.row.is_retry
                   ? PLIM_VEC_PUSH(e->program->mem, &e->walk.postponed, (uint32_t)event)
                   : take_completion(e, event);
    case PLIM_SEGMENT_UNMAP:
        plim_extraction_unmap(e, e->program->device->events.addr[event],
                              e->program->device->events.bytes[event]);
        return take_release(e, event);
    case PLIM_SEGMENT_FREE:
        return take_release(e, event);
    case PLIM_SEGMENT_ALLOC:
    case PLIM_SEGMENT_MAP:
        return take_driver_call(e, event);
    case PLIM_OOM:
        return take_oom(e, event) && complete_postponed(e);
    default:
        return true;
    }
}

plim_status plim_extraction_walk(plim_extraction *e, plim_error *err)
{
    plim_program *program = e->program;
    for (uint64_t i = program->from_event; i < program->to_event; i++) {
        if (!take(e, i)) {
            return plim_fail_memory(err, "reading requests from a history");
        }
    }
    if (!complete_postponed(e)) {
        return plim_fail_memory(err, "reading requests from a history");
    }
    settle_driver_calls(program);
    program->caveats[PLIM_CAVEAT_NO_DRIVER_CALLS] += e->walk.driver_calls == 0;
    return PLIM_OK;
}
