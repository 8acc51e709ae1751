/*
 * cmd_explain.c - "why did memory run out, and what now?", from what programs print.
 */
#include "base/size.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/result.h"
#include "cli/texts.h"
#include "report/json/documents.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FAIL_ON_ANY_OOM UINT32_C(0x40000000) /* beside bits of verdicts */
#define FAIL_ON_LEAK    UINT32_C(0x80000000)

typedef struct explain_arguments {
    plim_asked asked;
    plim_explain_view view;
    uint64_t capacity_bytes;
    uint32_t fail_on; /* 1 << verdict, and the two above */
} explain_arguments;

/* One word of --fail-on. */
static uint32_t parse_fail_on_word(struct argp_state *state, const char *word, size_t length)
{
    if (length == 3 && strncmp(word, "oom", length) == 0) {
        return FAIL_ON_ANY_OOM;
    }
    if (length == 4 && strncmp(word, "leak", length) == 0) {
        return FAIL_ON_LEAK;
    }
    for (uint32_t i = 0; i < PLIM_VERDICT_JUDGED_COUNT; i++) {
        const char *name = plim_verdict_name((plim_verdict)i);
        if (strlen(name) == length && strncmp(word, name, length) == 0) {
            return UINT32_C(1) << i;
        }
    }
    argp_error(state,
               "--fail-on takes oom, leak, exhausted, fragmented, other_process, capped, "
               "oversized, host, unknown or not_oom, not \"%.*s\"",
               (int)length, word);
    return 0;
}

static void take_fail_on(struct argp_state *state, void *arguments, char *text)
{
    uint32_t *const mask = &((explain_arguments *)arguments)->fail_on;
    for (const char *word = text;;) {
        const size_t length = strcspn(word, ",");
        *mask |= parse_fail_on_word(state, word, length);
        if (word[length] == '\0') {
            return;
        }
        word += length + 1;
    }
}

static const plim_option options[] = {
    PLIM_FLAG("all", explain_arguments, view.all, "show every message, fix and series in full"),
    PLIM_NUMBER("top", explain_arguments, view.fixes_max, 1, 1000000, "show the N best fixes (4)"),
    PLIM_FLAG("trend", explain_arguments, view.trend,
              "show how memory changes over the logged steps"),
    PLIM_SIZE("capacity", explain_arguments, capacity_bytes,
              "memory of the device, 80GiB: for when growing memory will be full"),
    PLIM_TAKEN("fail-on", "WHAT", take_fail_on,
               "exit with 1 if the text has it: oom (any), leak, or verdicts such as fragmented, "
               "separated by commas"),
};
static const plim_option_group groups[] = { PLIM_OPTION_GROUP(options, 0) };

static const char *const examples[] = {
    "plimsoll explain train.log",
    "what ran out, why, and what to do about it",
    "python train.py 2>&1 | tee train.log | plimsoll explain",
    "the same, from a pipe",
    "plimsoll explain -- python train.py",
    "runs the command unchanged, and explains it if it dies of memory",
    "plimsoll explain --trend --capacity=80GiB train.log",
    "does memory grow from step to step, and when will it be full?",
    NULL,
};

/* Ends the program unless there is a file or a command. */
static void check(struct argp_state *state, void *given)
{
    const explain_arguments *const arguments = given;
    const plim_asked *const asked = &arguments->asked;
    if (asked->command != NULL && asked->command[0] == NULL) {
        argp_error(state, "which command? Give it after --");
    }
    if (asked->command != NULL && asked->file_count > 0) {
        argp_error(state, "a file and a command cannot be combined");
    }
    if (asked->command != NULL && arguments->fail_on != 0) {
        argp_error(state,
                   "--fail-on cannot be combined with a command: the exit status is its own");
    }
    if (asked->command == NULL && asked->file_count == 0 && isatty(STDIN_FILENO) == 1) {
        argp_error(state, "which text? Give a file, or paste into \"plimsoll explain -\"");
    }
}

static const plim_usage usage = {
    .arguments = "[FILE... | -- COMMAND [ARG...]]",
    .purpose =
        "Explains why memory ran out, from any text: an error message, a traceback, a whole log, "
        "plain or compressed; - or nothing is standard input. Knows the messages of PyTorch, "
        "TensorFlow, JAX, CUDA, llama.cpp, vLLM and many others.",
    .groups = groups,
    .group_count = 1,
    .asked = offsetof(explain_arguments, asked),
    .json = "print everything as JSON, document \"explain/1\"",
    .examples = examples,
    .closing =
        "Exit status: 0 fine, also if nothing was found; 1 --fail-on found something; 2 wrong "
        "usage; 3 a file could not be read or the output not written. With a command: its "
        "own status.",
    .takes_command = true,
    .check = check,
};

/* ---- results -------------------------------------------------------------------------------- */

/* has_page  there is one; the document has more than the page */
static int print(const char *who, FILE *stream, const explain_arguments *arguments,
                 const plim_texts *texts, bool has_page)
{
    plim_result result;
    plim_page page;
    plim_result_begin(&result, who, stream, &arguments->asked);
    result.has_page = has_page;
    plim_page_init(&page, NULL);
    plim_explain_page(&page, &arguments->view, texts->items, texts->count);
    if (arguments->asked.as_json) {
        result.sink = plim_sink_to_file(stream); /* of a command too */
    }
    if (result.has_document) {
        result.err.status =
            plim_explain_json_write(result.sink, texts->items, texts->count, &page, &result.err);
    }
    return plim_result_end(&result, &page);
}

/* Nothing to show is worth a word: where it was looked for, and how much of it there was. */
static void say_nothing_found(const char *who, const plim_explain_view *view,
                              const plim_explained *text)
{
    const bool lacks = view->trend ? text->series_count == 0 : text->message_count == 0;
    if (text->is_read && lacks) {
        plim_say(who, "no %s found in %s: %s line%s, %s read",
                 view->trend ? "series of memory" : "out-of-memory message",
                 plim_reading_name(text->path), plim_format_count(text->lines).text,
                 text->lines == 1 ? "" : "s", plim_format_bytes(text->bytes).text);
    }
}

static bool has_what_fails(uint32_t fail_on, const plim_explained *text)
{
    for (size_t i = 0; i < text->message_count; i++) {
        const plim_verdict verdict = text->messages[i]->judgement.verdict;
        const bool is_any = (fail_on & FAIL_ON_ANY_OOM) != 0 && verdict != PLIM_VERDICT_NOT_OOM;
        if (is_any || (fail_on & (UINT32_C(1) << verdict)) != 0) {
            return true;
        }
    }
    for (size_t i = 0; i < text->series_count; i++) {
        if ((fail_on & FAIL_ON_LEAK) != 0 && text->series[i]->trend.kind == PLIM_TREND_LEAK) {
            return true;
        }
    }
    return false;
}

static int explain_files(const char *who, const explain_arguments *arguments)
{
    static char standard_input[] = "-";
    char *const nothing_given[] = { standard_input };
    const bool has_paths = arguments->asked.file_count > 0;
    plim_texts texts;
    if (!plim_texts_load(who, has_paths ? arguments->asked.files : nothing_given,
                         has_paths ? arguments->asked.file_count : 1,
                         (double)arguments->capacity_bytes, &texts)) {
        return PLIM_EXIT_FAILED;
    }
    int status = print(who, stdout, arguments, &texts, true);
    bool is_there = false;
    for (size_t i = 0; i < texts.count; i++) {
        say_nothing_found(who, &arguments->view, &texts.items[i]);
        is_there = is_there || has_what_fails(arguments->fail_on, &texts.items[i]);
    }
    if (status == PLIM_EXIT_OK) {
        status = texts.failed_count > 0 ? PLIM_EXIT_FAILED
                 : is_there             ? PLIM_EXIT_FOUND
                                        : PLIM_EXIT_OK;
    }
    plim_texts_deinit(&texts);
    return status;
}

/* ---- a command ------------------------------------------------------------------------------ */

static void say_of_kernel(const char *who, const plim_launched *result)
{
    if (result->was_oom_killed) {
        plim_say(who, "the kernel's out-of-memory killer ended %s: host memory ran out",
                 result->kill_scope == PLIM_LAUNCH_KILLS_CGROUP
                     ? "it, at the limit of its control group"
                     : "it");
    } else if (result->may_be_oom_killed) {
        plim_say(who, "it was killed (SIGKILL), possibly for host memory: this system does not "
                      "count such kills");
    }
}

/* On stderr: stdout is the command's. Whatever becomes of it, the exit status is the command's. */
static void explain_death(const char *who, const explain_arguments *arguments,
                          plim_explanation *explanation)
{
    plim_texts texts;
    if (!plim_texts_take(who, arguments->asked.command[0], explanation, &texts)) {
        return;
    }
    const bool has_page = plim_explain_has_page(&arguments->view, &texts.items[0]);
    if (texts.failed_count == 0 && (plim_result_wants_document(&arguments->asked) || has_page)) {
        fputs(arguments->asked.as_json || !has_page ? "" : "\n", stderr);
        (void)print(who, stderr, arguments, &texts, has_page);
    }
    plim_texts_deinit(&texts);
}

static int explain_command(const char *who, explain_arguments *arguments)
{
    const plim_launch_options how = {
        .explain = { .capacity_bytes = (double)arguments->capacity_bytes },
    };
    plim_launched result;
    plim_error err = { 0 };
    if (plim_launch(arguments->asked.command, &how, &result, &err) != PLIM_OK) {
        plim_say(who, "%s", err.message);
        return result.exit_status;
    }
    plim_output_unwritten(who, &result);
    if (result.explanation == NULL) {
        plim_say(who, "%s", result.explain_error.message);
    }
    say_of_kernel(who, &result);
    if (result.died_of_memory && result.explanation != NULL) {
        arguments->view.with_recording = true;
        explain_death(who, arguments, result.explanation);
        result.explanation = NULL;
    }
    plim_launched_deinit(&result);
    return result.exit_status;
}

/* ---- the command itself --------------------------------------------------------------------- */

int plim_cmd_explain(int argc, char **argv)
{
    explain_arguments arguments = { 0 };
    int status = PLIM_EXIT_OK;
    if (!plim_options_read(&usage, argc, argv, &arguments, &status)) {
        return status;
    }
    return arguments.asked.command != NULL ? explain_command(argv[0], &arguments)
                                           : explain_files(argv[0], &arguments);
}
