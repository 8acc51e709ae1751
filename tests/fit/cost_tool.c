/*
 * cost_tool.c - rehearses a program, counting, and prints its peaks, its work and the model's time.
 *
 *   cost_tool GPU[,GPU…] TECHNIQUES COUNTS PROGRAM [ARGUMENT…]
 *
 * TECHNIQUES has one on each line, or is "-"; COUNTS is "yes", or "no" for peaks alone. The first
 * GPU is the one that is rehearsed, with as much memory as the program likes. JSON, one object.
 */
#include "fit/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_BYTES (UINT64_C(1) << 40)
#define STEPS          2

static void print_operations(const plim_rehearsed_work *work)
{
    printf(" \"operations\": [");
    for (size_t i = 0; i < work->operation_count; i++) {
        const plim_rehearsed_operation *const one = &work->operations[i];
        printf("%s\n  {\"name\": \"%s\", \"precision\": \"%s\", \"flops\": %.0f, \"bytes\": %.0f, "
               "\"count\": %" PRIu64 "}",
               i > 0 ? "," : "", one->name, one->precision, one->flops, one->bytes, one->count);
    }
    printf("],\n");
}

static void print_work(const plim_rehearsed_work *work)
{
    printf(" \"why_unknown\": \"%s\", \"why_partial\": \"%s\", \"step\": %" PRIu64 ",\n",
           work->why_unknown != NULL ? work->why_unknown : "",
           work->why_partial != NULL ? work->why_partial : "", work->step);
    printf(" \"launches\": %" PRIu64 ", \"to_host\": %" PRIu64 ", \"to_device\": %" PRIu64
           ", \"aside_to_host\": %" PRIu64 ", \"aside_to_device\": %" PRIu64 ", \"host\": %" PRIu64
           ", \"driver_calls\": %" PRIu64 ",\n",
           work->launches, work->to_host_bytes, work->to_device_bytes, work->aside_to_host_bytes,
           work->aside_to_device_bytes, work->host_bytes, work->driver_calls);
    print_operations(work);
}

static void print_cost(const plim_rehearsal_outcome *outcome, const char *name, bool is_first)
{
    const plim_gpu *gpu = NULL;
    if (plim_gpu_find(name, &gpu, NULL) != PLIM_OK) {
        return;
    }
    plim_rehearsal_outcome there = *outcome;
    there.gpu = gpu;
    plim_fit_cost cost;
    plim_fit_cost_of(&there, there.gpu, &cost);
    printf("%s\n  \"%s\": {\"seconds\": %.9f, \"device\": %.9f, \"issue\": %.9f, \"copy\": %.9f, "
           "\"step\": %.9f, \"driver\": %.9f, \"flops\": %.0f, \"bytes\": %.0f, "
           "\"host_bytes\": %.0f, \"overlapped\": %.4f}",
           is_first ? "" : ",", name, cost.seconds, cost.device_seconds, cost.issue_seconds,
           cost.copy_seconds, cost.step_seconds, cost.driver_seconds, cost.flops, cost.bytes,
           cost.host_bytes, cost.overlapped_share);
}

static void print_outcome(const plim_rehearsal_outcome *outcome, char *gpus)
{
    const plim_rehearsed_peak peak = plim_rehearsed_find_peak(outcome);
    printf("{\"allocated\": %" PRIu64 ", \"reserved\": %" PRIu64 ", \"device\": %" PRIu64 ",\n",
           peak.allocated_bytes, peak.reserved_bytes, peak.device_bytes);
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *const one = &outcome->processes[i];
        printf(" \"total_seconds\": %.3f, \"steps\": %" PRIu64 ", \"ended\": \"%s\",\n",
               one->total_seconds, one->steps, one->ended);
        for (size_t j = 0; j < one->technique_count; j++) {
            fprintf(stderr, "%s: %s %s\n", one->techniques[j].name, one->techniques[j].state,
                    one->techniques[j].text != NULL ? one->techniques[j].text : "");
        }
        for (size_t j = 0; j < one->warning_count; j++) {
            fprintf(stderr, "%s\n", one->warnings[j]);
        }
        if (one->work != NULL) {
            print_work(one->work);
        }
    }
    printf(" \"cost\": {");
    bool is_first = true;
    for (const char *name = strtok(gpus, ","); name != NULL; name = strtok(NULL, ",")) {
        print_cost(outcome, name, is_first);
        is_first = false;
    }
    printf("}}\n");
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        return 2;
    }
    char first[PLIM_GPU_KEY_BYTES] = "";
    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(argv[1], ","), argv[1]);
    const plim_rehearse_options options = {
        .gpu = first,
        .capacity_bytes = CAPACITY_BYTES,
        .steps = STEPS,
        .techniques = strcmp(argv[2], "-") == 0 ? NULL : argv[2],
        .counts_step = strcmp(argv[3], "yes") == 0,
        .home = getenv("PLIM_HOME"),
    };
    const plim_launch_options launch = { 0 };
    plim_rehearsed rehearsed;
    plim_error err = { 0 };
    if (plim_rehearse((const char *const *)&argv[4], &options, &launch, &rehearsed, &err) !=
        PLIM_OK) {
        fprintf(stderr, "cost_tool: %s\n", err.message);
        return 1;
    }
    print_outcome(rehearsed.outcome, argv[1]);
    plim_rehearsed_deinit(&rehearsed);
    return 0;
}
