/*
 * cmd_rehearse.c - "will it fit?", from running the program itself without a GPU.
 */
#include "base/error.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/diagnosing.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/words.h"
#include "report/json/documents.h"
#include "report/model/explain.h"

#include "plimsoll/gpu.h"
#include "plimsoll/load.h"
#include "plimsoll/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rehearse_arguments {
    plim_asked asked;
    plim_rehearse_options how;
    bool lists_gpus;
    bool accepts_tight;
    bool accepts_at_least;
    bool all; /* of the explanation */
    bool does_not_retry;
    bool diagnoses;
    const char *find_batch; /* a command with {} in it */
    const char *sweep;      /* values */
} rehearse_arguments;

/* ---- arguments ------------------------------------------------------------------------------- */

static void take_record(struct argp_state *state, void *arguments, char *text)
{
    if (!plim_history_can_save(text)) {
        argp_error(state, "--record takes FILE.plim or FILE.pickle, not \"%s\"", text);
    }
    ((rehearse_arguments *)arguments)->how.record_path = text;
}

static void take_values(struct argp_state *state, void *arguments, char *text)
{
    plim_rehearse_options *const wanted = &((rehearse_arguments *)arguments)->how;
    wanted->gives_values = true;
    wanted->seed =
        text != NULL ? (uint64_t)plim_option_number(state, "values", text, 0, 1000000000) : 0;
}

/* "2GiB" or "10%" */
static void take_margin(struct argp_state *state, void *arguments, char *text)
{
    plim_rehearse_options *const wanted = &((rehearse_arguments *)arguments)->how;
    plim_error err = { 0 };
    char *end = NULL;
    const double percent = strtod(text, &end);
    if (end != text && strcmp(end, "%") == 0 && percent >= 0 && percent <= 100) {
        wanted->margin_share = percent / 100;
        wanted->margin_bytes = 0;
    } else if (plim_size_parse(text, &wanted->margin_bytes, &err) == PLIM_OK) {
        wanted->margin_share = 0;
    } else {
        argp_error(state, "--margin takes a size such as 2GiB, or 0%% to 100%%, not \"%s\"", text);
    }
}

/* "tight,at_least": verdicts that are as good as "fits". */
static void take_accept(struct argp_state *state, void *arguments, char *text)
{
    rehearse_arguments *const wanted = arguments;
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

static const plim_option options[] = {
    PLIM_TEXT("gpu", "NAME", rehearse_arguments, how.gpu,
              "the GPU to simulate: h100, rtx4090, a100-80gb … (h100)"),
    PLIM_SIZE("capacity", rehearse_arguments, how.capacity_bytes,
              "memory of each GPU, 24GiB (that of the GPU)"),
    PLIM_TAKEN("margin", "SIZE", take_margin,
               "keep so much free of each GPU, 2GiB or 10%; less is tight (0)"),
    PLIM_NUMBER("devices", rehearse_arguments, how.device_count, 1, 64, "number of GPUs (1)"),
    PLIM_COUNT("steps", rehearse_arguments, how.steps, 1, 1000000000,
               "stop after N optimizer steps (at the program's end)"),
    PLIM_TAKEN("accept", "WORDS", take_accept, "verdicts that are a success too: tight, at_least"),
    PLIM_TAKEN("record", "FILE", take_record,
               "write the whole history: FILE.plim, or FILE.pickle as PyTorch does"),
    PLIM_TEXT("conf", "STRING", rehearse_arguments, how.settings,
              "settings of the allocator: PYTORCH_CUDA_ALLOC_CONF"),
    PLIM_TEXT("find-batch", "CMD", rehearse_arguments, find_batch,
              "find the largest value for {} in the command that fits"),
    PLIM_TEXT("sweep", "VALUES", rehearse_arguments, sweep,
              "rehearse with each value for {}: 1,2,4 or 1..8 or 8..64+8 or 1..64*2"),
    PLIM_NUMBER("world-size", rehearse_arguments, how.world_size, 1, 1000000,
                "run one rank of N, without the others"),
    { .name = "rank",
      .argument = "R",
      .purpose = "the rank to run (0)",
      .kind = PLIM_OPTION_NUMBER,
      .place = PLIM_PLACE(rehearse_arguments, how.rank, uint32_t),
      .most = 999999 },
    { .name = "values",
      .argument = "SEED",
      .purpose = "values that the host reads from devices are noise, not zeros",
      .kind = PLIM_OPTION_TAKEN,
      .take = take_values,
      .is_optional = true },
    PLIM_FLAG("late", rehearse_arguments, how.ends_late,
              "blocks used on several streams are free as late as on a GPU at the latest"),
    PLIM_FLAG("trace-calls", rehearse_arguments, how.prints_calls,
              "list the functions that were called, and which are modelled"),
    PLIM_TEXT("python", "PATH", rehearse_arguments, how.python,
              "the program's Python (found from the program)"),
    PLIM_FLAG("no-retry", rehearse_arguments, does_not_retry,
              "do not run it again to learn what it would need, or how much waits for streams"),
    PLIM_FLAG("diagnose", rehearse_arguments, diagnoses,
              "also say what happened to memory and what helps, as plimsoll diagnose does"),
    PLIM_FLAG("list-gpus", rehearse_arguments, lists_gpus, "list the known GPUs"),
    PLIM_FLAG("all", rehearse_arguments, all, "show every fix, if it runs out of memory"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll rehearse --gpu=rtx4090 --steps=3 -- python train.py --batch 16",
    "do three steps fit into an RTX 4090, and when does memory peak?",
    "plimsoll rehearse --gpu=h100 --find-batch 'python train.py --batch {}'",
    "the largest batch that fits",
    "plimsoll rehearse --devices=8 -- torchrun --nproc-per-node=8 train_fsdp.py",
    "eight ranks, each on a GPU of its own",
    "plimsoll rehearse --record=run.pickle -- python train.py",
    "keeps the history for plimsoll inspect and for PyTorch's own viewer",
    NULL,
};

/* What plim_rehearsal_prepare() would refuse, as wrong usage. */
static void check_simulated(struct argp_state *state, const plim_rehearse_options *how)
{
    plim_error err = { 0 };
    const plim_gpu *gpu = NULL;
    plim_settings settings = plim_settings_default();
    if (how->gpu != NULL && plim_gpu_find(how->gpu, &gpu, &err) == PLIM_INVALID_ARGUMENT) {
        argp_error(state, "--gpu: %s (--list-gpus lists them)", err.message);
    }
    const plim_status parsed =
        how->settings != NULL ? plim_settings_parse(how->settings, &settings, &err) : PLIM_OK;
    if (parsed != PLIM_OK && parsed != PLIM_OUT_OF_HOST_MEMORY) {
        argp_error(state, "--conf: %s", err.message);
    }
}

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
        argp_error(state, "--find-batch takes the command itself: leave out --sweep and --");
    }
    if (arguments->find_batch == NULL && !has_command) {
        argp_error(state, "which program? Give it after --");
    }
    if (arguments->sweep != NULL && !plim_rehearse_has_place((const char *const *)asked->command)) {
        argp_error(state, "--sweep needs a {} in the program, where its values go");
    }
    check_simulated(state, &arguments->how);
    const bool is_search = arguments->find_batch != NULL || arguments->sweep != NULL;
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
    .asked = offsetof(rehearse_arguments, asked),
    .json = "print the document \"rehearse/1\"; the program's output goes to standard error",
    .examples = examples,
    .closing =
        "Exit status: 0 it fits; 1 it ran out of memory, is tight, or needs at least what was "
        "measured (see --accept); 2 wrong usage; 3 it could not be rehearsed: it was not started, "
        "failed for another reason, used no GPU, or called a function that has no stand-in.",
    .takes_command = true,
    .check = check,
};

/* ---- one rehearsal --------------------------------------------------------------------------- */

static int status_of(const rehearse_arguments *arguments, plim_rehearsed_verdict verdict)
{
    switch (verdict) {
    case PLIM_REHEARSED_FITS:
        return PLIM_EXIT_OK;
    case PLIM_REHEARSED_TIGHT:
        return arguments->accepts_tight ? PLIM_EXIT_OK : PLIM_EXIT_FOUND;
    case PLIM_REHEARSED_AT_LEAST:
        return arguments->accepts_at_least ? PLIM_EXIT_OK : PLIM_EXIT_FOUND;
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
                            const plim_rehearsed *rehearsed)
{
    if (rehearsed->message == NULL || !rehearsed->ran_out) {
        return;
    }
    const plim_explained text = {
        .path = rehearsed->argv[0],
        .is_read = true,
        .messages = &rehearsed->message,
        .message_count = 1,
        .main_message = rehearsed->message,
    };
    const plim_explain_view view = { .all = arguments->all };
    plim_explain_page(page, &view, &text, 1);
}

/* What an allocator can have of a simulated device, without the program's error. */
static uint64_t capacity_of(const plim_rehearse_options *how)
{
    const plim_gpu *gpu = NULL;
    if (plim_gpu_find(how->gpu != NULL ? how->gpu : "h100", &gpu, NULL) != PLIM_OK) {
        return 0;
    }
    const uint64_t taken = gpu->memory_bytes - plim_gpu_allocator_bytes(gpu);
    const uint64_t total = how->capacity_bytes > 0 ? how->capacity_bytes : gpu->memory_bytes;
    return total > taken ? total - taken : 0;
}

/* The diagnosis of each process that left a history, which is named as its recording, if there is
 * one. A process without devices left none. */
static void add_diagnosis(const char *who, const rehearse_arguments *arguments, plim_page *page,
                          const plim_rehearsed *rehearsed)
{
    const plim_diagnose_view view = { .all = arguments->all };
    const bool has_message = rehearsed->message != NULL && rehearsed->ran_out;
    const plim_diagnose_options given = {
        .capacity_bytes = capacity_of(&arguments->how),
        .capacity_source = "gpu",
        .judgements = has_message ? &rehearsed->message->judgement : NULL,
        .judgement_count = has_message ? 1 : 0,
        .budget_seconds = PLIM_DIAGNOSE_BUDGET_S,
    };
    size_t recording = 0;
    for (size_t i = 0; i < rehearsed->outcome->process_count; i++) {
        const char *const path = rehearsed->outcome->processes[i].snapshot_path;
        if (path == NULL) {
            continue;
        }
        plim_diagnosed file;
        plim_error err = { .offset = PLIM_NO_OFFSET };
        if (plim_diagnosed_load(path, &given, &file, &err) == PLIM_OK) {
            file.path = recording < rehearsed->recording_count ? rehearsed->recordings[recording]
                                                               : "Diagnosis";
            plim_page_gap(page);
            plim_diagnose_page(page, &view, &file);
        } else {
            plim_say(who, "--diagnose: %s", err.message);
        }
        recording++;
        plim_diagnosed_unload(&file);
    }
}

static int show(const char *who, const rehearse_arguments *arguments,
                const plim_rehearsed *rehearsed)
{
    plim_error err = { 0 };
    plim_status written = PLIM_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_page_gap(&page); /* after the program's own output */
    plim_rehearse_page(&page, rehearsed, arguments->how.prints_calls);
    add_explanation(arguments, &page, rehearsed);
    if (arguments->diagnoses) {
        add_diagnosis(who, arguments, &page, rehearsed);
    }
    if (arguments->asked.as_json) {
        written = plim_rehearse_json_write(plim_sink_to_file(stdout), rehearsed, &page, &err);
    }
    const int status = plim_output_result(who, stdout, &arguments->asked, &page, written, &err);
    return status == PLIM_EXIT_OK ? status_of(arguments, plim_rehearsed_judge(rehearsed)) : status;
}

static int rehearse_once(const char *who, const rehearse_arguments *arguments)
{
    /* With --json standard output is for the document. */
    static const int to_stderr[PLIM_LAUNCH_STREAMS] = { STDERR_FILENO, STDERR_FILENO };
    const plim_launch_options launch = { .outputs = arguments->asked.as_json ? to_stderr : NULL };
    plim_rehearsed rehearsed;
    plim_error err = { 0 };
    if (plim_rehearse((const char *const *)arguments->asked.command, &arguments->how, &launch,
                      &rehearsed, &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
        return PLIM_EXIT_FAILED;
    }
    plim_output_unwritten(who, &rehearsed.launched);
    if (!arguments->does_not_retry &&
        plim_rehearsed_judge(&rehearsed) == PLIM_REHEARSED_OUT_OF_MEMORY &&
        (plim_rehearse_need(&rehearsed, &arguments->how, &err) != PLIM_OK ||
         plim_rehearse_advised(&rehearsed, &arguments->how, &err) != PLIM_OK)) {
        plim_say(who, "%s", err.message);
    }
    if (!arguments->does_not_retry &&
        plim_rehearse_late(&rehearsed, &arguments->how, &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
    }
    const int status = show(who, arguments, &rehearsed);
    plim_rehearsed_deinit(&rehearsed);
    return status;
}

/* ---- many ------------------------------------------------------------------------------------ */

static void say_try(void *who, const plim_rehearse_try *one)
{
    plim_say(who, "%" PRIu64 ": %s, %s of the device, %.1f s", one->value,
             plim_rehearsed_verdict_text(one->verdict),
             plim_format_bytes(one->peak.device_bytes).text, one->seconds);
}

static void say_why_stopped(const char *who, const plim_rehearse_tries *tries,
                            const plim_error *err)
{
    if (tries->output_bytes > 0) {
        plim_say(who, "the program failed; the end of its output:");
        (void)fwrite(tries->output, 1, tries->output_bytes, stderr);
        (void)fputs(tries->output[tries->output_bytes - 1] != '\n' ? "\n" : "", stderr);
    }
    plim_say(who, "%s", err->message);
}

static int show_tries(const char *who, const rehearse_arguments *arguments,
                      const plim_rehearse_tries *tries)
{
    plim_error err = { 0 };
    plim_status written = PLIM_OK;
    plim_page page;
    plim_page_init(&page, NULL);
    plim_rehearse_tries_page(&page, tries);
    if (arguments->asked.as_json) {
        written = plim_rehearse_json_write_tries(plim_sink_to_file(stdout), tries, &page, &err);
    }
    const int status = plim_output_result(who, stdout, &arguments->asked, &page, written, &err);
    return status == PLIM_EXIT_OK && tries->best == 0 ? PLIM_EXIT_FOUND : status;
}

/* Each of the values, or without values the largest that fits. */
static int search(char *who, const rehearse_arguments *arguments, const char *const *argv,
                  const uint64_t *values, size_t count)
{
    const plim_rehearse_search_options how = {
        .rehearse = arguments->how,
        .values = values,
        .value_count = count,
        .accepts_tight = arguments->accepts_tight,
        .accepts_at_least = arguments->accepts_at_least,
        .tried = say_try,
        .tried_ctx = who,
    };
    plim_rehearse_tries tries;
    plim_error err = { 0 };
    const plim_status searched = plim_rehearse_search(argv, &how, &tries, &err);
    if (searched != PLIM_OK) {
        say_why_stopped(who, &tries, &err);
    } else if (tries.is_unbounded) {
        plim_say(who, "even %" PRIu64 " fits: does memory depend on {}?", tries.best);
    }
    const int status = tries.count > 0 ? show_tries(who, arguments, &tries) : PLIM_EXIT_FAILED;
    plim_rehearse_tries_deinit(&tries);
    return searched == PLIM_OK ? status : PLIM_EXIT_FAILED;
}

static int sweep(char *who, const rehearse_arguments *arguments)
{
    uint64_t values[PLIM_REHEARSE_TRIES_MAX];
    size_t count = 0;
    if (!plim_values_parse(arguments->sweep, values, &count)) {
        plim_say(who,
                 "--sweep takes values such as 1,2,4 or 1..8 or 8..64+8 or 1..64*2, not \"%s\"",
                 arguments->sweep);
        return PLIM_EXIT_USAGE;
    }
    return search(who, arguments, (const char *const *)arguments->asked.command, values, count);
}

/* The command comes as one string. */
static int find_batch(char *who, const rehearse_arguments *arguments)
{
    char **argv = plim_words_split(arguments->find_batch);
    int status = PLIM_EXIT_USAGE;
    if (argv == NULL || argv[0] == NULL) {
        plim_say(who, "--find-batch: cannot split \"%s\" into words: a quote is not closed",
                 arguments->find_batch);
    } else if (!plim_rehearse_has_place((const char *const *)argv)) {
        plim_say(who, "--find-batch: \"%s\" has no {} where the value goes", arguments->find_batch);
    } else {
        status = search(who, arguments, (const char *const *)argv, NULL, 0);
    }
    plim_words_free(argv);
    return status;
}

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
    rehearse_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    if (arguments.lists_gpus) {
        return list_gpus(argv[0]);
    }
    if (arguments.find_batch != NULL) {
        return find_batch(argv[0], &arguments);
    }
    if (arguments.sweep != NULL) {
        return sweep(argv[0], &arguments);
    }
    arguments.how.keeps_snapshots = arguments.diagnoses;
    return rehearse_once(argv[0], &arguments);
}
