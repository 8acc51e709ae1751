/*
 * bench_plim_write.c - what recording costs: the thread that tells, the thread that writes, the
 * file.
 *
 * One thread tells what a training program does: blocks of many sizes, freed in the order of a
 * backward pass, each with one of some hundred stacks. Three runs, one line of JSON:
 *
 *   flood   as fast as it goes: what does not fit is dropped, and what is taken is as much as one
 *           writer sustains
 *   paced   five million events a second, in batches of 512: nothing should be dropped
 *   calls   bursts into an empty queue, with the time that making up the events takes subtracted:
 *           what one call costs the allocator
 */
#include "plimsoll/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIVE_BLOCKS  2000u
#define STACKS       400u
#define EVENTS       20000000u
#define PACE         5000000u
#define BATCH        512u
#define BURST        8192u
#define BURSTS       400u
#define QUICK_EVENTS 100000u
#define QUICK_BURSTS 4u

typedef struct producer {
    plim_event_sink sink;
    uint64_t random;
    uint64_t time_ns;
    uint64_t live; /* blocks of the stack below */
    bool is_freeing;
    bool is_requested; /* the free of the block on top */
    uint32_t sizes[LIVE_BLOCKS];
    uint64_t addrs[LIVE_BLOCKS];
} producer;

static uint64_t next_random(producer *p)
{
    p->random = p->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return p->random >> 33;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The next event of a program that allocates up to LIVE_BLOCKS and frees the newest first. */
static void produce(producer *p)
{
    plim_event event = { .device = 0, .stack = PLIM_NONE };
    p->time_ns += 500 + next_random(p) % 4000;
    event.time_ns = (int64_t)p->time_ns;
    if (!p->is_freeing) {
        const uint64_t bytes = 1000 + next_random(p) % 4000000;
        p->sizes[p->live] = (uint32_t)bytes;
        p->addrs[p->live] = UINT64_C(0x7f0000000000) + next_random(p) % (1u << 25) * 512;
        event.action = PLIM_ALLOC;
        event.stack = (uint32_t)(next_random(p) % STACKS);
        event.addr = p->addrs[p->live];
        p->live++;
        p->is_freeing = p->live == LIVE_BLOCKS;
        event.bytes = bytes;
    } else {
        event.action = p->is_requested ? PLIM_FREE_COMPLETED : PLIM_FREE_REQUESTED;
        event.addr = p->addrs[p->live - 1];
        event.bytes = p->sizes[p->live - 1];
        p->live -= p->is_requested ? 1 : 0;
        p->is_requested = !p->is_requested;
        p->is_freeing = p->live > 0 || p->is_requested;
    }
    event.block_bytes = (event.bytes + 511) / 512 * 512;
    event.is_small = event.bytes <= (1u << 20);
    p->sink.event(p->sink.ctx, &event);
}

static void tell_stacks(const producer *p)
{
    for (uint32_t i = 0; i < STACKS; i++) {
        uint64_t addresses[24];
        for (size_t k = 0; k < 24; k++) {
            addresses[k] = 0x400000 + i * 64 + k;
        }
        const plim_stack_record stack = { .id = i, .addresses = addresses, .address_count = 24 };
        p->sink.stack(p->sink.ctx, &stack);
    }
}

/* What making up events costs by itself. */
static void ignore(void *ctx, const plim_event *event)
{
    *(volatile uint64_t *)ctx = event->addr;
}

static double time_burst(producer *p)
{
    const uint64_t from = now_ns();
    for (uint32_t i = 0; i < BURST; i++) {
        produce(p);
    }
    return (double)(now_ns() - from) / BURST;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The median over bursts of nanoseconds an event, the queue being empty before each. */
static double time_bursts(producer *p, plim_recorder *recorder, uint32_t bursts)
{
    double *const times = calloc(bursts, sizeof *times);
    if (times == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < bursts; i++) {
        if (recorder != NULL) {
            (void)plim_recorder_flush(recorder, NULL);
        }
        times[i] = time_burst(p);
    }
    qsort(times, bursts, sizeof *times, compare);
    const double median = times[bursts / 2];
    free(times);
    return median;
}

/* --- runs --- */

typedef struct flow {
    uint64_t events;
    double seconds;
    plim_recorder_counts counts;
} flow;

/* Tells events, at most `rate` a second (0: no limit), until all that was taken is written. */
static flow run_flow(producer *p, plim_recorder *recorder, uint64_t events, uint64_t rate)
{
    const uint64_t from = now_ns();
    for (uint64_t i = 0; i < events; i++) {
        if (rate != 0 && i % BATCH == 0) {
            while ((now_ns() - from) * rate < i * 1000000000u) {
            }
        }
        produce(p);
    }
    (void)plim_recorder_flush(recorder, NULL);
    return (flow){ .events = events,
                   .seconds = (double)(now_ns() - from) / 1e9,
                   .counts = plim_recorder_count(recorder) };
}

static plim_recorder *start(producer *p, const char *path)
{
    const plim_recorder_options options = { .leaves_out_frames = true };
    plim_recorder *recorder = NULL;
    plim_error err = { 0 };
    if (plim_recorder_start(path, &options, &recorder, &err) != PLIM_OK) {
        (void)fprintf(stderr, "bench_plim_write: %s\n", err.message);
        exit(1);
    }
    memset(p, 0, sizeof *p);
    p->random = 7;
    p->time_ns = UINT64_C(1700000000000000000);
    p->sink = plim_recorder_sink(recorder);
    tell_stacks(p);
    return recorder;
}

static void finish(plim_recorder *recorder, const char *path)
{
    plim_error err = { 0 };
    if (plim_recorder_stop(recorder, &err) != PLIM_OK) {
        (void)fprintf(stderr, "bench_plim_write: %s\n", err.message);
        exit(1);
    }
    (void)unlink(path);
}

static void print_flow(const char *name, const flow *run)
{
    const double taken = (double)run->counts.events;
    (void)printf("\"%s\": {\"events\": %" PRIu64 ", \"seconds\": %.3f, "
                 "\"taken_per_second\": %.0f, \"dropped_share\": %.6f, "
                 "\"bytes_per_event\": %.2f}, ",
                 name, run->events, run->seconds, taken / run->seconds,
                 (double)run->counts.dropped / (double)run->events,
                 (double)run->counts.written_bytes / taken);
}

int main(int argc, char **argv)
{
    static producer p;
    const bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const uint64_t events = is_quick ? QUICK_EVENTS : EVENTS;
    const uint32_t bursts = is_quick ? QUICK_BURSTS : BURSTS;
    const char *const folder = getenv("TMPDIR");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/plimsoll-bench-%ld.plim",
                   folder != NULL ? folder : "/tmp", (long)getpid());

    plim_recorder *recorder = start(&p, path);
    const flow flood = run_flow(&p, recorder, events, 0);
    finish(recorder, path);
    recorder = start(&p, path);
    const flow paced = run_flow(&p, recorder, events, PACE);
    finish(recorder, path);
    recorder = start(&p, path);
    const double told_ns = time_bursts(&p, recorder, bursts);
    finish(recorder, path);
    uint64_t ignored = 0;
    p.sink = (plim_event_sink){ .event = ignore, .ctx = &ignored };
    const double made_up_ns = time_bursts(&p, NULL, bursts);

    (void)printf("{\"schema\": \"bench_plim_write/1\", ");
    print_flow("flood", &flood);
    print_flow("paced", &paced);
    (void)printf("\"call_ns\": %.1f}\n", told_ns - made_up_ns);
    return 0;
}
