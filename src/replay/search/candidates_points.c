/*
 * candidates_points.c - when a program might empty its cache.
 *
 * Where steps are known, between two of them: there least is live, so that most can go back to
 * the driver, and a program has a place for the call. Else before the peak, where least was live
 * since memory was half full for the first time.
 */
#include "replay/search/candidates.h"

#include "base/error.h"

#define VALLEY_SHARE_MAX 0.75 /* of the peak: no valley is less deep */

/* The first event of the last step that begins at or before an event. */
static bool find_step(const plim_program *program, const plim_steps *steps, uint64_t event,
                      uint64_t *ret_event)
{
    bool is_found = false;
    for (size_t i = 0; i < steps->count; i++) {
        const uint64_t first = steps->first_events[i];
        if (first > program->from_event && first <= event) {
            *ret_event = first;
            is_found = true;
        }
    }
    return is_found;
}

typedef struct valley {
    uint64_t live_bytes;
    uint64_t event;
    bool is_found;
} valley;

/* slot_bytes: room for the slots of the program, zeroed. */
static valley find_valley(const plim_program *program, uint64_t *slot_bytes)
{
    uint64_t live_bytes = 0;
    for (size_t i = 0; i < program->start.allocations.count; i++) {
        const plim_start_block *const block = &program->start.allocations.items[i];
        slot_bytes[block->slot] = block->requested_bytes;
        live_bytes += block->requested_bytes;
    }
    valley lowest = { .live_bytes = UINT64_MAX };
    bool was_half = false;
    for (uint64_t i = 0; i < program->ops.count && i < program->peak_op; i++) {
        const plim_op *const op = &program->ops.items[i];
        if (op->kind == PLIM_OP_ALLOC) {
            slot_bytes[op->slot] = op->bytes;
            live_bytes += op->bytes;
        } else if (op->kind == PLIM_OP_FREE || op->kind == PLIM_OP_DEFER) {
            live_bytes -= slot_bytes[op->slot];
            slot_bytes[op->slot] = 0;
        }
        was_half |= live_bytes >= program->peak_live_bytes / 2;
        if (was_half && live_bytes <= lowest.live_bytes) {
            lowest = (valley){ live_bytes, plim_program_event(program, i + 1), true };
        }
    }
    lowest.is_found &=
        (double)lowest.live_bytes <= VALLEY_SHARE_MAX * (double)program->peak_live_bytes;
    return lowest;
}

static plim_status find_before_peak(const plim_program *program, const plim_steps *steps,
                                    const plim_mem *mem, valley *ret_point, plim_error *err)
{
    valley point = { .is_found = false };
    point.is_found = find_step(program, steps, program->facts.peak_event, &point.event);
    if (!point.is_found && program->slot_count > 0) {
        uint64_t *slot_bytes = plim_mem_alloc_zeroed(mem, program->slot_count, sizeof *slot_bytes);
        if (slot_bytes == NULL) {
            return plim_fail_memory(err, "looking for points to empty the cache");
        }
        point = find_valley(program, slot_bytes);
        plim_mem_free(mem, slot_bytes, program->slot_count, sizeof *slot_bytes);
    }
    *ret_point = point;
    return PLIM_OK;
}

static plim_status add(plim_candidates *candidates, size_t row, plim_empty_cache_when when,
                       uint64_t event, plim_error *err)
{
    const plim_tune_row *const like = &candidates->rows.items[row];
    const plim_tune_row next = { .conf = like->conf,
                                 .empty_cache = when,
                                 .empty_cache_event = when == PLIM_EMPTY_AT_EVENT ? event : 0,
                                 .is_start_requested = like->is_start_requested };
    return plim_candidates_add_row(candidates, &next, err);
}

plim_status plim_candidates_add_points(plim_candidates *candidates, size_t row,
                                       uint64_t failed_event, plim_error *err)
{
    const plim_replay *const replay = candidates->replay;
    bool has_steps = false;
    for (size_t i = 0; i < replay->devices.count; i++) {
        has_steps |= candidates->steps[i].count >= 2;
    }
    if (has_steps) {
        PLIM_TRY(add(candidates, row, PLIM_EMPTY_AFTER_STEPS, 0, err));
    }
    if (replay->devices.count != 1) {
        return PLIM_OK; /* an event is one device's */
    }
    const plim_program *const program = replay->devices.items[0].asked;
    valley point = { .is_found = false };
    PLIM_TRY(find_before_peak(program, candidates->steps, candidates->mem, &point, err));
    if (point.is_found) {
        PLIM_TRY(add(candidates, row, PLIM_EMPTY_AT_EVENT, point.event, err));
    }
    uint64_t before_failure = 0;
    if (failed_event != PLIM_NO_EVENT &&
        find_step(program, candidates->steps, failed_event, &before_failure)) {
        PLIM_TRY(add(candidates, row, PLIM_EMPTY_AT_EVENT, before_failure, err));
    }
    return PLIM_OK;
}
