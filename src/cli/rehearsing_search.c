/*
 * rehearsing_search.c - many rehearsals of one command. See rehearsing.h.
 */
#include "cli/rehearsing.h"

#include "base/error.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/result.h"
#include "cli/words.h"
#include "report/json/documents.h"

#include <inttypes.h>
#include <stdio.h>

static void say_try(void *who, const plim_rehearse_try *one)
{
    plim_say(who, "%" PRIu64 ": %s, %s of the device, %.1f s", one->value,
             plim_rehearsed_verdict_text(one->verdict),
             plim_format_bytes(one->peak.device_bytes).text, one->seconds);
}

static void say_output(const char *who, const char *output, size_t bytes)
{
    if (bytes > 0) {
        plim_say(who, "the program failed; the end of its output:");
        (void)fwrite(output, 1, bytes, stderr);
        (void)fputs(output[bytes - 1] != '\n' ? "\n" : "", stderr);
    }
}

static void say_why_stopped(const char *who, const plim_rehearse_tries *tries,
                            const plim_error *err)
{
    say_output(who, tries->output, tries->output_bytes);
    plim_say(who, "%s", err->message);
}

static int show_tries(const char *who, const plim_rehearse_asked *arguments,
                      const plim_rehearse_tries *tries)
{
    plim_result result;
    plim_page page;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    plim_page_init(&page, NULL);
    plim_rehearse_tries_page(&page, tries);
    if (result.has_document) {
        result.err.status = plim_rehearse_json_write_tries(result.sink, tries, &page, &result.err);
    }
    const int status = plim_result_end(&result, &page);
    return status == PLIM_EXIT_OK && tries->best == 0 ? PLIM_EXIT_FOUND : status;
}

/* Each of the values, or without values the largest that fits. */
static int search(char *who, const plim_rehearse_asked *arguments, const char *const *argv,
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

int plim_rehearsing_sweep(char *who, const plim_rehearse_asked *arguments)
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
int plim_rehearsing_find_batch(char *who, const plim_rehearse_asked *arguments)
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
