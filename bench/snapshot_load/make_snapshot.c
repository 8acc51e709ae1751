/*
 * make_snapshot.c - writes a large memory snapshot as PyTorch would, of a training that never ran.
 *
 *   make_snapshot [--events N | --bytes SIZE] [--depth FRAMES] [--seed N] -o FILE
 *
 * The training runs twice. `segments`, the state at the end, stand before `device_traces` in the
 * file, so the first run only finds that state; the second run, which is the same to the last
 * byte, writes each event as it happens. Memory stays at the size of the trained model's blocks,
 * however long the trace. On stdout: one JSON object of what a reader of the file must find.
 *
 * Objects are shared as in recordings of PyTorch 2.10: one frames list for an allocation, its
 * segment_alloc and the block that it leaves at the end, one for the two events of a free;
 * `compile_context` is a new str in each event, keys and actions are always the same str.
 */
#include "pickler.h"
#include "pool.h"
#include "stacks.h"
#include "training.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an event takes, and a stack: means, to meet --bytes. References to the frames that came
 * first in the file take 2 bytes, others 5. */
enum { EVENT_BYTES = 72, LIST_BYTES = 4, FOUR_FRAMES_BYTES = 13 };

typedef struct snapshot_options {
    uint64_t events; /* 0: as many as `bytes` hold */
    uint64_t bytes;
    uint64_t seed;
    uint32_t depth; /* mean frames per stack */
    const char *path;
} snapshot_options;

/* Something that is live at the end: its frames list is written with its block. */
typedef struct survivor {
    uint64_t context;
    uint32_t memo;
} survivor;

typedef struct snapshot_steps {
    uint64_t *starts_us; /* of step k */
    uint64_t *ends_us;
    size_t start_count;
    size_t end_count; /* one less when the trace stops within a step */
    size_t capacity;
} snapshot_steps;

typedef struct snapshot_names {
    pickler_name device, address, total_size, allocated_size, active_size, requested_size, stream;
    pickler_name segment_type, segment_pool_id, is_expandable, frames, blocks, size, state;
    pickler_name large, small, active, inactive, name, filename, line;
    pickler_name action, actions[4], addr, time_us, compile_context, user_metadata, empty;
} snapshot_names;

typedef struct snapshot_job {
    snapshot_options options;
    uint64_t event_count; /* of the first run, then the limit of the second */
    uint64_t byte_estimate;
    uint64_t live_bytes, live_blocks;
    uint64_t live_bytes_peak, live_blocks_peak; /* at the first moment that most bytes were live */
    uint64_t events_at_peak;                    /* how many events had happened by then */
    snapshot_steps steps;
    survivor *survivors; /* by context */
    size_t survivor_count;
    size_t survivor_next;
    /* The second run. */
    py_pickler *pickler;
    pickler_list trace;
    snapshot_names names;
    uint32_t frame_memo[STACKS_FRAMES]; /* 0: not written yet */
    uint32_t no_frames_memo;
    uint64_t last_context;
    uint32_t last_list_memo;
    uint64_t events_written;
} snapshot_job;

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "make_snapshot: %s%s%s\n", what, which != NULL ? ": " : "",
            which != NULL ? which : "");
    exit(3);
}

static void *must(void *memory)
{
    if (memory == NULL) {
        fail("out of memory", NULL);
    }
    return memory;
}

/* --- The first run: counts ----------------------------------------------------------------- */

static bool count_event(void *ctx, const training_event *event)
{
    snapshot_job *const job = ctx;
    job->event_count++;
    if (event->action == TRAINING_ALLOC) {
        job->live_bytes += event->bytes;
        job->live_blocks++;
    } else if (event->action == TRAINING_FREE_REQUESTED) {
        job->live_bytes -= event->bytes;
        job->live_blocks--;
    }
    if (job->live_bytes > job->live_bytes_peak) {
        job->live_bytes_peak = job->live_bytes;
        job->live_blocks_peak = job->live_blocks;
        job->events_at_peak = job->event_count;
    }
    job->byte_estimate += EVENT_BYTES;
    if (event->context != job->last_context) {
        job->last_context = event->context;
        job->byte_estimate += LIST_BYTES + (uint64_t)FOUR_FRAMES_BYTES *
                                               stacks_depth(event->stack, job->options.depth) / 4;
    }
    return job->options.events > 0 ? job->event_count < job->options.events
                                   : job->byte_estimate < job->options.bytes;
}

static void note_step(void *ctx, bool is_start, uint64_t time_us)
{
    snapshot_steps *const steps = &((snapshot_job *)ctx)->steps;
    if (steps->start_count == steps->capacity) {
        steps->capacity = steps->capacity * 2 + 256;
        steps->starts_us = must(realloc(steps->starts_us, steps->capacity * sizeof(uint64_t)));
        steps->ends_us = must(realloc(steps->ends_us, steps->capacity * sizeof(uint64_t)));
    }
    if (is_start) {
        steps->starts_us[steps->start_count++] = time_us;
    } else {
        steps->ends_us[steps->end_count++] = time_us;
    }
}

/* --- The state at the end ------------------------------------------------------------------ */

static void write_int(snapshot_job *job, pickler_name *key, uint64_t value)
{
    pickler_shared(job->pickler, key);
    pickler_int(job->pickler, (int64_t)value);
}

static void write_frame(snapshot_job *job, uint32_t frame)
{
    char name[STACKS_TEXT_BYTES];
    char filename[STACKS_TEXT_BYTES];
    const uint32_t line = stacks_describe(frame, name, filename);

    job->frame_memo[frame] = pickler_dict_open(job->pickler);
    pickler_shared(job->pickler, &job->names.name);
    pickler_str(job->pickler, name);
    pickler_shared(job->pickler, &job->names.filename);
    pickler_str(job->pickler, filename);
    write_int(job, &job->names.line, line);
    pickler_dict_close(job->pickler);
}

static uint32_t write_stack(snapshot_job *job, uint32_t stack)
{
    const uint32_t depth = stacks_depth(stack, job->options.depth);
    pickler_list list;
    const uint32_t memo = pickler_list_open(job->pickler, depth, &list);
    for (uint32_t i = 0; i < depth; i++) {
        const uint32_t frame = stacks_frame(stack, job->options.depth, i);
        pickler_list_next(job->pickler, &list);
        if (job->frame_memo[frame] == 0) {
            write_frame(job, frame);
        } else {
            pickler_get(job->pickler, job->frame_memo[frame]);
        }
    }
    pickler_list_close(job->pickler, &list);
    return memo;
}

/* The one empty list that everything without a stack has. */
static void write_no_frames(snapshot_job *job)
{
    if (job->no_frames_memo != 0) {
        pickler_get(job->pickler, job->no_frames_memo);
        return;
    }
    pickler_list list;
    job->no_frames_memo = pickler_list_open(job->pickler, 0, &list);
    pickler_list_close(job->pickler, &list);
}

static void write_block(snapshot_job *job, const pool_block *block)
{
    snapshot_names *const names = &job->names;
    pickler_dict_open(job->pickler);
    write_int(job, &names->address, block->addr);
    write_int(job, &names->size, block->bytes);
    write_int(job, &names->requested_size, block->requested_bytes);
    pickler_shared(job->pickler, &names->state);
    pickler_shared(job->pickler, block->is_active ? &names->active : &names->inactive);
    pickler_shared(job->pickler, &names->frames);
    if (block->is_active) {
        job->survivors[job->survivor_count++] =
            (survivor){ .context = block->context, .memo = write_stack(job, block->stack) };
    } else {
        write_no_frames(job);
    }
    pickler_dict_close(job->pickler);
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

static void write_segment(snapshot_job *job, const pool_segment *segment)
{
    snapshot_names *const names = &job->names;
    const segment_sums sums = sum_segment(segment);
    pickler_dict_open(job->pickler);
    write_int(job, &names->device, 0);
    write_int(job, &names->address, segment->addr);
    write_int(job, &names->total_size, segment->bytes);
    write_int(job, &names->allocated_size, sums.active_bytes);
    write_int(job, &names->active_size, sums.active_bytes);
    write_int(job, &names->requested_size, sums.requested_bytes);
    write_int(job, &names->stream, 0);
    pickler_shared(job->pickler, &names->segment_type);
    pickler_shared(job->pickler, segment->is_small ? &names->small : &names->large);
    pickler_shared(job->pickler, &names->segment_pool_id);
    pickler_pair(job->pickler, 0, 0);
    pickler_shared(job->pickler, &names->is_expandable);
    pickler_bool(job->pickler, false);
    pickler_shared(job->pickler, &names->frames);
    write_no_frames(job);
    pickler_shared(job->pickler, &names->blocks);
    pickler_list blocks;
    pickler_list_open(job->pickler, sums.blocks, &blocks);
    for (const pool_block *block = segment->first; block != NULL; block = block->next) {
        pickler_list_next(job->pickler, &blocks);
        write_block(job, block);
    }
    pickler_list_close(job->pickler, &blocks);
    pickler_dict_close(job->pickler);
}

static int by_context(const void *left, const void *right)
{
    const uint64_t a = ((const survivor *)left)->context;
    const uint64_t b = ((const survivor *)right)->context;
    return (a > b) - (a < b);
}

static void write_segments(snapshot_job *job, const block_pool *memory)
{
    uint64_t live_count = 0;
    for (size_t i = 0; i < memory->segment_count; i++) {
        live_count += sum_segment(&memory->segments[i]).active_blocks;
    }
    job->survivors = must(malloc((live_count + 1) * sizeof *job->survivors));
    pickler_str(job->pickler, "segments");
    pickler_list list;
    pickler_list_open(job->pickler, memory->segment_count, &list);
    for (size_t i = 0; i < memory->segment_count; i++) {
        pickler_list_next(job->pickler, &list);
        write_segment(job, &memory->segments[i]);
    }
    pickler_list_close(job->pickler, &list);
    qsort(job->survivors, job->survivor_count, sizeof *job->survivors, by_context);
}

/* --- The second run: writes ---------------------------------------------------------------- */

static void write_event_frames(snapshot_job *job, const training_event *event)
{
    if (event->context == job->last_context) {
        pickler_get(job->pickler, job->last_list_memo);
        return;
    }
    job->last_context = event->context;
    if (job->survivor_next < job->survivor_count &&
        job->survivors[job->survivor_next].context == event->context) {
        job->last_list_memo = job->survivors[job->survivor_next++].memo;
        pickler_get(job->pickler, job->last_list_memo);
        return;
    }
    job->last_list_memo = write_stack(job, event->stack);
}

static bool write_event(void *ctx, const training_event *event)
{
    snapshot_job *const job = ctx;
    snapshot_names *const names = &job->names;
    pickler_list_next(job->pickler, &job->trace);
    pickler_dict_open(job->pickler);
    pickler_shared(job->pickler, &names->action);
    pickler_shared(job->pickler, &names->actions[event->action]);
    write_int(job, &names->addr, event->addr);
    write_int(job, &names->size, event->bytes);
    write_int(job, &names->stream, 0);
    write_int(job, &names->time_us, event->time_us);
    pickler_shared(job->pickler, &names->compile_context);
    pickler_str(job->pickler, "N/A");
    pickler_shared(job->pickler, &names->user_metadata);
    pickler_shared(job->pickler, &names->empty);
    pickler_shared(job->pickler, &names->frames);
    write_event_frames(job, event);
    pickler_dict_close(job->pickler);
    job->events_written++;
    return job->events_written < job->event_count;
}

static void ignore_step(void *ctx, bool is_start, uint64_t time_us)
{
    (void)ctx;
    (void)is_start;
    (void)time_us;
}

static void write_traces(snapshot_job *job)
{
    pickler_str(job->pickler, "device_traces");
    pickler_list devices;
    pickler_list_open(job->pickler, 1, &devices);
    pickler_list_next(job->pickler, &devices);
    pickler_list_open(job->pickler, job->event_count, &job->trace);

    block_pool memory;
    pool_init(&memory);
    job->last_context = 0;
    const training_listener listener = { .on_event = write_event,
                                         .on_step = ignore_step,
                                         .ctx = job };
    training_run(job->options.seed, &memory, &listener);
    pool_deinit(&memory);

    pickler_list_close(job->pickler, &job->trace);
    pickler_list_close(job->pickler, &devices);
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

static void write_annotation(snapshot_job *job, size_t step, const char *stage, uint64_t time_us)
{
    char text[48];
    snprintf(text, sizeof text, "ProfilerStep#%zu", step);
    pickler_dict_open(job->pickler);
    pickler_str(job->pickler, "name");
    pickler_str(job->pickler, text);
    pickler_str(job->pickler, "stage");
    pickler_str(job->pickler, stage);
    write_int(job, &job->names.device, 0);
    write_int(job, &job->names.time_us, time_us);
    pickler_dict_close(job->pickler);
}

static void write_annotations(snapshot_job *job)
{
    const snapshot_steps *const steps = &job->steps;
    pickler_str(job->pickler, "external_annotations");
    pickler_list list;
    pickler_list_open(job->pickler, steps->start_count + steps->end_count, &list);
    for (size_t step = 0; step < steps->start_count; step++) {
        pickler_list_next(job->pickler, &list);
        write_annotation(job, step, "START", steps->starts_us[step]);
        if (step < steps->end_count) {
            pickler_list_next(job->pickler, &list);
            write_annotation(job, step, "END", steps->ends_us[step]);
        }
    }
    pickler_list_close(job->pickler, &list);
}

static const snapshot_names fresh_names = {
    .device = { "device", 0 },
    .address = { "address", 0 },
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

static void write_snapshot(snapshot_job *job, const block_pool *memory, FILE *file)
{
    job->pickler = must(malloc(sizeof *job->pickler));
    job->names = fresh_names;
    pickler_start(job->pickler, file);
    pickler_dict_open(job->pickler);
    write_segments(job, memory);
    write_traces(job);
    write_settings(job->pickler, &job->names);
    write_annotations(job);
    pickler_dict_close(job->pickler);
    pickler_finish(job->pickler);
}

/* --- The command --------------------------------------------------------------------------- */

static void usage(void)
{
    fprintf(stderr, "usage: make_snapshot [--events N | --bytes SIZE] [--depth FRAMES] [--seed N] "
                    "-o FILE\n"
                    "SIZE: bytes, or with kB, MB, GB; default 20MB\n");
    exit(2);
}

static uint64_t parse_number(const char *text)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = { { "", 1 }, { "kB", 1000 }, { "MB", 1000000 }, { "GB", 1000000000 } };

    char *unit;
    errno = 0;
    const unsigned long long value = strtoull(text, &unit, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].unit) == 0 && unit != text && errno == 0 && value > 0 &&
            value <= UINT64_MAX / units[i].bytes) {
            return value * units[i].bytes;
        }
    }
    fail("not a number above 0", text);
    return 0;
}

static snapshot_options parse(int argc, char **argv)
{
    static const struct option known[] = { { "events", required_argument, NULL, 'e' },
                                           { "bytes", required_argument, NULL, 'b' },
                                           { "depth", required_argument, NULL, 'd' },
                                           { "seed", required_argument, NULL, 's' },
                                           { NULL, 0, NULL, 0 } };
    snapshot_options options = { .bytes = 20000000, .depth = 48, .seed = 1 };
    int letter;
    while ((letter = getopt_long(argc, argv, "o:", known, NULL)) != -1) {
        if (letter == 'e') {
            options.events = parse_number(optarg);
        } else if (letter == 'b') {
            options.bytes = parse_number(optarg);
        } else if (letter == 'd') {
            const uint64_t depth = parse_number(optarg);
            if (depth < STACKS_DEPTH_MIN || depth > STACKS_DEPTH_MAX) {
                fail("--depth is from 20 to 200", optarg);
            }
            options.depth = (uint32_t)depth;
        } else if (letter == 's') {
            options.seed = parse_number(optarg);
        } else if (letter == 'o') {
            options.path = optarg;
        } else {
            usage();
        }
    }
    if (options.path == NULL || optind < argc) {
        usage();
    }
    return options;
}

static void print_figures(const snapshot_job *job, const block_pool *memory)
{
    const struct {
        const char *name;
        uint64_t value;
    } figures[] = { { "events", job->event_count },
                    { "bytes", job->pickler->written_bytes },
                    { "steps", job->steps.start_count },
                    { "segments", memory->segment_count },
                    { "reserved_bytes_end", memory->reserved_bytes },
                    { "live_bytes_end", job->live_bytes },
                    { "live_blocks_end", job->live_blocks },
                    { "live_bytes_peak", job->live_bytes_peak },
                    { "live_blocks_peak", job->live_blocks_peak },
                    { "events_at_peak", job->events_at_peak } };

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        printf("%s\"%s\":%" PRIu64, i == 0 ? "{" : ",", figures[i].name, figures[i].value);
    }
    printf("}\n");
}

int main(int argc, char **argv)
{
    static snapshot_job job;
    job.options = parse(argc, argv);
    block_pool memory;
    pool_init(&memory);
    const training_listener counter = { .on_event = count_event,
                                        .on_step = note_step,
                                        .ctx = &job };
    training_run(job.options.seed, &memory, &counter);

    FILE *const file = fopen(job.options.path, "wb");
    if (file == NULL) {
        fail(strerror(errno), job.options.path);
    }
    write_snapshot(&job, &memory, file);
    if (fclose(file) != 0) {
        fail(strerror(errno), job.options.path);
    }
    print_figures(&job, &memory);

    pool_deinit(&memory);
    free(job.pickler);
    free(job.survivors);
    free(job.steps.starts_us);
    free(job.steps.ends_us);
    return 0;
}
