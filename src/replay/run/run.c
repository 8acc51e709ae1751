/*
 * run.c - see run.h.
 */
#include "replay/run/run.h"

#include "alloc/restore.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include "device/books.h"
#include "replay/run/driver.h"

#include <stdlib.h>
#include <string.h>

/* How large a device is that has whatever is requested. Ranges of expandable segments are 9/8 of
 * it, and what it costs to have one grows with that: so it is no larger than is likely to do, and
 * the run is repeated on a larger one where it did not. */
#define AMPLE_BYTES_MIN     ((uint64_t)4 << 30)
#define AMPLE_BYTES_GUESSED ((uint64_t)512 << 30) /* files say all sorts of things */
#define AMPLE_BYTES_MAX     ((uint64_t)16 << 40)
#define CAPACITY_BYTES_MAX  ((uint64_t)64 << 40) /* of a sim device */
#define AMPLE_FACTOR        8u

#define OPS_BETWEEN_WORDS 0xffffu /* of progress; a mask */

typedef struct runner {
    const plim_program *program;
    const plim_run_setup *setup;
    const plim_run_listener *listener;
    plim_driver driver;
    uint64_t total_bytes; /* of the device */
    uint64_t used_bytes;  /* of it, by others */
    plim_allocator *allocator;
    plim_addr *slots;
    plim_run_result *result;
    uint32_t pool; /* that requests are routed to, or PLIM_NONE */
    size_t next_empty;
    uint64_t start_bytes;          /* of segments that stand when the start is rebuilt */
    uint64_t start_released_bytes; /* of those that had to go before it fitted */
    uint64_t start_refusals;       /* of the driver, while the start was rebuilt */
    bool has_failed;               /* figures are frozen */
    bool is_over;
} runner;

/* --- figures --- */

static plim_status read_stats(const runner *run, plim_device_stats *ret_stats, plim_error *err)
{
    return plim_allocator_stats(run->allocator, 0, ret_stats, err);
}

static const plim_stat *stat_of(const plim_device_stats *stats, plim_stat_family family)
{
    return &stats->families[family][PLIM_SLOT_ALL];
}

static plim_status note_peaks(runner *run, plim_error *err)
{
    plim_device_stats stats;
    PLIM_TRY(read_stats(run, &stats, err));
    plim_run_result *result = run->result;
    result->peak_reserved_bytes = (uint64_t)stat_of(&stats, PLIM_STAT_RESERVED_BYTES)->peak;
    result->peak_allocated_bytes = (uint64_t)stat_of(&stats, PLIM_STAT_ALLOCATED_BYTES)->peak;
    result->peak_requested_bytes = (uint64_t)stat_of(&stats, PLIM_STAT_REQUESTED_BYTES)->peak;
    result->end_reserved_bytes = (uint64_t)stat_of(&stats, PLIM_STAT_RESERVED_BYTES)->current;
    result->retries = (uint64_t)stats.num_alloc_retries;
    const plim_sim_counts counts = plim_sim_count(&run->driver.sim);
    memcpy(result->driver_calls, counts.calls, sizeof result->driver_calls);
    result->driver_time_us = counts.clock_us;
    return PLIM_OK;
}

/* The moment at which live requests are highest, whatever the allocator. */
static plim_status note_peak_point(runner *run, plim_error *err)
{
    plim_device_stats stats;
    PLIM_TRY(read_stats(run, &stats, err));
    plim_run_result *result = run->result;
    result->reserved_at_peak_bytes = (uint64_t)stat_of(&stats, PLIM_STAT_RESERVED_BYTES)->current;
    result->allocated_at_peak_bytes = (uint64_t)stat_of(&stats, PLIM_STAT_ALLOCATED_BYTES)->current;
    result->fragmentation =
        result->reserved_at_peak_bytes == 0
            ? 0
            : 1 - (double)result->allocated_at_peak_bytes / (double)result->reserved_at_peak_bytes;
    return PLIM_OK;
}

/* The first request that found no memory: figures are those of the way there. */
static plim_status note_failure(runner *run, uint64_t index, bool was_oom, plim_error *err)
{
    plim_run_result *result = run->result;
    run->is_over = !was_oom || run->setup->stops_at_failure;
    if (run->has_failed) {
        return PLIM_OK;
    }
    run->has_failed = true;
    plim_device_stats stats;
    PLIM_TRY(read_stats(run, &stats, err));
    result->survives = false;
    result->failed_event = plim_program_event(run->program, index);
    result->failed_bytes = run->program->ops.items[index].bytes;
    result->failed_reserved_bytes = (uint64_t)stat_of(&stats, PLIM_STAT_RESERVED_BYTES)->current;
    result->failed_allocated_bytes = (uint64_t)stat_of(&stats, PLIM_STAT_ALLOCATED_BYTES)->current;
    plim_oom_facts facts;
    plim_process_figure none[PLIM_OOM_PROCESSES_MAX];
    if (plim_allocator_last_oom(run->allocator, 0, &facts)) {
        result->failure = plim_oom_facts_request(&facts, none);
        result->failure.processes = NULL; /* a simulated device has none */
        result->failure.process_count = 0;
    } else { /* larger than any device: refused without facts */
        result->failure = plim_failed_request_of(PLIM_TOPIC_OVERFLOW, PLIM_FAMILY_PYTORCH);
        result->failure.figures[PLIM_FIGURE_REQUESTED].bytes = result->failed_bytes;
    }
    result->failure.subject = (plim_subject){ .kind = PLIM_SUBJECT_EVENT,
                                              .device = result->device,
                                              .stack = PLIM_STACK_UNKNOWN,
                                              .first = result->failed_event,
                                              .last = result->failed_event };
    result->was_oom = was_oom;
    result->events = result->failed_event - run->program->from_event;
    return note_peaks(run, err);
}

/* --- ops --- */

/* Takes memory where requests go now. Only the request itself is routed: how long the program kept
 * a routing is not recorded, and frees and releases do not care for it. */
static plim_status take_memory(runner *run, uint64_t bytes, plim_stream stream, plim_addr *ret_addr,
                               plim_error *err)
{
    if (run->pool == PLIM_NONE) {
        return plim_malloc(run->allocator, 0, bytes, stream, ret_addr, err);
    }
    const plim_pool_id id = run->program->pools.items[run->pool];
    PLIM_TRY(plim_pool_begin(run->allocator, 0, id, NULL, NULL, err));
    const plim_status status = plim_malloc(run->allocator, 0, bytes, stream, ret_addr, err);
    const plim_status ended = plim_pool_end(run->allocator, 0, id, status == PLIM_OK ? err : NULL);
    return status != PLIM_OK ? status : ended;
}

static plim_status empty_as_recorded(runner *run, const plim_op *op, plim_error *err)
{
    if (op->slot == PLIM_RELEASE_DOUBTFUL && !run->setup->follows_recording) {
        return PLIM_OK;
    }
    const plim_pool_id *of = op->bytes > 0 ? &run->program->pools.items[op->bytes - 1] : NULL;
    return plim_empty_cache(run->allocator, of, err);
}

static plim_status drop_pool(runner *run, uint32_t pool, plim_error *err)
{
    const plim_pool_id id = run->program->pools.items[pool];
    while (plim_pool_use_count(run->allocator, 0, id) > 0) { /* each request was a user more */
        PLIM_TRY(plim_pool_release(run->allocator, 0, id, err));
    }
    return PLIM_OK;
}

/* A driver that runs out of addresses ends a program as well. */
static bool is_failure(plim_status status)
{
    return status == PLIM_OUT_OF_DEVICE_MEMORY || status == PLIM_IO;
}

static plim_status request(runner *run, uint64_t index, const plim_op *op, plim_error *err)
{
    const plim_stream stream = run->program->streams.items[op->stream];
    const plim_status status = take_memory(run, op->bytes, stream, &run->slots[op->slot], err);
    return is_failure(status) ? note_failure(run, index, false, err) : status;
}

static bool is_routed(void *ctx, plim_stream stream)
{
    (void)ctx;
    (void)stream;
    return false;
}

/* While something is routed to a pool, the cache is kept: so a routing of nothing keeps it. */
static plim_status take_from_kept(runner *run, uint64_t bytes, plim_stream stream,
                                  plim_addr *ret_addr, plim_error *err)
{
    const plim_pool_id id = run->program->pools.items[0];
    PLIM_TRY(plim_pool_begin(run->allocator, 0, id, is_routed, NULL, err));
    const plim_status status = plim_malloc(run->allocator, 0, bytes, stream, ret_addr, err);
    plim_error *after = status == PLIM_OK ? err : NULL;
    const plim_status ended = plim_pool_end(run->allocator, 0, id, after);
    const plim_status released =
        ended == PLIM_OK ? plim_pool_release(run->allocator, 0, id, after) : ended;
    return status != PLIM_OK ? status : released;
}

/* A request that failed in the recording. Served here, it is given back at once. */
static plim_status try_again(runner *run, uint64_t index, const plim_op *op, plim_error *err)
{
    const plim_stream stream = run->program->streams.items[op->stream];
    plim_addr addr = 0;
    const bool keeps = op->slot == PLIM_TRY_KEEPS && run->setup->follows_recording &&
                       run->pool == PLIM_NONE && run->program->pools.count > 0;
    const plim_status status = keeps ? take_from_kept(run, op->bytes, stream, &addr, err)
                                     : take_memory(run, op->bytes, stream, &addr, err);
    if (is_failure(status)) {
        return note_failure(run, index, true, err);
    }
    PLIM_TRY(status);
    run->result->ooms_survived++;
    if (index == run->program->peak_op && !run->has_failed) {
        PLIM_TRY(note_peak_point(run, err));
    }
    return plim_free(run->allocator, addr, err);
}

static plim_status defer(runner *run, const plim_op *op, plim_error *err)
{
    const plim_addr addr = run->slots[op->slot];
    PLIM_TRY(plim_record_stream(run->allocator, addr, PLIM_QUEUE_STREAM + op->stream, err));
    return plim_free(run->allocator, addr, err);
}

static plim_status perform(runner *run, uint64_t index, plim_error *err)
{
    const plim_op *op = &run->program->ops.items[index];
    switch ((plim_op_kind)op->kind) {
    case PLIM_OP_ALLOC:
        return request(run, index, op, err);
    case PLIM_OP_FREE:
        return plim_free(run->allocator, run->slots[op->slot], err);
    case PLIM_OP_DEFER:
        return defer(run, op, err);
    case PLIM_OP_COMPLETE:
        return plim_sim_complete_first(&run->driver.sim, PLIM_QUEUE_STREAM + op->stream, op->bytes);
    case PLIM_OP_TRY:
        return try_again(run, index, op, err);
    case PLIM_OP_EMPTY_CACHE:
        return empty_as_recorded(run, op, err);
    case PLIM_OP_POOL:
        run->pool = op->slot;
        return PLIM_OK;
    case PLIM_OP_POOL_DROP:
        return drop_pool(run, op->slot, err);
    }
    return PLIM_OK;
}

/* --- the start --- */

static void place_next(void *ctx, plim_addr addr)
{
    const plim_driver *driver = ctx;
    plim_sim_place_next(&driver->sim, addr);
}

static plim_status no_room(const runner *run, plim_error *err)
{
    const uint64_t live = run->program->facts.start_live_bytes;
    const uint64_t start = run->start_bytes > live ? run->start_bytes : live;
    if (run->setup->capacity_bytes == PLIM_UNLIMITED) {
        return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                         "what stands before the first event, %s, is more than any device has or "
                         "lies where nothing can lie",
                         plim_format_bytes(start).text);
    }
    return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                     "what stands before the first event takes %s, and the device has %s; give "
                     "it more capacity",
                     plim_format_bytes(start).text,
                     plim_format_bytes(run->setup->capacity_bytes).text);
}

/* What a segment takes of the device. */
static uint64_t taken_bytes(const plim_segment *segment)
{
    return (segment->bytes + PLIM_DEVICE_GRANULARITY_BYTES - 1) &
           ~(uint64_t)(PLIM_DEVICE_GRANULARITY_BYTES - 1);
}

static bool is_cached(const plim_program_start *start, const plim_segment *segment)
{
    return segment->block_count == 1 && plim_pool_is_default(segment->pool) &&
           start->blocks.items[segment->block_first].state == PLIM_BLOCK_INACTIVE;
}

/* The larger one first, then the one at the lower address. */
static int compare_sizes(const void *a, const void *b)
{
    const plim_segment *const first = *(const plim_segment *const *)a;
    const plim_segment *const second = *(const plim_segment *const *)b;
    if (first->bytes != second->bytes) {
        return first->bytes < second->bytes ? 1 : -1;
    }
    return (first->addr > second->addr) - (first->addr < second->addr);
}

/* What may be reserved at most. */
static uint64_t room_of(const runner *run)
{
    if (run->setup->capacity_bytes == PLIM_UNLIMITED) {
        return PLIM_UNLIMITED;
    }
    const double fraction = run->setup->conf->settings.per_process_memory_fraction;
    const uint64_t limit =
        fraction < 1 ? (uint64_t)((double)run->total_bytes * fraction) : PLIM_UNLIMITED;
    const uint64_t free_bytes = run->total_bytes - run->used_bytes;
    return limit < free_bytes ? limit : free_bytes;
}

/*
 * The segments of the start that fit the device, in order of addresses. An allocator with a device
 * so small would have given cached segments back before this: the largest go first, as many as
 * must.
 *
 * segments   room for all of them
 * cached     the same, to sort in
 */
static size_t fit_segments(runner *run, plim_segment *segments, const plim_segment **cached)
{
    const plim_program_start *start = &run->program->start;
    size_t cached_count = 0;
    for (size_t i = 0; i < start->segments.count; i++) {
        const plim_segment *const segment = &start->segments.items[i];
        run->start_bytes += taken_bytes(segment);
        if (is_cached(start, segment)) {
            cached[cached_count++] = segment;
        }
    }
    const uint64_t room = room_of(run);
    size_t gone = 0;
    if (run->start_bytes > room && cached_count > 0) {
        qsort(cached, cached_count, sizeof *cached, compare_sizes);
    }
    for (; gone < cached_count && run->start_bytes > room; gone++) {
        run->start_bytes -= taken_bytes(cached[gone]);
        run->start_released_bytes += cached[gone]->bytes;
    }
    size_t count = 0;
    for (size_t i = 0; i < start->segments.count; i++) {
        const plim_segment *const segment = &start->segments.items[i];
        const bool stays = !is_cached(start, segment) || gone == 0 ||
                           compare_sizes(&segment, &cached[gone - 1]) > 0;
        if (stays) {
            segments[count++] = *segment;
        }
    }
    return count;
}

static plim_status restore_fitted(runner *run, const plim_segment *segments, size_t count,
                                  plim_addr *addrs, plim_error *err)
{
    const plim_program_start *start = &run->program->start;
    const plim_heap_state state = { .segments = segments,
                                    .segment_count = count,
                                    .blocks = start->blocks.items,
                                    .block_count = start->blocks.count,
                                    .streams = run->program->streams.items,
                                    .place = place_next,
                                    .place_ctx = &run->driver };
    PLIM_TRY(plim_allocator_restore(run->allocator, 0, &state, addrs, err));
    for (size_t i = 0; i < start->blocks.count; i++) {
        if (start->block_slots.items[i] != PLIM_NONE) {
            run->slots[start->block_slots.items[i]] = addrs[i];
        }
    }
    if (run->listener != NULL && run->listener->restored != NULL) {
        run->listener->restored(run->listener->ctx, addrs);
    }
    return PLIM_OK;
}

static plim_status restore(runner *run, plim_error *err)
{
    const plim_program_start *start = &run->program->start;
    const size_t count = start->segments.count;
    if (count == 0) {
        return PLIM_OK;
    }
    const plim_mem *mem = run->program->mem;
    plim_addr *addrs = plim_mem_alloc_zeroed(mem, start->blocks.count + 1, sizeof *addrs);
    plim_segment *segments = plim_mem_alloc(mem, count, sizeof *segments);
    const plim_segment **cached = plim_mem_alloc(mem, count, sizeof *cached);
    plim_status status = PLIM_OUT_OF_HOST_MEMORY;
    if (addrs == NULL || segments == NULL || cached == NULL) {
        (void)plim_fail_memory(err, "rebuilding the start of a replay");
    } else {
        const size_t fitting = fit_segments(run, segments, cached);
        status = restore_fitted(run, segments, fitting, addrs, err);
    }
    plim_mem_free(mem, cached, count, sizeof *cached);
    plim_mem_free(mem, segments, count, sizeof *segments);
    plim_mem_free(mem, addrs, start->blocks.count + 1, sizeof *addrs);
    return status;
}

/* Requests what stood, in order of addresses: all of it, or what lay in no segment. */
static plim_status request_start(runner *run, plim_error *err)
{
    const plim_program *program = run->program;
    for (size_t i = 0; i < program->start.allocations.count; i++) {
        const plim_start_block *block = &program->start.allocations.items[i];
        if (run->setup->is_restored && !block->is_outside) {
            continue;
        }
        run->pool = block->pool;
        PLIM_TRY(take_memory(run, block->requested_bytes, program->streams.items[block->stream],
                             &run->slots[block->slot], err));
    }
    run->pool = PLIM_NONE;
    return PLIM_OK;
}

/* True if the driver is asked for what the recording's was: then it gives the same places, and
 * frees that wait complete when they did. On a device too small for that requests go other ways. */
static bool goes_as_recorded(const runner *run)
{
    const plim_run_setup *setup = run->setup;
    const plim_replay_facts *facts = &run->program->facts;
    return setup->is_restored && run->start_released_bytes == 0 &&
           (setup->follows_recording || setup->capacity_bytes == facts->capacity_bytes ||
            setup->capacity_bytes >= facts->recorded_peak_reserved_bytes);
}

static plim_status rebuild_start(runner *run, plim_error *err)
{
    const plim_program *program = run->program;
    if (run->listener != NULL && run->listener->op != NULL) {
        (void)run->listener->op(run->listener->ctx, PLIM_NO_OP);
    }
    plim_status status = run->setup->is_restored ? restore(run, err) : PLIM_OK;
    for (size_t i = 0; status == PLIM_OK && i < program->pools.count; i++) {
        if (plim_pool_use_count(run->allocator, 0, program->pools.items[i]) == 0) {
            status = plim_pool_retain(run->allocator, 0, program->pools.items[i], NULL, err);
        }
    }
    if (status == PLIM_OK) {
        status = request_start(run, err);
    }
    if (status == PLIM_OUT_OF_DEVICE_MEMORY) {
        return no_room(run, err);
    }
    PLIM_TRY(status);
    plim_allocator_reset_peak_stats(run->allocator, 0);
    plim_allocator_reset_accumulated_stats(run->allocator, 0);
    run->start_refusals = plim_sim_take_counts(&run->driver.sim).refusals;
    run->result->start_released_bytes = run->start_released_bytes;
    plim_sim_set_waiting(&run->driver.sim, !goes_as_recorded(run));
    if (goes_as_recorded(run)) {
        run->driver.places = (plim_recorded_places){ program->recorded_segments.items,
                                                     program->recorded_segments.count };
    }
    return program->peak_op == PLIM_NO_OP ? note_peak_point(run, err) : PLIM_OK;
}

/* --- the run --- */

/* What is requested besides what the program did. */
static plim_status empty_when_due(runner *run, uint64_t index, plim_error *err)
{
    const plim_run_setup *setup = run->setup;
    bool is_due = false;
    while (run->next_empty < setup->empty_event_count &&
           setup->empty_events[run->next_empty] <= run->program->op_events.items[index]) {
        is_due = true;
        run->next_empty++;
    }
    return is_due ? plim_empty_cache(run->allocator, NULL, err) : PLIM_OK;
}

/* False: stop. */
static bool say_progress(const runner *run, uint64_t index)
{
    const plim_run_setup *setup = run->setup;
    return setup->progress == NULL ||
           setup->progress(setup->progress_ctx,
                           plim_program_event(run->program, index) - run->program->from_event,
                           run->program->facts.events);
}

static plim_status cancelled(plim_error *err)
{
    return plim_fail(err, PLIM_CANCELLED, "the replay was stopped");
}

/* Others take what the driver is not to have for this process. */
static void limit_driver(runner *run, uint64_t index)
{
    const uint64_t capacity = run->listener->capacity(run->listener->ctx, index);
    const uint64_t used = capacity < run->total_bytes ? run->total_bytes - capacity : 0;
    if (used != run->used_bytes) {
        plim_sim_set_used(&run->driver.sim, used);
        run->used_bytes = used;
    }
}

static plim_status perform_watched(runner *run, uint64_t index, plim_error *err)
{
    const plim_run_listener *listener = run->listener;
    if (listener != NULL && listener->op != NULL && !listener->op(listener->ctx, index)) {
        return cancelled(err);
    }
    if (listener != NULL && listener->capacity != NULL) {
        limit_driver(run, index);
    }
    plim_driver_at_op(&run->driver, index);
    return perform(run, index, err);
}

static plim_status perform_all(runner *run, plim_error *err)
{
    const plim_program *program = run->program;
    const bool is_watched = run->listener != NULL || run->driver.places.count > 0;
    const uint64_t count = program->ops.count;
    for (uint64_t i = 0; i < count && !run->is_over; i++) {
        if ((i & OPS_BETWEEN_WORDS) == 0 && !say_progress(run, i)) {
            return cancelled(err);
        }
        if (run->next_empty < run->setup->empty_event_count) {
            PLIM_TRY(empty_when_due(run, i, err));
        }
        PLIM_TRY(is_watched ? perform_watched(run, i, err) : perform(run, i, err));
        if (i == program->peak_op && !run->has_failed &&
            program->ops.items[i].kind != PLIM_OP_TRY) {
            PLIM_TRY(note_peak_point(run, err));
        }
    }
    if (!run->has_failed) {
        run->result->events = program->facts.events;
        PLIM_TRY(note_peaks(run, err));
    }
    if (run->listener != NULL && run->listener->end != NULL) {
        return run->listener->end(run->listener->ctx, run->allocator, err);
    }
    return PLIM_OK;
}

/* --- making and ending it --- */

static uint64_t ample_bytes(const plim_program *program, const plim_run_setup *setup)
{
    if (setup->conf->settings.per_process_memory_fraction < 1) {
        return AMPLE_BYTES_MAX; /* a limit that is a share of whatever is requested limits nothing
                                 */
    }
    uint64_t ample = AMPLE_BYTES_MIN;
    while (ample < AMPLE_BYTES_GUESSED && ample / 2 < program->peak_live_bytes) {
        ample *= 2;
    }
    /* As recorded, ranges lie where they did only if they are as long as they were. */
    const uint64_t fits = program->range_bytes_max / 9 * 8;
    const bool has_fitted = fits >= program->facts.recorded_peak_reserved_bytes;
    return setup->is_restored && fits < ample && has_fitted ? fits : ample;
}

static plim_status set_up(runner *run, plim_error *err)
{
    const plim_program *program = run->program;
    const plim_conf *conf = run->setup->conf;
    const plim_driver_size size = { run->total_bytes, run->setup->others_bytes };
    PLIM_TRY(plim_driver_init(&run->driver, size, program->queue_count, run->setup->costs,
                              program->mem, err));
    const plim_allocator_options options = {
        .mem = program->mem,
        .devices = &run->driver.sim,
        .device_count = 1,
        .settings = &conf->settings,
        .policy = conf->policy,
        .release_threshold_bytes = conf->release_threshold_bytes,
    };
    PLIM_TRY(plim_allocator_create(&options, &run->allocator, err));
    run->slots =
        plim_mem_alloc_zeroed(program->mem, (size_t)program->slot_count + 1, sizeof *run->slots);
    if (run->slots == NULL) {
        return plim_fail_memory(err, "making a replay");
    }
    if (run->listener == NULL || run->listener->event == NULL) {
        return PLIM_OK;
    }
    const plim_event_sink sink = { .event = run->listener->event, .ctx = run->listener->ctx };
    return plim_add_event_sink(run->allocator, &sink, err);
}

static void tear_down(runner *run)
{
    plim_allocator_destroy(run->allocator);
    plim_device_destroy(&run->driver.sim);
    plim_mem_free(run->program->mem, run->slots, (size_t)run->program->slot_count + 1,
                  sizeof *run->slots);
}

plim_status plim_run_try_start(plim_program *program, plim_error *err)
{
    program->is_restorable = true;
    if (program->start.segments.count == 0) {
        return PLIM_OK;
    }
    const plim_run_setup setup = { .conf = &program->facts.conf,
                                   .is_restored = true,
                                   .capacity_bytes = PLIM_UNLIMITED };
    runner run = { .program = program, .setup = &setup, .pool = PLIM_NONE };
    run.total_bytes = AMPLE_BYTES_MIN;
    while (run.total_bytes < AMPLE_BYTES_MAX &&
           run.total_bytes / 2 < program->facts.start_reserved_bytes) {
        run.total_bytes *= 2;
    }
    plim_status status = set_up(&run, err);
    if (status == PLIM_OK) {
        status = restore(&run, err);
        program->is_restorable = status == PLIM_OK;
    }
    tear_down(&run);
    if (status == PLIM_OUT_OF_HOST_MEMORY) {
        return status;
    }
    if (!program->is_restorable) {
        program->caveats[PLIM_CAVEAT_START_OUTSIDE] += program->start.allocations.count;
    }
    return PLIM_OK;
}

/* A run on a device of so many bytes, and whether the device refused anything. */
typedef struct ran {
    uint64_t capacity_bytes;
    bool was_refused;
} ran;

static plim_status run_once(const plim_program *program, const plim_run_setup *setup, ran *how,
                            plim_run_result *ret_result, plim_error *err)
{
    *ret_result = (plim_run_result){ .device = program->device->device,
                                     .survives = true,
                                     .failed_event = PLIM_NO_EVENT };
    runner run = { .program = program,
                   .setup = setup,
                   .listener = setup->listener,
                   .total_bytes = how->capacity_bytes + setup->others_bytes,
                   .used_bytes = setup->others_bytes,
                   .result = ret_result,
                   .pool = PLIM_NONE };
    plim_status status = set_up(&run, err);
    if (status == PLIM_OK) {
        status = rebuild_start(&run, err);
    }
    if (status == PLIM_OK) {
        status = perform_all(&run, err);
    }
    how->was_refused = run.driver.sim.ops != NULL &&
                       run.start_refusals + plim_sim_count(&run.driver.sim).refusals > 0;
    tear_down(&run);
    return status;
}

/* True if a larger device may do better. This one was asked for more than it has; but some requests
 * are such that none has enough. */
static bool needs_more(plim_status status, const plim_run_result *result, const ran *how)
{
    return how->was_refused && how->capacity_bytes < AMPLE_BYTES_MAX &&
           (status == PLIM_OUT_OF_DEVICE_MEMORY ||
            (status == PLIM_OK && (result->survives || result->failed_bytes < AMPLE_BYTES_MAX)));
}

/* What refuses is the recording's driver, not the device. */
static plim_status run_as_refused(const plim_program *program, const plim_run_setup *setup,
                                  plim_run_result *ret_result, plim_error *err)
{
    ran how = { .capacity_bytes = ample_bytes(program, setup) };
    while (how.capacity_bytes < AMPLE_BYTES_MAX &&
           how.capacity_bytes < program->facts.recorded_peak_reserved_bytes) {
        how.capacity_bytes *= 2;
    }
    return run_once(program, setup, &how, ret_result, err);
}

static plim_status run_amply(const plim_program *program, const plim_run_setup *setup,
                             plim_run_result *ret_result, plim_error *err)
{
    if (setup->listener != NULL && setup->listener->capacity != NULL) {
        return run_as_refused(program, setup, ret_result, err);
    }
    plim_run_setup unwatched = *setup; /* who watches is to see one run */
    unwatched.listener = NULL;
    ran how = { .capacity_bytes = ample_bytes(program, setup) };
    plim_status status = run_once(program, &unwatched, &how, ret_result, err);
    while (needs_more(status, ret_result, &how)) {
        how.capacity_bytes = how.capacity_bytes > AMPLE_BYTES_MAX / AMPLE_FACTOR
                                 ? AMPLE_BYTES_MAX
                                 : how.capacity_bytes * AMPLE_FACTOR;
        status = run_once(program, &unwatched, &how, ret_result, err);
    }
    return status != PLIM_OK || setup->listener == NULL
               ? status
               : run_once(program, setup, &how, ret_result, err);
}

plim_status plim_run_program(const plim_program *program, const plim_run_setup *setup,
                             plim_run_result *ret_result, plim_error *err)
{
    if (setup->capacity_bytes != PLIM_UNLIMITED && setup->capacity_bytes > CAPACITY_BYTES_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "a capacity of %s: up to 64.0 TiB can be replayed",
                         plim_format_bytes(setup->capacity_bytes).text);
    }
    plim_run_result result;
    ran how = { .capacity_bytes = setup->capacity_bytes };
    const plim_status status = setup->capacity_bytes == PLIM_UNLIMITED
                                   ? run_amply(program, setup, &result, err)
                                   : run_once(program, setup, &how, &result, err);
    if (status == PLIM_OK) {
        *ret_result = result;
    }
    return status;
}
