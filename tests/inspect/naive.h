/*
 * naive.h - inspection in the most obvious way: lists, searched from end to end.
 *
 * Every figure of a moment is added up anew from the lives of all allocations. Quadratic, and
 * kept: it is what the fast one must agree with, and says what that means.
 */
#ifndef PLIMSOLL_TESTS_NAIVE_H
#define PLIMSOLL_TESTS_NAIVE_H

#include "harness.h"
#include "plimsoll/inspect.h"

#define NAIVE_MAX 4096

/* From after event `begin` (-1: the start) to after event `end` (NAIVE_NEVER: it stands). */
typedef struct naive_life {
    int64_t begin;
    int64_t end;
    plim_addr addr;
    uint64_t requested;
    uint64_t block;
    bool block_known;
    uint32_t stack;
    bool before;
    bool by_free;
} naive_life;

#define NAIVE_NEVER INT64_MAX

typedef struct naive {
    const plim_device_history *device;
    bool has_requested, has_completed; /* anywhere in the file */
    naive_life lives[NAIVE_MAX];
    size_t life_count;
    naive_life pending[NAIVE_MAX]; /* blocks freed and awaiting completion */
    size_t pending_count;
    uint64_t reserved[NAIVE_MAX + 1]; /* before event i */
    struct {
        plim_addr begin, end;
        uint32_t stream;
        bool is_expandable;
    } spans[NAIVE_MAX]; /* segments as they are undone */
    size_t span_count;
    uint64_t anomalies[PLIM_ANOMALY_COUNT];
} naive;

static inline uint64_t naive_round(uint64_t bytes)
{
    return bytes == 0 ? 512 : (bytes + 511) / 512 * 512;
}

static inline bool naive_is_memory(uint8_t action)
{
    return action == PLIM_ALLOC || action == PLIM_FREE_REQUESTED || action == PLIM_FREE_COMPLETED;
}

static inline bool naive_touched_before(const naive *model, uint64_t event)
{
    const plim_events *const events = &model->device->events;
    for (uint64_t i = 0; i < event; i++) {
        if (naive_is_memory(events->action[i]) && events->addr[i] == events->addr[event]) {
            return true;
        }
    }
    return false;
}

static inline naive_life *naive_open(naive_life *lives, size_t count, plim_addr addr)
{
    for (size_t i = 0; i < count; i++) {
        if (lives[i].addr == addr && lives[i].end == NAIVE_NEVER) {
            return &lives[i];
        }
    }
    return NULL;
}

static inline naive_life *naive_add(naive_life *lives, size_t *count, naive_life life)
{
    T_TRUE(*count < NAIVE_MAX);
    lives[*count] = life;
    return &lives[(*count)++];
}

static inline void naive_pend(naive *model, const naive_life *life, int64_t event)
{
    naive_life pending = *life;
    pending.begin = event;
    pending.end = NAIVE_NEVER;
    naive_add(model->pending, &model->pending_count, pending);
}

static inline void naive_alloc(naive *model, uint64_t event)
{
    const plim_events *const events = &model->device->events;
    const plim_addr addr = events->addr[event];
    naive_life *const over = naive_open(model->lives, model->life_count, addr);
    naive_life *const pending = naive_open(model->pending, model->pending_count, addr);
    if (over != NULL) {
        over->end = (int64_t)event;
        model->anomalies[PLIM_ANOMALY_ALLOC_OVER_LIVE]++;
    }
    if (pending != NULL) {
        pending->end = (int64_t)event;
    }
    naive_add(model->lives, &model->life_count,
              (naive_life){ .begin = (int64_t)event,
                            .end = NAIVE_NEVER,
                            .addr = addr,
                            .requested = events->bytes[event],
                            .stack = events->stack[event] });
}

static inline void naive_end(naive *model, uint64_t event)
{
    const plim_events *const events = &model->device->events;
    const plim_addr addr = events->addr[event];
    naive_life *life = naive_open(model->lives, model->life_count, addr);
    if (life == NULL && naive_touched_before(model, event)) {
        model->anomalies[PLIM_ANOMALY_DOUBLE_FREE]++;
        return;
    }
    if (life == NULL) {
        life = naive_add(model->lives, &model->life_count,
                         (naive_life){ .begin = -1,
                                       .addr = addr,
                                       .requested = events->bytes[event],
                                       .stack = events->stack[event],
                                       .before = true,
                                       .by_free = true });
    } else {
        model->anomalies[PLIM_ANOMALY_FREE_SIZE] += life->requested != events->bytes[event];
    }
    life->end = (int64_t)event;
    if (model->has_requested) {
        naive_pend(model, life, (int64_t)event);
    }
}

static inline void naive_complete(naive *model, uint64_t event)
{
    const plim_events *const events = &model->device->events;
    naive_life *const pending =
        naive_open(model->pending, model->pending_count, events->addr[event]);
    if (pending != NULL) {
        pending->end = (int64_t)event;
    } else if (naive_touched_before(model, event)) {
        model->anomalies[PLIM_ANOMALY_COMPLETED_UNREQUESTED]++;
    } else {
        naive_add(model->pending, &model->pending_count,
                  (naive_life){ .begin = -1,
                                .end = (int64_t)event,
                                .addr = events->addr[event],
                                .requested = events->bytes[event] });
    }
}

static inline void naive_follow(naive *model)
{
    const plim_events *const events = &model->device->events;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_ALLOC) {
            naive_alloc(model, i);
        } else if (events->action[i] ==
                   (model->has_requested ? PLIM_FREE_REQUESTED : PLIM_FREE_COMPLETED)) {
            naive_end(model, i);
        } else if (events->action[i] == PLIM_FREE_COMPLETED) {
            naive_complete(model, i);
        }
    }
}

static inline void naive_know(naive_life *life, const plim_block *block)
{
    if (!life->block_known || block->bytes < life->block) {
        life->block = block->bytes;
    }
    life->block_known = true;
}

static inline bool naive_touched(const naive *model, plim_addr addr)
{
    const plim_events *const events = &model->device->events;
    for (uint64_t i = 0; i < events->count; i++) {
        if (naive_is_memory(events->action[i]) && events->addr[i] == addr) {
            return true;
        }
    }
    return false;
}

static inline void naive_look_at_block(naive *model, const plim_block *block)
{
    const plim_events *const events = &model->device->events;
    const bool allocated = block->state == PLIM_BLOCK_ACTIVE_ALLOCATED;
    naive_life *const live = naive_open(model->lives, model->life_count, block->addr);
    naive_life *const pending = naive_open(model->pending, model->pending_count, block->addr);
    if (!naive_touched(model, block->addr)) {
        const naive_life life = { .begin = -1,
                                  .end = NAIVE_NEVER,
                                  .addr = UINT64_MAX, /* not to be found as open again */
                                  .requested = block->requested_bytes,
                                  .block = block->bytes,
                                  .block_known = true,
                                  .stack = block->stack,
                                  .before = true };
        naive_add(allocated ? model->lives : model->pending,
                  allocated ? &model->life_count : &model->pending_count, life);
    } else if (allocated && live == NULL) {
        model->anomalies[PLIM_ANOMALY_ACTIVE_NOT_LIVE]++;
    } else if (allocated) {
        model->anomalies[PLIM_ANOMALY_BLOCK_SIZE] +=
            block->bytes < events->bytes[live->begin] && block->bytes >= block->requested_bytes;
        naive_know(live, block);
    } else if (pending != NULL && live == NULL) {
        for (size_t i = 0; i < model->life_count; i++) {
            if (model->lives[i].addr == block->addr && model->lives[i].end == pending->begin) {
                naive_know(&model->lives[i], block);
            }
        }
        naive_know(pending, block);
    }
}

static inline void naive_look_at_end(naive *model)
{
    const plim_device_history *const device = model->device;
    uint64_t unheld = 0;
    for (uint64_t i = 0; i < device->block_count; i++) {
        if (device->blocks[i].state != PLIM_BLOCK_INACTIVE) {
            naive_look_at_block(model, &device->blocks[i]);
        }
    }
    for (size_t i = 0; i < model->life_count; i++) {
        unheld += model->lives[i].end == NAIVE_NEVER && !model->lives[i].block_known;
    }
    model->anomalies[PLIM_ANOMALY_LIVE_NOT_ACTIVE] += device->segment_count > 0 ? unheld : 0;
    /* Where no free is ever completed, they complete at once, but for those that pend at the end.
     */
    for (size_t i = 0; i < model->pending_count && !model->has_completed; i++) {
        if (!model->pending[i].block_known) {
            model->pending[i].end = model->pending[i].begin;
        }
    }
}

/* --- segments, undone in a list --- */

static inline bool naive_span_add(naive *model, plim_addr begin, plim_addr end, uint32_t stream,
                                  bool is_expandable)
{
    if (begin >= end) {
        return false;
    }
    for (size_t i = 0; i < model->span_count; i++) {
        if (model->spans[i].begin < end && begin < model->spans[i].end) {
            return false;
        }
    }
    for (size_t i = 0; i < model->span_count && is_expandable;) {
        const bool touches = model->spans[i].end == begin || model->spans[i].begin == end;
        if (touches && model->spans[i].is_expandable && model->spans[i].stream == stream) {
            begin = model->spans[i].begin < begin ? model->spans[i].begin : begin;
            end = model->spans[i].end > end ? model->spans[i].end : end;
            model->spans[i] = model->spans[--model->span_count];
            i = 0;
        } else {
            i++;
        }
    }
    T_TRUE(model->span_count < NAIVE_MAX);
    model->spans[model->span_count].begin = begin;
    model->spans[model->span_count].end = end;
    model->spans[model->span_count].stream = stream;
    model->spans[model->span_count++].is_expandable = is_expandable;
    return true;
}

/* Takes begin..end out of the span that holds it; the whole of it when `exactly`. */
static inline bool naive_span_cut(naive *model, plim_addr begin, plim_addr end, bool exactly)
{
    for (size_t i = 0; i < model->span_count; i++) {
        const plim_addr low = model->spans[i].begin;
        const plim_addr high = model->spans[i].end;
        if (begin >= end || low > begin || high < end ||
            (exactly && (low != begin || high != end))) {
            continue;
        }
        const uint32_t stream = model->spans[i].stream;
        const bool is_expandable = model->spans[i].is_expandable;
        model->spans[i] = model->spans[--model->span_count];
        naive_span_add(model, low, begin, stream, is_expandable);
        naive_span_add(model, end, high, stream, is_expandable);
        return true;
    }
    return false;
}

static inline bool naive_is_inside(const naive *model, plim_addr addr, uint64_t bytes)
{
    for (size_t i = 0; i < model->span_count; i++) {
        if (model->spans[i].begin <= addr && addr < model->spans[i].end &&
            bytes <= model->spans[i].end - addr) {
            return true;
        }
    }
    return false;
}

static inline void naive_undo_event(naive *model, uint64_t i)
{
    const plim_events *const events = &model->device->events;
    const uint8_t action = events->action[i];
    const plim_addr begin = events->addr[i];
    const plim_addr end = begin + events->bytes[i];
    const uint64_t after = model->reserved[i + 1];
    bool fits = true;
    model->reserved[i] = after;
    if (action == PLIM_SEGMENT_ALLOC || action == PLIM_SEGMENT_MAP) {
        fits = naive_span_cut(model, begin, end, action == PLIM_SEGMENT_ALLOC);
        fits = fits && after >= events->bytes[i];
        model->reserved[i] = after >= events->bytes[i] ? after - events->bytes[i] : 0;
    } else if (action == PLIM_SEGMENT_FREE || action == PLIM_SEGMENT_UNMAP) {
        fits = naive_span_add(model, begin, end, events->stream[i], action == PLIM_SEGMENT_UNMAP);
        model->reserved[i] = after + events->bytes[i];
    }
    model->anomalies[PLIM_ANOMALY_SEGMENT_UNKNOWN] += !fits;
}

static inline void naive_undo(naive *model)
{
    const plim_device_history *const device = model->device;
    bool has_segments = device->segment_count > 0;
    model->reserved[device->events.count] = 0;
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *const segment = &device->segments[i];
        model->reserved[device->events.count] += segment->bytes;
        model->anomalies[PLIM_ANOMALY_SEGMENT_OVERLAP] +=
            !naive_span_add(model, segment->addr, segment->addr + segment->bytes, segment->stream,
                            segment->is_expandable) &&
            segment->bytes > 0;
    }
    for (uint64_t i = 0; i < device->events.count; i++) {
        const uint8_t action = device->events.action[i];
        has_segments =
            has_segments || (action >= PLIM_SEGMENT_ALLOC && action <= PLIM_SEGMENT_UNMAP);
    }
    for (uint64_t i = device->events.count; i-- > 0;) {
        if (device->events.action[i] == PLIM_ALLOC && has_segments) {
            model->anomalies[PLIM_ANOMALY_EVENT_OUTSIDE] +=
                !naive_is_inside(model, device->events.addr[i], device->events.bytes[i]);
        }
        naive_undo_event(model, i);
    }
}

/* --- asking it --- */

static inline bool naive_is_live(const naive_life *life, int64_t moment)
{
    return life->begin <= moment && moment < life->end;
}

static inline uint64_t naive_block(const naive_life *life)
{
    return life->block_known ? life->block : naive_round(life->requested);
}

/* The figures after `event`, without groups. Requests here are small: their blocks follow from the
 * rounding rule, so that all sizes are exact. */
static inline plim_moment naive_moment(const naive *model, int64_t event)
{
    plim_moment moment = { .event = event };
    moment.time_us = event < 0 ? PLIM_TIME_UNKNOWN : model->device->events.time_us[event];
    for (size_t i = 0; i < model->life_count; i++) {
        if (naive_is_live(&model->lives[i], event)) {
            moment.requested_bytes += model->lives[i].requested;
            moment.allocated_bytes += naive_block(&model->lives[i]);
            moment.live_count++;
        }
    }
    moment.active_bytes = moment.allocated_bytes;
    for (size_t i = 0; i < model->pending_count; i++) {
        if (naive_is_live(&model->pending[i], event)) {
            moment.active_bytes += naive_block(&model->pending[i]);
        }
    }
    /* Forwards again, an event takes what it is known to have found. */
    uint64_t reserved = model->reserved[0];
    for (int64_t i = 0; i <= event; i++) {
        reserved = model->reserved[i + 1];
    }
    moment.reserved_bytes = reserved;
    return moment;
}

static inline plim_moment naive_peak(const naive *model)
{
    plim_moment best = naive_moment(model, -1);
    for (int64_t i = 0; i < (int64_t)model->device->events.count; i++) {
        const plim_moment moment = naive_moment(model, i);
        if (moment.requested_bytes > best.requested_bytes) {
            best = moment;
        }
    }
    return best;
}

/* The bytes and number of what was live at a moment of one stack. */
static inline plim_stack_group naive_group(const naive *model, int64_t event, uint32_t stack)
{
    plim_stack_group group = { .stack = stack };
    for (size_t i = 0; i < model->life_count; i++) {
        const naive_life *const life = &model->lives[i];
        if (!naive_is_live(life, event) || life->stack != stack) {
            continue;
        }
        group.bytes += life->requested;
        group.count++;
        group.before_recording_bytes += life->before ? life->requested : 0;
        group.before_recording_count += life->before;
        group.stack_of_free_count += life->before && life->by_free && stack != PLIM_NONE;
    }
    return group;
}

static inline void naive_check_events(naive *model)
{
    const plim_events *const events = &model->device->events;
    int64_t last = PLIM_TIME_UNKNOWN;
    for (uint64_t i = 0; i < events->count; i++) {
        const plim_moment moment = naive_moment(model, (int64_t)i);
        if (events->action[i] == PLIM_SNAPSHOT) {
            model->anomalies[PLIM_ANOMALY_SNAPSHOT_CHECK] +=
                moment.active_bytes != events->bytes[i];
        }
        if (events->time_us[i] != PLIM_TIME_UNKNOWN) {
            model->anomalies[PLIM_ANOMALY_TIME_BACKWARDS] += events->time_us[i] < last;
            last = events->time_us[i];
        }
    }
    for (uint64_t i = events->count; i-- > 0;) {
        if (events->action[i] == PLIM_OOM) {
            model->anomalies[PLIM_ANOMALY_AFTER_OOM] += events->count - 1 - i;
            break;
        }
    }
}

/* Where all frees carry the stack of their alloc, those of unknown allocs do too. */
static inline void naive_judge_stacks(naive *model)
{
    const plim_events *const events = &model->device->events;
    bool some = false;
    bool all = true;
    for (size_t i = 0; i < model->life_count; i++) {
        const naive_life *const life = &model->lives[i];
        if (life->before || life->end == NAIVE_NEVER || events->action[life->end] == PLIM_ALLOC ||
            life->stack == PLIM_NONE || events->stack[life->end] == PLIM_NONE) {
            continue;
        }
        some = true;
        all = all && life->stack == events->stack[life->end];
    }
    for (size_t i = 0; i < model->life_count && some && all; i++) {
        model->lives[i].by_free = false;
    }
}

static inline void naive_init(naive *model, const plim_history *history,
                              const plim_device_history *device)
{
    memset(model, 0, sizeof *model);
    model->device = device;
    T_TRUE(device->events.count <= NAIVE_MAX);
    for (size_t d = 0; d < plim_history_device_count(history); d++) {
        const plim_events *const events = &plim_history_device(history, d)->events;
        for (uint64_t i = 0; i < events->count; i++) {
            model->has_requested |= events->action[i] == PLIM_FREE_REQUESTED;
            model->has_completed |= events->action[i] == PLIM_FREE_COMPLETED;
        }
    }
    naive_follow(model);
    naive_look_at_end(model);
    naive_judge_stacks(model);
    naive_undo(model);
    naive_check_events(model);
}

#endif
