/*
 * test_gpus.c - the table of GPUs: every row plausible, every name findable, bad rows refused.
 */
#include "base/units.h"
#include "gpus/table.h"
#include "harness.h"

static bool is_found_as(const char *name, const char *key)
{
    const plim_gpu *gpu = NULL;
    return plim_gpu_find(name, &gpu, NULL) == PLIM_OK && strcmp(gpu->key, key) == 0;
}

static void finds_by_any_spelling(void)
{
    static const struct {
        const char *name;
        const char *key;
    } cases[] = {
        { "h100", "h100" },
        { "NVIDIA H100 80GB HBM3", "h100" },
        { "H100-SXM", "h100" },
        { "h100_pcie", "h100-pcie" },
        { "4090", "rtx4090" },
        { "rtx-4090", "rtx4090" },
        { "RTX 4090", "rtx4090" },
        { "NVIDIA GeForce RTX 4090", "rtx4090" },
        { "GeForce RTX 2080 Ti", "rtx2080-ti" },
        { "2080ti", "rtx2080-ti" },
        { "Tesla T4", "t4" },
        { "NVIDIA A100-SXM4-80GB", "a100-80gb" },
        { "A100 80GB", "a100-80gb" },
        { "A100 80GB PCIe", "a100-80gb-pcie" },
        { "RTX A6000", "rtxa6000" },
        { "A6000", "rtxa6000" },
        { "RTX 6000 Ada", "rtx6000-ada" },
        { "RTX PRO 6000", "rtxpro6000" },
        { "TITAN RTX", "titan-rtx" },
        { "NVIDIA DGX Spark", "gb10" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        T_TRUE(is_found_as(cases[i].name, cases[i].key));
    }
}

static void every_key_finds_its_own_row(void)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        T_CASE("%s", plim_gpu_at(i)->key);
        T_TRUE(is_found_as(plim_gpu_at(i)->key, plim_gpu_at(i)->key));
    }
    T_TRUE(plim_gpu_count() >= 45);
    T_NULL(plim_gpu_at(plim_gpu_count()));
}

/* Names of drivers are for finding too; where two GPUs share one, the error names both. */
static void every_name_finds_its_row_or_says_between_which(void)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *wanted = plim_gpu_at(i);
        const plim_gpu *gpu = NULL;
        plim_error err = { 0 };
        T_CASE("%s", wanted->name);
        if (plim_gpu_find(wanted->name, &gpu, &err) == PLIM_OK) {
            T_EQ_STR(gpu->name, wanted->name);
        } else {
            T_NOT_NULL(strstr(err.message, wanted->key));
        }
    }
}

static void refuses_names_of_none_and_of_several(void)
{
    static const struct {
        const char *name;
        const char *says;
    } cases[] = {
        { "a100", "several GPUs are called 'a100': a100-40gb, a100-40gb-pcie, a100-80gb, "
                  "a100-80gb-pcie" },
        { "RTX 3080", "several GPUs are called 'RTX 3080': rtx3080-10gb, rtx3080-12gb" },
        { "RTX 6000", "several GPUs are called 'RTX 6000': rtx6000-ada, rtxpro6000" },
        { "h1000", "no GPU is called 'h1000'; near to it: h100" },
        { "4091", "no GPU is called '4091'; near to it: rtx4090" },
        { "toaster", "no GPU is called 'toaster'; names are such as" },
        { "", "no GPU is called ''; names are such as" },
        { "NVIDIA", "no GPU is called 'NVIDIA'; names are such as" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        const plim_gpu *gpu = NULL;
        plim_error err = { 0 };
        T_EQ_U64(plim_gpu_find(cases[i].name, &gpu, &err), PLIM_INVALID_ARGUMENT);
        T_NULL(gpu);
        if (strncmp(err.message, cases[i].says, strlen(cases[i].says)) != 0) {
            T_EQ_STR(err.message, cases[i].says);
        }
    }
    T_EQ_U64(plim_gpu_find(NULL, &(const plim_gpu *){ NULL }, NULL), PLIM_INVALID_ARGUMENT);
}

static void survives_a_name_of_any_length(void)
{
    char name[4096];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const plim_gpu *gpu = NULL;
    plim_error err = { 0 };
    T_EQ_U64(plim_gpu_find(name, &gpu, &err), PLIM_INVALID_ARGUMENT);
}

/* What a driver keeps of the memory: nothing would be a figure of Windows, much a slip. */
static void memory_is_a_little_less_than_nominal(void)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *gpu = plim_gpu_at(i);
        T_CASE("%s: %" PRIu64 " MiB of %" PRIu64 " GiB", gpu->key, gpu->memory_bytes / MIB,
               gpu->nominal_bytes / GIB);
        T_TRUE(gpu->memory_bytes < gpu->nominal_bytes);
        T_TRUE(gpu->memory_bytes > gpu->nominal_bytes * 9 / 10);
    }
}

/*
 * A context keeps memory for every thread that can be resident: the figures of public
 * measurements are within a tenth of 10 MiB + 1.92 KiB a thread, docs/formats/gpus.md.
 */
static void contexts_follow_their_model(void)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *gpu = plim_gpu_at(i);
        const uint64_t threads = (uint64_t)gpu->multiprocessors * gpu->threads_per_multiprocessor;
        const uint64_t model = 10 * MIB + threads * 1966;
        /* Two of capability 10.0 and one GPU of 2026 were measured to take more. */
        const uint64_t most =
            gpu->capability_major == 10 || gpu->context_evidence == PLIM_GPU_MEASURED ? 13 : 11;
        T_CASE("%s: %" PRIu64 " MiB", gpu->key, gpu->context_bytes / MIB);
        T_TRUE(gpu->context_bytes > model * 9 / 10 && gpu->context_bytes < model * most / 10);
    }
}

/* What a driver keeps and what programs can have are together what nvidia-smi calls total. */
static void drivers_keep_less_than_a_gibibyte(void)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *gpu = plim_gpu_at(i);
        T_CASE("%s: %" PRIu64 " MiB", gpu->key, gpu->driver_bytes / MIB);
        T_TRUE(gpu->driver_bytes < GIB);
        T_TRUE(gpu->driver_bytes > 0 || strcmp(gpu->key, "gb10") == 0);
        T_TRUE(gpu->memory_bytes + gpu->driver_bytes <= gpu->nominal_bytes);
    }
}

/* Public messages of 2026 say how much more than the context a process takes, by capability. */
static void libraries_are_one_figure_by_capability(void)
{
    static const struct {
        const char *key;
        uint64_t mib;
    } cases[] = {
        { "v100-32gb", 67 }, { "t4", 50 },    { "a100-80gb", 92 }, { "rtx3090", 52 },
        { "rtx4090", 71 },   { "h100", 165 }, { "rtx5090", 93 },   { "b200", 66 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        const plim_gpu *gpu = NULL;
        T_CASE("%s", cases[i].key);
        T_EQ_U64(plim_gpu_find(cases[i].key, &gpu, NULL), PLIM_OK);
        T_EQ_U64(gpu->kernels_bytes + gpu->cublas_bytes + gpu->cudnn_bytes, cases[i].mib * MIB);
        T_TRUE(gpu->cublas_bytes == 12 * MIB && gpu->cudnn_bytes < 10 * MIB);
    }
}

static void names_the_evidence(void)
{
    T_EQ_STR(plim_gpu_evidence_name(PLIM_GPU_MODELLED), "modelled");
    T_EQ_STR(plim_gpu_evidence_name(PLIM_GPU_CHECKED), "checked");
    T_EQ_STR(plim_gpu_evidence_name(PLIM_GPU_MEASURED), "measured");
}

static void figures_are_plausible(void)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *gpu = plim_gpu_at(i);
        T_CASE("%s", gpu->key);
        T_TRUE(gpu->multiprocessors >= 10 && gpu->multiprocessors <= 192);
        T_TRUE(gpu->threads_per_multiprocessor % 32 == 0);
        T_TRUE(gpu->shared_bytes_per_block_optin <= gpu->shared_bytes_per_multiprocessor);
        T_TRUE(gpu->bus_bits % 32 == 0 && gpu->bus_bits >= 128);
        T_TRUE(gpu->l2_bytes >= 2 * MIB);
        T_TRUE(gpu->clock_khz >= 1000000 && gpu->clock_khz <= 3000000);
        T_TRUE(gpu->memory_clock_khz >= 500000 && gpu->memory_clock_khz <= 16000000);
        T_TRUE(gpu->kernels_bytes > 0 && gpu->cublas_bytes > 0 && gpu->cudnn_bytes > 0 &&
               gpu->nccl_bytes > 0);
    }
}

static bool is_near(uint64_t value, double wanted, double share)
{
    return (double)value > wanted * (1 - share) && (double)value < wanted * (1 + share);
}

/* Peaks follow from cores, clocks and buses, to what data sheets round and which clock they take.
 */
static void speeds_follow_from_cores_and_buses(void)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *gpu = plim_gpu_at(i);
        const bool has_128 = gpu->capability_major > 8 || gpu->capability_minor > 5;
        const uint32_t cores = gpu->multiprocessors * (has_128 ? 128 : 64);
        T_CASE("%s: %" PRIu64 " GFLOPS, %" PRIu64 " GB/s", gpu->key, gpu->fp32_flops / 1000000000,
               gpu->memory_bytes_per_second / 1000000000);
        T_TRUE(is_near(gpu->fp32_flops, 2e3 * cores * gpu->clock_khz, 0.13));
        const double doubled = strcmp(gpu->key, "gb10") == 0 ? 1 : 2;
        T_TRUE(is_near(gpu->memory_bytes_per_second,
                       doubled * 1e3 / 8 * gpu->bus_bits * gpu->memory_clock_khz, 0.04));
        T_TRUE(gpu->capability_major >= 8 ? gpu->tf32_flops >= gpu->fp32_flops
                                          : gpu->tf32_flops == 0);
        T_TRUE(gpu->half_flops >= gpu->tf32_flops * 19 / 10);
        T_TRUE(gpu->link_bytes_per_second >= UINT64_C(8000000000));
    }
}

#define SPEEDS  \
    "[speeds]", \
        "key\tfp32_gflops\ttf32_gflops\thalf_gflops\tbandwidth_gbs\tlink_gbs\tspeeds_are\tsource"
#define CAPABILITIES                                                                      \
    "[capabilities]",                                                                     \
        "capability\tthreads\tblocks\tshared_kib\tshared_block_kib\tkernels_mib\tcublas_" \
        "mib\tcudnn_mib\t"                                                                \
        "nccl_mib\tsource",                                                               \
        "9.0\t2048\t32\t228\t227\t60\t80\t96\t170\tx"
#define GPUS                                                                                \
    "[gpus]",                                                                               \
        "key\tname\tmemory_mib\tnominal_gib\tcapability\tmultiprocessors\tl2_kib\tbus_bits" \
        "\tclock_mhz\tmemory_clock_mhz\tcontext_mib\tcontext_is\tdriver_mib\taliases\tsource"
#define ROW_OF(key, memory, capability, evidence, driver)                                      \
    key "\tName\t" memory "\t80\t" capability "\t132\t51200\t5120\t1980\t2619\t517\t" evidence \
        "\t" driver "\t\tsource"
#define ROW(key, memory, capability) ROW_OF(key, memory, capability, "checked", "478")

static void refuses_bad_rows(void)
{
    static const struct {
        const char *lines[12];
        const char *says;
    } cases[] = {
        { { "h100\tx" }, "gpus.tsv:1: a row before any section" },
        { { "[toasters]" }, "gpus.tsv:1: there is no section [toasters]" },
        { { "[gpus]", "name\tkey" }, "gpus.tsv:2: column 1 must be 'key'" },
        { { CAPABILITIES, "9.0\t2048\t32\t228\t227\t60\t80\t96\t170\tx" },
          "gpus.tsv:4: capability 9.0 stands twice" },
        { { CAPABILITIES, "9\t2048\t32\t228\t227\t60\t80\t96\t170\tx" },
          "gpus.tsv:4: '9' is not a capability such as 9.0" },
        { { CAPABILITIES, GPUS, ROW("h", "81081", "9.0.1") },
          "gpus.tsv:6: '9.0.1' is not a capability such as 9.0" },
        { { CAPABILITIES, GPUS, ROW("h", "81081", "100.0") },
          "gpus.tsv:6: '100.0' is not a capability such as 9.0" },
        { { CAPABILITIES, GPUS, ROW("h", "81081", "8.0") },
          "gpus.tsv:6: capability 8.0 has no row" },
        { { CAPABILITIES, GPUS, ROW("h", "0", "9.0") },
          "gpus.tsv:6: memory_mib is '0', not a number from 1 to 4194304" },
        { { CAPABILITIES, GPUS, ROW("h", "-1", "9.0") },
          "gpus.tsv:6: memory_mib is '-1', not a number from 1 to 4194304" },
        { { CAPABILITIES, GPUS, ROW("h", "99999999999999999999999", "9.0") },
          "gpus.tsv:6: memory_mib is '99999999999999999999999', not a number from 1 to 4194304" },
        { { CAPABILITIES, GPUS, ROW("", "1", "9.0") }, "gpus.tsv:6: key is empty" },
        { { CAPABILITIES, GPUS, ROW("h12345678901234567890123456789012", "1", "9.0") },
          "gpus.tsv:6: key has more than 31 bytes" },
        { { CAPABILITIES, GPUS, ROW_OF("h", "1", "9.0", "guessed", "478") },
          "gpus.tsv:6: context_is is 'guessed', not modelled, checked or measured" },
        { { CAPABILITIES, GPUS, ROW_OF("h", "1", "9.0", "", "478") },
          "gpus.tsv:6: context_is is empty" },
        { { CAPABILITIES, GPUS, ROW_OF("h", "1", "9.0", "measured", "0") },
          "gpus.tsv:6: driver_mib is '0', not a number from 1 to 4096" },
        { { CAPABILITIES, GPUS, ROW("h", "1", "9.0") "\tmore" },
          "gpus.tsv:6: 16 fields, where a row has 15" },
        { { CAPABILITIES, GPUS, ROW("h", "1", "9.0"), ROW("h", "1", "9.0") },
          "gpus.tsv:7: key 'h' stands twice" },
        { { CAPABILITIES, GPUS, ROW("h", "1", "9.0"), SPEEDS, "j\t1\t\t1\t1\t1\tderived\tx" },
          "gpus.tsv:9: there is no GPU 'j'" },
        { { CAPABILITIES, GPUS, ROW("h", "1", "9.0"), SPEEDS, "h\t1\t\t1\t1\t1\tguessed\tx" },
          "gpus.tsv:9: speeds_are is 'guessed', not published or derived" },
        { { CAPABILITIES, GPUS, "h\tName\t1" }, "gpus.tsv:6: 3 fields, where a row has 15" },
    };
    static plim_gpus_table table;
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].says);
        plim_error err = { 0 };
        memset(&table, 0, sizeof table);
        T_EQ_U64(plim_gpus_table_read(cases[i].lines, &table, &err), PLIM_CORRUPT);
        T_EQ_STR(err.message, cases[i].says);
    }
}

static void reads_a_row(void)
{
    static const char *const lines[] = {
        "# words",
        "",
        CAPABILITIES,
        GPUS,
        ROW("h", "81081", "9.0"),
        SPEEDS,
        "h\t66900\t494700\t989400\t3350\t64\tpublished\tx",
        NULL,
    };
    static plim_gpus_table table;
    T_EQ_U64(plim_gpus_table_read(lines, &table, NULL), PLIM_OK);
    T_EQ_U64(table.count, 1);
    const plim_gpu *gpu = &table.rows[0].gpu;
    T_EQ_STR(gpu->key, "h");
    T_EQ_U64(gpu->memory_bytes, 81081 * MIB);
    T_EQ_U64(gpu->nominal_bytes, 80 * GIB);
    T_EQ_U64(gpu->capability_major, 9);
    T_EQ_U64(gpu->capability_minor, 0);
    T_EQ_U64(gpu->shared_bytes_per_block_optin, 227 * 1024);
    T_EQ_U64(gpu->clock_khz, 1980000);
    T_EQ_U64(gpu->context_bytes, 517 * MIB);
    T_EQ_U64(gpu->context_evidence, PLIM_GPU_CHECKED);
    T_EQ_U64(gpu->driver_bytes, 478 * MIB);
    T_EQ_U64(gpu->nccl_bytes, 170 * MIB);
    T_EQ_STR(table.rows[0].aliases, "");
    T_EQ_U64(gpu->fp32_flops, UINT64_C(66900000000000));
    T_EQ_U64(gpu->half_flops, UINT64_C(989400000000000));
    T_EQ_U64(gpu->memory_bytes_per_second, UINT64_C(3350000000000));
    T_EQ_U64(gpu->link_bytes_per_second, UINT64_C(64000000000));
    T_TRUE(gpu->are_speeds_published);
}

T_MAIN(T_TEST(finds_by_any_spelling), T_TEST(every_key_finds_its_own_row),
       T_TEST(every_name_finds_its_row_or_says_between_which),
       T_TEST(refuses_names_of_none_and_of_several), T_TEST(survives_a_name_of_any_length),
       T_TEST(memory_is_a_little_less_than_nominal), T_TEST(contexts_follow_their_model),
       T_TEST(drivers_keep_less_than_a_gibibyte), T_TEST(libraries_are_one_figure_by_capability),
       T_TEST(names_the_evidence), T_TEST(figures_are_plausible),
       T_TEST(speeds_follow_from_cores_and_buses), T_TEST(refuses_bad_rows), T_TEST(reads_a_row))
