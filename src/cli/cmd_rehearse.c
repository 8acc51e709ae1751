/*
 * cmd_rehearse.c - "will it fit?", from running the program itself without a GPU.
 */
#include "base/size.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rehearse_record.h"
#include "cli/rehearse_search.h"
#include "cli/words.h"
#include "report/json/rehearse_json.h"
#include "report/model/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_STEPS 2 /* the second step is the first with the optimizer's states in place */

typedef struct rehearse_arguments {
    plim_asked asked;
    plim_rehearsing how;
    bool lists_gpus;
    bool all;               /* of the explanation */
    const char *find_batch; /* a command with {} in it */
    const char *sweep;      /* values */
} rehearse_arguments;

/* ---- arguments ------------------------------------------------------------------------------- */

static void take_record(struct argp_state *state, void *arguments, char *text)
{
    plim_rehearsing *const how = &((rehearse_arguments *)arguments)->how;
    if (!plim_rehearse_record_is_known(text)) {
        argp_error(state, "--record takes FILE.plim or FILE.pickle, not \"%s\"", text);
    }
    how->record_path = text;
    how->options.wants_snapshot = true;
    how->options.history_max = UINT64_MAX;
}

static void take_values(struct argp_state *state, void *arguments, char *text)
{
    plim_rehearse_options *const wanted = &((rehearse_arguments *)arguments)->how.options;
    wanted->gives_values = true;
    wanted->seed =
        text != NULL ? (uint64_t)plim_option_number(state, "values", text, 0, 1000000000) : 0;
}

static const plim_option options[] = {
    PLIM_TEXT("gpu", "NAME", rehearse_arguments, how.options.gpu,
              "which GPU to be: h100, rtx4090, a100-80gb … (h100)"),
    PLIM_SIZE("capacity", rehearse_arguments, how.options.capacity_bytes,
              "memory of each GPU, 24GiB (what that GPU has)"),
    PLIM_NUMBER("devices", rehearse_arguments, how.options.device_count, 1, 64,
                "how many of them (1)"),
    PLIM_COUNT("steps", rehearse_arguments, how.options.steps, 1, 1000000000,
               "end after N optimizer steps (when the program ends)"),
    PLIM_TAKEN("record", "FILE", take_record,
               "write the whole history: FILE.plim, or FILE.pickle as PyTorch does"),
    PLIM_TEXT("conf", "STRING", rehearse_arguments, how.options.settings,
              "the allocator's settings: PYTORCH_CUDA_ALLOC_CONF"),
    PLIM_TEXT("find-batch", "CMD", rehearse_arguments, find_batch,
              "the largest value for {} in the command for which it fits"),
    PLIM_TEXT("sweep", "VALUES", rehearse_arguments, sweep,
              "rehearse with each value for {}: 1,2,4 or 1..8 or 8..64+8 or 1..64*2"),
    PLIM_NUMBER("world-size", rehearse_arguments, how.options.world_size, 1, 1000000,
                "be one rank of N, without the others"),
    { .name = "rank",
      .argument = "R",
      .purpose = "which one (0)",
      .kind = PLIM_OPTION_NUMBER,
      .place = PLIM_PLACE(rehearse_arguments, how.options.rank, uint32_t),
      .most = 999999 },
    { .name = "values",
      .argument = "SEED",
      .purpose = "what the host reads from devices is noise, not zeros",
      .kind = PLIM_OPTION_TAKEN,
      .take = take_values,
      .is_optional = true },
    PLIM_FLAG("trace-calls", rehearse_arguments, how.options.prints_calls,
              "list the functions that were called, and which of them are modelled"),
    PLIM_TEXT("python", "PATH", rehearse_arguments, how.options.python,
              "the program's Python, where it cannot be seen"),
    PLIM_FLAG("list-gpus", rehearse_arguments, lists_gpus, "print the GPUs that are known"),
    PLIM_FLAG("all", rehearse_arguments, all, "every fix, where it runs out of memory"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll rehearse --gpu=rtx4090 --steps=3 -- python train.py --batch 16",
    "whether three steps fit into an RTX 4090, and when memory peaks",
    "plimsoll rehearse --gpu=h100 --find-batch 'python train.py --batch {}'",
    "the largest batch that fits",
    "plimsoll rehearse --devices=8 -- torchrun --nproc-per-node=8 train_fsdp.py",
    "eight ranks, each on a GPU of its own",
    "plimsoll rehearse --record=run.pickle -- python train.py",
    "keeps the history for plimsoll inspect and for PyTorch's own viewer",
    NULL,
};

static void check(struct argp_state *state, void *given)
{
    const rehearse_arguments *const arguments = given;
    const plim_asked *const asked = &arguments->asked;
    if (arguments->lists_gpus) {
        return;
    }
    if (asked->file_count > 0) {
        argp_error(state, "put \"--\" before the program: -- %s", asked->files[0]);
    }
    const bool has_command = asked->command != NULL && asked->command[0] != NULL;
    if (arguments->find_batch != NULL && (has_command || arguments->sweep != NULL)) {
        argp_error(state, "--find-batch has the command with it: nothing else to run");
    }
    if (arguments->find_batch == NULL && !has_command) {
        argp_error(state, "which program? It stands after --");
    }
    if (arguments->sweep != NULL && !plim_search_has_place((const char *const *)asked->command)) {
        argp_error(state, "--sweep puts values in the place of {}: the program has none");
    }
    const bool is_search = arguments->find_batch != NULL || arguments->sweep != NULL;
    if (is_search && arguments->how.record_path != NULL) {
        argp_error(state, "--record has no place in a search: rehearse the value it finds");
    }
    if (arguments->how.options.rank > 0 &&
        arguments->how.options.rank >= arguments->how.options.world_size) {
        argp_error(state, "--rank counts from 0 to --world-size less one");
    }
}

static const plim_usage usage = {
    .arguments = "-- PROGRAM [ARG...]",
    .purpose =
        "Runs an unchanged PyTorch program on a machine without a GPU and tells what memory it "
        "needs. PyTorch for CUDA is real, and so is every allocation it makes; CUDA itself and "
        "its libraries are stood in for, and compute nothing.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(rehearse_arguments, asked),
    .json = "print the document \"rehearse/1\"; the program's output goes to standard error",
    .examples = examples,
    .closing = "Exit status: 0 it fits; 1 it ran out of memory; 2 wrong usage; 3 it could not be "
               "rehearsed: not started, failed of something else, or called what is not stood in "
               "for.",
    .takes_command = true,
    .check = check,
};

/* ---- one rehearsal --------------------------------------------------------------------------- */

static int status_of(plim_rehearsed_verdict verdict)
{
    switch (verdict) {
    case PLIM_REHEARSED_FITS:
        return PLIM_EXIT_OK;
    case PLIM_REHEARSED_OUT_OF_MEMORY:
        return PLIM_EXIT_FOUND;
    case PLIM_REHEARSED_FAILED:
    case PLIM_REHEARSED_UNANSWERED:
        break;
    }
    return PLIM_EXIT_FAILED;
}

/* Why it ran out and what to do, from the message it died with. */
static void add_explanation(const rehearse_arguments *arguments, plim_page *page,
                            const plim_rehearsing_result *result)
{
    const plim_oom_message *message = result->rehearsed.message;
    if (message == NULL || !result->rehearsed.ran_out) {
        return;
    }
    const plim_explained text = {
        .path = result->rehearsed.argv[0],
        .is_read = true,
        .messages = &message,
        .message_count = 1,
        .main_message = message,
    };
    const plim_explain_view view = { .all = arguments->all };
    plim_explain_page(page, &view, &text, 1);
}

static int show(const rehearse_arguments *arguments, const plim_rehearsing_result *result)
{
    plim_error err = { 0 };
    plim_status written = PLIM_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_page_gap(&page); /* after the program's own output */
    plim_rehearse_page(&page, &result->rehearsed);
    add_explanation(arguments, &page, result);
    if (arguments->asked.as_json) {
        written =
            plim_rehearse_json_write(plim_sink_to_file(stdout), &result->rehearsed, &page, &err);
    }
    const int status =
        plim_output_result(arguments->how.who, stdout, &arguments->asked, &page, written, &err);
    return status == PLIM_EXIT_OK ? status_of(plim_rehearsed_judge(&result->rehearsed)) : status;
}

static int rehearse_once(const rehearse_arguments *arguments)
{
    plim_rehearsing_result result;
    int status = PLIM_EXIT_FAILED;
    if (plim_rehearsing_run(&arguments->how, (const char *const *)arguments->asked.command,
                            &result)) {
        status = show(arguments, &result);
    }
    plim_rehearsing_deinit(&result);
    return status;
}

/* ---- many ------------------------------------------------------------------------------------ */

static int show_search(const rehearse_arguments *arguments, const plim_search *search)
{
    const plim_rehearse_tries tries = {
        .items = search->tries,
        .count = search->count,
        .best = search->best,
        .gpu = &search->gpu,
        .device_count = search->device_count,
        .capacity_bytes = search->capacity_bytes,
    };
    plim_error err = { 0 };
    plim_status written = PLIM_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_rehearse_tries_page(&page, &tries);
    if (arguments->asked.as_json) {
        written = plim_rehearse_json_write_tries(plim_sink_to_file(stdout), &tries, &page, &err);
    }
    const int status =
        plim_output_result(arguments->how.who, stdout, &arguments->asked, &page, written, &err);
    return status == PLIM_EXIT_OK && search->best == 0 ? PLIM_EXIT_FOUND : status;
}

static void set_up_search(rehearse_arguments *arguments)
{
    arguments->how.output = PLIM_REHEARSING_KEPT;
    if (arguments->how.options.steps == 0) {
        arguments->how.options.steps = SEARCH_STEPS;
    }
}

static int sweep(rehearse_arguments *arguments)
{
    uint64_t values[PLIM_SEARCH_TRIES_MAX];
    size_t count = 0;
    if (!plim_values_parse(arguments->sweep, values, &count)) {
        plim_say(arguments->how.who,
                 "--sweep takes values such as 1,2,4 or 1..8 or 8..64+8 or 1..64*2, not \"%s\"",
                 arguments->sweep);
        return PLIM_EXIT_USAGE;
    }
    static plim_search search; /* large, and once in a process */
    set_up_search(arguments);
    const bool is_good = plim_search_sweep(
        &arguments->how, (const char *const *)arguments->asked.command, values, count, &search);
    const int status = search.count > 0 ? show_search(arguments, &search) : PLIM_EXIT_FAILED;
    return is_good ? status : PLIM_EXIT_FAILED;
}

/* The command comes as one string. */
static int find_batch(rehearse_arguments *arguments)
{
    const char *who = arguments->how.who;
    char **argv = plim_words_split(arguments->find_batch);
    int status = PLIM_EXIT_USAGE;
    if (argv == NULL || argv[0] == NULL) {
        plim_say(who, "--find-batch: cannot split \"%s\" into words: a quote is not closed",
                 arguments->find_batch);
    } else if (!plim_search_has_place((const char *const *)argv)) {
        plim_say(who, "--find-batch: \"%s\" has no {} where the value goes", arguments->find_batch);
    } else {
        static plim_search search; /* large, and once in a process */
        set_up_search(arguments);
        const bool is_good =
            plim_search_largest(&arguments->how, (const char *const *)argv, &search);
        status = search.count > 0 ? show_search(arguments, &search) : PLIM_EXIT_FAILED;
        status = is_good ? status : PLIM_EXIT_FAILED;
    }
    plim_words_free(argv);
    return status;
}

/* ---- the command itself ---------------------------------------------------------------------- */

static int list_gpus(const char *who)
{
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *gpu = plim_gpu_at(i);
        (void)printf("%-16s %-40s %10s  %u.%u\n", gpu->key, gpu->name,
                     plim_format_bytes(gpu->memory_bytes).text, gpu->capability_major,
                     gpu->capability_minor);
    }
    return plim_output_finish(who);
}

int plim_cmd_rehearse(int argc, char **argv)
{
    const char *who = argv[0];
    rehearse_arguments arguments = { .how = { .who = who } };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    if (arguments.lists_gpus) {
        return list_gpus(who);
    }
    if (arguments.find_batch != NULL) {
        return find_batch(&arguments);
    }
    if (arguments.sweep != NULL) {
        return sweep(&arguments);
    }
    arguments.how.output =
        arguments.asked.as_json ? PLIM_REHEARSING_STDERR : PLIM_REHEARSING_PASSES;
    return rehearse_once(&arguments);
}
