/*
 * cmd_rehearse.c - "will it fit?", from running the program itself without a GPU.
 */
#include "base/error.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/rehearsing.h"
#include "cli/simulating.h"
#include "cli/techniques.h"

#include "plimsoll/gpu.h"
#include "plimsoll/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROWTH_SHARE 0.01 /* of a peak: more is worth a look */

/* ---- arguments ------------------------------------------------------------------------------- */

static void take_record(struct argp_state *state, void *arguments, char *text)
{
    if (!plim_history_can_save(text)) {
        argp_error(state, "--record takes FILE.plim or FILE.pickle, not \"%s\"", text);
    }
    ((plim_rehearse_asked *)arguments)->how.record_path = text;
}

static void take_values(struct argp_state *state, void *arguments, char *text)
{
    plim_rehearse_options *const wanted = &((plim_rehearse_asked *)arguments)->how;
    wanted->gives_values = true;
    wanted->seed =
        text != NULL ? (uint64_t)plim_option_number(state, "values", text, 0, 1000000000) : 0;
}

static void take_margin(struct argp_state *state, void *arguments, char *text)
{
    plim_margin_take(state, &((plim_rehearse_asked *)arguments)->how, text);
}

/* "tight,at_least": verdicts that are as good as "fits". */
static void take_accept(struct argp_state *state, void *arguments, char *text)
{
    plim_rehearse_asked *const wanted = arguments;
    char *rest = NULL;
    for (const char *word = strtok_r(text, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        if (strcmp(word, "tight") == 0) {
            wanted->accepts_tight = true;
        } else if (strcmp(word, "at_least") == 0) {
            wanted->accepts_at_least = true;
        } else {
            argp_error(state, "--accept takes tight, at_least or both with a comma, not \"%s\"",
                       word);
        }
    }
}

static void take_with(struct argp_state *state, void *arguments, char *text)
{
    plim_rehearse_asked *const wanted = arguments;
    plim_techniques_take(state, &wanted->techniques, text, &wanted->how.settings);
    wanted->how.techniques = plim_text_string(&wanted->techniques);
}

/* A size, or a share of the peak before. */
static void take_by(struct argp_state *state, void *arguments, char *text)
{
    plim_upgrade_limit *const limit = &((plim_rehearse_asked *)arguments)->limit;
    plim_error err = { 0 };
    char *end = NULL;
    const double percent = strtod(text, &end);
    if (end != text && strcmp(end, "%") == 0 && percent >= 0 && percent <= 1000) {
        *limit = (plim_upgrade_limit){ .share = percent / 100 };
    } else if (plim_size_parse(text, &limit->bytes, &err) == PLIM_OK) {
        limit->share = 0;
    } else {
        argp_error(state, "--by takes a size such as 100MiB, or 0%% to 1000%%, not \"%s\"", text);
    }
}

/* "text" or "github" */
static void take_format(struct argp_state *state, void *arguments, char *text)
{
    plim_locking *const locking = &((plim_rehearse_asked *)arguments)->locking;
    locking->annotates = strcmp(text, "github") == 0;
    if (!locking->annotates && strcmp(text, "text") != 0) {
        argp_error(state, "--format takes text or github, not \"%s\"", text);
    }
}

static const plim_option options[] = {
    PLIM_TEXT("gpu", "NAME", plim_rehearse_asked, how.gpu,
              "the GPU to simulate: h100, rtx4090, a100-80gb … (h100)"),
    PLIM_SIZE("capacity", plim_rehearse_asked, how.capacity_bytes,
              "memory of each GPU, 24GiB (that of the GPU)"),
    PLIM_TAKEN("margin", "SIZE", take_margin,
               "keep so much free of each GPU, 2GiB or 10%; less is tight (0)"),
    PLIM_NUMBER("devices", plim_rehearse_asked, how.device_count, 1, 64, "number of GPUs (1)"),
    PLIM_COUNT("steps", plim_rehearse_asked, how.steps, 1, 1000000000,
               "stop after N optimizer steps (at the program's end)"),
    PLIM_TAKEN("accept", "WORDS", take_accept, "verdicts that are a success too: tight, at_least"),
    PLIM_TAKEN("record", "FILE", take_record,
               "write the whole history: FILE.plim, or FILE.pickle as PyTorch does"),
    PLIM_TEXT("conf", "STRING", plim_rehearse_asked, how.settings,
              "settings of the allocator: PYTORCH_CUDA_ALLOC_CONF"),
    PLIM_TAKEN(
        "with", "TECHNIQUE", take_with,
        "switch a technique on in the unchanged program: checkpoint, accumulate=4 … (again for "
        "each)"),
    PLIM_TEXT("find-batch", "CMD", plim_rehearse_asked, find_batch,
              "find the largest value for {} in the command that fits"),
    PLIM_TEXT("sweep", "VALUES", plim_rehearse_asked, sweep,
              "rehearse with each value for {}: 1,2,4 or 1..8 or 8..64+8 or 1..64*2"),
    PLIM_TEXT("against", "ENV", plim_rehearse_asked, against,
              "rehearse it in another environment too, and compare: the path of a Python, or a "
              "requirement such as torch==2.9.1"),
    PLIM_TEXT("bisect", "PACKAGE", plim_rehearse_asked, bisect,
              "find the release of a package with which memory grew: --bisect torch 2.6..2.15"),
    PLIM_TEXT("lock", "FILE", plim_rehearse_asked, locking.lock,
              "write the peaks to FILE, to be committed; entries of other commands stay"),
    PLIM_TEXT("check", "FILE", plim_rehearse_asked, locking.check,
              "hold the peaks to those of FILE, and name the line that grew"),
    PLIM_TAKEN("format", "WORD", take_format,
               "of a check: github adds an annotation at the line that grew (text)"),
    PLIM_TAKEN("by", "SIZE", take_by,
               "how much growth counts for --against, --bisect and --check: 100MiB, or 5% of the "
               "peak (1%)"),
    PLIM_FLAG("pre", plim_rehearse_asked, takes_pre_releases,
              "releases before the final ones count for --bisect too"),
    PLIM_FLAG("offline", plim_rehearse_asked, is_offline,
              "make no environment: take one that an earlier run made"),
    PLIM_NUMBER("world-size", plim_rehearse_asked, how.world_size, 1, 1000000,
                "run one rank of N, without the others"),
    { .name = "rank",
      .argument = "R",
      .purpose = "the rank to run (0)",
      .kind = PLIM_OPTION_NUMBER,
      .place = PLIM_PLACE(plim_rehearse_asked, how.rank, uint32_t),
      .most = 999999 },
    { .name = "values",
      .argument = "SEED",
      .purpose = "values that the host reads from devices are noise, not zeros",
      .kind = PLIM_OPTION_TAKEN,
      .take = take_values,
      .is_optional = true },
    PLIM_FLAG("late", plim_rehearse_asked, how.ends_late,
              "blocks used on several streams are free as late as on a GPU at the latest"),
    PLIM_FLAG("trace-calls", plim_rehearse_asked, how.prints_calls,
              "list the functions that were called, and which are modelled"),
    PLIM_TEXT("python", "PATH", plim_rehearse_asked, how.python,
              "the program's Python (found from the program)"),
    PLIM_FLAG("no-retry", plim_rehearse_asked, does_not_retry,
              "do not run it again to learn what it would need, or how much waits for streams"),
    PLIM_FLAG("diagnose", plim_rehearse_asked, diagnoses,
              "also say what happened to memory and what helps, as plimsoll diagnose does"),
    PLIM_FLAG("list-gpus", plim_rehearse_asked, lists_gpus, "list the known GPUs"),
    PLIM_FLAG("all", plim_rehearse_asked, all, "show every fix, if it runs out of memory"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll rehearse --gpu=rtx4090 --steps=3 -- python train.py --batch 16",
    "do three steps fit into an RTX 4090, and when does memory peak?",
    "plimsoll rehearse --gpu=h100 --find-batch 'python train.py --batch {}'",
    "the largest batch that fits",
    "plimsoll rehearse --devices=8 -- torchrun --nproc-per-node=8 train_fsdp.py",
    "eight ranks, each on a GPU of its own",
    "plimsoll rehearse --check=plimsoll.lock -- python train.py",
    "fails if a peak is above the one that --lock=plimsoll.lock wrote; for continuous integration",
    "plimsoll rehearse --record=run.pickle -- python train.py",
    "keeps the history for plimsoll inspect and for PyTorch's own viewer",
    "plimsoll rehearse --against=torch==2.9.1 -- python train.py",
    "did the upgrade since PyTorch 2.9.1 make memory grow, and where?",
    "plimsoll rehearse --bisect transformers 4.36..4.40 -- python train.py",
    "the release that made it grow",
    NULL,
};

/* "2.6..2.15", which stands after the package's name. */
static void check_range(struct argp_state *state, plim_rehearse_asked *arguments)
{
    char *const range = arguments->asked.file_count == 1 ? arguments->asked.files[0] : NULL;
    char *const dots = range != NULL ? strstr(range, "..") : NULL;
    if (dots == NULL || dots == range || dots[2] == '\0') {
        argp_error(state, "--bisect takes a package and two releases: --bisect torch 2.6..2.15");
        return;
    }
    *dots = '\0';
    arguments->bisect_from = range;
    arguments->bisect_to = dots + 2;
}

static void check_upgrade(struct argp_state *state, const plim_rehearse_asked *arguments)
{
    const bool is_both = arguments->against != NULL && arguments->bisect != NULL;
    const bool has_search = arguments->find_batch != NULL || arguments->sweep != NULL;
    const bool is_upgrade = arguments->against != NULL || arguments->bisect != NULL;
    if (is_both || (is_upgrade && has_search)) {
        argp_error(state, "--against, --bisect, --find-batch and --sweep: one at a time");
    }
    if (is_upgrade && (arguments->how.record_path != NULL || arguments->diagnoses)) {
        argp_error(state, "--record and --diagnose take one environment: leave out --against and "
                          "--bisect");
    }
}

static void check(struct argp_state *state, void *given)
{
    plim_rehearse_asked *const arguments = given;
    const plim_asked *const asked = &arguments->asked;
    if (arguments->lists_gpus) {
        return;
    }
    check_upgrade(state, arguments);
    if (arguments->bisect != NULL) {
        check_range(state, arguments);
    } else if (asked->file_count > 0) {
        argp_error(state, "put \"--\" before the program: -- %s", asked->files[0]);
    }
    const bool has_command = asked->command != NULL && asked->command[0] != NULL;
    if (arguments->find_batch != NULL && (has_command || arguments->sweep != NULL)) {
        argp_error(state, "--find-batch takes the command itself: leave out --sweep and --");
    }
    if (arguments->find_batch == NULL && !has_command) {
        argp_error(state, "which program? Give it after --");
    }
    if (arguments->sweep != NULL && !plim_rehearse_has_place((const char *const *)asked->command)) {
        argp_error(state, "--sweep needs a {} in the program, where its values go");
    }
    plim_simulated_check(state, &arguments->how);
    const bool is_search = arguments->find_batch != NULL || arguments->sweep != NULL;
    plim_locking_check_options(state, &arguments->locking,
                               is_search || arguments->against != NULL ||
                                   arguments->bisect != NULL);
    const bool has_lock = arguments->locking.lock != NULL || arguments->locking.check != NULL;
    if (has_lock && arguments->how.techniques != NULL) {
        argp_error(state, "--lock and --check hold a program as it is: leave out --with");
    }
    if (is_search && arguments->how.record_path != NULL) {
        argp_error(state,
                   "--record cannot be combined with a search: rehearse the value that it finds");
    }
    if (is_search && arguments->diagnoses) {
        argp_error(state, "--diagnose cannot be combined with a search: rehearse the value that "
                          "it finds");
    }
    if (arguments->how.rank > 0 && arguments->how.rank >= arguments->how.world_size) {
        argp_error(state, "--rank takes 0 to --world-size minus 1");
    }
}

static const plim_usage usage = {
    .arguments = "-- PROGRAM [ARG...]",
    .purpose =
        "Runs an unchanged PyTorch program on a machine without a GPU and measures the memory "
        "that it needs. PyTorch for CUDA is real, and so is each of its allocations; stand-ins "
        "take the place of CUDA and its libraries, and compute nothing.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(plim_rehearse_asked, asked),
    .json = "print the document \"rehearse/1\"; the program's output goes to standard error",
    .examples = examples,
    .closing =
        "Exit status: 0 it fits; 1 it ran out of memory, is tight, or needs at least what was "
        "measured (see --accept), or exceeds the file of --check; 2 wrong usage; 3 it could not be "
        "rehearsed: it was not started, "
        "failed for another reason, used no GPU, or called a function that has no stand-in. With "
        "--against and --bisect: 0 memory did not grow; 1 it did, or it runs out; 3 it could not "
        "be rehearsed in both environments, or they could not be made.",
    .takes_command = true,
    .check = check,
};

/* ---- the command itself ---------------------------------------------------------------------- */

static int list_gpus(const char *who)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *gpu = plim_gpu_at(i);
        (void)printf("%-16s %-40s %10s  %2u.%u  context %s, %s\n", gpu->key, gpu->name,
                     plim_format_bytes(gpu->memory_bytes).text, gpu->capability_major,
                     gpu->capability_minor, plim_format_bytes(gpu->context_bytes).text,
                     plim_gpu_evidence_name(gpu->context_evidence));
    }
    return plim_output_finish(who);
}

int plim_cmd_rehearse(int argc, char **argv)
{
    plim_rehearse_asked arguments = { .limit = { .share = GROWTH_SHARE } };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    if (arguments.lists_gpus) {
        return list_gpus(argv[0]);
    }
    if (arguments.find_batch != NULL) {
        return plim_rehearsing_find_batch(argv[0], &arguments);
    }
    if (arguments.sweep != NULL) {
        return plim_rehearsing_sweep(argv[0], &arguments);
    }
    if (arguments.bisect != NULL) {
        return plim_rehearsing_bisect(argv[0], &arguments);
    }
    if (arguments.against != NULL) {
        return plim_rehearsing_against(argv[0], &arguments);
    }
    arguments.how.keeps_snapshots =
        arguments.diagnoses || arguments.locking.lock != NULL || arguments.locking.check != NULL;
    return plim_rehearsing_once(argv[0], &arguments);
}
