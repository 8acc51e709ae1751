/*
 * snapshot_file.c - the parts of the file, in its order.
 */
#include "snapshot_file.h"

#include "pickler.h"
#include "stacks.h"
#include "training.h"
#include "trouble.h"

#include <stdlib.h>

/* Something that is live at the end: its frames list is written with its block. */
typedef struct survivor {
    uint64_t context;
    uint32_t memo;
} survivor;

typedef struct snapshot_names {
    pickler_name device, address, total_size, allocated_size, active_size, requested_size, stream;
    pickler_name segment_type, segment_pool_id, is_expandable, frames, blocks, size, state;
    pickler_name large, small, active, inactive, name, filename, line;
    pickler_name action, actions[4], addr, time_us, compile_context, user_metadata, empty;
    pickler_name category, unknown;
} snapshot_names;

typedef struct snapshot_writer {
    const snapshot_facts *facts;
    py_pickler *pickler;
    snapshot_names names;
    uint32_t frame_memo[STACKS_FRAMES]; /* 0: not written yet */
    uint32_t no_frames_memo;
    survivor *survivors; /* by context */
    size_t survivor_count;
    size_t survivor_next;
    pickler_list trace;
    uint64_t last_context; /* whose frames list is last_list_memo */
    uint32_t last_list_memo;
    uint64_t events_written;
} snapshot_writer;

/* --- The state at the end ------------------------------------------------------------------ */

static void write_int(snapshot_writer *writer, pickler_name *key, uint64_t value)
{
    pickler_shared(writer->pickler, key);
    pickler_int(writer->pickler, (int64_t)value);
}

static void write_frame(snapshot_writer *writer, uint32_t frame)
{
    char name[STACKS_TEXT_BYTES];
    char filename[STACKS_TEXT_BYTES];
    const uint32_t line = stacks_describe(frame, name, filename);

    writer->frame_memo[frame] = pickler_dict_open(writer->pickler);
    pickler_shared(writer->pickler, &writer->names.name);
    pickler_str(writer->pickler, name);
    pickler_shared(writer->pickler, &writer->names.filename);
    pickler_str(writer->pickler, filename);
    write_int(writer, &writer->names.line, line);
    pickler_dict_close(writer->pickler);
}

static uint32_t write_stack(snapshot_writer *writer, uint32_t stack)
{
    const uint32_t depth = stacks_depth(stack, writer->facts->depth);
    pickler_list list;
    const uint32_t memo = pickler_list_open(writer->pickler, depth, &list);
    for (uint32_t i = 0; i < depth; i++) {
        const uint32_t frame = stacks_frame(stack, writer->facts->depth, i);
        pickler_list_next(writer->pickler, &list);
        if (writer->frame_memo[frame] == 0) {
            write_frame(writer, frame);
        } else {
            pickler_get(writer->pickler, writer->frame_memo[frame]);
        }
    }
    pickler_list_close(writer->pickler, &list);
    return memo;
}

/* The one empty list that everything without a stack has. */
static void write_no_frames(snapshot_writer *writer)
{
    if (writer->no_frames_memo != 0) {
        pickler_get(writer->pickler, writer->no_frames_memo);
        return;
    }
    pickler_list list;
    writer->no_frames_memo = pickler_list_open(writer->pickler, 0, &list);
    pickler_list_close(writer->pickler, &list);
}

static void write_block(snapshot_writer *writer, const pool_block *block)
{
    snapshot_names *const names = &writer->names;
    pickler_dict_open(writer->pickler);
    write_int(writer, &names->address, block->addr);
    write_int(writer, &names->size, block->bytes);
    write_int(writer, &names->requested_size, block->requested_bytes);
    pickler_shared(writer->pickler, &names->state);
    pickler_shared(writer->pickler, block->is_active ? &names->active : &names->inactive);
    pickler_shared(writer->pickler, &names->frames);
    if (block->is_active) {
        writer->survivors[writer->survivor_count++] =
            (survivor){ .context = block->context, .memo = write_stack(writer, block->stack) };
    } else {
        write_no_frames(writer);
    }
    pickler_dict_close(writer->pickler);
}

typedef struct segment_sums {
    uint64_t blocks, active_blocks, active_bytes, requested_bytes;
} segment_sums;

static segment_sums sum_segment(const pool_segment *segment)
{
    segment_sums sums = { 0 };
    for (const pool_block *block = segment->first; block != NULL; block = block->next) {
        sums.blocks++;
        if (block->is_active) {
            sums.active_blocks++;
            sums.active_bytes += block->bytes;
            sums.requested_bytes += block->requested_bytes;
        }
    }
    return sums;
}

static void write_segment(snapshot_writer *writer, const pool_segment *segment)
{
    snapshot_names *const names = &writer->names;
    const segment_sums sums = sum_segment(segment);
    pickler_dict_open(writer->pickler);
    write_int(writer, &names->device, 0);
    write_int(writer, &names->address, segment->addr);
    write_int(writer, &names->total_size, segment->bytes);
    write_int(writer, &names->allocated_size, sums.active_bytes);
    write_int(writer, &names->active_size, sums.active_bytes);
    write_int(writer, &names->requested_size, sums.requested_bytes);
    write_int(writer, &names->stream, 0);
    pickler_shared(writer->pickler, &names->segment_type);
    pickler_shared(writer->pickler, segment->is_small ? &names->small : &names->large);
    pickler_shared(writer->pickler, &names->segment_pool_id);
    pickler_pair(writer->pickler, 0, 0);
    pickler_shared(writer->pickler, &names->is_expandable);
    pickler_bool(writer->pickler, false);
    pickler_shared(writer->pickler, &names->frames);
    write_no_frames(writer);
    pickler_shared(writer->pickler, &names->blocks);
    pickler_list blocks;
    pickler_list_open(writer->pickler, sums.blocks, &blocks);
    for (const pool_block *block = segment->first; block != NULL; block = block->next) {
        pickler_list_next(writer->pickler, &blocks);
        write_block(writer, block);
    }
    pickler_list_close(writer->pickler, &blocks);
    pickler_dict_close(writer->pickler);
}

static int by_context(const void *left, const void *right)
{
    const uint64_t a = ((const survivor *)left)->context;
    const uint64_t b = ((const survivor *)right)->context;
    return (a > b) - (a < b);
}

static void write_segments(snapshot_writer *writer, const block_pool *memory)
{
    uint64_t live_count = 0;
    for (size_t i = 0; i < memory->segment_count; i++) {
        live_count += sum_segment(&memory->segments[i]).active_blocks;
    }
    writer->survivors = must(malloc((live_count + 1) * sizeof *writer->survivors));
    pickler_str(writer->pickler, "segments");
    pickler_list list;
    pickler_list_open(writer->pickler, memory->segment_count, &list);
    for (size_t i = 0; i < memory->segment_count; i++) {
        pickler_list_next(writer->pickler, &list);
        write_segment(writer, &memory->segments[i]);
    }
    pickler_list_close(writer->pickler, &list);
    qsort(writer->survivors, writer->survivor_count, sizeof *writer->survivors, by_context);
}

/* --- The events ----------------------------------------------------------------------------- */

static void write_event_frames(snapshot_writer *writer, const training_event *event)
{
    if (event->context == writer->last_context) {
        pickler_get(writer->pickler, writer->last_list_memo);
        return;
    }
    writer->last_context = event->context;
    if (writer->survivor_next < writer->survivor_count &&
        writer->survivors[writer->survivor_next].context == event->context) {
        writer->last_list_memo = writer->survivors[writer->survivor_next++].memo;
        pickler_get(writer->pickler, writer->last_list_memo);
        return;
    }
    writer->last_list_memo = write_stack(writer, event->stack);
}

static bool write_event(void *ctx, const training_event *event)
{
    snapshot_writer *const writer = ctx;
    snapshot_names *const names = &writer->names;
    pickler_list_next(writer->pickler, &writer->trace);
    pickler_dict_open(writer->pickler);
    pickler_shared(writer->pickler, &names->action);
    pickler_shared(writer->pickler, &names->actions[event->action]);
    write_int(writer, &names->addr, event->addr);
    write_int(writer, &names->size, event->bytes);
    write_int(writer, &names->stream, 0);
    write_int(writer, &names->time_us, event->time_us);
    pickler_shared(writer->pickler, &names->compile_context);
    pickler_str(writer->pickler, "N/A");
    pickler_shared(writer->pickler, &names->user_metadata);
    pickler_shared(writer->pickler, &names->empty);
    pickler_shared(writer->pickler, &names->frames);
    write_event_frames(writer, event);
    if (writer->facts->has_categories && event->action == TRAINING_ALLOC) {
        pickler_shared(writer->pickler, &names->category);
        pickler_shared(writer->pickler, &names->unknown);
    }
    pickler_dict_close(writer->pickler);
    writer->events_written++;
    return writer->events_written < writer->facts->event_count;
}

static void ignore_step(void *ctx, bool is_start, uint64_t time_us)
{
    (void)ctx;
    (void)is_start;
    (void)time_us;
}

static void write_traces(snapshot_writer *writer)
{
    pickler_str(writer->pickler, "device_traces");
    pickler_list devices;
    pickler_list_open(writer->pickler, 1, &devices);
    pickler_list_next(writer->pickler, &devices);
    pickler_list_open(writer->pickler, writer->facts->event_count, &writer->trace);

    block_pool memory;
    pool_init(&memory);
    writer->last_context = 0;
    const training_listener listener = { .on_event = write_event,
                                         .on_step = ignore_step,
                                         .ctx = writer };
    training_run(writer->facts->seed, &memory, &listener);
    pool_deinit(&memory);

    pickler_list_close(writer->pickler, &writer->trace);
    pickler_list_close(writer->pickler, &devices);
}

/* --- The rest of the file ------------------------------------------------------------------ */

static void write_flag(py_pickler *pickler, const char *key)
{
    pickler_str(pickler, key);
    pickler_bool(pickler, false);
}

static void write_settings(py_pickler *pickler, snapshot_names *names)
{
    pickler_str(pickler, "allocator_settings");
    pickler_dict_open(pickler);
    pickler_str(pickler, "PYTORCH_CUDA_ALLOC_CONF");
    pickler_shared(pickler, &names->empty);
    pickler_str(pickler, "max_split_size");
    pickler_int(pickler, -1);
    pickler_str(pickler, "garbage_collection_threshold");
    pickler_zero_float(pickler);
    write_flag(pickler, "expandable_segments");
    pickler_str(pickler, "pinned_num_register_threads");
    pickler_int(pickler, 1);
    write_flag(pickler, "release_lock_on_cudamalloc");
    write_flag(pickler, "pinned_use_cuda_host_register");
    write_flag(pickler, "graph_capture_record_stream_reuse");
    pickler_str(pickler, "roundup_power2_divisions");
    pickler_dict_open(pickler);
    for (unsigned size = 1; size <= 32768; size *= 2) {
        char text[16];
        snprintf(text, sizeof text, "%u", size);
        pickler_str(pickler, text);
        pickler_int(pickler, 0);
    }
    pickler_dict_close(pickler);
    pickler_dict_close(pickler);
}

static void write_annotation(snapshot_writer *writer, size_t step, const char *stage,
                             uint64_t time_us)
{
    char text[48];
    snprintf(text, sizeof text, "ProfilerStep#%zu", step);
    pickler_dict_open(writer->pickler);
    pickler_str(writer->pickler, "name");
    pickler_str(writer->pickler, text);
    pickler_str(writer->pickler, "stage");
    pickler_str(writer->pickler, stage);
    write_int(writer, &writer->names.device, 0);
    write_int(writer, &writer->names.time_us, time_us);
    pickler_dict_close(writer->pickler);
}

static void write_annotations(snapshot_writer *writer)
{
    const snapshot_steps *const steps = writer->facts->steps;
    pickler_str(writer->pickler, "external_annotations");
    pickler_list list;
    pickler_list_open(writer->pickler, steps->start_count + steps->end_count, &list);
    for (size_t step = 0; step < steps->start_count; step++) {
        pickler_list_next(writer->pickler, &list);
        write_annotation(writer, step, "START", steps->starts_us[step]);
        if (step < steps->end_count) {
            pickler_list_next(writer->pickler, &list);
            write_annotation(writer, step, "END", steps->ends_us[step]);
        }
    }
    pickler_list_close(writer->pickler, &list);
}

static const snapshot_names fresh_names = {
    .device = { "device", 0 },
    .address = { "address", 0 },
    .category = { "category", 0 },
    .unknown = { "unknown", 0 },
    .total_size = { "total_size", 0 },
    .allocated_size = { "allocated_size", 0 },
    .active_size = { "active_size", 0 },
    .requested_size = { "requested_size", 0 },
    .stream = { "stream", 0 },
    .segment_type = { "segment_type", 0 },
    .segment_pool_id = { "segment_pool_id", 0 },
    .is_expandable = { "is_expandable", 0 },
    .frames = { "frames", 0 },
    .blocks = { "blocks", 0 },
    .size = { "size", 0 },
    .state = { "state", 0 },
    .large = { "large", 0 },
    .small = { "small", 0 },
    .active = { "active_allocated", 0 },
    .inactive = { "inactive", 0 },
    .name = { "name", 0 },
    .filename = { "filename", 0 },
    .line = { "line", 0 },
    .action = { "action", 0 },
    .actions = { [TRAINING_SEGMENT_ALLOC] = { "segment_alloc", 0 },
                 [TRAINING_ALLOC] = { "alloc", 0 },
                 [TRAINING_FREE_REQUESTED] = { "free_requested", 0 },
                 [TRAINING_FREE_COMPLETED] = { "free_completed", 0 } },
    .addr = { "addr", 0 },
    .time_us = { "time_us", 0 },
    .compile_context = { "compile_context", 0 },
    .user_metadata = { "user_metadata", 0 },
    .empty = { "", 0 },
};

uint64_t snapshot_file_write(FILE *file, const snapshot_facts *facts)
{
    snapshot_writer *const writer = must(calloc(1, sizeof *writer));
    writer->pickler = must(malloc(sizeof *writer->pickler));
    writer->facts = facts;
    writer->names = fresh_names;
    pickler_start(writer->pickler, file);
    pickler_dict_open(writer->pickler);
    write_segments(writer, facts->memory);
    write_traces(writer);
    write_settings(writer->pickler, &writer->names);
    write_annotations(writer);
    pickler_dict_close(writer->pickler);
    pickler_finish(writer->pickler);

    const uint64_t written_bytes = writer->pickler->written_bytes;
    free(writer->survivors);
    free(writer->pickler);
    free(writer);
    return written_bytes;
}
