/*
 * launch_tool.c - plim_launch() alone, with an explainer that only keeps what it is fed:
 *
 *     launch_tool RESULT FED FAIL_AT COMMAND ARGS...
 *
 * RESULT gets the result as JSON and FED the text, as an explainer would read it. Of the
 * explainer's calls, create being the first, the one numbered FAIL_AT fails; 0 is none. Exits as
 * plimsoll explain does. "[exhausted]", "[not_oom]" and "[weak]" in the text are messages.
 */
#include "base/error.h"
#include "base/text.h"

#include "plimsoll/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)256 << 20)

struct plim_explainer {
    const char *path;
    long calls_left; /* before one fails */
    plim_text text;
};

struct plim_explanation {
    plim_oom_message messages[3];
    size_t count;
};

static plim_status spend_call(plim_explainer *explainer, plim_error *err)
{
    explainer->calls_left--;
    return explainer->calls_left == 0 ? plim_fail_memory(err, "pretending to read") : PLIM_OK;
}

plim_status plim_explainer_create(const plim_explain_options *options, plim_explainer **ret,
                                  plim_error *err)
{
    plim_explainer *explainer = options->progress_ctx; /* main()'s */
    plim_text_init(&explainer->text, NULL, TEXT_BYTES_MAX);
    *ret = explainer;
    return spend_call(explainer, err);
}

plim_status plim_explainer_feed(plim_explainer *explainer, const void *data, size_t bytes,
                                plim_error *err)
{
    plim_text_append(&explainer->text, data, bytes);
    return spend_call(explainer, err);
}

plim_status plim_explainer_finish(plim_explainer *explainer, plim_explanation **ret,
                                  plim_error *err)
{
    static const struct {
        const char *words;
        plim_oom_message message;
    } known[] = {
        { "[exhausted]",
          { .judgement.verdict = PLIM_VERDICT_EXHAUSTED, .judgement.confidence = 0.9 } },
        { "[not_oom]", { .judgement.verdict = PLIM_VERDICT_NOT_OOM, .judgement.confidence = 0.9 } },
        { "[weak]", { .judgement.verdict = PLIM_VERDICT_HOST, .judgement.confidence = 0.3 } },
    };
    const plim_status status = spend_call(explainer, err);
    if (status == PLIM_OK) {
        plim_explanation *explanation = calloc(1, sizeof *explanation);
        if (explanation == NULL) {
            abort();
        }
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (strstr(plim_text_string(&explainer->text), known[i].words) != NULL) {
                explanation->messages[explanation->count++] = known[i].message;
            }
        }
        *ret = explanation;
    }
    plim_explainer_destroy(explainer);
    return status;
}

void plim_explainer_destroy(plim_explainer *explainer)
{
    FILE *file = explainer == NULL ? NULL : fopen(explainer->path, "wb");
    if (file != NULL) {
        fwrite(plim_text_string(&explainer->text), 1, explainer->text.length, file);
        fclose(file);
        plim_text_deinit(&explainer->text);
    }
}

size_t plim_explanation_message_count(const plim_explanation *explanation)
{
    return explanation->count;
}

const plim_oom_message *plim_explanation_message(const plim_explanation *explanation, size_t index)
{
    return &explanation->messages[index];
}

void plim_explanation_destroy(plim_explanation *explanation)
{
    free(explanation);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        return 2;
    }
    signal(SIGPIPE, SIG_IGN); /* as the command does */
    plim_explainer explainer = { .path = argv[2], .calls_left = strtol(argv[3], NULL, 10) };
    const plim_explain_options options = { .progress_ctx = &explainer };
    plim_launched result;
    plim_error err = { 0 };
    const plim_status status =
        plim_launch(argv + 4, &(plim_launch_options){ .explain = options }, &result, &err);
    if (status != PLIM_OK) {
        fprintf(stderr, "launch_tool: %s\n", err.message);
    }
    for (int i = 0; i < PLIM_LAUNCH_STREAMS; i++) {
        if (result.write_errno[i] != 0 && result.write_errno[i] != EPIPE) {
            fprintf(stderr, "launch_tool: cannot write standard %s: %s\n",
                    i == 0 ? "output" : "error", strerror(result.write_errno[i]));
        }
    }
    FILE *file = fopen(argv[1], "wb");
    if (file == NULL) {
        return 2;
    }
    fprintf(file,
            "{\"was_started\": %d, \"exit_status\": %d, \"signal\": %d, \"was_killed\": %d,\n"
            "\"kill_scope\": %d, \"kill_count\": %" PRIu64 ", \"has_explanation\": %d,\n"
            "\"error\": \"%s\", \"died_of_memory\": %d, \"was_oom_killed\": %d,\n"
            "\"may_be_oom_killed\": %d}\n",
            status == PLIM_OK, result.exit_status, result.signal, result.was_killed,
            (int)result.kill_scope, result.kill_count, result.explanation != NULL,
            result.explain_error.message, result.died_of_memory, result.was_oom_killed,
            result.may_be_oom_killed);
    fclose(file);
    plim_launched_deinit(&result);
    return result.exit_status;
}
