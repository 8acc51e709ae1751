/*
 * table.c - reading gpus.tsv: three sections, [capabilities], [gpus] and
 * [speeds]; docs/formats/gpus.md.
 */
#include "gpus/table.h"

#include "base/tsv.h"
#include "base/units.h"

#include <string.h>

#define CAPABILITY_MAX 99
#define GIGA           UINT64_C(1000000000)

/* "8.9" */
static plim_status read_capability(plim_tsv *file, plim_tsv_field field)
{
    plim_gpus_row *const row = file->row;
    plim_tsv_field rest = field;
    plim_tsv_field major = { 0 };
    uint64_t numbers[2] = { 0 };
    if (!plim_tsv_cut(&rest, '.', &major) || rest.text == NULL ||
        !plim_tsv_number(major, CAPABILITY_MAX, &numbers[0]) ||
        !plim_tsv_number(rest, CAPABILITY_MAX, &numbers[1])) {
        return plim_tsv_fail(file, "'%.*s' is not a capability such as 9.0", (int)field.bytes,
                             field.text);
    }
    row->gpu.capability_major = (uint32_t)numbers[0];
    row->gpu.capability_minor = (uint32_t)numbers[1];
    return PLIM_OK;
}

uint64_t plim_gpu_allocator_bytes(const plim_gpu *gpu)
{
    return gpu->memory_bytes - gpu->context_bytes - gpu->kernels_bytes - gpu->cublas_bytes;
}

const char *plim_gpu_evidence_name(plim_gpu_evidence evidence)
{
    static const char *const names[] = { [PLIM_GPU_MODELLED] = "modelled",
                                         [PLIM_GPU_CHECKED] = "checked",
                                         [PLIM_GPU_MEASURED] = "measured" };
    return evidence <= PLIM_GPU_MEASURED ? names[evidence] : "modelled";
}

static plim_status read_evidence(plim_tsv *file, plim_tsv_field field)
{
    plim_gpus_row *const row = file->row;
    for (plim_gpu_evidence i = PLIM_GPU_MODELLED; i <= PLIM_GPU_MEASURED; i++) {
        if (plim_tsv_is(field, plim_gpu_evidence_name(i))) {
            row->gpu.context_evidence = i;
            return PLIM_OK;
        }
    }
    return plim_tsv_fail(file, "context_is is '%.*s', not modelled, checked or measured",
                         (int)field.bytes, field.text);
}

static plim_status read_speed_evidence(plim_tsv *file, plim_tsv_field field)
{
    plim_gpus_row *const row = file->row;
    row->gpu.are_speeds_published = plim_tsv_is(field, "published");
    return row->gpu.are_speeds_published || plim_tsv_is(field, "derived")
               ? PLIM_OK
               : plim_tsv_fail(file, "speeds_are is '%.*s', not published or derived",
                               (int)field.bytes, field.text);
}

#define FIGURE(bits, name, field, unit, limit)                                                     \
    {                                                                                              \
        name, PLIM_TSV_U##bits, false, offsetof(plim_gpus_row, gpu.field), limit, unit, NULL, NULL \
    }
#define CHARS(name, may_be_empty, field, bytes)                                                  \
    {                                                                                            \
        name, PLIM_TSV_CHARS, may_be_empty, offsetof(plim_gpus_row, field), bytes, 0, NULL, NULL \
    }
#define CAPABILITY                                                            \
    {                                                                         \
        .name = "capability", .kind = PLIM_TSV_OTHER, .read = read_capability \
    }

static const plim_tsv_column capability_columns[] = {
    CAPABILITY,
    FIGURE(32, "threads", threads_per_multiprocessor, 1, 4096),
    FIGURE(32, "blocks", blocks_per_multiprocessor, 1, 64),
    FIGURE(32, "shared_kib", shared_bytes_per_multiprocessor, KIB, 1024),
    FIGURE(32, "shared_block_kib", shared_bytes_per_block_optin, KIB, 1024),
    FIGURE(64, "kernels_mib", kernels_bytes, MIB, 4096),
    FIGURE(64, "cublas_mib", cublas_bytes, MIB, 4096),
    FIGURE(64, "cudnn_mib", cudnn_bytes, MIB, 4096),
    FIGURE(64, "nccl_mib", nccl_bytes, MIB, 4096),
    { .name = "source" },
};

static const plim_tsv_column gpu_columns[] = {
    CHARS("key", false, gpu.key, PLIM_GPU_KEY_BYTES),
    CHARS("name", false, gpu.name, PLIM_GPU_NAME_BYTES),
    FIGURE(64, "memory_mib", memory_bytes, MIB, 1 << 22),
    FIGURE(64, "nominal_gib", nominal_bytes, GIB, 1 << 12),
    CAPABILITY,
    FIGURE(32, "multiprocessors", multiprocessors, 1, 1024),
    FIGURE(32, "l2_kib", l2_bytes, KIB, 1 << 20),
    FIGURE(32, "bus_bits", bus_bits, 1, 1 << 16),
    FIGURE(32, "clock_mhz", clock_khz, 1000, 10000),
    FIGURE(32, "memory_clock_mhz", memory_clock_khz, 1000, 100000),
    FIGURE(64, "context_mib", context_bytes, MIB, 4096),
    { .name = "context_is", .kind = PLIM_TSV_OTHER, .read = read_evidence },
    { "driver_mib", PLIM_TSV_U64, true, offsetof(plim_gpus_row, gpu.driver_bytes), 4096, MIB, NULL,
      NULL },
    CHARS("aliases", true, aliases, PLIM_GPUS_ALIASES_BYTES),
    { .name = "source" },
};

static const plim_tsv_column speed_columns[] = {
    CHARS("key", false, gpu.key, PLIM_GPU_KEY_BYTES),
    FIGURE(64, "fp32_gflops", fp32_flops, GIGA, 1 << 20),
    { "tf32_gflops", PLIM_TSV_U64, true, offsetof(plim_gpus_row, gpu.tf32_flops), 1 << 24, GIGA,
      NULL, NULL },
    FIGURE(64, "half_gflops", half_flops, GIGA, 1 << 24),
    FIGURE(64, "bandwidth_gbs", memory_bytes_per_second, GIGA, 1 << 16),
    FIGURE(64, "link_gbs", link_bytes_per_second, GIGA, 1 << 12),
    { .name = "speeds_are", .kind = PLIM_TSV_OTHER, .read = read_speed_evidence },
    { .name = "source" },
};

static const plim_gpu *find_capability(const plim_gpus_table *table, const plim_gpu *gpu)
{
    for (size_t i = 0; i < table->capability_count; i++) {
        const plim_gpu *capability = &table->capabilities[i];
        if (capability->capability_major == gpu->capability_major &&
            capability->capability_minor == gpu->capability_minor) {
            return capability;
        }
    }
    return NULL;
}

static plim_status add_capability(plim_tsv *file)
{
    plim_gpus_table *const table = file->ctx;
    const plim_gpu *const gpu = &((const plim_gpus_row *)file->row)->gpu;
    if (find_capability(table, gpu) != NULL) {
        return plim_tsv_fail(file, "capability %u.%u stands twice", gpu->capability_major,
                             gpu->capability_minor);
    }
    if (table->capability_count == PLIM_GPUS_CAPABILITIES_MAX) {
        return plim_tsv_fail(file, "more than %d capabilities", PLIM_GPUS_CAPABILITIES_MAX);
    }
    table->capabilities[table->capability_count++] = *gpu;
    return PLIM_OK;
}

static plim_status add_gpu(plim_tsv *file)
{
    plim_gpus_table *const table = file->ctx;
    plim_gpus_row *const row = file->row;
    plim_gpu *const gpu = &row->gpu;
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].gpu.key, gpu->key) == 0) {
            return plim_tsv_fail(file, "key '%s' stands twice", gpu->key);
        }
    }
    const plim_gpu *const capability = find_capability(table, gpu);
    if (capability == NULL) {
        return plim_tsv_fail(file, "capability %u.%u has no row", gpu->capability_major,
                             gpu->capability_minor);
    }
    if (table->count == PLIM_GPUS_MAX) {
        return plim_tsv_fail(file, "more than %d GPUs", PLIM_GPUS_MAX);
    }
    gpu->threads_per_multiprocessor = capability->threads_per_multiprocessor;
    gpu->blocks_per_multiprocessor = capability->blocks_per_multiprocessor;
    gpu->shared_bytes_per_multiprocessor = capability->shared_bytes_per_multiprocessor;
    gpu->shared_bytes_per_block_optin = capability->shared_bytes_per_block_optin;
    gpu->kernels_bytes = capability->kernels_bytes;
    gpu->cublas_bytes = capability->cublas_bytes;
    gpu->cudnn_bytes = capability->cudnn_bytes;
    gpu->nccl_bytes = capability->nccl_bytes;
    table->rows[table->count++] = *row;
    return PLIM_OK;
}

static plim_status add_speed(plim_tsv *file)
{
    plim_gpus_table *const table = file->ctx;
    const plim_gpu *const speed = &((const plim_gpus_row *)file->row)->gpu;
    for (size_t i = 0; i < table->count; i++) {
        plim_gpu *const gpu = &table->rows[i].gpu;
        if (strcmp(gpu->key, speed->key) != 0) {
            continue;
        }
        if (gpu->fp32_flops > 0) {
            return plim_tsv_fail(file, "key '%s' stands twice", gpu->key);
        }
        gpu->fp32_flops = speed->fp32_flops;
        gpu->tf32_flops = speed->tf32_flops;
        gpu->half_flops = speed->half_flops;
        gpu->memory_bytes_per_second = speed->memory_bytes_per_second;
        gpu->link_bytes_per_second = speed->link_bytes_per_second;
        gpu->are_speeds_published = speed->are_speeds_published;
        return PLIM_OK;
    }
    return plim_tsv_fail(file, "there is no GPU '%s'", speed->key);
}

plim_status plim_gpus_table_read(const char *const *lines, plim_gpus_table *table, plim_error *err)
{
#define COUNT(columns) (sizeof(columns) / sizeof(columns)[0])
    static const plim_tsv_section sections[] = {
        { "[capabilities]", capability_columns, COUNT(capability_columns), add_capability },
        { "[gpus]", gpu_columns, COUNT(gpu_columns), add_gpu },
        { "[speeds]", speed_columns, COUNT(speed_columns), add_speed },
    };
    plim_gpus_row row;
    plim_tsv file = { .name = "gpus.tsv",
                      .lines = lines,
                      .row = &row,
                      .row_bytes = sizeof row,
                      .ctx = table,
                      .err = err };
    return plim_tsv_read(&file, sections, COUNT(sections));
}
