/*
 * test_rehearsals.c - steps and categories of real programs, against what their commands say.
 *
 * Bytes of weights, gradients and optimizer states are those of examples/rehearse/sizes.py and
 * expectations.py, which are computed by hand from the shapes of the models; steps are those of
 * the commands in labels.json. All are met exactly: what differs from the command and why stands
 * beside its row, and in docs/design/phases.md.
 */
#include "base/memory.h"
#include "harness.h"
#include "phases/categories.h"
#include "phases/marks.h"
#include "plimsoll/load.h"

#define ANY UINT64_MAX /* not computed by hand */

/* The weights are those at the peak; the rest lies there when the last step of the optimizer
 * begins. */
typedef struct expectation {
    const char *name;
    size_t steps;
    uint64_t parameters;
    uint64_t gradients;
    uint64_t optimizer_state;
} expectation;

static const expectation expectations[] = {
    { "gpt2-124m", 3, 497759232, 497759232, 995518464 },
    { "gpt2-124m-expandable", 3, 497759232, 497759232, 995518464 },
    { "gpt2-124m-oom", 0, 497759232, ANY, ANY }, /* dies in its first step */
    { "gpt2-124m-checkpoint", 3, 497759232, 497759232, 995518464 },
    { "gpt2-124m-logits-oom", 0, 497759232, ANY, ANY }, /* dies in its first step */
    { "gpt-fp32", 3, 155465728, 155465728, 310931456 },
    { "gpt-bf16-weights", 3, 77732864, 77732864, 155465728 },
    { "gpt-fp16-scaler", 3, 155465728, 155465728, 310931456 },
    { "gpt-accumulate", 3, 155465728, 155465728, 310931664 },
    { "gpt-keep-gradients", 3, 155465728, 155465728, 310931456 },
    { "gpt-sgd", 3, 155465728, 155465728, 0 },
    { "gpt-momentum", 3, 155465728, 155465728, 155465728 },
    { "gpt-adafactor", 3, 155465728, 155465728, 450884 },
    { "gpt-checkpoint-half", 3, 155465728, 155465728, 310931456 },
    { "gpt-lora", 3, 156514304, 1048576, 2097152 },
    { "gpt-loss-chunks", 3, 155465728, 155465728, 310931456 },
    { "gpt-dropout", 3, 155465728, 155465728, 310931456 },
    { "gpt-log-loss", 3, 2230272, 2230272, 4460544 },
    { "gpt-offload-activations", 3, 2230272, 2230272, 4460544 },
    { "gpt-offload-optimizer", 3, 2230272, 0,
      0 }, /* gradients go to the host before the optimizer */
    { "gpt-compile-eager", 3, 2230272, 2230272, 4460544 },
    { "gpt-compile", 3, 2230272, 2230272, 4460544 },
    { "gpt-graph", 4, 2230272, 2230272,
      4460656 }, /* three to warm up and one captured; replays ask for nothing */
    { "llama-70b-forward-backward", 0, 141111607296, ANY,
      ANY }, /* one step, and nothing that ends it */
    { "llama-1b-checkpoint", 3, 2999062528, 2996965376, 5993930752 },
    { "llama-8b-oom", 0, 16064716800, 16094076928,
      0 }, /* dies in its first step; a workspace as large as a weight */
    { "llama-8b-lora", 3, 16148602880, 83886080, 167772160 },
    { "llama-tiny", 3, 21046272, 19997696, 39995392 },
    { "generate-8b-static", 16, 16064716800, 0, 0 },
    { "generate-1b-dynamic", 48, 2999062528, 0, 0 },
    { "generate-with-grad", 24, 11047424, 0, 0 },
    { "generate-oom", 0, 16064716800, 0, 0 },
    { "resnet50", 3, 102441032, 102228128, 102228128 },
    { "resnet50-channels-last", 3, 102441032, 102228128, 102228128 },
    { "resnet18-fp16", 3, 46796608, 46758048, 46758048 },
    { "resnet50-evaluate", 3, 102441032, 0, 0 },
    { "vit-b", 3, 346270624, 346270624, 692541856 },
    { "unet", 3, 242320408, 121160204, 242320408 },
    { "unet-expandable", 3, 121160204, 121160204, 242320408 },
    { "transformers-bert", 3, ANY, ANY, ANY },
    { "transformers-gpt2", 3, ANY, ANY, ANY },
    { "transformers-llama", 3, ANY, ANY, ANY },
    { "transformers-t5", 3, ANY, ANY, ANY },
    { "fsdp-8b-of-8", 2, ANY, ANY, ANY },
    { "fsdp-70b-of-64", 2, ANY, ANY, ANY },
    { "fsdp-tiny-2-ranks", 3, ANY, ANY, ANY },
    { "fsdp-tiny-2-ranks.rank1", 3, ANY, ANY, ANY },
    { "ddp-of-8", 3, ANY, ANY, ANY },
    { "ddp-zero-of-8", 3, ANY, ANY, ANY },
    { "ddp-tiny-2-ranks", 3, ANY, ANY, ANY },
    { "ddp-tiny-2-ranks.rank1", 3, ANY, ANY, ANY },
    { "bug-loss-kept", 12, 29388800, ANY, ANY },
    { "fixed-loss-kept", 12, 29388800, ANY, ANY },
    { "bug-outputs-kept", 12, 29388800, ANY, ANY },
    { "fixed-outputs-kept", 12, 29388800, ANY, ANY },
    { "bug-hook-kept", 12, 29388800, ANY, ANY },
    { "fixed-hook-kept", 12, 29388800, ANY, ANY },
    { "bug-evaluate-with-grad", 6, 29388800, ANY, ANY },
    { "fixed-evaluate-with-grad", 6, 29388800, ANY, ANY },
    { "bug-missing-zero-grad", 6, 29388800, ANY, ANY },
    { "fixed-missing-zero-grad", 6, 29388800, ANY, ANY },
    { "bug-retain-graph", 12, 25186304, ANY, ANY },
    { "fixed-retain-graph", 12, 25186304, ANY, ANY },
    { "bug-growing-cache", 12, 29388800, ANY, ANY },
    { "fixed-growing-cache", 12, 29388800, ANY, ANY },
    { "bug-cycle", 12, 29388800, ANY, ANY },
    { "fixed-cycle", 12, 29388800, ANY, ANY },
    { "bug-traceback-kept", 12, 29388800, ANY, ANY },
    { "fixed-traceback-kept", 12, 29388800, ANY, ANY },
    { "bug-logits-kept-fp32", 12, 14694400, ANY, ANY },
    { "fixed-logits-kept-fp32", 12, 14694400, ANY, ANY },
    { "bug-optimizer-recreated", 12, 29388800, ANY, ANY },
    { "fixed-optimizer-recreated", 12, 29388800, ANY, ANY },
    { "bug-loader-on-device", 12, 29388800, ANY, ANY },
    { "fixed-loader-on-device", 12, 29388800, ANY, ANY },
    { "bug-fragmented", 48, 29388800, ANY, ANY },
    { "fixed-fragmented", 48, 29388800, ANY, ANY },
    { "bug-outputs-kept-oom", 87, 29388800, ANY, ANY }, /* dies in the 88th */
};

typedef struct recording {
    plim_history *history;
    const plim_device_history *device;
    plim_timeline timeline;
    plim_steps steps;
    plim_categories categories;
    plim_marks marks;
} recording;

static void load(recording *at, const char *name)
{
    char path[160];
    (void)snprintf(path, sizeof path, "tests/data/rehearsals/%s.pickle.zst", name);
    *at = (recording){ 0 };
    T_TRUE(plim_history_load(path, NULL, &at->history, NULL) == PLIM_OK);
    for (size_t i = 0; i < plim_history_device_count(at->history); i++) {
        const plim_device_history *one = plim_history_device(at->history, i);
        if (at->device == NULL || one->events.count > at->device->events.count) {
            at->device = one;
        }
    }
    T_NOT_NULL(at->device);
    T_TRUE(plim_timeline_init(&at->timeline, at->history, at->device, NULL, NULL) == PLIM_OK);
    T_TRUE(plim_steps_init(&at->steps, at->history, at->device, NULL, NULL) == PLIM_OK);
    T_TRUE(plim_categories_init(&at->categories, &at->timeline, NULL, NULL) == PLIM_OK);
    T_TRUE(plim_marks_init(&at->marks, at->history, at->device, &plim_mem_heap, NULL) == PLIM_OK);
}

static void unload(recording *at)
{
    plim_marks_deinit(&at->marks);
    plim_categories_deinit(&at->categories);
    plim_steps_deinit(&at->steps);
    plim_timeline_deinit(&at->timeline);
    plim_history_destroy(at->history);
}

/* What is live before an event, by category. */
static void sum_up(const recording *at, uint64_t event, uint64_t sums[PLIM_CATEGORY_COUNT])
{
    memset(sums, 0, PLIM_CATEGORY_COUNT * sizeof *sums);
    plim_live live = plim_timeline_live(&at->timeline, (int64_t)event - 1, false);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        sums[at->categories.of[one.id]] += one.requested_bytes;
    }
}

/* The event after the one with the most requested bytes live. */
static uint64_t peak_of(const recording *at)
{
    const plim_events *events = &at->device->events;
    uint64_t live = 0;
    uint64_t most = 0;
    uint64_t peak = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_ALLOC) {
            live += events->bytes[i];
        } else if (events->action[i] == PLIM_FREE_REQUESTED) {
            live -= events->bytes[i];
        }
        if (live > most) {
            most = live;
            peak = i + 1;
        }
    }
    return peak;
}

static void report(const char *name, const char *moment, const uint64_t sums[PLIM_CATEGORY_COUNT])
{
    print_message("%-28s %-10s", name, moment);
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        print_message(" %s %" PRIu64, plim_category_name((plim_category)i), sums[i]);
    }
    print_message("\n");
}

static uint64_t expect(uint64_t expected, uint64_t found, const char *what)
{
    if (expected != ANY && expected != found) {
        print_error("%s: %s are %" PRIu64 ", expected %" PRIu64 "\n", t_now.row, what, found,
                    expected);
        return 1;
    }
    return 0;
}

static uint64_t compare(const expectation *one)
{
    recording at;
    load(&at, one->name);
    uint64_t sums[PLIM_CATEGORY_COUNT];
    sum_up(&at, peak_of(&at), sums);
    report(one->name, "peak", sums);
    uint64_t wrong = expect(one->steps, at.steps.count, "steps");
    wrong += expect(one->parameters, sums[PLIM_CATEGORY_PARAMETERS], "parameters at the peak");
    const size_t count = at.marks.of[PLIM_MARK_OPTIMIZER].count;
    if (count > 0) {
        sum_up(&at, at.marks.of[PLIM_MARK_OPTIMIZER].items[count - 1].first, sums);
        report(one->name, "before step", sums);
        wrong += expect(one->parameters, sums[PLIM_CATEGORY_PARAMETERS], "parameters");
        wrong += expect(one->gradients, sums[PLIM_CATEGORY_GRADIENTS], "gradients");
        wrong += expect(one->optimizer_state, sums[PLIM_CATEGORY_OPTIMIZER_STATE], "states");
        wrong += expect(0, sums[PLIM_CATEGORY_TEMPORARY], "temporary bytes");
    }
    unload(&at);
    return wrong;
}

static void steps_and_categories_are_those_of_the_programs(void)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < T_COUNT(expectations); i++) {
        T_CASE("%s", expectations[i].name);
        wrong += compare(&expectations[i]);
    }
    T_EQ_U64(wrong, 0);
}

T_MAIN(T_TEST(steps_and_categories_are_those_of_the_programs))
