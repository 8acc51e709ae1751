/*
 * fidelity.c - a replay under the recorded settings, held beside the recording.
 *
 * What both have in common are the program's requests. They cut either side's driver calls into
 * gaps, and each gap is compared by itself, so that a difference in one says nothing of the next:
 *
 *   recorded    (alloc 2) request  (alloc 20) request  () request  (free 2, alloc 8) oom  …
 *   predicted   (alloc 2) request  ()         request  () request  (free 2, alloc 8) try  …
 *
 * The calls of a gap are those a request caused and those of the releases right before it; frees
 * cause none. A gap is compared once the run is past its request: both lists are forgotten then,
 * so memory does not grow with the recording.
 *
 * What the driver refused is a fact of the recording, as what it cost other streams to be done: it
 * depends on who else used the device. So it is given to the run, at an oom and where memory was
 * given back before the driver gave some; all that the allocator made of it is its own.
 * docs/design/replay.md has what is counted how.
 */
#include "base/error.h"
#include "base/size.h"
#include "replay/replay.h"
#include "replay/run/match.h"
#include "replay/run/run.h"

#include <inttypes.h>
#include <stdio.h>

/* How the last request of the run was served. */
typedef struct served_request {
    bool is_served;
    plim_addr addr;
} served_request;

typedef struct comparison {
    const plim_mem *mem;
    const plim_program *program;
    const plim_events *events;
    uint64_t cursor; /* events before it were compared, or their calls are in `recorded` */
    uint64_t op;     /* that runs, or PLIM_NO_OP */
    plim_driver_calls recorded; /* of the gap */
    plim_driver_calls predicted;
    plim_match_lengths lengths;
    served_request request; /* of the gap */
    /* Held from the driver, each side by its own calls. May not be below 0 but in a recording
     * that contradicts itself. */
    int64_t recorded_bytes;
    int64_t predicted_bytes;
    int64_t recorded_before; /* the gap */
    int64_t predicted_before;
    int64_t predicted_most;
    uint64_t start_bytes; /* of the run: what lay in no segment was requested besides */
    uint64_t difference;  /* of the two after the last request */
    double difference_sum;
    uint64_t differences; /* that were added up */
    bool has_no_memory;
    plim_fidelity result;
} comparison;

/* --- one gap --- */

static const char *name_of(const comparison *c, uint8_t action)
{
    return plim_history_action_name(c->program->history, action);
}

/* "segment_alloc of 20.0 MiB", or "none" */
static void describe_call(const comparison *c, const plim_driver_calls *calls, size_t index,
                          char *text, size_t bytes)
{
    if (index >= calls->count) {
        (void)snprintf(text, bytes, "none");
        return;
    }
    const plim_driver_call *call = &calls->items[index];
    (void)snprintf(text, bytes, "%s of %s", name_of(c, call->action),
                   plim_format_bytes(call->bytes).text);
}

/* What the request at the end of the gap got without the call that one side lacks. */
static void describe_request(const comparison *c, uint64_t event, const plim_driver_call *extra,
                             bool is_recorded, char *text, size_t bytes)
{
    text[0] = '\0';
    if (event >= c->program->to_event || !plim_is_from_driver(extra->action) ||
        c->events->action[event] != PLIM_ALLOC) {
        return;
    }
    const plim_addr addr = is_recorded ? c->request.addr : c->events->addr[event];
    if (is_recorded && !c->request.is_served) {
        return;
    }
    (void)snprintf(text, bytes, ": cached memory at 0x%" PRIx64 " served the request of %s", addr,
                   plim_format_bytes(c->events->bytes[event]).text);
}

/* The first gap whose lists differ, the request at its end being `event`. */
static void note_divergence(comparison *c, uint64_t event)
{
    const size_t at = plim_calls_prefix(&c->recorded, &c->predicted);
    const bool has_recorded = at < c->recorded.count;
    const bool has_predicted = at < c->predicted.count;
    const uint64_t where = has_recorded ? c->recorded.items[at].event : event;
    char recorded[64];
    char predicted[64];
    char request[96] = "";
    describe_call(c, &c->recorded, at, recorded, sizeof recorded);
    describe_call(c, &c->predicted, at, predicted, sizeof predicted);
    if (has_recorded != has_predicted) {
        const plim_driver_calls *longer = has_recorded ? &c->recorded : &c->predicted;
        describe_request(c, event, &longer->items[at], has_recorded, request, sizeof request);
    }
    c->result.diverges_at_event = where;
    (void)snprintf(c->result.divergence, sizeof c->result.divergence,
                   "event %" PRIu64 ": recorded %s, predicted %s%s", where, recorded, predicted,
                   request);
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Both sides are past the request `event`, or at the end. */
static void end_gap(comparison *c, uint64_t event)
{
    const size_t longer =
        c->recorded.count > c->predicted.count ? c->recorded.count : c->predicted.count;
    size_t matched = 0;
    if (longer > 0 &&
        plim_calls_match(&c->recorded, &c->predicted, c->mem, &c->lengths, &matched) != PLIM_OK) {
        c->has_no_memory = true;
        return;
    }
    if (matched < longer && c->result.diverges_at_event == PLIM_NO_EVENT) {
        note_divergence(c, event);
    }
    c->result.segment_events_recorded += c->recorded.count;
    c->result.segment_events_predicted += c->predicted.count;
    c->result.segment_events_matched += matched;
    c->recorded.count = 0;
    c->predicted.count = 0;
    c->request = (served_request){ 0 };
    c->recorded_before = c->recorded_bytes;
    c->predicted_before = c->predicted_bytes;
    c->difference = distance(c->recorded_bytes, c->predicted_bytes);
    if (c->difference > c->result.reserved_bytes_max_difference) {
        c->result.reserved_bytes_max_difference = c->difference;
    }
}

static void add_difference(comparison *c)
{
    c->difference_sum += (double)c->difference;
    c->differences++;
}

/* Events of the recording before `event`. */
static void advance(comparison *c, uint64_t event)
{
    for (; c->cursor < event && !c->has_no_memory; c->cursor++) {
        const uint8_t action = c->events->action[c->cursor];
        if (plim_is_driver_call(action)) {
            const plim_driver_call call = { c->events->bytes[c->cursor], c->cursor, action };
            c->recorded_bytes +=
                plim_is_from_driver(action) ? (int64_t)call.bytes : -(int64_t)call.bytes;
            c->has_no_memory = !PLIM_VEC_PUSH(c->mem, &c->recorded, call);
            continue;
        }
        if (action == PLIM_ALLOC || action == PLIM_OOM) {
            end_gap(c, c->cursor);
        }
        add_difference(c);
    }
}

/* --- watching the run --- */

static bool on_op(void *ctx, uint64_t op)
{
    comparison *c = ctx;
    c->op = op;
    if (op != PLIM_NO_OP) {
        advance(c, plim_program_event(c->program, op));
    }
    return !c->has_no_memory;
}

/* True if the driver gave memory in this gap after some went back to it. */
static bool is_given_after_release(const plim_driver_calls *calls)
{
    bool is_released = false;
    for (size_t i = 0; i < calls->count; i++) {
        if (!plim_is_from_driver(calls->items[i].action)) {
            is_released = true;
        } else if (is_released) {
            return true;
        }
    }
    return false;
}

/* What the recording's driver had, as far as it showed. */
static uint64_t capacity_at(void *ctx, uint64_t op)
{
    const comparison *c = ctx;
    const uint8_t kind = c->program->ops.items[op].kind;
    if (kind != PLIM_OP_TRY && (kind != PLIM_OP_ALLOC || !is_given_after_release(&c->recorded))) {
        return PLIM_UNLIMITED;
    }
    const int64_t change = c->predicted_before + (c->recorded_bytes - c->recorded_before);
    const uint64_t held =
        change < 0 && c->start_bytes < (uint64_t)-change ? 0 : c->start_bytes + (uint64_t)change;
    if (kind == PLIM_OP_ALLOC) {
        return held;
    }
    /* Where the driver had room, a limit of the process refused. */
    const uint64_t event = plim_program_event(c->program, op);
    const uint64_t free_bytes = c->events->addr[event];
    return free_bytes < c->events->bytes[event] ? held + free_bytes : held;
}

static void on_alloc(comparison *c, const plim_event *record)
{
    if (c->op < c->program->prologue || c->program->ops.items[c->op].kind != PLIM_OP_ALLOC) {
        return;
    }
    const uint64_t event = plim_program_event(c->program, c->op);
    c->request = (served_request){ true, record->addr };
    c->result.placements++;
    c->result.placements_matched += c->events->addr[event] == record->addr;
}

static void on_event(void *ctx, const plim_event *record)
{
    comparison *c = ctx;
    if (c->op == PLIM_NO_OP) {
        c->start_bytes += plim_is_from_driver((uint8_t)record->action) ? record->bytes : 0;
        return;
    }
    if (c->has_no_memory) {
        return;
    }
    if (record->action == PLIM_ALLOC) {
        on_alloc(c, record);
    } else if (plim_is_driver_call((uint8_t)record->action)) {
        const plim_driver_call call = { record->bytes, plim_program_event(c->program, c->op),
                                        (uint8_t)record->action };
        c->predicted_bytes +=
            plim_is_from_driver(call.action) ? (int64_t)call.bytes : -(int64_t)call.bytes;
        if (c->predicted_bytes > c->predicted_most) {
            c->predicted_most = c->predicted_bytes;
        }
        c->has_no_memory = !PLIM_VEC_PUSH(c->mem, &c->predicted, call);
    }
}

/* --- one device --- */

/* A request that the recording served found nothing here: what is left has nothing beside it. */
static void note_end(comparison *c, const plim_run_result *run, uint64_t capacity_bytes)
{
    if (run->failed_event == PLIM_NO_EVENT || run->was_oom || run->events >= c->cursor) {
        return;
    }
    const bool has_ended_here = c->result.diverges_at_event >= run->failed_event;
    if (has_ended_here && capacity_bytes != PLIM_UNLIMITED) {
        c->result.diverges_at_event = run->failed_event;
        (void)snprintf(c->result.divergence, sizeof c->result.divergence,
                       "event %" PRIu64 ": the request of %s was served in the recording, and "
                       "finds no memory at a capacity of %s here",
                       run->failed_event, plim_format_bytes(run->failed_bytes).text,
                       plim_format_bytes(capacity_bytes).text);
    }
}

/* True if the driver was asked for memory. */
static bool has_growth(const plim_driver_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        if (plim_is_from_driver(calls->items[i].action)) {
            return true;
        }
    }
    return false;
}

static void conclude(comparison *c, const plim_run_result *run, uint64_t capacity_bytes)
{
    plim_fidelity *f = &c->result;
    advance(c, c->program->to_event);
    if (c->predicted.count == 0 && has_growth(&c->recorded)) {
        c->recorded.count = 0; /* made for a request that comes after the last event */
    }
    if (c->recorded.count > 0 || c->predicted.count > 0) {
        end_gap(c, c->program->to_event);
    }
    note_end(c, run, capacity_bytes);
    const uint64_t most = f->segment_events_recorded > f->segment_events_predicted
                              ? f->segment_events_recorded
                              : f->segment_events_predicted;
    f->share = most == 0 ? 1.0 : (double)f->segment_events_matched / (double)most;
    f->reserved_bytes_mean_difference =
        c->differences == 0 ? 0.0 : c->difference_sum / (double)c->differences;
    f->recorded_peak_reserved_bytes = c->program->facts.recorded_peak_reserved_bytes;
    f->predicted_peak_reserved_bytes = c->start_bytes + (uint64_t)c->predicted_most;
    for (size_t i = 0; i < PLIM_CAVEAT_COUNT; i++) {
        f->caveats[i] = c->program->caveats[i];
    }
    f->caveats[PLIM_CAVEAT_PLACEMENT] += f->placements - f->placements_matched;
    if (f->segment_events_recorded == 0 && f->caveats[PLIM_CAVEAT_NO_DRIVER_CALLS] == 0) {
        f->caveats[PLIM_CAVEAT_NO_DRIVER_CALLS] = 1;
    }
}

/* How large the device is matters to settings that are about a share of it; the driver's refusals
 * are given to the run. */
static uint64_t capacity_of(const plim_program *program, const plim_run_options *options)
{
    const plim_settings *settings = &program->facts.conf.settings;
    const double share = settings->per_process_memory_fraction;
    if (options != NULL && options->capacity_bytes != 0 &&
        options->capacity_bytes != PLIM_UNLIMITED) {
        return options->capacity_bytes;
    }
    if (settings->garbage_collection_threshold <= 0 ||
        program->facts.capacity_source == PLIM_CAPACITY_UNKNOWN) {
        return PLIM_UNLIMITED;
    }
    /* What the process had at most was its share. */
    return share > 0 && share < 1 ? (uint64_t)((double)program->facts.capacity_bytes / share) + 1
                                  : program->facts.capacity_bytes;
}

static plim_status compare(comparison *c, const plim_run_options *options, plim_error *err)
{
    const plim_run_listener listener = {
        .op = on_op, .capacity = capacity_at, .event = on_event, .ctx = c
    };
    const plim_run_setup setup = {
        .conf = &c->program->facts.conf,
        .is_restored = c->program->is_restorable,
        .follows_recording = true,
        .capacity_bytes = capacity_of(c->program, options),
        .progress = options == NULL ? NULL : options->progress,
        .progress_ctx = options == NULL ? NULL : options->progress_ctx,
        .listener = &listener,
    };
    plim_run_result run;
    const plim_status status = plim_run_program(c->program, &setup, &run, err);
    if (status == PLIM_OK) {
        conclude(c, &run, setup.capacity_bytes);
    }
    return c->has_no_memory ? plim_fail_memory(err, "comparing a replay with its recording")
                            : status;
}

static plim_status verify_part(const plim_replay_device_part *part, const plim_mem *mem,
                               const plim_run_options *options, plim_fidelity *ret_fidelity,
                               plim_error *err)
{
    const plim_program *program = &part->recorded;
    comparison c = {
        .mem = mem,
        .program = program,
        .events = &program->device->events,
        .cursor = program->from_event,
        .op = PLIM_NO_OP,
        .start_bytes = program->facts.start_reserved_bytes,
        .result = { .device = program->facts.device, .diverges_at_event = PLIM_NO_EVENT },
    };
    const plim_status status = compare(&c, options, err);
    PLIM_VEC_FREE(mem, &c.recorded);
    PLIM_VEC_FREE(mem, &c.predicted);
    PLIM_VEC_FREE(mem, &c.lengths);
    if (status == PLIM_OK) {
        *ret_fidelity = c.result;
    }
    return status;
}

plim_status plim_replay_verify(const plim_replay *replay, const plim_run_options *options,
                               plim_fidelity *ret_fidelity, plim_error *err)
{
    for (size_t i = 0; i < replay->devices.count; i++) {
        PLIM_TRY(
            verify_part(&replay->devices.items[i], replay->mem, options, &ret_fidelity[i], err));
    }
    return PLIM_OK;
}
