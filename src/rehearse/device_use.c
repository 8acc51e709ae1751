/* device_use.c - see device_use.h. */
#include "rehearse/device_use.h"

#include "base/numbers.h"
#include "base/units.h"

/* How far measurements lie from a modelled figure, in parts of a thousand of it. */
typedef struct spread {
    uint32_t less;
    uint32_t more;
} spread;

/*
 * Contexts: 23 of the public measurements of 2026, but for two, lie within the first two; the
 * third has those of GPUs that the model was not fitted to. Modules: 600 to 1823 MiB in all where
 * loading was eager. NCCL: one communicator took 0.65 to 2 times the model.
 */
static const spread spreads_of_contexts[] = {
    [PLIM_GPU_MODELLED] = { 50, 120 },
    [PLIM_GPU_CHECKED] = { 30, 30 },
    [PLIM_GPU_MEASURED] = { 30, 30 },
};
static const spread spreads[PLIM_STAGE_USES] = {
    [PLIM_STAGE_MODULES] = { 500, 1800 },
    [PLIM_STAGE_GRAPHS] = { 400, 1000 },
    [PLIM_STAGE_LIBRARIES] = { 400, 0 }, /* more: kernels_bytes() */
    [PLIM_STAGE_NCCL] = { 400, 1000 },
};

/* A device shows up to 20 MiB more as taken than NVML counts for its processes. */
#define CONTEXT_MORE_BYTES (8 * MIB)

/*
 * Kernels are loaded as they are first called, and large programs call more of them: of 77 programs
 * on 14 GPUs 73 took no more than this beyond context and libraries.
 */
#define KERNELS_BYTES     (60 * MIB)
#define KERNELS_MOST      (300 * MIB)
#define KERNELS_PER_MILLE 10u

static uint64_t part_of(uint64_t bytes, uint32_t per_mille)
{
    return bytes / 1000 * per_mille;
}

static uint64_t kernels_bytes(const plim_stage_figures *figures)
{
    if (figures->at_peak_bytes[PLIM_STAGE_LIBRARIES] == 0) {
        return 0;
    }
    const uint64_t requested = figures->at_peak_bytes[PLIM_STAGE_PROGRAM];
    return KERNELS_BYTES + plim_min(part_of(requested, KERNELS_PER_MILLE), KERNELS_MOST);
}

/* How many processes have a context. */
static uint64_t count_processes(const plim_gpu *gpu, const plim_stage_figures *figures)
{
    const uint64_t contexts = figures->at_peak_bytes[PLIM_STAGE_CONTEXT];
    return gpu->context_bytes > 0 ? contexts / gpu->context_bytes : 0;
}

/* The upper and lower parts of the bar, by what they come from. */
typedef struct parts {
    uint64_t less_bytes[PLIM_STAGE_USES];
    uint64_t more_bytes[PLIM_STAGE_USES];
} parts;

static parts part(const plim_gpu *gpu, const plim_stage_figures *figures)
{
    parts found = { { 0 }, { 0 } };
    for (int use = 0; use < PLIM_STAGE_USES; use++) {
        const spread by =
            use == PLIM_STAGE_CONTEXT ? spreads_of_contexts[gpu->context_evidence] : spreads[use];
        found.less_bytes[use] = part_of(figures->at_peak_bytes[use], by.less);
        found.more_bytes[use] = part_of(figures->at_peak_bytes[use], by.more);
    }
    const uint64_t processes = count_processes(gpu, figures);
    found.more_bytes[PLIM_STAGE_CONTEXT] += processes * CONTEXT_MORE_BYTES;
    found.more_bytes[PLIM_STAGE_LIBRARIES] += kernels_bytes(figures);
    found.less_bytes[PLIM_STAGE_PROGRAM] = figures->modelled_below_bytes;
    found.more_bytes[PLIM_STAGE_PROGRAM] = figures->modelled_above_bytes;
    return found;
}

plim_rehearsed_bar plim_device_use_bar(const plim_gpu *gpu, const plim_stage_figures *figures)
{
    const parts found = part(gpu, figures);
    plim_rehearsed_bar bar = { figures->peak_bytes, figures->peak_bytes, figures->peak_bytes };
    for (int use = 0; use < PLIM_STAGE_USES; use++) {
        bar.low_bytes = plim_minus(bar.low_bytes, found.less_bytes[use]);
        bar.high_bytes += found.more_bytes[use];
    }
    bar.high_bytes = plim_plus(bar.high_bytes, figures->waiting_bytes);
    return bar;
}

plim_rehearsed_doubt plim_device_use_doubt(const plim_gpu *gpu, const plim_stage_figures *figures)
{
    static const plim_rehearsed_doubt doubts[PLIM_STAGE_USES] = {
        [PLIM_STAGE_PROGRAM] = PLIM_REHEARSED_DOUBT_REQUESTS,
        [PLIM_STAGE_CONTEXT] = PLIM_REHEARSED_DOUBT_CONTEXT,
        [PLIM_STAGE_MODULES] = PLIM_REHEARSED_DOUBT_MODULES,
        [PLIM_STAGE_GRAPHS] = PLIM_REHEARSED_DOUBT_GRAPHS,
        [PLIM_STAGE_LIBRARIES] = PLIM_REHEARSED_DOUBT_LIBRARIES,
        [PLIM_STAGE_NCCL] = PLIM_REHEARSED_DOUBT_NCCL,
    };
    const parts found = part(gpu, figures);
    int most = PLIM_STAGE_PROGRAM;
    for (int use = 0; use < PLIM_STAGE_USES; use++) {
        most = found.more_bytes[use] > found.more_bytes[most] ? use : most;
    }
    return found.more_bytes[most] > 0 ? doubts[most] : PLIM_REHEARSED_DOUBT_NOTHING;
}
