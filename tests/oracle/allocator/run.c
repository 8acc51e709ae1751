/*
 * run.c - plays a script on our allocator, over the sim device.
 *
 * With a second argument all that happens is recorded from the first operation on, whatever the
 * script says of its history, and saved there at the end as a snapshot of the newest PyTorch; each
 * event has the line of the script for a stack. With a third, "bare", stacks and what older
 * releases do not write are left out.
 */
#include "play.h"

#include "plimsoll/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOO_LARGE  "CUDA out of memory. Tried to allocate more than 1EB memory."
#define PLAIN_BASE UINT64_C(0x7a0000000000) /* ranges lie below */

#define RECORDED_MAX ((uint64_t)1 << 17) /* events; no script makes so many */

static plim_device devices[SCRIPT_DEVICES_MAX];
static int32_t device_count;
static plim_allocator *allocator;
static bool is_caching = true;
static bool is_over; /* what the allocator gives back when it is destroyed is not compared */
static plim_addr to_free[SCRIPT_BLOCKS_MAX]; /* by the next callback */
static size_t to_free_count;
static const char *saved_path; /* NULL: nothing is saved */
static bool is_bare;           /* what is saved has no stacks and names no pools */
static const script_op *current;

/* A stream filter outlives the line that made it: pools keep theirs until they are left. */
typedef struct filter {
    plim_stream only;
    struct filter *next;
} filter;

static filter *filters;

_Noreturn static void die(const char *what, const plim_error *err)
{
    (void)fprintf(stderr, "run: %s: %s\n", what, err->message);
    exit(3);
}

static void on_call(void *ctx, const plim_device_record *record)
{
    (void)ctx;
    if (!is_over) {
        play_call(record);
    }
}

static bool on_no_fit(void *ctx, plim_allocator *of)
{
    plim_addr addrs[SCRIPT_BLOCKS_MAX];
    const size_t count = to_free_count;
    (void)ctx;
    memcpy(addrs, to_free, count * sizeof(*addrs));
    to_free_count = 0;
    for (size_t i = 0; i < count; i++) {
        (void)plim_free(of, addrs[i], NULL);
    }
    return count > 0;
}

static void on_oom(void *ctx, const plim_oom_facts *facts)
{
    (void)ctx;
    const bool is_limited = facts->allowed_bytes != PLIM_UNLIMITED;
    play_observed(facts->device, facts->segment_bytes,
                  is_limited ? facts->allowed_bytes : facts->device_total_bytes,
                  facts->device_free_bytes);
}

/* Where the program was: what a Python program's stack is in PyTorch's recordings. */
static size_t on_stack(void *ctx, plim_foreign_frame *frames, size_t capacity)
{
    (void)ctx;
    if (capacity == 0 || current == NULL) {
        return 0;
    }
    frames[0] = (plim_foreign_frame){ "script.txt", "operation", (uint32_t)current->line };
    return 1;
}

static void start(const script_setup *setup)
{
    plim_error err = { 0 };
    const plim_record_options everything = {
        .is_enabled = true,
        .stacks = is_bare ? PLIM_STACKS_NEVER : PLIM_STACKS_ALL,
        .foreign_frames = on_stack,
        .max_events = RECORDED_MAX,
    };
    device_count = setup->device_count;
    for (int32_t i = 0; i < device_count; i++) {
        const plim_sim_options options = {
            .ordinal = i,
            .total_bytes = setup->total_bytes[i],
            .used_bytes = setup->used_bytes[i],
            .has_manual_fences = setup->is_manual,
            .on_call = on_call,
        };
        if (plim_sim_create(&options, &devices[i], &err) != PLIM_OK) {
            die("the device cannot be made", &err);
        }
    }
    const plim_allocator_options options = { .devices = devices,
                                             .device_count = (size_t)device_count };
    if (plim_allocator_create(&options, &allocator, &err) != PLIM_OK ||
        plim_add_free_memory_callback(allocator, on_no_fit, NULL, &err) != PLIM_OK ||
        plim_add_oom_observer(allocator, on_oom, NULL, &err) != PLIM_OK ||
        (saved_path != NULL && plim_record_history(allocator, &everything, &err) != PLIM_OK)) {
        die("the allocator cannot be made", &err);
    }
}

static bool is_stream(void *ctx, plim_stream stream)
{
    return stream == ((const filter *)ctx)->only;
}

static plim_status begin(const script_op *op, plim_error *err)
{
    if (!op->has_stream) {
        return plim_pool_begin(allocator, op->device, op->pool, NULL, NULL, err);
    }
    filter *const made = malloc(sizeof(*made));
    if (made == NULL) {
        abort();
    }
    *made = (filter){ op->stream, filters };
    filters = made;
    return plim_pool_begin(allocator, op->device, op->pool, is_stream, made, err);
}

static plim_status take(const script_op *op, play_answer *ret, plim_error *err)
{
    const plim_status status =
        plim_malloc(allocator, op->device, op->number, op->stream, &ret->addr, err);
    ret->has_addr = true;
    plim_oom_facts facts;
    if (status == PLIM_OUT_OF_DEVICE_MEMORY && op->number >= PLIM_REQUEST_BYTES_MAX) {
        (void)snprintf(ret->text, sizeof(ret->text), "%s", TOO_LARGE); /* there are no facts */
    } else if (status == PLIM_OUT_OF_DEVICE_MEMORY &&
               plim_allocator_last_oom(allocator, op->device, &facts)) {
        (void)plim_oom_text(&facts, PLIM_TORCH(2, 11), ret->text, sizeof(ret->text));
    }
    return status;
}

/* The line of the script that a stack is of: see on_stack(). */
static uint32_t line_of(const plim_history *history, uint32_t stack)
{
    const plim_stack found = plim_history_stack(history, stack);
    return found.frame_count > 0 ? plim_history_frame(history, found.frames[0])->line : 0;
}

static void tell_segment(const plim_history *history, const plim_device_history *device,
                         const plim_segment *segment)
{
    const play_segment told = {
        .device = device->device,
        .addr = segment->addr,
        .bytes = segment->bytes,
        .stream = plim_history_stream(history, segment->stream),
        .pool = { segment->pool.a, segment->pool.b },
        .is_large = segment->is_large,
        .is_expandable = segment->is_expandable,
        .line = line_of(history, segment->stack),
    };
    play_snapshot_segment(&told);
    for (uint64_t i = 0; i < segment->block_count; i++) {
        const plim_block *const block = &device->blocks[segment->block_first + i];
        play_snapshot_block(&(play_block){ block->bytes, block->requested_bytes, block->state,
                                           line_of(history, block->stack) });
    }
}

static plim_status snapshot(const script_op *op, bool is_trace, plim_error *err)
{
    plim_history *history = NULL;
    const plim_status status =
        plim_allocator_snapshot(allocator, op->has_pool ? &op->pool : NULL, true, &history, err);
    for (size_t i = 0; status == PLIM_OK && i < plim_history_device_count(history); i++) {
        const plim_device_history *const device = plim_history_device(history, i);
        for (uint64_t j = 0; !is_trace && j < device->segment_count; j++) {
            tell_segment(history, device, &device->segments[j]);
        }
        const plim_events *const events = &device->events;
        for (uint64_t j = 0; is_trace && j < events->count; j++) {
            play_event(&(play_entry){ device->device, (plim_action)events->action[j],
                                      events->addr[j], events->bytes[j],
                                      plim_history_stream(history, events->stream[j]),
                                      line_of(history, events->stack[j]) });
        }
    }
    plim_history_destroy(history);
    return status != PLIM_OK ? status : plim_allocator_check(allocator, err);
}

static plim_status base(const script_op *op, play_answer *ret, plim_error *err)
{
    const plim_status status =
        plim_base_allocation(allocator, op->addr, &ret->addr, &ret->number, err);
    ret->has_addr = ret->addr >= PLAIN_BASE; /* of ranges PyTorch does not tell */
    ret->has_number = ret->has_addr;
    return status;
}

static plim_status record_history(const script_op *op, plim_error *err)
{
    const plim_record_options options = { .is_enabled = op->number != 0,
                                          .max_events = op->number,
                                          .stacks = op->stacks,
                                          .foreign_frames = on_stack };
    if (saved_path != NULL) {
        return PLIM_OK;
    }
    return plim_record_history(allocator, &options, err);
}

static void on_event(void *ctx, const plim_event *event)
{
    (void)ctx;
    play_told(
        &(play_entry){ event->device, event->action, event->addr, event->bytes, event->stream, 0 });
}

static plim_status listen(bool is_on, plim_error *err)
{
    static bool is_listening;
    const plim_event_sink sink = { .event = on_event, .ctx = &is_listening };
    const bool was_listening = is_listening;
    is_listening = is_on;
    if (is_on && !was_listening) {
        return plim_add_event_sink(allocator, &sink, err);
    }
    if (!is_on) {
        plim_remove_event_sink(allocator, sink.ctx);
    }
    return PLIM_OK;
}

static plim_status limits(const script_op *op, play_answer *ret, plim_error *err)
{
    switch ((int)op->kind) {
    case OP_SET_FRACTION:
        return plim_set_memory_fraction(allocator, op->device, op->fraction, err);
    case OP_GET_FRACTION:
        ret->has_fraction = true;
        ret->fraction = plim_memory_fraction(allocator, op->device);
        return PLIM_OK;
    case OP_CONFIGURE:
        return plim_allocator_configure(allocator, op->text, err);
    case OP_CACHING:
        is_caching = op->number != 0;
        plim_set_caching(allocator, is_caching);
        return PLIM_OK;
    case OP_PEER:
        return plim_enable_peer_access(allocator, op->device, (int32_t)op->number, err);
    case OP_RESET_PEAK:
        plim_allocator_reset_peak_stats(allocator, op->device);
        return PLIM_OK;
    case OP_RESET_ACCUMULATED:
        plim_allocator_reset_accumulated_stats(allocator, op->device);
        return PLIM_OK;
    case OP_CACHE_INFO:
        ret->has_number = true;
        ret->number = op->number;
        return plim_cache_info(allocator, op->device, &ret->number, err);
    case OP_BASE:
        return base(op, ret, err);
    default:
        abort();
    }
}

static plim_status pools(const script_op *op, play_answer *ret, plim_error *err)
{
    bool holds = false;
    plim_status status = PLIM_OK;
    switch ((int)op->kind) {
    case OP_POOL_BEGIN:
        return begin(op, err);
    case OP_POOL_END:
        return plim_pool_end(allocator, op->device, op->pool, err);
    case OP_POOL_RETAIN:
        return plim_pool_retain(allocator, op->device, op->pool, NULL, err);
    case OP_POOL_RELEASE:
        return plim_pool_release(allocator, op->device, op->pool, err);
    case OP_POOL_USE_COUNT:
        ret->has_number = true;
        ret->number = (uint64_t)plim_pool_use_count(allocator, op->device, op->pool);
        return PLIM_OK;
    case OP_POOL_USE_ON_OOM:
        return plim_pool_set_use_on_oom(allocator, op->device, op->pool, op->number != 0, err);
    case OP_POOL_NO_SPLIT:
        return plim_pool_set_no_split(allocator, op->device, op->pool, err);
    case OP_POOL_HOLDS:
        status =
            plim_pool_holds_exactly(allocator, op->device, op->pool,
                                    (plim_addr_list){ op->addrs, op->block_count }, &holds, err);
        ret->has_number = true;
        ret->number = holds;
        return status;
    default:
        return limits(op, ret, err);
    }
}

/* What the script does to the device, not to the allocator. */
static bool world(const script_op *op)
{
    const plim_device *const device = &devices[op->device];
    switch ((int)op->kind) {
    case OP_COMPLETE:
        plim_sim_complete(device, op->stream);
        return true;
    case OP_COMPLETE_ALL:
        for (int32_t i = 0; i < device_count; i++) {
            plim_sim_complete_all(&devices[i]);
        }
        return true;
    case OP_DEVICE:
        return true;
    case OP_USED:
        plim_sim_set_used(device, op->number);
        return true;
    case OP_FAIL:
        plim_sim_fail(device, op->call, op->number, op->status);
        return true;
    case OP_CAPTURING:
        plim_sim_set_capturing(device, op->stream, op->number != 0);
        return true;
    case OP_CALLBACK:
        memcpy(to_free, op->addrs, sizeof(to_free));
        to_free_count = op->block_count;
        return true;
    default:
        return false;
    }
}

static plim_status dispatch(const script_op *op, play_answer *ret, plim_error *err)
{
    switch ((int)op->kind) {
    case OP_MALLOC:
        return take(op, ret, err);
    case OP_FREE:
        return plim_free(allocator, op->addr, err);
    case OP_FOREIGN:
        return plim_free(allocator, op->number, err);
    case OP_RECORD_STREAM:
        return plim_record_stream(allocator, op->addr, op->stream, err);
    case OP_EMPTY_CACHE:
        return plim_empty_cache(allocator, op->has_pool ? &op->pool : NULL, err);
    case OP_SNAPSHOT:
        return snapshot(op, false, err);
    case OP_TRACE:
        return saved_path != NULL ? PLIM_OK : snapshot(op, true, err);
    case OP_HISTORY:
        return record_history(op, err);
    case OP_LISTEN:
        return listen(op->number != 0, err);
    default:
        return pools(op, ret, err);
    }
}

static play_verdict verdict_of(const script_op *op, plim_status status, const plim_error *err)
{
    switch ((int)status) {
    case PLIM_OK:
        return PLAY_OK;
    case PLIM_OUT_OF_DEVICE_MEMORY: /* without a cache it is an error of the driver in PyTorch */
        return op->kind == OP_MALLOC && is_caching ? PLAY_OOM : PLAY_BROKEN;
    case PLIM_IO:
        return PLAY_BROKEN;
    case PLIM_INVALID_ARGUMENT: /* of a request only the device can find anything wrong */
        return op->kind == OP_MALLOC ? PLAY_BROKEN : PLAY_REFUSED;
    case PLIM_UNSUPPORTED:
        return PLAY_REFUSED;
    case PLIM_CORRUPT: /* of settings; of the heap it is a bug */
        if (op->kind == OP_CONFIGURE) {
            return PLAY_REFUSED;
        }
        die("the heap is damaged", err);
    default:
        die("a failure of the host", err);
    }
}

static void perform(const script_op *op, play_answer *ret)
{
    plim_error err = { 0 };
    current = op;
    if (world(op)) {
        return;
    }
    ret->verdict = verdict_of(op, dispatch(op, ret, &err), &err);
    if (ret->verdict != PLAY_OK && ret->text[0] == '\0') {
        (void)snprintf(ret->text, sizeof(ret->text), "%s", err.message);
    }
}

static void stats(int32_t device, plim_device_stats *ret)
{
    plim_error err = { 0 };
    if (plim_allocator_stats(allocator, device, ret, &err) != PLIM_OK) {
        die("no statistics", &err);
    }
}

static void save(void)
{
    plim_error err = { 0 };
    plim_history *history = NULL;
    const plim_snapshot_save_options options = { .torch = is_bare ? PLIM_TORCH(2, 11)
                                                                  : PLIM_TORCH_NEWEST };
    plim_status status = plim_allocator_snapshot(allocator, NULL, true, &history, &err);
    if (status == PLIM_OK) {
        status = plim_snapshot_save(history, saved_path, &options, &err);
    }
    plim_history_destroy(history);
    if (status != PLIM_OK) {
        die("nothing is saved", &err);
    }
}

static void finish(void)
{
    plim_error err = { 0 };
    if (saved_path != NULL) {
        save();
    }
    if (plim_allocator_check(allocator, &err) != PLIM_OK) {
        die("the heap is damaged", &err);
    }
    is_over = true;
    (void)listen(false, &err);
    plim_allocator_destroy(allocator);
    for (int32_t i = 0; i < device_count; i++) {
        plim_device_destroy(&devices[i]);
    }
    while (filters != NULL) {
        filter *const next = filters->next;
        free(filters);
        filters = next;
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        (void)fprintf(stderr, "run SCRIPT [SNAPSHOT [bare]]: plays it, the record goes to "
                              "standard output\n");
        return 2;
    }
    saved_path = argc > 2 ? argv[2] : NULL;
    is_bare = argc > 3 && strcmp(argv[3], "bare") == 0;
    static const play_subject subject = { start, perform, stats, finish };
    play(argv[1], &subject);
    return 0;
}
