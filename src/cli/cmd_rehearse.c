/*
 * cmd_rehearse.c - "will it fit?", from running the program itself without a GPU.
 */
#include "base/size.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/help.h"
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
    plim_rehearsing how;
    plim_color_choice color;
    uint32_t width;
    bool as_json;
    bool lists_gpus;
    bool all; /* of the explanation */
    bool wants_help;
    bool wants_usage;
    const char *find_batch; /* a command with {} in it */
    const char *sweep;      /* values */
    char **command;         /* what stands behind "--", or NULL */
} rehearse_arguments;

enum {
    OPTION_GPU = PLIM_OPTION_FIRST,
    OPTION_CAPACITY,
    OPTION_DEVICES,
    OPTION_STEPS,
    OPTION_RECORD,
    OPTION_CONF,
    OPTION_JSON,
    OPTION_FIND_BATCH,
    OPTION_SWEEP,
    OPTION_TRACE_CALLS,
    OPTION_VALUES,
    OPTION_WORLD_SIZE,
    OPTION_RANK,
    OPTION_PYTHON,
    OPTION_LIST_GPUS,
    OPTION_ALL,
    OPTION_COLOR,
    OPTION_WIDTH,
};

static const struct argp_option options[] = {
    { "gpu", OPTION_GPU, "NAME", 0, "which GPU to be: h100, rtx4090, a100-80gb … (h100)", 0 },
    { "capacity", OPTION_CAPACITY, "SIZE", 0, "memory of each GPU, 24GiB (what that GPU has)", 0 },
    { "devices", OPTION_DEVICES, "N", 0, "how many of them (1)", 0 },
    { "steps", OPTION_STEPS, "N", 0, "end after N optimizer steps (when the program ends)", 0 },
    { "record", OPTION_RECORD, "FILE", 0,
      "write the whole history: FILE.plim, or FILE.pickle as PyTorch does", 0 },
    { "conf", OPTION_CONF, "STRING", 0, "the allocator's settings: PYTORCH_CUDA_ALLOC_CONF", 0 },
    { "find-batch", OPTION_FIND_BATCH, "CMD", 0,
      "the largest value for {} in the command for which it fits", 0 },
    { "sweep", OPTION_SWEEP, "VALUES", 0,
      "rehearse with each value for {}: 1,2,4 or 1..8 or 8..64+8 or 1..64*2", 0 },
    { "world-size", OPTION_WORLD_SIZE, "N", 0, "be one rank of N, without the others", 0 },
    { "rank", OPTION_RANK, "R", 0, "which one (0)", 0 },
    { "values", OPTION_VALUES, "SEED", OPTION_ARG_OPTIONAL,
      "what the host reads from devices is noise, not zeros", 0 },
    { "trace-calls", OPTION_TRACE_CALLS, NULL, 0,
      "list the functions that were called, and which of them are modelled", 0 },
    { "python", OPTION_PYTHON, "PATH", 0, "the program's Python, where it cannot be seen", 0 },
    { "list-gpus", OPTION_LIST_GPUS, NULL, 0, "print the GPUs that are known", 0 },
    { "all", OPTION_ALL, NULL, 0, "every fix, where it runs out of memory", 0 },
    { "json", OPTION_JSON, NULL, 0,
      "print the document \"rehearse/1\"; the program's output goes to standard error", 0 },
    { "color", OPTION_COLOR, "WHEN", 0,
      "auto (on terminals, unless NO_COLOR is set), always, never", 0 },
    { "width", OPTION_WIDTH, "N", 0, "columns to fill (the terminal's, at most 100; else 96)", 0 },
    { "help", PLIM_OPTION_HELP, NULL, 0, "print this", 0 },
    { "usage", PLIM_OPTION_USAGE, NULL, OPTION_HIDDEN, "print one line", 0 },
    { 0 },
};

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

static const plim_help rehearse_help = {
    .arguments = "-- PROGRAM [ARG...]",
    .purpose =
        "Runs an unchanged PyTorch program on a machine without a GPU and tells what memory it "
        "needs. PyTorch for CUDA is real, and so is every allocation it makes; CUDA itself and "
        "its libraries are stood in for, and compute nothing.",
    .options = options,
    .examples = examples,
    .closing = "Exit status: 0 it fits; 1 it ran out of memory; 2 wrong usage; 3 it could not be "
               "rehearsed: not started, failed of something else, or called what is not stood in "
               "for.",
};

/* ---- arguments ------------------------------------------------------------------------------- */

static void check_arguments(struct argp_state *state, const rehearse_arguments *arguments)
{
    if (arguments->wants_help || arguments->wants_usage || arguments->lists_gpus) {
        return;
    }
    const bool has_command = arguments->command != NULL && arguments->command[0] != NULL;
    if (arguments->find_batch != NULL && (has_command || arguments->sweep != NULL)) {
        argp_error(state, "--find-batch has the command with it: nothing else to run");
    }
    if (arguments->find_batch == NULL && !has_command) {
        argp_error(state, "which program? It stands behind --");
    }
    if (arguments->sweep != NULL &&
        !plim_search_has_place((const char *const *)arguments->command)) {
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

static void set_record(struct argp_state *state, rehearse_arguments *arguments, const char *path)
{
    if (!plim_rehearse_record_is_known(path)) {
        argp_error(state, "--record takes FILE.plim or FILE.pickle, not \"%s\"", path);
    }
    arguments->how.record_path = path;
    arguments->how.options.wants_snapshot = true;
    arguments->how.options.history_max = UINT64_MAX;
}

static error_t parse_more(int key, char *text, struct argp_state *state)
{
    rehearse_arguments *arguments = state->input;
    switch (key) {
    case OPTION_JSON:
        arguments->as_json = true;
        break;
    case OPTION_COLOR:
        arguments->color = plim_argument_color(state, text);
        break;
    case OPTION_WIDTH:
        arguments->width = plim_argument_width(state, text);
        break;
    case OPTION_ALL:
        arguments->all = true;
        break;
    case OPTION_LIST_GPUS:
        arguments->lists_gpus = true;
        break;
    case PLIM_OPTION_HELP:
        arguments->wants_help = true;
        break;
    case PLIM_OPTION_USAGE:
        arguments->wants_usage = true;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "put \"--\" before the program: -- %s", text);
        break;
    case ARGP_KEY_SUCCESS:
        check_arguments(state, arguments);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    rehearse_arguments *arguments = state->input;
    plim_rehearse_options *wanted = &arguments->how.options;
    switch (key) {
    case OPTION_GPU:
        wanted->gpu = text;
        break;
    case OPTION_CAPACITY:
        wanted->capacity_bytes = plim_argument_size(state, "capacity", text);
        break;
    case OPTION_DEVICES:
        wanted->device_count = (uint32_t)plim_argument_number(state, "devices", text, 1, 64);
        break;
    case OPTION_STEPS:
        wanted->steps = (uint64_t)plim_argument_number(state, "steps", text, 1, 1000000000);
        break;
    case OPTION_RECORD:
        set_record(state, arguments, text);
        break;
    case OPTION_CONF:
        wanted->settings = text;
        break;
    case OPTION_FIND_BATCH:
        arguments->find_batch = text;
        break;
    case OPTION_SWEEP:
        arguments->sweep = text;
        break;
    case OPTION_WORLD_SIZE:
        wanted->world_size = (uint32_t)plim_argument_number(state, "world-size", text, 1, 1000000);
        break;
    case OPTION_RANK:
        wanted->rank = (uint32_t)plim_argument_number(state, "rank", text, 0, 999999);
        break;
    case OPTION_VALUES:
        wanted->gives_values = true;
        wanted->seed =
            text != NULL ? (uint64_t)plim_argument_number(state, "values", text, 0, 1000000000) : 0;
        break;
    case OPTION_TRACE_CALLS:
        wanted->prints_calls = true;
        break;
    case OPTION_PYTHON:
        wanted->python = text;
        break;
    default:
        return parse_more(key, text, state);
    }
    return 0;
}

static const struct argp rehearse_argp = { .options = options, .parser = parse_option };

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
    const char *who = arguments->how.who;
    int status = PLIM_EXIT_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_page_gap(&page); /* after the program's own output */
    plim_rehearse_page(&page, &result->rehearsed);
    add_explanation(arguments, &page, result);
    if (arguments->as_json) {
        plim_error err = { 0 };
        const plim_status written =
            plim_rehearse_json_write(plim_sink_to_file(stdout), &result->rehearsed, &page, &err);
        status = plim_output_document(who, written, &err);
    } else {
        const plim_style style = plim_output_style(arguments->color, arguments->width);
        status = plim_output_draw(who, stdout, &style, &page);
    }
    plim_page_deinit(&page);
    return status == PLIM_EXIT_OK ? status_of(plim_rehearsed_judge(&result->rehearsed)) : status;
}

static int rehearse_once(const rehearse_arguments *arguments)
{
    plim_rehearsing_result result;
    int status = PLIM_EXIT_FAILED;
    if (plim_rehearsing_run(&arguments->how, (const char *const *)arguments->command, &result)) {
        status = show(arguments, &result);
    }
    plim_rehearsing_deinit(&result);
    return status;
}

/* ---- many ------------------------------------------------------------------------------------ */

static int show_search(const rehearse_arguments *arguments, const plim_search *search)
{
    const char *who = arguments->how.who;
    const plim_rehearse_tries tries = {
        .items = search->tries,
        .count = search->count,
        .best = search->best,
        .gpu = &search->gpu,
        .device_count = search->device_count,
        .capacity_bytes = search->capacity_bytes,
    };
    int status = PLIM_EXIT_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_rehearse_tries_page(&page, &tries);
    if (arguments->as_json) {
        plim_error err = { 0 };
        const plim_status written =
            plim_rehearse_json_write_tries(plim_sink_to_file(stdout), &tries, &page, &err);
        status = plim_output_document(who, written, &err);
    } else {
        const plim_style style = plim_output_style(arguments->color, arguments->width);
        status = plim_output_draw(who, stdout, &style, &page);
    }
    plim_page_deinit(&page);
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
    const bool is_good = plim_search_sweep(&arguments->how, (const char *const *)arguments->command,
                                           values, count, &search);
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

/* Takes "-- PROGRAM ARG..." off the arguments: argp would take them for its own. */
static int split_command(int argc, char **argv, rehearse_arguments *arguments)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            arguments->command = argv + i + 1;
            return i;
        }
    }
    return argc;
}

int plim_cmd_rehearse(int argc, char **argv)
{
    const char *who = argv[0];
    rehearse_arguments arguments = { .how = { .who = who } };
    const int ours = split_command(argc, argv, &arguments);
    if (argp_parse(&rehearse_argp, ours, argv, ARGP_NO_HELP, NULL, &arguments) != 0) {
        plim_say(who, "out of host memory while reading the arguments"); /* all else has exited */
        return PLIM_EXIT_FAILED;
    }
    if (arguments.wants_help || arguments.wants_usage) {
        return arguments.wants_help ? plim_help_print(who, &rehearse_help)
                                    : plim_help_print_usage(who, &rehearse_help);
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
    arguments.how.output = arguments.as_json ? PLIM_REHEARSING_STDERR : PLIM_REHEARSING_PASSES;
    return rehearse_once(&arguments);
}
