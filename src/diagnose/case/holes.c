/*
 * holes.c - see holes.h.
 */
#include "diagnose/case/holes.h"

#include "base/block_bytes.h"
#include "base/error.h"
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

#define PINS_MAX 8u
/* A block that lives less than a step, or than this part of a recording without steps, leaves of
 * itself. */
#define LONG_LIFE_PART 10u
/* Requests of one place vary if there are so many sizes, and so many of its requests have one of
 * their own. */
#define VARYING_SIZES_MIN   4u
#define VARYING_SIZES_SHARE 0.25
#define SIZES_SEEN_MAX      64u

typedef struct layout_block {
    plim_addr begin;
    plim_addr end;
    uint64_t blocked_bytes;
    int64_t born;
    uint32_t stack;
    bool is_long;
} layout_block;

typedef struct holes {
    plim_case *one;
    const plim_holes_request *request;
    plim_fragmentation_facts *facts;
    PLIM_VEC(layout_block) blocks; /* live and pending, by address */
    size_t next;                   /* block, of the walk over segments */
    uint64_t max_split_bytes;
} holes;

/* --- what is there --- */

static int64_t long_life(const plim_case *one)
{
    const size_t count = one->view.steps.count;
    if (count > 0) {
        const uint64_t all = one->view.steps.first_events[count] - one->view.steps.first_events[0];
        return (int64_t)(all / count);
    }
    return (int64_t)(one->device->events.count / LONG_LIFE_PART);
}

static int compare_addresses(const void *left, const void *right)
{
    const layout_block *const a = left;
    const layout_block *const b = right;
    return a->begin != b->begin ? (a->begin < b->begin ? -1 : 1)
                                : (a->born > b->born) - (a->born < b->born);
}

static bool gather_blocks(holes *all)
{
    plim_fragmentation_facts *const facts = all->facts;
    const int64_t life = long_life(all->one);
    plim_live live = plim_timeline_live(&all->one->view.timeline, all->request->moment, true);
    plim_allocation found;
    while (plim_live_next(&live, &found)) {
        const bool is_pending = found.freed <= all->request->moment;
        layout_block block = { .begin = found.addr,
                               .end = plim_plus(found.addr, found.block_bytes),
                               .born = found.born,
                               .stack = found.stack,
                               .is_long = found.freed == PLIM_NEVER ||
                                          found.freed - (found.born > 0 ? found.born : 0) >= life };
        if (is_pending) {
            facts->loss.pending_bytes = plim_plus(facts->loss.pending_bytes, found.block_bytes);
            block.is_long = false;
        } else {
            facts->allocated_bytes = plim_plus(facts->allocated_bytes, found.block_bytes);
            facts->loss.rounding_bytes = plim_plus(
                facts->loss.rounding_bytes, plim_minus(found.block_bytes, found.requested_bytes));
        }
        if (!PLIM_VEC_PUSH(all->one->mem, &all->blocks, block)) {
            return false;
        }
    }
    if (all->blocks.count > 0) {
        qsort(all->blocks.items, all->blocks.count, sizeof *all->blocks.items, compare_addresses);
    }
    return true;
}

/* The segment of the end at an address, or NULL. */
static const plim_segment *segment_at(const plim_device_history *device, plim_addr addr)
{
    uint64_t low = 0;
    uint64_t high = device->segment_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (device->segments[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return NULL;
    }
    const plim_segment *const found = &device->segments[low - 1];
    return addr - found->addr < found->bytes ? found : NULL;
}

/* --- one segment --- */

typedef struct place {
    const plim_span *span;
    bool is_private;
    bool is_small;
    uint64_t page_bytes; /* of an expandable segment of its pool */
    size_t first;        /* blocks in it, [first, end) */
    size_t end;
} place;

static bool is_usable(const holes *all, const place *at, uint64_t bytes)
{
    const plim_holes_request *const request = all->request;
    if (at->is_private) {
        return false;
    }
    if (request->bytes == 0) {
        return true;
    }
    const bool is_kept = bytes >= all->max_split_bytes && request->bytes < all->max_split_bytes;
    return (request->stream == PLIM_NONE || at->span->tag == request->stream) && !is_kept &&
           at->is_small == (request->bytes <= PLIM_SMALL_BYTES_MAX);
}

/* The part of a hole in an expandable segment that is whole pages, counted from where its run of
 * mapped pages begins. */
static uint64_t whole_pages(const place *at, plim_addr begin, plim_addr end)
{
    const uint64_t page = at->page_bytes;
    const uint64_t into = (begin - at->span->begin) % page;
    const plim_addr first = into == 0 ? begin : plim_plus(begin, page - into);
    return first < end ? (end - first) / page * page : 0;
}

/* Returns the bytes of a hole that are lost to the blocks around it. */
static uint64_t add_hole(holes *all, const place *at, plim_addr begin, plim_addr end)
{
    plim_loss *const loss = &all->facts->loss;
    const plim_holes_request *const request = all->request;
    const uint64_t bytes = end - begin;
    size_t class = 0;
    while (class + 1 < PLIM_HOLE_CLASSES && bytes >> (class + 1) > 0) {
        class ++;
    }
    all->facts->hole_bytes[class] = plim_plus(all->facts->hole_bytes[class], bytes);
    all->facts->hole_counts[class]++;
    if (is_usable(all, at, bytes)) {
        all->facts->largest_hole_bytes = plim_max(all->facts->largest_hole_bytes, bytes);
    }
    if (at->is_private) {
        loss->private_pool_bytes = plim_plus(loss->private_pool_bytes, bytes);
        return 0;
    }
    if (at->first == at->end) {
        loss->free_segment_bytes = plim_plus(loss->free_segment_bytes, bytes);
        return 0;
    }
    if (at->span->joins) {
        const uint64_t whole = whole_pages(at, begin, end);
        loss->free_segment_bytes = plim_plus(loss->free_segment_bytes, whole);
        loss->page_bytes = plim_plus(loss->page_bytes, bytes - whole);
        return bytes - whole;
    }
    if (request->stream != PLIM_NONE && at->span->tag != request->stream) {
        loss->other_stream_bytes = plim_plus(loss->other_stream_bytes, bytes);
    } else if (request->bytes > 0 && request->bytes < all->max_split_bytes &&
               bytes >= all->max_split_bytes) {
        loss->oversize_bytes = plim_plus(loss->oversize_bytes, bytes);
    } else {
        loss->split_bytes = plim_plus(loss->split_bytes, bytes);
    }
    return bytes;
}

/* A hole of pages that can go one by one is its neighbours'; else all blocks of a segment share. */
static void blame(holes *all, const place *at, size_t next, uint64_t bytes)
{
    layout_block *const blocks = all->blocks.items;
    if (!at->span->joins || bytes == 0) {
        return;
    }
    const bool has_left = next > at->first;
    const bool has_right = next < at->end;
    const uint64_t part = has_left && has_right ? bytes / 2 : bytes;
    if (has_left) {
        blocks[next - 1].blocked_bytes += part;
    }
    if (has_right) {
        blocks[next].blocked_bytes += part;
    }
}

static void measure_segment(holes *all, const plim_span *span)
{
    const plim_segment *const known = segment_at(all->one->device, span->begin);
    place at = { .span = span,
                 .is_private = known != NULL && !plim_pool_is_default(known->pool),
                 .is_small = known != NULL ? !known->is_large
                                           : !span->joins && span->end - span->begin ==
                                                                 PLIM_SMALL_SEGMENT_BYTES };
    at.page_bytes =
        at.is_small ? PLIM_SMALL_SEGMENT_BYTES : all->one->view.rule.settings.large_segment_bytes;
    const layout_block *const blocks = all->blocks.items;
    while (all->next < all->blocks.count && blocks[all->next].begin < span->begin) {
        all->next++;
    }
    at.first = at.end = all->next;
    while (at.end < all->blocks.count && blocks[at.end].begin < span->end) {
        at.end++;
    }
    uint64_t lost = 0;
    plim_addr from = span->begin;
    for (size_t i = at.first; i <= at.end; i++) {
        const plim_addr to = i < at.end ? blocks[i].begin : span->end;
        if (to > from) {
            const uint64_t bytes = add_hole(all, &at, from, to);
            blame(all, &at, i, bytes);
            lost += bytes;
        }
        if (i < at.end) {
            from = plim_max(from, plim_min(blocks[i].end, span->end));
        }
    }
    for (size_t i = at.first; !span->joins && i < at.end; i++) {
        all->blocks.items[i].blocked_bytes = lost / (at.end - at.first);
    }
    all->next = at.end;
    all->facts->reserved_bytes = plim_plus(all->facts->reserved_bytes, span->end - span->begin);
}

static bool measure_segments(holes *all)
{
    plim_spans segments = { 0 };
    if (!plim_timeline_segments(&all->one->view.timeline, all->request->moment, &segments)) {
        return false;
    }
    for (const plim_span *span = plim_spans_first(&segments); span != NULL;
         span = plim_spans_next(&segments, span)) {
        measure_segment(all, span);
    }
    plim_spans_deinit(&segments);
    return true;
}

/* --- pins --- */

static int compare_stacks(const void *left, const void *right)
{
    const layout_block *const a = left;
    const layout_block *const b = right;
    return a->stack != b->stack ? (a->stack < b->stack ? -1 : 1)
                                : (a->born > b->born) - (a->born < b->born);
}

static int compare_frames(const void *left, const void *right)
{
    const plim_pin *const a = left;
    const plim_pin *const b = right;
    return a->place.frame != b->place.frame
               ? (a->place.frame < b->place.frame ? -1 : 1)
               : (a->place.stack > b->place.stack) - (a->place.stack < b->place.stack);
}

static int compare_harm(const void *left, const void *right)
{
    const plim_pin *const a = left;
    const plim_pin *const b = right;
    if (a->blocked_bytes != b->blocked_bytes) {
        return a->blocked_bytes > b->blocked_bytes ? -1 : 1;
    }
    return compare_frames(left, right);
}

static void join_pin(plim_pin *into, const plim_pin *pin)
{
    into->bytes = plim_plus(into->bytes, pin->bytes);
    into->blocked_bytes = plim_plus(into->blocked_bytes, pin->blocked_bytes);
    into->count += pin->count;
    into->born = pin->born < into->born ? pin->born : into->born;
}

typedef struct pin_list {
    plim_pin *items;
    size_t count;
} pin_list;

/* By stack, then by the line that speaks for it, in place. */
static void group_pins(holes *all, pin_list *pins)
{
    for (size_t i = 0; i < all->blocks.count; i++) {
        const layout_block *const block = &all->blocks.items[i];
        if (!block->is_long || block->blocked_bytes == 0) {
            continue;
        }
        const plim_pin pin = { .place = { .stack = block->stack, .frame = PLIM_NONE },
                               .bytes = block->end - block->begin,
                               .blocked_bytes = block->blocked_bytes,
                               .count = 1,
                               .born = block->born };
        plim_pin *const last = pins->count > 0 ? &pins->items[pins->count - 1] : NULL;
        if (last != NULL && last->place.stack == block->stack) {
            join_pin(last, &pin);
        } else {
            pins->items[pins->count] = pin;
            pins->items[pins->count++].place = plim_case_place(all->one, block->stack);
        }
    }
    if (pins->count == 0) {
        return;
    }
    qsort(pins->items, pins->count, sizeof *pins->items, compare_frames);
    size_t kept = 1;
    for (size_t i = 1; i < pins->count; i++) {
        plim_pin *const last = &pins->items[kept - 1];
        if (last->place.frame == pins->items[i].place.frame) {
            join_pin(last, &pins->items[i]);
        } else {
            pins->items[kept++] = pins->items[i];
        }
    }
    pins->count = kept;
    qsort(pins->items, pins->count, sizeof *pins->items, compare_harm);
}

static bool find_pins(holes *all)
{
    const size_t blocks = all->blocks.count;
    if (blocks == 0) {
        return true;
    }
    qsort(all->blocks.items, blocks, sizeof *all->blocks.items, compare_stacks);
    pin_list pins = { .items = plim_mem_alloc(all->one->mem, blocks, sizeof *pins.items) };
    if (pins.items == NULL) {
        return false;
    }
    group_pins(all, &pins);
    const size_t count = pins.count < PINS_MAX ? pins.count : PINS_MAX;
    plim_pin *const kept = plim_arena_alloc(all->one->arena, count * sizeof *kept);
    if (kept != NULL && count > 0) {
        memcpy(kept, pins.items, count * sizeof *kept);
    }
    plim_mem_free(all->one->mem, pins.items, blocks, sizeof *pins.items);
    all->facts->pins = count > 0 ? kept : NULL;
    all->facts->pin_count = kept != NULL ? count : 0;
    return kept != NULL;
}

plim_status plim_holes_measure(plim_case *one, const plim_holes_request *request,
                               plim_fragmentation_facts *ret_facts, plim_error *err)
{
    plim_fragmentation_facts facts = { .event = request->moment,
                                       .is_oom = request->is_oom,
                                       .request_bytes = request->bytes };
    holes all = { .one = one,
                  .request = request,
                  .facts = &facts,
                  .max_split_bytes = one->view.rule.settings.max_split_bytes };
    const bool done = gather_blocks(&all) && measure_segments(&all) && find_pins(&all);
    PLIM_VEC_FREE(one->mem, &all.blocks);
    if (!done) {
        return plim_fail_memory(err, "measuring fragmentation");
    }
    *ret_facts = facts;
    return PLIM_OK;
}

bool plim_holes_say_pin(plim_case *one, plim_diagnosis_finding *finding,
                        const plim_fragmentation_facts *facts)
{
    const plim_pin *const pin = facts->pin_count > 0 ? &facts->pins[0] : NULL;
    if (pin == NULL || pin->place.frame == PLIM_NONE) {
        return true;
    }
    const plim_evidence_line line = {
        .id = "pin",
        .text = "Blocks that live long ({}, requested at {}, {} in all) keep {} around them from "
                "use",
        .figures = { plim_say_amount("pin_count", pin->count),
                     plim_say_frame("pin_at", pin->place.frame),
                     plim_say_bytes("pin_bytes", pin->bytes),
                     plim_say_bytes("blocked_bytes", pin->blocked_bytes) },
        .figure_count = 4,
    };
    return plim_case_say(one, finding, &line);
}

/* --- causes --- */

uint64_t plim_holes_lost(const plim_loss *loss)
{
    uint64_t sum = plim_plus(loss->split_bytes, loss->other_stream_bytes);
    sum = plim_plus(sum, loss->private_pool_bytes);
    return plim_plus(plim_plus(sum, loss->oversize_bytes), loss->page_bytes);
}

/* True if a place of PyTorch's sharded training is on a stack: it gathers weights. */
static bool gathers_weights(const plim_case *one, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        const plim_frame *const frame = plim_history_frame(one->history, frames.frames[i]);
        if (strstr(plim_history_string(one->history, frame->filename, NULL), "/fsdp/") != NULL) {
            return true;
        }
    }
    return false;
}

/* True if the large requests of a stack are of ever other sizes. */
static bool has_varying_sizes(const plim_case *one, uint32_t stack)
{
    const plim_events *const events = &one->device->events;
    uint64_t seen[SIZES_SEEN_MAX];
    size_t sizes = 0;
    uint64_t requests = 0;
    for (uint64_t i = 0; i < events->count && sizes < SIZES_SEEN_MAX; i++) {
        if (events->action[i] != PLIM_ALLOC || events->stack[i] != stack ||
            events->bytes[i] <= PLIM_SMALL_BYTES_MAX) {
            continue;
        }
        requests++;
        size_t at = 0;
        while (at < sizes && seen[at] != events->bytes[i]) {
            at++;
        }
        if (at == sizes) {
            seen[sizes++] = events->bytes[i];
        }
    }
    return stack != PLIM_NONE && sizes >= VARYING_SIZES_MIN &&
           (double)sizes >= VARYING_SIZES_SHARE * (double)requests;
}

plim_cause plim_holes_cause(plim_case *one, const plim_fragmentation_facts *facts, uint32_t stack)
{
    const plim_loss *const loss = &facts->loss;
    const struct {
        uint64_t bytes;
        plim_cause cause;
    } others[] = {
        { loss->private_pool_bytes, PLIM_CAUSE_PRIVATE_POOLS },
        { loss->other_stream_bytes, PLIM_CAUSE_STREAM_POOLS },
        { loss->oversize_bytes, PLIM_CAUSE_OVERSIZE_FILTER },
        { loss->page_bytes, PLIM_CAUSE_EXPANDABLE_PAGES },
        { loss->rounding_bytes, PLIM_CAUSE_ROUNDING },
    };
    uint64_t most = loss->split_bytes;
    plim_cause cause = PLIM_CAUSE_PINNED_SEGMENTS;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i].bytes > most) {
            most = others[i].bytes;
            cause = others[i].cause;
        }
    }
    const uint32_t pin = facts->pin_count > 0 ? facts->pins[0].place.stack : PLIM_NONE;
    if (cause != PLIM_CAUSE_PINNED_SEGMENTS && cause != PLIM_CAUSE_STREAM_POOLS) {
        return cause;
    }
    if (gathers_weights(one, stack) || gathers_weights(one, pin)) {
        return PLIM_CAUSE_GATHERED_WEIGHTS;
    }
    return cause == PLIM_CAUSE_PINNED_SEGMENTS && has_varying_sizes(one, stack)
               ? PLIM_CAUSE_VARYING_SIZES
               : cause;
}
