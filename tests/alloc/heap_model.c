/*
 * heap_model.c - an allocator seen from outside. See heap_model.h.
 */
#include "alloc/heap_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void t_model_fail(t_model *model, const char *format, ...)
{
    if (model->fault[0] != '\0' || model->is_blind) {
        return;
    }
    va_list values;
    va_start(values, format);
    (void)vsnprintf(model->fault, sizeof model->fault, format, values);
    va_end(values);
}

void t_model_init(t_model *model)
{
    memset(model, 0, sizeof *model);
}

/* --- spans --- */

static bool overlap(plim_addr a, uint64_t a_bytes, plim_addr b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static bool spans_touch(const t_spans *spans, plim_addr addr, uint64_t bytes)
{
    for (size_t i = 0; i < spans->count; i++) {
        if (overlap(spans->rows[i].addr, spans->rows[i].bytes, addr, bytes)) {
            return true;
        }
    }
    return false;
}

static const t_span *span_around(const t_spans *spans, plim_addr addr)
{
    for (size_t i = 0; i < spans->count; i++) {
        if (addr - spans->rows[i].addr < spans->rows[i].bytes) {
            return &spans->rows[i];
        }
    }
    return NULL;
}

/* True if every byte lies in some span. */
static bool spans_cover(const t_spans *spans, plim_addr addr, uint64_t bytes)
{
    const plim_addr end = addr + bytes;
    while (addr < end) {
        const t_span *span = span_around(spans, addr);
        if (span == NULL) {
            return false;
        }
        addr = span->addr + span->bytes;
    }
    return true;
}

static uint64_t spans_bytes(const t_spans *spans)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < spans->count; i++) {
        sum += spans->rows[i].bytes;
    }
    return sum;
}

static void spans_add(t_model *model, t_spans *spans, t_span span, const char *what)
{
    if (spans->count == T_MODEL_SPANS) {
        t_model_fail(model, "too many spans for the model");
    } else if (spans_touch(spans, span.addr, span.bytes)) {
        t_model_fail(model, "%s at 0x%" PRIx64 " (%" PRIu64 " bytes) overlaps another", what,
                     span.addr, span.bytes);
    } else {
        spans->rows[spans->count] = span;
        spans->count++;
    }
}

/* Takes a range out of the spans that have it; they may become shorter, or two. */
static void spans_take(t_model *model, t_spans *spans, plim_addr addr, uint64_t bytes,
                       const char *what)
{
    if (!spans_cover(spans, addr, bytes)) {
        t_model_fail(model, "%s at 0x%" PRIx64 " (%" PRIu64 " bytes) goes but was not there", what,
                     addr, bytes);
        return;
    }
    for (size_t i = 0; i < spans->count;) {
        const t_span old = spans->rows[i];
        if (!overlap(old.addr, old.bytes, addr, bytes)) {
            i++;
            continue;
        }
        spans->count--;
        spans->rows[i] = spans->rows[spans->count];
        if (old.addr < addr) {
            spans_add(model, spans, (t_span){ old.addr, addr - old.addr, old.is_small }, what);
        }
        if (old.addr + old.bytes > addr + bytes) {
            const uint64_t rest = old.addr + old.bytes - (addr + bytes);
            spans_add(model, spans, (t_span){ addr + bytes, rest, old.is_small }, what);
        }
    }
}

/* A span that goes as it came. */
static uint64_t spans_remove(t_model *model, t_spans *spans, plim_addr addr, const char *what)
{
    for (size_t i = 0; i < spans->count; i++) {
        if (spans->rows[i].addr == addr) {
            const uint64_t bytes = spans->rows[i].bytes;
            spans->count--;
            spans->rows[i] = spans->rows[spans->count];
            return bytes;
        }
    }
    t_model_fail(model, "%s at 0x%" PRIx64 " goes but was not there", what, addr);
    return 0;
}

/* --- statistics --- */

static void count_slot(plim_stat *stat, int64_t by)
{
    stat->current += by;
    stat->peak = stat->current > stat->peak ? stat->current : stat->peak;
    stat->allocated += by > 0 ? by : 0;
    stat->freed -= by < 0 ? by : 0;
}

static void count(t_side *side, plim_stat_family family, bool is_small, int64_t by)
{
    count_slot(&side->stats[family][PLIM_SLOT_ALL], by);
    count_slot(&side->stats[family][is_small ? PLIM_SLOT_SMALL : PLIM_SLOT_LARGE], by);
}

void t_model_reset_peaks(t_model *model, int32_t device)
{
    t_side *side = &model->sides[device];
    side->split_peak = 0;
    for (int f = 0; f < PLIM_STAT_COUNT; f++) {
        for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            side->stats[f][slot].peak = side->stats[f][slot].current;
        }
    }
}

void t_model_reset_accumulated(t_model *model, int32_t device)
{
    t_side *side = &model->sides[device];
    side->device_allocs = 0;
    side->device_frees = 0;
    for (int f = 0; f < PLIM_STAT_COUNT; f++) {
        for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            side->stats[f][slot].allocated = 0;
            side->stats[f][slot].freed = 0;
        }
    }
}

/* --- blocks --- */

static t_active *find(t_side *side, plim_addr addr)
{
    for (size_t i = 0; i < side->block_count; i++) {
        if (side->blocks[i].addr == addr) {
            return &side->blocks[i];
        }
    }
    return NULL;
}

const t_active *t_model_find(const t_model *model, int32_t device, plim_addr addr)
{
    const t_side *side = &model->sides[device];
    for (size_t i = 0; i < side->block_count; i++) {
        if (side->blocks[i].addr == addr) {
            return &side->blocks[i];
        }
    }
    return NULL;
}

static bool is_active_in(const t_side *side, plim_addr addr, uint64_t bytes)
{
    for (size_t i = 0; i < side->block_count; i++) {
        if (overlap(side->blocks[i].addr, side->blocks[i].bytes, addr, bytes)) {
            return true;
        }
    }
    return false;
}

static void on_alloc(t_model *model, t_side *side, const plim_event *event)
{
    const t_span *segment = span_around(&side->segments, event->addr);
    const bool is_inside = segment != NULL
                               ? event->addr + event->block_bytes <= segment->addr + segment->bytes
                               : spans_cover(&side->mapped, event->addr, event->block_bytes);
    if (!is_inside || event->bytes > event->block_bytes) {
        t_model_fail(model, "block 0x%" PRIx64 " does not lie in memory, or is too small",
                     event->addr);
    } else if (is_active_in(side, event->addr, event->block_bytes)) {
        t_model_fail(model, "block 0x%" PRIx64 " overlaps one that is active", event->addr);
    } else if (side->block_count == T_MODEL_BLOCKS) {
        t_model_fail(model, "too many blocks for the model");
    } else {
        side->blocks[side->block_count] = (t_active){ .addr = event->addr,
                                                      .bytes = event->block_bytes,
                                                      .requested = event->bytes,
                                                      .stream = event->stream,
                                                      .pool = event->pool,
                                                      .is_small = event->is_small };
        side->block_count++;
    }
    count(side, PLIM_STAT_ALLOCATION, event->is_small, 1);
    count(side, PLIM_STAT_ALLOCATED_BYTES, event->is_small, (int64_t)event->block_bytes);
    count(side, PLIM_STAT_ACTIVE, event->is_small, 1);
    count(side, PLIM_STAT_ACTIVE_BYTES, event->is_small, (int64_t)event->block_bytes);
    count(side, PLIM_STAT_REQUESTED_BYTES, event->is_small, (int64_t)event->bytes);
}

static void on_free(t_model *model, t_side *side, const plim_event *event)
{
    t_active *block = find(side, event->addr);
    const bool is_request = event->action == PLIM_FREE_REQUESTED;
    if (block == NULL || block->is_freed == is_request || block->bytes != event->block_bytes ||
        block->requested != event->bytes || block->is_small != event->is_small ||
        block->stream != event->stream) {
        t_model_fail(model, "a free of 0x%" PRIx64 " is told that does not fit its block",
                     event->addr);
        return;
    }
    if (is_request) {
        block->is_freed = true;
        count(side, PLIM_STAT_ALLOCATION, event->is_small, -1);
        count(side, PLIM_STAT_ALLOCATED_BYTES, event->is_small, -(int64_t)block->bytes);
        return;
    }
    count(side, PLIM_STAT_ACTIVE, event->is_small, -1);
    count(side, PLIM_STAT_ACTIVE_BYTES, event->is_small, -(int64_t)block->bytes);
    count(side, PLIM_STAT_REQUESTED_BYTES, event->is_small, -(int64_t)block->requested);
    side->block_count--;
    *block = side->blocks[side->block_count];
}

/* --- events --- */

static void on_segment(t_model *model, t_side *side, const plim_event *event)
{
    const bool is_more = event->action == PLIM_SEGMENT_ALLOC || event->action == PLIM_SEGMENT_MAP;
    const bool is_plain = event->action == PLIM_SEGMENT_ALLOC || event->action == PLIM_SEGMENT_FREE;
    t_spans *spans = is_plain ? &side->segments : &side->mapped;
    const char *what = is_plain ? "segment" : "mapped run";
    if (is_more) {
        if (!model->has_uncertain_device && !spans_cover(&side->taken, event->addr, event->bytes)) {
            t_model_fail(model, "%s 0x%" PRIx64 " is no memory of the device", what, event->addr);
        }
        if (spans_touch(is_plain ? &side->mapped : &side->segments, event->addr, event->bytes)) {
            t_model_fail(model, "%s 0x%" PRIx64 " lies over another", what, event->addr);
        }
        spans_add(model, spans, (t_span){ event->addr, event->bytes, event->is_small }, what);
        side->device_allocs++;
    } else {
        if (is_active_in(side, event->addr, event->bytes)) {
            t_model_fail(model, "%s 0x%" PRIx64 " goes with an active block", what, event->addr);
        }
        spans_take(model, spans, event->addr, event->bytes, what);
        side->device_frees++;
    }
    const int64_t sign = is_more ? 1 : -1;
    count(side, PLIM_STAT_RESERVED_BYTES, event->is_small, sign * (int64_t)event->bytes);
    if (is_plain) {
        count(side, PLIM_STAT_SEGMENT, event->is_small, sign);
    }
}

static void hash(t_model *model, uint64_t value)
{
    model->event_hash = (model->event_hash ^ value) * UINT64_C(0x100000001b3);
}

static void on_event(void *ctx, const plim_event *event)
{
    t_model *model = ctx;
    model->event_count++;
    hash(model, (uint64_t)event->action << 8 | (uint64_t)event->device << 1 | event->is_small);
    hash(model, event->addr);
    hash(model, event->bytes);
    hash(model, event->block_bytes);
    hash(model, event->stream);
    hash(model, event->pool.a << 32 | event->pool.b);
    if (event->device < 0 || event->device >= T_MODEL_DEVICES) {
        t_model_fail(model, "an event of device %d", (int)event->device);
        return;
    }
    t_side *side = &model->sides[event->device];
    const plim_action action = event->action;
    if (action == PLIM_ALLOC) {
        on_alloc(model, side, event);
    } else if (action == PLIM_FREE_REQUESTED || action == PLIM_FREE_COMPLETED) {
        on_free(model, side, event);
    } else if (action != PLIM_OOM) {
        on_segment(model, side, event);
    }
}

plim_event_sink t_model_sink(t_model *model)
{
    return (plim_event_sink){ .event = on_event, .ctx = model };
}

/* --- the device --- */

void t_model_on_call(void *ctx, const plim_device_record *record)
{
    t_model *model = ctx;
    t_spans *taken = &model->sides[record->ordinal].taken;
    if (record->status != PLIM_OK) {
        return;
    }
    const plim_device_call call = record->call;
    if (call == PLIM_CALL_MEMORY_ALLOC || call == PLIM_CALL_MAP) {
        spans_add(model, taken, (t_span){ record->addr, record->bytes, false }, "device memory");
    } else if (call == PLIM_CALL_MEMORY_FREE) {
        (void)spans_remove(model, taken, record->addr, "device memory");
    } else if (call == PLIM_CALL_UNMAP) {
        spans_take(model, taken, record->addr, record->bytes, "device memory");
    }
}

void t_model_source(t_model *model, int32_t device, plim_addr addr, uint64_t bytes, bool is_given)
{
    t_spans *taken = &model->sides[device].taken;
    if (is_given) {
        spans_add(model, taken, (t_span){ addr, bytes, false }, "memory of a source");
    } else if (spans_remove(model, taken, addr, "memory of a source") != bytes) {
        t_model_fail(model, "a source gets 0x%" PRIx64 " back with another size", addr);
    }
}

void t_model_uncached(t_model *model, int32_t device, plim_addr addr, uint64_t bytes, bool is_given)
{
    t_side *side = &model->sides[device];
    if (!is_given) {
        (void)spans_remove(model, &side->uncached, addr, "uncached memory");
        return;
    }
    if (!spans_cover(&side->taken, addr, bytes) || spans_touch(&side->segments, addr, bytes)) {
        t_model_fail(model, "uncached memory 0x%" PRIx64 " is not the device's own", addr);
    }
    spans_add(model, &side->uncached, (t_span){ addr, bytes, false }, "uncached memory");
}

void t_model_compare_device(t_model *model, int32_t device)
{
    const t_side *side = &model->sides[device];
    const uint64_t taken = spans_bytes(&side->taken);
    const uint64_t known =
        spans_bytes(&side->segments) + spans_bytes(&side->mapped) + spans_bytes(&side->uncached);
    if (!model->has_uncertain_device && taken != known) {
        t_model_fail(model, "device %d gave %" PRIu64 " bytes, the allocator has %" PRIu64,
                     (int)device, taken, known);
    }
}

/* --- comparing --- */

static const t_active *next_in(const t_side *side, plim_addr at, plim_addr end)
{
    const t_active *next = NULL;
    for (size_t i = 0; i < side->block_count; i++) {
        const t_active *block = &side->blocks[i];
        if (block->addr >= at && block->addr < end && (next == NULL || block->addr < next->addr)) {
            next = block;
        }
    }
    return next;
}

/* Gaps between the active blocks of plain segments, where they are not all of it. */
static void sum_splits(const t_side *side, int64_t *count, int64_t *bytes)
{
    for (size_t i = 0; i < side->segments.count; i++) {
        const t_span *segment = &side->segments.rows[i];
        const plim_addr end = segment->addr + segment->bytes;
        plim_addr at = segment->addr;
        while (at < end) {
            const t_active *next = next_in(side, at, end);
            const plim_addr gap_end = next != NULL ? next->addr : end;
            if (gap_end > at && gap_end - at < segment->bytes) {
                (*count)++;
                *bytes += (int64_t)(gap_end - at);
            }
            at = next != NULL ? next->addr + next->bytes : end;
        }
    }
}

static void compare_family(t_model *model, int32_t device, int family,
                           const plim_device_stats *stats)
{
    for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
        const plim_stat *ours = &model->sides[device].stats[family][slot];
        const plim_stat *theirs = &stats->families[family][slot];
        if (ours->current != theirs->current || ours->peak != theirs->peak ||
            ours->allocated != theirs->allocated || ours->freed != theirs->freed) {
            t_model_fail(model,
                         "device %d, family %d, slot %d: %" PRId64 "/%" PRId64 "/%" PRId64
                         "/%" PRId64 " by events, %" PRId64 "/%" PRId64 "/%" PRId64 "/%" PRId64,
                         (int)device, family, slot, ours->current, ours->peak, ours->allocated,
                         ours->freed, theirs->current, theirs->peak, theirs->allocated,
                         theirs->freed);
        }
    }
}

void t_model_compare_stats(t_model *model, int32_t device, const plim_device_stats *stats)
{
    t_side *side = &model->sides[device];
    for (int family = 0; family < PLIM_STAT_COUNT; family++) {
        if (T_MODEL_IS_KEPT(family)) {
            compare_family(model, device, family, stats);
        }
    }
    int64_t splits = 0, split_bytes = 0;
    sum_splits(side, &splits, &split_bytes);
    side->split_peak = splits > side->split_peak ? splits : side->split_peak;
    const plim_stat *split = &stats->families[PLIM_STAT_INACTIVE_SPLIT][PLIM_SLOT_ALL];
    const plim_stat *bytes = &stats->families[PLIM_STAT_INACTIVE_SPLIT_BYTES][PLIM_SLOT_ALL];
    if (split->current != splits || bytes->current != split_bytes ||
        split->peak < side->split_peak || bytes->peak < bytes->current) {
        t_model_fail(model, "device %d has %" PRId64 " inactive splits, the statistics %" PRId64,
                     (int)device, splits, split->current);
    }
    if (stats->num_device_alloc != side->device_allocs ||
        stats->num_device_free != side->device_frees) {
        t_model_fail(model, "device %d: calls to the device are counted wrong", (int)device);
    }
}

static void compare_segment(t_model *model, const t_side *side, const plim_device_history *history,
                            const plim_segment *segment)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < segment->block_count; i++) {
        const plim_block *block = &history->blocks[segment->block_first + i];
        if (block->addr != segment->addr + bytes) {
            t_model_fail(model, "blocks of 0x%" PRIx64 " leave a hole", segment->addr);
        }
        bytes += block->bytes;
        const t_active *ours = next_in(side, block->addr, block->addr + 1);
        const plim_block_state state = ours == NULL      ? PLIM_BLOCK_INACTIVE
                                       : !ours->is_freed ? PLIM_BLOCK_ACTIVE_ALLOCATED
                                                         : PLIM_BLOCK_ACTIVE_PENDING_FREE;
        if (block->state != state ||
            (ours != NULL &&
             (ours->bytes != block->bytes || ours->requested != block->requested_bytes)) ||
            (ours == NULL && is_active_in(side, block->addr, block->bytes))) {
            t_model_fail(model, "snapshot: block 0x%" PRIx64 " is another", block->addr);
        }
    }
    const t_spans *spans = segment->is_expandable ? &side->mapped : &side->segments;
    if (bytes != segment->bytes || !spans_cover(spans, segment->addr, segment->bytes)) {
        t_model_fail(model, "snapshot: segment 0x%" PRIx64 " is another", segment->addr);
    }
}

void t_model_compare_snapshot(t_model *model, const plim_history *history)
{
    for (size_t d = 0; d < plim_history_device_count(history); d++) {
        const plim_device_history *device = plim_history_device(history, d);
        const t_side *side = &model->sides[device->device];
        uint64_t bytes = 0, active = 0;
        for (uint64_t i = 0; i < device->segment_count; i++) {
            compare_segment(model, side, device, &device->segments[i]);
            bytes += device->segments[i].bytes;
        }
        for (uint64_t i = 0; i < device->block_count; i++) {
            active += device->blocks[i].state != PLIM_BLOCK_INACTIVE ? 1 : 0;
        }
        if (bytes != spans_bytes(&side->segments) + spans_bytes(&side->mapped) ||
            active != side->block_count) {
            t_model_fail(model, "snapshot: something is missing");
        }
    }
}
