/*
 * test_device_use.c - error bars of device use: made-up devices, and what others measured.
 *
 * PLIM_DEVICE_USE names a file of public measurements, one JSON object a line, with the members
 * that are read below; without it the tests that need one skip themselves. A measurement of an
 * "overhead" is a process of a known GPU with what PyTorch reserved in it; of a "context" one that
 * did nothing else.
 */
#include "harness.h"

#include "base/arena.h"
#include "base/numbers.h"
#include "base/units.h"
#include "rehearse/device_use.h"
#include "json/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- made up --------------------------------------------------------------------------------- */

static const plim_gpu round_gpu = { .context_bytes = 400 * MIB,
                                    .context_evidence = PLIM_GPU_MEASURED };

static plim_stage_figures with(plim_stage_use use, uint64_t bytes)
{
    plim_stage_figures figures = { .peak_bytes = 8 * GIB + 400 * MIB + bytes };
    figures.at_peak_bytes[PLIM_STAGE_PROGRAM] = 8 * GIB;
    figures.at_peak_bytes[PLIM_STAGE_CONTEXT] = 400 * MIB;
    figures.at_peak_bytes[use] += bytes;
    return figures;
}

static void a_bar_encloses_what_is_expected(void)
{
    for (int use = 0; use < PLIM_STAGE_USES; use++) {
        T_CASE("use %d", use);
        const plim_stage_figures figures = with((plim_stage_use)use, 200 * MIB);
        const plim_rehearsed_bar bar = plim_device_use_bar(&round_gpu, &figures);
        T_EQ_U64(bar.expected_bytes, figures.peak_bytes);
        T_TRUE(bar.low_bytes < bar.expected_bytes && bar.expected_bytes < bar.high_bytes);
    }
}

static void a_device_without_programs_has_no_bar(void)
{
    const plim_stage_figures figures = { 0 };
    const plim_rehearsed_bar bar = plim_device_use_bar(&round_gpu, &figures);
    T_EQ_U64(bar.low_bytes, 0);
    T_EQ_U64(bar.high_bytes, 0);
    T_EQ_U64(plim_device_use_doubt(&round_gpu, &figures), PLIM_REHEARSED_DOUBT_NOTHING);
}

static void a_modelled_context_has_a_wider_bar_than_a_measured_one(void)
{
    const plim_stage_figures figures = with(PLIM_STAGE_CONTEXT, 0);
    plim_gpu modelled = round_gpu;
    modelled.context_evidence = PLIM_GPU_MODELLED;
    const plim_rehearsed_bar narrow = plim_device_use_bar(&round_gpu, &figures);
    const plim_rehearsed_bar wide = plim_device_use_bar(&modelled, &figures);
    T_TRUE(wide.low_bytes < narrow.low_bytes && wide.high_bytes > narrow.high_bytes);
    T_TRUE(narrow.high_bytes - narrow.low_bytes < 40 * MIB);
}

static void doubts_of_programs_count(void)
{
    plim_stage_figures figures = with(PLIM_STAGE_CONTEXT, 0);
    const plim_rehearsed_bar before = plim_device_use_bar(&round_gpu, &figures);
    figures.modelled_below_bytes = 100 * MIB;
    figures.modelled_above_bytes = 700 * MIB;
    const plim_rehearsed_bar after = plim_device_use_bar(&round_gpu, &figures);
    T_EQ_U64(before.low_bytes - after.low_bytes, 100 * MIB);
    T_EQ_U64(after.high_bytes - before.high_bytes, 700 * MIB);
    T_EQ_U64(plim_device_use_doubt(&round_gpu, &figures), PLIM_REHEARSED_DOUBT_REQUESTS);
    figures.waiting_bytes = 300 * MIB;
    const plim_rehearsed_bar late = plim_device_use_bar(&round_gpu, &figures);
    T_EQ_U64(late.high_bytes - after.high_bytes, 300 * MIB);
    T_EQ_U64(late.low_bytes, after.low_bytes);
}

static void the_doubt_is_what_makes_most_of_the_bar(void)
{
    static const struct {
        plim_stage_use use;
        plim_rehearsed_doubt doubt;
    } cases[] = {
        { PLIM_STAGE_MODULES, PLIM_REHEARSED_DOUBT_MODULES },
        { PLIM_STAGE_GRAPHS, PLIM_REHEARSED_DOUBT_GRAPHS },
        { PLIM_STAGE_NCCL, PLIM_REHEARSED_DOUBT_NCCL },
        { PLIM_STAGE_LIBRARIES, PLIM_REHEARSED_DOUBT_LIBRARIES },
        { PLIM_STAGE_CONTEXT, PLIM_REHEARSED_DOUBT_CONTEXT },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("case %zu", i);
        const plim_stage_figures figures = with(cases[i].use, 500 * MIB);
        T_EQ_U64(plim_device_use_doubt(&round_gpu, &figures), cases[i].doubt);
    }
}

static void a_bar_beyond_capacity_or_margin_is_tight(void)
{
    static const struct {
        uint64_t high_bytes;
        uint64_t margin_bytes;
        plim_rehearsed_verdict verdict;
    } cases[] = {
        { 23 * GIB, 0, PLIM_REHEARSED_FITS },        { 24 * GIB, 0, PLIM_REHEARSED_FITS },
        { 24 * GIB + 1, 0, PLIM_REHEARSED_TIGHT },   { 23 * GIB, GIB, PLIM_REHEARSED_FITS },
        { 23 * GIB, GIB + 1, PLIM_REHEARSED_TIGHT }, { 23 * GIB, UINT64_MAX, PLIM_REHEARSED_TIGHT },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("case %zu", i);
        const plim_rehearsed_gpu gpu = {
            .peak_bytes = 22 * GIB,
            .program_bytes = 21 * GIB,
            .peak = { 21 * GIB, 22 * GIB, cases[i].high_bytes },
        };
        const plim_rehearsed_process process = { .ended = "exit" };
        const plim_rehearsal_outcome outcome = { .gpu = &round_gpu,
                                                 .capacity_bytes = 24 * GIB,
                                                 .margin_bytes = cases[i].margin_bytes,
                                                 .device_count = 1,
                                                 .gpus = &gpu,
                                                 .processes = &process,
                                                 .process_count = 1 };
        const plim_rehearsed rehearsed = { .outcome = &outcome };
        T_EQ_U64(plim_rehearsed_judge(&rehearsed), cases[i].verdict);
    }
}

/* ---- measured -------------------------------------------------------------------------------- */

#define ROWS_MAX   1024u
#define LINE_BYTES 8192u

typedef struct row {
    const plim_gpu *gpu;
    const char *source;
    const char *id;
    double measured_bytes; /* of the device */
    double total_bytes;    /* 0: not known */
    double resolution_bytes;
    plim_rehearsed_bar bar;
    double overhead_bytes; /* of the figures: beyond the context */
} row;

static struct {
    plim_arena arena;
    row rows[ROWS_MAX];
    size_t count;
} they;

static bool is_text(yajl_val object, const char *key, const char *text)
{
    const char *found = YAJL_GET_STRING(plim_json_get(object, key));
    return found != NULL && strcmp(found, text) == 0;
}

static const plim_gpu *gpu_of(yajl_val object)
{
    const char *key = YAJL_GET_STRING(plim_json_get(object, "gpu_key"));
    const plim_gpu *gpu = NULL;
    return key != NULL && plim_gpu_find(key, &gpu, NULL) == PLIM_OK ? gpu : NULL;
}

/* One process on one GPU, no server, kernels loaded as they are called, counted by NVML. */
static bool is_plain_process(yajl_val object)
{
    return is_text(object, "kind", "overhead") && is_text(object, "measured", "process") &&
           plim_json_get_u64(object, "ranks") == 1 && !is_text(object, "program", "server") &&
           !is_text(object, "program", "server asleep") &&
           !is_text(object, "program", "llama.cpp") &&
           plim_json_get_u64(object, "device_bytes") > 0 &&
           plim_json_get(object, "overhead_excludes_context") == NULL;
}

static bool is_context(yajl_val object)
{
    const char *loading = YAJL_GET_STRING(plim_json_get(object, "loading"));
    return is_text(object, "kind", "context") && loading != NULL &&
           strncmp(loading, "lazy", 4) == 0;
}

static uint64_t sum(const plim_stage_figures *figures)
{
    uint64_t all = 0;
    for (int use = 0; use < PLIM_STAGE_USES; use++) {
        all += figures->at_peak_bytes[use];
    }
    return all;
}

/* A message does not say whether the process had called a kernel yet, which a rehearsal
 * knows: its bar reaches from that of a process without to that of one with. */
static plim_rehearsed_bar bar_of(const plim_gpu *gpu, uint64_t reserved_bytes, bool has_libraries)
{
    plim_stage_figures figures = { 0 };
    figures.at_peak_bytes[PLIM_STAGE_PROGRAM] = reserved_bytes;
    figures.at_peak_bytes[PLIM_STAGE_CONTEXT] = gpu->context_bytes;
    figures.peak_bytes = sum(&figures);
    plim_rehearsed_bar bar = plim_device_use_bar(gpu, &figures);
    if (has_libraries) {
        const uint64_t low_bytes = bar.low_bytes;
        figures.at_peak_bytes[PLIM_STAGE_LIBRARIES] =
            gpu->kernels_bytes + gpu->cublas_bytes + gpu->cudnn_bytes;
        figures.peak_bytes = sum(&figures);
        bar = plim_device_use_bar(gpu, &figures);
        bar.low_bytes = plim_min(low_bytes, bar.low_bytes);
    }
    return bar;
}

static void keep(yajl_val object, bool takes_contexts)
{
    plim_json_copier copier = { .arena = &they.arena };
    const plim_gpu *gpu = gpu_of(object);
    const bool is_wanted = takes_contexts ? is_context(object) : is_plain_process(object);
    if (gpu == NULL || !is_wanted || they.count == ROWS_MAX) {
        return;
    }
    const uint64_t reserved = takes_contexts ? 0 : plim_json_get_u64(object, "reserved_bytes");
    const double measured =
        plim_json_get_double(object, takes_contexts ? "context_bytes" : "device_bytes");
    they.rows[they.count++] = (row){
        .gpu = gpu,
        .source = plim_json_get_string(object, "source", &copier),
        .id = plim_json_get_string(object, "id", &copier),
        .measured_bytes = measured,
        .total_bytes = plim_json_get_double(object, "total_bytes"),
        .resolution_bytes = plim_json_get_double(object, "resolution_bytes"),
        .bar = bar_of(gpu, reserved, !takes_contexts),
        .overhead_bytes = measured - (double)reserved - (double)gpu->context_bytes,
    };
}

static void read_measurements(bool takes_contexts)
{
    static char line[LINE_BYTES];
    const char *path = getenv("PLIM_DEVICE_USE");
    if (path == NULL || path[0] == '\0') {
        T_SKIP("PLIM_DEVICE_USE names no file of measurements");
        return;
    }
    FILE *file = fopen(path, "re");
    T_NOT_NULL(file);
    plim_arena_init(&they.arena, &plim_mem_heap);
    they.count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        yajl_val object = NULL;
        T_EQ_U64(plim_json_read_text(path, line, &object, NULL), PLIM_OK);
        keep(object, takes_contexts);
        yajl_tree_free(object);
    }
    (void)fclose(file);
    T_TRUE(they.count >= 5);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, size_t count, double share)
{
    qsort(values, count, sizeof *values, by_value);
    return values[(size_t)(share * (double)(count - 1))];
}

static bool is_within(const row *one)
{
    return one->measured_bytes >= (double)one->bar.low_bytes - one->resolution_bytes &&
           one->measured_bytes <= (double)one->bar.high_bytes + one->resolution_bytes;
}

static double share_within(void)
{
    size_t within = 0;
    for (size_t i = 0; i < they.count; i++) {
        within += is_within(&they.rows[i]);
        if (!is_within(&they.rows[i])) {
            print_message("outside: %s, %s: %.0f MiB measured, %.0f to %.0f\n", they.rows[i].id,
                          they.rows[i].gpu->key, they.rows[i].measured_bytes / MIB,
                          (double)they.rows[i].bar.low_bytes / MIB,
                          (double)they.rows[i].bar.high_bytes / MIB);
        }
    }
    return (double)within / (double)they.count;
}

/* The libraries' figure of a capability as the median of all rows but those of one source. */
static double libraries_without(const row *left_out)
{
    double values[ROWS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < they.count; i++) {
        const row *one = &they.rows[i];
        if (one->gpu->capability_major == left_out->gpu->capability_major &&
            one->gpu->capability_minor == left_out->gpu->capability_minor &&
            strcmp(one->source, left_out->source) != 0) {
            values[count++] = one->overhead_bytes;
        }
    }
    return count > 0 ? quantile(values, count, 0.5)
                     : (double)(left_out->gpu->kernels_bytes + left_out->gpu->cublas_bytes +
                                left_out->gpu->cudnn_bytes);
}

static void processes_are_within_their_bars(void)
{
    double errors[ROWS_MAX];
    double shares[ROWS_MAX];
    double widths[ROWS_MAX];
    double left_out[ROWS_MAX];
    size_t roomy = 0;
    size_t tight = 0;
    read_measurements(false);
    for (size_t i = 0; i < they.count; i++) {
        const row *one = &they.rows[i];
        const double expected = (double)one->bar.expected_bytes;
        errors[i] = fabs(one->measured_bytes - expected);
        shares[i] = errors[i] / one->measured_bytes;
        widths[i] = (double)(one->bar.high_bytes - one->bar.low_bytes) / expected;
        left_out[i] = fabs(one->overhead_bytes - libraries_without(one));
        if (expected <= 0.9 * one->total_bytes) {
            roomy++;
            tight += (double)one->bar.high_bytes > one->total_bytes;
        }
    }
    const size_t count = they.count;
    const double within = share_within();
    const double error = quantile(errors, count, 0.5) / MIB;
    const double share = quantile(shares, count, 0.5);
    const double width = quantile(widths, count, 0.5);
    const double wide = quantile(widths, count, 0.9);
    print_message("%zu processes: off by %.1f MiB (%.2f %%) in the median, %.1f MiB with each "
                  "source left out of the fit; %.1f %% within the bars; widths %.1f %% in the "
                  "median, %.1f %% at nine tenths; of %zu with a tenth to spare %zu are tight\n",
                  count, error, 100 * share, quantile(left_out, count, 0.5) / MIB, 100 * within,
                  100 * width, 100 * wide, roomy, tight);
    plim_arena_deinit(&they.arena);
    T_TRUE(error <= 60 && share <= 0.04);
    T_TRUE(within >= 0.9);
    T_TRUE(width <= 0.06 && wide <= 0.12);
    T_TRUE(tight * 20 <= roomy);
}

static void contexts_are_near_the_table(void)
{
    double errors[ROWS_MAX];
    double widths[ROWS_MAX];
    read_measurements(true);
    for (size_t i = 0; i < they.count; i++) {
        const plim_rehearsed_bar *bar = &they.rows[i].bar;
        const double expected = (double)bar->expected_bytes;
        errors[i] = fabs(they.rows[i].measured_bytes - expected) / expected;
        widths[i] = (double)(bar->high_bytes - bar->low_bytes) / expected;
    }
    const double within = share_within();
    const double error = quantile(errors, they.count, 0.5);
    const double width = quantile(widths, they.count, 0.5);
    print_message("%zu contexts: off by %.1f %% in the median, %.1f %% within the bars, of %.1f %% "
                  "width\n",
                  they.count, 100 * error, 100 * within, 100 * width);
    plim_arena_deinit(&they.arena);
    T_TRUE(error <= 0.04 && within >= 0.75 && width <= 0.12);
}

T_MAIN(T_TEST(a_bar_encloses_what_is_expected), T_TEST(a_device_without_programs_has_no_bar),
       T_TEST(a_modelled_context_has_a_wider_bar_than_a_measured_one),
       T_TEST(a_bar_beyond_capacity_or_margin_is_tight), T_TEST(doubts_of_programs_count),
       T_TEST(the_doubt_is_what_makes_most_of_the_bar), T_TEST(processes_are_within_their_bars),
       T_TEST(contexts_are_near_the_table))
