/*
 * test_run.c - whole rehearsals and searches from C: figures, callbacks, and no leak and no folder
 * left behind when an allocation fails.
 */
#include "harness.h"

#include "base/units.h"
#include "rehearse/folder.h"
#include "rehearse/rehearsal.h"

#include "plimsoll/rehearse.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Set by CMake: T_HOME, folder of the stand-ins; T_PROGRAM, an ELF file that wants CUDA. */

#define CAPACITY GIB

/* In the place of Python: it has no PyTorch, and one object that wants CUDA. */
static const char python_script[] =
    "#!/bin/sh\necho '{\"torch\": null, \"cuda\": null, \"cudnn\": null, \"nccl\": null,"
    " \"objects\": [\"" T_PROGRAM "\"]}'\n";

static char outside[PLIM_PATH_BYTES];
static char python[PLIM_PATH_BYTES];

static void set_up(void)
{
    static const char *const inside[] = { "tmp", NULL };
    char base[PLIM_PATH_BYTES];
    signal(SIGPIPE, SIG_IGN);
    T_EQ_I64(unsetenv("TMPDIR"), 0);
    T_EQ_I64(plim_folder_make(outside, sizeof outside, inside, NULL), PLIM_OK);
    T_EQ_I64(plim_folder_join(base, sizeof base, outside, "tmp", NULL), PLIM_OK);
    T_EQ_I64(setenv("TMPDIR", base, 1), 0);
    T_EQ_I64(plim_folder_join(python, sizeof python, outside, "python", NULL), PLIM_OK);
    FILE *file = fopen(python, "we");
    T_NOT_NULL(file);
    T_TRUE(fputs(python_script, file) >= 0);
    T_EQ_I64(fclose(file), 0);
    T_EQ_I64(chmod(python, 0700), 0);
}

static size_t folders_left(void)
{
    size_t count = 0;
    DIR *folder = opendir(getenv("TMPDIR"));
    T_NOT_NULL(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

static void tear_down(void)
{
    T_EQ_U64(folders_left(), 0);
    T_EQ_I64(unsetenv("TMPDIR"), 0);
    plim_folder_remove(outside);
}

static plim_rehearse_options make_options(const plim_mem *mem)
{
    return (plim_rehearse_options){
        .mem = mem, .python = python, .home = T_HOME, .capacity_bytes = CAPACITY
    };
}

/* ---- one rehearsal --------------------------------------------------------------------------- */

static void take_output(void *ctx, int stream, const char *data, size_t bytes)
{
    char *const text = ctx;
    T_EQ_I64(stream, 0); /* both streams go nowhere, so they are one */
    (void)strncat(text, data, bytes);
}

static void a_rehearsal_has_a_verdict_and_gives_output_to_a_callback(void)
{
    static const struct {
        const char *mib;
        plim_rehearsed_verdict verdict;
        const char *output;
    } rows[] = {
        { "100", PLIM_REHEARSED_FITS, "info 0" },
        { "2048", PLIM_REHEARSED_OUT_OF_MEMORY, "out of memory" },
    };
    static const int nowhere[] = { -1, -1 };
    set_up();
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].mib);
        const char *const argv[] = { T_PROGRAM, "alloc", rows[i].mib, "info", NULL };
        const plim_rehearse_options options = make_options(NULL);
        char text[1024] = "";
        const plim_launch_options launch = { .outputs = nowhere,
                                             .output = take_output,
                                             .output_ctx = text };
        plim_rehearsed rehearsed;
        T_EQ_I64(plim_rehearse(argv, &options, &launch, &rehearsed, NULL), PLIM_OK);
        T_EQ_I64(plim_rehearsed_judge(&rehearsed), rows[i].verdict);
        T_EQ_I64(rehearsed.exit_status == 0, rows[i].verdict == PLIM_REHEARSED_FITS);
        T_TRUE(rehearsed.launched.seconds > 0);
        T_TRUE(strstr(text, rows[i].output) != NULL);
        plim_rehearsed_deinit(&rehearsed);
    }
    tear_down();
}

static void a_rehearsal_that_cannot_be_leaves_nothing(void)
{
    set_up();
    plim_rehearse_options options = make_options(NULL);
    options.record_path = "run.txt";
    const char *const argv[] = { T_PROGRAM, "alloc", "1", NULL };
    plim_rehearsed rehearsed;
    T_EQ_I64(plim_rehearse(argv, &options, NULL, &rehearsed, NULL), PLIM_INVALID_ARGUMENT);
    T_NULL(rehearsed.rehearsal);
    options.record_path = "run.plim"; /* and without PyTorch nothing is recorded */
    plim_error err = { 0 };
    T_EQ_I64(plim_rehearse(argv, &options, NULL, &rehearsed, &err), PLIM_UNSUPPORTED);
    T_TRUE(strstr(err.message, "nothing was recorded") != NULL);
    plim_rehearsed_deinit(&rehearsed);
    tear_down();
}

/* ---- its need -------------------------------------------------------------------------------- */

static plim_rehearsed run_out(const char *const *argv, const plim_mem *mem)
{
    static const int nowhere[] = { -1, -1 };
    const plim_rehearse_options options = make_options(mem);
    const plim_launch_options launch = { .outputs = nowhere };
    plim_rehearsed rehearsed;
    T_EQ_I64(plim_rehearse(argv, &options, &launch, &rehearsed, NULL), PLIM_OK);
    T_EQ_I64(plim_rehearsed_judge(&rehearsed), PLIM_REHEARSED_OUT_OF_MEMORY);
    T_NULL(rehearsed.need);
    return rehearsed;
}

static void the_need_of_a_program_is_found_without_the_limit(void)
{
    static const struct {
        const char *argv[8];
        uint64_t least_bytes;
        const char *why_at_least;
        const char *why_unknown;
    } rows[] = {
        { { T_PROGRAM, "alloc", "2048" }, 2 * GIB, NULL, NULL },
        { { T_PROGRAM, "alloc", "2048", "fail", "7" }, 2 * GIB, "exit status 7", NULL },
        { { T_PROGRAM, "alloc", "2048", "alloc", "400000" }, 2 * GIB, "256 GiB were not", NULL },
        { { T_PROGRAM, "alloc", "400000" }, 0, NULL, "256 GiB were not" },
        { { T_PROGRAM, "alloc", "2048", "unknown" }, 0, NULL, "no stand-in" },
    };
    set_up();
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("row %zu", i);
        plim_rehearsed rehearsed = run_out(rows[i].argv, NULL);
        const plim_rehearse_options options = make_options(NULL);
        T_EQ_I64(plim_rehearse_need(&rehearsed, &options, NULL), PLIM_OK);
        const plim_rehearsed_need *const need = rehearsed.need;
        T_NOT_NULL(need);
        T_TRUE(need->peak.device_bytes >= rows[i].least_bytes);
        T_EQ_I64(need->why_at_least != NULL, rows[i].why_at_least != NULL);
        T_EQ_I64(need->why_unknown != NULL, rows[i].why_unknown != NULL);
        T_TRUE(need->why_at_least == NULL ||
               strstr(need->why_at_least, rows[i].why_at_least) != NULL);
        T_TRUE(need->why_unknown == NULL || strstr(need->why_unknown, rows[i].why_unknown) != NULL);
        T_FALSE(need->asks_for_free);
        T_EQ_U64(rehearsed.outcome->capacity_bytes, CAPACITY); /* the first answer stays */
        plim_rehearsed_deinit(&rehearsed);
    }
    tear_down();
}

static bool attempt_need(const plim_mem *mem, void *ctx)
{
    plim_rehearsed *const rehearsed = ctx;
    const plim_rehearse_options options = make_options(mem);
    const plim_status status = plim_rehearse_need(rehearsed, &options, NULL);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_TRUE(status != PLIM_OK || rehearsed->need->why_unknown == NULL);
    T_EQ_U64(folders_left(), 1); /* that of the first run */
    return status == PLIM_OK;
}

static void a_need_without_memory_fails_cleanly(void)
{
    static const char *const argv[] = { T_PROGRAM, "alloc", "2048", "fail", "7", NULL };
    set_up();
    plim_rehearsed rehearsed = run_out(argv, NULL);
    t_fail_each_allocation(attempt_need, &rehearsed);
    plim_rehearsed_deinit(&rehearsed);
    tear_down();
}

/* ---- its advice ------------------------------------------------------------------------------ */

#define EXPORT "export PYTORCH_CUDA_ALLOC_CONF="

/* As one who has PyTorch would know it: the program has none. */
static plim_rehearsed run_out_with_advice(uint64_t allocated_bytes)
{
    static const char *const argv[] = { T_PROGRAM, "alloc", "2048", NULL };
    static const plim_advice advice[] = {
        { "raise-memory-fraction", "", NULL, "" },
        { "empty-cache", "", "torch.cuda.empty_cache()", "" },
        { "native-allocator", "", EXPORT "backend:native,expandable_segments:True", "" },
        { "cuda-malloc-async", "", EXPORT "backend:cudaMallocAsync", "" },
        { "unknown-setting", "", EXPORT "no_such_setting:1", "" },
        { "expandable-segments", "", EXPORT "expandable_segments:True", "" },
        { "max-split-size", "", EXPORT "max_split_size_mb:512", "" },
        { "gc-threshold", "", EXPORT "garbage_collection_threshold:0.8", "" },
    };
    static const plim_oom_message message = { .advice = advice, .advice_count = T_COUNT(advice) };
    static plim_rehearsed_need need;
    plim_rehearsed rehearsed = run_out(argv, NULL);
    need = (plim_rehearsed_need){
        .peak = { allocated_bytes, 2 * CAPACITY, 2 * CAPACITY + MIB },
    };
    rehearsed.need = &need;
    rehearsed.message = &message;
    return rehearsed;
}

static void advised_settings_are_tried_where_they_can_help(void)
{
    static const char *const expected[] = { "expandable_segments:True", "max_split_size_mb:512" };
    set_up();
    const plim_rehearse_options options = make_options(NULL);
    plim_rehearsed rehearsed = run_out_with_advice(CAPACITY / 2);
    T_EQ_I64(plim_rehearse_advised(&rehearsed, &options, NULL), PLIM_OK);
    T_EQ_U64(rehearsed.tried_count, T_COUNT(expected));
    for (size_t i = 0; i < T_COUNT(expected); i++) {
        T_EQ_STR(rehearsed.tried[i].settings, expected[i]);
        T_EQ_I64(rehearsed.tried[i].verdict, PLIM_REHEARSED_OUT_OF_MEMORY);
        T_TRUE(rehearsed.tried[i].peak.device_bytes > 0);
        T_TRUE(rehearsed.tried[i].has_all);
    }
    T_EQ_U64(folders_left(), 1); /* that of the first run */
    plim_rehearsed_deinit(&rehearsed);
    rehearsed = run_out_with_advice(CAPACITY);
    T_EQ_I64(plim_rehearse_advised(&rehearsed, &options, NULL), PLIM_OK);
    T_EQ_U64(rehearsed.tried_count, 0); /* nothing that is reserved and unused is in the way */
    plim_rehearsed_deinit(&rehearsed);
    tear_down();
}

static bool attempt_advised(const plim_mem *mem, void *ctx)
{
    plim_rehearsed *const rehearsed = ctx;
    const plim_rehearse_options options = make_options(mem);
    const plim_status status = plim_rehearse_advised(rehearsed, &options, NULL);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_TRUE(status != PLIM_OK || rehearsed->tried_count == PLIM_TRIED_MAX);
    T_EQ_U64(folders_left(), 1);
    return status == PLIM_OK;
}

static void advice_without_memory_fails_cleanly(void)
{
    set_up();
    plim_rehearsed rehearsed = run_out_with_advice(CAPACITY / 2);
    t_fail_each_allocation(attempt_advised, &rehearsed);
    plim_rehearsed_deinit(&rehearsed);
    tear_down();
}

/* ---- what waits for streams ------------------------------------------------------------------ */

/* Ended well; then as if blocks had waited. */
static plim_rehearsed wait_for_streams(const char *const *argv, uint64_t waiting_bytes,
                                       plim_rehearsed_gpu *gpu)
{
    static const int nowhere[] = { -1, -1 };
    const plim_rehearse_options options = make_options(NULL);
    const plim_launch_options launch = { .outputs = nowhere };
    plim_rehearsed rehearsed;
    T_EQ_I64(plim_rehearse(argv, &options, &launch, &rehearsed, NULL), PLIM_OK);
    T_EQ_I64(plim_rehearsed_judge(&rehearsed), PLIM_REHEARSED_FITS);
    *gpu = rehearsed.outcome->gpus[0];
    gpu->waiting_bytes = waiting_bytes;
    gpu->peak.high_bytes += waiting_bytes;
    rehearsed.rehearsal->outcome.gpus = gpu;
    return rehearsed;
}

static void only_a_bound_beyond_the_capacity_is_worth_a_second_run(void)
{
    static const char *const argv[] = { T_PROGRAM, "alloc", "100", NULL };
    set_up();
    for (uint64_t waiting = 0; waiting <= 2 * GIB; waiting += GIB / 8) {
        T_CASE("%llu", (unsigned long long)waiting);
        plim_rehearsed_gpu gpu;
        plim_rehearsed rehearsed = wait_for_streams(argv, waiting, &gpu);
        const plim_rehearse_options options = make_options(NULL);
        const bool is_tight = gpu.peak.high_bytes > CAPACITY;
        T_EQ_I64(plim_rehearsed_judge(&rehearsed) == PLIM_REHEARSED_TIGHT, is_tight);
        T_EQ_I64(plim_rehearse_late(&rehearsed, &options, NULL), PLIM_OK);
        T_EQ_I64(rehearsed.late != NULL, is_tight);
        T_EQ_I64(plim_rehearsed_judge(&rehearsed), PLIM_REHEARSED_FITS);
        if (is_tight) { /* nothing waited in truth */
            T_NULL(rehearsed.late->why_unknown);
            T_FALSE(rehearsed.late->ran_out);
            T_EQ_U64(rehearsed.outcome->gpus[0].waiting_bytes, 0);
            T_EQ_U64(rehearsed.outcome->gpus[0].peak.high_bytes, gpu.peak.high_bytes - waiting);
        }
        plim_rehearsed_deinit(&rehearsed);
    }
    tear_down();
}

/* A program that ended well is judged without its output: lack of memory for that is no failure. */
static void a_late_run_without_memory_fails_cleanly(void)
{
    static const char *const argv[] = { T_PROGRAM, "alloc", "100", NULL };
    set_up();
    plim_rehearsed_gpu gpu;
    plim_rehearsed rehearsed = wait_for_streams(argv, GIB, &gpu);
    plim_status status = PLIM_OUT_OF_HOST_MEMORY;
    bool has_failed = true;
    for (uint64_t n = 1; has_failed; n++) {
        T_CASE("allocation %llu", (unsigned long long)n);
        t_mem heap;
        t_mem_init(&heap);
        heap.fail_at = n;
        const plim_rehearse_options options = make_options(&heap.mem);
        rehearsed.late = NULL;
        rehearsed.rehearsal->outcome.gpus = &gpu;
        status = plim_rehearse_late(&rehearsed, &options, NULL);
        T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
        T_EQ_I64(status == PLIM_OK, rehearsed.late != NULL);
        T_EQ_I64(status == PLIM_OK, rehearsed.outcome->gpus != &gpu);
        T_EQ_U64(heap.live_bytes, 0);
        T_EQ_U64(folders_left(), 1); /* that of the first run */
        has_failed = heap.failed;
    }
    T_EQ_I64(status, PLIM_OK);
    plim_rehearsed_deinit(&rehearsed);
    tear_down();
}

/* So that a second run cannot last for ever. */
static void a_command_that_takes_too_long_is_ended(void)
{
    char sleep[] = "sleep";
    char seconds[] = "1000";
    char *const argv[] = { sleep, seconds, NULL };
    const plim_launch_options options = { .seconds_max = 0.05 };
    plim_launched launched;
    T_EQ_I64(plim_launch(argv, &options, &launched, NULL), PLIM_OK);
    T_TRUE(launched.timed_out);
    T_EQ_I64(launched.signal, SIGTERM);
    plim_launched_deinit(&launched);
}

/* ---- searches -------------------------------------------------------------------------------- */

static const char *const searched[] = { T_PROGRAM, "alloc", "{}", NULL };

static void count_try(void *ctx, const plim_rehearse_try *one)
{
    T_TRUE(one->value > 0);
    ++*(size_t *)ctx;
}

static void the_largest_value_is_found(void)
{
    set_up();
    size_t calls = 0;
    const plim_rehearse_search_options options = { .rehearse = make_options(NULL),
                                                   .tried = count_try,
                                                   .tried_ctx = &calls };
    plim_rehearse_tries tries;
    T_EQ_I64(plim_rehearse_search(searched, &options, &tries, NULL), PLIM_OK);
    T_TRUE(tries.best > 100 && tries.best < 1024); /* MiB, beside the context */
    T_EQ_U64(calls, tries.count);
    T_EQ_U64(tries.capacity_bytes, CAPACITY);
    bool has_next = false;
    for (size_t i = 0; i < tries.count; i++) {
        const plim_rehearse_try *one = &tries.items[i];
        T_TRUE(i == 0 || one->value > one[-1].value);
        T_EQ_I64(one->verdict == PLIM_REHEARSED_FITS, one->value <= tries.best);
        has_next = has_next || one->value == tries.best + 1;
    }
    T_TRUE(has_next);
    plim_rehearse_tries_deinit(&tries);
    tear_down();
}

static void a_failure_of_another_kind_stops_a_search(void)
{
    static const char *const failing[] = { T_PROGRAM, "alloc", "{}", "info", "fail", "7", NULL };
    static const char *const placeless[] = { T_PROGRAM, "alloc", "1", NULL };
    static const uint64_t values[] = { 1, 2 };
    set_up();
    const plim_rehearse_search_options options = { .rehearse = make_options(NULL),
                                                   .values = values,
                                                   .value_count = T_COUNT(values) };
    plim_rehearse_tries tries;
    plim_error err = { 0 };
    T_EQ_I64(plim_rehearse_search(failing, &options, &tries, &err), PLIM_UNSUPPORTED);
    T_TRUE(strstr(err.message, "stopped at 1") != NULL);
    T_EQ_U64(tries.count, 1);
    T_TRUE(tries.output_bytes > 0 && memcmp(tries.output, "info", 4) == 0);
    plim_rehearse_tries_deinit(&tries);
    T_EQ_I64(plim_rehearse_search(placeless, &options, &tries, &err), PLIM_INVALID_ARGUMENT);
    plim_rehearse_tries_deinit(&tries);
    tear_down();
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    static const uint64_t values[] = { 2048 };
    const plim_rehearse_search_options options = { .rehearse = make_options(mem),
                                                   .values = values,
                                                   .value_count = T_COUNT(values) };
    plim_rehearse_tries tries;
    plim_error err = { 0 };
    const plim_status status = plim_rehearse_search(searched, &options, &tries, &err);
    if (status != PLIM_OK && status != PLIM_OUT_OF_HOST_MEMORY) {
        fail_msg("lack of memory is reported as \"%s\"", err.message);
    }
    T_TRUE(status != PLIM_OK || tries.items[0].verdict == PLIM_REHEARSED_OUT_OF_MEMORY);
    plim_rehearse_tries_deinit(&tries);
    T_EQ_U64(folders_left(), 0);
    return status == PLIM_OK;
}

static void nothing_leaks_when_memory_runs_out(void)
{
    set_up();
    t_fail_each_allocation(attempt, NULL);
    tear_down();
}

T_MAIN(T_TEST(the_need_of_a_program_is_found_without_the_limit),
       T_TEST(a_need_without_memory_fails_cleanly),
       T_TEST(advised_settings_are_tried_where_they_can_help),
       T_TEST(advice_without_memory_fails_cleanly),
       T_TEST(only_a_bound_beyond_the_capacity_is_worth_a_second_run),
       T_TEST(a_late_run_without_memory_fails_cleanly),
       T_TEST(a_command_that_takes_too_long_is_ended),
       T_TEST(a_rehearsal_has_a_verdict_and_gives_output_to_a_callback),
       T_TEST(a_rehearsal_that_cannot_be_leaves_nothing), T_TEST(the_largest_value_is_found),
       T_TEST(a_failure_of_another_kind_stops_a_search), T_TEST(nothing_leaks_when_memory_runs_out))
