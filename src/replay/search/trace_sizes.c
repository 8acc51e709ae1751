/*
 * trace_sizes.c - see trace_sizes.h. Sizes are counted in bins, not collected: a trace may have
 * as many sizes as requests.
 */
#include "replay/search/trace_sizes.h"

#include "base/error.h"
#include "base/units.h"
#include "settings/rounding.h"

static void count_size(plim_trace_sizes *sizes, uint64_t requested_bytes)
{
    if (requested_bytes == 0 || requested_bytes >= PLIM_REQUEST_BYTES_END) {
        return;
    }
    const uint64_t bytes = plim_round_plain(requested_bytes);
    const uint64_t mib = bytes / MIB;
    sizes->mib_bytes[mib < PLIM_SIZES_MIB ? mib : PLIM_SIZES_MIB - 1] += bytes;
    const size_t interval = plim_roundup_interval(bytes);
    /* Interval 0 has all below 2 MiB, the others one power of two; the last one what is above. */
    const uint64_t first = interval == 0 ? 0 : MIB << interval;
    const uint64_t width = interval == 0 ? 2 * MIB : MIB << interval;
    const uint64_t part = (bytes - first) / (width / PLIM_SIZES_PARTS);
    sizes->parts_bytes[interval * PLIM_SIZES_PARTS +
                       (part < PLIM_SIZES_PARTS ? part : PLIM_SIZES_PARTS - 1)] += bytes;
    sizes->total_bytes += bytes;
    if (bytes > PLIM_SMALL_BYTES_MAX && bytes < PLIM_LARGE_BYTES_MIN) {
        sizes->middle_bytes += bytes;
    }
}

static void count_program(plim_trace_sizes *sizes, const plim_program *program)
{
    for (size_t i = 0; i < program->start.allocations.count; i++) {
        count_size(sizes, program->start.allocations.items[i].requested_bytes);
    }
    for (size_t i = 0; i < program->ops.count; i++) {
        const plim_op *const op = &program->ops.items[i];
        if (op->kind == PLIM_OP_ALLOC || op->kind == PLIM_OP_TRY) {
            count_size(sizes, op->bytes);
        }
    }
}

plim_status plim_trace_sizes_init(plim_trace_sizes *sizes, const plim_replay *replay,
                                  const plim_mem *mem, plim_error *err)
{
    *sizes = (plim_trace_sizes){ .mem = mem };
    sizes->mib_bytes = plim_mem_alloc_zeroed(mem, PLIM_SIZES_MIB, sizeof(uint64_t));
    sizes->parts_bytes =
        plim_mem_alloc_zeroed(mem, PLIM_ROUNDUP_INTERVALS * PLIM_SIZES_PARTS, sizeof(uint64_t));
    if (sizes->mib_bytes == NULL || sizes->parts_bytes == NULL) {
        plim_trace_sizes_deinit(sizes);
        return plim_fail_memory(err, "counting the sizes of requests");
    }
    for (size_t i = 0; i < replay->devices.count; i++) {
        count_program(sizes, replay->devices.items[i].asked);
    }
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS * PLIM_SIZES_PARTS; i++) {
        sizes->interval_bytes[i / PLIM_SIZES_PARTS] += sizes->parts_bytes[i];
        sizes->interval_sizes[i / PLIM_SIZES_PARTS] += sizes->parts_bytes[i] > 0;
    }
    return PLIM_OK;
}

void plim_trace_sizes_deinit(plim_trace_sizes *sizes)
{
    if (sizes->mem == NULL) {
        return;
    }
    plim_mem_free(sizes->mem, sizes->mib_bytes, PLIM_SIZES_MIB, sizeof(uint64_t));
    plim_mem_free(sizes->mem, sizes->parts_bytes, PLIM_ROUNDUP_INTERVALS * PLIM_SIZES_PARTS,
                  sizeof(uint64_t));
    *sizes = (plim_trace_sizes){ .mem = NULL };
}

uint64_t plim_trace_sizes_part(size_t interval, size_t part)
{
    const uint64_t first = interval == 0 ? 0 : MIB << interval;
    const uint64_t width = interval == 0 ? 2 * MIB : MIB << interval;
    return first + (2 * part + 1) * (width / PLIM_SIZES_PARTS) / 2;
}

static bool is_rounded(const plim_settings *settings, uint64_t bytes)
{
    return bytes > 0 && bytes < PLIM_REQUEST_BYTES_END &&
           plim_round_divided(settings->roundup_power2_divisions, bytes) != plim_round_plain(bytes);
}

bool plim_replay_has_rounding(const plim_replay *replay, const plim_settings *settings)
{
    for (size_t i = 0; i < replay->devices.count; i++) {
        const plim_program *const program = replay->devices.items[i].asked;
        for (size_t j = 0; j < program->start.allocations.count; j++) {
            if (is_rounded(settings, program->start.allocations.items[j].requested_bytes)) {
                return true;
            }
        }
        for (size_t j = 0; j < program->ops.count; j++) {
            const plim_op *const op = &program->ops.items[j];
            if ((op->kind == PLIM_OP_ALLOC || op->kind == PLIM_OP_TRY) &&
                is_rounded(settings, op->bytes)) {
                return true;
            }
        }
    }
    return false;
}
