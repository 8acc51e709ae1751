/*
 * predict.c - a run as a history: the recording's events with what the allocator makes of them.
 *
 *   recorded    segment_alloc  alloc  annotate  request  complete  …
 *   ops                        alloc            free               …
 *   predicted   segment_map    alloc  annotate  request  complete  …
 *
 * An event of the run is emitted with the time, stack and note of the recorded event whose op
 * caused it; a free that completes later keeps those of its request, but happens when the run comes
 * to it. What the program did besides (annotations, snapshots) stays where it was. Rebuilding the
 * start emits nothing: what stood before the first event shows in what frees it, and at the end.
 */
#include "base/assert.h"
#include "base/error.h"
#include "base/map.h"
#include "history/builder.h"
#include "replay/conf.h"
#include "replay/replay.h"
#include "replay/run/run.h"

#include <string.h>

/* --- what a prediction has from its recording: what the program did, not the allocator --- */

/*
 * Tables hold each thing once, in the order in which it was met. So adding them in that order to
 * an empty history gives every thing the number it had.
 */
static plim_status carry_tables(const plim_history *from, plim_history *to, plim_error *err)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < plim_history_string_count(from); i++) {
        size_t bytes = 0;
        const char *text = plim_history_string(from, i, &bytes);
        PLIM_TRY(plim_history_add_string(to, text, bytes, &number, err));
        PLIM_ASSERT(number == i);
    }
    for (uint32_t i = 0; i < plim_history_frame_count(from); i++) {
        PLIM_TRY(plim_history_add_frame(to, plim_history_frame(from, i), &number, err));
        PLIM_ASSERT(number == i);
    }
    for (uint32_t i = 0; i < plim_history_stack_count(from); i++) {
        const plim_stack stack = plim_history_stack(from, i);
        PLIM_TRY(plim_history_add_stack(to, stack.frames, stack.frame_count, &number, err));
        PLIM_ASSERT(number == i);
    }
    for (uint32_t i = 0; i < plim_history_stream_count(from); i++) {
        PLIM_TRY(plim_history_add_stream(to, plim_history_stream(from, i), &number, err));
        PLIM_ASSERT(number == i);
    }
    return PLIM_OK;
}

static plim_status carry_annotations(const plim_history *from, plim_history *to, plim_error *err)
{
    uint64_t count = 0;
    const plim_annotation *annotations = plim_history_annotations(from, &count);
    for (uint64_t i = 0; i < count; i++) {
        PLIM_TRY(plim_history_push_annotation(to, &annotations[i], err));
    }
    return PLIM_OK;
}

static plim_status carry_source(const plim_history *from, plim_history *to, plim_error *err)
{
    const plim_source source = plim_history_source(from);
    uint32_t generation = 0;
    PLIM_TRY(plim_history_add_string(to, source.generation, strlen(source.generation), &generation,
                                     err));
    plim_history_set_source(to,
                            &(plim_source){ .format = "replay",
                                            .generation = plim_history_string(to, generation, NULL),
                                            .pickle_protocol = -1 });
    return PLIM_OK;
}

/*
 * The string PyTorch would have been given. Settings that were put together elsewhere need not
 * say themselves what they are; and of other allocators the conf has the name.
 */
static const char *conf_text(const plim_conf *conf, char *text, size_t bytes)
{
    if (conf->policy != PLIM_POLICY_TORCH) {
        return conf->text;
    }
    plim_conf said = plim_conf_default();
    if (plim_settings_parse(conf->settings.text, &said.settings, NULL) == PLIM_OK &&
        plim_conf_equal(&said, conf)) {
        return conf->settings.text;
    }
    (void)plim_settings_format(&conf->settings, text, bytes);
    return text;
}

static plim_status carry_string(const plim_history *from, uint32_t string, plim_history *to,
                                uint32_t *ret_string, plim_error *err)
{
    *ret_string = PLIM_NONE;
    if (string == PLIM_NONE) {
        return PLIM_OK;
    }
    size_t bytes = 0;
    const char *text = plim_history_string(from, string, &bytes);
    return plim_history_add_string(to, text, bytes, ret_string, err);
}

static plim_status carry_settings(const plim_history *snapshot, const plim_conf *conf,
                                  plim_history *to, plim_error *err)
{
    char formatted[PLIM_SETTINGS_TEXT_BYTES];
    const char *text = conf_text(conf, formatted, sizeof formatted);
    uint64_t count = 0;
    const plim_setting *settings = plim_history_settings(snapshot, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_setting setting = settings[i];
        PLIM_TRY(carry_string(snapshot, settings[i].group, to, &setting.group, err));
        PLIM_TRY(carry_string(snapshot, settings[i].name, to, &setting.name, err));
        if (setting.kind == PLIM_SETTING_TEXT) { /* there is one, the string */
            PLIM_TRY(plim_history_add_string(to, text, strlen(text), &setting.value.text, err));
        }
        PLIM_TRY(plim_history_push_setting(to, &setting, err));
    }
    return PLIM_OK;
}

/* --- the device at work --- */

/* Of the recorded event that what happens stands for. */
typedef struct occasion {
    int64_t time_ns;
    uint32_t stack;
    uint32_t note; /* of the recording */
} occasion;

typedef struct prediction {
    const plim_mem *mem;
    const plim_history *source;
    plim_history *history;
    const plim_conf *conf;
    uint64_t segment_count; /* pushed so far, of all devices */
    uint64_t block_count;

    /* The device at work. */
    const plim_program *program;
    plim_range events;
    plim_map live;        /* address -> stack of what lies there, live or pending */
    plim_map freed;       /* address -> stack and note of the free that waits there */
    plim_map driver_made; /* address -> stack of what asked the driver for it */
    uint64_t cursor;      /* recorded events before it are done */
    occasion now;
    uint64_t next_start; /* of start.allocations, while they are requested anew */
    uint64_t active_bytes;
    bool is_restored;
    bool is_starting; /* before the first event: nothing is emitted */
    bool is_request;  /* the op is one that ends the run when it fails */
    bool is_over;     /* and it did */
    plim_status status;
} prediction;

static void settle(prediction *p, plim_status status)
{
    if (p->status == PLIM_OK) {
        p->status = status;
    }
}

static void put(prediction *p, plim_map *map, plim_addr addr, uint64_t value)
{
    if (!plim_map_put(map, addr, value)) {
        settle(p, PLIM_OUT_OF_HOST_MEMORY);
    }
}

/* A stack that is in a map of stacks, or PLIM_NONE. */
static uint32_t stack_in(uint64_t value)
{
    return value == PLIM_MAP_ABSENT ? PLIM_NONE : (uint32_t)value;
}

static plim_status push(prediction *p, const plim_event *event)
{
    p->events.count++;
    return plim_history_push_event(p->history, event, NULL);
}

/* --- what the recording has and a run has not --- */

static bool is_no_matter_of_allocators(uint8_t action)
{
    return action == PLIM_SNAPSHOT || action == PLIM_ANNOTATE || action == PLIM_USER_DEFINED ||
           action >= PLIM_ACTION_OTHER;
}

static plim_status copy_event(prediction *p, uint64_t row)
{
    plim_event event = plim_history_event(p->source, p->program->device, row);
    const char *name = plim_history_action_name(p->source, (uint8_t)event.action);
    PLIM_TRY(plim_history_add_action(p->history, name, strlen(name), &event.action, NULL));
    PLIM_TRY(plim_history_add_note(p->history, plim_history_note(p->source, event.note),
                                   &event.note, NULL));
    if (event.action == PLIM_SNAPSHOT) { /* it names the active bytes of its moment */
        event.bytes = p->active_bytes;
    }
    return push(p, &event);
}

static void copy_until(prediction *p, uint64_t end)
{
    const plim_events *events = &p->program->device->events;
    for (; p->cursor < end; p->cursor++) {
        if (p->status == PLIM_OK && is_no_matter_of_allocators(events->action[p->cursor])) {
            settle(p, copy_event(p, p->cursor));
        }
    }
}

/* --- what happens in a run --- */

static bool on_op(void *ctx, uint64_t op)
{
    prediction *p = ctx;
    const plim_program *program = p->program;
    p->is_starting = op == PLIM_NO_OP || op < program->prologue;
    p->is_request = op != PLIM_NO_OP && program->ops.items[op].kind == PLIM_OP_ALLOC;
    if (!p->is_starting) {
        const uint64_t event = plim_program_event(program, op);
        copy_until(p, event);
        const plim_event now = plim_history_event(p->source, program->device, event);
        p->now = (occasion){ .time_ns = now.time_ns, .stack = now.stack, .note = now.note };
    }
    return p->status == PLIM_OK;
}

/* The stack of the next allocation of the start that is requested anew. */
static uint32_t next_start_stack(prediction *p)
{
    const plim_program_start *start = &p->program->start;
    while (p->next_start < start->allocations.count) {
        const plim_start_block *block = &start->allocations.items[p->next_start];
        p->next_start++;
        if (!p->is_restored || block->is_outside) {
            return block->stack;
        }
    }
    return PLIM_NONE;
}

static bool is_of_driver(plim_action action)
{
    return action == PLIM_SEGMENT_ALLOC || action == PLIM_SEGMENT_FREE ||
           action == PLIM_SEGMENT_MAP || action == PLIM_SEGMENT_UNMAP;
}

/* As the recording says it of the occasion, in the pool where it happens. */
static plim_status add_note(prediction *p, const plim_event *record, uint32_t row,
                            uint32_t *ret_note)
{
    plim_note note = *plim_history_note(p->source, row);
    if (note.has_pool) {
        note.pool = record->pool;
    }
    if (is_of_driver(record->action)) {
        note.category = PLIM_NONE; /* what an allocation is for, the driver does not know */
    }
    return plim_history_add_note(p->history, &note, ret_note, NULL);
}

static plim_status emit(prediction *p, const plim_event *record, const occasion *when)
{
    plim_event event = *record;
    event.time_ns = when->time_ns;
    event.stack = when->stack;
    PLIM_TRY(add_note(p, record, when->note, &event.note));
    return push(p, &event);
}

static void complete(prediction *p, const plim_event *record, occasion *when)
{
    const uint64_t freed = plim_map_take(&p->freed, record->addr);
    const uint32_t stack = stack_in(plim_map_take(&p->live, record->addr));
    if (freed != PLIM_MAP_ABSENT) {
        when->stack = (uint32_t)freed;
        when->note = (uint32_t)(freed >> 32);
    } else if (!p->is_starting) { /* requested before the first event */
        when->stack = stack;
        when->note = 0;
    }
    p->active_bytes -= record->block_bytes;
}

static void on_event(void *ctx, const plim_event *record)
{
    prediction *p = ctx;
    occasion when = p->now;
    switch ((uint8_t)record->action) {
    case PLIM_ALLOC:
        put(p, &p->live, record->addr, p->is_starting ? next_start_stack(p) : when.stack);
        p->active_bytes += record->block_bytes;
        break;
    case PLIM_FREE_REQUESTED:
        if (!p->is_starting) {
            put(p, &p->freed, record->addr, (uint64_t)when.note << 32 | when.stack);
        }
        break;
    case PLIM_FREE_COMPLETED:
        complete(p, record, &when);
        break;
    case PLIM_SEGMENT_ALLOC:
    case PLIM_SEGMENT_MAP:
        put(p, &p->driver_made, record->addr, p->is_starting ? PLIM_NONE : when.stack);
        break;
    case PLIM_OOM:
        p->is_over = p->is_over || p->is_request;
        break;
    default:
        break;
    }
    if (!p->is_starting && p->status == PLIM_OK) {
        settle(p, emit(p, record, &when));
    }
}

static void on_restored(void *ctx, const plim_addr *addrs)
{
    prediction *p = ctx;
    const plim_program_start *start = &p->program->start;
    for (size_t i = 0; i < start->blocks.count; i++) {
        const plim_block *block = &start->blocks.items[i];
        if (block->state != PLIM_BLOCK_INACTIVE) {
            put(p, &p->live, addrs[i], block->stack);
            p->active_bytes += block->bytes;
        }
    }
    /* Where segments could not lie where they did, it is unknown who requested them. */
    for (size_t i = 0; i < start->segments.count; i++) {
        put(p, &p->driver_made, start->segments.items[i].addr, start->segments.items[i].stack);
    }
}

/* --- what stands at the end --- */

static plim_status add_blocks(prediction *p, const plim_device_history *device, plim_error *err)
{
    for (uint64_t i = 0; i < device->block_count; i++) {
        plim_block block = device->blocks[i];
        block.stack = block.state == PLIM_BLOCK_INACTIVE
                          ? PLIM_NONE
                          : stack_in(plim_map_get(&p->live, block.addr));
        PLIM_TRY(plim_history_push_block(p->history, &block, err));
    }
    return PLIM_OK;
}

static plim_status add_segments(prediction *p, const plim_history *snapshot,
                                const plim_device_history *device, plim_error *err)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        plim_segment segment = device->segments[i];
        const uint64_t stream = plim_history_stream(snapshot, device->segments[i].stream);
        PLIM_TRY(plim_history_add_stream(p->history, stream, &segment.stream, err));
        segment.stack = stack_in(plim_map_get(&p->driver_made, segment.addr));
        PLIM_TRY(plim_history_push_segment(p->history, &segment, err));
    }
    return PLIM_OK;
}

static plim_status add_end(prediction *p, const plim_history *snapshot, plim_error *err)
{
    const plim_device_history *recorded = p->program->device;
    const plim_device_history *device = plim_history_device(snapshot, 0);
    PLIM_TRY(add_segments(p, snapshot, device, err));
    PLIM_TRY(add_blocks(p, device, err));
    const plim_device_ranges ranges = {
        .device = recorded->device,
        .events = p->events,
        .segments = { p->segment_count, device->segment_count },
        .blocks = { p->block_count, device->block_count },
        .overflowed = p->program->from_event > 0 ? PLIM_YES : recorded->overflowed,
    };
    p->segment_count += device->segment_count;
    p->block_count += device->block_count;
    uint64_t settings = 0;
    (void)plim_history_settings(p->history, &settings);
    if (settings == 0) { /* one file has one set of them */
        PLIM_TRY(carry_settings(snapshot, p->conf, p->history, err));
    }
    return plim_history_add_device(p->history, &ranges, err);
}

static plim_status on_end(void *ctx, plim_allocator *allocator, plim_error *err)
{
    prediction *p = ctx;
    if (!p->is_over) {
        copy_until(p, p->program->to_event);
    }
    if (p->status != PLIM_OK) {
        return p->status; /* said by who ran it */
    }
    plim_history *snapshot = NULL;
    PLIM_TRY(plim_allocator_snapshot(allocator, NULL, false, &snapshot, err));
    const plim_status status = add_end(p, snapshot, err);
    plim_history_destroy(snapshot);
    return status;
}

/* --- together --- */

static plim_status run_watched(prediction *p, const plim_run_options *options, plim_error *err)
{
    const plim_run_listener listener = {
        .op = on_op, .event = on_event, .restored = on_restored, .end = on_end, .ctx = p
    };
    const plim_run_setup setup = { .conf = p->conf,
                                   .is_restored = p->is_restored,
                                   .capacity_bytes = options->capacity_bytes,
                                   .others_bytes = plim_others_bytes(options),
                                   .costs = options->costs,
                                   .progress = options->progress,
                                   .progress_ctx = options->progress_ctx,
                                   .listener = &listener };
    plim_run_result result;
    const plim_status status = plim_run_program(p->program, &setup, &result, err);
    /* Where a listener fails it can only stop the run. */
    if (p->status == PLIM_OUT_OF_HOST_MEMORY) {
        return plim_fail_memory(err, "predicting a history");
    }
    return p->status == PLIM_OK ? status
                                : plim_fail(err, p->status, "the prediction cannot be a history");
}

static plim_status predict_device(prediction *p, const plim_replay_device_part *part,
                                  const plim_run_options *options, plim_error *err)
{
    p->program = part->asked;
    p->is_restored = plim_replay_is_restored(part, p->conf);
    p->events = (plim_range){ .first = plim_history_pushed_events(p->history) };
    p->cursor = part->asked->from_event;
    p->next_start = 0;
    p->active_bytes = 0;
    p->is_over = false;
    plim_map_init(&p->live, p->mem);
    plim_map_init(&p->freed, p->mem);
    plim_map_init(&p->driver_made, p->mem);
    const plim_status status = run_watched(p, options, err);
    plim_map_deinit(&p->live);
    plim_map_deinit(&p->freed);
    plim_map_deinit(&p->driver_made);
    return status;
}

static plim_status predict(prediction *p, const plim_replay *replay,
                           const plim_run_options *options, plim_error *err)
{
    PLIM_TRY(carry_tables(p->source, p->history, err));
    PLIM_TRY(carry_annotations(p->source, p->history, err));
    PLIM_TRY(carry_source(p->source, p->history, err));
    for (size_t i = 0; i < replay->devices.count; i++) {
        PLIM_TRY(predict_device(p, &replay->devices.items[i], options, err));
    }
    return PLIM_OK;
}

plim_status plim_replay_predict(const plim_replay *replay, const plim_conf *conf,
                                const plim_run_options *options, plim_history **ret_history,
                                plim_error *err)
{
    prediction p = { .mem = replay->mem, .source = replay->history, .conf = conf };
    PLIM_TRY(plim_history_create(replay->mem, &p.history, err));
    const plim_status status = predict(&p, replay, options, err);
    if (status != PLIM_OK) {
        plim_history_destroy(p.history);
        return status;
    }
    plim_history_seal(p.history);
    *ret_history = p.history;
    return PLIM_OK;
}
