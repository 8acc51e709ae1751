/*
 * rehearse_sample.h - outcomes of rehearsals made by hand: fits, ran out, many ranks, hostile
 * names. Nothing here comes from a rehearsal: a fault there cannot hide one here.
 */
#ifndef PLIMSOLL_TESTS_REPORT_REHEARSE_SAMPLE_H
#define PLIMSOLL_TESTS_REPORT_REHEARSE_SAMPLE_H

#include "harness.h"

#include "base/units.h"
#include "report/model/rehearse.h"

#define SAMPLE_PROCESSES 100u
#define SAMPLE_STEPS     1000u

/* All that an outcome points to. It must stay where sample_begin() filled it. */
typedef struct rehearse_sample {
    plim_gpu gpu;
    plim_rehearsed_step steps[SAMPLE_STEPS];
    plim_rehearsed_device devices[SAMPLE_PROCESSES];
    plim_rehearsed_process processes[SAMPLE_PROCESSES];
    plim_rehearsed_gpu gpus[SAMPLE_PROCESSES];
    plim_rehearsed_oom oom;
    plim_rehearsed_need need;
    plim_oom_message message;
    plim_rehearsal_outcome outcome;
    plim_rehearsed rehearsed;
} rehearse_sample;

static const char *const sample_argv[] = { "python", "train.py", "--batch", "16", NULL };

static const plim_rehearsed_phase sample_phases[] = {
    { "setup", 6 * GIB, 6 * GIB + 100 * MIB },
    { "forward", 41 * GIB, 43 * GIB },
    { "backward", 52 * GIB + 300 * MIB, 55 * GIB },
    { "optimizer", 33 * GIB, 55 * GIB },
};

static const char *const sample_stack[] = {
    "/usr/lib/python3/site-packages/torch/nn/functional.py:2546 linear",
    "/home/user/project/model.py:88 forward",
    "/home/user/project/train.py:55 main",
    "/home/user/project/train.py:90 <module>",
    "/home/user/project/launch.py:7 <module>",
};

static const plim_rehearsed_read sample_reads[] = {
    { "train.py:60 main", "item", 3, sample_stack, T_COUNT(sample_stack), NULL },
    { "train.py:61 main", "__bool__", 1, sample_stack + 2, 1, NULL },
};

static const plim_rehearsed_call sample_calls[] = {
    { "cudaMalloc", "answered", "", 118 },
    { "cudaLaunchKernel", "nothing", "kernels do nothing", 41203 },
    { "cublasLtMatmulAlgoGetHeuristic", "modelled", "as on a machine with an H100", 96 },
    { "cudaIpcGetMemHandle", "declined", "no peer", 1 },
    { "ncclCommSplit", "modelled", "buffers as of NCCL 2.28", 2 },
};

static const char *const sample_warnings[] = { "the history is cut: it was full" };

static inline plim_rehearsed_device sample_device(const rehearse_sample *sample, uint32_t index)
{
    return (plim_rehearsed_device){
        .device = index,
        .allocated_bytes = 31 * GIB,
        .reserved_bytes = 55 * GIB,
        .peak_allocated_bytes = 52 * GIB + 300 * MIB,
        .peak_reserved_bytes = 55 * GIB,
        .peak_active_bytes = 53 * GIB,
        .peak_requested_bytes = 52 * GIB,
        .peak_step = 2,
        .peak_phase = "backward",
        .phases = sample_phases,
        .phase_count = T_COUNT(sample_phases),
        .steps = sample->steps,
        .step_count = 3,
    };
}

/* Sets a peak with a bar that encloses it. */
static inline void sample_peak(plim_rehearsed_gpu *gpu, uint64_t bytes)
{
    gpu->peak_bytes = bytes;
    gpu->peak = (plim_rehearsed_bar){ bytes - 244 * MIB, bytes, bytes + 370 * MIB };
}

/* One process on one H100, three steps, and room to spare. */
static inline void sample_begin(rehearse_sample *sample)
{
    *sample = (rehearse_sample){
        .gpu = { .key = "h100",
                 .name = "NVIDIA H100 80GB HBM3",
                 .memory_bytes = 79 * GIB,
                 .driver_bytes = 478 * MIB },
        .gpus = { { .doubt = PLIM_REHEARSED_DOUBT_LIBRARIES,
                    .program_bytes = 55 * GIB,
                    .context_bytes = 500 * MIB,
                    .libraries_bytes = 524 * MIB } },
        .message = { .judgement.verdict = PLIM_VERDICT_FRAGMENTED },
    };
    sample_peak(&sample->gpus[0], 56 * GIB);
    for (uint32_t i = 0; i < SAMPLE_STEPS; i++) {
        sample->steps[i] = (plim_rehearsed_step){
            .step = i + 1,
            .peak_allocated_bytes = (i == 0 ? 48 : 52) * GIB + (i % 7) * MIB,
            .peak_reserved_bytes = 55 * GIB,
            .end_allocated_bytes = 31 * GIB + i * MIB,
        };
    }
    sample->devices[0] = sample_device(sample, 0);
    sample->processes[0] = (plim_rehearsed_process){
        .pid = 4242,
        .world_size = 1,
        .torch = "2.11.0+cu130",
        .ended = "exit",
        .steps = 3,
        .import_seconds = 2.5,
        .total_seconds = 14.25,
        .settings = "expandable_segments:True",
        .devices = sample->devices,
        .device_count = 1,
        .reads = sample_reads,
        .read_count = T_COUNT(sample_reads),
    };
    sample->outcome = (plim_rehearsal_outcome){
        .gpu = &sample->gpu,
        .capacity_bytes = 79 * GIB,
        .device_count = 1,
        .gpus = sample->gpus,
        .processes = sample->processes,
        .process_count = 1,
        .calls = sample_calls,
        .call_count = T_COUNT(sample_calls),
    };
    sample->rehearsed = (plim_rehearsed){ .outcome = &sample->outcome, .argv = sample_argv };
}

/* So many processes, each with a GPU of its own, all alike. */
static inline void sample_spread(rehearse_sample *sample, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sample->devices[i] = sample_device(sample, i);
        sample->gpus[i] = sample->gpus[0];
        sample->processes[i] = sample->processes[0];
        sample->processes[i].pid += i;
        sample->processes[i].rank = i;
        sample->processes[i].world_size = count;
        sample->processes[i].devices = &sample->devices[i];
    }
    sample->outcome.process_count = count;
    sample->outcome.device_count = count;
}

/* It died of a device's memory in its second step. */
static inline void sample_run_out(rehearse_sample *sample)
{
    sample->oom = (plim_rehearsed_oom){
        .step = 2,
        .phase = "backward",
        .request = plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH),
        .text = "CUDA out of memory. Tried to allocate 6.00 GiB.",
        .stack = sample_stack,
        .stack_count = T_COUNT(sample_stack),
    };
    sample->oom.request.subject.device = 0;
    sample->oom.request.figures[PLIM_FIGURE_REQUESTED].bytes = 6 * GIB;
    sample->oom.request.figures[PLIM_FIGURE_TOTAL].bytes = 79 * GIB;
    sample->oom.request.figures[PLIM_FIGURE_FREE].bytes = 2 * GIB;
    sample->oom.request.figures[PLIM_FIGURE_ALLOCATED].bytes = 70 * GIB;
    sample->oom.request.figures[PLIM_FIGURE_RESERVED].bytes = 75 * GIB;
    sample->devices[0].oom_count = 1;
    sample->devices[0].alloc_retries = 2;
    sample->processes[0].ended = "oom";
    sample->processes[0].exception = "OutOfMemoryError";
    sample->processes[0].ooms = &sample->oom;
    sample->processes[0].oom_count = 1;
    sample->processes[0].oom_total = 1;
    sample->rehearsed.exit_status = 1;
    sample->rehearsed.ran_out = true;
    sample->rehearsed.message = &sample->message;
}

/* Its need was asked. */
static inline void sample_need(rehearse_sample *sample)
{
    sample->need = (plim_rehearsed_need){
        .peak = { 90 * GIB, 95 * GIB, 96 * GIB },
        .bar = { 95 * GIB, 96 * GIB, 97 * GIB },
        .step = 2,
        .phase = "backward",
        .steps = 6,
        .has_all = true,
        .has_backward = true,
        .has_optimizer = true,
        .has_categories = true,
        .category_bytes = { [PLIM_CATEGORY_PARAMETERS] = 6 * GIB,
                            [PLIM_CATEGORY_GRADIENTS] = 6 * GIB,
                            [PLIM_CATEGORY_OPTIMIZER_STATE] = 12 * GIB,
                            [PLIM_CATEGORY_ACTIVATIONS] = 65 * GIB,
                            [PLIM_CATEGORY_OTHER] = GIB },
    };
    sample->rehearsed.need = &sample->need;
}

/* Live data would fit: what is reserved does not. Advised settings were tried. */
static inline void sample_tried(rehearse_sample *sample)
{
    static const plim_rehearsed_tried tried[] = {
        { .settings = "expandable_segments:True",
          .verdict = PLIM_REHEARSED_FITS,
          .peak = { 70 * GIB, 71 * GIB, 72 * GIB },
          .steps = 6 },
        { .settings = "max_split_size_mb:512",
          .verdict = PLIM_REHEARSED_OUT_OF_MEMORY,
          .peak = { 69 * GIB, 75 * GIB, 76 * GIB },
          .steps = 1,
          .has_all = true },
    };
    sample_need(sample);
    sample->need.peak.allocated_bytes = 70 * GIB;
    sample->rehearsed.tried = tried;
    sample->rehearsed.tried_count = sizeof(tried) / sizeof(tried[0]);
}

#endif
