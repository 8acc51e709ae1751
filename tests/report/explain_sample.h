/*
 * explain_sample.h - explained texts made by hand: messages of every verdict, series of every
 * class. Nothing here comes from the library: a fault there cannot hide one here.
 */
#ifndef PLIMSOLL_TESTS_REPORT_EXPLAIN_SAMPLE_H
#define PLIMSOLL_TESTS_REPORT_EXPLAIN_SAMPLE_H

#include "harness.h"

#include "base/units.h"
#include "report/model/explain.h"

#include <math.h>

#define SAMPLE_STEPS  400u
#define SAMPLE_SERIES 5u

static const plim_advice sample_advice[] = {
    { "expandable-segments",
      "Let segments grow: the allocator then maps pages where it needs them, and free space in "
      "the middle of a segment is no longer lost.",
      "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "PyTorch, notes/cuda" },
    { "smaller-batch", "Halve the batch and accumulate gradients over two.", NULL, "" },
    { "record-snapshot", "Record what holds the memory, then ask plimsoll inspect.",
      "torch.cuda.memory._record_memory_history()\n"
      "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")",
      "PyTorch, torch_cuda_memory" },
    { "other", "Stop the other processes.",
      "nvidia-smi --query-compute-apps=pid,used_memory --format=csv", "nvidia-smi(1)" },
    { "fifth", "A fifth thing.", NULL, "here" },
    { "sixth", "A sixth thing.", NULL, "here" },
};

static inline plim_oom_message sample_message(plim_verdict verdict, const char *form,
                                              int32_t device)
{
    plim_oom_message message = {
        .line = 1042,
        .offset = 81234,
        .length = 512,
        .count = 1,
        .framework = "pytorch",
        .form = form,
        .versions = "2.2 and later",
        .excerpt = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        .request = plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH),
        .judgement = { .verdict = verdict,
                       .confidence = 0.95,
                       .finding = { .certainty = PLIM_CERTAINTY_CERTAIN } },
        .why = "A first sentence with its figures, 2.00 GiB among them, long enough to need a "
               "second line of the page. The second says what follows from that.",
        .advice = sample_advice,
        .advice_count = 3,
    };
    message.request.subject.device = device;
    return message;
}

static inline void sample_set(plim_oom_message *message, plim_figure_id id, uint64_t bytes)
{
    message->request.figures[id] =
        (plim_figure){ .bytes = bytes,
                       .slack_bytes = 5 * MIB,
                       .offset = message->offset + 100 + 20 * (uint64_t)id,
                       .length = 8 };
}

/* What PyTorch prints, of a device of 24 GiB. */
static inline plim_oom_message sample_pytorch(plim_verdict verdict, uint64_t requested,
                                              uint64_t allocated, uint64_t unused, uint64_t free)
{
    plim_oom_message message = sample_message(verdict, "pytorch-2.x-this-process", 0);
    sample_set(&message, PLIM_FIGURE_REQUESTED, requested);
    sample_set(&message, PLIM_FIGURE_TOTAL, 24 * GIB);
    sample_set(&message, PLIM_FIGURE_FREE, free);
    sample_set(&message, PLIM_FIGURE_ALLOCATED, allocated);
    sample_set(&message, PLIM_FIGURE_RESERVED_UNALLOCATED, unused);
    sample_set(&message, PLIM_FIGURE_PROCESS, allocated + unused + 500 * MIB);
    return message;
}

/* ---- series --------------------------------------------------------------------------------- */

typedef struct sample_points {
    double steps[SAMPLE_STEPS];
    double bytes[SAMPLE_STEPS];
} sample_points;

/* A little noise that is the same everywhere. */
static inline double sample_noise(size_t i)
{
    return (double)((i * 7919) % 101) / 101.0 - 0.5;
}

static inline double sample_level(plim_trend_class kind, size_t i)
{
    const double gib = (double)GIB;
    const double x = (double)i;
    switch (kind) {
    case PLIM_TREND_LEAK:
        return 8 * gib + (i > 100 ? (x - 100) * 0.02 * gib : 0);
    case PLIM_TREND_STAIRCASE:
        return 8 * gib + floor(x / 100) * gib;
    case PLIM_TREND_RAMP:
        return i < 60 ? 2 * gib + x * 0.1 * gib : 8 * gib;
    case PLIM_TREND_FLAT:
        return i % 50 == 49 ? 10 * gib : 8 * gib;
    case PLIM_TREND_TOO_SHORT:
        return 4 * gib;
    }
    return 0;
}

static inline plim_series sample_series(sample_points *points, plim_trend_class kind,
                                        const char *name)
{
    const size_t count = kind == PLIM_TREND_TOO_SHORT ? 4 : SAMPLE_STEPS;
    plim_trend trend = { .kind = kind,
                         .confidence = kind == PLIM_TREND_TOO_SHORT ? 0 : 0.97,
                         .point_count = count,
                         .first_step = 10,
                         .last_step = 10.0 * (double)count,
                         .first_bytes = sample_level(kind, 0),
                         .last_bytes = sample_level(kind, count - 1),
                         .min_bytes = 1e300,
                         .noise_share = 0.0042,
                         .onset_step = 10 };
    for (size_t i = 0; i < count; i++) {
        points->steps[i] = 10.0 * (double)(i + 1);
        points->bytes[i] = sample_level(kind, i) + sample_noise(i) * 0.1 * (double)GIB;
        trend.min_bytes = points->bytes[i] < trend.min_bytes ? points->bytes[i] : trend.min_bytes;
        trend.max_bytes = points->bytes[i] > trend.max_bytes ? points->bytes[i] : trend.max_bytes;
    }
    if (kind == PLIM_TREND_LEAK || kind == PLIM_TREND_STAIRCASE) {
        trend.growth_bytes_per_step = 0.002 * (double)GIB;
        trend.growth_low_bytes_per_step = 0.00195 * (double)GIB;
        trend.growth_high_bytes_per_step = 0.00205 * (double)GIB;
    }
    trend.onset_step = kind == PLIM_TREND_LEAK ? 1010 : kind == PLIM_TREND_RAMP ? 610 : 10;
    if (kind == PLIM_TREND_LEAK) {
        trend.has_exhaustion = true;
        trend.exhaustion_step = 8960.4;
    }
    if (kind == PLIM_TREND_STAIRCASE) {
        trend.stair_count = 3;
        trend.stair_bytes = (double)GIB;
        trend.stair_period_steps = 1000;
    }
    return (plim_series){ .name = name,
                          .step_name = kind == PLIM_TREND_TOO_SHORT ? NULL : "step",
                          .unit = "MiB",
                          .steps = points->steps,
                          .bytes = points->bytes,
                          .count = count,
                          .seen = 10 * count,
                          .first_line = 12,
                          .last_line = 12 + 10 * count,
                          .trend = trend };
}

#endif
