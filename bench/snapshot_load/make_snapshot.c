/*
 * make_snapshot.c - writes a large memory snapshot as PyTorch would, of a training that never ran.
 *
 *   make_snapshot [--events N | --bytes SIZE] [--depth FRAMES] [--seed N] [--categories] -o FILE
 *
 * The training runs twice. `segments`, the state at the end, stand before `device_traces` in the
 * file, so the first run only finds that state; the second run, which is the same to the last
 * byte, writes each event as it happens. Memory stays at the size of the trained model's blocks,
 * however long the trace. On stdout: one JSON object of what a reader of the file must find.
 */
#include "pool.h"
#include "snapshot_file.h"
#include "stacks.h"
#include "training.h"
#include "trouble.h"

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
    bool has_categories;
    const char *path;
} snapshot_options;

/* What the first run finds out. */
typedef struct first_run {
    snapshot_options options;
    block_pool memory;
    snapshot_steps steps;
    uint64_t event_count;
    uint64_t byte_estimate;
    uint64_t last_context;
    uint64_t live_bytes, live_blocks;
    uint64_t live_bytes_peak, live_blocks_peak; /* at the first moment that most bytes were live */
    uint64_t events_at_peak;                    /* how many events had happened by then */
} first_run;

static bool count_event(void *ctx, const training_event *event)
{
    first_run *const run = ctx;
    run->event_count++;
    if (event->action == TRAINING_ALLOC) {
        run->live_bytes += event->bytes;
        run->live_blocks++;
    } else if (event->action == TRAINING_FREE_REQUESTED) {
        run->live_bytes -= event->bytes;
        run->live_blocks--;
    }
    if (run->live_bytes > run->live_bytes_peak) {
        run->live_bytes_peak = run->live_bytes;
        run->live_blocks_peak = run->live_blocks;
        run->events_at_peak = run->event_count;
    }
    run->byte_estimate += EVENT_BYTES;
    if (event->context != run->last_context) {
        run->last_context = event->context;
        run->byte_estimate += LIST_BYTES + (uint64_t)FOUR_FRAMES_BYTES *
                                               stacks_depth(event->stack, run->options.depth) / 4;
    }
    return run->options.events > 0 ? run->event_count < run->options.events
                                   : run->byte_estimate < run->options.bytes;
}

static void note_step(void *ctx, bool is_start, uint64_t time_us)
{
    snapshot_steps *const steps = &((first_run *)ctx)->steps;
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

_Noreturn static void usage(void)
{
    fprintf(stderr,
            "usage: make_snapshot [--events N | --bytes SIZE] [--depth FRAMES] [--seed N] "
            "[--categories] -o FILE\n"
            "SIZE: bytes, or with kB, MB, GB; default 20MB. Sizes are met within a percent,\n"
            "events but for one: a call into the allocator is not cut in two.\n");
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
}

static snapshot_options parse(int argc, char **argv)
{
    static const struct option known[] = {
        { "events", required_argument, NULL, 'e' }, { "bytes", required_argument, NULL, 'b' },
        { "depth", required_argument, NULL, 'd' },  { "seed", required_argument, NULL, 's' },
        { "categories", no_argument, NULL, 'c' },   { NULL, 0, NULL, 0 }
    };
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
        } else if (letter == 'c') {
            options.has_categories = true;
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

static void print_figures(const first_run *run, uint64_t written_bytes)
{
    const struct {
        const char *name;
        uint64_t value;
    } figures[] = { { "events", run->event_count },
                    { "bytes", written_bytes },
                    { "steps", run->steps.start_count },
                    { "segments", run->memory.segment_count },
                    { "reserved_bytes_end", run->memory.reserved_bytes },
                    { "live_bytes_end", run->live_bytes },
                    { "live_blocks_end", run->live_blocks },
                    { "live_bytes_peak", run->live_bytes_peak },
                    { "live_blocks_peak", run->live_blocks_peak },
                    { "events_at_peak", run->events_at_peak } };

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        printf("%s\"%s\":%" PRIu64, i == 0 ? "{" : ",", figures[i].name, figures[i].value);
    }
    printf("}\n");
}

int main(int argc, char **argv)
{
    first_run run = { .options = parse(argc, argv) };
    pool_init(&run.memory);
    const training_listener counter = { .on_event = count_event,
                                        .on_step = note_step,
                                        .ctx = &run };
    training_run(run.options.seed, &run.memory, &counter);

    FILE *const file = fopen(run.options.path, "wb");
    if (file == NULL) {
        fail(strerror(errno), run.options.path);
    }
    const snapshot_facts facts = { .seed = run.options.seed,
                                   .depth = run.options.depth,
                                   .event_count = run.event_count,
                                   .has_categories = run.options.has_categories,
                                   .memory = &run.memory,
                                   .steps = &run.steps };
    const uint64_t written_bytes = snapshot_file_write(file, &facts);
    if (fclose(file) != 0) {
        fail(strerror(errno), run.options.path);
    }
    print_figures(&run, written_bytes);

    pool_deinit(&run.memory);
    free(run.steps.starts_us);
    free(run.steps.ends_us);
    return 0;
}
