/*
 * rehearsing_once.c - one rehearsal, its explanation and diagnosis. See rehearsing.h.
 */
#include "cli/rehearsing.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/diagnosing.h"
#include "cli/output.h"
#include "cli/result.h"
#include "report/json/documents.h"
#include "report/model/explain.h"

#include "plimsoll/gpu.h"

#include <stdio.h>
#include <unistd.h>

int plim_rehearsing_status(const plim_rehearse_asked *arguments, plim_rehearsed_verdict verdict)
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

/* The exit status: figures without a wanted technique answer another question. */
static int status_of(const plim_rehearse_asked *arguments, const plim_rehearsed *rehearsed)
{
    return plim_rehearsal_refused(rehearsed->outcome) != NULL
               ? PLIM_EXIT_FAILED
               : plim_rehearsing_status(arguments, plim_rehearsed_judge(rehearsed));
}

/* Why it ran out and what to do, from the message it died with. */
static void add_explanation(const plim_rehearse_asked *arguments, plim_page *page,
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

/* The memory that an allocator can have of a simulated device, without the program's error. */
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
static void add_diagnosis(const char *who, const plim_rehearse_asked *arguments, plim_page *page,
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

static int show(const char *who, const plim_rehearse_asked *arguments,
                const plim_rehearsed *rehearsed, plim_locking_work *lock)
{
    plim_result result;
    plim_page page;
    plim_result_begin(&result, who, stdout, &arguments->asked);
    plim_page_init(&page, NULL);
    plim_page_gap(&page); /* after the program's own output */
    const int answer = plim_locking_end(who, lock, rehearsed, &arguments->how, &page,
                                        status_of(arguments, rehearsed));
    plim_rehearse_page(&page, rehearsed, arguments->how.prints_calls);
    add_explanation(arguments, &page, rehearsed);
    if (arguments->diagnoses) {
        add_diagnosis(who, arguments, &page, rehearsed);
    }
    if (result.has_document) {
        result.err.status = plim_rehearse_json_write(result.sink, rehearsed, &page, &result.err);
    }
    if (lock->annotation.length > 0) {
        (void)fputs(plim_text_string(&lock->annotation),
                    arguments->asked.as_json ? stderr : stdout);
    }
    const int status = plim_result_end(&result, &page);
    return status == PLIM_EXIT_OK ? answer : status;
}

static int rehearse(const char *who, const plim_rehearse_asked *arguments, plim_locking_work *lock)
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
    const int status = show(who, arguments, &rehearsed, lock);
    plim_rehearsed_deinit(&rehearsed);
    return status;
}

int plim_rehearsing_once(const char *who, const plim_rehearse_asked *arguments)
{
    plim_locking_work lock;
    int status = plim_locking_begin(who, &arguments->locking, arguments->limit, &lock);
    if (status == PLIM_EXIT_OK) {
        status = rehearse(who, arguments, &lock);
    }
    plim_locking_deinit(&lock);
    return status;
}
