/*
 * measures.h - what is measured, the same for every allocator: C17 and C++17.
 *
 * The includer is one side. It defines before this line
 *
 *   static inline uint64_t side_malloc(uint64_t bytes, uint64_t stream);
 *   static inline void side_free(uint64_t addr);
 *   static void side_open(void);                a fresh allocator on one device of 256 GiB
 *   static void side_history(uint64_t events, bool has_stacks);
 *   static void side_listen(void);              attach a listener that only counts
 *   static void side_record(const char *path);  attach what writes a file
 *   static void side_settle(void);              wait until what is written has been written
 *   static uint64_t side_driver_calls(void);    calls that allocate or release device memory
 *   static void side_report(void);              its own account, printed as JSON members
 *   static void side_close(void);
 *
 * and ends with `int main(...) { return measures_main(argc, argv); }`. That the loops are compiled
 * into each side keeps a call through a table out of what is measured.
 */
#ifndef PLIM_BENCH_MEASURES_H
#define PLIM_BENCH_MEASURES_H

#include "loops.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define BATCHES         11
#define BATCH_NS        8000000
#define BATCH_PAIRS_MIN 256
#define BATCH_PAIRS_MAX 20000 /* while a file is written: fewer events than its queue holds */
#define WARM_UP_ROUNDS  64
#define THREADS_MAX     2

/* --- the table --- */

typedef enum bench_shape {
    SHAPE_HOLE,
    SHAPE_SPLIT,
    SHAPE_FIFO,
    SHAPE_LIFO,
    SHAPE_RANDOM,
    SHAPE_LIVE_HOT,  /* many live blocks, work in one corner */
    SHAPE_LIVE_COLD, /* many live blocks, work all over them */
    SHAPE_HOLES,     /* many live blocks and holes, work all over them */
} bench_shape;

typedef struct bench_measure {
    const char *name;
    bench_shape shape;
    uint64_t bytes; /* of pairs */
    uint64_t live;
} bench_measure;

static const bench_measure measure_table[] = {
    { "exact_512", SHAPE_HOLE, 512, 0 },      { "split_512", SHAPE_SPLIT, 512, 0 },
    { "exact_2m", SHAPE_HOLE, 2 * MIB, 0 },   { "split_2m", SHAPE_SPLIT, 2 * MIB, 0 },
    { "mix_fifo", SHAPE_FIFO, 0, 0 },         { "mix_lifo", SHAPE_LIFO, 0, 0 },
    { "mix_random", SHAPE_RANDOM, 0, 0 },     { "live_hot", SHAPE_LIVE_HOT, 512, 1 },
    { "live_cold", SHAPE_LIVE_COLD, 512, 1 }, { "live_holes", SHAPE_HOLES, 0, 1 },
};

static bench_loop *measure_prepare(const bench_measure *measure, bench_work *work, uint64_t live)
{
    work->bytes = measure->bytes;
    switch (measure->shape) {
    case SHAPE_HOLE:
        hole_make(work);
        return loop_pair;
    case SHAPE_SPLIT:
        return loop_pair;
    case SHAPE_FIFO:
        script_fifo(work);
        return loop_script;
    case SHAPE_LIFO:
        script_lifo(work);
        return loop_script;
    case SHAPE_RANDOM:
        script_random(work);
        return loop_script;
    case SHAPE_LIVE_HOT:
        live_make(work, live, false);
        hole_make(work);
        return loop_pair;
    case SHAPE_LIVE_COLD:
        live_make(work, live, false);
        return loop_renew;
    case SHAPE_HOLES:
        holes_make(work, live);
        return loop_churn;
    }
    return loop_pair;
}

/* --- threads --- */

typedef struct bench_crew {
    pthread_barrier_t start;
    bench_loop *loop;
    uint64_t pairs; /* of each */
    bench_work *works[THREADS_MAX];
    uint64_t begin_ns[THREADS_MAX];
    uint64_t end_ns[THREADS_MAX];
    uint64_t done[THREADS_MAX];
} bench_crew;

typedef struct bench_member {
    bench_crew *crew;
    size_t index;
} bench_member;

static void *member_run(void *ctx)
{
    const bench_member *self = (const bench_member *)ctx;
    bench_crew *crew = self->crew;
    const size_t i = self->index;
    (void)pthread_barrier_wait(&crew->start);
    crew->begin_ns[i] = now_ns();
    crew->done[i] = crew->loop(crew->works[i], crew->pairs);
    crew->end_ns[i] = now_ns();
    return NULL;
}

/* Nanoseconds of one batch per pair of one thread; threads start together. */
static double batch_run(bench_crew *crew, size_t threads)
{
    if (threads == 1) {
        const uint64_t begin = now_ns();
        const uint64_t done = crew->loop(crew->works[0], crew->pairs);
        return (double)(now_ns() - begin) / (double)done;
    }
    pthread_t ids[THREADS_MAX];
    bench_member members[THREADS_MAX];
    (void)pthread_barrier_init(&crew->start, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++) {
        members[i].crew = crew;
        members[i].index = i;
        if (pthread_create(&ids[i], NULL, member_run, &members[i]) != 0) {
            die("no thread");
        }
    }
    for (size_t i = 0; i < threads; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    (void)pthread_barrier_destroy(&crew->start);
    double sum = 0;
    for (size_t i = 0; i < threads; i++) {
        sum += (double)(crew->end_ns[i] - crew->begin_ns[i]) / (double)crew->done[i];
    }
    return sum / (double)threads;
}

/* The same below so many more calls: what stacks cost depends on how deep they are. */
__attribute__((noinline)) static double batch_run_below(bench_crew *crew, size_t threads,
                                                        uint64_t depth)
{
    const double ns =
        depth == 0 ? batch_run(crew, threads) : batch_run_below(crew, threads, depth - 1);
    return ns + 0.0 * (double)depth; /* not a tail call */
}

/* --- one run --- */

typedef struct bench_arguments {
    const char *measure;
    uint64_t live;
    uint64_t memory; /* blocks to hold, instead of a measure */
    uint64_t depth;
    uint64_t history; /* events to keep; 0: none */
    size_t threads;
    bool is_mixed;
    bool has_stacks;
    bool has_bystander;
    bool is_listened;
    const char *record;
    uint64_t batch_ns;
} bench_arguments;

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static void warm_up(bench_crew *crew, size_t threads)
{
    for (size_t round = 0; round < WARM_UP_ROUNDS; round++) {
        const uint64_t calls = side_driver_calls();
        for (size_t i = 0; i < threads; i++) {
            (void)crew->loop(crew->works[i], BATCH_PAIRS_MIN);
        }
        if (round > 2 && calls == side_driver_calls()) {
            return;
        }
    }
}

static void listeners_attach(const bench_arguments *arguments)
{
    if (arguments->history != 0) {
        side_history(arguments->history, arguments->has_stacks);
    }
    if (arguments->is_listened) {
        side_listen();
    }
    if (arguments->record != NULL) {
        side_record(arguments->record);
    }
}

/* Threads that fight for a lock are slow only once they really run at once: guess again. */
static void batch_size(bench_crew *crew, const bench_arguments *arguments)
{
    crew->pairs = BATCH_PAIRS_MIN;
    for (size_t i = 0; i < arguments->threads; i++) {
        const double guess = batch_run(crew, arguments->threads);
        const uint64_t pairs = (uint64_t)((double)arguments->batch_ns / guess);
        crew->pairs = pairs < BATCH_PAIRS_MIN ? BATCH_PAIRS_MIN : pairs;
    }
    if (arguments->record != NULL && crew->pairs > BATCH_PAIRS_MAX) {
        crew->pairs = BATCH_PAIRS_MAX;
    }
}

static void measure_run(const bench_measure *measure, const bench_arguments *arguments)
{
    bench_crew crew;
    memset(&crew, 0, sizeof crew);
    for (size_t i = 0; i < arguments->threads; i++) {
        bench_work *work = (bench_work *)take(1, sizeof *work);
        /* Like PyTorch's streams a handle is a pointer to something, 0 the default stream. */
        work->stream = arguments->threads == 1 ? 0 : (uint64_t)(i + 1) << 20;
        work->random = SEED + i;
        crew.works[i] = work;
        crew.loop = measure_prepare(measure, work, arguments->live);
    }
    listeners_attach(arguments);
    warm_up(&crew, arguments->threads);
    batch_size(&crew, arguments);
    const uint64_t calls = side_driver_calls();
    double ns[BATCHES];
    for (size_t i = 0; i < BATCHES; i++) {
        side_settle();
        ns[i] = batch_run_below(&crew, arguments->threads, arguments->depth);
    }
    qsort(ns, BATCHES, sizeof ns[0], compare_doubles);
    printf("{\"measure\":\"%s\",\"ns_min\":%.2f,\"ns_median\":%.2f,\"pairs\":%" PRIu64
           ",\"driver_calls\":%" PRIu64,
           measure->name, ns[0], ns[BATCHES / 2], crew.pairs * BATCHES,
           side_driver_calls() - calls);
    side_report();
    printf("}\n");
    for (size_t i = 0; i < arguments->threads; i++) {
        work_free(crew.works[i]);
    }
}

static uint64_t resident_bytes(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL) {
        die("cannot read /proc/self/statm");
    }
    (void)fclose(file);
    char *second = line; /* "all resident …", in pages */
    (void)strtoull(line, &second, 10);
    return strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What holding many blocks takes from the host; the addresses themselves are not counted. */
static void memory_run(const bench_arguments *arguments)
{
    bench_work work;
    memset(&work, 0, sizeof work);
    work.random = SEED;
    sizes_fill(&work, 9, 15);
    uint64_t *live = (uint64_t *)take(arguments->memory, sizeof *live);
    memset(live, 1, arguments->memory * sizeof *live);
    const uint64_t before = resident_bytes();
    const uint64_t begin = now_ns();
    for (uint64_t i = 0; i < arguments->memory; i++) {
        live[i] = side_malloc(
            arguments->is_mixed ? work.sizes[random_below(&work.random, SIZES)] : 512, 0);
    }
    const double ns = (double)(now_ns() - begin) / (double)arguments->memory;
    printf("{\"measure\":\"memory\",\"blocks\":%" PRIu64 ",\"resident_bytes\":%" PRIu64
           ",\"ns_per_malloc\":%.2f",
           arguments->memory, resident_bytes() - before, ns);
    side_report();
    printf("}\n");
    free(live);
}

static bool flag_parse(bench_arguments *arguments, const char *word)
{
    if (strcmp(word, "--mixed") == 0) {
        arguments->is_mixed = true;
    } else if (strcmp(word, "--listen") == 0) {
        arguments->is_listened = true;
    } else if (strcmp(word, "--bystander") == 0) {
        arguments->has_bystander = true;
    } else if (strcmp(word, "--stacks") == 0) {
        arguments->has_stacks = true;
    } else if (strncmp(word, "--", 2) != 0) {
        arguments->measure = word;
    } else {
        return false;
    }
    return true;
}

static void value_parse(bench_arguments *arguments, const char *word, const char *value)
{
    const uint64_t number = strtoull(value, NULL, 10);
    if (strcmp(word, "--live") == 0) {
        arguments->live = number;
    } else if (strcmp(word, "--memory") == 0) {
        arguments->memory = number;
    } else if (strcmp(word, "--depth") == 0) {
        arguments->depth = number;
    } else if (strcmp(word, "--history") == 0) {
        arguments->history = number;
    } else if (strcmp(word, "--threads") == 0) {
        arguments->threads = number == THREADS_MAX ? THREADS_MAX : 1;
    } else if (strcmp(word, "--batch-ns") == 0) {
        arguments->batch_ns = number;
    } else if (strcmp(word, "--record") == 0) {
        arguments->record = value;
    } else {
        die("unknown option");
    }
}

static void arguments_parse(bench_arguments *arguments, int argc, char **argv)
{
    memset(arguments, 0, sizeof *arguments);
    arguments->threads = 1;
    arguments->live = 1000;
    arguments->batch_ns = BATCH_NS;
    arguments->measure = "";
    for (int i = 1; i < argc; i++) {
        if (!flag_parse(arguments, argv[i])) {
            value_parse(arguments, argv[i], i + 1 < argc ? argv[i + 1] : "");
            i++;
        }
    }
}

static void *bystander_run(void *ctx)
{
    (void)pause();
    return ctx;
}

/* A process with a second thread, as all that train are, locks in earnest: the C library leaves
 * out what only one thread does not need. */
static void bystander_start(void)
{
    pthread_t id;
    if (pthread_create(&id, NULL, bystander_run, NULL) != 0 || pthread_detach(id) != 0) {
        die("no thread");
    }
}

static int measures_main(int argc, char **argv)
{
    bench_arguments arguments;
    arguments_parse(&arguments, argc, argv);
    side_open();
    if (arguments.has_bystander) {
        bystander_start();
    }
    if (arguments.memory != 0) {
        listeners_attach(&arguments);
        memory_run(&arguments);
        side_close();
        return 0;
    }
    for (size_t i = 0; i < sizeof measure_table / sizeof measure_table[0]; i++) {
        if (strcmp(arguments.measure, measure_table[i].name) == 0) {
            measure_run(&measure_table[i], &arguments);
            side_close();
            return 0;
        }
    }
    die("unknown measure");
    return 1;
}

#endif
