/*
 * cost.c - the time of one step, by a model: see cost.h.
 *
 *   operations of a step ──► the longer of arithmetic and traffic, and a kernel's own time
 *                 their sum ──► or the time that it takes to launch them, where that is more
 *                            +  copies that nothing hides, work on the host, calls of the driver
 *
 * docs/design/fit-cost.md has the sources of the figures, and the model beside measurements.
 */
#include "fit/cost.h"

#include <math.h>
#include <string.h>

/* Shares of a peak that large operations reach. */
#define TENSOR_SHARE    0.70 /* products on tensor cores: A100 69 to 79 %, RTX 2080 Ti 83 % */
#define PLAIN_SHARE     0.80 /* products without them: A100 72 %, RTX 2080 Ti 85 % */
#define ATTENTION_SHARE 0.45 /* fused attention, forward and backward: H100 35 %, A100 60 % */
#define MEMORY_SHARE    0.80 /* of the bandwidth */
#define LINK_SHARE      0.78 /* 25 of 32 GB/s */

#define KERNEL_SECONDS 3e-6 /* that a kernel takes however small it is */
#define ISSUE_SECONDS  7e-6 /* of Python, dispatcher and autograd for one operation */
#define DRIVER_SECONDS 3e-4 /* of a cudaMalloc or a cudaFree, which wait */
#define HOST_RATE      40e9 /* bytes a second that operators on the host read and write */

/* The backward pass computes twice as much as the forward pass. */
#define FORWARD_SHARE (1.0 / 3)

/* FP64 runs at half the rate of FP32 on GPUs of data centres, else at a 64th. */
static double double_rate(const plim_gpu *gpu)
{
    return (double)gpu->fp32_flops / (gpu->capability_minor == 0 ? 2 : 64);
}

/* Operations a second in a precision, as far as large ones get. BF16 without tensor cores for it
 * is computed in FP32. */
static double product_rate(const plim_gpu *gpu, const char *precision)
{
    const double plain = PLAIN_SHARE * (double)gpu->fp32_flops;
    const double half = TENSOR_SHARE * (double)gpu->half_flops;
    if (strcmp(precision, "bfloat16") == 0) {
        return gpu->capability_major >= 8 ? half : plain;
    }
    if (strcmp(precision, "float16") == 0) {
        return half;
    }
    if (strcmp(precision, "tf32") == 0 && gpu->tf32_flops > 0) {
        return TENSOR_SHARE * (double)gpu->tf32_flops;
    }
    if (strncmp(precision, "float8", 6) == 0 || strcmp(precision, "int8") == 0) {
        return 2 * half;
    }
    return strcmp(precision, "float64") == 0 ? PLAIN_SHARE * double_rate(gpu) : plain;
}

static double operation_seconds(const plim_rehearsed_operation *operation, const plim_gpu *gpu)
{
    const double traffic = operation->bytes / (MEMORY_SHARE * (double)gpu->memory_bytes_per_second);
    double arithmetic = 0;
    if (operation->flops > 0) {
        const bool is_attention = strstr(operation->name, "attention") != NULL;
        const double share = is_attention ? ATTENTION_SHARE / TENSOR_SHARE : 1;
        arithmetic = operation->flops / (share * product_rate(gpu, operation->precision));
    }
    return fmax(arithmetic, traffic) + KERNEL_SECONDS;
}

/* Adds the operations of a step up. */
static void add_operations(const plim_rehearsed_work *work, const plim_gpu *gpu,
                           plim_fit_cost *cost)
{
    for (size_t i = 0; i < work->operation_count; i++) {
        const plim_rehearsed_operation *const operation = &work->operations[i];
        const double count = (double)operation->count;
        cost->flops += count * operation->flops;
        cost->bytes += count * operation->bytes;
        cost->device_seconds += count * operation_seconds(operation, gpu);
    }
}

/*
 * Copies on a stream of their own are hidden by the work of the GPU meanwhile: to the host in the
 * forward pass, from it in the backward pass. All others come in turn.
 */
static void add_copies(const plim_rehearsed_work *work, const plim_gpu *gpu, plim_fit_cost *cost)
{
    const double rate = LINK_SHARE * (double)gpu->link_bytes_per_second;
    const double total = (double)work->to_host_bytes + (double)work->to_device_bytes;
    const double out = (double)work->aside_to_host_bytes / rate;
    const double in = (double)work->aside_to_device_bytes / rate;
    const double hidden = fmin(out, FORWARD_SHARE * cost->device_seconds) +
                          fmin(in, (1 - FORWARD_SHARE) * cost->device_seconds);
    cost->host_bytes = total;
    cost->copy_seconds = fmax(total / rate - hidden, 0);
    cost->overlapped_share = total > 0 ? fmin(hidden * rate / total, 1) : 0;
}

plim_fit_cost plim_fit_cost_of_work(const plim_rehearsed_work *work, const plim_gpu *gpu)
{
    plim_fit_cost cost = { 0 };
    if (work == NULL || work->why_unknown != NULL || work->operation_count == 0 ||
        gpu->fp32_flops == 0) {
        return cost;
    }
    add_operations(work, gpu, &cost);
    add_copies(work, gpu, &cost);
    cost.issue_seconds = ISSUE_SECONDS * (double)work->launches;
    cost.step_seconds = (double)work->host_bytes / HOST_RATE;
    cost.driver_seconds = DRIVER_SECONDS * (double)work->driver_calls;
    cost.is_partial = work->why_partial != NULL;
    cost.seconds = fmax(cost.device_seconds, cost.issue_seconds) + cost.copy_seconds +
                   cost.step_seconds + cost.driver_seconds;
    return cost;
}

void plim_fit_cost_of(const plim_rehearsal_outcome *outcome, const plim_gpu *gpu,
                      plim_fit_cost *ret)
{
    *ret = (plim_fit_cost){ 0 };
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_fit_cost cost = plim_fit_cost_of_work(outcome->processes[i].work, gpu);
        if (cost.seconds > ret->seconds) {
            *ret = cost;
        }
    }
}
